"""Several labels per row: as indicators, which models of numbers predict, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SeveralLabels:
    """The columns of a target that each hold labels.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_labels)
        The caller's labels.

    classes : tuple of ndarray
        The distinct values of each column, sorted.
    """

    values: NDArray[Any]
    classes: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, values: NDArray[Any]) -> SeveralLabels:
        """Find the classes of each column."""
        return cls(values, tuple(np.unique(column) for column in values.T))

    @property
    def n_classes(self) -> tuple[int, ...]:
        """The number of classes of each column."""
        return tuple(one.size for one in self.classes)

    @property
    def indicators(self) -> NDArray[np.float64]:
        """One column per class of each label; of two classes only the second has one."""
        parts = []
        for column, classes in zip(self.values.T, self.classes, strict=True):
            shown = classes[1:] if classes.size == 2 else classes
            parts.append(column[:, np.newaxis] == shown)
        return np.hstack(parts).astype(np.float64)

    def of_rows(self, index: NDArray[np.intp]) -> SeveralLabels:
        """Return some of the rows; the classes are those of all rows."""
        return replace(self, values=self.values[index])
