"""Differences of risks without rounding error."""

from __future__ import annotations

import numpy as np

from ppfs._conventions import Floats

# Equal risks differ in the last bits when their losses were added in another order. Differences are therefore rounded
# to this grid, relative to the largest risk: far above rounding error, far below anything that a test can detect.
GRID = 2.0**-33


def risk_differences(base: Floats, replaced: Floats) -> Floats:
    """Return ``replaced - base``, with differences that are only rounding error set to zero.

    Parameters
    ----------
    base, replaced : ndarray of shape (n_questions, n_splits)
        Mean loss with the feature, and with its knockoff.
    """
    scale = np.maximum(np.abs(base), np.abs(replaced)).max(axis=1, keepdims=True)
    # A power of two, so that the grid itself is the same when the largest risk differs in its last bits.
    step = np.ldexp(GRID, np.frexp(scale)[1])
    rounded: Floats = np.rint((replaced - base) / step) * step
    return rounded
