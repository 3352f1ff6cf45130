"""One question, its answer, and the decision."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Literal

Decision = Literal["candidate", "added", "rejected", "kept", "dropped"]

FOLD_ASIDE = -1

# Decisions in favor of a column, which stays a candidate or member.
FAVORABLE: frozenset[Decision] = frozenset({"candidate", "added", "kept"})

#: The phase that tests two columns given each other.
PAIRS = "pairs"

#: The phases that test each column given all others, or given the columns of the most promising pairs.
JOINT_GROWTH = "joint growth"
JOINT_GROWTH_OF_PAIRS = "joint growth of promising pairs"

#: The phase that tests rejected columns given the selected ones.
SECOND_LOOK = "second look"

#: The phase that tests all rejected columns together given the selected ones, and adds one where they add something.
REST_TOGETHER = "rest together"

#: Questions among the selected columns that were asked after the search, to decide about their roles.
ROLES = "roles"


@dataclass(frozen=True, slots=True)
class Step:
    """One question, its answer, and the decision that followed.

    Attributes
    ----------
    fold : int
        0 without folds, else counted from 1; -1 for questions about rows that were set aside, which are
        asked after the search and decide nothing.

    phase : str
        The part of the search, such as "growth" or "shrink".

    feature : int
        The feature in question: a column, or a group of columns.

    given : tuple of int
        The features it was tested given. `feature` itself may be listed and does not count:
        the members of a blanket share one tuple.

    pvalue, statistic, effect : float
        The answer; see `ppfs.independence.IndependenceResult`. In the phase "rest together" p-value and statistic are
        those of all rejected columns together, and the effect is that of the feature.

    adjusted_pvalue : float
        The p-value after correction for the number of questions; equal to `pvalue` without a correction.

    decision : {"candidate", "added", "rejected", "kept", "dropped"}
        In a growth phase, a dependent column is a "candidate" or is "added" to the blanket, and an
        independent one is "rejected"; in a shrink phase, members are "kept" or "dropped".

    is_reliable : bool, default=True
        False if there were too few rows for the test.

    target : int, default=None
        The variable that the column was tested against, if it is not the target of the search: some
        searches ask about the neighbors of other columns. `feature` may then be the target of the search,
        whose number is the number of features.

    withheld : tuple of int, default=()
        Features that were withheld from the search.

    model_pvalues : tuple of float, default=()
        The p-value of each model of a panel, in the order of `Trace.models`; NaN for models that were not used.

    may_be_too_small : bool, default=False
        Whether the p-value may be too small; see `ppfs.independence.IndependenceResult`.

    explained : tuple of float, default=()
        The shares of the target and of the feature that the others explain; empty where they were not measured.

    root_effect : tuple of float, default=()
        The root of the effect and its standard error; empty where they were not measured.
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
    may_be_too_small: bool = False
    explained: tuple[float, ...] = ()
    root_effect: tuple[float, ...] = ()

    @property
    def is_main(self) -> bool:
        """Whether the question was about the search's own target, with no feature withheld."""
        return self.target is None and not self.withheld

    @property
    def clearest_model(self) -> int | None:
        """The number of the model with the smallest p-value; None without a panel or a test."""
        asked = [(pvalue, number) for number, pvalue in enumerate(self.model_pvalues) if not isnan(pvalue)]
        return min(asked)[1] if asked else None

    @property
    def is_doubtful(self) -> bool:
        """Whether the answer is in favor of the feature by a p-value that may be too small."""
        return self.may_be_too_small and self.decision in FAVORABLE

    @property
    def is_verdict(self) -> bool:
        """Whether the answer counts for or against the feature in the search for the target's own blanket.

        It does not if there were too few rows, nor if a pair was rejected: the feature may still enter together with
        another one. Nor if a second look found nothing: an earlier step rejected or dropped the feature.
        """
        return (
            self.target is None
            and not self.withheld
            and self.is_reliable
            and (self.phase not in (PAIRS, SECOND_LOOK) or self.decision in FAVORABLE)
        )

    @property
    def others(self) -> list[int]:
        """The features it was tested given, without itself."""
        return [feature for feature in self.given if feature != self.feature]
