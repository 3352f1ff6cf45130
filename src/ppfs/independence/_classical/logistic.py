"""Maximum likelihood of binary and multinomial logistic regression.

A likelihood ratio needs the unpenalized optimum to many digits, thousands of times, each time starting from the
optimum of a model with one column less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._classical.regressors import Extensions

# The iteration ends when a Newton step would raise the likelihood by less than this. With separated classes
# the limit is at infinite coefficients; each step then gains a third of the last.
_TOLERANCE = 1e-9

# Where the regressors separate the classes the limit is 0. The iteration ends a little below it, at a different value
# for each model; with the limit itself, models that separate the classes have equal likelihoods.
_SEPARATED = -1e-7


@dataclass(frozen=True)
class LogisticFit:
    """A fitted model.

    Attributes
    ----------
    coefficients : ndarray of shape (n_regressors, n_classes - 1)
        Log-odds against class 0.

    log_likelihood : float
        Its maximum, or its limit where the regressors separate the classes.
    """

    coefficients: Floats
    log_likelihood: float


def fit_logistic(design: Floats, labels: NDArray[np.intp], start: Floats | None = None) -> LogisticFit:
    """Maximize the likelihood.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_regressors)
        Orthonormal columns, the intercept's direction among them.

    labels : ndarray of shape (n_rows,)
        Classes 0 to n_classes - 1, each present.

    start : ndarray of shape (n_known, n_classes - 1), default=None
        Coefficients of the first regressors in a smaller model; the others start at 0.
    """
    n_classes = int(labels.max()) + 1
    coefficients = np.zeros((n_classes - 1, design.shape[1]))
    if start is not None:
        coefficients[:, : len(start)] = start.T
    likelihood = _engine.Likelihood(
        design=np.ascontiguousarray(design.T, dtype=np.float64),
        classes=np.ascontiguousarray(labels, dtype=np.int64),
        weights=np.empty(0),
        penalties=np.zeros(design.shape[1]),
        n_classes=n_classes,
        is_symmetric=False,
    )
    fitted, value = _engine.fit_scores(likelihood, coefficients, _TOLERANCE)
    return LogisticFit(np.ascontiguousarray(fitted.T), float(_limit(-value)))


def fit_extended(
    extensions: Extensions, wanted_mask: NDArray[np.bool_], labels: NDArray[np.intp], without: LogisticFit
) -> Floats:
    """Maximize the likelihood on a basis and the directions that one variable adds, for each of several variables.

    Parameters
    ----------
    wanted_mask : ndarray of bool, shape (n_variables,)
        The variables to fit.

    without : LogisticFit
        The model that has only the basis.

    Returns
    -------
    ndarray of shape (n_variables,)
        The maxima of the log-likelihood; 0 for the other variables.
    """
    log_likelihoods = np.zeros(wanted_mask.size)
    _engine.fit_extensions(
        extensions.basis,
        extensions.directions,
        extensions.starts,
        np.where(wanted_mask, extensions.n_added, 0),
        labels.astype(np.int64, copy=False),
        np.ascontiguousarray(without.coefficients.T),
        _TOLERANCE,
        log_likelihoods,
    )
    return np.asarray(_limit(log_likelihoods))


def _limit(log_likelihood: float | Floats) -> float | Floats:
    return np.where(np.asarray(log_likelihood) > _SEPARATED, 0.0, log_likelihood)
