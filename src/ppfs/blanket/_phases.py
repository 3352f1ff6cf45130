"""The paper's phases: marginal growth, an ordered shrink pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from ppfs._progress import ProgressBar
from ppfs.blanket._inquiry import Answered, Inquiry

CORRECTIONS = ("bh", "by", "bonferroni")


def grow_marginally(inquiry: Inquiry, columns: Sequence[int], correction: str | None) -> list[Answered]:
    """Return the columns that depend on the target given nothing but `condition_on`, with their answers.

    Parameters
    ----------
    columns : sequence of int
        Whom to ask about.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of columns before they are compared with alpha.
    """
    given = inquiry.given(())
    with inquiry.bar("growth", len(columns)) as bar:
        answered = list(inquiry.answers(columns, given, bar))
    adjusted = adjust(np.array([result.pvalue for _, result in answered]), correction)
    candidates = []
    for (x, result), pvalue in zip(answered, adjusted.tolist(), strict=True):
        is_candidate = pvalue <= inquiry.alpha
        inquiry.record("growth", x, given, result, "candidate" if is_candidate else "rejected", pvalue)
        if is_candidate:
            candidates.append((x, result))
    return candidates


def shrink(inquiry: Inquiry, members: Sequence[int], *, restart: bool = False) -> list[int]:
    """Drop the members that the target does not depend on given the others.

    Parameters
    ----------
    members : sequence of int
        In the order in which they are asked about, least important first. Those that are always kept
        are not asked about.

    restart : bool, default=False
        Begin again after each removal, the paper's plain version, instead of one ordered pass.

    Returns
    -------
    list of int
        Those that stay, in the given order.
    """
    kept = list(members)
    waiting = [x for x in members if x not in inquiry.always_keep]
    with inquiry.bar("shrink", len(waiting)) as bar:
        while waiting:
            n_kept = len(kept)
            n_asked = _judge_members(inquiry, waiting, kept, bar, stop_at_first=restart)
            if not restart:
                waiting = waiting[n_asked:]
            elif len(kept) == n_kept:
                break
            else:
                waiting = [x for x in kept if x not in inquiry.always_keep]
    return kept


def _judge_members(
    inquiry: Inquiry, waiting: Sequence[int], kept: list[int], bar: ProgressBar, *, stop_at_first: bool
) -> int:
    """Ask about members in order, take the independent ones out of `kept`, and return how many were asked about.

    The questions are put given what `kept` holds at the start. They stay right after a removal as long as
    the removed column was inert; after any other removal the rest has to be asked anew.
    """
    given = inquiry.given(kept)
    for n_asked, (x, result) in enumerate(inquiry.answers(waiting, given, bar), start=1):
        # Too few rows to tell is no reason to drop a column.
        is_independent = result.is_independent(inquiry.alpha)
        inquiry.record("shrink", x, given, result, "dropped" if is_independent else "kept")
        if is_independent:
            kept.remove(x)
            if stop_at_first or not result.is_inert:
                return n_asked
    return len(waiting)


def adjust(pvalues: NDArray[np.float64], correction: str | None) -> NDArray[np.float64]:
    """Adjust p-values for multiplicity so that they can be compared with alpha as they are.

    Parameters
    ----------
    correction : {"bh", "by", "bonferroni"} or None
        Benjamini-Hochberg, Benjamini-Yekutieli (valid under any dependence), Bonferroni, or none.
    """
    if correction is None or not pvalues.size:
        return pvalues
    if correction == "bonferroni":
        return np.minimum(1.0, pvalues * pvalues.size)
    adjusted: NDArray[np.float64] = false_discovery_control(pvalues, method=correction)
    return adjusted
