"""Risks of any scikit-learn estimator, with and without a feature's knockoff."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from ppfs._conventions import Floats
from ppfs._data import Block, Matrix, Table
from ppfs._fitting import Design, stacked, with_replaced
from ppfs._parallel import count_workers, run_tasks
from ppfs._printable import listed
from ppfs._rows import Split
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.independence._predictive.drawing import over_draws
from ppfs.independence._predictive.draws import Draws
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.coefficients import n_coefficients
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks, Views
from ppfs.independence._predictive.risks.source import RiskSource

# A model predicts at most this many replaced copies of its test part at once.
_MAX_COPIES = 32

# With more risks than this, questions are answered one after the other to save memory.
_MAX_RISKS = 2**24


@dataclass(frozen=True)
class _Fitted:
    """A model of one split, its predictions for the original test part, and their losses."""

    model: Any
    predicted: NDArray[Any]
    losses: Floats


def _fitted(shared: tuple[Problem, Design], split: Split) -> _Fitted:
    """Fit one model and measure its risk on the original test part."""
    problem, design = shared
    try:
        model = problem.fit(design, split)
        predicted = problem.predicted(model, design.X[split.test])
        return _Fitted(model, predicted, problem.losses_of(predicted, split, 1)[0])
    except (InvalidInputError, MemoryError, Warning):
        raise
    except Exception as error:
        if sp.issparse(design.X) and "toarray" in str(error):
            # Before 1.7 scikit-learn's estimators had no tag for sparse data: only the error message shows the reason.
            raise InvalidInputError(
                f"X is sparse, and {type(problem.estimator).__name__} takes dense data only. Pass X.toarray() if it "
                "fits in memory, or use an estimator that takes sparse data, such as DecisionTreeClassifier or "
                "LogisticRegression."
            ) from error
        if problem.y.ndim > 1:
            name = type(problem.estimator).__name__
            raise InvalidInputError(
                f"y has {problem.y.shape[1]} columns, and {name} failed with them: {type(error).__name__}: {error}. "
                f"Use a regressor that predicts several outputs, or MultiOutputRegressor({name}(...))."
            ) from error
        raise EstimatorFailedError(
            f"In split {problem.number_of(split)} {problem.estimator!r} failed on {listed(design.names)} with "
            f"{split.train.size} training rows: {type(error).__name__}: {error}"
        ) from error


def _replaced(
    problem: Problem,
    design: Design,
    split: Split,
    model: Any,
    draws_by_place: Sequence[tuple[slice, Draws]],
    first: int,
    end: int,
) -> Floats:
    """Replace each feature in turn by some of its draws, and return the risks; see `Evaluate`."""
    try:
        return _replaced_losses(problem, design, split, model, draws_by_place, first, end)
    except (InvalidInputError, MemoryError, Warning):
        raise
    except Exception as error:
        replaced = [
            name
            for name, place in zip(design.names, design.places.values(), strict=True)
            if any(place == other for other, _ in draws_by_place)
        ]
        raise EstimatorFailedError(
            f"In split {problem.number_of(split)} {problem.estimator!r}, fitted on {listed(design.names)}, failed to "
            f"predict when {listed(replaced)} was replaced by its knockoff: {type(error).__name__}: {error}"
        ) from error


def _replaced_losses(
    problem: Problem,
    design: Design,
    split: Split,
    model: Any,
    draws_by_place: Sequence[tuple[slice, Draws]],
    first: int,
    end: int,
) -> Floats:
    test = design.X[split.test]
    replacements = [
        (place, values) for place, draws in draws_by_place for values in draws.values(split, first, end)
    ]
    parts = [
        problem.compared_losses(model, [with_replaced(test, *replacement) for replacement in some], split)
        for some in (replacements[i : i + _MAX_COPIES] for i in range(0, len(replacements), _MAX_COPIES))
    ]
    losses: Floats = np.concatenate(parts).reshape(len(draws_by_place), end - first, -1)
    return losses


class FittedModels:
    """One model per split, all fitted on the same features, for questions about any of these."""

    def __init__(self, design: Design, problem: Problem, n_jobs: int | None) -> None:
        self.problem = problem
        self._n_jobs = n_jobs
        self._design = design
        fitted = list(
            run_tasks(
                _fitted,
                (problem, design),
                problem.splits,
                n_jobs=n_jobs,
                prefer=problem.prefers,
                describe=lambda split: (
                    f"split {problem.number_of(split)} of a model of {listed(design.names)}"
                ),
            )
        )
        self._models = [one.model for one in fitted]
        self._predicted = [one.predicted for one in fitted]
        self._base = np.concatenate([one.losses for one in fitted])

    def views(self, feature: int, shuffled: list[Floats]) -> Views:
        """Return what the models predict with a feature, and with its values shuffled."""
        problem, design = self.problem, self._design
        place = design.places[feature]

        def mean(split: Split, model: Any, values: Floats) -> Floats:
            test = design.X[split.test]
            copies = stacked([with_replaced(test, place, draw) for draw in values])
            predicted = problem.viewed(model, copies)
            of_draws: Floats = predicted.reshape(len(values), split.test.size, -1).mean(axis=0)
            return of_draws

        parts = zip(problem.splits, self._models, shuffled, strict=True)
        drawn = Parallel(n_jobs=self._n_jobs, require="sharedmem")(delayed(mean)(*part) for part in parts)
        own = [
            problem.viewed(model, design.X[split.test], known)
            for split, model, known in zip(problem.splits, self._models, self._predicted, strict=True)
        ]
        return Views(np.concatenate(own), np.concatenate(drawn))

    def risks(self, features: Sequence[int]) -> PairedRisks:
        """Return the risks of questions about some of the features."""
        n_risks = len(features) * self.problem.n_draws * self._base.size
        if len(features) > 1 and (self.problem.stop_after or n_risks > _MAX_RISKS):
            return PairedRisks.joined([self.risks([feature]) for feature in features])
        draws_by_place = [
            (self._design.places[feature], self.problem.knockoff(self._design, feature))
            for feature in features
        ]

        def evaluate(first: int, end: int) -> Floats:
            # Models are not sent to other processes, so this runs on threads whatever the backend.
            by_split = Parallel(n_jobs=self._n_jobs, require="sharedmem")(
                delayed(_replaced)(self.problem, self._design, split, model, draws_by_place, first, end)
                for split, model in zip(self.problem.splits, self._models, strict=True)
            )
            return np.concatenate(by_split, axis=2)

        drawn = over_draws(self.problem, self._base, evaluate)
        return PairedRisks(
            np.broadcast_to(self._base, drawn.replaced.shape),
            drawn.replaced,
            np.zeros(len(features), dtype=bool),
            drawn.by_draw,
            n_coefficients(self._models, self._design.X.shape[1], [place for place, _ in draws_by_place]),
        )


def _answered_alone(problem: Problem, designs: Sequence[tuple[Design, int]]) -> list[PairedRisks]:
    """Answer questions one after the other; their models are not kept."""
    return [FittedModels(design, problem, n_jobs=1).risks([feature]) for design, feature in designs]


@dataclass(frozen=True)
class ModelGrower(Grower):
    """Fits the caller's estimator to one column after the other."""

    problem: Problem

    # A fit takes so long that one column is worth a task.
    bytes_per_block = 1
    prefers: ClassVar[Literal["threads"] | None] = None

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        designs = [_design_of_column(block, j) for j in range(block.n_columns)]
        return PairedRisks.joined([_risks_of_column(self.problem, design) for design in designs])


