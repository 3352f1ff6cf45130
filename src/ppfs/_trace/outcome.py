"""The outcome of a search, and which of its questions decided."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ppfs._trace.detectable import Detectable
from ppfs._trace.steps import FAVORABLE, Step


def decides(step: Step, fold: int, members: Collection[int]) -> bool:
    """Return whether the decision of a step agrees with the blanket that was found in a fold."""
    return step.fold == fold and step.is_verdict and (step.decision in FAVORABLE) == (step.feature in members)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search, in terms of features.

    Attributes
    ----------
    blanket : tuple of int
        The features that the search selected.

    fold : int
        The fold whose blanket it is; 0 without folds.

    blankets : tuple of tuple of int
        The blanket of each fold, in their order; empty without folds.

    always_keep : tuple of int
        Features that are selected by request; they are in `blanket`.

    condition_on : tuple of int
        Features that are conditioned on by request, and never selected.

    filled_up : tuple of int
        Features that were added after the search to reach `min_features`.

    left_out : dict of int to str
        Features that could not be tested, and the error of each.

    reasons : dict of int to str
        Why features were selected or not, where that does not follow from answers.

    chosen : tuple of int or None
        What was selected in the end, most important first, where something other than the search decided; None for the
        blanket and what fills it up.

    closest : dict of int to int
        For features that were not selected, the selected one that they are most strongly associated with, where one
        stands out.

    detectable : Detectable or None
        The smallest effects that would have been found; None where the power of the test is not known.
    """

    blanket: tuple[int, ...]
    fold: int = 0
    blankets: tuple[tuple[int, ...], ...] = ()
    always_keep: tuple[int, ...] = ()
    condition_on: tuple[int, ...] = ()
    filled_up: tuple[int, ...] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)
    closest: Mapping[int, int] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    chosen: tuple[int, ...] | None = None
    detectable: Detectable | None = None

    @property
    def selected(self) -> tuple[int, ...]:
        """The selected features, most important first."""
        return (*self.blanket, *self.filled_up) if self.chosen is None else self.chosen


def made_redundant_by(feature: int, steps: Iterable[Step], outcome: Outcome) -> list[int]:
    """Return the feature that made another one redundant, given all steps about that one; none if it is not clear.

    It is the one that entered the conditioning set when the answers turned against the other. Where several features
    entered together, it is the selected one that the other is closest to.
    """
    entered = entered_at_the_turn(steps, outcome)
    return entered if len(entered) < 2 else [x for x in entered if x == outcome.closest.get(feature)]


def entered_at_the_turn(steps: Iterable[Step], outcome: Outcome) -> list[int]:
    """Return what entered the conditioning set between the last answer in favor of a feature and the next one against.

    Of these the selected ones, most important first; all of them if none was selected.
    """
    last: Step | None = None
    against: Step | None = None
    for step in steps:
        if step.fold != outcome.fold or not step.is_verdict:
            continue
        if step.decision in FAVORABLE:
            last, against = step, None
        elif against is None:
            against = step
    if last is None or against is None:
        return []
    entered = set(against.others) - set(last.others)
    return [feature for feature in outcome.blanket if feature in entered] or sorted(entered)
