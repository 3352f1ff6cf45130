"""The B boosted models of the shrink phase, and how they change when columns are removed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppfs._engine.boosting.binned_columns import BinnedColumns, bin_values
from ppfs._engine.boosting.model_cuts import Runs
from ppfs._engine.boosting.model_growth import NODE, Rows, boost
from ppfs._engine.boosting.model_trees import SPLIT, Model, add_changes, add_trees
from ppfs._engine.boosting.problem import BoostingProblem
from ppfs._engine.boosting.rules import Kind
from ppfs._engine.boosting.scores import Outcome, empty_outcome, score
from ppfs._engine.jit.kernels import Bools, Float64s, Int64s
from ppfs._engine.jit.threads import run_tasks


@dataclass(frozen=True, eq=False)
class BoostedModels:
    """One boosted model per split, all on the same columns.

    Models are immutable. `without` returns new ones, which share every model and every round that did not use the
    removed columns. Columns keep their numbers.

    Attributes
    ----------
    active : array of shape (n_columns,), bool
        Columns that trees may cut.
    raw : array of shape (n_tested, n_trees)
        Raw predictions of the test rows.
    """

    problem: BoostingProblem
    columns: BinnedColumns
    active: Bools
    models: tuple[Model, ...]
    raw: Float64s
    n_threads: int

    @property
    def used(self) -> Bools:
        """Whether the model of a split cuts a column, shape (n_splits, n_columns)."""
        return np.array([model.uses.any(axis=0) for model in self.models])

    def without(self, removed: Sequence[int]) -> tuple["BoostedModels", int]:
        """Return the models without some columns, and how many of them were refitted.

        Rounds before the first use of these columns would be the same without them.
        """
        active = self.active.copy()
        active[list(removed)] = False
        first_rounds = [
            _first_use(model, removed, n) for model, n in zip(self.models, self._n_trees, strict=True)
        ]
        tasks = [split for split, model in enumerate(self.models) if first_rounds[split] < len(model.nodes)]
        models = list(self.models)

        def run(split: int) -> Model:
            model, first_round = self.models[split], first_rounds[split]
            own = self.problem.weights_of(split)
            return _grow(self.problem, self.columns, active, split, None, own, model, first_round)

        for split, model in zip(tasks, run_tasks(run, tasks, self.n_threads), strict=True):
            models[split] = model
        raw = self.raw.copy()
        for split in tasks:
            _predict(self.problem, self.columns, models[split], split, raw)
        return replace(self, active=active, models=tuple(models), raw=raw), len(tasks)

    def base(self) -> Outcome:
        """Return the losses of the test rows with nothing replaced, also as the losses with replacements."""
        outcome = empty_outcome(1, self.problem, n_draws=1)
        sources = np.arange(self.problem.n_tested)[np.newaxis]
        self._score(self.raw[np.newaxis], sources, outcome)
        return outcome

    def added(self, X: Float64s, start: Float64s) -> Float64s:
        """Return the contribution of the first split's model to the raw predictions (n_rows, n_trees) of other rows."""
        bins = self.columns.splits[0]
        values = np.require(X.T[:, np.newaxis, :], dtype=np.float64, requirements=["C", "W"])
        found = np.empty(values.shape, dtype=np.uint8)
        numbers = np.arange(self.columns.n_columns)
        bin_values(values, numbers, self.columns.is_category, bins.n_edges, bins.edges, found)
        raw = np.array(start, dtype=np.float64, order="C")
        add_trees(self.models[0], np.ascontiguousarray(found[:, 0]), raw)
        return raw

    def replaced(self, columns: Sequence[int], values: Sequence[Float64s]) -> Outcome:
        """Return the losses of the test rows, and their losses when some columns are replaced.

        Parameters
        ----------
        columns : sequence of int
            The columns that are replaced together.
        values : sequence of arrays of shape (n_columns, n_draws, n_test)
            One per split.
        """
        return self._outcome(self._raw_with(columns, values))

    def replaced_by_draw(self, columns: Sequence[int], values: Sequence[Float64s]) -> Float64s:
        """Return the losses with other values in some columns, draw by draw, shape (n_draws, n_pairs).

        The parameters are those of `replaced`, which averages the rows' losses over the draws. Each row walks down a
        tree to the first replaced column once for all draws.
        """
        raw = self._raw_with(columns, values)
        return np.concatenate([self._outcome(raw[[0, draw]]).replaced for draw in range(1, len(raw))])

    def predictions(self, columns: Sequence[int], values: Sequence[Float64s]) -> Float64s:
        """Return predictions of the test rows as they are, then with other values, draw by draw; see `replaced`.

        Returns
        -------
        array of shape (1 + n_draws, n_tested, n_outputs)
            The probabilities of the classes, or one number.
        """
        raw, parts = self._raw_with(columns, values), self.problem.test_parts
        if not parts.truth.classes.size:
            numbers = raw[:, :, :1]
            return numbers if self.problem.rules.reduces == "squared_error" else np.exp(numbers)
        answer = np.zeros((*raw.shape[:2], parts.places.shape[1]))
        for split in range(self.problem.n_splits):
            own = slice(*parts.ends[split : split + 2])
            known = np.flatnonzero(parts.places[split] >= 0)
            scores = raw[:, own, : self._n_trees[split]]
            if parts.kinds[split] == Kind.TWO_CLASSES:
                scores = np.concatenate([np.zeros_like(scores), scores], axis=2)
            elif parts.kinds[split] == Kind.ONE_CLASS:
                scores = np.zeros((*scores.shape[:2], 1))
            shares = np.exp(scores - scores.max(axis=2, keepdims=True))
            shares /= shares.sum(axis=2, keepdims=True)
            answer[:, own, known] = shares[:, :, parts.places[split][known]]
        return answer

    def _raw_with(self, columns: Sequence[int], values: Sequence[Float64s]) -> Float64s:
        """Return raw predictions of the rows as they are, then of each draw: (1 + n_draws, n_tested, n_trees)."""
        numbers = np.array(columns, dtype=np.int64)
        place = np.full(self.columns.n_columns, -1, dtype=np.int64)
        place[numbers] = np.arange(numbers.size)
        raw = np.tile(self.raw, (values[0].shape[1] + 1, 1, 1))
        ends = self.problem.train_parts.ends

        def run(split: int) -> None:
            bins, model = self.columns.splits[split], self.models[split]
            n_trees = self._n_trees[split]
            new = np.empty(values[split].shape, dtype=np.uint8)
            bin_values(
                np.require(values[split], dtype=np.float64, requirements=["C", "W"]),
                numbers,
                self.columns.is_category,
                bins.n_edges,
                bins.edges,
                new,
            )
            part = np.ascontiguousarray(raw[1:, ends[split] : ends[split + 1], :n_trees])
            add_changes(model, bins.test, place, new, part)
            raw[1:, ends[split] : ends[split + 1], :n_trees] = part

        run_tasks(run, range(self.problem.n_splits), self.n_threads)
        return raw

    def _outcome(self, raw: Float64s) -> Outcome:
        """Return the losses of raw predictions; those of the rows as they are come first."""
        n_draws, n_tested = len(raw) - 1, self.problem.n_tested
        outcome = empty_outcome(1, self.problem, n_draws=n_draws)
        sources = np.arange(n_tested, n_tested * (n_draws + 1)).reshape(n_draws, n_tested)
        self._score(raw.reshape(1, -1, self.problem.n_trees), sources, outcome)
        return outcome

    def _score(self, raw: Float64s, sources: Int64s, outcome: Outcome) -> None:
        loss = self.problem.rules.limits.loss
        score(0, self.problem.is_by_row, loss, raw, sources, self.problem.test_parts, outcome)

    @property
    def _n_trees(self) -> list[int]:
        n_trees: list[int] = self.problem.train_parts.n_trees.tolist()
        return n_trees