def _risks_of_column(problem: Problem, design: Design) -> PairedRisks:
    """Answer about the only column of a design."""
    fitted = [_fitted((problem, design), split) for split in problem.splits]
    n_columns = design.X.shape[1]
    counts = n_coefficients([one.model for one in fitted], n_columns, [slice(0, n_columns)])
    return replace(risks_of_predictions(problem, [one.predicted for one in fitted]), n_coefficients=counts)


def risks_of_predictions(problem: Problem, predicted: Sequence[NDArray[Any]]) -> PairedRisks:
    """Answer about a column from the predictions of models of that column alone, one array per split.

    Permuting the column permutes the predictions.
    """
    base = np.concatenate(
        [
            problem.losses_of(answer, split, 1)[0]
            for answer, split in zip(predicted, problem.splits, strict=True)
        ]
    )

    def evaluate(first: int, end: int) -> Floats:
        by_split = [
            problem.losses_of(answer[split.permutations[first:end].ravel()], split, end - first)
            for answer, split in zip(predicted, problem.splits, strict=True)
        ]
        return np.concatenate(by_split, axis=1)[np.newaxis]

    drawn = over_draws(problem, base, evaluate)
    return PairedRisks(base[np.newaxis], drawn.replaced, np.zeros(1, dtype=bool), drawn.by_draw)


