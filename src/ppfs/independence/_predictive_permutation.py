"""The paper's test: a model predicts worse when a column that matters gives way to its knockoff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from numbers import Integral, Real
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ppfs._random import RandomStateLike, root_entropy
from ppfs._reading import require_finite
from ppfs._table import Table, Task
from ppfs.exceptions import InvalidInputError
from ppfs.independence._base import INDEPENDENT, INERT, BoundTest, IndependenceResult, IndependenceTest
from ppfs.independence._knockoffs import KNOCKOFFS
from ppfs.independence._linear_risks import LinearRisks, linear_solver
from ppfs.independence._losses import LOSS_NAMES, LossFunction, choose_loss
from ppfs.independence._model_risks import ModelRisks, PairedRisks, Problem, name_of
from ppfs.independence._significance import SIGNIFICANCES, risk_differences
from ppfs.independence._splits import Stratify, draw_splits, labels_to_stratify, require_enough_rows
from ppfs.independence._tree_risks import TreeRisks, why_not_engine

# What PPI and every search with flat parameters accept alike.
PPI_CONSTRAINTS: dict[str, Any] = {
    "estimator": [HasMethods(["fit", "predict", "get_params"]), None],
    "marginal_estimator": [HasMethods(["fit", "predict", "get_params"]), None],
    "n_splits": [Interval(Integral, 2, None, closed="left")],
    "test_size": [Interval(Real, 0, 1, closed="neither")],
    "stratify": ["boolean", StrOptions({"auto"})],
    "knockoff": [StrOptions(set(KNOCKOFFS))],
    "significance": [StrOptions(set(SIGNIFICANCES))],
    "loss": [StrOptions(set(LOSS_NAMES)), callable],
    "task": [StrOptions({"auto", "classification", "regression"})],
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": [Integral, None],
}


class PPI(IndependenceTest):
    """Predictive Permutation Independence test.

    Fit a model on B random train parts. On each test part compare its risk with the risk after
    one column was replaced by its knockoff. A column that the target does not depend on, given
    the other columns of the model, can be replaced without loss; a one-sided paired test over
    the B differences gives the p-value.

    The splits and shuffles are drawn once and shared by all questions, so a model depends on its
    column set alone, and an answer depends neither on the questions asked before nor on `n_jobs`.

    Parameters
    ----------
    estimator : estimator, default=None
        Any classifier or regressor. None is a decision tree, as in the paper.

    n_splits : int, default=30
        The paper's B.

    test_size : float, default=0.2
        Share of the rows in each test part.

    stratify : bool or "auto", default="auto"
        Keep the proportions of the classes in the splits; "auto" does when every class can be
        represented in both parts.

    knockoff : {"permutation"}, default="permutation"
        What replaces the column: its values shuffled within the test part.

    significance : {"wilcoxon", "paired-t"}, default="wilcoxon"
        The one-sided paired test over the B differences.

    loss : str or callable, default="auto"
        For classification "log-loss", "brier", "hinge" or "zero-one", for regression "squared" or
        "absolute". "auto" is log-loss, or hinge for classifiers that have only
        ``decision_function``, or zero-one for those with neither; squared error for regression. A
        callable ``loss(y_true, prediction)`` returns one loss a row; it gets probabilities (one
        column a class, sorted), decision values, labels or numbers, the first of these that the
        estimator offers.

    task : {"auto", "classification", "regression"}, default="auto"
        "auto" follows the estimator, and where that is None the target.

    marginal_estimator : estimator, default=None
        Another model for questions given nothing; None is `estimator`.

    random_state : int, Generator, RandomState or None, default=None
        Decides splits and shuffles, and seeds the estimator where it was left unseeded.

    n_jobs : int, default=None
        Parallel fits; ``joblib.parallel_config`` chooses the backend.

    Notes
    -----
    The splits share rows, so the B differences are dependent and the p-values are too small: with
    the paper's settings a true null is rejected far more often than alpha says.

    A column that is constant, or equal to a column it is tested given, is independent by
    definition; no model is fitted to say so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs.independence import PPI
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> PPI(random_state=0).evaluate(X, y, "petal width (cm)").pvalue < 0.05
    True
    """

    _parameter_constraints: dict[str, Any] = PPI_CONSTRAINTS

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_splits: int = 30,
        test_size: float = 0.2,
        stratify: Stratify = "auto",
        knockoff: str = "permutation",
        significance: str = "wilcoxon",
        loss: str | LossFunction = "auto",
        task: Task | Literal["auto"] = "auto",
        marginal_estimator: Any = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_splits = n_splits
        self.test_size = test_size
        self.stratify = stratify
        self.knockoff = knockoff
        self.significance = significance
        self.loss = loss
        self.task = task
        self.marginal_estimator = marginal_estimator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def declared_task(self) -> Task | None:
        """Tell the task that the parameters imply, or None when the target decides."""
        if isinstance(self.estimator, type):
            raise InvalidInputError(
                f"estimator={self.estimator.__name__} is a class; an instance is needed: "
                f"{self.estimator.__name__}()."
            )
        if self.task != "auto":
            return self.task
        if self.estimator is None:
            return None
        if is_classifier(self.estimator):
            return "classification"
        return "regression" if is_regressor(self.estimator) else None

    def bind(
        self, table: Table, *, fold: int = 0, random_state: RandomStateLike = None, n_jobs: int | None = None
    ) -> BoundPPI:
        """Return the test of these data; see `IndependenceTest.bind`."""
        significance = SIGNIFICANCES[self.significance]
        if self.n_splits < significance.min_splits:
            raise InvalidInputError(
                f"n_splits={self.n_splits} is too few for significance={self.significance!r}, whose smallest p-value "
                f"would be {significance.smallest(self.n_splits):.3g}: at least {significance.min_splits} splits are "
                "needed. Raise n_splits (the paper's B), or use significance='paired-t'."
            )
        require_enough_rows(table.n_rows, self.test_size)
        self._check_columns(table)
        entropy = root_entropy(random_state if self.random_state is None else self.random_state)
        return BoundPPI(table, self, entropy, fold, n_jobs if self.n_jobs is None else self.n_jobs)

    def _check_columns(self, table: Table) -> None:
        """Refuse columns that the estimator cannot take, before any model is fitted."""
        estimator = estimator_for(self.estimator, table.task)
        takes_missing = input_tags(estimator).allow_nan and not table.is_sparse
        require_finite(table, allow_missing=takes_missing, user=type(estimator).__name__)


class Risks(Protocol):
    """Whatever can tell the risk with a column and with its knockoff; see `ModelRisks`."""

    problem: Problem
    n_fits: int
    note: str

    def batch_sizes(self, are_members: bool, is_marginal: bool) -> tuple[int, int]: ...

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks: ...

    def of_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks: ...


class BoundPPI(BoundTest):
    """The test of one table: its splits and its fitted models."""

    def __init__(self, table: Table, test: PPI, entropy: int, fold: int, n_jobs: int | None) -> None:
        super().__init__(table)
        self._test = test
        self._significance = SIGNIFICANCES[test.significance]
        self._entropy = entropy
        self._fold = fold
        self._n_jobs = n_jobs
        self._risks: dict[tuple[int, bool], Risks] = {}
        # The target's own problem is made now, so that bad input is reported before any work.
        self._risks_about(table.target, is_marginal=False)

    @property
    def n_fits(self) -> int:  # type: ignore[override]
        """Models fitted so far, over all targets."""
        return sum(risks.n_fits for risks in set(self._risks.values()))

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that the significance test can reach with so many splits."""
        return self._significance.smallest(self._test.n_splits)

    @property
    def notes(self) -> list[str]:
        """Who grows or fits the models of this table's target, and why."""
        about_target = {self._risks_about(self.table.target, is_marginal) for is_marginal in (True, False)}
        return sorted(risks.note for risks in about_target)

    def _answers(
        self, xs: Sequence[int], target: int, given: tuple[int, ...]
    ) -> Iterator[IndependenceResult]:
        members = frozenset(given)
        for are_members, run in _runs(xs, members):
            first, most = self._risks_about(target, not given).batch_sizes(are_members, not given)
            for batch in _doubling_batches(run, first, most):
                yield from self._judge(batch, target, members)

    def _judge(self, xs: Sequence[int], target: int, given: Set[int]) -> Iterator[IndependenceResult]:
        """Answer about columns that lie all inside or all outside `given`."""
        asked = [x for x in xs if not self._is_trivial(x, given)]
        answered = dict(zip(asked, self._assess(asked, target, given), strict=True))
        for x in xs:
            yield answered.get(x, INDEPENDENT)

    def _is_trivial(self, x: int, given: Set[int]) -> bool:
        """Tell whether x says nothing beyond `given` by definition: constant, or a copy of a given column."""
        is_constant = x != self.table.target and bool(self.table.constant_mask[x])
        return is_constant or (bool(given) and self.table.has_twin(x, given))

    def _assess(self, xs: Sequence[int], target: int, given: Set[int]) -> list[IndependenceResult]:
        if not xs:
            return []
        others = given - {xs[0]} if len(xs) == 1 else given
        source = self._risks_about(target, is_marginal=not others)
        if not others:
            risks = source.of_added(xs, others)
        elif xs[0] in given:
            risks = source.of_members(xs, given)
        elif len(xs) == 1:
            risks = source.of_members(xs, given | {xs[0]})
        else:
            risks = source.of_added(xs, given)
        if risks.unused.all():
            return [INERT] * len(xs)
        differences = risk_differences(risks.base, risks.replaced)
        pvalues, statistics = self._significance.assess(differences, source.problem.splits)
        effects = differences.mean(axis=1)
        answers = [
            IndependenceResult(*answer)
            for answer in zip(pvalues.tolist(), statistics.tolist(), effects.tolist(), strict=True)
        ]
        for i in np.flatnonzero(~differences.any(axis=1)):
            answers[i] = INERT if risks.unused[i] else INDEPENDENT
        return answers

    def _risks_about(self, target: int, is_marginal: bool) -> Risks:
        """Return who answers about this target; questions given nothing may have a model of their own."""
        is_marginal = is_marginal and self._test.marginal_estimator is not None
        if (target, is_marginal) not in self._risks:
            estimator = self._test.marginal_estimator if is_marginal else self._test.estimator
            self._risks[target, is_marginal] = _risk_source(
                self.table, self._problem(target, estimator), self._n_jobs
            )
        return self._risks[target, is_marginal]

    def _problem(self, target: int, estimator: Any) -> Problem:
        task = self.table.task_of(target)
        y = self.table.values(target)
        estimator = estimator_for(estimator, task, name=name_of(self.table, target))
        classes = np.unique(y) if task == "classification" else np.empty(0)
        labels = None
        if task == "classification":
            _require_two_classes(classes)
            is_first = target == self.table.target and self._fold <= 1
            labels = labels_to_stratify(y, self._test.stratify, self._test.test_size, warn=is_first)
        splits = draw_splits(
            self.table.n_rows,
            labels,
            n_splits=self._test.n_splits,
            test_size=self._test.test_size,
            entropy=self._entropy,
            fold=self._fold,
        )
        loss = choose_loss(self._test.loss, task, estimator)
        return Problem(estimator, y, classes, loss, KNOCKOFFS[self._test.knockoff], splits)


