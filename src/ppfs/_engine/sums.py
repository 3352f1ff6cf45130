"""Sums of products over neighbours in memory, several of them at a time."""

from ppfs._engine._jit import Float64s, summing_part


@summing_part
def dot(left: Float64s, right: Float64s) -> float:
    """Return the sum of products.

    The compiler may add in another order, which is the same order for every pair of vectors of this length: an entry of
    a matrix of products does not depend on the other columns.
    """
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total
