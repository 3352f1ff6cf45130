"""IAMB with the PC algorithm as its backward step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from ppfs._progress import Progress
from ppfs._random import RandomStateLike
from ppfs._reading import CategoricalFeatures
from ppfs._table import ColumnsLike, Task
from ppfs.blanket._divide_conquer import MAX_K
from ppfs.blanket._growth import grow
from ppfs.blanket._independence_search import IndependenceSearch
from ppfs.blanket._inquiry import Inquiry
from ppfs.blanket._loops import RevisitGuard, interleave
from ppfs.blanket._skeleton import keep_joined
from ppfs.independence import IndependenceTest


class IAMBnPC(IndependenceSearch):
    """IAMB whose backward step is the PC algorithm.

    Grows like `IAMB`. Then, instead of asking about each member given all others, runs the PC algorithm on the
    target and the members, and keeps the target's neighbours and those who share a collider with it. The
    conditioning sets of that step are small, so it still can tell where a table of all members
    would have too few rows a cell.

    Parameters
    ----------
    max_k : int or None, default=3
        Largest conditioning set of the backward step; None has no limit.

    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too.

    random_state, n_jobs, progress
        As in `IAMB`.

    Notes
    -----
    Some descendants of the target are separated from it only by variables outside the members, so
    the result can be larger than the blanket, never smaller when the test is right.

    A column is not added where the test cannot tell, and a set for which it cannot tell separates nothing.
    Steps of the trace that ask about two members name one of them as their `target`.

    References
    ----------
    Tsamardinos, Aliferis and Statnikov, "Algorithms for large scale Markov blanket discovery", 2003.

    Examples
    --------
    >>> from ppfs.blanket import IAMBnPC
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(IAMBnPC(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    _parameter_constraints: dict[str, Any] = {**IndependenceSearch._parameter_constraints, "max_k": MAX_K}

    def __init__(
        self,
        *,
        max_k: int | None = 3,
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
        self.max_k = max_k

    def _search(self, inquiry: Inquiry) -> list[int]:
        return keep_joined(inquiry, grow(inquiry, inquiry.always_keep), self.max_k)


class InterIAMBnPC(IAMBnPC):
    """InterIAMB whose backward step is the PC algorithm.

    As `IAMBnPC`, with the backward step after every addition.

    Parameters
    ----------
    max_k : int or None, default=3
        Largest conditioning set of the backward step; None has no limit.

    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too.

    random_state, n_jobs, progress
        As in `IAMB`.

    References
    ----------
    Tsamardinos, Aliferis and Statnikov, "Algorithms for large scale Markov blanket discovery", 2003.

    Examples
    --------
    >>> from ppfs.blanket import InterIAMBnPC
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(InterIAMBnPC(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    def _search(self, inquiry: Inquiry) -> list[int]:
        backward = partial(keep_joined, max_k=self.max_k)
        return interleave(inquiry, backward, RevisitGuard(inquiry.always_keep))
