"""The regressions of a question: of the target and of functions of x, on the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.leftovers import Found, SecondLook
from ppfs.independence._predictive.residuals.regressors import GivenColumn, design_of
from ppfs.independence._predictive.residuals.smoother import Residuals, Smoother

# How often the fit of a response is improved by what a second look finds.
_LOOKS = 3

# A design has at most this many regressors per row, and this many outputs of the target are looked at.
_MOST_PER_ROW, _MOST_OUTPUTS = 0.8, 5

# What is added to the design of classes leaves at least this share of their sum of squares. More is explained only by
# a fit to single rows: a step of the fitted values equals a class that they separate, and no column could add to it.
_LEAST_LEFT = 0.5

# Fitted values are rounded to this share of the largest response.
_GRID = 2.0**-30

# Both sides missed the same where the residuals of one are correlated with what the other missed: by this many
# standard errors.
_CORRELATED = 1.96


@dataclass(frozen=True)
class Fit:
    """What the regressions leave of the target and of functions of x.

    Attributes
    ----------
    smoother : Smoother

    target, functions : Residuals

    may_be_too_small : bool
        Whether both regressions missed the same part, so that a p-value may be too small.
    """

    smoother: Smoother
    target: Residuals
    functions: Residuals
    may_be_too_small: bool


class Regressions:
    """The regression of the target on some columns, and what regressions of other responses on them share.

    A second look with other learners checks whether residuals still depend on the columns, and what it finds is added
    to the design.

    Parameters
    ----------
    columns : list of GivenColumn

    outputs : ndarray of shape (n_rows, n_outputs)
        The target, centered.

    roots : ndarray of shape (n_rows,)
        The roots of the rows' weights.

    groups : ndarray of int, shape (n_rows,), or None
        Rows of a group are not independent. There is no second look then: it would see what the rows of a group share
        as dependence on columns that are the same in all of them.
    """

    def __init__(
        self,
        columns: list[GivenColumn],
        outputs: Floats,
        roots: Floats,
        groups: NDArray[np.intp] | None = None,
    ) -> None:
        self.columns = columns
        self._outputs, self._roots, self._groups = outputs, roots, groups
        factors = np.hstack([column.factors for column in columns])
        owners = np.repeat(np.arange(len(columns)), [column.factors.shape[1] for column in columns])
        values = np.hstack([column.values for column in columns])
        self._look = SecondLook(factors, values, owners, roots)
        self._design = design_of(columns)
        self._smoother = self._first = Smoother(self._design, roots, groups)
        self._target = self._first_target = self._smoother.residuals(outputs)
        # What the first design missed of the target.
        self._missed: list[Floats] = []
        self._is_clear = False
        for number in range(_LOOKS):
            more, missed = self._found(outputs, self._target.values[:, :_MOST_OUTPUTS])
            self._missed = self._missed if number else missed
            self._is_clear = not missed
            extended = self._extended(self._design, more)
            if extended is None:
                break
            self._design, self._smoother, self._target = extended

    def fit(self, functions: Floats, n_own: int, more: Sequence[Floats] = ()) -> Fit:
        """Regress functions of x; improve the fit where residuals of the first `n_own` depend on the columns.

        Parameters
        ----------
        more : sequence of ndarray of shape (n_rows, n_more)
            Further regressors.
        """
        smoother, target, design = self._smoother, self._target, self._design
        if (extended := self._extended(design, more)) is not None:
            design, smoother, target = extended
        residuals = smoother.residuals(functions)
        own = residuals.values[:, :n_own]
        if self._smoother is not self._first:
            own = self._first.residuals(functions[:, :n_own]).values
        is_missed, is_clear = _any_correlated(own, self._missed), False
        for number in range(_LOOKS):
            found, missed = self._found(functions, own)
            if not number:
                is_missed |= _any_correlated(self._first_target.values, missed)
            is_clear = not missed
            extended = self._extended(design, found)
            if extended is None:
                break
            design, smoother, target = extended
            residuals = smoother.residuals(functions)
            own = residuals.values[:, :n_own]
        return Fit(smoother, target, residuals, is_missed or not (is_clear or self._is_clear))

    def _extended(self, design: Floats, more: Sequence[Floats]) -> tuple[Floats, Smoother, Residuals] | None:
        """Return a design with more columns, its smoother and what it leaves of the target.

        None where there are no more columns, or these would leave too few rows per column or too little of a class.
        """
        if not more or _is_full(design, more):
            return None
        extended = np.hstack([design, *more])
        smoother = Smoother(extended, self._roots, self._groups)
        target = smoother.residuals(self._outputs)
        least = _LEAST_LEFT * _sums_of_squares(self._first_target) * _is_class(self._outputs, self._roots)
        return None if (_sums_of_squares(target) < least).any() else (extended, smoother, target)

    def _found(self, responses: Floats, residuals: Floats) -> tuple[list[Floats], list[Floats]]:
        """Return columns for a design that let it express the residual which depends on the columns most clearly.

        The second list holds what was missed, where a residual depends on the columns beyond doubt.
        """
        clearest: tuple[Floats, Floats, Found] | None = None
        if self._groups is not None:
            return [], []
        for response, residual in zip(responses.T, residuals.T, strict=False):
            # Rows with the same values have the same fit: the last bits, which depend on the response, are cut off.
            step = _GRID * max(float(np.abs(response).max()), 1e-300)
            fitted = np.rint((response - residual) / step) * step
            found = self._look.find(residual, fitted)
            if found is not None and (clearest is None or found.pvalue < clearest[2].pvalue):
                clearest = residual, fitted, found
        if clearest is None:
            return [], []
        more = self._look.regressors(*clearest)
        return [more], [more[:, 0]] * clearest[2].is_clear


def _sums_of_squares(residuals: Residuals) -> Floats:
    sums: Floats = np.einsum("ij,ij->j", residuals.values, residuals.values)
    return sums


def _is_class(outputs: Floats, roots: Floats) -> NDArray[np.bool_]:
    """Return which outputs have two values, before they were multiplied by the roots of weights."""
    values = np.round(outputs / roots[:, np.newaxis], 9)
    return np.array([np.unique(column).size == 2 for column in values.T])


def _is_full(design: Floats, more: Sequence[Floats]) -> bool:
    """Return whether more columns would leave too few rows per column."""
    n_regressors = int(design.shape[1] + sum(part.shape[1] for part in more))
    return n_regressors > _MOST_PER_ROW * len(design)


def _any_correlated(residuals: Floats, missed: list[Floats]) -> bool:
    """Return whether residuals of one side depend on what the model of the other side missed."""
    for part in missed:
        products = residuals * part[:, np.newaxis]
        spread = np.sqrt(np.einsum("ij,ij->j", products, products))
        if (np.abs(products.sum(axis=0)) > _CORRELATED * np.where(spread > 0.0, spread, np.inf)).any():
            return True
    return False
