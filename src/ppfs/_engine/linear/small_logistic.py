"""Logistic regression of small tables in NumPy: nothing is compiled.

Newton's method as in `ppfs._engine.linear.logistic`, for all columns of a block at once. Sums are added up in another
order, so coefficients differ from those of the kernels by rounding.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppfs._engine.jit.kernels import Float64s, Int64s
from ppfs._engine.linear.cholesky import FIRST_RIDGE, SMALLEST_PIVOT
from ppfs._engine.linear.logistic import MAX_HALVINGS, MAX_STEPS, ROUNDING


@dataclass(frozen=True)
class _Models:
    """Models of some columns, each with its own design.

    Attributes
    ----------
    design : array of shape (n_columns, n_regressors, n_rows)
    penalties : array of shape (n_columns, n_regressors)
    is_class : array of shape (n_scores, n_rows)
        1.0 where a row is of the class of a score.
    weights : array of shape (n_rows,), or 1.0
    n_symmetric : int
        The number of classes if the penalty applies to one coefficient per class, with sum zero; else 0.
    """

    design: Float64s
    penalties: Float64s
    is_class: Float64s
    weights: Float64s | float
    n_symmetric: int

    def some(self, columns: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> "_Models":
        """Return some of the models."""
        return replace(self, design=self.design[columns], penalties=self.penalties[columns])

    def evaluate(self, theta: Float64s) -> tuple[Float64s, Float64s]:
        """Return the penalized negative log-likelihoods, and the probabilities of all classes but the first.

        Parameters
        ----------
        theta : array of shape (n_columns, n_scores, n_regressors)
        """
        scores = theta @ self.design
        top = np.maximum(scores.max(axis=1), 0.0)
        behind = top - (scores * self.is_class).sum(axis=1)
        shares = np.exp(scores - top[:, np.newaxis])
        total = np.exp(-top) + shares.sum(axis=1)
        values = (self.weights * (behind + np.log(total))).sum(axis=1)
        squares = (theta**2).sum(axis=1)
        if self.n_symmetric:
            squares -= theta.sum(axis=1) ** 2 / self.n_symmetric
        return values + 0.5 * (self.penalties * squares).sum(axis=1), shares / total[:, np.newaxis]

    def derivatives(self, theta: Float64s, shares: Float64s) -> tuple[Float64s, Float64s]:
        """Return gradients of the log-likelihood, and the negatives of its second derivatives."""
        n_columns, n_scores, n_regressors = theta.shape
        transposed = self.design.transpose(0, 2, 1)
        shared = theta.sum(axis=1, keepdims=True) / self.n_symmetric if self.n_symmetric else 0.0
        gradients = (self.weights * (self.is_class - shares)) @ transposed
        gradients -= self.penalties[:, np.newaxis] * (theta - shared)
        information = np.empty((n_columns, n_scores, n_regressors, n_scores, n_regressors))
        places = np.arange(n_regressors)
        for a in range(n_scores):
            for b in range(a + 1):
                joint = self.weights * shares[:, a] * (float(a == b) - shares[:, b])
                block = (self.design * joint[:, np.newaxis]) @ transposed
                part = float(a == b) - (1.0 / self.n_symmetric if self.n_symmetric else 0.0)
                block[:, places, places] += part * self.penalties
                information[:, a, :, b] = information[:, b, :, a] = block
        n_unknown = n_scores * n_regressors
        return gradients.reshape(n_columns, -1), information.reshape(n_columns, n_unknown, n_unknown)

    def maximize(self, theta: Float64s, tolerance: float) -> None:
        """Move coefficients to the maximum, as in `ppfs._engine.linear.logistic`: every model by itself."""
        left = np.arange(len(theta))
        models, now = self, theta
        values, shares = models.evaluate(now)
        for _ in range(MAX_STEPS):
            gradients, information = models.derivatives(now, shares)
            steps = _solved(information, gradients)
            is_last = ~((gradients * steps).sum(axis=1) > tolerance)
            now, values, shares, is_better = models.moved(
                now, values, shares, steps.reshape(now.shape), is_last
            )
            theta[left] = now
            goes_on = is_better & ~is_last
            if not goes_on.any():
                break
            if not goes_on.all():
                left, models = left[goes_on], models.some(goes_on)
                now, values, shares = now[goes_on], values[goes_on], shares[goes_on]

    def moved(
        self,
        theta: Float64s,
        values: Float64s,
        shares: Float64s,
        steps: Float64s,
        is_last: npt.NDArray[np.bool_],
    ) -> tuple[Float64s, Float64s, Float64s, npt.NDArray[np.bool_]]:
        """Take a step, halved until it is an improvement; where it is the last one, it is taken whole or not at all."""
        sizes = np.ones((len(theta), 1, 1))
        trial = theta + steps
        reached, new_shares = self.evaluate(trial)
        bounds = values + ROUNDING * np.abs(values)
        for _ in range(MAX_HALVINGS - 1):
            again = np.flatnonzero(~((reached <= bounds) | is_last))
            if not again.size:
                break
            sizes[again] /= 2.0
            trial[again] = theta[again] + sizes[again] * steps[again]
            reached[again], new_shares[again] = self.some(again).evaluate(trial[again])
        is_better = reached <= bounds
        kept = is_better[:, np.newaxis, np.newaxis]
        return np.where(kept, trial, theta), np.where(is_better, reached, values), new_shares, is_better


def small_logistic_columns(
    regressors: Float64s,
    classes: Int64s,
    weights: Float64s,
    n_classes: int,
    penalty: float,
    has_intercept: bool,
    is_symmetric: bool,
    tolerance: float,
) -> tuple[Float64s, Float64s]:
    """Fit one model per column of a block: see `ppfs._engine.logistic_columns`."""
    n_regressors, n_rows, n_columns = regressors.shape
    # Rows are contiguous, so that the sums of a column do not depend on the other columns.
    rows = np.ascontiguousarray(regressors.transpose(2, 0, 1))
    centers, scales = np.zeros((n_columns, n_regressors)), np.ones((n_columns, n_regressors))
    is_constant = np.zeros((n_columns, n_regressors), dtype=np.bool_)
    if has_intercept:
        # A constant regressor is redundant with the intercept.
        is_constant = (rows == rows[:, :, :1]).all(axis=2)
        centers = np.where(is_constant, rows[:, :, 0], rows.mean(axis=2))
        rows = rows - centers[:, :, np.newaxis]
    spreads = np.sqrt((rows * rows).sum(axis=2) / n_rows)
    scales[spreads > 0.0] = spreads[spreads > 0.0]
    rows = rows / scales[:, :, np.newaxis]
    penalties = np.where(is_constant, 1.0, penalty / (scales * scales))
    theta = np.zeros((n_columns, n_classes - 1, n_regressors + int(has_intercept)))
    if has_intercept:
        rows = np.concatenate([rows, np.ones((n_columns, 1, n_rows))], axis=1)
        penalties = np.hstack([penalties, np.zeros((n_columns, 1))])
        totals = np.bincount(classes, weights if weights.size else None, minlength=n_classes)
        if totals[0] > 0.0:
            known = np.where(totals[1:] > 0.0, totals[1:], totals[0])
            theta[:, :, n_regressors] = np.log(known / totals[0])
    is_class = np.asarray(classes == np.arange(1, n_classes)[:, np.newaxis], dtype=np.float64)
    own = weights if weights.size else 1.0
    models = _Models(rows, penalties, is_class, own, n_classes if is_symmetric else 0)
    models.maximize(theta, tolerance)
    coefficients = theta[:, :, :n_regressors] / scales[:, np.newaxis]
    intercepts = theta[:, :, n_regressors:].sum(axis=2) - (coefficients * centers[:, np.newaxis]).sum(axis=2)
    return coefficients, intercepts


def _solved(matrices: Float64s, right: Float64s) -> Float64s:
    """Return the solutions of systems with positive matrices; where one is not unique, one of small norm."""
    try:
        if _are_regular(matrices):
            return np.asarray(np.linalg.solve(matrices, right[:, :, np.newaxis])[:, :, 0])
    except np.linalg.LinAlgError:
        pass
    return np.stack([_solved_alone(matrix, one) for matrix, one in zip(matrices, right, strict=True)])


def _solved_alone(matrix: Float64s, right: Float64s) -> Float64s:
    ridge, trace = 0.0, float(np.trace(matrix))
    while ridge < 1e300:
        regular = matrix + ridge * np.eye(right.size)
        try:
            if _are_regular(regular[np.newaxis]):
                return np.asarray(np.linalg.solve(regular, right))
        except np.linalg.LinAlgError:
            pass
        ridge = 100.0 * ridge if ridge > 0.0 else FIRST_RIDGE * max(trace, 1e-300)
    return np.zeros_like(right)


def _are_regular(matrices: Float64s) -> bool:
    """Return whether no pivot is so small that it is due to rounding; raise where there are none."""
    pivots = np.diagonal(np.linalg.cholesky(matrices), axis1=1, axis2=2) ** 2
    return bool((pivots > SMALLEST_PIVOT * np.diagonal(matrices, axis1=1, axis2=2)).all())
