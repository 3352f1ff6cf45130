"""What a search would cost: fits, seconds, memory and network."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ppfs._planning.rates import Rates

# Measured (benchmarks/scale/wide.py): answers, trace and names of a column that is asked about.
_BYTES_PER_COLUMN = 350
# The interpreter with NumPy, SciPy, scikit-learn and the compiled kernels.
_BYTES_AT_REST = 300 * 2**20
# What a worker holds of the columns: the current block, its copies, and the next one.
_BYTES_OF_BLOCKS = 3 * 2**21
# The answer for a column, and what is sent with a block beside its values.
_BYTES_OF_ANSWER, _BYTES_OF_TASK, _COLUMNS_PER_TASK = 26, 2**12, 500
# Assumed: what a cluster adds to the work itself. benchmarks/scale/workers.py measures it for a given cluster.
_OVERHEAD = 1.15


@dataclass(frozen=True)
class Cost:
    """What a search would cost on a number of workers.

    Attributes
    ----------
    seconds : float
        Wall-clock time, if every worker has a core.

    growth_fits, count_fits, shrink_fits : float
        Models fitted in growth, to count growth's small p-values, and in the shrink phase.

    beside_fits : float
        Models fitted in joint growth and in second looks.

    growth_seconds, count_seconds, shrink_seconds, beside_seconds, startup : float
        The seconds of each, and of loading libraries and kernels.

    memory : float
        Bytes of the process that searches.

    worker_memory : float
        Bytes of each worker.

    network : float
        Bytes sent to and from workers; 0 on one machine.

    disk : float
        Bytes of the table as float32, which is read once.
    """

    n_workers: int
    growth_fits: float
    count_fits: float
    shrink_fits: float
    growth_seconds: float
    count_seconds: float
    shrink_seconds: float
    startup: float
    memory: float
    worker_memory: float
    network: float
    disk: float
    beside_fits: float = 0.0
    beside_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """All together."""
        in_phases = self.growth_seconds + self.count_seconds + self.shrink_seconds + self.beside_seconds
        return self.startup + in_phases


def predict_cost(
    rates: Rates,
    n_rows: int,
    n_columns: int,
    *,
    n_candidates: int | None = None,
    n_workers: int = 1,
) -> Cost:
    """Return what a search would cost.

    Parameters
    ----------
    n_candidates : int, default=None
        How many columns growth passes on; None: as many as were found in the part of the table that was measured.

    n_workers : int, default=1
        1 is this process alone. More read the columns from the file themselves.
    """
    n_candidates = min(rates.n_candidates if n_candidates is None else n_candidates, n_columns)
    overhead = _OVERHEAD if n_workers > 1 else 1.0
    n_alone = 0 if rates.mode == "joint" else n_columns
    growth = n_alone * rates.growth.at(n_rows) / n_workers * overhead
    n_refits = rates.n_refits(n_rows, n_columns, n_candidates)
    count = n_refits * rates.seconds_per_refit * rates.growth_ratio(n_rows) / n_workers * overhead
    shrink = rates.shrink if n_candidates else None
    n_joint, n_looks = rates.n_beside(n_rows, n_columns)
    n_looks = n_looks if n_candidates else 0
    splits = 8.0 * n_rows * (rates.n_splits + 2)
    n_tasks = ceil(n_columns / _COLUMNS_PER_TASK)
    return Cost(
        n_workers,
        n_alone * rates.fits_per_column,
        n_refits * rates.fits_per_refit,
        shrink.fits_for(n_candidates) if shrink else 0.0,
        growth,
        count,
        shrink.seconds_for(n_candidates) * rates.shrink_ratio(n_rows) if shrink else 0.0,
        rates.startup,
        _BYTES_AT_REST
        + _BYTES_PER_COLUMN * n_columns
        + 2 * splits
        + 3 * 8.0 * n_rows * n_candidates
        + _block_bytes(n_rows),
        _BYTES_AT_REST + 2 * splits + _block_bytes(n_rows),
        (_BYTES_OF_ANSWER * n_columns + _BYTES_OF_TASK * n_tasks + splits * n_workers)
        if n_workers > 1
        else 0.0,
        4.0 * n_rows * n_columns,
        n_joint * rates.joint.fits + n_looks * rates.look.fits,
        (n_joint * rates.joint.seconds + n_looks * rates.look.seconds) * n_rows / rates.n_rows,
    )


def _block_bytes(n_rows: int) -> float:
    return max(_BYTES_OF_BLOCKS, 3 * 8.0 * n_rows)
