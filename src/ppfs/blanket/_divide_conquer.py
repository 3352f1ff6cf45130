"""MMMB and HITON-MB: parents and children first, then the children's other parents."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Literal

from ppfs._progress import Progress
from ppfs._random import RandomStateLike
from ppfs._reading import CategoricalFeatures
from ppfs._sklearn_compat import HasMethods, Interval
from ppfs._table import ColumnsLike, Task
from ppfs.blanket._independence_search import IndependenceSearch
from ppfs.blanket._inquiry import Inquiry
from ppfs.blanket._parents_children import hiton_neighbours, max_min_neighbours
from ppfs.blanket._spouses import neighbours_and_spouses
from ppfs.blanket._wrapper_pass import drop_while_score_holds
from ppfs.independence import IndependenceTest

MAX_K: list[Any] = [Interval(Integral, 0, None, closed="left"), None]


class MMMB(IndependenceSearch):
    """Max-min Markov blanket.

    Finds the parents and children of the target (MMPC): a column stays only if no set of at most
    `max_k` others separates it from the target, and if the target in turn is among the
    column's own neighbours. Then looks for spouses among the neighbours' neighbours. The
    conditioning sets stay small, so it needs fewer rows than the IAMB family and more questions.

    Parameters
    ----------
    max_k : int or None, default=3
        Largest conditioning set. None has no limit, and may take very long.

    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too. Columns of `always_keep` count as neighbours of
        the target.

    random_state, n_jobs, progress
        As in `IAMB`.

    See Also
    --------
    HITONMB : adds and drops neighbours in turns.

    Notes
    -----
    A set for which the test cannot tell separates nothing, and supports nothing: a column needs one
    reliable answer in its favour to enter. Steps of the trace that ask about the neighbours of
    another column name it as their `target`.

    References
    ----------
    Tsamardinos, Aliferis and Statnikov, "Time and sample efficient discovery of Markov blankets and direct
    causal relations", 2003. The check in both directions is Peña et al.'s, 2007.

    Examples
    --------
    >>> from ppfs.blanket import MMMB
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(MMMB(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
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
        return neighbours_and_spouses(inquiry, max_min_neighbours, self.max_k)


class HITONMB(IndependenceSearch):
    """HITON Markov blanket.

    Like `MMMB`, but columns enter in the order of their marginal links with the target, and after each
    entry whoever is separated leaves, so the set of neighbours stays small. A wrapper can end the
    search: it drops members without which a model predicts as well.

    Parameters
    ----------
    max_k : int or None, default=3
        Largest conditioning set. None has no limit, and may take very long.

    wrapper : estimator, default=None
        A classifier or regressor for the final pass; None leaves it out.

    cv : int, default=5
        Folds of the wrapper's cross-validation.

    independence, n_folds, alpha, always_keep, condition_on, feature_groups, categorical_features
        As in `IAMB`, whose attributes this search has too. Columns of `always_keep` count as neighbours of
        the target.

    random_state, n_jobs, progress
        As in `IAMB`.

    Notes
    -----
    A set for which the test cannot tell separates nothing; a column enters only if the test can tell
    that it depends on the target alone.

    References
    ----------
    Aliferis, Tsamardinos and Statnikov, "HITON: a novel Markov blanket algorithm for optimal variable
    selection", 2003.

    Examples
    --------
    >>> from ppfs.blanket import HITONMB
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(HITONMB(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    _parameter_constraints: dict[str, Any] = {
        **IndependenceSearch._parameter_constraints,
        "max_k": MAX_K,
        "wrapper": [HasMethods(["fit", "predict", "get_params"]), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        *,
        max_k: int | None = 3,
        wrapper: Any = None,
        cv: int = 5,
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
        self.wrapper = wrapper
        self.cv = cv

    def _search(self, inquiry: Inquiry) -> list[int]:
        blanket = neighbours_and_spouses(inquiry, hiton_neighbours, self.max_k)
        return (
            blanket
            if self.wrapper is None
            else drop_while_score_holds(inquiry, blanket, self.wrapper, self.cv)
        )
