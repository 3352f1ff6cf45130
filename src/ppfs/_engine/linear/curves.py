"""Piecewise linear curves of indices, fitted by penalized least squares."""

from functools import lru_cache

import numpy as np

from ppfs._engine.jit.kernels import Bools, Float64s, Int64s, Uint8s, kernel, kernel_function

# Bends are penalized by this share of the rows between two knots.
_BENDS = 0.03

# NumPy adds up this many numbers in eight sums, and halves longer arrays; this is more than the halvings of any array.
_ADDED_AT_ONCE, _MOST_HALVINGS = 128, 64


def fit_curves(
    raw: Float64s, is_seen: Bools, responses: Float64s, knots: Float64s, n_knots: Int64s, *, is_unit: bool
) -> tuple[Float64s, Float64s, Float64s, Float64s]:
    """Fit a curve of each index to a response: linear between knots, and constant beyond the outer ones.

    Parameters
    ----------
    raw : array of shape (n_curves, n_rows), float64
        The indices.
    is_seen : array of shape (n_curves, n_rows), bool
        The rows that each curve is fitted to.
    responses : array of shape (n_curves, n_rows), float64
    knots : array of shape (n_curves, most_knots), float64
        Ascending values of the index; equal ones count once. They are overwritten.
    n_knots : array of shape (n_curves,), int64
        It is overwritten too.
    is_unit : bool
        Whether the indices stay as they are.

    Returns
    -------
    indices : array of shape (n_curves, n_rows), float64
        With mean 0 and variance 1 over the rows seen.
    fitted, slopes : array of shape (n_curves, n_rows), float64
        The heights of the curves at all rows, and their slopes there.
    errors : array of shape (n_curves,), float64
        The sums of squares that the curves leave of the rows seen.
    """
    shape, (n_curves, most) = raw.shape, knots.shape
    indices, above, fitted, slopes = np.empty((4, *shape))
    places, n_seen = np.empty(shape, dtype=np.uint8), np.empty(n_curves, dtype=np.int64)
    grams, moments, heights = (
        np.empty((n_curves, most, most)),
        np.empty((n_curves, most)),
        np.zeros(knots.shape),
    )
    memory, halves = (
        np.empty((3, max(shape[1], most, _MOST_HALVINGS))),
        np.empty((2, _MOST_HALVINGS), np.int64),
    )
    _place(
        raw,
        is_seen,
        responses,
        is_unit,
        memory,
        halves,
        knots,
        n_knots,
        n_seen,
        indices,
        places,
        above,
        grams,
        moments,
    )
    sizes = list(zip(n_seen.tolist(), n_knots.tolist(), strict=True))
    for k in {k for _, k in sizes}:
        which = np.flatnonzero(n_knots == k)
        penalties = np.stack([_roughness(*sizes[curve]) for curve in which])
        heights[which, :k] = np.linalg.solve(
            grams[which, :k, :k] + penalties, moments[which, :k, np.newaxis]
        )[:, :, 0]
    errors = np.empty(n_curves)
    _evaluate(knots, heights, places, above, is_seen, responses, memory, halves, fitted, slopes, errors)
    return indices, fitted, slopes, errors


@lru_cache(maxsize=128)
def _roughness(n_rows: int, n_knots: int) -> Float64s:
    """Return the matrix of the penalty of bends, and a little more: shape (n_knots, n_knots)."""
    bends = np.diff(np.eye(n_knots), 2, axis=0)
    penalty: Float64s = _BENDS * n_rows / n_knots * bends.T @ bends + 1e-6 * np.eye(n_knots)
    return penalty


