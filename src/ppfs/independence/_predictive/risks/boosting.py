"""Risks of histogram gradient boosting from the engine: scikit-learn's own models, much sooner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ppfs._block import Block
from ppfs._models import KnownParameters
from ppfs._sklearn_compat import method_of_bins
from ppfs._table import Table
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.models import ModelRisks
from ppfs.independence._predictive.risks.paired import PairedRisks

if TYPE_CHECKING:
    from ppfs._engine import BoostingProblem, BoostingRules

# Without early stopping, which comes with more rows than `_ROWS_FOR_EARLY_STOPPING` where it is "auto", nothing is
# drawn at random, and what governs the stop has no effect. "from_dtype" finds no categories in a matrix of numbers.
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
        "loss": ("log_loss", "squared_error"),
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

# From more rows scikit-learn finds the edges of its bins in a random sample.
_ROWS_FOR_SAMPLED_BINS = 200_000


def is_boosting(estimator: Any) -> bool:
    """Tell whether a model is of a kind that the engine boosts; a subclass may do anything."""
    return type(estimator) in (HistGradientBoostingClassifier, HistGradientBoostingRegressor)


def why_not_boosted(problem: Problem, table: Table) -> str | None:
    """Return None if the engine can boost with these parameters and data, else the reason why not."""
    estimator = problem.estimator
    unknown = _KNOWN.first_unknown(estimator)
    if unknown is not None:
        return f"the engine does not know {unknown}"
    n_train = max(split.train.size for split in problem.splits)
    if n_train > (_ROWS_FOR_SAMPLED_BINS if estimator.early_stopping is False else _ROWS_FOR_EARLY_STOPPING):
        return f"the engine neither stops early nor samples, and a train part has {n_train} rows"
    if problem.weights.fit is not None:
        return "the engine does not know weights of rows"
    if problem.impute is not None or table.is_sparse or table.is_mixed or table.has_feature_groups:
        return "the engine boosts on columns of numbers as they are"
    if problem.y.ndim > 1 or table.codes.ndim > 1:
        return "the engine predicts one output"
    from ppfs._engine import LOSSES

    if problem.loss.name not in LOSSES:
        return f"the engine does not know the loss {problem.loss.name!r}"
    if method_of_bins() is None:
        return "the engine does not know how this version of scikit-learn makes bins"
    return None


class BoostingRisks(ModelRisks):
    """`ModelRisks` whose growth is computed by the engine."""

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None) -> None:
        super().__init__(table, problem, n_jobs, "the engine boosts single columns only")
        self.note = f"{type(problem.estimator).__name__} is grown by the engine where a model has one column"

    def grower(self) -> Grower:
        """Return what boosts on single columns."""
        return BoostingGrower(self.problem)


@dataclass(frozen=True)
class BoostingGrower(Grower):
    """Boosts trees on each column of a block, in every split."""

    problem: Problem
    bytes_per_block = 2**19
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        from ppfs._engine import boosted_column_losses

        outcome = boosted_column_losses(block.X, self._prepared)
        unused = np.zeros(block.n_columns, dtype=bool)
        by_draw = outcome.by_draw if self.problem.is_by_row else None
        return PairedRisks(outcome.base, outcome.replaced, unused, by_draw)

    def prepare(self) -> None:
        """Read the splits as kernels like them."""
        _ = self._prepared

    @cached_property
    def _prepared(self) -> BoostingProblem:
        return boosting_problem(self.problem)

    def __getstate__(self) -> dict[str, Any]:
        # What was prepared is as large as the problem, and quickly made anew.
        return {name: value for name, value in self.__dict__.items() if name != "_prepared"}


def boosting_problem(problem: Problem) -> BoostingProblem:
    """Return a problem as the engine reads it."""
    from ppfs._engine import prepare_boosting

    return prepare_boosting(
        problem.truth,
        problem.classes.size,
        [split.train for split in problem.splits],
        [split.test for split in problem.splits],
        [split.permutations for split in problem.splits],
        _rules_of(problem),
        problem.weights.loss,
        is_by_row=problem.is_by_row,
    )


def _rules_of(problem: Problem) -> BoostingRules:
    from ppfs._engine import BoostingRules

    parameters = problem.estimator.get_params(deep=False)
    return BoostingRules(
        **{name: parameters[name] for name in _KNOWN.read},
        quantiles=method_of_bins() or "",
        loss=problem.loss.name,
    )
