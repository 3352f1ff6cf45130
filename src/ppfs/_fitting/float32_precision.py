"""Columns and targets for trees: shifted and scaled if values would be equal in 32 bits.

scikit-learn's trees read columns in 32 bits and treat values that differ by 1e-7 as equal; a node of a regression tree
whose variance is below 2.2e-16 is a leaf. So a tree finds no split in a column of timestamps, of amounts in the
millions with small differences, or of concentrations in moles. A tree splits between neighboring values: adding a
number to a column, or multiplying it by a power of two, moves the splits and leaves the predictions as they are. Both
operations are exact here, and only columns that lose distinct values in 32 bits are changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats, warn_caller
from ppfs._data import Block, ColumnFacts, Matrix, Table, dense_column, facts_of
from ppfs._fitting.wanted_encoding import TRANSPARENT, TREES_BY_DEFAULT, is_tree_itself, wanted_encoding
from ppfs._printable import listed
from ppfs.exceptions import PrecisionWarning, UnusableColumnError

# The variance at which a node of a regression tree is a leaf.
_LEAF_VARIANCE = float(np.finfo(np.float64).eps)

# Changed columns have a range of 2**10 to 2**11, targets of 4 to 8, like standard normal numbers: the thresholds of
# trees are made for such ranges.
_COLUMN_EXPONENT = 11
_TARGET_EXPONENT = 3

# If one of these precedes the tree in a pipeline, no change is needed.
_SCALERS = frozenset(
    {
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    }
)
_EQUIVARIANT_TREES = frozenset(
    {"DecisionTreeRegressor", "ExtraTreeRegressor", "ExtraTreesRegressor", "RandomForestRegressor"}
)
_EQUIVARIANT_CRITERIA = frozenset({"squared_error", "friedman_mse", "absolute_error"})


def reads_float32(estimator: Any) -> bool:
    """Return whether an estimator is a tree, or an ensemble of trees, that reads columns directly in 32 bits."""
    if is_tree_itself(estimator):
        return True
    name = type(estimator).__name__
    if name in TRANSPARENT or name in TREES_BY_DEFAULT:
        inner = getattr(estimator, "estimator", None)
        return reads_float32(inner) if hasattr(inner, "fit") else name in TREES_BY_DEFAULT
    return False


def is_equivariant(estimator: Any) -> bool:
    """Return whether shifting and scaling the target shifts and scales the predictions of an estimator."""
    if not is_tree_itself(estimator) or type(estimator).__name__ not in _EQUIVARIANT_TREES:
        return False
    return (
        estimator.criterion in _EQUIVARIANT_CRITERIA
        and estimator.min_impurity_decrease == 0
        and estimator.ccp_alpha == 0
    )


def table_for_float32(table: Table, estimator: Any) -> Table:
    """Return the table with changed columns, if the estimator reads 32 bits and a column would lose distinct values."""
    return table.seen_through(matrix_for_float32) if reads_float32(estimator) else table


def block_for_float32(block: Block) -> Block:
    """Return the block with columns shifted and scaled that would lose distinct values; itself if there are none."""
    moved = _moved_columns(block.X, block.facts, block.n_levels, block.names)
    return block if not moved else Block(_with_columns(block.X, moved), block.n_levels, block.names)


def is_sharp(block: Block) -> bool:
    """Return whether no column may lose distinct values in 32 bits, as their extremes tell."""
    return not _may_be_blurred(block.facts, int(block.X.shape[0])).any()


def matrix_for_float32(X: Matrix, n_levels: NDArray[np.intp]) -> Matrix:
    """Return a matrix with columns shifted and scaled that would lose distinct values; itself if there are none."""
    columns = X.tocsc() if sp.issparse(X) else X
    moved = _moved_columns(columns, facts_of(columns), n_levels)
    if not moved:
        return X
    changed = _with_columns(columns, moved)
    return changed.tocsr() if sp.issparse(X) else changed


def warn_of_lost_precision(table: Table, estimator: Any) -> None:
    """Warn of columns that lose distinct values in the trees inside another estimator."""
    if not table.is_in_memory or reads_float32(estimator) or wanted_encoding(estimator).encoding != "codes":
        return
    if any(type(step).__name__ in _SCALERS for _, step in getattr(estimator, "steps", ())):
        return
    columns = table.X
    moved = sorted(_moved_columns(columns, table.facts, table.n_levels))
    blurred = [column for column in moved if _n_blurred(_distinct(_stored(columns, column)))]
    if blurred:
        warn_caller(
            f"The trees inside {type(estimator).__name__} read columns in 32 bits and cannot distinguish values of "
            f"{listed([table.column_names[column] for column in blurred])}. Subtract a typical value and divide by the "
            "spread of the column, or put a StandardScaler before the trees.",
            PrecisionWarning,
        )


def target_for_float32(y: Floats) -> tuple[Floats, float]:
    """Return a target that loses no distinct values in a regression tree, and its unit in the caller's units.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)

    Returns
    -------
    target : ndarray of shape (n_rows,)
        The target itself if no change is needed; else shifted by one of its values and divided by the unit.

    unit : float
        A power of two.
    """
    low, high = float(y.min()), float(y.max())
    largest, spread = max(abs(low), abs(high)), high - low
    if not 0 < spread < np.inf:
        return y, 1.0
    is_far = largest > 2.0**12 * spread
    is_fine = spread < 3e-6 * y.size and _n_blurred_targets(y) > _n_blurred_targets(
        _moved(y, _TARGET_EXPONENT)
    )
    if not (is_far or is_fine or spread > 2.0**26):
        return y, 1.0
    return _moved(y, _TARGET_EXPONENT), 2.0 ** (int(np.frexp(spread)[1]) - _TARGET_EXPONENT)


def _moved_columns(
    X: Matrix, facts: ColumnFacts, n_levels: NDArray[np.intp], names: Sequence[str] = ()
) -> dict[int, Floats]:
    """Return new values of each column that loses distinct values in 32 bits; only stored ones of a sparse matrix."""
    moved = {}
    for column in np.flatnonzero(_may_be_blurred(facts, int(X.shape[0])) & (n_levels == 0)).tolist():
        values = _stored(X, column)
        if _are_seen_whole(values):
            continue
        other = _moved(values, _COLUMN_EXPONENT, may_shift=not sp.issparse(X))
        if _is_sharper(other, values):
            moved[column] = other
        elif facts.is_too_large[column]:
            largest = max(facts.low[column], facts.high[column], key=abs)
            raise UnusableColumnError(
                f"{repr(names[column]) if names else 'A column'} holds {largest:.3g} "
                "beside numbers so much smaller that trees, which read 32 bits, cannot distinguish them in any unit. "
                "Clip the column, take its logarithm or its ranks, or drop it."
            )
    return moved


def _are_seen_whole(values: Floats) -> bool:
    """Return whether all values are integers that 32 bits represent exactly."""
    return bool((np.abs(values) < 2.0**24).all() and (values == np.rint(values)).all())


def _is_sharper(other: Floats, values: Floats) -> bool:
    """Return whether a tree distinguishes more of the new values, or represents them more precisely.

    In a column with few distinct values, such as measurements to one decimal, ties between a value and the midpoint
    of two others are common, and rounding decides them: such a column is changed only if values would be lost.
    """
    there = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        is_exact = bool((there.astype(np.float32) == there).all())
    distinct = np.unique(there)
    n_blurred = _n_blurred(distinct)
    if n_blurred:
        return _n_blurred(_distinct(other)) < n_blurred
    # Divided, because twice a number near the largest float is infinite.
    low, high = float(distinct[0]) / 8, float(distinct[-1]) / 8
    is_far = max(abs(low), abs(high)) > 2 * (high - low)
    return is_far and not is_exact and 2 * distinct.size > there.size


def _may_be_blurred(facts: ColumnFacts, n_rows: int) -> NDArray[np.bool_]:
    """Return which columns may lose distinct values, from their smallest and largest values.

    These are columns with so many values for their range that a hundredth of the neighbors could be too close,
    columns far from zero, and columns too large for 32 bits.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        spread = facts.high - facts.low
        largest = np.maximum(np.abs(facts.low), np.abs(facts.high))
        is_fine = spread < min(100 * float(_engine.TIE) * n_rows, 0.1)
        is_far = largest > 2 * spread
    worth = (is_fine | is_far | facts.is_too_large) & ~facts.is_constant & ~facts.has_infinite
    return np.asarray(worth)


