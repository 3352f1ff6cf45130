"""The result of a command as a plain dictionary: what the library says about it, with the data and the flags."""

from __future__ import annotations

from typing import Any

from ppfs.cli.flags.parameters import SearchRequest, flag_of
from ppfs.cli.input import Input


def result_document(
    selector: Any, data: Input, search: SearchRequest, *, with_columns: bool = True
) -> dict[str, Any]:
    """Return everything that the output of a command says.

    Parameters
    ----------
    with_columns : bool, default=True
        Whether every column is listed; a million of them take a gigabyte.
    """
    from ppfs.export import document_of

    document = document_of(
        selector,
        data=data.name,
        target=data.target,
        with_columns=with_columns,
        **{name: column for name in ("event", "exposure") if (column := getattr(data, name)) is not None},
        method=search.method,
        random_state=search.random_state,
        flags=given_flags(search),
    )
    return document | {"test": None if document["test"] is None else test_name(document["test"])}


def test_name(test: str) -> str:
    """Return the name of a test, as --test has it and as the library has it."""
    flag = {"CrossFitPPI": "calibrated", "PPI": "paper"}.get(test)
    return f"{flag} ({test})" if flag else test


def given_flags(search: SearchRequest) -> dict[str, Any]:
    """Return the flags that were given, by their names, as JSON has them."""
    given = {name: getattr(search, name) for name in SearchRequest.__dataclass_fields__ if name != "quiet"}
    return {
        flag_of(name).removeprefix("--"): list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }
