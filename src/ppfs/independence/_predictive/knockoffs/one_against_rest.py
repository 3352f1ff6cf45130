"""Ridge regressions of every column of a table on all others, from one decomposition of lines and one of curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ppfs._conventions import Floats
from ppfs.independence._predictive.knockoffs.normal_scores import on_scales
from ppfs.independence._predictive.knockoffs.smooth_models import PENALTIES, curves_of, scale_of


@dataclass(frozen=True)
class _Penalized:
    """The decomposition with one penalty: what the residuals of any columns follow from."""

    scores: Floats
    inverse: Floats
    hat: Floats
    penalty: float


@dataclass(frozen=True)
class _Group:
    """Columns, as combinations of regressors.

    Attributes
    ----------
    places : ndarray of int, shape (n_places,)
        The regressors of the columns.

    combination : ndarray of shape (n_places, n_columns)
        Which combination of them each column is.
    """

    places: NDArray[np.intp]
    combination: Floats


class _Decomposed:
    """Ridge regressions of columns on regressors, each without those of the column itself.

    All of them follow from one singular value decomposition B = U S V'. With P = (B'B + a I)^-1 the residuals of the
    regressors G, given those outside G, are (B P)_G (P_GG)^-1, and the diagonal of the hat matrix of these regressions
    is diag(B P B') - diag((B P)_G (P_GG)^-1 (B P)_G'): both by the inverse of a matrix in blocks.

    Parameters
    ----------
    regressors : ndarray of shape (n_rows, n_regressors)
        Centered.
    """

    def __init__(self, regressors: Floats) -> None:
        self.n_rows = len(regressors)
        self._U, self._s, self.Vt = np.linalg.svd(regressors, full_matrices=False)

    def residuals_of(self, groups: Sequence[_Group]) -> list[tuple[Floats, float]]:
        """Return residuals of groups of columns given other regressors, and the sums of squared left-out errors."""
        best: list[tuple[Floats, float]] = [(np.empty(0), np.inf)] * len(groups)
        blocks = [self.Vt[:, group.places] for group in groups]
        outsides = [np.eye(Vt.shape[1]) - Vt.T @ Vt for Vt in blocks]
        for one in self.penalized():
            for number, (group, Vt, outside) in enumerate(zip(groups, blocks, outsides, strict=True)):
                BP = one.scores @ Vt
                block = (Vt.T * one.inverse) @ Vt + outside / one.penalty
                all_residuals: Floats = np.linalg.solve(block, BP.T).T.astype(np.float64)
                residuals = all_residuals @ group.combination
                own = (BP * all_residuals).sum(axis=1, keepdims=True)
                error = float(self.left_out(residuals, own, one).sum())
                if error < best[number][1]:
                    best[number] = residuals, error
        return best

    def penalized(self) -> Iterator[_Penalized]:
        """Yield the decomposition with each penalty."""
        U, s = self._U, self._s
        for penalty in PENALTIES:
            inverse = 1.0 / (s**2 + penalty)
            hat = ((U * s) ** 2 @ inverse)[:, np.newaxis]
            yield _Penalized(U * (s * inverse), inverse, hat, float(penalty))

    def left_out(self, residuals: Floats, own: Floats, one: _Penalized) -> Floats:
        """Return the sum of the squared errors of each column, each row predicted from the others."""
        # The mean of the rows is fitted too: it takes 1 / n of each row's weight.
        weights = np.maximum(1.0 - 1.0 / len(residuals) - one.hat + own, 1e-12)
        error: Floats = ((residuals / weights) ** 2).sum(axis=0)
        return error


class OneAgainstRest:
    """What each column is expected to be given all others, by ridge regression on lines or curves.

    The penalty of each column, and the choice between lines and curves, minimize its leave-one-out error. The
    regressions are those that `RidgeCV` would fit one by one. Curves need rows enough.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Numbers without missing values.
    """

    def __init__(self, X: Floats) -> None:
        self.X = X
        deviations = X.std(axis=0)
        self._scales = np.where(deviations == 0.0, 1.0, deviations)

    @cached_property
    def expected(self) -> Floats:
        """What is expected of each column given all others, shape (n_rows, n_columns)."""
        return self.X - self._each[0] * self._scales

    @cached_property
    def explained(self) -> Floats:
        """The share of each column's variance that lines of all others explain of left-out rows, shape (n_columns,)."""
        return 1.0 - self._by_lines[1] / len(self.X)

    def expected_of(self, group: NDArray[np.intp]) -> Floats:
        """Return what is expected of several columns given those outside the group, shape (n_rows, n_group)."""
        found = self._lines.residuals_of([_Group(group, np.eye(group.size))])
        if self._curves is not None:
            found += self._curves.residuals_of([group])
        residuals, _ = min(found, key=lambda pair: pair[1])
        return self.X[:, group] - residuals * self._scales[group]

    @cached_property
    def on_normal_scores(self) -> OneAgainstRest:
        """The same for the columns' normal scores; columns of few values stay as they are."""
        return OneAgainstRest(on_scales(self.X, [scale_of(column) for column in self.X.T]))

    @cached_property
    def _each(self) -> tuple[Floats, Floats]:
        """The residuals of each column in units of its deviation, and the sums of its squared left-out errors."""
        residuals, errors = self._by_lines
        if self._curves is None:
            return residuals, errors
        of_each = self._curves.residuals_of([np.array([column]) for column in range(len(errors))])
        by_curves = np.hstack([found for found, _ in of_each])
        errors_of_curves = np.array([error for _, error in of_each])
        is_better: NDArray[np.bool_] = errors_of_curves < errors
        return np.where(is_better, by_curves, residuals), np.where(is_better, errors_of_curves, errors)

    @cached_property
    def _by_lines(self) -> tuple[Floats, Floats]:
        Vt = self._lines.Vt
        outside = np.maximum(1.0 - (Vt**2).sum(axis=0), 0.0)
        best = np.full(self.X.shape[1], np.inf)
        chosen = np.zeros(self.X.shape)
        for one in self._lines.penalized():
            XP = one.scores @ Vt
            residuals = XP / (one.inverse @ Vt**2 + outside / one.penalty)
            error = self._lines.left_out(residuals, XP * residuals, one)
            is_better: NDArray[np.bool_] = error < best
            best[is_better] = error[is_better]
            chosen[:, is_better] = residuals[:, is_better]
        return chosen, best

    @cached_property
    def _lines(self) -> _Decomposed:
        return _Decomposed((self.X - self.X.mean(axis=0)) / self._scales)

    @cached_property
    def _curves(self) -> _Curves | None:
        made = curves_of(self.X)
        return None if made is None else _Curves(self.X, made, self._scales)


