"""Random numbers by key: a number depends on what it is used for, not on when it is drawn.

A key has 64 bits. `combine` joins two keys with the mixing function of SplitMix64 (Steele, Lea and Flood, 2014).
"""

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.bit_sets import Words
from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.jit.kernels import kernel_part

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_S11 = np.uint64(11)
_UNIT = 2.0**-53


@kernel_part
def combine(key: np.uint64, other: np.uint64) -> np.uint64:
    """Return the key of a pair; the order matters."""
    mixed = (key ^ (other + _GOLDEN)) + _GOLDEN
    mixed = (mixed ^ (mixed >> _S30)) * _FIRST
    mixed = (mixed ^ (mixed >> _S27)) * _SECOND
    return mixed ^ (mixed >> _S31)


@kernel_part
def uniform(key: np.uint64) -> float:
    """Return a number from 0 (included) to 1 (excluded)."""
    return float(key >> _S11) * _UNIT


def combine_keys(keys: Words, others: Words) -> Words:
    """`combine` for arrays."""
    with np.errstate(over="ignore"):
        mixed: Words = (keys ^ (others + _GOLDEN)) + _GOLDEN
        mixed = (mixed ^ (mixed >> _S30)) * _FIRST
        mixed = (mixed ^ (mixed >> _S27)) * _SECOND
        return mixed ^ (mixed >> _S31)


def column_keys(columns: SortedColumns) -> Words:
    """Return a key for the content of each column; a stored zero and a row that is not stored are the same."""
    indptr, rows, values = columns.arrays
    bits = values.view(np.uint32).astype(np.uint64)
    keys = combine_keys(bits, rows.astype(np.uint64)) * (values != 0)
    ends: npt.NDArray[np.uint64] = np.concatenate(([np.uint64(0)], np.cumsum(keys)))
    with np.errstate(over="ignore"):
        return ends[indptr[1:]] - ends[indptr[:-1]]
