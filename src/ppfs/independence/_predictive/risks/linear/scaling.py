"""Columns moved to mean 0 and scaled to deviation 1: scikit-learn's StandardScaler without its checks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from ppfs._conventions import Floats, scales_in_input_type


@dataclass(frozen=True)
class FittedScaler:
    """A fitted StandardScaler.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_columns,) or None
        What is subtracted, and what is divided by; None where that is not asked for.
    """

    mean: Floats | None
    scale: Floats | None

    def transform(self, X: Floats) -> Floats:
        """Return the columns in the new units, in as many bits as they had."""
        moved = X.copy(order="K")
        bits = X.dtype if scales_in_input_type() else np.float64
        if self.mean is not None:
            moved -= self.mean.astype(bits)
        if self.scale is not None:
            moved /= self.scale.astype(bits)
        return moved


def fitted_scaler(step: StandardScaler, X: Floats) -> FittedScaler | StandardScaler:
    """Fit a scaler to columns: the same numbers as scikit-learn's, bit for bit, in a third of the time.

    Growth fits one for every block and split, where the checks of scikit-learn cost more than the sums. What is not
    finite is left to scikit-learn.
    """
    n = len(X)
    mean: Floats = X.sum(axis=0, dtype=np.float64) / n
    if not np.isfinite(mean).all():
        return clone(step).fit(X)
    scale = None
    if step.with_std:
        deviations = X - mean
        # Rounding leaves something of the sum, which would be 0.
        correction = deviations.sum(axis=0) ** 2 / n
        deviations *= deviations
        variance = (deviations.sum(axis=0) - correction) / n
        rounding = np.finfo(np.float64).eps * n
        is_constant = variance <= rounding * variance + (n * mean * np.finfo(np.float64).eps) ** 2
        scale = np.where(is_constant, 1.0, np.sqrt(np.maximum(variance, 0.0)))
    return FittedScaler(mean if step.with_mean else None, scale)
