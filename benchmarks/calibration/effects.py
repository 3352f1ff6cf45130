"""Effects at which the oracle test has a wanted power.

Power curves are comparable between cells only where the problem is equally hard. So the effects of each cell are
chosen by formula, such that the test that knows the model (F-test or likelihood ratio) rejects at 5 % with about
the same probabilities everywhere. What it then did is measured along with the others.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from problems import Problem
from scipy.optimize import brentq
from scipy.stats import chi2, f, ncf, ncx2

LEVEL = 0.05
ORACLE_POWERS = (0.2, 0.5, 0.7, 0.9, 0.97)


@cache
def effect_for(power: float, problem: Problem) -> float:
    """Return the effect at which the oracle reaches a power, to 4 digits: it is part of the results' keys."""
    excess = lambda effect: oracle_power(effect, problem) - power  # noqa: E731
    return float(f"{brentq(excess, 1e-6, 5.0):.4g}")


def oracle_power(effect: float, problem: Problem) -> float:
    """Return the power of the oracle test in a linear problem with continuous columns.

    The statistic is noncentral F or chi-squared with noncentrality ``effect**2`` times the information about the
    coefficient of x. Given z the variance of x is 1 - corr**2; each row of a logistic model counts with the variance
    of its label.
    """
    if problem.link != "linear" or problem.kind != "continuous":
        raise ValueError(
            f"{problem.name}: the formula holds for the linear link and continuous columns only."
        )
    noncentrality = problem.n_rows * effect**2 * (1 - problem.corr**2)
    if problem.task == "regression":
        free = problem.n_rows - 3
        return float(ncf.sf(f.isf(LEVEL, 1, free), 1, free, noncentrality))
    noncentrality *= _label_variance(effect, problem.corr)
    return float(ncx2.sf(chi2.isf(LEVEL, 1), 1, noncentrality))


def _label_variance(effect: float, corr: float) -> float:
    """Return the mean of p (1 - p) over rows: the predictor z + effect * x is normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    scale = np.sqrt(1 + effect**2 + 2 * effect * corr)
    probability = 1 / (1 + np.exp(-scale * nodes))
    return float(weights @ (probability * (1 - probability)) / weights.sum())
