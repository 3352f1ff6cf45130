"""Errors and warnings with names of their own.

Every error is also a ``ValueError`` or a ``RuntimeError``, so code that already
catches those keeps working.
"""

__all__ = [
    "EstimatorFailedError",
    "InvalidInputError",
    "StratificationWarning",
    "UnreachableAlphaWarning",
]


class InvalidInputError(ValueError):
    """The data or the parameters cannot be used; the message offers a way out."""


class EstimatorFailedError(RuntimeError):
    """The caller's estimator raised while it was fitted or asked to predict."""


class UnreachableAlphaWarning(UserWarning):
    """No p-value of the test can be as small as alpha, so nothing can be selected."""


class StratificationWarning(UserWarning):
    """Some class is too small to appear on both sides of a split."""
