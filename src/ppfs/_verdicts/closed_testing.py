"""How many of some columns are truly related: closed testing with Simes' test, for all sets at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats


def hommel_size(pvalues: Floats, alpha: float) -> int:
    """Return the size of the largest set of hypotheses that Simes' test does not reject.

    The largest i such that ``i * p[m - i + j] > j * alpha`` for all j from 1 to i, with sorted p-values (Hommel, 1988).

    Examples
    --------
    >>> hommel_size(np.array([0.001, 0.02, 0.6]), 0.05)
    1
    """
    ordered, m = np.sort(pvalues), len(pvalues)
    for size in range(m, 0, -1):
        if (size * ordered[m - size :] > alpha * np.arange(1, size + 1)).all():
            return size
    return 0


def at_least(pvalues: Floats, members: Sequence[int] | NDArray[np.intp], alpha: float) -> int:
    """Return a lower bound on how many of some hypotheses are false.

    With probability 1 - alpha it holds for all sets at once, so that sets may be chosen after looking, wherever Simes'
    test of the true hypotheses holds its level: for independent p-values and for positively dependent ones. It is the
    bound of closed testing (Goeman and Solari, 2011), by the shortcut of Goeman, Meijer, Krebs and Solari (2019).

    Parameters
    ----------
    pvalues : ndarray of shape (n_hypotheses,)
        Of all hypotheses.

    members : sequence of int
        The set.

    Examples
    --------
    >>> at_least(np.array([0.001, 0.02, 0.6]), [0, 1], 0.05)
    2
    """
    return _bound(hommel_size(pvalues, alpha) * pvalues[list(members)], alpha)


def at_least_among_first(pvalues: Floats, alpha: float) -> NDArray[np.intp]:
    """Return the lower bound for the first hypothesis, for the first two, and so on."""
    scaled = hommel_size(pvalues, alpha) * pvalues
    return np.array([_bound(scaled[: k + 1], alpha) for k in range(len(pvalues))], dtype=np.intp)


def _bound(scaled: Floats, alpha: float) -> int:
    """Return the largest ``1 - u + number of scaled p-values up to u * alpha`` over u, and at least 0.

    Only u at which another p-value is included can be the largest, so that sorted values are enough.
    """
    if not len(scaled):
        return 0
    # How many levels of alpha each sorted value needs; that many false hypotheses are lost, less one.
    needed = np.maximum(1, np.ceil(np.sort(scaled) / alpha * (1 - 1e-12)))
    return max(0, int((1 - needed + np.arange(1, len(scaled) + 1)).max()))