def grow_models(
    columns: BinnedColumns,
    problem: BoostingProblem,
    n_threads: int = 1,
    *,
    starts: Sequence[Float64s] | None = None,
    weights: Float64s | None = None,
) -> BoostedModels:
    """Fit one boosted model per split.

    Parameters
    ----------
    columns : BinnedColumns
        See `bin_columns`.
    problem : BoostingProblem
        See `prepare_boosting`.
    n_threads : int
        The answer does not depend on it.
    starts : sequence of arrays of shape (n_trees, n_train), or None
        Raw predictions of the train rows from which the first round starts, one array per split, where there are no
        test rows; None for the baseline of the labels.
    weights : array of shape (n_rows,) or None
        Weights of the train rows, if they differ from those of the problem.
    """
    is_active = np.ones(columns.n_columns, dtype=np.bool_)

    def run(split: int) -> Model:
        own = problem.weights_of(split) if weights is None else weights[problem.train[split]]
        return _grow(problem, columns, is_active, split, None if starts is None else starts[split], own)

    models = run_tasks(run, range(problem.n_splits), n_threads)
    raw = np.zeros((problem.n_tested, problem.n_trees))
    for split, model in enumerate(models):
        _predict(problem, columns, model, split, raw)
    return BoostedModels(problem, columns, is_active, tuple(models), raw, n_threads)


