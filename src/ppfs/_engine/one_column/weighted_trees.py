"""Predictions of trees on one column with row weights or missing values.

The other kernels of the growth phase count rows and do not accept missing values. Here every train row is a separate
group (see `groups`) and weights are added row by row, because sums of real weights depend on the order of their terms.
Rows with missing values come last.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.bit_sets import NONE
from ppfs._engine.inputs.target import Target, make_target
from ppfs._engine.jit.kernels import Float32s, Float64s, Int64s, int64, kernel, kernel_function
from ppfs._engine.one_column.groups import add_to_group, open_group
from ppfs._engine.one_column.leaves import Work, leaf_of, limited_leaves, make_work
from ppfs._engine.trees.rules import Limits, TreeRules


class ColumnsInOrder(NamedTuple):
    """Columns and the order of their rows.

    Attributes
    ----------
    values : array of shape (n_columns, n_rows), float32
    order : array of shape (n_columns, n_rows), int64
        Row numbers by value; missing values come last.
    """

    values: Float32s
    order: Int64s


def order_columns(X: npt.ArrayLike) -> ColumnsInOrder:
    """Sort columns (n_rows, n_columns), which may have missing values."""
    values = np.array(np.transpose(X), dtype=np.float32, order="C")
    return ColumnsInOrder(values, np.argsort(values, axis=1, kind="stable"))


@kernel_function
def _gather(
    values: Float32s, order: Int64s, target: Target, weights: Float64s, work: Work
) -> tuple[int, int, float]:
    """Make one group per train row, in the order of the values.

    Returns the number of rows without a missing value, that of all rows, and their weight.
    """
    n_known, n_rows, total = int64(0), int64(0), 0.0
    for row in order:
        if weights[row] > 0.0:
            open_group(n_rows, values[row], work.groups)
            add_to_group(n_rows, row, weights[row], target, work.groups)
            total += weights[row]
            n_rows += 1
            n_known += values[row] == values[row]
    return n_known, n_rows, total


@kernel
def _predict_columns(
    columns: ColumnsInOrder,
    target: Target,
    weights: Float64s,
    limits: Limits,
    tested: Int64s,
    work: Work,
    predicted: Float64s,
) -> None:
    """Sum the predictions of the trees of each column; see `tree_predictions`."""
    groups = work.groups
    for column in range(columns.values.shape[0]):
        values = columns.values[column]
        for tree in range(weights.shape[0]):
            weighted = Target(target.classes, target.values, weights[tree])
            n_known, n_rows, total = _gather(values, columns.order[column], target, weights[tree], work)
            n_leaves, missing_leaf = limited_leaves(
                n_known, n_rows, total, NONE, NONE, None, weighted, True, limits, groups, work.pending
            )
            for place in range(tested.size):
                leaf = leaf_of(values[tested[place]], n_leaves, missing_leaf, groups)
                weight = groups.records[leaf]["weight"]
                for output in range(predicted.shape[2]):
                    predicted[column, place, output] += groups.stats[leaf, output] / weight


def tree_predictions(
    columns: ColumnsInOrder,
    y: npt.ArrayLike,
    n_classes: int,
    weights: npt.NDArray[np.float64],
    n_train: int,
    tested: npt.NDArray[np.integer],
    rules: TreeRules,
) -> Float64s:
    """Grow trees on each single column and return the mean of their predictions.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Class codes from 0, or numbers.
    n_classes : int
        0 for regression.
    weights : array of shape (n_trees, n_rows)
        Weights of the rows in each tree; 0 for rows that are not used.
    n_train : int
        Number of rows of the train part, which converts limits that are fractions to counts.
    tested : array of shape (n_test,)
        The rows to predict.

    Returns
    -------
    array of shape (n_columns, n_test, n_outputs)
        Class probabilities, or the number.
    """
    n_columns, n_rows = columns.values.shape
    predicted = np.zeros((n_columns, len(tested), n_classes or 1))
    _predict_columns(
        columns,
        make_target(y, n_classes),
        np.array(weights, dtype=np.float64, order="C"),
        rules.limits(n_train),
        np.array(tested, dtype=np.int64),
        make_work(n_rows, n_classes or 2),
        predicted,
    )
    return predicted / len(weights)
