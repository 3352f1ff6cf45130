"""Searches that take any independence test, an instance or a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.utils import Tags

from ppfs._conventions import Interval, Progress, RandomStateLike, StrOptions
from ppfs._data import CategoricalFeatures, ColumnsLike, SaidTask, Task
from ppfs._fitting import accepted_input
from ppfs.blanket._run.base import SEARCH_CONSTRAINTS, BaseBlanketSelector
from ppfs.independence import TESTS_BY_NAME, IndependenceTest, PredictiveTest


@dataclass(kw_only=True, eq=False, repr=False)
class IndependenceSearch(BaseBlanketSelector):
    """The base class of all searches except PPFS: their common parameters, which each documents.

    A subclass implements `_search`. One with more parameters adds them as fields.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SEARCH_CONSTRAINTS,
        "independence": [StrOptions(set(TESTS_BY_NAME)), IndependenceTest],
    }

    independence: IndependenceTest | str = "auto"
    n_folds: int = 0
    alpha: float = 0.05
    always_keep: ColumnsLike = ()
    condition_on: ColumnsLike = ()
    feature_groups: Mapping[str, ColumnsLike] | None = None
    categorical_features: CategoricalFeatures = "auto"
    min_features: int = 0
    task: SaidTask = "auto"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    progress: Progress = False
    checkpoint: str | PathLike[str] | None = None

    def _independence_test(self) -> IndependenceTest:
        if isinstance(self.independence, str):
            return TESTS_BY_NAME[self.independence]()
        # Before it is cloned: invalid parameters may make cloning fail.
        self.independence._validate_params()
        ready: IndependenceTest = clone(self.independence)
        return ready

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        test = self.independence
        if isinstance(test, PredictiveTest):
            task: Task = "regression" if test.task == "regression" else "classification"
            takes_gaps = test.impute is not None or accepted_input(test.estimator, task).allow_nan
            tags.input_tags.allow_nan |= takes_gaps
        # A decision tree takes missing values, the classical tests do not.
        tags.input_tags.allow_nan |= test in ("ppi", "cross-fit-ppi")
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class SubsetsSearch(IndependenceSearch):
    """The base class of searches that look for separating sets, with the size of the largest one as a parameter."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **IndependenceSearch._parameter_constraints,
        "max_k": [Interval(Integral, 0, None, closed="left"), None],
    }

    max_k: int | None = 3
