"""Where a node with two classes is best cut by the Gini impurity: the scan of `cuts`, without its divisions.

Let a node have m rows, M of them in class 1, and let a cut leave k rows, a of them in class 1, on the left. The gain of
the cut is a constant of the node plus 2 / m times its *excess*,

    (a m - k M)^2 / (k (m - k)).

The numerator is a running sum of integers, and 1 / (k (m - k)) is the same for all columns. So the excess of every
cut costs two products, and the gain itself, rounded as scikit-learn rounds it, is computed only for cuts whose excess
is not clearly below that of the best cut so far.
"""

from math import inf

from ppfs._engine.jit.kernels import Float64s, Int32s, Records, kernel_function, kernel_part
from ppfs._engine.trees.criterion import gain, midpoint
from ppfs._engine.trees.rules import TIE, Criterion, Limits

# Gains are rounded to about 1e-15 of the number of rows. Excesses that differ by more than this share of its square
# belong to gains that differ by far more than rounding.
_CLEARLY = 1e-12


@kernel_part
def fill_scales(n_rows: int, scales: Float64s) -> None:
    """Write 1 / (k (n_rows - k)) to ``scales[k]``."""
    for k in range(1, n_rows):
        scales[k] = 1.0 / (float(k) * float(n_rows - k))


@kernel_function
def best_two_class_cut(
    start: int,
    stop: int,
    stats: Float64s,
    entries: Records,
    classes: Int32s,
    scales: Float64s,
    least: float,
    limits: Limits,
) -> tuple[float, float, float]:
    """Find the best cut of a node in one column that stores all of its rows; of equal ones the first.

    Parameters
    ----------
    start, stop : int
        The rows of the node are ``entries[start:stop]``, in the order of their values. Each counts 1.
    stats : array of shape (2,), float64
        The rows of each class.
    classes : array of shape (n_rows,), int32
    scales : array of shape (at least stop - start,), float64
        From `fill_scales`.
    least : float
        Cuts with a smaller excess are clearly worse than one of another column.

    Returns
    -------
    gain, threshold : float
        The gain is minus infinity if there is no cut, or none with such an excess.
    least : float
        The excess below which cuts of other columns are clearly worse than the best one so far.
    """
    n_rows = stop - start
    all_rows = float(n_rows)
    n_ones = 0
    away, best, threshold = 0.0, -inf, 0.0
    for n_left in range(1, n_rows - limits.min_leaf + 1):
        last = start + n_left - 1
        label = classes[entries[last]["row"]]
        n_ones += label
        away += all_rows * float(label) - stats[1]
        excess = away * away * scales[n_left]
        if excess < least or n_left < limits.min_leaf:
            continue
        previous, value = entries[last]["value"], entries[last + 1]["value"]
        if not value > previous + TIE:
            continue
        left, ones = float(n_left), float(n_ones)
        zeros = left - ones
        other_ones, other_zeros = stats[1] - ones, stats[0] - zeros
        worth = gain(
            zeros * zeros + ones * ones,
            other_zeros * other_zeros + other_ones * other_ones,
            left,
            all_rows - left,
            Criterion.GINI,
        )
        if worth > best:
            best, threshold = worth, midpoint(previous, value)
            least = max(least, excess - _CLEARLY * all_rows * all_rows)
    return best, threshold, least
