"""Grow-Shrink: the first correct search for a Markov blanket."""

from __future__ import annotations

from ppfs.blanket._growth import grow_in_order
from ppfs.blanket._independence_search import IndependenceSearch
from ppfs.blanket._inquiry import Inquiry
from ppfs.blanket._order import marginal_order
from ppfs.blanket._shrink import shrink


class GrowShrink(IndependenceSearch):
    """Grow-Shrink (GS).

    Sorts the columns by their link with the target alone. Growth scans them in that order, adds the first
    that depends on the target given the blanket so far, and begins again. Then members that the
    others make superfluous are dropped, again with a new scan after each.

    Parameters
    ----------
    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too.

    random_state, n_jobs, progress
        As in `IAMB`.

    See Also
    --------
    IAMB : sorts the columns again after each addition.

    Notes
    -----
    A column is not added, and a member not dropped, where the test cannot tell.

    References
    ----------
    Margaritis and Thrun, "Bayesian network induction via local neighborhoods", 1999.

    Examples
    --------
    >>> from ppfs.blanket import GrowShrink
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(GrowShrink(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    def _search(self, inquiry: Inquiry) -> list[int]:
        order = marginal_order(inquiry)
        grown = grow_in_order(inquiry, inquiry.always_keep, order)
        weakest_first = [x for x in reversed(order) if x in grown]
        return shrink(inquiry, [*weakest_first, *inquiry.always_keep], restart=True)
