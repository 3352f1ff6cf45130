"""Logistic regression of two or more classes, with one or several regressors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.utils.class_weight import compute_class_weight

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._predictive.risks.linear.target import TrainTarget

# A fit ends when a step would raise the mean log-likelihood by less than this.
_TOLERANCE = 1e-14

# With more regressors than rows, independent rows express the others up to this share of their squares.
_SMALLEST_SHARE = 1e-12


@dataclass(frozen=True)
class Logistic:
    """Minimizes the negative log-likelihood plus half of `penalty` times the squares of the coefficients.

    Attributes
    ----------
    class_weight : mapping of label to weight, "balanced" or None
        As in scikit-learn.

    is_small : bool, default=False
        Whether models are fitted in NumPy, which compiles nothing.
    """

    penalty: float
    has_intercept: bool
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    is_small: bool = False

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model per column; see `Solver`."""
        return self.fit_to_labels(regressors, Labels.of(target, self.class_weight))

    def fit_to_labels(self, regressors: Floats, labels: Labels) -> tuple[Floats, Floats]:
        """Fit one model per column, of shape (n_regressors, n_rows), to classes that are ready for the engine."""
        n_regressors, _, n_columns = regressors.shape
        if labels.n_seen == 1:
            return labels.aligned(np.zeros((n_columns, 0, n_regressors)), np.zeros((n_columns, 0)))
        fit_all = _engine.small_logistic_columns if self.is_small else _engine.logistic_columns
        return labels.aligned(
            *fit_all(
                regressors,
                labels.codes,
                labels.weights,
                labels.n_seen,
                self.penalty,
                self.has_intercept,
                labels.n_seen > 2,
                _TOLERANCE * labels.total,
            )
        )

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Return whether there is an optimum: with no penalty and as many regressors as rows there is none."""
        return self.penalty > 0.0 or n_regressors + 1 < n_rows

    def data(self, design: Floats, target: TrainTarget) -> LogisticData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        return LogisticData(self, design, Labels.of(target, self.class_weight))


@dataclass(frozen=True)
class LabeledData:
    """The train part of one split.

    Attributes
    ----------
    model : Solver
        With the method `fit_to_labels`.

    design : ndarray of shape (n_regressors, n_rows)
    """

    model: Any
    design: Floats
    labels: Labels

    def kept(self, places: NDArray[np.intp]) -> Self:
        """Return the data of some of the regressors."""
        return replace(self, design=np.ascontiguousarray(self.design[places]))

    def with_products(self) -> Self:
        """Return the same data: the products change with every step, so nothing can be shared."""
        return self

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (n_scores, n_regressors) and intercepts of shape (n_scores,)."""
        (slopes,), (intercepts,) = self.model.fit_to_labels(self.design[:, :, np.newaxis], self.labels)
        return slopes, intercepts


@dataclass(frozen=True)
class LogisticData(LabeledData):
    """The train part of a model with a penalty on squares, or none."""

    model: Logistic

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (n_scores, n_regressors) and intercepts of shape (n_scores,)."""
        is_wide = len(self.design) > self.design.shape[1]
        if not is_wide or self.model.penalty == 0.0 or self.labels.n_seen == 1:
            return super().fit()
        (slopes,), (intercepts,) = self.labels.aligned(*self._from_rows())
        return slopes, intercepts

    def _from_rows(self) -> tuple[Floats, Floats]:
        """Fit with more regressors than rows: the coefficients are a linear combination of the rows.

        Shorter rows with the same products, as many entries as there are independent rows, take their place. A model of
        these has the same outputs and the same penalty.
        """
        labels, has_intercept = self.labels, self.model.has_intercept
        centers = self.design.mean(axis=1) if has_intercept else np.zeros(len(self.design))
        centered = self.design - centers[:, np.newaxis]
        factor, pivots = _engine.independent_rows(_engine.row_products(centered), _SMALLEST_SHARE)
        ones = np.ones((int(has_intercept), labels.codes.size))
        likelihood = _engine.Likelihood(
            design=np.ascontiguousarray(np.vstack([factor, ones])),
            classes=labels.codes,
            weights=labels.weights,
            penalties=np.append(np.full(len(factor), self.model.penalty), np.zeros(len(ones))),
            n_classes=labels.n_seen,
            is_symmetric=labels.n_seen > 2,
        )
        start = np.zeros((labels.n_seen - 1, len(likelihood.design)))
        scores, _ = _engine.fit_scores(likelihood, start, _TOLERANCE * labels.total)
        shares = solve_triangular(factor[:, pivots], scores[:, : len(factor)].T, check_finite=False)
        slopes = np.einsum("rk,ka->ar", centered[:, pivots], shares)
        intercepts = scores[:, len(factor) :].sum(axis=1) - (slopes * centers).sum(axis=1)
        return slopes[np.newaxis], intercepts[np.newaxis]


@dataclass(frozen=True)
class Labels:
    """The classes of a train part as the kernels read them.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        The number of each row's class among the classes of this train part.

    seen : ndarray of shape (n_seen,)
        The numbers of these classes among the table's.

    n_classes : int
        The classes of the table.

    weights : ndarray of shape (n_rows,)
        Empty where all rows have the same weight.
    """

    codes: NDArray[np.int64]
    seen: NDArray[np.intp]
    n_classes: int
    weights: Floats

    @classmethod
    def of(cls, target: TrainTarget, class_weight: Any) -> Labels:
        """Combine the weights of rows and classes, and number the classes that occur."""
        seen, codes = np.unique(target.values, return_inverse=True)
        weights = np.empty(0) if target.weights is None else target.weights
        if class_weight is not None:
            labels = target.classes[seen]
            own = compute_class_weight(class_weight, classes=labels, y=labels[codes])
            weights = own[codes] * weights if weights.size else own[codes]
        return cls(
            np.ascontiguousarray(codes, dtype=np.int64),
            seen,
            int(target.classes.size),
            np.ascontiguousarray(weights, dtype=np.float64),
        )

    @property
    def n_seen(self) -> int:
        return int(self.seen.size)

    @property
    def total(self) -> float:
        """The total weight of the rows."""
        return float(self.weights.sum() if self.weights.size else self.codes.size)

    def aligned(self, slopes: Floats, intercepts: Floats) -> tuple[Floats, Floats]:
        """Turn differences from the first class that occurs into one score per class of the table.

        A table of two classes has one score, the difference of the second from the first. A class that is not in the
        train part has the score minus infinity.

        Parameters
        ----------
        slopes : ndarray of shape (n_models, n_seen - 1, n_regressors)

        intercepts : ndarray of shape (n_models, n_seen - 1)
        """
        n_models, _, n_regressors = slopes.shape
        if self.n_classes == 2 and self.n_seen == 2:
            return slopes, intercepts
        if self.n_classes == 2:
            certain = np.inf if self.seen[0] else -np.inf
            return np.zeros((n_models, 1, n_regressors)), np.full((n_models, 1), certain)
        all_slopes = np.zeros((n_models, self.n_classes, n_regressors))
        all_intercepts = np.full((n_models, self.n_classes), -np.inf)
        all_intercepts[:, self.seen[0]] = 0.0
        all_slopes[:, self.seen[1:]], all_intercepts[:, self.seen[1:]] = slopes, intercepts
        return all_slopes, all_intercepts
