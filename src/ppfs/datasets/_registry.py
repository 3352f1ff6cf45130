"""What is known about each data set before it is read: ``registry.json`` as typed records."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal


@dataclass(frozen=True)
class OpenMLCopy:
    """A copy of a data set on OpenML.

    Attributes
    ----------
    id : int
        OpenML's number of the data set.
    rows : int
        Rows of that copy. More than the paper's when it appends the challenge's validation part, or
        keeps rows with missing values.
    labels : mapping of str to str
        OpenML's spelling of a class to the original one; spellings that agree are left out.
    """

    id: int
    rows: int
    labels: Mapping[str, str]


@dataclass(frozen=True)
class DatasetInfo:
    """One entry of the registry.

    Attributes
    ----------
    files : mapping of str to str
        File name to SHA-256, for the folder of benchmark data.
    format : {"csv", "npz", "sparse"}
        How those files are laid out.
    classes : mapping of str to int, or None
        Rows in each class; None for regression.
    has_text : bool
        Whether the categorical columns hold text instead of numeric codes.
    column_check : float
        Sum over the numeric columns of (position from 1) x (sum of the column). It notices a changed
        value, a missing row and a swapped column, but not another order of rows, which is harmless.
    sklearn : bool
        Whether scikit-learn brings the data along.
    """

    name: str
    title: str
    source: str
    notes: str
    task: Literal["classification", "regression"]
    target: str
    rows: int
    features: int
    classes: Mapping[str, int] | None
    format: Literal["csv", "npz", "sparse"]
    has_text: bool
    columns: tuple[str, ...]
    categorical: tuple[str, ...]
    files: Mapping[str, str]
    column_check: float
    sklearn: bool
    openml: OpenMLCopy | None


def list_datasets() -> tuple[str, ...]:
    """Name the data sets that :func:`load_dataset` offers, in the paper's order.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from ppfs.datasets import list_datasets
    >>> list_datasets()[:4]
    ('heart', 'ionosphere', 'sonar', 'wdbc')
    """
    return tuple(read_registry())


def find_dataset(name: str) -> DatasetInfo:
    """Look up one entry; an unknown name is an error that lists the choices."""
    registry = read_registry()
    if name in registry:
        return registry[name]
    close = difflib.get_close_matches(str(name).lower(), registry, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"Unknown data set {name!r}.{hint} Choose one of: {', '.join(registry)}.")


@cache
def read_registry() -> Mapping[str, DatasetInfo]:
    """Read every entry, in the order of the file."""
    text = resources.files("ppfs.datasets").joinpath("registry.json").read_text("utf-8")
    return MappingProxyType({name: _entry(name, raw) for name, raw in json.loads(text).items()})


def _entry(name: str, raw: dict[str, Any]) -> DatasetInfo:
    columns = raw.pop("columns")
    # Hundreds of numbered columns are written as one pattern, such as "band_{:02d}".
    if isinstance(columns, str):
        columns = [columns.format(number) for number in range(1, raw["features"] + 1)]
    openml = raw.pop("openml")
    return DatasetInfo(
        name=name,
        columns=tuple(columns),
        categorical=tuple(raw.pop("categorical")),
        openml=None if openml is None else OpenMLCopy(**openml),
        **raw,
    )