def _risk_source(table: Table, problem: Problem, n_jobs: int | None) -> Risks:
    """Return the fastest exact way to the risks of this problem."""
    reason = why_not_engine(problem, table)
    if reason is None:
        return TreeRisks(table, problem, n_jobs)
    solve = linear_solver(problem, table)
    if solve is not None:
        return LinearRisks(table, problem, n_jobs, reason, solve)
    return ModelRisks(table, problem, n_jobs, reason)


def estimator_for(estimator: Any, task: Task, name: str = "the target") -> Any:
    """Return the model to fit for this task: the caller's, or the paper's decision tree."""
    if estimator is None:
        return DecisionTreeClassifier() if task == "classification" else DecisionTreeRegressor()
    suits = is_classifier(estimator) if task == "classification" else is_regressor(estimator)
    other = is_regressor(estimator) if task == "classification" else is_classifier(estimator)
    if other and not suits:
        raise InvalidInputError(
            f"{type(estimator).__name__} cannot predict {name}: the task is {task}. Use a "
            f"{'classifier' if task == 'classification' else 'regressor'}, or estimator=None for a decision tree "
            "that fits either task."
        )
    return estimator


def input_tags(estimator: Any) -> Any:
    """Return what an estimator says it accepts; one that says nothing is believed to accept all."""
    try:
        return get_tags(estimator).input_tags
    except (AttributeError, TypeError):
        from sklearn.utils import InputTags

        return InputTags(sparse=True, allow_nan=True)


def _require_two_classes(classes: Any) -> None:
    if classes.size < 2:
        raise InvalidInputError(
            f"y has one class only, {classes[0].item()!r}: there is nothing to predict. Pass rows of at least two "
            'classes, or task="regression" if y is a quantity.'
        )


def _runs(xs: Sequence[int], members: frozenset[int]) -> Iterator[tuple[bool, Sequence[int]]]:
    """Cut `xs` into stretches that lie wholly inside or wholly outside `members`."""
    if members.issuperset(xs) or members.isdisjoint(xs):
        yield xs[0] in members, xs
        return
    for are_members, run in groupby(xs, key=members.__contains__):
        yield are_members, list(run)


def _doubling_batches(xs: Sequence[int], first: int, most: int) -> Iterator[Sequence[int]]:
    done, size = 0, first
    while done < len(xs):
        yield xs[done : done + size]
        done += size
        size = min(2 * size, most)
