"""Risks of histogram gradient boosting, grown by the engine: scikit-learn's own models, but faster."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from joblib import effective_n_jobs
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ppfs import _engine
from ppfs._conventions import Floats, are_bins_weighted, method_of_bins
from ppfs._data import Block, Table
from ppfs._fitting import Design, KnownParameters
from ppfs.independence._predictive.drawing import over_draws
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks, Views
from ppfs.independence._predictive.risks.source import OTHER_KIND, RiskSource, refusal_of_target

# Without early stopping, which "auto" switches on for more than `_ROWS_FOR_EARLY_STOPPING` rows, nothing is random,
# and the parameters of the stop have no effect. "from_dtype" finds no categories in a matrix of numbers.
_KNOWN = KnownParameters(
    read=(
        "learning_rate",
        "max_iter",
        "max_leaf_nodes",
        "max_depth",
        "min_samples_leaf",
        "l2_regularization",
        "max_bins",
    ),
    only={
        "loss": ("log_loss", "squared_error", "poisson", "gamma"),
        "max_features": (1.0,),
        "monotonic_cst": (None,),
        "interaction_cst": (None,),
        "categorical_features": (None, "from_dtype", "warn"),
        "early_stopping": ("auto", False),
        "class_weight": (None,),
    },
    without_effect=(
        "n_iter_no_change",
        "random_state",
        "scoring",
        "tol",
        "validation_fraction",
        "verbose",
        "warm_start",
    ),
)

_ROWS_FOR_EARLY_STOPPING = 10_000

# The most nodes of a model of one split, at about 25 bytes per node.
_MOST_NODES = 1_000_000

# With more rows scikit-learn finds the edges of its bins in a random sample.
_ROWS_FOR_SAMPLED_BINS = 200_000


def refusal_of_size(problem: Problem, rules: _engine.BoostingRules) -> str | None:
    """Return why the engine cannot keep the trees of such models, or None if it can."""
    n_train = max(split.train.size for split in problem.splits)
    n_nodes = 2 * rules.most_leaves(n_train) * rules.max_iter * max(1, problem.classes.size)
    if n_nodes > _MOST_NODES:
        return f"the engine keeps trees of {_MOST_NODES} nodes in all, and these may have {n_nodes}"
    return None


class BoostingRisks(RiskSource):
    """Risks of boosted models, grown by the engine, from their first round or from a later one.

    The models see the columns in the order of their content, categories first as in scikit-learn. That
    decides ties, so removing a column that a model does not use leaves the model as it is.
    """

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str = "") -> None:
        super().__init__(table, problem, n_jobs, reason)
        self._n_threads = effective_n_jobs(n_jobs)
        self._grower = BoostingGrower(problem)
        self._members: Set[int] = frozenset()
        self._columns: dict[int, list[int]] = {}
        self._models: _engine.BoostedModels | None = None
        self._design: Design | None = None

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot boost with these parameters and data, or None if it can."""
        if type(problem.estimator) not in (HistGradientBoostingClassifier, HistGradientBoostingRegressor):
            return OTHER_KIND
        estimator = problem.estimator
        unknown = _KNOWN.first_unknown(estimator)
        if unknown is not None:
            return f"the engine does not support {unknown}"
        n_train = max(split.train.size for split in problem.splits)
        if n_train > (
            _ROWS_FOR_SAMPLED_BINS if estimator.early_stopping is False else _ROWS_FOR_EARLY_STOPPING
        ):
            return f"the engine neither stops early nor samples, and a train part has {n_train} rows"
        if problem.weights.fit is not None and not are_bins_weighted():
            return "the engine does not reproduce how this version of scikit-learn bins weighted rows"
        if problem.impute is not None or table.is_sparse:
            return "the engine boosts on columns as they are"
        # The target is among the columns where another variable is predicted.
        most = max(
            int(table.n_levels.max(initial=0)), table.classes.size if table.task == "classification" else 0
        )
        if most > estimator.max_bins:
            return f"the engine does not merge categories, and a column has {most}"
        if method_of_bins() is None:
            return "the engine does not reproduce how this version of scikit-learn makes bins"
        if estimator.loss in ("poisson", "gamma") and not _has_log_mean(problem):
            # scikit-learn's own error says what is wrong.
            return "the target has values that this model does not take"
        return refusal_of_target(table, problem, _engine.BOOSTING_LOSSES) or refusal_of_size(
            problem, _rules_of(problem)
        )

    def grower(self) -> Grower:
        """Return what boosts on single columns."""
        return self._grower

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one feature set: one set of models serves all."""
        models = self._models_of(members)
        base = models.base().base
        return PairedRisks.joined(
            [self._replaced(x, models, base) if self._is_used(x, models) else self._unused(base) for x in xs]
        )

    def views(self, x: int, members: Set[int]) -> Views | None:
        """Return what the models predict with and without a feature; None if no model uses it."""
        models = self._models_of(members)
        if not self._is_used(x, models):
            return None
        values = [np.moveaxis(one, 2, 0) for one in self._shuffled(x)]
        predicted = models.predictions(self._columns[x], values)
        return Views(predicted[0], predicted[1:].mean(axis=0))

    def _is_used(self, x: int, models: _engine.BoostedModels) -> bool:
        return bool(models.used[:, self._columns[x]].any())

    def _unused(self, base: Floats) -> PairedRisks:
        """Return the risks of a feature that no model uses: replacing it changes nothing."""
        by_draw = np.full((1, self.problem.n_draws), base.mean()) if self.problem.is_by_row else None
        return PairedRisks(base, base, np.ones(1, dtype=bool), by_draw)

    def _replaced(self, x: int, models: _engine.BoostedModels, base: Floats) -> PairedRisks:
        """Replace a feature by its draws."""
        problem = self.problem
        if self._design is None:
            self._design = Design.of(self._table, self._table.order.canonical(self._members))
        draws = problem.knockoff(self._design, x)

        def evaluate(first: int, end: int) -> Floats:
            values = [np.moveaxis(draws.values(split, first, end), 2, 0) for split in problem.splits]
            return models.replaced_by_draw(self._columns[x], values)[np.newaxis]

        drawn = over_draws(problem, base[0], evaluate)
        return PairedRisks(base, drawn.replaced, np.zeros(1, dtype=bool), drawn.by_draw)

    def _models_of(self, members: Set[int]) -> _engine.BoostedModels:
        models = self._models
        if models is not None and members == self._members:
            return models
        gone = self._members - members
        if models is None or len(members) + len(gone) != len(self._members):
            models = self._grow(members)
        else:
            models, n_grown = models.without([column for x in gone for column in self._columns[x]])
            self.n_fits += n_grown
        self._models, self._members, self._design = models, members, None
        return models

    def _grow(self, members: Set[int]) -> _engine.BoostedModels:
        design = Design.of(self._table, self._table.order.canonical(members))
        is_category = design.n_levels > 0
        # scikit-learn places categorical columns first.
        order = np.argsort(~is_category, kind="stable")
        numbers = np.argsort(order)
        self._columns = {x: numbers[place].tolist() for x, place in design.places.items()}
        columns = _engine.bin_columns(
            design.X[:, order], self._grower.prepared, is_category[order], self._n_threads
        )
        self.n_fits += len(self.problem.splits)
        return _engine.grow_models(columns, self._grower.prepared, self._n_threads)


@dataclass(frozen=True)
class BoostingGrower(Grower):
    """Boosts trees on each column of a block, in every split."""

    problem: Problem
    bytes_per_block = 2**19
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        is_category = block.n_levels > 0
        if not is_category.any():
            outcome = _engine.boosted_column_losses(block.X, self.prepared)
            return self._paired(outcome)
        risks = [
            self._paired(
                self._of_categories(block.X[:, [j]])
                if is_category[j]
                else _engine.boosted_column_losses(block.X[:, [j]], self.prepared)
            )
            for j in range(block.n_columns)
        ]
        return PairedRisks.joined(risks)

    def _of_categories(self, column: Floats) -> _engine.Outcome:
        """Boost on a column whose values are categories."""
        models = _engine.grow_models(_engine.bin_columns(column, self.prepared, [True]), self.prepared)
        return models.replaced(
            [0], [column[split.test[split.permutations], 0][np.newaxis] for split in self.problem.splits]
        )

    def _paired(self, outcome: _engine.Outcome) -> PairedRisks:
        unused = np.zeros(len(outcome.base), dtype=bool)
        by_draw = outcome.by_draw if self.problem.is_by_row else None
        return PairedRisks(outcome.base, outcome.replaced, unused, by_draw)

    def prepare(self) -> None:
        """Convert the problem to the arrays that kernels read."""
        _ = self.prepared

    @cached_property
    def prepared(self) -> _engine.BoostingProblem:
        """The problem as kernels read it."""
        return boosting_problem(self.problem, _rules_of(self.problem))


def boosting_problem(problem: Problem, rules: _engine.BoostingRules) -> _engine.BoostingProblem:
    """Return a problem as the engine reads it."""
    return _engine.prepare_boosting(
        problem.truth,
        problem.classes.size,
        [split.train for split in problem.splits],
        [split.test for split in problem.splits],
        [split.permutations for split in problem.splits],
        rules,
        problem.weights.loss,
        is_by_row=problem.is_by_row,
        fit_weights=problem.weights.fit,
    )


def _rules_of(problem: Problem) -> _engine.BoostingRules:
    parameters = problem.estimator.get_params(deep=False)
    return _engine.BoostingRules(
        **{name: parameters[name] for name in _KNOWN.read},
        quantiles=method_of_bins() or "",
        loss=problem.loss.name,
        **({"reduces": parameters["loss"]} if not problem.classes.size else {}),
    )


def _has_log_mean(problem: Problem) -> bool:
    """Return whether a regression with a log link can be fitted to all train parts."""
    if problem.estimator.loss == "gamma":
        return bool((problem.y > 0).all())
    return bool((problem.y >= 0).all() and all(problem.y[split.train].any() for split in problem.splits))
