"""The steps of the paper's search, and those that may join them: joint growth, pairs and a second look."""

from __future__ import annotations

from typing import Literal

from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.blanket._steps.growth import grow_marginally
from ppfs.blanket._steps.joint_growth import (
    bind_to_all,
    bind_with,
    grow_jointly,
    is_worth_it,
    require_joint_growth,
    shrink_jointly,
)
from ppfs.blanket._steps.order import least_important_first
from ppfs.blanket._steps.pairs import grow_by_pairs
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.blanket._steps.second_look import (
    add_from_the_rest,
    can_ask_together,
    look_again,
    models_of_the_rest,
)
from ppfs.blanket._steps.shrink import shrink, shrink_until_stable

Growth = Literal["marginal", "joint", "both", "auto"]


class GrowAndShrink(BaseBlanketSelector):
    """A search that lets columns enter by several kinds of growth, and then shrinks."""

    growth: Growth
    correction: str | None
    interactions: Literal["pairs"] | None
    second_look: bool

    def _search(self, inquiry: Inquiry) -> list[int]:
        jointly: list[Answered] = []
        test = self._independence_test()
        if self.growth in ("joint", "both"):
            require_joint_growth(inquiry, test, self.growth)
        if self.growth in ("joint", "both") or (self.growth == "auto" and is_worth_it(inquiry, test)):
            bind = bind_to_all(test, inquiry)
            jointly = grow_jointly(inquiry, inquiry.candidates, self.correction, bind, self.n_jobs)
        # A cluster's answer does not order its columns: their own answers come first.
        candidates = (
            [] if self.growth == "joint" else grow_marginally(inquiry, inquiry.candidates, self.correction)
        )
        entered_alone = {x for x, _ in candidates}
        candidates += [(x, result) for x, result in jointly if x not in entered_alone]
        if self.interactions is not None:
            entered = [x for x, _ in candidates]
            candidates += grow_by_pairs(inquiry, inquiry.candidates, entered, self.correction, self.n_jobs)
        waiting = least_important_first(candidates, inquiry.test.table)
        shrinkage = shrink_until_stable if self.second_look else shrink
        blanket = alone = shrinkage(inquiry, [*waiting, *inquiry.always_keep])
        if jointly:
            blanket = shrink_jointly(inquiry, jointly, alone, bind)
        if not self.second_look:
            return blanket
        found_jointly = [x for x in blanket if x not in alone]
        blanket = look_again(inquiry, blanket, self.correction, found_jointly, self.n_jobs)
        if not can_ask_together(inquiry, test):
            return blanket
        bind = bind_with(test, inquiry, models_of_the_rest(inquiry.test.table))
        return add_from_the_rest(inquiry, blanket, bind, self.n_jobs)
