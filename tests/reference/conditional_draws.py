"""The package's models of a column given others, with every leave-one-out fit made."""

import numpy as np
from reference.residual_products import hat, penalty_of
from scipy.stats import norm as normal

from ppfs.independence._predictive.residuals.regressors import GivenColumn, design_of


def expected_of(Z, x):
    """What ridge regression expects of each row; the regressors are those of the test by products of residuals."""
    design = design_of([GivenColumn.of(z, False) for z in Z.T])
    centered = x - x.mean()
    return x.mean() + hat(design, penalty_of(design, centered)) @ centered


def normal_scores(column):
    """Each value's mean rank, as a quantile of the normal distribution."""
    n = len(column)
    ranks = [sum(other < value for other in column) + (sum(column == value) + 1) / 2 for value in column]
    return np.array([normal.ppf((rank - 0.5) / n) for rank in ranks])


def law_of_quantity(Z, x):
    """What is expected of each row and what x is, on the scale chosen, and the way back from that scale."""
    as_it_is = expected_of(Z, x)
    uneven = unevenness(x, as_it_is)
    if len(set(x)) <= 10 or uneven < 5.99:
        return as_it_is, x, lambda level: level
    scores = normal_scores(x)
    expected_score = expected_of(Z, scores)
    if unevenness(scores, expected_score) >= uneven:
        return as_it_is, x, lambda level: level
    return expected_score, scores, lambda score: x[np.argmin(np.abs(scores - score))]


def unevenness(x, expected):
    """Rows times the share of the residuals' spread that a parabola in what is expected explains."""
    level, spread = normal_scores(expected), normal_scores(np.abs(x - expected))
    fitted = np.polyval(np.polyfit(level, spread, 2), level)
    return len(x) * (1 - ((spread - fitted) ** 2).sum() / ((spread - spread.mean()) ** 2).sum())


def probabilities(Z, labels):
    """What ridge regression of the indicators expects of each row, without negative shares."""
    indicators = [(labels == label).astype(float) for label in sorted(set(labels))]
    shares = np.maximum(np.array([expected_of(Z, indicator) for indicator in indicators]).T, 0.0)
    return shares / shares.sum(axis=1, keepdims=True)
