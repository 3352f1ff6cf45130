"""The selection alone, as a JSON file that other programs can read."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ppfs.export._columns import SelectedColumns
from ppfs.export._document import document_of, read_document, written


def to_json(selector: Any, path: str | PathLike[str], *, data: str = "") -> Path:
    """Write what was selected and why to a JSON file.

    ``ppfs apply`` and ``ppfs explain --from`` read it, and so does `from_json`. It holds no code and no model.

    Parameters
    ----------
    selector : fitted selector

    path : path
        Where to write; an existing file is replaced.

    data : str, default=""
        What the table is called, for messages.

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> from ppfs.export import from_json, to_json
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = to_json(selector, Path(folder) / "selection.json")
    ...     keep = from_json(path)
    >>> keep.transform(X).shape == selector.transform(X).shape
    True
    """
    check_is_fitted(selector)
    seed = getattr(selector, "random_state", None)
    trace = selector.trace_
    document = document_of(
        selector,
        data=data,
        target=trace.data.target,
        method=type(selector).__name__,
        random_state=int(seed) if isinstance(seed, int) else None,
    )
    where = Path(path)
    where.write_text(written(document, trace), encoding="utf-8")
    return where


def from_json(path: str | PathLike[str]) -> SelectedColumns:
    """Return a transformer that keeps the columns of a saved selection.

    Parameters
    ----------
    path : path
        A file that `to_json` or ``ppfs select --save`` wrote. Nothing in it is run.

    Returns
    -------
    SelectedColumns

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> from ppfs.export import from_json, to_json
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep = from_json(to_json(selector, Path(folder) / "selection.json"))
    >>> keep.selected == selector.get_feature_names_out().tolist()
    True
    """
    document = read_document(path)
    columns = [row["column"] for row in document["columns"]]
    chosen = set(document["selected"])
    return SelectedColumns([name for name in columns if name in chosen], columns)
