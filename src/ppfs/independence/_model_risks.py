"""Risks of any scikit-learn estimator, with and without a column's knockoff."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.parallel import Parallel, delayed

from ppfs._table import Matrix, Table, listed
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.independence._knockoffs import Knockoff, stacked, with_replaced
from ppfs.independence._losses import Loss, predict
from ppfs.independence._splits import Split

Floats = NDArray[np.float64]

# No model is asked to predict more permuted copies than this at once.
_MAX_BATCH = 32


@dataclass(frozen=True)
class PairedRisks:
    """Risks of several questions with the column as it is, and with its knockoff.

    Attributes
    ----------
    base, replaced : ndarray of shape (n_questions, n_splits)

    unused : ndarray of bool, shape (n_questions,)
        Where it is known that no model uses the column.
    """

    base: Floats
    replaced: Floats
    unused: NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """What all questions about one target share.

    Attributes
    ----------
    estimator : estimator
        The prototype; clones of it are fitted.

    y : ndarray of shape (n_rows,)
        The target as the caller gave it: estimators may know its labels.

    classes : ndarray
        The sorted labels; empty for regression.
    """

    estimator: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    loss: Loss
    knockoff: Knockoff
    splits: list[Split]

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The target as the loss wants it: class numbers, labels or values."""
        is_coded = self.classes.size > 0 and not self.loss.wants_labels
        return np.searchsorted(self.classes, self.y) if is_coded else self.y

    @cached_property
    def unseeded(self) -> tuple[str, ...]:
        """Names of the estimator's random_state parameters that the caller left open."""
        parameters = self.estimator.get_params(deep=True)
        return tuple(
            name
            for name, value in parameters.items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        )

    def fit(self, X: Matrix, split: Split) -> Any:
        """Fit a clone on the split's train part."""
        labels = self.y[split.train]
        if self.classes.size and (labels == labels[0]).all():
            # Most classifiers refuse a single class; the only thing to learn is that class.
            return DummyClassifier(strategy="prior").fit(X[split.train], labels)
        model = clone(self.estimator).set_params(**dict.fromkeys(self.unseeded, split.seed))
        return model.fit(X[split.train], labels)

    def risks(self, model: Any, copies: list[Matrix], split: Split) -> Floats:
        """Return the mean loss of one model on several copies of its test part, from one prediction."""
        answer = predict(model, stacked(copies), self.loss.output, self.classes)
        if self.loss.wants_labels and self.loss.output == "labels":
            answer = self.classes[answer]
        losses = self.loss.rows(np.tile(self.truth[split.test], len(copies)), answer)
        losses = np.asarray(losses, dtype=np.float64)
        if losses.shape != (split.test.size * len(copies),):
            raise InvalidInputError(
                f"The loss function must return one loss a row, shape ({split.test.size * len(copies)},), but returned "
                f"shape {losses.shape}. Do not average over rows: the test does that."
            )
        means: Floats = losses.reshape(len(copies), -1).mean(axis=1)
        return means


def _fitted(problem: Problem, design: Matrix, split: Split, names: Sequence[str]) -> tuple[Any, float]:
    """Fit one model and measure its risk on the untouched test part."""
    try:
        model = problem.fit(design, split)
        return model, float(problem.risks(model, [design[split.test]], split)[0])
    except (InvalidInputError, Warning):
        raise
    except Exception as error:
        if sp.issparse(design) and "toarray" in str(error):
            # Before 1.7 scikit-learn's estimators did not say whether they take sparse data: their error does.
            raise InvalidInputError(
                f"X is sparse, and {type(problem.estimator).__name__} takes dense data only. Pass X.toarray() if it "
                "fits in memory, or use an estimator that takes sparse data, such as DecisionTreeClassifier or "
                "LogisticRegression."
            ) from error
        raise EstimatorFailedError(
            f"{problem.estimator!r} failed on {listed(names)} with {split.train.size} training rows: "
            f"{type(error).__name__}: {error}"
        ) from error


def _replaced_risks(
    problem: Problem, design: Matrix, split: Split, model: Any, positions: Sequence[int]
) -> Floats:
    """Return the risks after each column in turn gave way to its knockoff, shape (n_positions,)."""
    test = design[split.test]
    copies = [with_replaced(test, p, problem.knockoff(design, p, split)) for p in positions]
    return problem.risks(model, copies, split)


