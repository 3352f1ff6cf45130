"""CrossFitPPI and the conditional PPI in plain loops.

Nothing is shared with the package: `reference.drawing` draws folds, shuffles and seeds, and
`reference.conditional_draws` fits x given the other columns.
"""

import math

import numpy as np
from reference.conditional_draws import law_of_quantity, probabilities
from reference.paper import column_order
from scipy.stats import chi2
from scipy.stats import norm as normal
from scipy.stats import t as student
from sklearn.base import clone


def row_losses(model, X, y, loss):
    """Log-loss, Brier score or squared error of each row."""
    if not hasattr(model, "predict_proba"):
        return [(truth - value) ** 2 for truth, value in zip(y, model.predict(X), strict=True)]
    classes = list(model.classes_)
    losses = []
    for row, label in zip(model.predict_proba(X), y, strict=True):
        if loss == "brier":
            losses.append(sum((share - (one == label)) ** 2 for share, one in zip(row, classes, strict=True)))
            continue
        probability = row[classes.index(label)] if label in classes else 0.0
        losses.append(-math.log(min(max(probability, 2.0**-52), 1 - 2.0**-52)))
    return losses


def draws_of(x, Z, is_categorical):
    """Return a function (split, draw) that draws x in the test part given the other columns."""
    if Z.shape[1] == 0:
        return lambda split, draw: [x[split.test[j]] for j in split.permutations[draw]]
    strata = [tuple(row) for row in Z]
    are_few = all(len(set(column)) <= 10 and all(value == round(value) for value in column) for column in Z.T)
    # Fitted once: on all rows, whatever the split and the draw.
    law = probabilities(Z, codes_of(x)) if is_categorical else law_of_quantity(Z, x)

    def draw_of(split, draw):
        if are_few and len(split.test) >= 4 * len(set(strata)):
            return shuffled_within(x, strata, split, draw)
        if is_categorical:
            return drawn_values(sorted(set(x)), codes_of(x), law, split, draw)
        expected, level, back = law
        return [
            back(expected[row] + level[split.test[j]] - expected[split.test[j]])
            for row, j in zip(split.test, split.permutations[draw], strict=True)
        ]

    return draw_of


def codes_of(x):
    values = sorted(set(x))
    return np.array([values.index(value) for value in x])


def drawn_values(values, labels, shares, split, draw):
    """Walk up the probabilities of each row to the place that another row's value has among its probabilities."""
    uniforms = np.random.default_rng(split.seed).random(len(split.test))
    places = [
        sum(shares[row][: labels[row]]) + uniform * shares[row][labels[row]]
        for row, uniform in zip(split.test, uniforms, strict=True)
    ]
    drawn = []
    for row, other in zip(split.test, split.permutations[draw], strict=True):
        below, which = shares[row][0], 0
        while places[other] > below and which < len(values) - 1:
            which += 1
            below += shares[row][which]
        drawn.append(values[which])
    return drawn


def shuffled_within(x, strata, split, draw):
    """Deal the values of each stratum's test rows out again, in the order of the shuffle."""
    dealt = {stratum: [] for stratum in strata}
    for j in split.permutations[draw]:
        dealt[strata[split.test[j]]].append(x[split.test[j]])
    return [dealt[strata[row]].pop(0) for row in split.test]


def differences(X, y, x, given, *, model, splits, is_categorical, loss="brier"):
    """Rise of each tested row's loss, by draw: one list of (n_test, n_draws) a split."""
    columns = column_order(X, [x, *given])
    where = columns.index(x)
    others = [column for column in columns if column != x]
    draw_of = draws_of(X[:, x], X[:, others], is_categorical)
    answer = []
    for split in splits:
        design = X[:, columns]
        fitted = clone(model)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=split.seed)
        fitted.fit(design[split.train], y[split.train])
        base = row_losses(fitted, design[split.test], y[split.test], loss)
        rises = []
        for draw in range(len(split.permutations)):
            replaced = design[split.test].copy()
            replaced[:, where] = draw_of(split, draw)
            rises.append(np.subtract(row_losses(fitted, replaced, y[split.test], loss), base))
        answer.append(np.array(rises).T)
    return answer


def row_test(by_split, factor, is_carried=False):
    """One-sided t-test over all tested rows, the variance multiplied by `factor`.

    With `is_carried`, the degrees of freedom are the number of rows that carry the differences.
    """
    rows = [float(np.mean(row)) for split in by_split for row in split]
    n = len(rows)
    carried = sum(row**2 for row in rows) ** 2 / sum(row**4 for row in rows)
    mean = sum(rows) / n
    variance = sum((row - mean) ** 2 for row in rows) / (n - 1)
    return student.sf(mean / math.sqrt(factor * variance / n), min(carried, n - 1) if is_carried else n - 1)


def shared_pattern_test(by_split, n_coefficients, is_carried=False):
    """The test over rows, its statistic read as (U - q) / sqrt(U) with a chi-squared U, found by bisection."""
    plain = row_test(by_split, 1.0, is_carried)
    z = normal.isf(plain)
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        if middle - n_coefficients < z * math.sqrt(middle):
            low = middle
        else:
            high = middle
    return max(plain, chi2.sf(low, n_coefficients))


def randomisation_test(by_split):
    """(1 + draws with no higher total risk) / (1 + draws)."""
    totals = sum(split.sum(axis=0) for split in by_split)
    return (1 + sum(total <= 1e-9 for total in totals)) / (1 + len(totals))


def corrected_t_test(by_split, splits):
    """Nadeau and Bengio's t-test over the splits."""
    means = [float(split.mean()) for split in by_split]
    n = len(means)
    mean = sum(means) / n
    variance = sum((value - mean) ** 2 for value in means) / (n - 1)
    factor = 1 / n + len(splits[0].test) / len(splits[0].train)
    return student.sf(mean / math.sqrt(factor * variance), n - 1)
