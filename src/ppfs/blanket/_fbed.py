"""FBED: forward selection that does not ask again about a column once rejected."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Literal

from ppfs._progress import Progress
from ppfs._random import RandomStateLike
from ppfs._reading import CategoricalFeatures
from ppfs._sklearn_compat import Interval
from ppfs._table import ColumnsLike, Task
from ppfs.blanket._growth import grow
from ppfs.blanket._independence_search import IndependenceSearch
from ppfs.blanket._inquiry import Inquiry
from ppfs.blanket._shrink import shrink_weakest_first
from ppfs.independence import IndependenceTest


class FBED(IndependenceSearch):
    """Forward-backward selection with early dropping.

    Grows like IAMB, but a column that was independent of the target once is not asked about again in the
    same run. Most columns leave after one question, so FBED needs far fewer of them: the search of
    choice when each costs model fits, as with `PPI`. Further runs give the rejected ones another chance given
    the blanket so far; a backward pass ends the search.

    Parameters
    ----------
    n_runs : int, default=1
        Further runs after the first: the K of FBED^K. 0 can miss spouses; 1 finds the blanket of a
        faithful distribution.

    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too.

    random_state, n_jobs, progress
        As in `IAMB`.

    See Also
    --------
    IAMB : asks about all columns in every round.

    Notes
    -----
    Where the test cannot tell, a column is dropped for the run, and a member is not dropped.

    References
    ----------
    Borboudakis and Tsamardinos, "Forward-backward selection with early dropping", 2019.

    Examples
    --------
    >>> from ppfs.blanket import FBED, IAMB
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> frugal, thorough = FBED(alpha=0.01).fit(X, y), IAMB(alpha=0.01).fit(X, y)
    >>> set(frugal.blanket_) == set(thorough.blanket_) == set(blanket)
    True
    >>> frugal.n_tests_ < thorough.n_tests_
    True
    """

    _parameter_constraints: dict[str, Any] = {
        **IndependenceSearch._parameter_constraints,
        "n_runs": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_runs: int = 1,
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
        self.n_runs = n_runs

    def _search(self, inquiry: Inquiry) -> list[int]:
        blanket = list(inquiry.always_keep)
        for _ in range(self.n_runs + 1):
            grown = grow(inquiry, blanket, early_dropping=True)
            if len(grown) == len(blanket):
                break
            blanket = grown
        return shrink_weakest_first(inquiry, blanket)
