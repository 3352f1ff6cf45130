"""The errors and warnings of ppfs.

Every error is also a ``ValueError`` or a ``RuntimeError``, so code that already
catches those keeps working.

Examples
--------
>>> import numpy as np
>>> from ppfs import PPFS
>>> from ppfs.exceptions import InvalidInputError
>>> try:
...     PPFS().fit(np.eye(30), np.r_[np.nan, np.arange(29)])
... except InvalidInputError as error:
...     print(str(error).partition(". ")[0])
Input y contains NaN or other missing values in 1 of 30 rows, the first in row 0
"""

__all__ = [
    "AmbiguousTargetWarning",
    "CheckpointError",
    "CheckpointWarning",
    "DependentRowsWarning",
    "EstimatorFailedError",
    "InvalidInputError",
    "PrecisionWarning",
    "StratificationWarning",
    "UnreachableAlphaWarning",
    "UnusableColumnError",
    "WorkerLostError",
]


class InvalidInputError(ValueError):
    """The data or the parameters cannot be used; the message offers a way out."""


class UnusableColumnError(InvalidInputError):
    """One column cannot be used, and the message names it; with ``on_error="drop"`` it is left out."""


class WorkerLostError(RuntimeError):
    """The same work lost its worker again and again; the message names the columns."""


class CheckpointError(RuntimeError):
    """A checkpoint cannot be used, or belongs to another run; what it holds is intact."""


class CheckpointWarning(UserWarning):
    """A file of a checkpoint was damaged; what it held is computed again."""


class EstimatorFailedError(RuntimeError):
    """The caller's estimator raised while it was fitted or asked to predict."""


class AmbiguousTargetWarning(UserWarning):
    """The target's numbers may be class labels or numeric values; the message names the parameter that decides."""


class DependentRowsWarning(UserWarning):
    """Neighboring rows are similar, so that they carry less information than independent rows."""


class UnreachableAlphaWarning(UserWarning):
    """No p-value of the test can be as small as alpha, so nothing can be selected."""


class StratificationWarning(UserWarning):
    """Some class is too small to appear on both sides of a split."""


class PrecisionWarning(UserWarning):
    """Values of a column that differ are one and the same to the model that reads them."""
