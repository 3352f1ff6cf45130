"""Columns of mean 0 and standard deviation 1: scikit-learn's StandardScaler without its checks."""

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
        What is subtracted, and what is divided by; None where that is switched off.
    """

    mean: Floats | None
    scale: Floats | None

    def transform(self, X: Floats) -> Floats:
        """Return the scaled columns, with the dtype of the originals."""
        moved = X.copy(order="K")
        bits = X.dtype if scales_in_input_type() else np.float64
        if self.mean is not None:
            moved -= self.mean.astype(bits)
        if self.scale is not None:
            moved /= self.scale.astype(bits)
        return moved


def fitted_scaler(step: StandardScaler, X: Floats) -> FittedScaler | StandardScaler:
    """Fit a scaler to columns: the numbers of scikit-learn, bit for bit, in a third of the time.

    Growth fits one per block and split, where the checks of scikit-learn cost more than the sums. Non-finite values
    are left to scikit-learn.
    """
    n = len(X)
    mean: Floats = X.sum(axis=0, dtype=np.float64) / n
    if not np.isfinite(mean).all():
        return clone(step).fit(X)
    scale = None
    if step.with_std:
        deviations = X - mean
        # Without rounding error the sum would be 0.
        correction = deviations.sum(axis=0) ** 2 / n
        deviations *= deviations
        variance = (deviations.sum(axis=0) - correction) / n
        rounding = np.finfo(np.float64).eps * n
        is_constant = variance <= rounding * variance + (n * mean * np.finfo(np.float64).eps) ** 2
        scale = np.where(is_constant, 1.0, np.sqrt(np.maximum(variance, 0.0)))
    return FittedScaler(mean if step.with_mean else None, scale)
