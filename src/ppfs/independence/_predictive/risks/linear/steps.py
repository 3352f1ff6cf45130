"""The scikit-learn transformers that treat each column by itself, applied to many columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from ppfs._conventions import Floats
from ppfs._fitting import KnownParameters, Medians, standard
from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.risks.linear.scaling import FittedScaler, fitted_scaler
from ppfs.independence._predictive.risks.linear.splines import FittedSplines, fitted_splines

#: The square of this, times any number of rows, is finite in 64 bits.
LARGEST_SQUARABLE = 1e145

# Splines with given knots are for certain columns only, and extrapolation must not raise.
_KNOWN = {
    StandardScaler: KnownParameters(read=("with_mean", "with_std"), only={}, without_effect=("copy",)),
    RobustScaler: KnownParameters(
        read=("quantile_range", "unit_variance", "with_centering", "with_scaling"),
        only={},
        without_effect=("copy",),
    ),
    MinMaxScaler: KnownParameters(read=("clip", "feature_range"), only={}, without_effect=("copy",)),
    MaxAbsScaler: KnownParameters(read=("clip",), only={}, without_effect=("copy",)),
    SplineTransformer: KnownParameters(
        read=("degree", "include_bias", "n_knots"),
        only={
            "extrapolation": ("constant", "linear", "continue", "periodic"),
            "knots": ("uniform", "quantile"),
            "sparse_output": (False,),
        },
        without_effect=("handle_missing", "order"),
    ),
    PolynomialFeatures: KnownParameters(
        read=("degree", "include_bias", "interaction_only"), only={}, without_effect=("order",)
    ),
}


def is_known_step(step: Any, *, of_sparse: bool) -> bool:
    """Return whether a transformer is supported here, for columns of this kind.

    Parameters
    ----------
    of_sparse : bool
        Whether the columns are sparse: transformers that would make them dense raise.
    """
    known = _KNOWN.get(type(step))
    if known is None or known.first_unknown(step) is not None:
        return False
    moves = any(getattr(step, name, False) for name in ("with_mean", "with_centering"))
    return not (of_sparse and (moves or isinstance(step, SplineTransformer | MinMaxScaler)))


def is_joint(step: Any) -> bool:
    """Return whether a transformer combines columns: it makes products."""
    return isinstance(step, PolynomialFeatures)


def keeps_width(step: Any) -> bool:
    """Return whether a transformer makes one column of each column."""
    return not isinstance(step, SplineTransformer | PolynomialFeatures)


def require_squarable(columns: Floats, names: Sequence[str], steps: Sequence[Any], model: Any) -> None:
    """Raise if squares of a column overflow or underflow in 64 bits: a linear model sums them.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)

    steps : sequence of transformers
        The steps before the model. Scalers that do not use squares solve the problem.
    """
    first = next((step for step in steps if not isinstance(step, Medians)), None)
    if isinstance(first, RobustScaler | MinMaxScaler | MaxAbsScaler):
        return
    # Missing values are ignored.
    largest = np.fmax.reduce(np.abs(columns))
    wrong = np.flatnonzero(largest > LARGEST_SQUARABLE)
    if wrong.size:
        raise InvalidInputError(
            f"Column {names[wrong[0]]!r} holds numbers up to {largest[wrong[0]]:.3g}, and the sums of their squares, "
            f"which {type(model).__name__} needs, are out of the range of 64-bit floats. Rescale the column, use "
            "make_pipeline(MaxAbsScaler(), ...), or a model of trees."
        )


@dataclass(frozen=True)
class Standardized:
    """A step that gives numbers beside categories mean 0 and variance 1, as `ppfs._fitting.Encoded` does.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,) or None
        Of the rows of the train part.
    """

    weights: Floats | None


@dataclass(frozen=True)
class FittedSteps:
    """Transformers fitted on the train part of one split, for the columns of a block.

    Attributes
    ----------
    steps : tuple
        The fitted transformers, in their order. Each has at least two columns: NumPy adds up a single column in another
        order than one of several, and a column's answer must not depend on the other columns of its block.

    n_columns : int
        The columns of the block.
    """

    steps: tuple[Any, ...]
    n_columns: int

    @classmethod
    def of(cls, steps: Sequence[Any], train: Floats, *, is_single: bool = False) -> FittedSteps:
        """Fit clones on a train part, shape (n_rows, n_columns).

        Parameters
        ----------
        is_single : bool, default=False
            Whether each column has a model of its own, without products with other columns.
        """
        fitted: list[Any] = []
        columns = _at_least_two(train)
        for step in steps:
            # No step is fitted to the output of the last one.
            if fitted:
                columns = np.asarray(fitted[-1].transform(columns), dtype=np.float64)
            fitted.append(_fitted(step, columns, is_single))
        return cls(tuple(fitted), train.shape[1])

    def transform(self, X: Floats) -> Floats:
        """Return the regressors of rows, column after column: shape (n_rows, n_columns * n_regressors)."""
        return self.regressors(X).reshape(len(X), -1)

    def regressors(self, X: Floats) -> Floats:
        """Return the regressors of rows, shape (n_rows, n_columns, n_regressors)."""
        columns = _at_least_two(X)
        shape = *columns.shape, -1
        for step in self.steps[:-1]:
            columns = np.asarray(step.transform(columns), dtype=np.float64)
        for step in self.steps[-1:]:
            made = step.values(columns) if isinstance(step, FittedSplines) else step.transform(columns)
            columns = np.asarray(made, dtype=np.float64)
        return columns.reshape(shape)[:, : self.n_columns]

    def scales(self) -> Floats | None:
        """Return the scales of the columns, shape (n_columns,); None where steps do more than shift and scale."""
        total = np.ones(self.n_columns)
        for step in self.steps:
            scale = _scale(step)
            if scale is None:
                return None
            total = total * scale[: self.n_columns]
        return total


def _fitted(step: Any, columns: Floats, is_single: bool) -> Any:
    """Fit a transformer, or an equivalent that is faster on many columns."""
    if is_single and is_joint(step):
        return _Powers(step)
    if isinstance(step, Standardized):
        return FittedScaler(*standard(columns, step.weights))
    if isinstance(step, SplineTransformer):
        return fitted_splines(step, columns)
    return fitted_scaler(step, columns) if isinstance(step, StandardScaler) else clone(step).fit(columns)


def _at_least_two(X: Floats) -> Floats:
    return X if X.shape[1] > 1 else np.repeat(X, 2, axis=1)


class _Powers:
    """Polynomial features of single columns."""

    def __init__(self, step: PolynomialFeatures) -> None:
        self._powers = clone(step).fit(np.zeros((1, 1))).powers_[:, 0]

    def transform(self, X: Floats) -> Floats:
        """Return the powers of each column, column after column."""
        made: Floats = np.stack([X ** int(power) for power in self._powers], axis=2)
        return made.reshape(len(X), -1)


def _scale(step: Any) -> Floats | None:
    """Return the scales of a fitted scaler; None for other transformers."""
    if isinstance(step, FittedScaler):
        return np.ones(1) if step.scale is None else step.scale
    if isinstance(step, StandardScaler | RobustScaler):
        return np.ones(step.n_features_in_) if step.scale_ is None else np.asarray(step.scale_)
    if getattr(step, "clip", False):
        return None
    if isinstance(step, MaxAbsScaler):
        return np.asarray(step.scale_)
    return 1.0 / np.asarray(step.scale_) if isinstance(step, MinMaxScaler) else None
