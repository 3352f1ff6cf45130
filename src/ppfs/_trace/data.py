"""What the data were, in a few numbers that outlive them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ppfs._data import Table

_MOST_CLASSES = 12


@dataclass(frozen=True)
class DataSummary:
    """The data of a search, as a reader who does not have them wants to know them.

    Attributes
    ----------
    n_rows, n_columns : int

    n_categorical : int
        Columns of text or categories.

    target : str
        What the target is called: the name that it came with, or "target".

    task : {"classification", "regression"}

    classes : tuple of (str, int)
        The most frequent labels and their rows; empty in regression.

    n_classes : int
        How many labels there are; 0 in regression.

    quartiles : tuple of float
        Least value, quartiles and greatest value of a single numeric target; empty otherwise.
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
    """Summarise a table, whose target has no name yet: a table keeps the values only."""
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
        task=table.task,
        classes=classes,
        n_classes=n_classes,
        quartiles=quartiles,
    )


def target_name(y: Any) -> str:
    """Return the name of a series, or of a file's column; "target" for what has none."""
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) and name else "target"