def _added_column_risks(
    problem: Problem, designs: list[tuple[Matrix, int, Sequence[str]]]
) -> tuple[Floats, Floats]:
    """Return base and replaced risks, shape (n_designs, n_splits), of models that no one needs again.

    Each design comes with the position of the column in question and its column names.
    """
    base = np.empty((len(designs), len(problem.splits)))
    replaced = np.empty_like(base)
    for row, (design, position, names) in enumerate(designs):
        for j, split in enumerate(problem.splits):
            model, base[row, j] = _fitted(problem, design, split, names)
            replaced[row, j] = _replaced_risks(problem, design, split, model, [position])[0]
    return base, replaced


class FittedModels:
    """The B models of one column set, ready for questions about any of its columns."""

    def __init__(self, table: Table, members: Set[int], problem: Problem, n_jobs: int | None) -> None:
        self.members = frozenset(members)
        self.problem = problem
        self._n_jobs = n_jobs
        ordered = table.canonical(members)
        self._position = {column: i for i, column in enumerate(ordered)}
        self._design = table.take(ordered)
        names = [name_of(table, column) for column in ordered]
        fitted = Parallel(n_jobs=n_jobs)(
            delayed(_fitted)(problem, self._design, split, names) for split in problem.splits
        )
        self._models = [model for model, _ in fitted]
        self.base = np.array([risk for _, risk in fitted])

    def replaced(self, xs: Sequence[int]) -> Floats:
        """Return the risks with each x replaced by its knockoff, shape (n_xs, n_splits).

        Models stay where they are, so this runs on threads whatever the backend.
        """
        positions = [self._position[x] for x in xs]
        columns = Parallel(n_jobs=self._n_jobs, require="sharedmem")(
            delayed(_replaced_risks)(self.problem, self._design, split, model, positions)
            for split, model in zip(self.problem.splits, self._models, strict=True)
        )
        return np.column_stack(columns)


class ModelRisks:
    """Answers "what is the risk with x, and with its knockoff?" by fitting the caller's estimator.

    Parameters
    ----------
    table : Table

    problem : Problem

    n_jobs : int or None

    reason : str
        Why it is this way and not the engine that answers.

    Attributes
    ----------
    n_fits : int
        Models fitted so far.
    """

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str) -> None:
        self.problem = problem
        self.n_fits = 0
        self.note = f"{type(problem.estimator).__name__} is fitted through scikit-learn's interface: {reason}"
        self._table = table
        self._n_jobs = n_jobs
        self._latest: FittedModels | None = None

    def batch_sizes(self, are_members: bool, is_marginal: bool) -> tuple[int, int]:
        """Return how many questions to answer at once, at first and at most.

        Batches begin small, so that a search that stops listening after the first answer wastes little.
        """
        first = 1 if are_members else effective_n_jobs(self._n_jobs)
        return first, max(first, _MAX_BATCH)

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one column set: one set of models serves all."""
        if self._latest is None or self._latest.members != members:
            self._latest = FittedModels(self._table, members, self.problem, self._n_jobs)
            self.n_fits += len(self.problem.splits)
        replaced = self._latest.replaced(xs)
        base = np.broadcast_to(self._latest.base, replaced.shape)
        return PairedRisks(base, replaced, np.zeros(len(xs), dtype=bool))

    def of_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks:
        """Return the risks of questions about columns outside `given`: each needs models of its own."""
        n_blocks = min(len(xs), effective_n_jobs(self._n_jobs))
        blocks = np.array_split(np.array(xs), n_blocks)
        answers = Parallel(n_jobs=self._n_jobs)(
            delayed(_added_column_risks)(self.problem, [self._design(int(x), given) for x in block])
            for block in blocks
        )
        self.n_fits += len(xs) * len(self.problem.splits)
        base, replaced = (np.concatenate(part) for part in zip(*answers, strict=True))
        return PairedRisks(base, replaced, np.zeros(len(xs), dtype=bool))

    def _design(self, x: int, given: Set[int]) -> tuple[Matrix, int, list[str]]:
        ordered = self._table.canonical((*given, x)) if given else (x,)
        names = [name_of(self._table, column) for column in ordered]
        return self._table.take(ordered), ordered.index(x), names


def name_of(table: Table, variable: int) -> str:
    """Return the name of a column, or "the target"."""
    return "the target" if variable == table.target else table.names[variable]
