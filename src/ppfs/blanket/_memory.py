"""Answers that outlive a fit, so that fitting again with another alpha asks nothing twice."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ppfs._table import Table
from ppfs.independence import BoundTest, IndependenceTest, KnownAnswers

_PLAIN = (str, int, float, bool, type(None), np.integer, np.floating)


class Memory:
    """What a search was told in its last fit, fold by fold.

    Answers are used again only if the test has the same parameters and the rows are the same, value for
    value. The data are not kept, only their digest.

    Parameters
    ----------
    test : IndependenceTest
        The test that answers.

    entropy : int
        The seed of whatever is random.
    """

    def __init__(self, test: IndependenceTest, entropy: int) -> None:
        parameters = {name: _snapshot(value) for name, value in test.get_params(deep=True).items()}
        self._circumstances = (type(test), parameters, entropy if test.is_random else None)
        self._answers: dict[tuple[int, bytes], KnownAnswers] = {}

    def recall(self, bound: BoundTest, fold: int, last: Memory | None) -> None:
        """Give a bound test the answers it gave in the last fit, if it would give them again."""
        key = (fold, _digest(bound.table))
        if last is not None and last._circumstances == self._circumstances:
            known = last._answers.get(key)
            if known is not None:
                bound.known.update(known)
        self._answers[key] = bound.known


def _snapshot(value: Any) -> Any:
    """Return something that is equal to another snapshot only if the values certainly mean the same.

    An estimator counts by its class, because its parameters are listed beside it. What may change
    without a trace, such as a random generator or an array, is like nothing else.
    """
    if isinstance(value, _PLAIN):
        # With the type: to some estimators 1 is a count and 1.0 a share.
        return type(value), value
    if isinstance(value, list | tuple):
        return type(value), [_snapshot(part) for part in value]
    if isinstance(value, dict):
        return dict, [(_snapshot(key), _snapshot(part)) for key, part in value.items()]
    if isinstance(value, BaseEstimator):
        return type(value)
    return value if callable(value) else object()


def _digest(table: Table) -> bytes:
    """Return a digest of all values and how they are read."""
    digest = blake2b(digest_size=16)
    X = table.X
    arrays = (X.indptr, X.indices, X.data) if table.is_sparse else (X,)
    kinds = (table.n_levels, table.kinds.categorical_mask)
    for array in (*arrays, table.codes, table.classes, *kinds, table.weights, table.groups):
        if array is None:
            digest.update(b"none")
            continue
        digest.update(f"{array.shape}{array.dtype}".encode())
        digest.update(_bytes_of(array))
    digest.update(f"{table.task}{table.columns if table.has_feature_groups else ''}".encode())
    return digest.digest()


def _bytes_of(array: NDArray[Any]) -> Any:
    if array.dtype.hasobject:
        return repr(array.tolist()).encode()
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
