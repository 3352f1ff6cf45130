"""A summary of the data in a few numbers, kept without the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ppfs._data import Table

_MOST_CLASSES = 12

# Of a target of more columns no name is shown.
_MOST_NAMES = 3


@dataclass(frozen=True)
class DataSummary:
    """A summary of the data of a search.

    Attributes
    ----------
    n_categorical : int
        Columns of text or categories.

    target : str
        The name of the target, or "target" if it has none.

    task : {"classification", "regression", "count", "positive", "ordinal", "survival"}

    classes : tuple of (str, int)
        The most frequent labels and their numbers of rows; empty for regression.

    n_classes : int
        The number of labels; 0 for regression.

    quartiles : tuple of float
        Minimum, quartiles and maximum of a single numeric target; empty otherwise.
    """

    n_rows: int
    n_columns: int
    n_categorical: int
    target: str
    task: str
    classes: tuple[tuple[str, int], ...]
    n_classes: int
    quartiles: tuple[float, ...]


def summary_of(table: Table) -> DataSummary:
    """Summarize a table; the name of the target is set later, because a table does not have it."""
    classes: tuple[tuple[str, int], ...] = ()
    n_classes = 0
    quartiles: tuple[float, ...] = ()
    if table.task == "classification":
        labels, counts = np.unique(table.y, return_counts=True)
        frequent = np.argsort(-counts, kind="stable")[:_MOST_CLASSES]
        classes = tuple((str(labels[i]), int(counts[i])) for i in frequent)
        n_classes = len(labels)
    elif table.y.ndim == 1 and table.y.dtype.kind in "fiu":
        quartiles = tuple(np.quantile(table.y, [0, 0.25, 0.5, 0.75, 1]).tolist())
    return DataSummary(
        n_rows=table.n_rows,
        n_columns=len(table.column_names),
        n_categorical=int((table.n_levels > 0).sum()),
        target="target",
        task=table.task_name,
        classes=classes,
        n_classes=n_classes,
        quartiles=quartiles,
    )


def target_name(y: Any) -> str:
    """Return the name of a series or column of a file, or those of a few columns; "target" if there is none."""
    columns = y if isinstance(y, list | tuple) else getattr(y, "columns", ())
    if 1 < len(columns) <= _MOST_NAMES and all(isinstance(one, str) for one in columns):
        return ", ".join(columns)
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) and name else "target"
