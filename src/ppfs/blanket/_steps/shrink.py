"""Shrinkage: drop members that the target does not depend on given the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ppfs._conventions import ProgressBar
from ppfs._fitting import CrossValidated
from ppfs.blanket._steps.order import strongest_first
from ppfs.blanket._steps.questions import Inquiry


def shrink(
    inquiry: Inquiry,
    members: Sequence[int],
    *,
    restart: bool = False,
    phase: str = "shrink",
    factor: float = 1.0,
) -> list[int]:
    """Drop the members that the target does not depend on given the others.

    Parameters
    ----------
    members : sequence of int
        In the order in which they are tested, least important first. Those in `always_keep` are not tested.

    restart : bool, default=False
        Start over after each removal, as in the paper's plain version, instead of one ordered pass.

    phase : str, default="shrink"
        What the trace calls it.

    factor : float, default=1.0
        P-values are adjusted by this factor, where members share the level.

    Returns
    -------
    list of int
        The remaining members, in the given order.
    """
    kept = list(members)
    waiting = [x for x in members if x not in inquiry.always_keep]
    with inquiry.bar(phase, len(waiting)) as bar:
        while waiting:
            n_kept = len(kept)
            n_asked = _judge_members(inquiry, waiting, kept, bar, phase, factor, stop_at_first=restart)
            if not restart:
                waiting = waiting[n_asked:]
            elif len(kept) == n_kept:
                break
            else:
                waiting = [x for x in kept if x not in inquiry.always_keep]
                bar.expect(len(waiting))
    return kept


def _judge_members(
    inquiry: Inquiry,
    waiting: Sequence[int],
    kept: list[int],
    bar: ProgressBar,
    phase: str,
    factor: float,
    *,
    stop_at_first: bool,
) -> int:
    """Test members in order, remove the independent ones from `kept`, and return how many were tested.

    All tests are given the content of `kept` at the start. They stay valid after the removal of an inert column; after
    any other removal the remaining members have to be tested again.
    """
    given = inquiry.given(kept)
    for n_asked, (x, result) in enumerate(inquiry.answers(waiting, given, bar), start=1):
        # A member is not dropped because there are too few rows for a test.
        is_independent = result.is_independent(inquiry.alpha / factor)
        adjusted = min(1.0, factor * result.pvalue)
        inquiry.record(phase, x, given, result, "dropped" if is_independent else "kept", adjusted)
        if is_independent:
            kept.remove(x)
            if stop_at_first or not result.is_inert:
                return n_asked
    return len(waiting)


def shrink_weakest_first(inquiry: Inquiry, blanket: Collection[int]) -> list[int]:
    """Drop members that are independent of the target given the others, in one pass, weakest first."""
    return shrink(inquiry, weakest_first(inquiry, blanket))


def shrink_until_stable(inquiry: Inquiry, members: Sequence[int]) -> list[int]:
    """Drop members, in the given order and then weakest first, until each depends on the target given those left.

    One pass asks about a member given the columns that are there at that time. Given fewer of them the answer may be
    another one, so a member that was kept is asked about again if others were dropped after it.
    """
    asked = list(members)
    left = shrink(inquiry, asked)
    while left != asked[len(asked) - len(left) :]:
        asked = weakest_first(inquiry, left)
        left = shrink(inquiry, asked)
    return left


def weakest_first(inquiry: Inquiry, blanket: Collection[int]) -> list[int]:
    """Return members in the order of their answers given all others, weakest first, and then those that always stay.

    Members for which there are too few rows come last: without others there may be enough rows.
    """
    members = [x for x in blanket if x not in inquiry.always_keep]
    answered = inquiry.ask(members, inquiry.given(blanket), "shrink")
    strongest = strongest_first(answered, inquiry.test.table)
    judged = [x for x, result in reversed(strongest) if result.is_reliable]
    unjudged = [x for x, result in reversed(strongest) if not result.is_reliable]
    return [*judged, *unjudged, *inquiry.always_keep]


def drop_while_score_holds(inquiry: Inquiry, blanket: Sequence[int], estimator: Any, cv: int) -> list[int]:
    """HITON's last step: drop the member whose removal leaves the best score, as long as the score does not fall.

    Dropped members are listed in the notes of the trace.
    """
    table = inquiry.test.table
    scores = CrossValidated(table, estimator, cv=cv, entropy=inquiry.entropy)
    kept = list(blanket)
    while removable := [x for x in kept if x not in inquiry.always_keep]:
        best = max(table.order.canonical(removable), key=lambda x: scores.score(set(kept) - {x}))
        before, after = scores.score(kept), scores.score(set(kept) - {best})
        if after < before:
            break
        kept.remove(best)
        fold = f"fold {inquiry.fold}: " if inquiry.fold else ""
        inquiry.trace.notes.append(
            f"{fold}wrapper dropped {table.names[best]!r}: score {before:.4g} with it, {after:.4g} without"
        )
    return kept
