"""Binned columns, the input of boosting on several columns, prepared once for every split."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.boosting.bins import bin_of, find_edges
from ppfs._engine.boosting.problem import BoostingProblem
from ppfs._engine.boosting.rules import BoostingLimits
from ppfs._engine.inputs.splits import TRAIN
from ppfs._engine.jit.kernels import (
    Bools,
    Float64s,
    Int32s,
    Int64s,
    Uint8s,
    Uint32s,
    int64,
    kernel,
    kernel_function,
)
from ppfs._engine.jit.threads import run_tasks

#: The bin of missing values. Other bins are at most 255, numbered from 0.
MISSING = 255


class Bins(NamedTuple):
    """The columns of one split in bins.

    Attributes
    ----------
    train : array of shape (n_columns, n_train), uint8
        Bins of the train rows, in the order of the train part.
    order : array of shape (n_columns, n_train), uint32
        Places in the train part, ordered by bin; missing values come last.
    test : array of shape (n_columns, n_test), uint8
    edges : array of shape (n_columns, max_bins), float64
        Upper edges of the bins; the categories of a categorical column.
    n_edges : array of shape (n_columns,), int64
    has_missing : array of shape (n_columns,), bool
        Whether the value of a train row is missing.
    """

    train: Uint8s
    order: Uint32s
    test: Uint8s
    edges: Float64s
    n_edges: Int64s
    has_missing: Bools


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """Columns in bins, for every split.

    Attributes
    ----------
    is_category : array of shape (n_columns,), bool
        Columns whose values are categories. Each category of the train part is a bin; all other categories count as
        missing values.
    """

    is_category: Bools
    splits: tuple[Bins, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.is_category.size)


@kernel_function
def _bin(value: float, is_category: bool, n_edges: int, edges: Float64s) -> int:
    """Return the bin of a value; a category that is not in the train part counts as a missing value."""
    if np.isnan(value):
        return MISSING
    number: int = bin_of(value, n_edges, edges)
    if is_category and (number == n_edges or edges[number] != value):
        return MISSING
    return number


@kernel
def _bin_split(
    split: int,
    X: Float64s,
    by_value: Int64s,
    is_category: Bools,
    roles: Int32s,
    places: Int64s,
    weights: Float64s | None,
    limits: BoostingLimits,
    values: Float64s,
    running: Float64s | None,
    bins: Bins,
) -> None:
    """Fill the bins of one split.

    Parameters
    ----------
    by_value : array of shape (n_columns, n_rows)
        Rows in the order of a column's values, missing ones last.
    places : array of shape (n_rows,)
        Place of a row in the train part.
    weights : array of shape (n_rows,) or None
        Weights of the rows.
    values, running : arrays of shape (n_rows,)
        Scratch memory. ``running`` is used for cumulative weights, if rows have weights.
    """
    for column in range(X.shape[1]):
        n_known, n_train = int64(0), 0
        for row in by_value[column]:
            if roles[split, row] == TRAIN:
                bins.order[column, n_train] = places[row]
                n_train += 1
                if not np.isnan(X[row, column]):
                    values[n_known] = X[row, column]
                    if weights is not None and running is not None:
                        before = running[n_known - 1] if n_known else 0.0
                        running[n_known] = before + weights[row]
                    n_known += 1
        bins.has_missing[column] = n_known < n_train
        edges = bins.edges[column]
        n_edges = 0
        if is_category[column]:
            for i in range(n_known):
                if i == 0 or values[i] != values[i - 1]:
                    edges[n_edges] = values[i]
                    n_edges += 1
        else:
            n_edges = find_edges(n_known, values, running, limits, edges)
        bins.n_edges[column] = n_edges
        for row in range(X.shape[0]):
            role = roles[split, row]
            if role == TRAIN:
                bins.train[column, places[row]] = _bin(X[row, column], is_category[column], n_edges, edges)
            elif role >= 0:
                bins.test[column, role] = _bin(X[row, column], is_category[column], n_edges, edges)


@kernel
def bin_values(
    values: Float64s, columns: Int64s, is_category: Bools, n_edges: Int64s, edges: Float64s, out: Uint8s
) -> None:
    """Fill ``out`` with the bins of the ``values`` of some columns; both have the shape (n, n_draws, n_test)."""
    for i in range(columns.size):
        column = columns[i]
        for draw in range(values.shape[1]):
            for row in range(values.shape[2]):
                out[i, draw, row] = _bin(
                    values[i, draw, row], is_category[column], n_edges[column], edges[column]
                )


def bin_columns(
    X: npt.ArrayLike, problem: BoostingProblem, is_category: npt.ArrayLike | None = None, n_threads: int = 1
) -> BinnedColumns:
    """Bin columns as scikit-learn does, for every split.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        NaN is a missing value.
    is_category : array of shape (n_columns,), or None
        Columns whose values are categories, at most `max_bins` of them in a train part.
    """
    columns = np.require(X, dtype=np.float64, requirements=["C", "W"])
    n_rows, n_columns = columns.shape
    are_categories = np.zeros(n_columns, dtype=np.bool_)
    if is_category is not None:
        are_categories |= np.asarray(is_category, dtype=np.bool_)
    by_value = np.argsort(columns.T, axis=1, kind="stable")
    limits = problem.rules.limits

    def run(split: int) -> Bins:
        train, test = problem.train[split], problem.test[split]
        places = np.zeros(n_rows, dtype=np.int64)
        places[train] = np.arange(train.size)
        bins = Bins(
            train=np.empty((n_columns, train.size), dtype=np.uint8),
            order=np.empty((n_columns, train.size), dtype=np.uint32),
            test=np.empty((n_columns, test.size), dtype=np.uint8),
            edges=np.empty((n_columns, limits.max_bins)),
            n_edges=np.empty(n_columns, dtype=np.int64),
            has_missing=np.empty(n_columns, dtype=np.bool_),
        )
        train_parts = problem.train_parts
        _bin_split(
            split,
            columns,
            by_value,
            are_categories,
            train_parts.roles,
            places,
            problem.bin_weights,
            limits,
            np.empty(n_rows),
            None if problem.bin_weights is None else np.empty(n_rows),
            bins,
        )
        return bins

    splits: Sequence[int] = range(problem.n_splits)
    return BinnedColumns(are_categories, tuple(run_tasks(run, splits, n_threads)))
