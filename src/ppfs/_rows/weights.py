"""The weights of rows in fits and in averages of losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


@dataclass(frozen=True)
class RowWeights:
    """Weights of the rows, in the fit and in the loss.

    Attributes
    ----------
    fit : ndarray of shape (n_rows,) or None
        Passed to the estimator's ``fit``; None for no weights.

    loss : ndarray of shape (n_rows,) or None
        The factors of the losses, 1 on average; None for no weights.

    by_class : ndarray of shape (n_classes,) or None
        The same by class, if the loss is weighted by class alone.
    """

    fit: Floats | None = None
    loss: Floats | None = None
    by_class: Floats | None = None

    def fit_of(self, rows: NDArray[np.intp]) -> Floats | None:
        """Return the weights of some rows for ``fit``."""
        return None if self.fit is None else self.fit[rows]

    @classmethod
    def of(cls, weights: Floats | None, by_class: Floats | None, codes: NDArray[Any]) -> RowWeights:
        """Combine the weights of rows with the weights of their classes.

        Parameters
        ----------
        codes : ndarray of shape (n_rows,)
            The number of each row's class; ignored without weights by class.
        """
        if by_class is None:
            return cls(weights, None if weights is None else weights / weights.mean())
        own = by_class[codes]
        if weights is None:
            return cls(None, own / own.mean(), by_class / own.mean())
        joint = weights * own
        return cls(weights, joint / joint.mean())

    def weighed(self, losses: Floats, rows: NDArray[np.intp], is_by_row: bool) -> Floats:
        """Return the values to compare: the weighted loss of each row, or the weighted mean.

        Parameters
        ----------
        losses : ndarray of shape (n, n_test)

        rows : ndarray of shape (n_test,)
            The tested rows.

        Returns
        -------
        ndarray of shape (n, n_test) or (n, 1)
        """
        if self.loss is not None:
            losses = losses * self.loss[rows]
        if is_by_row:
            return losses
        if self.loss is None:
            means: Floats = losses.mean(axis=1, keepdims=True)
            return means
        weighted: Floats = losses.sum(axis=1, keepdims=True) / self.loss[rows].sum()
        return weighted


def weights_by_class(class_weight: ClassWeight, y: NDArray[Any], classes: NDArray[Any]) -> Floats | None:
    """Return the weight of each class, or None for no weights.

    Parameters
    ----------
    class_weight : mapping of label to weight, "balanced" or None
        "balanced" is n / (k * count) for n rows of k classes; a label that a mapping lacks weighs 1.

    classes : ndarray of shape (n_classes,)
        The sorted labels; empty for regression.
    """
    if class_weight is None:
        return None
    if not classes.size:
        raise InvalidInputError(
            f"class_weight={class_weight!r} needs a target with classes, but the task is regression. Leave it out, or "
            "pass sample_weight to fit."
        )
    if isinstance(class_weight, str):
        counts = np.unique(y, return_counts=True)[1]
        return np.asarray(y.size / (classes.size * counts))
    labels = classes.tolist()
    wrong = {label: weight for label, weight in class_weight.items() if not _is_positive(weight)}
    if wrong:
        raise InvalidInputError(
            f"class_weight must hold positive numbers, but has {wrong!r}. Use a small weight for a class that should "
            "hardly count."
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def require_known_labels(class_weight: Mapping[Any, float], labels: NDArray[Any]) -> None:
    """Raise for weights of classes that y does not have.

    Parameters
    ----------
    labels : ndarray
        The labels of the whole table, which may be more than a fold has; empty for regression.
    """
    known = labels.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown and known:
        raise InvalidInputError(
            f"class_weight has {listed(unknown)}, but the classes of y are {listed(known)}. Use labels of y."
        )


def _is_positive(weight: Any) -> bool:
    return isinstance(weight, Real) and 0 < float(weight) < np.inf