@kernel
def _place(
    raw: Float64s,
    is_seen: Bools,
    responses: Float64s,
    is_unit: bool,
    memory: Float64s,
    halves: Int64s,
    knots: Float64s,
    n_knots: Int64s,
    n_seen: Int64s,
    indices: Float64s,
    places: Uint8s,
    above: Float64s,
    grams: Float64s,
    moments: Float64s,
) -> None:
    """Standardize indices, and make the normal equations of hat functions, which overlap with their neighbors only.

    Sums are added up in the order of `numpy.add.reduce` and `numpy.bincount`.

    Parameters
    ----------
    places : array of shape (n_curves, n_rows), uint8
        The knot below each value.
    above : array of shape (n_curves, n_rows), float64
        Its relative distance from there to the next one.
    grams, moments : arrays of shape (n_curves, most_knots, most_knots) and (n_curves, most_knots), float64
    """
    n_curves, n_rows = raw.shape
    some, lower, upper = memory[0], memory[1], memory[2]
    for curve in range(n_curves):
        own, gram, moment = knots[curve], grams[curve], moments[curve]
        size = 0
        for row in range(n_rows):
            if is_seen[curve, row]:
                some[size] = raw[curve, row]
                size += 1
        n_seen[curve] = size
        mean, deviation = 0.0, 1.0
        if not is_unit:
            mean = _sum(some, size, halves, lower) / size
            for i in range(size):
                some[i] = (some[i] - mean) * (some[i] - mean)
            deviation = (_sum(some, size, halves, lower) / size) ** 0.5
            if not deviation > 0.0:
                deviation = 1.0
        k = 0
        for number in range(n_knots[curve]):
            knot = (own[number] - mean) / deviation
            if k == 0 or knot != own[k - 1]:
                own[k] = knot
                k += 1
        if k == 1:
            own[1] = own[0] + 1.0
            k = 2
        n_knots[curve] = k
        gram[:] = 0.0
        moment[:] = 0.0
        lower[:k] = 0.0
        upper[:k] = 0.0
        some[:k] = 0.0
        for row in range(n_rows):
            value = (raw[curve, row] - mean) / deviation
            place = 0
            for number in range(1, k - 1):
                place += value >= own[number]
            share = min(max((value - own[place]) / (own[place + 1] - own[place]), 0.0), 1.0)
            indices[curve, row], places[curve, row], above[curve, row] = value, place, share
            if is_seen[curve, row]:
                rest, response = 1.0 - share, responses[curve, row]
                lower[place] += rest * rest
                upper[place + 1] += share * share
                gram[place, place + 1] += rest * share
                moment[place] += rest * response
                some[place + 1] += share * response
        for number in range(k):
            gram[number, number] = lower[number] + upper[number]
            moment[number] += some[number]
            if number > 0:
                gram[number, number - 1] = gram[number - 1, number]


@kernel
def _evaluate(
    knots: Float64s,
    heights: Float64s,
    places: Uint8s,
    above: Float64s,
    is_seen: Bools,
    responses: Float64s,
    memory: Float64s,
    halves: Int64s,
    fitted: Float64s,
    slopes: Float64s,
    errors: Float64s,
) -> None:
    """Fill the heights and slopes of curves at all rows, and the errors at the rows seen."""
    n_curves, n_rows = places.shape
    squares = memory[0]
    for curve in range(n_curves):
        size = 0
        for row in range(n_rows):
            place, share = places[curve, row], above[curve, row]
            low, high = heights[curve, place], heights[curve, place + 1]
            height = low * (1.0 - share) + high * share
            fitted[curve, row] = height
            slopes[curve, row] = (high - low) / (knots[curve, place + 1] - knots[curve, place])
            if is_seen[curve, row]:
                left = responses[curve, row] - height
                squares[size] = left * left
                size += 1
        errors[curve] = _sum(squares, size, halves, memory[1])


@kernel_function
def _sum(values: Float64s, size: int, halves: Int64s, sums: Float64s) -> float:
    """Return the sum of the first values as NumPy adds them up: by halves, each with a multiple of eight first.

    ``halves`` and ``sums`` are memory for the halves that wait: where they begin, how long they are, and their sums.
    """
    n_waiting, n_sums = 1, 0
    halves[0, 0], halves[1, 0] = 0, size
    while n_waiting > 0:
        n_waiting -= 1
        first, length = halves[0, n_waiting], halves[1, n_waiting]
        if length < 0:
            n_sums -= 1
            sums[n_sums - 1] += sums[n_sums]
        elif length <= _ADDED_AT_ONCE:
            total, begun = 0.0, 0
            if length >= 8:
                begun = length - length % 8
                a, b, c, d = values[first], values[first + 1], values[first + 2], values[first + 3]
                e, f, g, h = values[first + 4], values[first + 5], values[first + 6], values[first + 7]
                for i in range(first + 8, first + begun, 8):
                    a += values[i]
                    b += values[i + 1]
                    c += values[i + 2]
                    d += values[i + 3]
                    e += values[i + 4]
                    f += values[i + 5]
                    g += values[i + 6]
                    h += values[i + 7]
                total = ((a + b) + (c + d)) + ((e + f) + (g + h))
            for i in range(first + begun, first + length):
                total += values[i]
            sums[n_sums] = total
            n_sums += 1
        else:
            half = length // 2
            half -= half % 8
            halves[0, n_waiting], halves[1, n_waiting] = 0, -1
            halves[0, n_waiting + 1], halves[1, n_waiting + 1] = first + half, length - half
            halves[0, n_waiting + 2], halves[1, n_waiting + 2] = first, half
            n_waiting += 3
    return float(sums[0])
