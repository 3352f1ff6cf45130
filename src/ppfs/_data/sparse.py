"""Checks of the caller's sparse matrices, before compiled code uses their indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ppfs.exceptions import InvalidInputError

_WAY_OUT = "Build it again from rows, columns and values: scipy.sparse.coo_array((values, (rows, columns)), shape=...)."


def require_sound(X: Any) -> None:
    """Raise if the parts of a sparse matrix contradict each other; anything else passes.

    SciPy and scikit-learn use the indices in compiled code: a negative or too large one crashes the process, or reads
    other memory. Unlike SciPy's own check, this one does not change the matrix.

    Parameters
    ----------
    X : object
        The caller's X.

    Raises
    ------
    InvalidInputError
    """
    if not sp.issparse(X) or X.ndim != 2:
        return
    # DIA and DOK have no indices that SciPy uses unchecked.
    check = _CHECKS.get(X.format)
    problem = "" if check is None else check(X)
    if problem:
        raise InvalidInputError(f"The sparse matrix X is malformed: {problem}. {_WAY_OUT}")


def _compressed(X: Any) -> str:
    """Check CSR, CSC and BSR: pointers increase within the entries, and indices are within the shape."""
    n_major, n_minor = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        n_major, n_minor = n_major // X.blocksize[0], n_minor // X.blocksize[1]
    pointers, indices = np.asarray(X.indptr), np.asarray(X.indices)
    if pointers.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        return f"indptr and indices must be integers, but are {pointers.dtype} and {indices.dtype}"
    if pointers.shape != (n_major + 1,):
        return f"indptr must have the shape {(n_major + 1,)}, but has {pointers.shape}"
    if pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any():
        return "indptr must start at 0 and never decrease"
    n_entries = int(pointers[-1])
    if indices.ndim != 1 or min(indices.size, len(X.data)) < n_entries:
        return f"indptr declares {n_entries} entries, but there are {indices.size} indices and {len(X.data)} values"
    return _outside(indices[:n_entries], n_minor, "indices")


def _coordinates(X: Any) -> str:
    parts = [np.asarray(part) for part in getattr(X, "coords", (X.row, X.col))]
    for part, length, what in zip(parts, X.shape, ("rows", "columns"), strict=True):
        if part.shape != (len(X.data),):
            return f"it has {len(X.data)} values, but {part.size} {what}"
        problem = _outside(part, length, what)
        if problem:
            return problem
    return ""


def _lists(X: Any) -> str:
    for row, (indices, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(indices) != len(values):
            return f"row {row} has {len(indices)} columns and {len(values)} values"
        problem = _outside(np.asarray(indices, dtype=np.int64), X.shape[1], f"columns of row {row}")
        if problem:
            return problem
    return ""


def _outside(indices: Any, length: int, what: str) -> str:
    """Describe an index that is outside the shape; "" if there is none."""
    if not indices.size or (indices.min() >= 0 and indices.max() < length):
        return ""
    wrong = indices[(indices < 0) | (indices >= length)][0]
    return f"the {what} must be from 0 to {length - 1}, but one of them is {wrong}"


_CHECKS = {"csr": _compressed, "csc": _compressed, "bsr": _compressed, "coo": _coordinates, "lil": _lists}
