"""A regularized linear fit from which boosting starts: ridge or logistic regression on standardized columns.

The penalty applies to the coefficients of standardized columns, so it does not depend on the units. A missing value is
replaced by the mean of its column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from ppfs._engine.boosting.problem import BoostingProblem
from ppfs._engine.boosting.rules import BoostingRules, Kind
from ppfs._engine.jit.kernels import Float64s
from ppfs._engine.linear.least_squares import (
    independent_rows,
    products,
    ridge_columns,
    row_products,
    solve_ridge,
    solve_symmetric,
)
from ppfs._engine.linear.logistic import Likelihood, fit_scores, logistic_columns
from ppfs._engine.linear.small_logistic import small_logistic_columns

# A logistic fit has converged when the expected improvement per row by a Newton step is below this.
_TOLERANCE = 1e-12

# Rows are linearly independent if more than this share of each is not explained by the others.
_SMALLEST_SHARE = 1e-12


@dataclass(frozen=True)
class LinearStart:
    """A linear fit.

    Attributes
    ----------
    center : array of shape (n_columns,)
        Means of the columns, which replace missing values.
    slopes : array of shape (n_trees, n_columns)
        In the units of the columns. One row for regression and for two classes, else one row per class.
    intercepts : array of shape (n_trees,)
    """

    center: Float64s
    slopes: Float64s
    intercepts: Float64s

    def raw(self, X: Float64s) -> Float64s:
        """Return raw predictions, shape (n_rows, n_trees)."""
        # Not a matrix product, because the prediction for a row must not depend on other rows.
        known = np.where(np.isnan(X), self.center, X)
        predicted: Float64s = np.einsum("ij,kj->ik", known, self.slopes) + self.intercepts
        return predicted


def boosted_linear_rules(
    parameters: Mapping[str, Any], n_classes: int, loss: str | None = None
) -> BoostingRules:
    """Return the rules of the trees that follow a linear fit.

    The size of a leaf is limited by its weight instead of its number of rows, so a row of weight 2 is the same as two
    rows. The hessian of a row is its weight for regression, and at most a quarter of its weight for classification.

    Parameters
    ----------
    parameters : mapping
        Those of the models in `ppfs.models`.
    loss : str or None
        The loss that scores predictions; None if they are not scored.
    """
    share = 4.0 if n_classes else 1.0
    return BoostingRules(
        learning_rate=parameters["learning_rate"],
        max_iter=parameters["n_rounds"],
        max_leaf_nodes=None,
        max_depth=parameters["max_depth"],
        min_samples_leaf=1,
        l2_regularization=parameters["l2_regularization"] / share,
        max_bins=parameters["max_bins"],
        has_weighted_bins=False,
        min_hessian=parameters["min_leaf_weight"] / share,
        loss=loss or ("log-loss" if n_classes else "squared"),
    )


def fit_linear(
    X: Float64s, labels: Float64s, kind: int, n_trees: int, alpha: float, weights: Float64s | None = None
) -> LinearStart:
    """Fit ridge regression, or logistic regression with the same kind of penalty.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        NaN is a missing value.
    labels : array of shape (n_rows,)
        Numbers, or class codes from 0 as floats.
    n_trees : int
        1, or the number of classes if there are more than two.
    alpha : float
        Factor of the squared coefficients of standardized columns in the penalty; half of it for classification.
    weights : array of shape (n_rows,) or None
    """
    center, scale, Z = _standardized(X, weights)
    if kind == Kind.ONE_CLASS:
        return LinearStart(center, np.zeros((n_trees, X.shape[1])), np.zeros(n_trees))
    if kind == Kind.NUMBERS:
        slopes, intercepts = _ridge(Z, labels, alpha, weights)
    else:
        slopes, intercepts = _logistic(Z, labels, max(2, n_trees), alpha, weights)
    slopes = slopes / scale
    return LinearStart(center, slopes, intercepts - (slopes * center).sum(axis=1))


def fit_lines(
    block: npt.ArrayLike, problem: BoostingProblem, alpha: float, *, is_small: bool = False
) -> Float64s:
    """Fit one line per column and split, from which `boosted_column_losses` starts.

    Parameters
    ----------
    is_small : bool
        Whether logistic regressions are fitted in NumPy.

    Returns
    -------
    array of shape (n_columns, n_splits, n_trees, 3)
        Intercepts, slopes, and means of the columns.
    """
    columns = np.asarray(block, dtype=np.float64)
    lines = np.zeros((columns.shape[1], problem.n_splits, problem.n_trees, 3))
    for split, rows in enumerate(problem.train):
        kind, n_trees = int(problem.train_parts.kinds[split]), int(problem.train_parts.n_trees[split])
        # Columns are contiguous in memory, so the sums of a column do not depend on its neighbors.
        own = problem.weights_of(split)
        center, scale, Z = _standardized(np.asfortranarray(columns[rows]), own)
        lines[:, split, :, 2] = center[:, np.newaxis]
        if kind == Kind.ONE_CLASS:
            continue
        labels, regressors = problem.train_parts.labels[split, rows], np.ascontiguousarray(Z[np.newaxis])
        if kind == Kind.NUMBERS:
            weights = np.ones(rows.size) if own is None else own
            slopes, intercept, _ = ridge_columns(regressors, weights, labels, alpha, True)
            intercepts = intercept[:, np.newaxis]
        else:
            n_classes, tolerance = max(2, n_trees), _TOLERANCE * rows.size
            codes, weights = labels.astype(np.int64), np.empty(0) if own is None else own
            fit_all = small_logistic_columns if is_small else logistic_columns
            scores, intercepts = fit_all(
                regressors, codes, weights, n_classes, alpha, True, n_classes > 2, tolerance
            )
            slopes, intercepts = _by_tree(scores[:, :, 0]), _by_tree(intercepts)
        lines[:, split, :n_trees, 1] = slopes / scale[:, np.newaxis]
        lines[:, split, :n_trees, 0] = intercepts - lines[:, split, :n_trees, 1] * center[:, np.newaxis]
    return lines


def _standardized(X: Float64s, weights: Float64s | None) -> tuple[Float64s, Float64s, Float64s]:
    """Return means, standard deviations, and the standardized columns, with missing values replaced by 0."""
    is_missing = np.isnan(X)
    known = np.where(is_missing, 0.0, X)
    shares = (~is_missing).astype(np.float64)
    if weights is not None:
        shares *= weights[:, np.newaxis]
    totals = np.maximum(np.einsum("ij->j", shares), np.finfo(np.float64).tiny)
    center = np.einsum("ij,ij->j", shares, known) / totals
    Z = np.where(is_missing, 0.0, known - center)
    spread = np.sqrt(np.einsum("ij,ij,ij->j", shares, Z, Z) / totals)
    # A constant column differs from its mean by rounding only.
    scale = np.where(spread > 1e-12 * np.abs(center), spread, np.inf)
    scale[spread == 0.0] = np.inf
    return center, scale, Z / scale


def _ridge(Z: Float64s, y: Float64s, alpha: float, weights: Float64s | None) -> tuple[Float64s, Float64s]:
    """Fit ridge regression; with more columns than rows, solve the dual system, which is smaller."""
    own = np.ones(y.size) if weights is None else weights
    root, total = np.sqrt(own), own.sum()
    means = np.einsum("ij,i->j", Z, own) / total
    y_mean = (y * own).sum() / total
    design = np.ascontiguousarray(((Z - means) * root[:, np.newaxis]).T)
    target = (y - y_mean) * root
    slopes = np.empty(len(design))
    if len(design) <= y.size:
        is_solved = solve_ridge(design, products(design), target, alpha, slopes)
    else:
        shares = np.empty(y.size)
        is_solved = solve_symmetric(row_products(design), target, alpha, shares)
        slopes = np.einsum("ri,i->r", design, shares)
    if not is_solved:
        padded = np.vstack([design.T, np.sqrt(alpha) * np.eye(len(design))])
        slopes = np.linalg.lstsq(padded, np.append(target, np.zeros(len(design))), rcond=None)[0]
    return slopes[np.newaxis], np.array([y_mean - (means * slopes).sum()])


def _logistic(
    Z: Float64s, labels: Float64s, n_classes: int, alpha: float, weights: Float64s | None
) -> tuple[Float64s, Float64s]:
    """Fit logistic regression; with more columns than rows, on shorter rows with the same inner products."""
    n_rows, n_columns = Z.shape
    design = np.ascontiguousarray(Z.T)
    pivots = None
    if n_columns > n_rows:
        design, pivots = independent_rows(row_products(design), _SMALLEST_SHARE)
    problem = Likelihood(
        np.ascontiguousarray(np.vstack([design, np.ones(n_rows)])),
        labels.astype(np.int64),
        np.empty(0) if weights is None else weights,
        np.append(np.full(len(design), alpha), 0.0),
        n_classes,
        n_classes > 2,
    )
    scores, _ = fit_scores(problem, np.zeros((n_classes - 1, len(design) + 1)), _TOLERANCE * n_rows)
    slopes = scores[:, :-1]
    if pivots is not None:
        shares = solve_triangular(design[:, pivots], slopes.T, check_finite=False)
        slopes = np.einsum("kr,ka->ar", Z[pivots], shares)
    return _by_tree(slopes.T).T, _by_tree(scores[:, -1])


def _by_tree(scores: Float64s) -> Float64s:
    """Convert scores relative to class 0, in the last axis, to one score per tree of a round."""
    if scores.shape[-1] == 1:
        return scores
    all_scores = np.concatenate([np.zeros((*scores.shape[:-1], 1)), scores], axis=-1)
    centered: Float64s = all_scores - all_scores.mean(axis=-1, keepdims=True)
    return centered
