"""The best cut of a node of a boosted tree, from cumulative sums of gradients and hessians."""

import numpy as np

from ppfs._engine.jit.kernels import Float64s, Int64s, Records, kernel_function, kernel_part

#: Keeps a quotient finite if gradients and hessians are both 0; a constant of scikit-learn.
TINY = 1e-15


@kernel_part
def leaf_value(gradient: float, hessian: float, l2: float) -> float:
    """Return the value of a leaf before shrinkage: one step of Newton's method."""
    return -gradient / (hessian + l2 + TINY)


@kernel_part
def cut_gain(
    left_gradient: float,
    left_hessian: float,
    right_gradient: float,
    right_hessian: float,
    now: float,
    l2: float,
) -> float:
    """Return the decrease of the loss by a cut, rounded as in scikit-learn."""
    left = left_gradient * leaf_value(left_gradient, left_hessian, l2)
    right = right_gradient * leaf_value(right_gradient, right_hessian, l2)
    return now - left - right


@kernel_function
def best_cut(
    gradients: Float64s,
    hessians: Float64s,
    from_gradient: float,
    from_hessian: float,
    total_gradient: float,
    total_hessian: float,
    now: float,
    l2: float,
    min_hessian: float,
    gains: Float64s,
) -> int:
    """Return the first of the best cuts, or -1 if none lowers the loss.

    Parameters
    ----------
    gradients, hessians : arrays of shape (n_cuts,)
        Cumulative sums up to each cut. The sums left of a cut are these minus ``from_gradient`` and ``from_hessian``.
    total_gradient, total_hessian : float
        Sums of the node.
    now : float
        Contribution of the node to the loss without a cut.
    min_hessian : float
        Smallest sum of hessians on either side of a cut.
    gains : array of shape (n_cuts,)
        Scratch memory; the gain of a cut that is not allowed is -1.
    """
    # Without branches, so that the loop is vectorized.
    for cut in range(gains.size):
        left_gradient = gradients[cut] - from_gradient
        left_hessian = hessians[cut] - from_hessian
        right_gradient = total_gradient - left_gradient
        right_hessian = total_hessian - left_hessian
        gain = cut_gain(left_gradient, left_hessian, right_gradient, right_hessian, now, l2)
        gains[cut] = gain if (left_hessian >= min_hessian) & (right_hessian >= min_hessian) else -1.0
    # The bits of positive floats, read as integers, sort like the floats, and the search for the maximum is vectorized
    # for integers only.
    bits = gains.view(np.int64)
    largest = np.int64(0)
    for cut in range(bits.size):
        largest = max(largest, bits[cut])
    if largest == 0:
        return -1
    chosen = 0
    while bits[chosen] != largest:
        chosen += 1
    return chosen


@kernel_part
def pop_best(n_pending: int, is_limited: bool, nodes: Records, pending: Int64s) -> int:
    """Remove and return the pending node with the largest gain, or any node if the number of leaves is unlimited."""
    chosen = n_pending - 1
    if is_limited:
        for place in range(n_pending - 1):
            if nodes[pending[place]]["gain"] > nodes[pending[chosen]]["gain"]:
                chosen = place
    number: int = pending[chosen]
    pending[chosen] = pending[n_pending - 1]
    return number
