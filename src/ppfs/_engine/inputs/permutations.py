"""Random permutations of rows, and targets rearranged by them."""

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.random_keys import combine
from ppfs._engine.jit.kernels import Float64s, Int64s, kernel, kernel_part

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_RANGE = np.uint64(2**32)
_ONE = np.uint64(1)


def random_permutations(n: int, seed: int, n_draws: int) -> npt.NDArray[np.int64]:
    """Draw permutations of n numbers, shape (n_draws, n).

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1.
    """
    orders = np.empty((n_draws, n), dtype=np.int64)
    _fill_permutations(np.uint64(seed), orders)
    return orders


def outputs_by_source(outputs: Float64s, sources: npt.NDArray[np.int64]) -> Float64s:
    """Add every output of a row to the row that its value comes from.

    Parameters
    ----------
    outputs : ndarray of shape (n_outputs, n_rows)

    sources : ndarray of int, shape (n_draws, n_rows)

    Returns
    -------
    ndarray of shape (n_outputs, n_draws, n_rows)
    """
    totals = np.zeros((len(outputs), *sources.shape))
    _add_by_source(np.ascontiguousarray(outputs), np.ascontiguousarray(sources), totals)
    return totals


@kernel
def _fill_permutations(seed: np.uint64, orders: Int64s) -> None:
    """Shuffle each row of `orders` (Fisher and Yates); a row depends on the seed and its number alone."""
    n_draws, n = orders.shape
    # Mixed first: keys of close seeds and close numbers would be equal for some pairs.
    mixed = combine(seed, np.uint64(0))
    for draw in range(n_draws):
        key = combine(mixed, np.uint64(draw))
        order = orders[draw]
        for i in range(n):
            order[i] = i
        n_drawn = np.uint64(0)
        for i in range(n - 1, 0, -1):
            size = np.uint64(i + 1)
            product = (combine(key, n_drawn) >> _HALF) * size
            n_drawn += _ONE
            # Lemire's method (2019): some of the 2**32 numbers are drawn again, so that all places are equally likely.
            if product & _LOW < size:
                rejected = _too_low(size)
                while product & _LOW < rejected:
                    product = (combine(key, n_drawn) >> _HALF) * size
                    n_drawn += _ONE
            other = np.int64(product >> _HALF)
            order[i], order[other] = order[other], order[i]


@kernel_part
def _too_low(size: np.uint64) -> np.uint64:
    return (_RANGE - size) % size


@kernel
def _add_by_source(outputs: Float64s, sources: Int64s, totals: Float64s) -> None:
    n_outputs, n_draws, n_rows = totals.shape
    for output in range(n_outputs):
        for draw in range(n_draws):
            for row in range(n_rows):
                totals[output, draw, sources[draw, row]] += outputs[output, row]
