"""The steps of the paper's search, and those that may join them: joint growth, pairs and a second look."""

from __future__ import annotations

from typing import Literal

from ppfs.blanket._steps.growth import grow_marginally
from ppfs.blanket._steps.joint_growth import (
    bind_to_all,
    grow_jointly,
    is_worth_it,
    require_joint_growth,
    shrink_jointly,
)
from ppfs.blanket._steps.order import least_important_first
from ppfs.blanket._steps.pairs import grow_by_pairs
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.blanket._steps.second_look import look_again
from ppfs.blanket._steps.shrink import shrink
from ppfs.independence import IndependenceTest

Growth = Literal["marginal", "joint", "both", "auto"]


def grow_and_shrink(
    inquiry: Inquiry,
    test: IndependenceTest,
    *,
    growth: Growth,
    correction: str | None,
    with_pairs: bool,
    second_look: bool,
    n_jobs: int | None,
) -> list[int]:
    """Return the blanket: let columns enter by each kind of growth, then shrink; the parameters are those of PPFS."""
    jointly: list[Answered] = []
    if growth in ("joint", "both"):
        require_joint_growth(inquiry, test, growth)
    if growth in ("joint", "both") or (growth == "auto" and is_worth_it(inquiry, test)):
        bind = bind_to_all(test, inquiry)
        jointly = grow_jointly(inquiry, inquiry.candidates, correction, bind, n_jobs)
    # A cluster's answer does not order its columns: their own answers come first.
    candidates = [] if growth == "joint" else grow_marginally(inquiry, inquiry.candidates, correction)
    entered_alone = {x for x, _ in candidates}
    candidates += [(x, result) for x, result in jointly if x not in entered_alone]
    if with_pairs:
        entered = [x for x, _ in candidates]
        candidates += grow_by_pairs(inquiry, inquiry.candidates, entered, correction, n_jobs)
    waiting = least_important_first(candidates, inquiry.test.table)
    blanket = alone = shrink(inquiry, [*waiting, *inquiry.always_keep])
    if jointly:
        blanket = shrink_jointly(inquiry, jointly, alone, bind)
    if not second_look:
        return blanket
    return look_again(inquiry, blanket, correction, [x for x in blanket if x not in alone])
