"""IAMB with control of the false discovery rate."""

from __future__ import annotations

import numpy as np

from ppfs._trace import Decision
from ppfs.blanket._correction import adjust
from ppfs.blanket._independence_search import IndependenceSearch
from ppfs.blanket._inquiry import Answered, Inquiry
from ppfs.blanket._loops import RevisitGuard
from ppfs.blanket._order import strongest_first


class IAMBFDR(IndependenceSearch):
    """IAMB whose level holds for all columns together.

    Each round asks about every column given the blanket without it, and adjusts the p-values for their
    number (Benjamini-Yekutieli, valid under any dependence). Then the weakest member that fails
    is dropped; if none fails, the strongest other column that passes is added. So the share of false
    members is controlled, not the chance of each: prefer it when there are many columns.

    Parameters
    ----------
    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too. `alpha` is the false discovery rate, and
        `pvalues_` are those before adjustment; the trace has both.

    random_state, n_jobs, progress
        As in `IAMB`.

    Notes
    -----
    A column whose addition led back to a blanket seen before is left out until a new one is
    reached. A column is not added, and a member not dropped, where the test cannot tell.

    References
    ----------
    Peña, "Learning Gaussian graphical models of gene networks with false discovery rate control", 2008.

    Examples
    --------
    >>> from ppfs.blanket import IAMBFDR
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, n_features=50, random_state=0)
    >>> sorted(IAMBFDR().fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    def _search(self, inquiry: Inquiry) -> list[int]:
        blanket = list(inquiry.always_keep)
        guard = RevisitGuard(blanket)
        last_added: list[int] = []
        while True:
            dropped, added = _one_move(inquiry, blanket, guard.banned)
            if not dropped and not added:
                return blanket
            last_added = added or last_added
            blanket = [x for x in blanket if x not in dropped] + added
            guard.watch(blanket, blanket, last_added)


def _one_move(inquiry: Inquiry, blanket: list[int], banned: set[int]) -> tuple[list[int], list[int]]:
    """Ask about all columns; return the member to drop, or else the column to add, in lists of at most one."""
    given = inquiry.given(blanket)
    answered = inquiry.ask(inquiry.candidates, given, "round")
    adjusted = adjust(np.array([result.pvalue for _, result in answered]), "by").tolist()
    failing: list[Answered] = []
    passing: list[Answered] = []
    for (x, result), pvalue in zip(answered, adjusted, strict=True):
        if x in blanket and pvalue > inquiry.alpha and result.is_reliable:
            failing.append((x, result))
        elif x not in blanket and x not in banned and pvalue <= inquiry.alpha:
            passing.append((x, result))
    dropped = [x for x, _ in strongest_first(failing, inquiry.test.table)[-1:]]
    added = [] if dropped else [x for x, _ in strongest_first(passing, inquiry.test.table)[:1]]
    for (x, result), pvalue in zip(answered, adjusted, strict=True):
        phase = "shrink" if x in blanket else "growth"
        inquiry.record(
            phase, x, given, result, _decision(x, blanket, dropped, added, pvalue <= inquiry.alpha), pvalue
        )
    return dropped, added


def _decision(x: int, blanket: list[int], dropped: list[int], added: list[int], passes: bool) -> Decision:
    if x in blanket:
        return "dropped" if x in dropped else "kept"
    if x in added:
        return "added"
    return "candidate" if passes else "rejected"
