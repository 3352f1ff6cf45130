"""Losses of single test rows, with weights and replaced values: what the engine's must agree with."""

import numpy as np
from reference.cart import grow, predict
from reference.single_column_tree import row_loss


def losses_of_rows(tree, X, y, test, loss, replaced=None, class_weights=None):
    """Loss of each test row, a list.

    ``replaced`` maps a column to what it holds instead, one value for each test position.
    """
    losses = []
    for position, row in enumerate(test):
        values = np.array(X[row], dtype=np.float32)
        for column, instead in (replaced or {}).items():
            values[column] = instead[position]
        weight = 1.0 if class_weights is None else float(class_weights[y[row]])
        losses.append(weight * row_loss(predict(tree, values).value, y[row], loss))
    return losses


def weighted_mean(losses, y, test, class_weights=None):
    """Sum of losses that are weighted already, divided by the sum of the rows' weights."""
    weights = [1.0 if class_weights is None else float(class_weights[y[row]]) for row in test]
    return sum(losses) / sum(weights)


def joint_risks(X, y, n_classes, splits, rules, columns, class_weights=None):
    """Risk of the tree on all columns of X when some are permuted together, one number a split."""
    risks = []
    for train, test, permutation in zip(splits.train, splits.test, splits.permutations, strict=True):
        tree = grow(X, y, n_classes, train, rules)
        replaced = {column: X[test[permutation], column] for column in columns}
        losses = losses_of_rows(tree, X, y, test, rules.loss, replaced, class_weights)
        risks.append(weighted_mean(losses, y, test, class_weights))
    return risks


def single_column_row_losses(X, y, n_classes, splits, rules, draws, class_weights=None):
    """Losses of the tree on each column alone, and on its permuted copies.

    Returns the loss of each row (n_columns, n_rows), its mean over the copies (n_columns, n_rows), and the sum
    over the rows for each copy (n_columns, n_draws).
    """
    n_rows, n_columns = X.shape
    n_draws = len(draws[0])
    base, replaced = np.zeros((n_columns, n_rows)), np.zeros((n_columns, n_rows))
    by_draw = np.zeros((n_columns, n_draws))
    for column in range(n_columns):
        alone = X[:, [column]]
        for train, test, orders in zip(splits.train, splits.test, draws, strict=True):
            tree = grow(alone, y, n_classes, train, rules)
            base[column, test] = losses_of_rows(tree, alone, y, test, rules.loss, None, class_weights)
            for draw, order in enumerate(orders):
                values = {0: [alone[test[position], 0] for position in order]}
                losses = losses_of_rows(tree, alone, y, test, rules.loss, values, class_weights)
                replaced[column, test] += np.array(losses) / n_draws
                by_draw[column, draw] += sum(losses)
    return base, replaced, by_draw
