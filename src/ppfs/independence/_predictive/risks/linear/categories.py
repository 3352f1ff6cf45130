"""Regressors of columns of categories, beside those of numbers: what `ppfs._fitting.Encoded` shows to a linear model.

Encoded, a category is a column of 0 and 1, and steps such as splines make several regressors of it. Between 0 and 1
these move along one direction. If the intercept is free and squares are penalized, the best coefficients lie along it:
one regressor, as long as that direction, has the same fit and the same penalty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._fitting import MAX_DUMMIES, Medians, dummy_places
from ppfs.independence._predictive.risks.linear.steps import FittedSteps, Standardized


def n_slots(n_levels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of regressors of each column: one per category, and at most `MAX_DUMMIES` + 1."""
    return np.minimum(n_levels, MAX_DUMMIES + 1)


def n_dummies(codes: NDArray[Any], trains: Sequence[NDArray[np.intp]]) -> int:
    """Return the largest number of categories of a column that a train part distinguishes."""
    most = max(np.unique(codes[train]).size for train in trains)
    return min(most, MAX_DUMMIES + 1)


@dataclass(frozen=True)
class FittedCategories:
    """Columns with the same number of slots, encoded as the train part of one split says.

    Attributes
    ----------
    places : ndarray of int, shape (n_levels, n_columns)
        The slot of each category; -1 for a category that has none.

    lengths : ndarray of shape (n_slots, n_columns)
        The value of each slot's regressor where a row is of its category.
    """

    places: NDArray[np.intp]
    lengths: Floats

    @classmethod
    def of(
        cls, steps: Sequence[Any], n_levels: NDArray[np.intp], train: Floats, weights: Floats | None
    ) -> FittedCategories:
        """Learn from codes of shape (n_rows, n_columns), behind which the steps come."""
        slots = int(n_slots(n_levels).max())
        places = np.full((int(n_levels.max()), len(n_levels)), -1, dtype=np.intp)
        for column, levels in enumerate(n_levels.tolist()):
            places[:levels, column] = dummy_places(train[:, column], levels, MAX_DUMMIES, weights)
        unfitted = cls(places, np.ones((slots, len(n_levels))))
        after = tuple(step for step in steps if not isinstance(step, Medians))
        if not after:
            return unfitted
        is_seen = np.arange(slots)[:, np.newaxis] <= places.max(axis=0)
        # Slots that no row of the train part has would be constant columns.
        dummies = np.moveaxis(unfitted.regressors(train), 1, 0)[:, is_seen]
        fitted = FittedSteps.of(after, dummies)
        zeros, ones = (fitted.transform(np.full((1, dummies.shape[1]), value)) for value in (0.0, 1.0))
        lengths = np.zeros_like(unfitted.lengths)
        lengths[is_seen] = np.sqrt(((ones - zeros).reshape(dummies.shape[1], -1) ** 2).sum(axis=1))
        return cls(places, lengths)

    def regressors(self, codes: Floats) -> Floats:
        """Return the regressors of rows, shape (n_slots, n_rows, n_columns)."""
        own = np.take_along_axis(self.places, codes.astype(np.intp), axis=0)
        is_own = own == np.arange(len(self.lengths))[:, np.newaxis, np.newaxis]
        made: Floats = is_own * self.lengths[:, np.newaxis]
        return made


@dataclass(frozen=True)
class FittedColumns:
    """Regressors of numbers and categories, as fitted to the train part of one split.

    Attributes
    ----------
    numbers : FittedSteps or None
        None if no column is numeric.

    is_number : ndarray of bool, shape (n_columns,)

    categories : tuple of FittedCategories
        One per column of categories.
    """

    numbers: FittedSteps | None
    is_number: NDArray[np.bool_]
    categories: tuple[FittedCategories, ...]

    @classmethod
    def of(
        cls, steps: Sequence[Any], n_levels: NDArray[np.intp], train: Floats, weights: Floats | None
    ) -> FittedColumns:
        """Fit to the columns of a train part, shape (n_rows, n_columns); numbers are standardized first."""
        is_number = n_levels == 0
        n_filling = sum(isinstance(step, Medians) for step in steps)
        scaled = (*steps[:n_filling], Standardized(weights), *steps[n_filling:])
        categories = (
            FittedCategories.of(steps, n_levels[[column]], train[:, [column]], weights)
            for column in np.flatnonzero(~is_number).tolist()
        )
        numbers = FittedSteps.of(scaled, train[:, is_number]) if is_number.any() else None
        return cls(numbers, is_number, tuple(categories))

    def transform(self, X: Floats) -> Floats:
        """Return the regressors of rows, column after column: shape (n_rows, n_regressors)."""
        made: list[Floats] = []
        if self.numbers is not None:
            made = np.split(self.numbers.transform(X[:, self.is_number]), int(self.is_number.sum()), axis=1)
        numbers, categories = iter(made), iter(self.categories)
        parts = [
            next(numbers) if is_number else next(categories).regressors(X[:, [column]])[:, :, 0].T
            for column, is_number in enumerate(self.is_number.tolist())
        ]
        return np.hstack(parts)

    def scales(self) -> Floats | None:
        """Return what numbers are divided by, shape (n_columns,); None if they are not only moved and scaled."""
        scales = np.full(self.is_number.size, np.nan)
        own = np.ones(0) if self.numbers is None else self.numbers.scales()
        if own is None:
            return None
        scales[self.is_number] = own
        return scales