def _first_use(model: Model, columns: Sequence[int], n_trees: int) -> int:
    """Return the first round in which a tree cuts one of the columns; if none does, a number beyond the last round."""
    trees = np.flatnonzero(model.uses[:, list(columns)].any(axis=1))
    return int(trees[0]) // n_trees if trees.size else len(model.nodes)


def _grow(
    problem: BoostingProblem,
    columns: BinnedColumns,
    active: Bools,
    split: int,
    start: Float64s | None,
    weights: Float64s | None,
    before: Model | None = None,
    first_round: int = 0,
) -> Model:
    """Fit the model of a split, reusing the rounds of another model that come before a given round."""
    rules, n_train = problem.rules, problem.train[split].size
    limits = rules.limits
    kind, n_trees = int(problem.train_parts.kinds[split]), int(problem.train_parts.n_trees[split])
    n_nodes = 2 * rules.most_leaves(n_train) - 1
    n_grown = 0 if kind == Kind.ONE_CLASS else limits.n_rounds * n_trees
    n_bins = 256 if columns.is_category.any() else 0
    model = Model(
        nodes=np.zeros((n_grown, n_nodes), dtype=SPLIT),
        left_categories=np.zeros((n_grown, n_nodes if n_bins else 0, n_bins), dtype=np.bool_),
        uses=np.zeros((n_grown, columns.n_columns), dtype=np.bool_),
    )
    if before is not None:
        for new, old in zip(model, before, strict=True):
            new[: first_round * n_trees] = old[: first_round * n_trees]
    by_tree = (n_trees, n_train)
    rows = Rows(
        raw=(
            np.repeat(problem.baseline[split, :n_trees, np.newaxis], n_train, axis=1)
            if start is None
            else np.array(start, order="C")
        ),
        powers=np.empty(by_tree),
        gradient=np.empty(by_tree),
        hessian=np.empty(by_tree),
        pairs=np.empty((n_train, 2)),
        members=np.empty((1, n_train), dtype=np.uint32),
        goes_left=np.empty(n_train, dtype=np.uint8),
        aside=np.empty(n_train, dtype=np.uint32),
    )
    # One run more than rows, because a run is written before it is known to be complete.
    sums = [np.empty(n_train + 1) for _ in range(4)]
    counts = [np.empty(n_train + 1, dtype=np.int64) for _ in range(3)]
    runs = Runs(sums[0], sums[1], counts[0], counts[1], sums[2], sums[3], counts[2])
    boost(
        kind,
        first_round,
        np.flatnonzero(active),
        columns.is_category,
        columns.splits[split],
        problem.train_parts.labels[split, problem.train[split]],
        weights,
        limits,
        rows,
        runs,
        np.empty((columns.n_columns, n_train), dtype=np.uint32),
        np.zeros(n_nodes + 2, dtype=NODE),
        np.empty(n_nodes + 1, dtype=np.int64),
        model,
    )
    return model


def _predict(
    problem: BoostingProblem, columns: BinnedColumns, model: Model, split: int, raw: npt.NDArray[np.float64]
) -> None:
    """Fill the part of ``raw`` (n_tested, n_trees) that belongs to a split."""
    begin, end = problem.train_parts.ends[split : split + 2]
    n_trees = int(problem.train_parts.n_trees[split])
    part = np.tile(problem.baseline[split, :n_trees], (end - begin, 1))
    add_trees(model, columns.splits[split].test, part)
    raw[begin:end, :n_trees] = part
