"""Ridge regressions of many responses on one design, each with its own penalty, from one decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats, as_many_as_fit

_PENALTIES = np.logspace(-3, 4, 15)

# The penalty is this many steps below that of the smallest leave-one-out error: the bias of a penalty remains however
# many rows there are, while the variance of a smaller one averages out in the test. With few rows, one step less.
_STEPS_BELOW, _FEW_ROWS = 2, 250

# Rows are left out in this many blocks, where there are at most this many rows.
BLOCKS, _MOST_IN_BLOCKS = 5, 5000

# Where rows belong to groups, whole groups are left out, in this many folds.
_FOLDS = 5

# Rows that are copied at once, and values that are compared at once.
_ROWS_AT_ONCE, _VALUES_AT_ONCE = 2**14, 2**18

# Keeps rows that determine a direction by themselves from an infinite residual.
_RIDGE = 1e-6

# Directions of the design that are smaller than this share of the largest are rounding error.
_SMALLEST = 1e-9


@dataclass(frozen=True)
class Residuals:
    """What is left of some responses.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_responses)

    penalties : ndarray of int, shape (n_responses,)
        The number of the penalty of each response.

    explained : ndarray of shape (n_responses,)
        The share of its sum of squares that the design explains of left-out rows.
    """

    values: Floats
    penalties: NDArray[np.intp]
    explained: Floats

    def some(self, columns: slice) -> Residuals:
        """Return those of some of the responses."""
        return Residuals(self.values[:, columns], self.penalties[columns], self.explained[columns])


class Smoother:
    """Ridge regression on a design, with penalties that minimize the leave-one-out error.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_regressors) or sequence of such arrays, side by side
        A design of several parts is not copied as a whole, where there are several blocks of rows.

    roots : ndarray of shape (n_rows,)
        The square roots of the rows' weights. The design is multiplied by them after its weighted means are
        subtracted; so are the responses, by the caller.

    groups : ndarray of int, shape (n_rows,), or None
        Rows of a group are not independent: penalties minimize the error of groups that are left out as a whole.
    """

    def __init__(
        self, design: Floats | Sequence[Floats], roots: Floats, groups: NDArray[np.intp] | None = None
    ) -> None:
        parts = [design] if isinstance(design, np.ndarray) else list(design)
        self.n_rows = len(parts[0])
        if len(parts) > 1 and len(self._blocks) == 1:
            parts = [np.concatenate(parts, axis=1)]
        self._groups = groups
        n_units = self.n_rows if groups is None else int(groups.max()) + 1
        self._n_below = _STEPS_BELOW - (n_units < _FEW_ROWS)
        self._own = roots**2 / (roots**2).sum()
        means = np.concatenate([self._own @ part for part in parts])
        is_weighted = bool((roots != 1.0).any())

        def centered(rows: slice) -> Floats:
            some = [part[rows] for part in parts]
            block: Floats = (some[0] if len(some) == 1 else np.concatenate(some, axis=1)) - means
            if is_weighted:
                block *= roots[rows, np.newaxis]
            return block

        if means.size < self.n_rows:
            # A single block is kept.
            blocks = map(centered, self._blocks) if len(self._blocks) > 1 else [centered(slice(None))]
            first, *others = [block.T @ block for block in blocks]
            sizes, vectors = _directions(sum(others, first))
            self._basis: Floats = np.empty((self.n_rows, sizes.size))
            scaled = vectors / np.sqrt(sizes)
            again = map(centered, self._blocks) if others else blocks
            for rows, block in zip(self._blocks, again, strict=True):
                np.matmul(block, scaled, out=self._basis[rows])
        else:
            everything = centered(slice(None))
            sizes, self._basis = _directions(everything @ everything.T)
        self._shrinkage: Floats = sizes[:, np.newaxis] / (sizes[:, np.newaxis] + _PENALTIES)
        self._factors: dict[tuple[int, int], float] = {}

    @property
    def _blocks(self) -> list[slice]:
        """The rows in blocks: in a table of a million rows each copy of a design would take half a gigabyte."""
        return [slice(first, first + _ROWS_AT_ONCE) for first in range(0, self.n_rows, _ROWS_AT_ONCE)]

    def _leverage(self, shares: Floats) -> Floats:
        """Return each row's leverage in a fit that keeps these shares of the directions, (n_directions,) or more."""
        return np.concatenate([self._basis[rows] ** 2 @ shares for rows in self._blocks])

    def _left_out(self, shares: Floats) -> Floats:
        """Return one minus the leverage of each row, (n_rows, n_fits), for shares of shape (n_directions, n_fits)."""
        return self._less_leverage(slice(None), self._leverage(shares))

    def _less_leverage(self, rows: slice, leverage: Floats) -> Floats:
        left: Floats = 1.0 - self._own[rows, np.newaxis] - leverage
        return np.maximum(left, 1e-6)

    @cached_property
    def _left_out_by_penalty(self) -> Floats:
        """The same of all penalties, a row per penalty."""
        return np.ascontiguousarray(self._left_out(self._shrinkage).T)

    def _some_left_out_by_penalty(self, rows: slice) -> Floats:
        """Return the same of some rows; of a table of a million rows all of them would take 120 megabytes."""
        if self.n_rows <= _ROWS_AT_ONCE:
            return self._left_out_by_penalty[:, rows]
        return np.ascontiguousarray(self._less_leverage(rows, self._basis[rows] ** 2 @ self._shrinkage).T)

    def residuals(self, responses: Floats, penalties: NDArray[np.intp] | None = None) -> Residuals:
        """Return what is left of centered responses.

        Parameters
        ----------
        penalties : ndarray of int, shape (n_responses,), default=None
            The number of the penalty of each; those of the smallest error of left-out rows by default.
        """
        coefficients = self._basis.T @ responses
        total = np.einsum("ij,ij->j", responses, responses)
        total = np.where(total > 0.0, total, 1.0)
        if penalties is not None:
            values = self._less_fitted(responses, coefficients, penalties)
            used, places = np.unique(penalties, return_inverse=True)
            left_out, squares = self._left_out(self._shrinkage[:, used]), np.zeros(total.shape)
            for rows in self._blocks:
                left = values[rows] / left_out[rows][:, places]
                squares += np.einsum("ij,ij->j", left, left)
            return Residuals(values, penalties, 1.0 - squares / total)
        errors = self._errors(responses, coefficients)
        chosen = np.maximum(errors.argmin(axis=0) - self._n_below, 0)
        values = self._less_fitted(responses, coefficients, chosen)
        return Residuals(values, chosen, 1.0 - errors.min(axis=0) / total)

    def _less_fitted(self, responses: Floats, coefficients: Floats, penalties: NDArray[np.intp]) -> Floats:
        """Return responses less what is fitted to them."""
        fitted: Floats = self._basis @ (self._shrinkage[:, penalties] * coefficients)
        return np.subtract(responses, fitted, out=fitted)

    def may_agree(self, responses: Floats, residual: Floats) -> NDArray[np.bool_]:
        """Return which responses leave, under some penalty, residuals whose products with others add up to more than 0.

        Parameters
        ----------
        responses : ndarray of shape (n_rows, n_responses)
            Centered.

        residual : ndarray of shape (n_rows,)
        """
        agreement = (self._basis.T @ responses) * (self._basis.T @ residual)[:, np.newaxis]
        of_penalties = (residual @ responses)[:, np.newaxis] - agreement.T @ self._shrinkage
        return np.asarray((of_penalties > 0.0).any(axis=1))

    def _errors(self, responses: Floats, coefficients: Floats) -> Floats:
        """Return the sums of squares of left-out rows, or groups, for each penalty: (n_penalties, n_responses)."""
        if self._groups is not None:
            kept = (
                responses - self._basis @ (shrinkage[:, np.newaxis] * coefficients)
                for shrinkage in self._shrinkage.T
            )
            left_out = (self._without_groups(residuals, number) for number, residuals in enumerate(kept))
            return np.stack([np.einsum("ij,ij->j", left, left) for left in left_out])
        # All penalties at once: one product of matrices takes a fraction of the time of fifteen.
        errors = np.zeros((_PENALTIES.size, responses.shape[1]))
        shrunk = (self._shrinkage.T[:, np.newaxis] * coefficients.T).reshape(errors.size, -1)
        at_once = as_many_as_fit(_VALUES_AT_ONCE, errors.size)
        for first in range(0, self.n_rows, at_once):
            rows = slice(first, first + at_once)
            left = (shrunk @ self._basis[rows].T).reshape(*errors.shape, -1)
            np.subtract(responses[rows].T, left, out=left)
            left /= self._some_left_out_by_penalty(rows)[:, np.newaxis]
            errors += np.einsum("pri,pri->pr", left, left)
        return errors

    @cached_property
    def _directions(self) -> Floats:
        """The mean, which has no penalty, and the directions of the design: shape (n_rows, n_directions)."""
        return np.column_stack([np.sqrt(self._own), self._basis])

    def _kept(self, penalty: int) -> Floats:
        """Return the share of each direction that a fit keeps."""
        return np.concatenate([[1.0], self._shrinkage[:, penalty]])

    @cached_property
    def _folds(self) -> list[tuple[NDArray[np.intp], Floats]]:
        """The rows of each fold of groups, and the products of the directions there."""
        assert self._groups is not None
        folds = self._groups * _FOLDS // (int(self._groups.max()) + 1)
        rows = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        return [(part, self._directions[part].T @ self._directions[part]) for part in rows]

    def _without_groups(self, residuals: Floats, penalty: int) -> Floats:
        """Return the residuals of each fold of groups when it is predicted by the others.

        They are (I - H_BB)^-1 r_B, as in `left_out`, by the inverse of a matrix of the size of the design.
        """
        kept = self._kept(penalty)
        answer = np.empty_like(residuals)
        for rows, gram in self._folds:
            answer[rows] = _by_others(residuals[rows], self._directions[rows], kept, gram)
        return answer

    def left_out(self, residuals: Residuals) -> Floats:
        """Return the residuals of one response when every fifth of the rows is predicted by the others.

        Without the rows of a block B, their residuals are (I - H_BB)^-1 r_B, by the inverse of a matrix in blocks.
        With many rows there is little overfitting, and their own residuals are returned.
        """
        values = residuals.values[:, 0].copy()
        if self.n_rows > _MOST_IN_BLOCKS:
            return values
        kept = self._kept(int(residuals.penalties[0]))
        for first in range(BLOCKS):
            block = slice(first, None, BLOCKS)
            directions = np.column_stack([np.sqrt(self._own[block]), self._basis[block]])
            if len(directions) > kept.size:
                values[block] = _by_others(values[block], directions, kept) / (1.0 + _RIDGE)
            else:
                hat = directions * kept @ directions.T
                values[block] = np.linalg.solve(np.eye(len(hat)) * (1.0 + _RIDGE) - hat, values[block])
        return values

    def freedom(self, penalty: int) -> float:
        """Return the number of rows less the effective number of coefficients."""
        return max(2.0, self.n_rows - 1.0 - float(self._shrinkage[:, penalty].sum()))

    def inflation(self, penalty: int, other: int) -> float:
        """Return the variance of a sum of products of residuals, over the expected sum of their squares.

        Residuals of independent rows are not independent: those of M y and N x, with M = I - H, have products whose sum
        has the variance tr(M M N N) (in units of both variances), while the squares of the products add up to
        sum_i (M M)_ii (N N)_ii.
        """
        key = penalty, other
        if key not in self._factors:
            mine, theirs = ((1.0 - self._shrinkage[:, number]) ** 2 for number in key)
            left = [1.0 - self._own - self._leverage(1.0 - kept) for kept in (mine, theirs)]
            variance = float(mine @ theirs) + self.n_rows - 1.0 - mine.size
            self._factors[key] = max(variance, 1.0) / max(float(left[0] @ left[1]), 1e-12)
        return self._factors[key]

    @cached_property
    def _by_group(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """The rows sorted by group, where each group begins, and the sums of the directions in each group."""
        assert self._groups is not None
        order = np.argsort(self._groups, kind="stable")
        starts = np.flatnonzero(np.diff(self._groups[order], prepend=-1))
        return order, starts, np.add.reduceat(self._directions[order], starts)

    def group_inflation(self, penalty: int, function: Floats) -> float:
        """Return what `inflation` does where the noise of the target is the same in all rows of a group.

        With M = I - H of the target, whose noise is G e for the indicators G of the groups, and the residuals s of a
        function, the sum of products s' M G e has the variance |G' M s|^2. The squares of the sums over groups add up
        to the squared entries of G' diag(s) M G: less, where few groups determine many coefficients.
        """
        order, starts, sums = self._by_group
        kept = self._kept(penalty)
        own = np.add.reduceat(function[order], starts)
        weighted = np.add.reduceat(function[order, np.newaxis] * self._directions[order], starts)
        left = own - sums @ (kept * (self._directions.T @ function))
        fitted = weighted * kept
        squares = own @ own - 2.0 * own @ np.einsum("ij,ij->i", fitted, sums)
        squares += float(((fitted.T @ fitted) * (sums.T @ sums)).sum())
        return float(left @ left) / max(float(squares), 1e-12 * float(own @ own), 1e-300)


def _by_others(residuals: Floats, directions: Floats, kept: Floats, gram: Floats | None = None) -> Floats:
    """Return (I - H)^-1 r of some rows, where H = D K D' for their directions D, by a matrix of the size of K.

    Parameters
    ----------
    gram : ndarray of shape (n_directions, n_directions), default=None
        D'D, if it is known.
    """
    roots = np.sqrt(kept)
    inner = -roots[:, np.newaxis] * (directions.T @ directions if gram is None else gram) * roots
    inner.flat[:: len(inner) + 1] += 1.0 + _RIDGE
    scaled = directions * roots
    return np.asarray(residuals + scaled @ np.linalg.solve(inner, scaled.T @ residuals))


def _directions(gram: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a matrix that are more than rounding error, and their vectors."""
    sizes, vectors = np.linalg.eigh(gram)
    kept = sizes > _SMALLEST * max(sizes[-1], 1e-300)
    return sizes[kept], vectors[:, kept]
