"""Functions of vectors for kernels: inner products, computed several terms at a time, and constancy."""

from ppfs._engine.jit.kernels import Float64s, kernel_function, summing_part


@summing_part
def dot(left: Float64s, right: Float64s) -> float:
    """Return the inner product.

    The compiler may change the order of the terms, but the order is the same for all vectors of one length: an entry of
    a Gram matrix does not depend on the other columns.
    """
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@kernel_function
def is_constant(values: Float64s) -> bool:
    """Return whether all values are equal."""
    n_changes = 0
    for i in range(1, values.size):
        n_changes += values[i] != values[0]
    return n_changes == 0
