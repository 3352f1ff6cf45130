"""Labels: codes of text, and indicators of several labels per row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

# For at most this many labels of at most this many bytes, comparing all rows with each is faster than a dictionary.
_FEW = 4
_SHORT = 64


def coded_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the distinct labels, sorted, and the position of each row's label among them.

    Sorting the rows, as `numpy.unique` does, would take much longer.

    Examples
    --------
    >>> import numpy as np
    >>> labels, codes = coded_labels(np.array(["no", "yes", "no"]))
    >>> labels.tolist(), codes.tolist()
    (['no', 'yes'], [0.0, 1.0, 0.0])
    """
    return _compared(y) or _looked_up(y)


def _compared(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]] | None:
    """Return the labels and codes if there are few short labels, else None."""
    if y.itemsize > _SHORT:
        return None
    labels: list[Any] = []
    numbers = np.full(y.size, -1, dtype=np.intp)
    while (waiting := np.flatnonzero(numbers < 0)).size:
        if len(labels) == _FEW:
            return None
        label = y[waiting[0]]
        numbers[y == label] = len(labels)
        labels.append(label)
    order = np.argsort(labels)
    codes = np.empty(order.size)
    codes[order] = np.arange(order.size)
    return np.array(labels, dtype=y.dtype)[order], codes[numbers]


def _looked_up(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    rows = y.tolist()
    labels = sorted(set(rows))
    number = {label: float(code) for code, label in enumerate(labels)}
    codes = np.fromiter(map(number.__getitem__, rows), dtype=np.float64, count=len(rows))
    return np.array(labels, dtype=y.dtype), codes


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
