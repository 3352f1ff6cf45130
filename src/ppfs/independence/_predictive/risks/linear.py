"""Growth with linear models: all columns of a block at once, each with a model of its own.

A linear model of one column has two coefficients. Least squares and ridge regression have a closed form; logistic
regression takes a few Newton steps, which end far below the tolerance of scikit-learn's solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from ppfs._block import Block
from ppfs._models import KnownParameters
from ppfs._rows import Split
from ppfs._table import Table
from ppfs._types import Floats
from ppfs.independence._predictive.losses import Output
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.models import ModelRisks
from ppfs.independence._predictive.risks.paired import PairedRisks

# solve(estimator, X of shape (n_train, n_columns), y) returns slopes and intercepts, one of each a column.
Solver = Callable[[Any, Floats, NDArray[Any]], tuple[Floats, Floats]]

_MAX_NEWTON_STEPS = 100
_NEWTON_TOLERANCE = 1e-9

# Parameters of an iteration have no effect: here it ends at the optimum. The penalty of logistic regression is the
# square of the slope times 1 / (2 C). liblinear is not among its solvers, because it penalises the intercept too.
_KNOWN = {
    LinearRegression: KnownParameters(
        read=("fit_intercept",), only={"positive": (False,)}, without_effect=("copy_X", "n_jobs", "tol")
    ),
    Ridge: KnownParameters(
        read=("alpha", "fit_intercept"),
        only={"positive": (False,), "solver": ("auto", "cholesky", "svd")},
        without_effect=("copy_X", "max_iter", "random_state", "tol"),
    ),
    LogisticRegression: KnownParameters(
        read=("C", "fit_intercept"),
        only={
            "penalty": ("l2", "deprecated"),
            "l1_ratio": (None, 0.0),
            "dual": (False,),
            "solver": ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"),
            "class_weight": (None,),
            "multi_class": ("auto", "deprecated", "ovr"),
        },
        without_effect=(
            "intercept_scaling",
            "max_iter",
            "n_jobs",
            "random_state",
            "tol",
            "verbose",
            "warm_start",
        ),
    ),
}


def linear_solver(problem: Problem, table: Table) -> Solver | None:
    """Return how to fit all columns at once, or None where that is not possible."""
    is_wide = table.codes.ndim > 1 and problem.y.ndim == 1  # The target may be among the columns.
    if (
        table.is_sparse
        or table.is_mixed
        or table.has_feature_groups
        or is_wide
        or problem.loss.name == "callable"
    ):
        return None
    if problem.weights.fit is not None or problem.impute is not None or problem.y.ndim > 1:
        return None
    estimator = problem.estimator
    kind = type(estimator)
    if kind not in _KNOWN or _KNOWN[kind].first_unknown(estimator) is not None:
        return None
    if kind is not LogisticRegression:
        return _least_squares if np.ndim(getattr(estimator, "alpha", 0.0)) == 0 else None
    # An infinite C, which is no penalty, may have no optimum.
    is_plain = problem.classes.size == 2 and np.isfinite(estimator.C)
    return _maximise_likelihood if is_plain else None


class LinearRisks(ModelRisks):
    """`ModelRisks` that grows without fitting column after column."""

    def __init__(
        self, table: Table, problem: Problem, n_jobs: int | None, reason: str, solve: Solver
    ) -> None:
        super().__init__(table, problem, n_jobs, reason)
        self.note += "; growth is computed for all columns at once"
        self._solve = solve

    def grower(self) -> Grower:
        """Return what fits all columns of a block at once."""
        return LinearGrower(self.problem, self._solve)


@dataclass(frozen=True)
class LinearGrower(Grower):
    """Fits a linear model to each column of a block, all of them at once."""

    problem: Problem
    solve: Solver
    bytes_per_block = 2**20
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        # Two columns at least: NumPy adds up a single column in another order than one of several, and a
        # column's answer must not depend on its neighbours.
        columns = np.asarray(block.X[:, [*range(block.n_columns), 0]], dtype=np.float64)
        by_split = [_split_risks(self.problem, self.solve, columns, split) for split in self.problem.splits]
        base, replaced = (np.concatenate(part, axis=1)[:-1] for part in list(zip(*by_split, strict=True))[:2])
        over_pairs = np.sum([totals for _, _, totals in by_split], axis=0)[:-1]
        by_draw = over_pairs / base.shape[1] if self.problem.is_by_row else None
        n_columns = block.n_columns
        one_each = np.ones(n_columns, dtype=np.intp)
        return PairedRisks(base, replaced, np.zeros(n_columns, dtype=bool), by_draw, one_each)


def _split_risks(
    problem: Problem, solve: Solver, block: Floats, split: Split
) -> tuple[Floats, Floats, Floats]:
    """Compare each column of a block with its shuffled self in one split.

    Returns
    -------
    base, replaced : ndarray of shape (n_columns, n_pairs)
        See `PairedRisks`.

    over_pairs : ndarray of shape (n_columns, n_draws)
        Sum over the pairs of this split.
    """
    slopes, intercepts = solve(problem.estimator, block[split.train], problem.truth[split.train])
    outputs = block[split.test] * slopes + intercepts
    base = _compared_losses(problem, split, outputs)
    replaced, over_pairs = np.zeros_like(base), np.empty((len(base), problem.n_draws))
    for draw, permutation in enumerate(split.permutations):
        # A model of one column predicts from that column alone: permuting it permutes the predictions.
        losses = _compared_losses(problem, split, outputs[permutation])
        replaced += losses
        over_pairs[:, draw] = losses.sum(axis=1)
    return base, replaced / problem.n_draws, over_pairs


def _compared_losses(problem: Problem, split: Split, outputs: Floats) -> Floats:
    """Return each column's losses, or their mean, from linear outputs of shape (n_rows, n_columns)."""
    n_columns = outputs.shape[1]
    prediction = _as_predicted(outputs.T.ravel(), problem.loss.output)
    truth = np.tile(problem.truth[split.test], n_columns)
    by_row: Floats = problem.loss.rows(truth, prediction).reshape(n_columns, -1)
    return problem.weights.weighed(by_row, split.test, problem.is_by_row)


