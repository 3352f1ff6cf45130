"""PPI and PPFS written from the paper with plain loops.

Nothing is shared with the package: the splits, the shuffles and the seed of each split's model are drawn
by `reference.drawing`. Nothing is cached and nothing is batched: every question fits its B models again.
"""

import math
from collections import Counter
from itertools import product

import numpy as np
from reference import drawing
from scipy.stats import rankdata
from sklearn.base import clone


def column_order(X, columns):
    """Columns by content: the package shows a model its columns in this order."""
    from hashlib import blake2b

    def content(column):
        rows = np.flatnonzero(X[:, column])
        return blake2b(rows.astype(np.int64).tobytes() + X[rows, column].tobytes(), digest_size=16).digest()

    return sorted(columns, key=lambda column: (content(column), column))


def mean_log_loss(model, X_test, y_test):
    classes = list(model.classes_)
    total = 0.0
    for row, label in zip(model.predict_proba(X_test), y_test, strict=True):
        probability = row[classes.index(label)] if label in classes else 0.0
        probability = min(max(probability, 2.0**-52), 1 - 2.0**-52)
        total += -math.log(probability)
    return total / len(y_test)


def mean_squared_error(model, X_test, y_test):
    errors = [(a - b) ** 2 for a, b in zip(model.predict(X_test), y_test, strict=True)]
    return sum(errors) / len(errors)


def one_sided_wilcoxon(risks, knockoff_risks):
    """p-value of "the knockoff's risk is higher", by going through all signs; at most 13 pairs.

    Differences that are only rounding count as zero, and zeros give half their ranks to either side.
    """
    size = max(max(risks), max(knockoff_risks))
    grid = 2.0 ** (math.frexp(size)[1] - 33)
    differences = [round((b - a) / grid) * grid for a, b in zip(risks, knockoff_risks, strict=True)]
    if all(difference == 0 for difference in differences):
        return 1.0, 0.0
    ranks = rankdata([abs(difference) for difference in differences])

    def rank_sum(signs):
        return sum(rank * {1: 1.0, 0: 0.5, -1: 0.0}[sign] for rank, sign in zip(ranks, signs, strict=True))

    observed = rank_sum([int(d > 0) - int(d < 0) for d in differences])
    patterns = list(product(*[(0, 0) if d == 0 else (1, -1) for d in differences]))
    n_as_high = sum(rank_sum(signs) >= observed for signs in patterns)
    return n_as_high / len(patterns), sum(differences) / len(differences)


def ppi(X, y, x, given, *, model, loss, splits):
    """Return p-value and mean rise in risk for "x is independent of y given these columns"."""
    is_constant = all(value == X[0, x] for value in X[:, x])
    is_copy = any(np.array_equal(X[:, x], X[:, column]) for column in given)
    if is_constant or is_copy:
        return 1.0, 0.0
    columns = column_order(X, [x, *given])
    where = columns.index(x)
    risks, knockoff_risks = [], []
    for split in splits:
        X_train, X_test = X[np.ix_(split.train, columns)], X[np.ix_(split.test, columns)]
        y_train, y_test = y[split.train], y[split.test]
        fitted = clone(model).set_params(random_state=split.seed).fit(X_train, y_train)
        risks.append(loss(fitted, X_test, y_test))
        knockoff = X_test.copy()
        for i in range(len(y_test)):
            knockoff[i, where] = X_test[split.permutation[i], where]
        knockoff_risks.append(loss(fitted, knockoff, y_test))
    return one_sided_wilcoxon(risks, knockoff_risks)


def search(X, y, *, model, loss, splits, alpha):
    """Grow, order, shrink; return the blanket and every column's last p-value."""
    ask = {"model": model, "loss": loss, "splits": splits}
    growth = [ppi(X, y, x, [], **ask) for x in range(X.shape[1])]
    last_p = [p for p, _ in growth]
    blanket = [x for x in range(X.shape[1]) if growth[x][0] <= alpha]
    blanket.sort(key=lambda x: (-growth[x][0], growth[x][1]))
    for x in list(blanket):
        others = [column for column in blanket if column != x]
        last_p[x], _ = ppi(X, y, x, others, **ask)
        if last_p[x] > alpha:
            blanket.remove(x)
    return blanket, last_p


def splits_of(X, y, *, n_splits, seed, fold, stratified):
    labels = y if stratified else None
    return drawing.splits(len(X), labels, n_splits=n_splits, test_size=0.2, entropy=seed, fold=fold)


def aggregated(blankets):
    """Return the position of the blanket with the largest z."""
    frequency = Counter(column for blanket in blankets for column in blanket)
    z = [
        sum(frequency[column] for column in blanket) / len(blanket) if blanket else 0.0
        for blanket in blankets
    ]
    return z.index(max(z)), z
