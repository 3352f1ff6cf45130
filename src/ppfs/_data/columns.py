"""The columns of a table: their values, names and kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ppfs._data.frames import CallersFrame
from ppfs._data.kinds import ColumnKinds
from ppfs._data.storage import Storage

# The label of missing values in a column of categories.
MISSING_LABEL = "(missing)"


@dataclass(frozen=True)
class Columns:
    """What each column holds.

    Attributes
    ----------
    storage : Storage
        The values: numbers, and codes of categories.

    names : tuple of str
        One name per column.

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for numbers.

    kinds : ColumnKinds
        Which columns are categorical, by their type or by their values.

    categories : dict of int to tuple of str
        The labels of each column of categories, in the order of their codes.

    frame : CallersFrame, default=None
        The data frame that the columns came from, if it was one.

    has_names : bool, default=True
        Whether the names are the caller's; otherwise columns are named x0, x1 and so on.
    """

    storage: Storage
    names: tuple[str, ...]
    n_levels: NDArray[np.intp]
    kinds: ColumnKinds
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    frame: CallersFrame | None = None
    has_names: bool = True

    @property
    def have_missing_labels(self) -> bool:
        """Whether some column of categories has missing values, which are a category of their own."""
        return any(labels[-1] == MISSING_LABEL for labels in self.categories.values())

    def of_rows(self, index: NDArray[np.intp]) -> Columns:
        """Return the same columns with some of the rows; codes, categories and kinds are those of all rows."""
        storage = self.storage.of_rows(index)
        return replace(self, storage=storage, kinds=self.kinds.for_part(storage))
