"""Codes of text labels."""

from __future__ import annotations

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
