"""What a search came to, and which of its questions decided."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ppfs._trace.steps import FAVOURABLE, Step


def made_redundant_by(steps: Iterable[Step], fold: int, blanket: Sequence[int]) -> list[int]:
    """Return the features that made another one redundant, given all steps about that one.

    These are the features that entered the conditioning set between the last answer in its favor and the next one
    against it: the selected ones, most important first, or all of them if none was selected. Empty if no
    answer was in its favor.
    """
    last: Step | None = None
    against: Step | None = None
    for step in steps:
        if step.fold != fold or not step.is_verdict:
            continue
        if step.decision in FAVOURABLE:
            last, against = step, None
        elif against is None:
            against = step
    if last is None or against is None:
        return []
    before = set(last.others)
    entered = [feature for feature in against.others if feature not in before]
    among = set(entered)
    return [feature for feature in blanket if feature in among] or entered


def decides(step: Step, fold: int, members: Collection[int]) -> bool:
    """Tell whether the consequence of a step agrees with the blanket that a fold's search found."""
    return (
        step.fold == fold and step.is_verdict and (step.decision in FAVOURABLE) == (step.feature in members)
    )


@dataclass(frozen=True)
class Outcome:
    """What a search came to, in features.

    Attributes
    ----------
    blanket : tuple of int
        What the search selected.

    fold : int
        The fold whose blanket it is; 0 without folds.

    blankets : tuple of tuple of int
        The blanket of each fold, in their order; empty without folds.

    always_keep : tuple of int
        Features that the caller wanted to be selected; they are members of `blanket`.

    condition_on : tuple of int
        Features that the caller wanted to be conditioned on, and never selected.

    filled_up : tuple of int
        Features that were added after the search, because it had selected fewer than the caller wanted.

    left_out : dict of int to str
        Features that could not be asked about, and what went wrong with them.
    """

    blanket: tuple[int, ...]
    fold: int = 0
    blankets: tuple[tuple[int, ...], ...] = ()
    always_keep: tuple[int, ...] = ()
    condition_on: tuple[int, ...] = ()
    filled_up: tuple[int, ...] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)