def _as_predicted(outputs: Floats, wanted: Output) -> NDArray[Any]:
    """Turn linear outputs into what a loss is computed from; see `predict`."""
    if wanted == "values":
        return outputs
    if wanted == "labels":
        return (outputs > 0).astype(np.intp)
    if wanted == "margins":
        return np.column_stack([-outputs / 2.0, outputs / 2.0])
    return np.column_stack([expit(-outputs), expit(outputs)])


def _least_squares(estimator: Any, X: Floats, y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Minimise the sum of squared errors plus alpha times the square of the slope."""
    penalty = float(getattr(estimator, "alpha", 0.0))
    x_mean = X.mean(axis=0) if estimator.fit_intercept else np.zeros(X.shape[1])
    y_mean = float(y.mean()) if estimator.fit_intercept else 0.0
    centred = X - x_mean
    centred[:, np.ptp(X, axis=0) == 0] *= not estimator.fit_intercept
    squares = (centred**2).sum(axis=0) + penalty
    slopes = np.divide(
        ((y - y_mean)[:, np.newaxis] * centred).sum(axis=0),
        squares,
        out=np.zeros_like(squares),
        where=squares > 0,
    )
    return slopes, y_mean - slopes * x_mean


def _maximise_likelihood(estimator: Any, X: Floats, y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Minimise C times the negative log-likelihood plus half the square of the slope, by Newton's method.

    Columns are standardised first, which changes nothing but the numbers' size: the penalty is rescaled with
    them. A step that does not lower the objective is halved.
    """
    n_rows, n_columns = X.shape
    if (y == y[0]).all():
        # A train part of one class predicts that class, whatever the column.
        return np.zeros(n_columns), np.full(n_columns, np.inf if y[0] else -np.inf)
    x_mean, x_scale = (X.mean(axis=0), X.std(axis=0)) if estimator.fit_intercept else (0.0, X.std(axis=0))
    x_scale = np.where(x_scale > 0, x_scale, 1.0)
    Z = (X - x_mean) / x_scale
    penalty = 1.0 / (estimator.C * x_scale**2)
    sign = np.where(y == 1, 1.0, -1.0)[:, np.newaxis]

    def objective(slopes: Floats, intercepts: Floats) -> Floats:
        value: Floats = (
            np.logaddexp(0.0, -sign * (Z * slopes + intercepts)).sum(axis=0) + penalty * slopes**2 / 2.0
        )
        return value

    slopes, intercepts = np.zeros(n_columns), np.zeros(n_columns)
    value = objective(slopes, intercepts)
    for _ in range(_MAX_NEWTON_STEPS):
        residual = sign * expit(-sign * (Z * slopes + intercepts))
        weight = np.abs(residual) * (1.0 - np.abs(residual))
        gradient = (Z * residual).sum(axis=0) - penalty * slopes, residual.sum(axis=0)
        is_done = np.max(np.abs(gradient), axis=0) <= _NEWTON_TOLERANCE * n_rows
        if is_done.all():
            break
        step = _newton_step(gradient, Z, weight, penalty, estimator.fit_intercept)
        # A column that has converged stays where it is, however many steps its neighbours need.
        size = np.where(is_done, 0.0, 1.0)
        while True:
            trial = slopes + size * step[0], intercepts + size * step[1]
            trial_value = objective(*trial)
            is_worse = trial_value > value + 1e-12 * np.abs(value)
            if not is_worse.any() or size[is_worse].max() < 1e-10:
                break
            size[is_worse] /= 2.0
        slopes, intercepts = (
            np.where(is_worse, old, new) for old, new in zip((slopes, intercepts), trial, strict=True)
        )
        value = np.where(is_worse, value, trial_value)
    return slopes / x_scale, intercepts - slopes * x_mean / x_scale


def _newton_step(
    gradient: tuple[Floats, Floats], Z: Floats, weight: Floats, penalty: Floats, has_intercept: bool
) -> tuple[Floats, Floats]:
    """Solve one 2 x 2 system a column; the second unknown is the intercept."""
    ww = (weight * Z**2).sum(axis=0) + penalty
    if not has_intercept:
        return gradient[0] / ww, np.zeros_like(ww)
    wb = (weight * Z).sum(axis=0)
    bb = weight.sum(axis=0)
    determinant = ww * bb - wb**2
    return (bb * gradient[0] - wb * gradient[1]) / determinant, (
        ww * gradient[1] - wb * gradient[0]
    ) / determinant
