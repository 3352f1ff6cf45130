"""From the blankets of K folds to one, as in the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fold:
    """What one fold's training part led to.

    Attributes
    ----------
    number : int
        Counted from 1, as in the trace.

    blanket : tuple of int
        Its columns, most important first.

    z_score : float
        Mean number of blankets that a member appears in: the paper's z. 0 for an empty blanket.

    is_chosen : bool
        Whether this blanket is the result.
    """

    number: int
    blanket: tuple[int, ...]
    z_score: float
    is_chosen: bool


def aggregate(blankets: Sequence[tuple[int, ...]]) -> tuple[Fold, ...]:
    """Score the blankets by how often their members appear in all of them, and choose the best.

    Ties go to the blanket whose least supported member has more support, then to the smaller one,
    then to the earlier fold.
    """
    frequency = Counter(column for blanket in blankets for column in blanket)
    support = [[frequency[column] for column in blanket] or [0] for blanket in blankets]
    z_scores = [sum(counts) / len(counts) for counts in support]
    best = max(
        range(len(blankets)),
        key=lambda i: (z_scores[i], min(support[i]), -len(blankets[i]), -i),
        default=None,
    )
    return tuple(
        Fold(number=i + 1, blanket=blanket, z_score=z_scores[i], is_chosen=i == best)
        for i, blanket in enumerate(blankets)
    )
