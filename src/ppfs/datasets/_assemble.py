"""From raw features and labels to a checked :class:`Dataset`.

Data from every source (folder, scikit-learn, cache, OpenML) are checked here, so they all have the same names, types
and labels, and data that differ from the paper's are rejected.
"""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppfs.datasets._dataset import Dataset, Features
from ppfs.datasets._registry import DatasetInfo

# Sums of the same numbers in another order differ only by rounding.
COLUMN_CHECK_TOLERANCE = 1e-9


def assemble(info: DatasetInfo, X: Features, labels: NDArray[Any], *, origin: str) -> Dataset:
    """Check raw data against the registry and wrap them.

    Parameters
    ----------
    X : ndarray or csr_matrix
        Features, already float or object.
    labels : ndarray of str or of numbers
        Target as read; classes spelled as in the registry.
    origin : str
        Where the data came from, for the error message.
    """
    problem = _find_problem(info, X, labels)
    if problem is not None:
        raise ValueError(
            f"{origin} does not hold the data set {info.name!r} as the paper used it: {problem}. "
            f"Pass folder= (or set PPFS_DATA) with an original copy; source: {info.source}."
        )
    return Dataset(
        name=info.name,
        X=X,
        y=_cast_target(info, labels),
        feature_names=info.columns,
        categorical=info.categorical,
        target_name=info.target,
        task=info.task,
        title=info.title,
        source=info.source,
        description=info.notes,
    )


def column_check(info: DatasetInfo, X: Features) -> float:
    """Sum the numeric columns, each weighted with its position from 1."""
    skipped = set(info.categorical) if info.has_text else set()
    numeric = np.array([name not in skipped for name in info.columns])
    weights = np.flatnonzero(numeric) + 1.0
    if isinstance(X, sparse.csr_matrix):
        sums = np.asarray(X.sum(axis=0)).ravel()
    else:
        sums = X[:, numeric].astype(np.float64).sum(axis=0)
    return float(sums @ weights)


def _find_problem(info: DatasetInfo, X: Features, labels: NDArray[Any]) -> str | None:
    if X.shape != (info.rows, info.features):
        return f"{X.shape[0]} x {X.shape[1]} values, expected {info.rows} x {info.features}"
    if len(labels) != info.rows:
        return f"{len(labels)} labels for {info.rows} rows"
    counts = Counter(str(label) for label in labels)
    if info.classes is not None and counts != Counter(info.classes):
        return f"its classes are {dict(counts)}, expected {dict(info.classes)}"
    found = column_check(info, X)
    if not np.isclose(found, info.column_check, rtol=COLUMN_CHECK_TOLERANCE, atol=0):
        return f"its values differ (column check {found!r}, expected {info.column_check!r})"
    return None


def _cast_target(info: DatasetInfo, labels: NDArray[Any]) -> NDArray[Any]:
    if info.classes is None:
        return labels.astype(np.float64)
    try:
        return labels.astype(np.int64)
    except ValueError:
        return labels.astype(str)
