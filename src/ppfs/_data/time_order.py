"""Rows in time: their order, and how long neighboring rows stay correlated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ppfs._conventions import mean_ranks

# A block has this many times the autocorrelation time, and there are at least this many blocks
# (docs/decisions/0280-rows-in-time.md).
_TIMES_PER_BLOCK = 3.0
_FEWEST_BLOCKS = 10

# Blocks of this many autocorrelation times share less with their neighbors, if there are at least this many blocks.
_TIMES_PER_LONG_BLOCK = 6.0
_MANY_BLOCKS = 50

# Neighbors are similar if their correlation is this many standard errors above 0, which by chance happens once in ten
# thousand series, and if the correlation of successive differences is this far above -1/2, that of independent rows.
_STANDARD_ERRORS = 3.7
_LEAST_ABOVE = 0.13
_LOCAL_STANDARD_ERRORS = 2.33
_FEWEST_ROWS = 30

# Differences are cut at this many standard deviations, so that the steps between groups of rows count little.
_CUT = 2.0


@dataclass(frozen=True)
class RowsInTime:
    """The order of rows in time, for the argument `time` of ``fit``, with your own gap or block length.

    ``fit(X, y, time="date")`` is the same as ``fit(X, y, time=RowsInTime("date"))``.

    Parameters
    ----------
    order : array-like of shape (n_rows,) or str, default="index"
        Numbers or dates that sort the rows; the name of such a column of X; or "index", the order of the rows, or the
        index of a pandas data frame.

    gap : int, default=0
        How many rows before and after each test part are left out of the training part.

    block_length : int, default=None
        How many neighboring rows form a block, which no split separates. None: three times the autocorrelation time of
        the target or of its residuals, whichever is longer, and at most a tenth of the rows; up to six times where that
        leaves 50 blocks.

    lags : sequence of int, default=()
        Add lagged copies of all columns: the values this many rows before. ``fit(X, y, time=..., lags=[1, 2, 7])`` is
        the same as ``fit(X, y, time=RowsInTime(..., lags=[1, 2, 7]))``.

    lags_together : bool, default=True
        Whether a column and its lagged copies are one feature; False: every copy is a feature.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs import PPFS, RowsInTime
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> y = x[:, 0] + 0.2 * np.cumsum(rng.normal(size=300))
    >>> selector = PPFS.calibrated(random_state=0).fit(x, y, time=RowsInTime(gap=5))
    >>> selector.blanket_.tolist()
    [0]
    """

    order: Any = "index"
    gap: int = 0
    block_length: int | None = None
    lags: Sequence[int] = ()
    lags_together: bool = True


@dataclass(frozen=True)
class TimeOrder:
    """The order in time of a table's rows.

    Attributes
    ----------
    positions : ndarray of int, shape (n_rows,)
        The place of each row in time, among all rows of the caller; rows of the same time have the same place.

    gap : int
        How many places around a test part the training part leaves out.

    block_length : int
        The number of places in a block.

    autocorrelation_time : float or None
        What the block length was chosen by; None if the caller chose it.
    """

    positions: NDArray[np.intp]
    gap: int
    block_length: int
    autocorrelation_time: float | None = None

    @property
    def blocks(self) -> NDArray[np.intp]:
        """The number of each row's block; a remainder of less than half a block belongs to the last one."""
        n_blocks = max(1, round((int(self.positions.max()) + 1) / self.block_length))
        return np.minimum(self.positions // self.block_length, n_blocks - 1)

    def of_rows(self, index: NDArray[np.intp]) -> TimeOrder:
        """Return the order of some of the rows."""
        return replace(self, positions=self.positions[index])

    def apart(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of `train` that are more than the gap away from every row of `test`."""
        if not self.gap:
            return train
        tested = np.sort(self.positions[test])
        own = self.positions[train]
        after = np.searchsorted(tested, own)
        distance = np.minimum(
            np.abs(own - tested[np.minimum(after, tested.size - 1)]),
            np.abs(own - tested[np.maximum(after - 1, 0)]),
        )
        far: NDArray[np.intp] = train[distance > self.gap]
        return far

    @property
    def described(self) -> str:
        """A note for the trace."""
        n_blocks = np.unique(self.blocks).size
        gap = f", {self.gap} rows around each test part left out of training" if self.gap else ""
        if self.autocorrelation_time is None:
            return f"rows in time: {n_blocks} blocks of {self.block_length} neighboring rows{gap}"
        wanted = ceil(_TIMES_PER_BLOCK * self.autocorrelation_time)
        capped = (
            f", which asks for blocks of {wanted}: there are too few rows for that, and few of them are independent"
            if wanted > self.block_length
            else ""
        )
        return (
            f"rows in time: {n_blocks} blocks of {self.block_length} neighboring rows{gap}; the autocorrelation time "
            f"is {self.autocorrelation_time:.1f} rows{capped}"
        )


def chosen_block_length(series: list[NDArray[np.float64]], n_rows: int) -> tuple[int, float]:
    """Return the block length for some series in the order of time, and the longest of their autocorrelation times.

    Parameters
    ----------
    series : list of ndarray
        The target and its residuals.

    n_rows : int
        The number of rows, which may be more than the series have.
    """
    longest = max(map(autocorrelation_time, series))
    long = min(ceil(_TIMES_PER_LONG_BLOCK * longest), n_rows // _MANY_BLOCKS)
    wanted = max(ceil(_TIMES_PER_BLOCK * longest), long)
    return max(1, min(wanted, n_rows // _FEWEST_BLOCKS)), longest


def autocorrelation_time(series: NDArray[np.float64]) -> float:
    """Return how many rows carry as much information about a mean as one independent row, at least 1.

    It is 1 plus twice the sum of the autocorrelations, up to the first pair of them whose sum is not positive (Geyer,
    "Practical Markov chain Monte Carlo", Statistical Science 7, 1992). An autoregressive series with coefficient phi
    has (1 + phi) / (1 - phi).

    Examples
    --------
    >>> autocorrelation_time(np.tile([1.0, -1.0], 50))
    1.0
    """
    n = series.size
    centered = series - series.mean()
    spectrum = np.fft.rfft(centered, 2 * n)
    products = np.fft.irfft(spectrum * spectrum.conj(), 2 * n)[:n]
    if products[0] <= 0:
        return 1.0
    correlations = products[1:] / products[0]
    pairs = correlations[: correlations.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    stops = np.flatnonzero(pairs <= 0)
    return float(max(1.0, 1.0 + 2.0 * pairs[: stops[0] if stops.size else None].sum()))


def are_neighbors_alike(series: NDArray[np.float64]) -> bool:
    """Return whether neighboring values are correlated, in a way that is not explained by a sorted table.

    In a table that is sorted by a group or by a column, the mean changes slowly or in steps, but values beside each
    other vary independently around it: their successive differences then have the correlation -1/2, as those of
    independent values. In an autoregressive series with coefficient phi it is -(1 - phi) / 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=400)
    >>> are_neighbors_alike(np.cumsum(noise))
    True
    >>> are_neighbors_alike(noise), are_neighbors_alike(noise + np.arange(400) // 50)
    (False, False)
    """
    n = series.size
    if n < _FEWEST_ROWS:
        return False
    # Normal scores: one outlier would decide otherwise. Scores of two values are correlated as the values are.
    has_two_values = bool(((series == series.min()) | (series == series.max())).all())
    scores = series if has_two_values else special.ndtri(mean_ranks(series) / (n + 1))
    if _neighbor_correlation(scores - scores.mean()) <= _STANDARD_ERRORS / np.sqrt(n):
        return False
    steps = np.diff(scores)
    spread = _CUT * 1.4826 * np.median(np.abs(steps))
    if spread > 0:
        steps = np.clip(steps, -spread, spread)
    above = max(_LEAST_ABOVE, _LOCAL_STANDARD_ERRORS * np.sqrt(0.5 / n))
    return bool(_neighbor_correlation(steps) > above - 0.5)


def _neighbor_correlation(values: NDArray[np.float64]) -> float:
    total = float(values @ values)
    return float(values[1:] @ values[:-1]) / total if total > 0 else 0.0
