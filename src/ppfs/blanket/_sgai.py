"""SGAI: groups of columns that can stand for each other, chosen by alpha-investing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from ppfs._callers_columns import CallersColumns
from ppfs._progress import Progress
from ppfs._random import RandomStateLike
from ppfs._reading import CategoricalFeatures
from ppfs._sklearn_compat import Interval
from ppfs._table import ColumnsLike, Task
from ppfs._trace import Decision
from ppfs.blanket._found import Found
from ppfs.blanket._independence_search import IndependenceSearch
from ppfs.blanket._inquiry import Inquiry
from ppfs.blanket._order import ask_marginally
from ppfs.blanket._shrink import shrink_weakest_first
from ppfs.independence import IndependenceTest


@dataclass(frozen=True)
class FoundGroups(Found):
    """The blanket, and what can stand for its members.

    Attributes
    ----------
    groups : list of list of int
        Features that can replace each other, the strongest first, in the groups as in each of them.
    """

    groups: list[list[int]]


class SGAI(IndependenceSearch):
    """Selection via group alpha-investing.

    Puts columns that can replace each other into groups, so that the groups tell which columns
    carry the same information. The strongest of each represents it. The representatives are asked, strongest
    first, whether the target depends on them given those already chosen, each at a level that alpha-investing
    allows: a discovery earns wealth, a failure costs some.

    Parameters
    ----------
    wealth : float, default=0.5
        What alpha-investing begins with, and what a discovery earns.

    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too. `alpha` is the level of all questions but
        those that alpha-investing asks.

    random_state, n_jobs, progress
        As in `IAMB`.

    Attributes
    ----------
    groups_ : list of list of int
        The groups, strongest first, their representatives at the head.

    Notes
    -----
    This reconstructs the published idea, of which only the abstract was at hand: (1) keep columns that depend
    on the target; (2) x joins the group of w when x is independent of the target given w, and w given x;
    (3) the i-th group is tested at level wealth / (2 i); a discovery earns `wealth` less that level,
    anything else costs it; (4) a backward pass.

    Only columns that depend on the target on their own are considered, so spouses are not found.

    Where the test cannot tell, a column is left out in (1) and stays alone in (2); (3) passes over it
    without pay; (4) does not drop it.

    References
    ----------
    Yu et al., "Markov blanket feature selection with non-faithful data distributions", 2013, and the
    group version of 2016.

    Examples
    --------
    The second column copies the first:

    >>> import numpy as np
    >>> from ppfs.blanket import SGAI
    >>> rng = np.random.default_rng(0)
    >>> cause, other = rng.normal(size=(2, 300))
    >>> X = np.column_stack([cause, 2 * cause, other])
    >>> search = SGAI().fit(X, cause + other + rng.normal(size=300))
    >>> search.groups_
    [[0, 1], [2]]
    >>> len(search.blanket_)
    2
    """

    groups_: list[list[int]]

    _parameter_constraints: dict[str, Any] = {
        **IndependenceSearch._parameter_constraints,
        "wealth": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        wealth: float = 0.5,
        independence: IndependenceTest | str = "auto",
        n_folds: int = 0,
        alpha: float = 0.05,
        always_keep: ColumnsLike = (),
        condition_on: ColumnsLike = (),
        feature_groups: Mapping[str, ColumnsLike] | None = None,
        categorical_features: CategoricalFeatures = "auto",
        min_features: int = 0,
        task: Task | Literal["auto"] = "auto",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        progress: Progress = False,
    ) -> None:
        super().__init__(
            independence=independence,
            n_folds=n_folds,
            alpha=alpha,
            always_keep=always_keep,
            condition_on=condition_on,
            feature_groups=feature_groups,
            categorical_features=categorical_features,
            min_features=min_features,
            task=task,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
        self.wealth = wealth

    def _search(self, inquiry: Inquiry) -> list[int]:
        return list(self._find(inquiry).blanket)

    def _find(self, inquiry: Inquiry) -> FoundGroups:
        relevant = [x for x, result in ask_marginally(inquiry) if result.is_dependent(inquiry.alpha)]
        groups = _group(inquiry, relevant)
        chosen = _invest(inquiry, [group[0] for group in groups], self.wealth)
        return FoundGroups(shrink_weakest_first(inquiry, chosen), groups)

    def _set_findings(self, found: Found, callers: CallersColumns) -> None:
        assert isinstance(found, FoundGroups)
        self.groups_ = [callers.numbers(group) for group in found.groups]


def _group(inquiry: Inquiry, relevant: list[int]) -> list[list[int]]:
    """Let each column in turn found a group, and those that can replace it join."""
    groups: list[list[int]] = []
    waiting = list(relevant)
    while waiting:
        head, *others = waiting
        joined = [x for x in _replaced_by(inquiry, head, others) if _replaced_by(inquiry, x, [head])]
        groups.append([head, *joined])
        waiting = [x for x in others if x not in joined]
    return groups


def _replaced_by(inquiry: Inquiry, stand_in: int, columns: list[int]) -> list[int]:
    """Return those of `columns` that the target does not depend on given one other column."""
    given = inquiry.given((stand_in,))
    replaced: list[int] = []
    for x, result in inquiry.ask(columns, given, "groups"):
        is_independent = result.is_independent(inquiry.alpha)
        decision: Decision = "rejected" if is_independent else "candidate"
        inquiry.record("groups", x, given, result, decision)
        replaced += [x] if is_independent else []
    return replaced


def _invest(inquiry: Inquiry, stream: list[int], wealth: float) -> list[int]:
    """Test one column after the other given those chosen, at levels that the wealth allows."""
    earnings = wealth
    chosen = list(inquiry.always_keep)
    for number, x in enumerate(stream, start=1):
        given = inquiry.given(chosen)
        result = inquiry.test.query(x, inquiry.target, given)
        level = wealth / (2 * number)
        is_discovery = result.pvalue < level
        inquiry.record("alpha-investing", x, given, result, "added" if is_discovery else "rejected")
        if is_discovery:
            chosen.append(x)
            wealth += earnings - level
        elif result.is_reliable:
            wealth -= level
    return chosen
