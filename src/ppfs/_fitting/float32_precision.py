"""Columns and targets within reach of trees: shifted and scaled where 32 bits would blur them.

scikit-learn's trees read columns in 32 bits and take values that differ by 1e-7 for equal; a node of a regression tree
whose variance is below 2.2e-16 is a leaf. So a column of timestamps, of amounts in the millions with small differences,
or of concentrations in moles has no cut at all, and says nothing. A tree cuts between neighbours: adding a number to a
column, or multiplying it by a power of two, moves the cuts along and leaves its predictions as they are. Both are
exact here, and only columns that a tree would see blurred are touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._conventions import Floats, warn_caller
from ppfs._data import Block, ColumnFacts, Matrix, Table, dense_column, facts_of, listed
from ppfs._fitting.wanted_encoding import TRANSPARENT, TREES_BY_DEFAULT, is_tree_itself, wanted_encoding
from ppfs.exceptions import PrecisionWarning, UnusableColumnError

# scikit-learn's FEATURE_THRESHOLD, and the variance at which a node is a leaf.
_TIE = np.float32(1e-7)
_LEAF_VARIANCE = float(np.finfo(np.float64).eps)

# Columns reach over 2**10 to 2**11 units, targets over 4 to 8, as a column of standard normal numbers does: there the
# thresholds of trees, which are meant for such, neither blur nor add anything.
_COLUMN_EXPONENT = 11
_TARGET_EXPONENT = 3

# Whoever scales columns before a tree sees them takes care of this by himself.
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
    """Tell whether an estimator is a tree, or many, that reads columns in 32 bits and does nothing else to them."""
    if is_tree_itself(estimator):
        return True
    name = type(estimator).__name__
    if name in TRANSPARENT or name in TREES_BY_DEFAULT:
        inner = getattr(estimator, "estimator", None)
        return reads_float32(inner) if hasattr(inner, "fit") else name in TREES_BY_DEFAULT
    return False


def is_equivariant(estimator: Any) -> bool:
    """Tell whether an estimator's predictions follow a shift and a scale of the target, whatever its parameters."""
    if not is_tree_itself(estimator) or type(estimator).__name__ not in _EQUIVARIANT_TREES:
        return False
    return (
        estimator.criterion in _EQUIVARIANT_CRITERIA
        and estimator.min_impurity_decrease == 0
        and estimator.ccp_alpha == 0
    )


def table_for_float32(table: Table, estimator: Any) -> Table:
    """Return the table as an estimator should see it: blurred columns shifted and scaled, if it reads 32 bits."""
    return table.seen_through(matrix_for_float32) if reads_float32(estimator) else table


def block_for_float32(block: Block) -> Block:
    """Return the block with blurred columns shifted and scaled; itself where there are none."""
    moved = _moved_columns(block.X, block.facts, block.n_levels, block.names)
    return block if not moved else Block(_with_columns(block.X, moved), block.n_levels, block.names)


def matrix_for_float32(X: Matrix, n_levels: NDArray[np.intp]) -> Matrix:
    """Return a matrix with blurred columns shifted and scaled; itself where there are none."""
    columns = X.tocsc() if sp.issparse(X) else X
    moved = _moved_columns(columns, facts_of(columns), n_levels)
    if not moved:
        return X
    changed = _with_columns(columns, moved)
    return changed.tocsr() if sp.issparse(X) else changed


def warn_of_lost_precision(table: Table, estimator: Any) -> None:
    """Warn of columns that reach a tree inside another estimator in 32 bits, where they are blurred."""
    if not table.is_in_memory or reads_float32(estimator) or wanted_encoding(estimator).encoding != "codes":
        return
    if any(type(step).__name__ in _SCALERS for _, step in getattr(estimator, "steps", ())):
        return
    columns = table.X
    moved = sorted(_moved_columns(columns, table.facts, table.n_levels))
    blurred = [column for column in moved if _n_blurred(_distinct(_stored(columns, column)))]
    if blurred:
        warn_caller(
            f"The trees inside {type(estimator).__name__} read columns in 32 bits and cannot tell apart values of "
            f"{listed([table.column_names[column] for column in blurred])}. Subtract a typical value and divide by the "
            "spread of the column, or put a StandardScaler before the trees.",
            PrecisionWarning,
        )


