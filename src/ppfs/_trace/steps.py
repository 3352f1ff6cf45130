"""One question, its answer, and what followed."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Literal

Decision = Literal["candidate", "added", "rejected", "kept", "dropped"]

FOLD_ASIDE = -1

# Decisions that speak for a column, and leave it in the running.
FAVOURABLE: frozenset[Decision] = frozenset({"candidate", "added", "kept"})

#: The phase that asks about two columns given each other.
PAIRS = "pairs"


@dataclass(frozen=True, slots=True)
class Step:
    """One question that was asked, its answer, and what followed from it.

    Attributes
    ----------
    fold : int
        0 when there are no folds, else counted from 1. -1 for questions about rows that were set aside: they
        come after the search, and decide nothing.

    phase : str
        The part of the search that asked, such as "growth" or "shrink".

    feature : int
        The feature in question: a column, or a group of columns.

    given : tuple of int
        The features it was tested given. `feature` itself may be listed and does not count:
        the members of a blanket share one tuple.

    pvalue, statistic, effect : float
        The answer; see `ppfs.independence.IndependenceResult`.

    adjusted_pvalue : float
        The p-value after correction for the number of questions; equal to `pvalue` without one.

    decision : {"candidate", "added", "rejected", "kept", "dropped"}
        What the search did. While it grows, a dependent column is a "candidate", "added" to the blanket
        at once or later, and an independent one "rejected"; while it shrinks, members are "kept" or
        "dropped".

    is_reliable : bool, default=True
        False when there were too few rows to tell.

    target : int, default=None
        The variable that the column was tested against, where that is not the target of the search: some
        searches ask about the neighbours of other columns. It is the number of a feature; `feature` may
        then be the search's target, whose number is the number of features.

    withheld : tuple of int, default=()
        Features that the search had to do without.

    model_pvalues : tuple of float, default=()
        What each model of a panel said, in the order of `Trace.models`; not a number for those that were not asked.
    """

    fold: int
    phase: str
    feature: int
    given: tuple[int, ...]
    pvalue: float
    statistic: float
    effect: float
    adjusted_pvalue: float
    decision: Decision
    is_reliable: bool = True
    target: int | None = None
    withheld: tuple[int, ...] = ()
    model_pvalues: tuple[float, ...] = ()

    @property
    def is_main(self) -> bool:
        """Whether the question was about the search's own target, with all columns at hand."""
        return self.target is None and not self.withheld

    @property
    def clearest_model(self) -> int | None:
        """The number of the model with the smallest p-value; None where there is no panel, or nothing was to ask."""
        asked = [(pvalue, number) for number, pvalue in enumerate(self.model_pvalues) if not isnan(pvalue)]
        return min(asked)[1] if asked else None

    @property
    def is_verdict(self) -> bool:
        """Whether the answer speaks for or against the feature, in the search for the target's own blanket.

        It does not where there were too few rows to tell, nor where a pair was rejected: the fault may be the other
        one's, and the feature may enter with a third.
        """
        return (
            self.target is None
            and not self.withheld
            and self.is_reliable
            and (self.phase != PAIRS or self.decision in FAVOURABLE)
        )

    @property
    def others(self) -> list[int]:
        """The features it was tested given, itself left out."""
        return [feature for feature in self.given if feature != self.feature]
