"""What all trees on one column share: the splits in the form that kernels need, and the blocks of columns."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.splits import Splits
from ppfs._engine.inputs.target import Target, make_target, total_statistics
from ppfs._engine.jit.kernels import Float64s, Int32s, Int64s
from ppfs._engine.one_column.neighbor_inputs import Neighbors, make_neighbors
from ppfs._engine.trees.losses import Scoring, make_scoring, total_weights
from ppfs._engine.trees.rules import TreeRules, is_exhaustive

# Below this variance of y, scikit-learn's absolute tolerance for a pure node may stop the growth early.
_SMALL_VARIANCE = 1e-3


class Plan(NamedTuple):
    """The splits in the form that kernels need.

    Attributes
    ----------
    receivers : array of shape (n_splits, n_rows), int32
        See `Splits.receivers`.
    n_train, n_test : arrays of shape (n_splits,), int64
    train_stats, test_stats : arrays of shape (n_splits, n_stats), float64
        Statistics of all rows of a part. For regression, those of the test part are computed after ``center`` is
        subtracted.
    center : float
        The mean of the target: sums of squared errors around it do not suffer from cancellation. Trees are grown from
        the original numbers, because ties between cuts must be rounded as in scikit-learn.
    """

    receivers: Int32s
    n_train: Int64s
    n_test: Int64s
    train_stats: Float64s
    test_stats: Float64s
    center: float
    loss: int


def make_plan(target: Target, n_classes: int, splits: Splits, rules: TreeRules, n_rows: int) -> Plan:
    """Prepare the splits of a table with ``n_rows`` rows."""
    center = 0.0 if n_classes else float(target.values.mean())
    centered = target._replace(values=target.values - center)
    return Plan(
        receivers=splits.receivers(n_rows),
        n_train=np.array([train.size for train in splits.train], dtype=np.int64),
        n_test=np.array([test.size for test in splits.test], dtype=np.int64),
        train_stats=np.array([total_statistics(target, n_classes, train) for train in splits.train]),
        test_stats=np.array([total_statistics(centered, n_classes, test) for test in splits.test]),
        center=center,
        loss=rules.loss_code,
    )


def make_limits(target: Target, splits: Splits, rules: TreeRules) -> Int64s | None:
    """Return the fields of `Limits` for each split, shape (n_splits, 4).

    None means that trees grow until nothing is left to separate; Numba has a separate type for it and does not compile
    the code for limits.
    """
    limits = [rules.limits(train.size) for train in splits.train]
    # If the target has a very small scale, scikit-learn may consider every node pure; the code for limits checks it.
    is_tiny = target.values.size > 0 and target.values.var() < _SMALL_VARIANCE
    if all(is_exhaustive(limit) for limit in limits) and not is_tiny:
        return None
    return np.array(limits, dtype=np.int64)


class PreparedColumns(NamedTuple):
    """What trees on single columns share, prepared once for all columns.

    Attributes
    ----------
    total_weights : array of shape (n_splits,)
        Divisors of the sums of the losses of the test parts.
    neighbors : Neighbors or None
        The inputs for computing full trees from neighbors, if that is possible.
    """

    target: Target
    scoring: Scoring
    plan: Plan
    limits: Int64s | None
    splits: Splits
    total_weights: Float64s
    neighbors: Neighbors | None


def prepare_columns(
    y: npt.ArrayLike,
    n_classes: int,
    splits: Splits,
    rules: TreeRules,
    class_weights: npt.ArrayLike | None = None,
    row_weights: npt.ArrayLike | None = None,
) -> PreparedColumns:
    """Prepare trees on single columns.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Class codes from 0, or numbers.
    n_classes : int
        Number of classes of the whole table; 0 for regression. A class that is not in a train part is predicted with
        probability 0.
    class_weights : array of shape (n_classes,) or None
        Weights of the test rows by their class; trees are grown without them. None for numbers.
    row_weights : array of shape (n_rows,) or None
        Factors of the losses of test rows.
    """
    target = make_target(y, n_classes)
    scoring = make_scoring(rules, n_classes, class_weights, row_weights)
    limits, n_rows = make_limits(target, splits, rules), np.shape(y)[0]
    return PreparedColumns(
        target,
        scoring,
        make_plan(target, n_classes, splits, rules, n_rows),
        limits,
        splits,
        total_weights(target, scoring, splits.test),
        # Neighbors are counted, which is not possible for rows with real weights.
        make_neighbors(splits, target, scoring, n_classes, n_rows)
        if limits is None and row_weights is None
        else None,
    )