def target_for_float32(y: Floats) -> tuple[Floats, float]:
    """Return a target that a regression tree sees as it is, and how large a unit of it is in the caller's units.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)

    Returns
    -------
    target : ndarray of shape (n_rows,)
        Itself where nothing is to be gained; else shifted by one of its values and divided by the unit.

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
    """Return other values for each column that 32 bits blur: the stored ones, where the matrix is sparse."""
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
                "beside numbers that are so much smaller that trees, which read 32 bits, could not tell them apart in "
                "any unit. Clip the column, take its logarithm or its ranks, or drop it."
            )
    return moved


def _are_seen_whole(values: Floats) -> bool:
    """Tell whether all values are whole numbers that 32 bits hold: none of them is taken for its neighbour."""
    return bool((np.abs(values) < 2.0**24).all() and (values == np.rint(values)).all())


def _is_sharper(other: Floats, values: Floats) -> bool:
    """Tell whether a tree sees more in the other values, or sees where they lie more exactly.

    Where a column has few different values, such as measurements to one decimal, a tie between a value and the middle
    of two others is common, and rounding decides it: such a column is left as it is unless values are lost.
    """
    there = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        is_exact = bool((there.astype(np.float32) == there).all())
    distinct = np.unique(there)
    n_blurred = _n_blurred(distinct)
    if n_blurred:
        return _n_blurred(_distinct(other)) < n_blurred
    # Parts, because twice a number near the largest is beyond 64 bits.
    low, high = float(distinct[0]) / 8, float(distinct[-1]) / 8
    is_far = max(abs(low), abs(high)) > 2 * (high - low)
    return is_far and not is_exact and 2 * distinct.size > there.size


def _may_be_blurred(facts: ColumnFacts, n_rows: int) -> NDArray[np.bool_]:
    """Tell from the smallest and the largest value which columns are worth a closer look.

    Those whose values are so many for their spread that a hundredth of the neighbours could be too close, those that
    lie far from zero, and those too large for 32 bits.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        spread = facts.high - facts.low
        largest = np.maximum(np.abs(facts.low), np.abs(facts.high))
        is_fine = spread < min(100 * float(_TIE) * n_rows, 0.1)
        is_far = largest > 2 * spread
    worth = (is_fine | is_far | facts.is_too_large) & ~facts.is_constant & ~facts.has_infinite
    return np.asarray(worth)


def _distinct(values: Floats) -> Floats:
    """Return the different values, sorted; gaps are none."""
    different: Floats = np.unique(values[~np.isnan(values)])
    return different


def _n_blurred(distinct: Floats) -> int:
    """Count the different values, sorted, that a tree takes for their neighbours."""
    with np.errstate(over="ignore"):
        seen = distinct.astype(np.float32)
    return int(np.count_nonzero(~(seen[1:] > seen[:-1] + _TIE)))


def _n_blurred_targets(y: Floats) -> int:
    """Count the neighbours whose variance a tree takes for none."""
    gaps = np.diff(np.unique(y))
    return int(np.count_nonzero(gaps**2 / 4 <= _LEAF_VARIANCE))


def _moved(values: Floats, exponent: int, *, may_shift: bool = True) -> Floats:
    """Shift values that lie far from zero, and multiply them by a power of two so that they reach over 2**exponent.

    Where the largest is more than twice the spread, any two values differ by less than a factor of two, and their
    difference is exact (Sterbenz).
    """
    values = np.asarray(values, dtype=np.float64)
    # First to 1 at most, because the difference of two very large numbers is beyond 64 bits.
    unit = int(np.frexp(np.nanmax(np.abs(values)))[1])
    scaled = np.ldexp(values, -unit)
    low, high = float(np.nanmin(scaled)), float(np.nanmax(scaled))
    if not may_shift:
        # Zero is among them and stays where it is.
        low, high = min(low, 0.0), max(high, 0.0)
    elif max(abs(low), abs(high)) > 2 * (high - low):
        scaled -= low
    return np.asarray(np.ldexp(scaled, exponent - int(np.frexp(high - low)[1])))


def _stored(X: Matrix, column: int) -> Floats:
    if sp.issparse(X):
        # The zero stands for the rows that are not stored.
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
