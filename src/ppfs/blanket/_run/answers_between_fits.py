"""Answers that outlive a fit, so that fitting again with another alpha asks nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from numbers import Integral
from types import BuiltinFunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from ppfs._conventions import RandomStateLike
from ppfs._data import LazyColumns, Table, is_compact
from ppfs.independence import BoundTest, IndependenceTest, KnownAnswers

_BYTES_AT_ONCE = 2**22

_PLAIN = (str, int, float, bool, type(None), np.integer, np.floating)


class Memory:
    """What a search was told in its last fit, fold by fold.

    Answers are used again only if the test has the same parameters and the rows are the same, value for
    value. The data are not kept, only their digest. A search that failed has a memory too: fitting again goes on where
    it stopped.

    Parameters
    ----------
    test : IndependenceTest
        The test that answers.

    entropy : int
        The seed of whatever is random.

    last : Memory or None
        The memory of the fit before.
    """

    def __init__(self, test: IndependenceTest, entropy: int, last: Memory | None = None) -> None:
        parameters = {name: _snapshot(value) for name, value in test.get_params(deep=True).items()}
        self._is_random = test.is_random
        self._circumstances = (type(test), parameters, entropy if test.is_random else None)
        self._answers: dict[tuple[int, bytes], KnownAnswers] = {}
        self._last: dict[tuple[int, bytes], KnownAnswers] = {}
        if last is not None and last.serves(self):
            self._last = {**last._last, **last._answers}

    @property
    def n_answers(self) -> int:
        """How many questions of this fit have an answer so far."""
        return sum(map(len, self._answers.values()))

    def serves(self, other: Memory) -> bool:
        """Tell whether the answers held here are those that another fit would get."""
        return self._circumstances == other._circumstances

    def is_repeatable(self, random_state: RandomStateLike) -> bool:
        """Tell whether another fit with this `random_state` would ask the same questions."""
        return not self._is_random or isinstance(random_state, Integral)

    def recall(self, bound: BoundTest, fold: int) -> None:
        """Give a bound test the answers it gave in the last fit, if it would give them again."""
        key = (fold, digest_of(bound.table))
        known = self._last.get(key)
        if known is not None:
            bound.known.update(known)
        self._answers[key] = bound.known

    def forget_the_last(self) -> None:
        """Drop the answers of earlier fits that this one did not come to, now that it is complete."""
        self._last = {}


def _snapshot(value: Any) -> Any:
    """Return something that is equal to another snapshot only if the values certainly mean the same.

    What cannot be compared is like nothing else, itself included: an array or a random generator may change without a
    trace, and a function may read variables that do.
    """
    if isinstance(value, _PLAIN):
        # With the type: to some estimators 1 is a count and 1.0 a share.
        return type(value), value
    if isinstance(value, list | tuple):
        return type(value), [_snapshot(part) for part in value]
    if isinstance(value, dict):
        return dict, [(_snapshot(key), _snapshot(part)) for key, part in value.items()]
    if isinstance(value, BaseEstimator) and _is_its_parameters(value):
        # Its parameters are listed beside it.
        return type(value)
    return value if isinstance(value, type | BuiltinFunctionType | np.ufunc) else object()


def _is_its_parameters(estimator: BaseEstimator) -> bool:
    """Tell whether a copy of an estimator knows nothing but its parameters.

    That of a `FrozenEstimator` knows what it was fitted on, and requests for metadata are copied too.
    """
    copy = clone(estimator)
    return copy is not estimator and set(vars(copy)) <= set(copy.get_params(deep=False))


def digest_of(table: Table) -> bytes:
    """Return a digest of all values and how they are read."""
    digest = blake2b(digest_size=16)
    X = table.X
    if isinstance(X, LazyColumns):
        digest.update(X.identity())
        arrays: tuple[Any, ...] = ()
        kinds: tuple[Any, ...] = ()
    else:
        arrays = (X.indptr, X.indices, X.data) if table.is_sparse else (X,)
        kinds = (table.n_levels, table.kinds.categorical_mask)
    for array in (*arrays, table.codes, table.classes, *kinds, table.weights, table.groups):
        if array is None:
            digest.update(b"none")
            continue
        # Numbers that the caller keeps in fewer bytes are read as floats, and are the same table.
        dtype = np.dtype(np.float64) if array is X and is_compact(array.dtype) else array.dtype
        digest.update(f"{array.shape}{dtype}".encode())
        for part in _bytes_of(array, dtype):
            digest.update(part)
    digest.update(f"{table.task}{table.columns if table.has_feature_groups else ''}".encode())
    return digest.digest()


def _bytes_of(array: NDArray[Any], dtype: np.dtype[Any]) -> Iterator[Any]:
    """Yield the bytes of an array, row after row, a few at a time: one that lies in columns is never copied whole."""
    if dtype.hasobject:
        yield repr(array.tolist()).encode()
        return
    if array.dtype == np.int8:
        dtype = array.dtype
    # The same numbers in an eighth of the bytes; the type that is hashed before them is that of the table.
    is_short = dtype == np.float64 and all(map(_same_bits, _row_parts(array, dtype)))
    for part in _row_parts(array, dtype):
        yield (part.astype(np.int8) if is_short else part).reshape(-1).view(np.uint8)


def _row_parts(array: NDArray[Any], dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    n_rows = max(1, _BYTES_AT_ONCE // max(1, array.size * dtype.itemsize // max(1, len(array))))
    for first in range(0, len(array), n_rows):
        yield np.ascontiguousarray(array[first : first + n_rows], dtype=dtype)


def _same_bits(array: NDArray[np.float64]) -> bool:
    """Tell whether numbers are so small and whole that 8 bits hold them; -0.0 is none, because it is not 0."""
    with np.errstate(invalid="ignore"):
        back = array.astype(np.int8).astype(np.float64)
    return bool((back.view(np.int64) == array.view(np.int64)).all())
