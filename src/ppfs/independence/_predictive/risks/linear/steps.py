"""What transformers make of single columns: those of scikit-learn that look at each column by itself."""

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
from ppfs._fitting import KnownParameters, Medians
from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.risks.linear.scaling import FittedScaler, fitted_scaler
from ppfs.independence._predictive.risks.linear.splines import fitted_splines

# The square of this, times any number of rows, is a number of 64 bits.
_LARGEST_SQUARABLE = 1e145

# Splines with given knots belong to certain columns, and every row must have an answer.
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
    """Tell whether a transformer is one that is known here, and takes columns of this kind.

    Parameters
    ----------
    of_sparse : bool
        Whether the columns are stored sparsely: transformers that would fill them up refuse them.
    """
    known = _KNOWN.get(type(step))
    if known is None or known.first_unknown(step) is not None:
        return False
    moves = any(getattr(step, name, False) for name in ("with_mean", "with_centering"))
    return not (of_sparse and (moves or isinstance(step, SplineTransformer | MinMaxScaler)))


def is_joint(step: Any) -> bool:
    """Tell whether a transformer makes something of several columns together: products."""
    return isinstance(step, PolynomialFeatures)


def keeps_width(step: Any) -> bool:
    """Tell whether a transformer makes one column of one."""
    return not isinstance(step, SplineTransformer | PolynomialFeatures)


def require_squarable(columns: Floats, names: Sequence[str], steps: Sequence[Any], model: Any) -> None:
    """Refuse columns whose squares are beyond 64 bits: a linear model adds them up, and would make nothing of them.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)

    steps : sequence of transformers
        What stands before the model. Scalers that square nothing bring columns into reach.
    """
    first = next((step for step in steps if not isinstance(step, Medians)), None)
    if isinstance(first, RobustScaler | MinMaxScaler | MaxAbsScaler):
        return
    # Gaps aside.
    largest = np.fmax.reduce(np.abs(columns), axis=0)
    wrong = np.flatnonzero(largest > _LARGEST_SQUARABLE)
    if wrong.size:
        raise InvalidInputError(
            f"Column {names[wrong[0]]!r} holds numbers up to {largest[wrong[0]]:.3g}, and their squares, which "
            f"{type(model).__name__} adds up, are beyond 64 bits. Rescale the column, use "
            "make_pipeline(MaxAbsScaler(), ...), or a model of trees."
        )


@dataclass(frozen=True)
class FittedSteps:
    """Transformers fitted on the train part of one split, for the columns of a block.

    Attributes
    ----------
    steps : tuple
        The fitted transformers, in their order. Each has at least two columns: NumPy adds up a single column in another
        order than one of several, and a column's answer must not depend on its neighbours.

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
            Whether each column has a model of its own, in which it has no other to be multiplied with.
        """
        fitted: list[Any] = []
        columns = _at_least_two(train)
        for step in steps:
            # What the last step makes nobody is fitted to.
            if fitted:
                columns = np.asarray(fitted[-1].transform(columns), dtype=np.float64)
            fitted.append(_fitted(step, columns, is_single))
        return cls(tuple(fitted), train.shape[1])

    def transform(self, X: Floats) -> Floats:
        """Return the regressors of rows, column after column: shape (n_rows, n_columns * n_regressors)."""
        columns = _at_least_two(X)
        n_fitted = columns.shape[1]
        for step in self.steps:
            columns = np.asarray(step.transform(columns), dtype=np.float64)
        width = columns.shape[1] // n_fitted
        return columns[:, : self.n_columns * width]

    def scales(self) -> Floats | None:
        """Return what the columns are divided by, shape (n_columns,); None where they are not only moved and scaled."""
        total = np.ones(self.n_columns)
        for step in self.steps:
            scale = _scale(step)
            if scale is None:
                return None
            total = total * scale[: self.n_columns]
        return total


def _fitted(step: Any, columns: Floats, is_single: bool) -> Any:
    """Fit a transformer, or what does the same to many columns in less time."""
    if is_single and is_joint(step):
        return _Powers(step)
    if isinstance(step, SplineTransformer):
        return fitted_splines(step, columns)
    return fitted_scaler(step, columns) if isinstance(step, StandardScaler) else clone(step).fit(columns)


def _at_least_two(X: Floats) -> Floats:
    return X if X.shape[1] > 1 else np.repeat(X, 2, axis=1)


class _Powers:
    """What polynomial features make of single columns."""

    def __init__(self, step: PolynomialFeatures) -> None:
        self._powers = clone(step).fit(np.zeros((1, 1))).powers_[:, 0]

    def transform(self, X: Floats) -> Floats:
        """Return the powers of each column side by side."""
        made: Floats = np.stack([X ** int(power) for power in self._powers], axis=2)
        return made.reshape(len(X), -1)


def _scale(step: Any) -> Floats | None:
    """Return what a fitted scaler divides each column by; None for what is no line."""
    if isinstance(step, FittedScaler):
        return np.ones(1) if step.scale is None else step.scale
    if isinstance(step, StandardScaler | RobustScaler):
        return np.ones(step.n_features_in_) if step.scale_ is None else np.asarray(step.scale_)
    if getattr(step, "clip", False):
        return None
    if isinstance(step, MaxAbsScaler):
        return np.asarray(step.scale_)
    return 1.0 / np.asarray(step.scale_) if isinstance(step, MinMaxScaler) else None
