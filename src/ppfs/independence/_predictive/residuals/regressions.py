"""The regressions of a question: of the target and of functions of x, on the same columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.leftovers import (
    FIT_SCALE,
    LEVEL,
    LEVEL_TO_IMPROVE,
    Found,
    SecondLook,
    is_class,
)
from ppfs.independence._predictive.residuals.regressors import GivenColumn, design_of, unit
from ppfs.independence._predictive.residuals.smoother import Residuals, Smoother

# How often the fit of a response is improved by what a second look finds.
_LOOKS = 3

# A design has at most this many regressors per row, and this many outputs of the target are looked at.
_MOST_PER_ROW, _MOST_OUTPUTS = 0.8, 5

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
    may_be_too_small : bool
        Whether both regressions missed the same part, so that a p-value may be too small.
    """

    smoother: Smoother
    target: Residuals
    functions: Residuals
    may_be_too_small: bool


class _State:
    """A design, its smoother, and what that leaves of the target. Many designs are extended before they are used.

    Parameters
    ----------
    parts : sequence of ndarray of shape (n_rows, n_of_part)
        The design, side by side. It is as large as hundreds of columns, and extended designs share its parts.

    smoother : callable
        Makes the smoother of a design.

    outputs : ndarray of shape (n_rows, n_outputs)
        The target, centered.

    penalties : ndarray of int, shape (n_outputs,), or None
        As in `Smoother.residuals`.
    """

    def __init__(
        self,
        parts: Sequence[Floats],
        smoother: Callable[[Sequence[Floats]], Smoother],
        outputs: Floats,
        penalties: NDArray[np.intp] | None,
    ) -> None:
        self.parts = parts
        self._smoother, self._outputs, self._penalties = smoother, outputs, penalties

    @cached_property
    def smoother(self) -> Smoother:
        return self._smoother(self.parts)

    @cached_property
    def target(self) -> Residuals:
        return self.smoother.residuals(self._outputs, self._penalties)