class ColumnGrower(ModelGrower):
    """Computes the predictions of all columns of a block at once; categories are fitted one by one."""

    bytes_per_block = 2**18
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        if block.n_levels.any():
            return super().risks(block)
        columns = self._read(block.X)
        by_split = [self._for_loss(self._predicted(columns, split)) for split in self.problem.splits]
        return PairedRisks.joined(
            [risks_of_predictions(self.problem, of_column) for of_column in zip(*by_split, strict=True)]
        )

    def _read(self, X: Matrix) -> Any:
        """Return the columns of a block in the form that the models of all splits read: as rows by default."""
        return np.ascontiguousarray(X.T, dtype=np.float64)

    @abstractmethod
    def _predicted(self, columns: Any, split: Split) -> Floats:
        """Return the predictions of the models of a split for its test part, shape (n_columns, n_test, n_outputs)."""

    def _for_loss(self, predicted: Floats) -> list[NDArray[Any]]:
        """Return the predictions that the loss needs, from probabilities or numbers, one array per column."""
        problem = self.problem
        if problem.loss.output == "probabilities":
            return list(predicted)
        if problem.loss.output == "values":
            return list(predicted[:, :, 0])
        labels = predicted.argmax(axis=2)
        return list(problem.classes[labels] if problem.loss.wants_labels else labels)


def _design_of_column(block: Block, column: int) -> Design:
    X = block.X[:, [column]]
    n_levels = block.n_levels[[column]]
    as_models_like = X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)
    name = (block.names[column],)
    return Design(as_models_like, {0: slice(0, 1)}, n_levels, n_levels > 0, name, name)


class ModelRisks(RiskSource):
    """Risks of any estimator, fitted through scikit-learn's interface."""

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str) -> None:
        super().__init__(table, problem, n_jobs, reason)
        self._members: Set[int] = frozenset()
        self._models: FittedModels | None = None

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return None: every estimator can be fitted this way."""
        return None

    def _note(self, name: str, reason: str) -> str:
        return f"{name} is fitted through scikit-learn's interface: {reason}"

    def grower(self) -> Grower:
        """Return what fits models of single columns."""
        return ModelGrower(self.problem)

    def batch_sizes(self, are_members: bool) -> tuple[int, int]:
        """Return how many questions to answer at once, at first and at most.

        Batches begin small, so that little is wasted where a search stops at the first answer.
        """
        first = 1 if are_members else count_workers(self._n_jobs)
        return first, max(first, _MAX_COPIES)

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one feature set: one set of models serves all."""
        return self._models_of(members).risks(xs)

    def views(self, x: int, members: Set[int]) -> Views | None:
        """Return what the models predict with and without a feature."""
        return self._models_of(members).views(x, self._shuffled(x))

    def _models_of(self, members: Set[int]) -> FittedModels:
        if self._models is None or self._members != members:
            design = Design.of(self._table, self._table.order.canonical(members))
            self._models = FittedModels(design, self.problem, self._n_jobs)
            self._members = members
            self.n_fits += len(self.problem.splits)
        return self._models

    def _of_several_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks:
        blocks = np.array_split(np.array(xs), min(len(xs), count_workers(self._n_jobs)))
        answers = run_tasks(
            _answered_alone,
            self.problem,
            blocks,
            n_jobs=self._n_jobs,
            prefer=self.problem.prefers,
            prepare=lambda block: [(self._design(int(x), given), int(x)) for x in block],
            describe=lambda block: f"models of {listed([self._table.names[int(x)] for x in block])}",
        )
        self.n_fits += len(xs) * len(self.problem.splits)
        return PairedRisks.joined([risks for block in answers for risks in block])

    def _design(self, x: int, given: Set[int]) -> Design:
        return Design.of(self._table, self._table.order.canonical((*given, x)))


class GrowthRisks(ModelRisks):
    """`ModelRisks` of models that are faster on single columns only."""

    def _note(self, name: str, reason: str) -> str:
        return (
            f"{name} is solved for all columns at once in growth, and fitted through scikit-learn's interface on "
            "several"
        )
