"""What kernels ask about vectors: sums of products, several terms at a time, and whether anything changes."""

from ppfs._engine.jit.kernels import Float64s, kernel_function, summing_part


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


@kernel_function
def is_constant(values: Float64s) -> bool:
    """Tell whether all values are the same."""
    n_changes = 0
    for i in range(1, values.size):
        n_changes += values[i] != values[0]
    return n_changes == 0