class _Curves:
    """Ridge regressions of columns on curves of the others.

    Parameters
    ----------
    made : list of ndarray of shape (n_rows, n_regressors)
        The regressors of each column; see `curves_of`.

    scales : ndarray of shape (n_columns,)
        The units of the columns.
    """

    def __init__(self, X: Floats, made: list[Floats], scales: Floats) -> None:
        widths = [part.shape[1] for part in made]
        self._places = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1])
        regressors = np.hstack(made)
        regressors -= regressors.mean(axis=0)
        self._combinations = [
            np.linalg.lstsq(regressors[:, places], ((x - x.mean()) / scale)[:, np.newaxis], rcond=None)[0]
            for places, x, scale in zip(self._places, X.T, scales, strict=True)
        ]
        self._decomposed = _Decomposed(regressors)

    def residuals_of(self, groups: Sequence[NDArray[np.intp]]) -> list[tuple[Floats, float]]:
        """Return residuals of groups of columns given the others, and the sums of their squared left-out errors."""
        return self._decomposed.residuals_of([self._group(columns.tolist()) for columns in groups])

    def _group(self, columns: list[int]) -> _Group:
        places = np.concatenate([self._places[column] for column in columns])
        return _Group(places, block_diag(*[self._combinations[column] for column in columns]))