class Regressions:
    """The regression of the target on some columns, and what regressions of other responses on them share.

    A second look with other learners checks whether residuals still depend on the columns, and what it finds is added
    to the design.

    Parameters
    ----------
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
        self._outputs, self._roots, self._groups = outputs, roots, groups
        self._look = SecondLook(columns, roots)
        self._first = self._state_of([design_of(columns)])
        some = slice(_MOST_OUTPUTS)
        # The design with what was found, what the first one missed of the target, and whether nothing is missed now.
        self._state, self._missed, self._is_clear = self._improved(
            self._first, self._first, outputs[:, some], self._first.target.some(some)
        )

    def fit(self, functions: Floats, n_own: int, more: Sequence[Floats] = ()) -> Fit:
        """Regress functions of x; improve the fit where residuals of the first `n_own` depend on the columns.

        Parameters
        ----------
        more : sequence of ndarray of shape (n_rows, n_more)
            Further regressors.
        """
        base = start = self._first
        if more and not _is_full([*base.parts, *more]):
            base = start = self._state_of([*base.parts, *more])
        if self._state is not self._first:
            start = self._extended(self._state, base, more) or self._state
        first = base.smoother.residuals(functions)
        own = first.some(slice(n_own))
        state, missed, is_clear = self._improved(start, base, functions[:, :n_own], own)
        is_missed = _any_correlated(own.values, self._missed) or _any_correlated(base.target.values, missed)
        residuals = first if state is base else state.smoother.residuals(functions, first.penalties)
        return Fit(state.smoother, state.target, residuals, is_missed or not (is_clear or self._is_clear))

    def _improved(
        self, state: _State, base: _State, responses: Floats, first: Residuals
    ) -> tuple[_State, list[Floats], bool]:
        """Look for dependence of residuals on the columns, and add what is found to the design.

        Parameters
        ----------
        state, base : _State
            The design to extend, and the first one, whose residuals are looked at first.

        first : Residuals
            Of the responses, by the first design.

        Returns
        -------
        state : _State

        missed : list of ndarray of shape (n_rows,)
            What the first design missed.

        is_clear : bool
            Whether residuals of the last design do not depend on the columns beyond doubt.
        """
        if self._groups is not None:
            return state, [], True
        more, missed = self._predicted(responses, first, base.smoother)
        state = self._extended(state, base, more) or state
        # A design that was learned from all blocks no longer leaves one out: classes are looked at once.
        is_clear, has_classes = False, any(is_class(response, self._roots) for response in responses.T)
        for number in range(min(_LOOKS, 1) if has_classes else _LOOKS):
            smoother = state.smoother if number else base.smoother
            residuals = smoother.residuals(responses, first.penalties) if number else first
            more, now = self._found(responses, residuals, smoother)
            missed = missed if number else [*missed, *now]
            is_clear = not now
            extended = self._extended(state, base, more)
            if extended is None:
                break
            state = extended
        return state, missed, is_clear

    def _predicted(
        self, responses: Floats, residuals: Residuals, smoother: Smoother
    ) -> tuple[list[Floats], list[Floats]]:
        """Return predictions of other learners that residuals of the first design are correlated with.

        The second list holds what was missed, where they are so beyond doubt.
        """
        more, missed = [], []
        for response, residual in zip(responses.T, residuals.values.T, strict=False):
            predicted, fitted = self._look.predicted(response)
            weights = self._roots**2
            centered = (predicted - weights @ predicted / weights.sum()) * self._roots[:, np.newaxis]
            # Others are not correlated with the residual; most are 0, and penalties take most of the time.
            asked = np.flatnonzero(predicted.any(axis=0))
            asked = asked[smoother.may_agree(centered[:, asked], residual)]
            if not asked.size:
                continue
            left = smoother.residuals(centered[:, asked]).values
            products = left * residual[:, np.newaxis]
            spread = np.sqrt(np.einsum("ij,ij->j", products, products))
            pvalues = np.ones(predicted.shape[1])
            pvalues[asked] = special.ndtr(-products.sum(axis=0) / np.where(spread > 0.0, spread, np.inf))
            pvalues *= predicted.shape[1]
            helpful = predicted if is_class(response, self._roots) else fitted
            more.append(unit(helpful[:, pvalues <= LEVEL_TO_IMPROVE]) * FIT_SCALE)
            if pvalues.min() <= LEVEL:
                missed.append(left[:, pvalues[asked].argmin()])
        return ([np.hstack(more)] if any(part.shape[1] for part in more) else []), missed

    def _state_of(self, parts: Sequence[Floats], penalties: NDArray[np.intp] | None = None) -> _State:
        return _State(parts, self._smoother_of, self._outputs, penalties)

    def _smoother_of(self, parts: Sequence[Floats]) -> Smoother:
        return Smoother(parts, self._roots, self._groups)

    def _extended(self, state: _State, base: _State, more: Sequence[Floats]) -> _State | None:
        """Return a design with more columns; None without any, or where they would leave too few rows per column.

        What was learned from the same rows fits too well to choose penalties by: those of the first design are kept.
        """
        parts = [*state.parts, *more]
        if not more or _is_full(parts):
            return None
        return self._state_of(parts, base.target.penalties)

    def _found(
        self, responses: Floats, residuals: Residuals, smoother: Smoother
    ) -> tuple[list[Floats], list[Floats]]:
        """Return columns for a design that let it express what residuals depend on.

        Those of all classes, or of the residual which depends on the columns most clearly. The second list holds what
        was missed, where a residual depends on them beyond doubt.
        """
        every: list[tuple[Floats, Floats, Found, bool]] = []
        has_classes = False
        for number, response in enumerate(responses.T):
            left = residuals.some(slice(number, number + 1))
            is_left_out = is_class(response, self._roots)
            has_classes |= is_left_out
            residual = smoother.left_out(left) if is_left_out else left.values[:, 0]
            # Rows with the same values have the same fit: the last bits, which depend on the response, are cut off.
            step = _GRID * max(float(np.abs(response).max()), 1e-300)
            fitted = np.rint((response - residual) / step) * step
            found = self._look.find(residual, fitted)
            every += [(residual, fitted, found, is_left_out)] if found is not None else []
        every.sort(key=lambda one: one[2].pvalue)
        more = [self._look.regressors(*one) for one in (every if has_classes else every[:1])]
        return more, [part[:, 0] for part, one in zip(more, every, strict=False) if one[2].is_clear]


def _is_full(parts: Sequence[Floats]) -> bool:
    """Return whether a design leaves too few rows per column."""
    return int(sum(part.shape[1] for part in parts)) > _MOST_PER_ROW * len(parts[0])


def _any_correlated(residuals: Floats, missed: list[Floats]) -> bool:
    """Return whether residuals of one side depend on what the model of the other side missed."""
    for part in missed:
        products = residuals * part[:, np.newaxis]
        spread = np.sqrt(np.einsum("ij,ij->j", products, products))
        if (np.abs(products.sum(axis=0)) > _CORRELATED * np.where(spread > 0.0, spread, np.inf)).any():
            return True
    return False
