"""Systems of equations with a symmetric positive matrix."""

from math import sqrt

from ppfs._engine.jit.kernels import Float64s, kernel_function
from ppfs._engine.linear.sums import dot

#: A pivot that is this small relative to its diagonal entry is due to rounding.
SMALLEST_PIVOT = 1e-13

#: What is then added to the diagonal first, as a share of the trace.
FIRST_RIDGE = 1e-12


@kernel_function
def factorize(matrix: Float64s, factor: Float64s, ridge: float, smallest: float) -> bool:
    """Fill the lower triangle of ``factor`` with the Cholesky factor of ``matrix`` plus a ridge, if it exists.

    Only the lower triangle of ``matrix`` is read. The factorization fails if a pivot is at most ``smallest`` times its
    diagonal entry: the column is then nearly a linear combination of those before it. Returns whether it succeeds.
    """
    n = matrix.shape[0]
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i, j] - dot(factor[i, :j], factor[j, :j])
            if i == j:
                diagonal = matrix[i, i] + ridge
                rest += ridge
                if not rest > smallest * diagonal:
                    return False
                factor[i, i] = sqrt(rest)
            else:
                factor[i, j] = rest / factor[j, j]
    return True


@kernel_function
def solve_factorized(factor: Float64s, right: Float64s, solution: Float64s) -> None:
    """Fill the solution of ``factor @ factor.T @ solution = right``."""
    n = right.size
    for i in range(n):
        solution[i] = (right[i] - dot(factor[i, :i], solution[:i])) / factor[i, i]
    for back in range(n):
        i = n - 1 - back
        solution[i] /= factor[i, i]
        for j in range(i):
            solution[j] -= factor[i, j] * solution[i]


@kernel_function
def solve_positive(matrix: Float64s, right: Float64s, factor: Float64s, solution: Float64s) -> None:
    """Fill the solution of ``matrix @ solution = right``, and a factor; if it is not unique, one of small norm.

    As probabilities approach 0 and 1, the information matrix becomes singular in some directions; a small multiple of
    the identity keeps the step finite there.
    """
    n = right.size
    trace = 0.0
    for i in range(n):
        trace += matrix[i, i]
    ridge = 0.0
    while not factorize(matrix, factor, ridge, SMALLEST_PIVOT):
        ridge = 100.0 * ridge if ridge > 0.0 else FIRST_RIDGE * max(trace, 1e-300)
        if not ridge < 1e300:
            for i in range(n):
                solution[i] = 0.0
            return
    solve_factorized(factor, right, solution)
