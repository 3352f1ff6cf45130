"""FastIAMB: several columns enter in one round."""

from __future__ import annotations

from collections.abc import Sequence

from ppfs.blanket._independence_search import IndependenceSearch
from ppfs.blanket._inquiry import Inquiry
from ppfs.blanket._loops import RemovalGuard, interleave
from ppfs.blanket._shrink import shrink_weakest_first


class FastIAMB(IndependenceSearch):
    """IAMB that adds several columns a round, as many as the rows can bear.

    Each round sorts the dependent columns and adds them, strongest first, while the table of the target
    and the blanket has at least 5 rows a cell; with continuous columns it adds all. A backward
    pass follows every round.

    Parameters
    ----------
    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too.

    random_state, n_jobs, progress
        As in `IAMB`.

    Notes
    -----
    How many rows are needed is for the test to say: `GSquared` and `ChiSquared` count cells, `FisherZ` and
    `PartialCorrelationT` degrees of freedom. A column that was removed more than 10 times stays out.

    A column is not added, and a member not dropped, where the test cannot tell.

    References
    ----------
    Yaramakala and Margaritis, "Speculative Markov blanket discovery for optimal feature selection", 2005.

    Examples
    --------
    >>> from ppfs.blanket import FastIAMB
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(FastIAMB(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    def _search(self, inquiry: Inquiry) -> list[int]:
        return interleave(inquiry, shrink_weakest_first, RemovalGuard(), while_rows_last)


def while_rows_last(inquiry: Inquiry, blanket: Sequence[int], dependent: Sequence[int]) -> Sequence[int]:
    """Let the strongest column enter, and further ones while there are rows enough for them all."""
    n_added = min(1, len(dependent))
    while n_added < len(dependent):
        given = inquiry.given([*blanket, *dependent[: n_added + 1]])
        if not inquiry.test.has_rows_for(inquiry.target, given):
            break
        n_added += 1
    return dependent[:n_added]
