"""What a search would cost: fits, seconds, memory and network, from a short run on noise of the same kind."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ppfs._conventions import stream
from ppfs.blanket import expected_refits
from ppfs.independence import MOST_ROWS_COUNTED

# The run that rates are taken from: rows, and how many columns depend on the target and how many do not.
_ROWS, _SIGNALS, _NOISE = 1200, 8, 8

# Growth is timed with few columns and with more, as many as take about a second: the difference is what columns cost.
_FEW, _MOST, _SECONDS = 4, 400, 1.0

# No p-value is as small, so nothing becomes a candidate and a fit ends after growth.
_UNREACHABLE = 1e-300

# Measured (benchmarks/scale/wide.py): answers, trace and names of a column that is asked about.
_BYTES_A_COLUMN = 350
# The interpreter with NumPy, SciPy, scikit-learn and the compiled kernels.
_BYTES_AT_REST = 300 * 2**20
# What a worker holds of the columns: the block in hand, its copies, and the next one.
_BYTES_OF_BLOCKS = 3 * 2**21
# What comes back for a column, and what goes out with a block, beside values.
_BYTES_OF_ANSWER, _BYTES_OF_TASK, _COLUMNS_A_TASK = 26, 2**12, 500
# Assumed: what a cluster adds to the work itself. benchmarks/scale/workers.py measures it for a cluster at hand.
_OVERHEAD = 1.15
# Where small p-values are counted, drawing and glancing beside the refits.
_GLANCES = 1.1


@dataclass(frozen=True)
class Line:
    """Seconds that are partly the same for any number of rows, and partly follow it."""

    fixed: float
    a_row: float

    @classmethod
    def through(cls, n: int, seconds: float, fewer: int, fewer_seconds: float) -> Line:
        """Return the line through two measurements; at least half of the larger one follows the rows."""
        slope = (seconds - fewer_seconds) / (n - fewer) if n > fewer else 0.0
        a_row = min(max(slope, seconds / n / 2), seconds / n)
        return cls(seconds - a_row * n, a_row)

    def at(self, n_rows: int) -> float:
        """Return the seconds for so many rows."""
        return self.fixed + self.a_row * n_rows


@dataclass(frozen=True)
class Rates:
    """What a short run took.

    Attributes
    ----------
    startup : float
        CPU seconds before any work.

    n_rows, n_candidates : int
        Of the run.

    growth : Line
        CPU seconds a column, by the rows.

    shrink : Line
        CPU seconds of the shrink phase, by the rows.

    shrink_in_candidates : float
        By which power of the candidates that grows.

    fits_a_column, fits_a_candidate : float
        Models fitted in growth and in shrink.

    n_splits : int
        Splits, which the shrink phase of a model outside the engine may spread over workers.

    is_counted : bool
        Whether small p-values of growth are counted where rows are few.

    correction, alpha
        What decides how often: parameters of the search.
    """

    startup: float
    n_rows: int
    n_candidates: int
    growth: Line
    shrink: Line
    shrink_in_candidates: float
    fits_a_column: float
    fits_a_candidate: float
    n_splits: int
    is_counted: bool = False
    correction: str | None = None
    alpha: float = 0.05

    def count_seconds(self, n_rows: int, n_columns: int, n_candidates: int) -> float:
        """Return the CPU seconds of counting p-values: each refit takes as long as a column of growth."""
        if not self.is_counted or n_rows > MOST_ROWS_COUNTED:
            return 0.0
        n_refits = expected_refits(n_candidates, n_columns, self.correction, self.alpha)
        return _GLANCES * n_refits * self.growth.at(n_rows)


@dataclass(frozen=True)
class Cost:
    """What a search would cost on so many workers.

    Attributes
    ----------
    seconds : float
        By the clock, where every worker has a core to itself.

    count_seconds : float
        Of them, those of counting growth's small p-values.

    memory : float
        Bytes, of the process that searches.

    worker_memory : float
        Bytes, of each worker.

    network : float
        Bytes that go to and from workers; 0 on one machine.

    disk : float
        Bytes of the table as float32, which is read once.
    """

    n_workers: int
    growth_fits: float
    shrink_fits: float
    growth_seconds: float
    count_seconds: float
    shrink_seconds: float
    startup: float
    memory: float
    worker_memory: float
    network: float
    disk: float

    @property
    def seconds(self) -> float:
        """All together."""
        return self.startup + self.growth_seconds + self.count_seconds + self.shrink_seconds


def measure_rates(selector: Any, y: NDArray[Any], *, is_labels: bool, seed: int = 0) -> Rates:
    """Fit a selector a few times to noise of a thousand rows, and return what that took.

    Parameters
    ----------
    selector : PPFS
        With the parameters of the search to come.

    y : array
        The target, or values like it.

    is_labels : bool
        Whether it holds labels.
    """
    startup = time.process_time()
    n_rows = min(_ROWS, len(y))
    full = _Run(selector, y, is_labels, n_rows, _SIGNALS, seed)
    full.take()
    full.take()
    fewer_rows = _Run(selector, y, is_labels, max(60, n_rows // 4), _SIGNALS, seed).take()
    fewer_signals = _Run(selector, y, is_labels, n_rows, _SIGNALS // 2, seed).take()
    many = max(full.n_candidates, 1)
    return Rates(
        startup,
        n_rows,
        many,
        Line.through(n_rows, full.growth, fewer_rows.n_rows, fewer_rows.growth),
        Line.through(n_rows, full.shrink, fewer_rows.n_rows, fewer_rows.shrink),
        _power(many, full.shrink, max(fewer_signals.n_candidates, 1), fewer_signals.shrink),
        full.fits_a_column,
        full.shrink_fits / many,
        max(1, round(full.fits_a_column)),
        full.is_counted or fewer_rows.is_counted,
        selector.correction,
        selector.alpha,
    )


class _Run:
    """Fits to noise in which some columns follow the target."""

    growth = shrink = fits_a_column = 0.0
    shrink_fits = n_candidates = 0
    is_counted = False

    def __init__(
        self, selector: Any, y: NDArray[Any], is_labels: bool, n_rows: int, n_signals: int, seed: int
    ) -> None:
        generator = stream(seed)
        self._selector, self.n_rows = selector, n_rows
        self._y = generator.permutation(np.asarray(y))[:n_rows]
        codes = np.unique(self._y, return_inverse=True)[1] if is_labels else self._y.astype(float)
        centred = (codes - codes.mean()) / (codes.std() or 1.0)
        self._noise = generator.normal(size=(n_rows, _MOST))
        self._X = generator.normal(size=(n_rows, _SIGNALS + _NOISE))
        self._X[:, :n_signals] += centred[:, None]

    def take(self) -> _Run:
        """Time growth alone and all of a fit."""
        few, grown = self._timed(self._noise[:, :_FEW], _UNREACHABLE)
        n = int(np.clip(_SECONDS * _FEW / few, 2 * _FEW, _MOST))
        many, _ = self._timed(self._noise[:, :n], _UNREACHABLE)
        # At least a tenth of what it took in all: a difference of short times may be anything.
        self.growth = max((many - few) / (n - _FEW), many / n / 10)
        self.fits_a_column = grown.n_fits_ / _FEW
        alone, grown = self._timed(self._X, _UNREACHABLE)
        whole, fitted = self._timed(self._X, self._selector.alpha)
        self.is_counted = any(step.phase == "exact growth" for step in fitted.trace_)
        self.shrink = max(whole - alone - self._count_seconds(), (whole - alone) / 10, 1e-4)
        self.shrink_fits = fitted.n_fits_ - grown.n_fits_
        self.n_candidates = len({step.feature for step in fitted.trace_ if step.phase == "shrink"})
        return self

    def _count_seconds(self) -> float:
        if not self.is_counted:
            return 0.0
        correction, alpha = self._selector.correction, self._selector.alpha
        n_refits = expected_refits(_SIGNALS, self._X.shape[1], correction, alpha)
        return _GLANCES * n_refits * self.growth

    def _timed(self, X: NDArray[np.float64], alpha: float) -> tuple[float, Any]:
        search = clone(self._selector).set_params(alpha=alpha, checkpoint=None, progress=False, n_jobs=1)
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(X, self._y)
        return max(time.process_time() - started, 1e-6), search


def _power(larger: float, seconds: float, smaller: float, fewer_seconds: float) -> float:
    """Return the exponent between two measurements, within what is believable of short ones."""
    if larger <= smaller:
        return 1.0
    return float(np.clip(log(seconds / fewer_seconds) / log(larger / smaller), 1.0, 2.5))


def predict_cost(
    rates: Rates,
    n_rows: int,
    n_columns: int,
    *,
    n_candidates: int = 20,
    n_workers: int = 1,
    is_on_file: bool = True,
) -> Cost:
    """Return what a search would cost.

    Parameters
    ----------
    n_candidates : int, default=20
        How many columns growth passes on. Nobody knows before; with `correction` few are noise.

    n_workers : int, default=1
        1 is this process alone.

    is_on_file : bool, default=True
        Whether workers read the columns themselves, or are sent them.
    """
    overhead = _OVERHEAD if n_workers > 1 else 1.0
    growth = n_columns * rates.growth.at(n_rows) / n_workers * overhead
    count = rates.count_seconds(n_rows, n_columns, n_candidates) / n_workers * overhead
    more_candidates = n_candidates / rates.n_candidates
    shrink = rates.shrink.at(n_rows) * more_candidates**rates.shrink_in_candidates
    splits = 8.0 * n_rows * (rates.n_splits + 2)
    n_tasks = ceil(n_columns / _COLUMNS_A_TASK)
    values = 0.0 if is_on_file else 8.0 * n_rows * n_columns
    return Cost(
        n_workers,
        n_columns * rates.fits_a_column,
        n_candidates * rates.fits_a_candidate,
        growth,
        count,
        shrink,
        rates.startup,
        _BYTES_AT_REST
        + _BYTES_A_COLUMN * n_columns
        + 2 * splits
        + 3 * 8.0 * n_rows * n_candidates
        + _block_bytes(n_rows),
        _BYTES_AT_REST + 2 * splits + _block_bytes(n_rows),
        (values + _BYTES_OF_ANSWER * n_columns + _BYTES_OF_TASK * n_tasks + splits * n_workers)
        if n_workers > 1
        else 0.0,
        4.0 * n_rows * n_columns,
    )


def _block_bytes(n_rows: int) -> float:
    return max(_BYTES_OF_BLOCKS, 3 * 8.0 * n_rows)


def cost_lines(costs: Sequence[Cost]) -> list[str]:
    """Write costs for people, one column for each number of workers."""
    rows = [
        ("workers", [f"{cost.n_workers:,}" for cost in costs]),
        ("fits in growth", [f"{cost.growth_fits:,.0f}" for cost in costs]),
        ("fits in shrink", [f"{cost.shrink_fits:,.0f}" for cost in costs]),
        ("growth", [duration(cost.growth_seconds) for cost in costs]),
        ("count", [duration(cost.count_seconds) if cost.count_seconds else "-" for cost in costs]),
        ("shrink", [duration(cost.shrink_seconds) for cost in costs]),
        ("in all", [duration(cost.seconds) for cost in costs]),
        ("memory", [size(cost.memory) for cost in costs]),
        ("memory a worker", [size(cost.worker_memory) if cost.n_workers > 1 else "-" for cost in costs]),
        ("network", [size(cost.network) if cost.n_workers > 1 else "-" for cost in costs]),
    ]
    widths = [max(len(cells[i]) for _, cells in rows) for i in range(len(costs))]
    return [
        f"{label:<15}  " + "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        for label, cells in rows
    ]


def duration(seconds: float) -> str:
    """Write seconds as people say them.

    Examples
    --------
    >>> [duration(one) for one in (3.21, 600, 30_000, 900_000)]
    ['3.2 s', '10 min', '8.3 h', '10.4 days']
    """
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            shown = f"{seconds / unit:.0f}" if name == "min" else f"{seconds / unit:.1f}"
            return f"{shown} {name}"
    return f"{seconds / 86_400:,.1f} days"


def size(n_bytes: float) -> str:
    """Write bytes as people say them.

    Examples
    --------
    >>> [size(one) for one in (3e5, 5e8, 2**31)]
    ['0.3 MiB', '477 MiB', '2.0 GiB']
    """
    if n_bytes < 2**30:
        shown = n_bytes / 2**20
        return f"{shown:.1f} MiB" if shown < 10 else f"{shown:.0f} MiB"
    return f"{n_bytes / 2**30:,.1f} GiB"