def _distinct(values: Floats) -> Floats:
    """Return the distinct values, sorted, without missing ones."""
    different: Floats = np.unique(values[~np.isnan(values)])
    return different


def _n_blurred(distinct: Floats) -> int:
    """Count the distinct values, sorted, that a tree treats as equal to their neighbors."""
    with np.errstate(over="ignore"):
        seen = distinct.astype(np.float32)
    return int(np.count_nonzero(~(seen[1:] > seen[:-1] + _engine.TIE)))


def _n_blurred_targets(y: Floats) -> int:
    """Count the neighboring values whose variance a tree treats as zero."""
    gaps = np.diff(np.unique(y))
    return int(np.count_nonzero(gaps**2 / 4 <= _LEAF_VARIANCE))


def _moved(values: Floats, exponent: int, *, may_shift: bool = True) -> Floats:
    """Shift values that are far from zero, and scale them by a power of two to a range of about 2**exponent.

    If the largest is more than twice the range, any two values differ by less than a factor of two, and their
    difference is exact (Sterbenz's lemma).
    """
    values = np.asarray(values, dtype=np.float64)
    # First scaled to at most 1, because the difference of two very large numbers may be infinite.
    unit = int(np.frexp(np.nanmax(np.abs(values)))[1])
    scaled = np.ldexp(values, -unit)
    low, high = float(np.nanmin(scaled)), float(np.nanmax(scaled))
    if not may_shift:
        # Zero is one of the values and stays zero.
        low, high = min(low, 0.0), max(high, 0.0)
    elif max(abs(low), abs(high)) > 2 * (high - low):
        scaled -= low
    return np.asarray(np.ldexp(scaled, exponent - int(np.frexp(high - low)[1])))


def _stored(X: Matrix, column: int) -> Floats:
    if sp.issparse(X):
        # The zero represents the rows that are not stored.
        return np.append(X.data[X.indptr[column] : X.indptr[column + 1]], 0.0)
    return np.asarray(dense_column(X, column), dtype=np.float64)


def _with_columns(X: Matrix, moved: dict[int, Floats]) -> Matrix:
    other = X.copy()
    for column, values in moved.items():
        if sp.issparse(X):
            other.data[X.indptr[column] : X.indptr[column + 1]] = values[:-1]
        else:
            other[:, column] = values
    return other
