"""How much each of two columns tells about the target beyond the other, counted cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import log, sqrt


def quarter(values: Sequence[float], value: float) -> int:
    """Return the quarter of the ranks that a value falls into: that of the middle of all values equal to it."""
    n_below = sum(other < value for other in values)
    n_equal = sum(other == value for other in values)
    return int(4 * (n_below + n_equal / 2) / len(values))


def likelihood_ratio(x: Sequence[int], y: Sequence[Hashable], given: Sequence[int]) -> float:
    """Return the statistic of "x is independent of y given the strata"."""
    all_three, x_only = Counter(zip(x, y, given, strict=True)), Counter(zip(x, given, strict=True))
    y_only, strata = Counter(zip(y, given, strict=True)), Counter(given)
    return 2 * sum(
        count * log(count * strata[g] / (x_only[a, g] * y_only[k, g]))
        for (a, k, g), count in all_three.items()
    )


def normal_score(statistic: float, freedom: int) -> float:
    """Return a chi-squared statistic on the scale of a standard normal: Wilson and Hilferty's cube root."""
    spread = 2 / (9 * freedom)
    return ((max(statistic, 0) / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread)


def pair_score(a: Sequence[int], b: Sequence[int], y: Sequence[Hashable]) -> float:
    """Return the smaller of the scores of "a given b" and "b given a"."""
    n_a, n_b, n_classes = len(set(a)), len(set(b)), len(set(y))
    return min(
        normal_score(likelihood_ratio(a, y, b), (n_classes - 1) * n_b * (n_a - 1)),
        normal_score(likelihood_ratio(b, y, a), (n_classes - 1) * n_a * (n_b - 1)),
    )
