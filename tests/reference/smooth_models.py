"""The package's models of a column given others, with every leave-one-out fit made."""

import numpy as np
from scipy.stats import norm as normal
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import SplineTransformer

PENALTIES = [10.0 ** (-3 + 0.5 * i) for i in range(15)]


def regressors(Z, has_curves):
    """A line a column; with curves also cubic splines, or one indicator a value for columns of at most ten."""
    parts = []
    for z in Z.T:
        values = sorted(set(z))
        if has_curves and len(values) <= 10:
            parts += [(z == value).astype(float) for value in values[1:]]
            continue
        parts.append((z - np.mean(z)) / np.std(z))
        if has_curves:
            n_knots = min(max(round(len(z) ** (1 / 3)), 4), 20)
            knots = sorted(set(np.quantile(z, [i / (n_knots - 1) for i in range(n_knots)])))
            if len(knots) >= 3:
                curve = SplineTransformer(
                    knots=np.array(knots)[:, None], extrapolation="linear", include_bias=False
                )
                parts += list(curve.fit(z[:, None]).transform(z[:, None]).T)
    return np.array(parts).T


def candidate_designs(Z):
    """Lines, and curves where there are five rows per coefficient."""
    lines, curves = regressors(Z, False), regressors(Z, True)
    if curves.shape[1] > lines.shape[1] and 5 * curves.shape[1] <= len(Z):
        return [lines, curves]
    return [lines]


def ridge(design, x, penalty):
    """Coefficients and intercept; the intercept is not penalised."""
    centre, mean = design.mean(axis=0), x.mean()
    centred = design - centre
    gram = centred.T @ centred + penalty * np.eye(design.shape[1])
    slopes = np.linalg.solve(gram, centred.T @ (x - mean))
    return slopes, mean - centre @ slopes


def leave_one_out_error(design, x, penalty):
    total = 0.0
    for row in range(len(x)):
        others = np.arange(len(x)) != row
        slopes, intercept = ridge(design[others], x[others], penalty)
        total += (x[row] - design[row] @ slopes - intercept) ** 2
    return total / len(x)


def normal_scores(column):
    """Each value's mean rank, as a quantile of the normal distribution."""
    n = len(column)
    ranks = [sum(other < value for other in column) + (sum(column == value) + 1) / 2 for value in column]
    return np.array([normal.ppf(rank / (n + 1)) for rank in ranks])


def law_of_quantity(Z, x):
    """What is expected of each row and what x is, on the scale chosen, and the way back from that scale."""
    as_it_is = expected_quantity(Z, x)
    uneven = unevenness(x, as_it_is)
    if len(set(x)) <= 10 or uneven < 5.99:
        return as_it_is, x, lambda level: level
    scores = normal_scores(x)
    scored = np.array([z if len(set(z)) <= 10 else normal_scores(z) for z in Z.T]).T
    expected_score = expected_quantity(scored, scores)
    if unevenness(scores, expected_score) >= uneven:
        return as_it_is, x, lambda level: level
    return expected_score, scores, lambda score: value_at(score, scores, x)


def unevenness(x, expected):
    """Rows times the share of the residuals' spread that a parabola in what is expected explains."""
    level, spread = normal_scores(expected), normal_scores(np.abs(x - expected))
    fitted = np.polyval(np.polyfit(level, spread, 2), level)
    return len(x) * (1 - ((spread - fitted) ** 2).sum() / ((spread - spread.mean()) ** 2).sum())


def value_at(score, scores, x):
    """Between two values in proportion, or the nearer one where some are equal."""
    below = max((i for i in range(len(x)) if scores[i] <= score), key=lambda i: scores[i], default=None)
    above = min((i for i in range(len(x)) if scores[i] > score), key=lambda i: scores[i], default=None)
    if below is None or above is None:
        return min(x) if below is None else max(x)
    share = (score - scores[below]) / (scores[above] - scores[below])
    if len(set(x)) < len(x):
        return x[above] if share > 0.5 else x[below]
    return x[below] + share * (x[above] - x[below])


def expected_quantity(Z, x):
    """What ridge regression expects of each row; basis and penalty by the leave-one-out error."""
    candidates = [
        (leave_one_out_error(design, x, penalty), number, penalty)
        for number, design in enumerate(candidate_designs(Z))
        for penalty in PENALTIES
    ]
    _, number, penalty = min(candidates, key=lambda one: one[0])
    design = candidate_designs(Z)[number]
    slopes, intercept = ridge(design, x, penalty)
    return design @ slopes + intercept


def probabilities(Z, labels):
    """What logistic regression says of each row; the basis by Akaike's criterion."""
    found = []
    for design in candidate_designs(Z):
        model = LogisticRegression(C=10.0, max_iter=1000).fit(design, labels)
        shares = model.predict_proba(design)
        likelihood = sum(np.log(row[label]) for row, label in zip(shares, labels, strict=True))
        n_coefficients = design.shape[1] * (len(set(labels)) - 1)
        found.append((2 * n_coefficients - 2 * likelihood, shares))
    return min(found, key=lambda one: one[0])[1]
