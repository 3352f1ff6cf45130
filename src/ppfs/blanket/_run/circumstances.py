"""What a fit's answers depend on: those of another fit may be used again only if all of it is the same."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b, sha256
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from ppfs._conventions import RandomStateLike, as_many_as_fit
from ppfs._data import Table, is_compact
from ppfs._fitting import reads_frames
from ppfs.blanket._run.content import NotComparableError, content_of
from ppfs.independence import IndependenceTest

_BYTES_AT_ONCE = 2**22
_BYTES_OF_DIGEST = 16

_NO_SEED = "not used"

# Values that are written as they are; others by what kind they are and a digest.
_SHOWN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Circumstances:
    """The test, its parameters, and what decides its random numbers. The rows are compared by `digest_of`.

    Attributes
    ----------
    described : dict of str to str
        What the answers depend on, by content: texts that are equal in a later process only if the content is.

    not_comparable : str
        Why the settings cannot be compared with others; empty if they can.
    """

    described: dict[str, str]
    not_comparable: str = ""

    @classmethod
    def of(
        cls, test: IndependenceTest, entropy: int, n_folds: int, table: Table | None = None
    ) -> Circumstances:
        """Describe the circumstances of a fit.

        Parameters
        ----------
        entropy : int
            The seed. It plays no part if nothing is drawn at random.

        n_folds : int
            Folds that the rows are divided into at random; 0 for none.

        table : Table, default=None
            Its names and labels count for models that read frames; `digest_of` covers its numbers.
        """
        draws = test.is_random or n_folds
        described = {"n_folds": str(n_folds), "seed": str(entropy) if draws else _NO_SEED}
        name = "the test"
        try:
            # A search asks copies, which do not have what an estimator of the caller's was fitted on.
            copy = _copied(test)
            described["test"] = _described(type(copy))
            for name, value in sorted(copy.get_params(deep=True).items()):
                described[f"test.{name}"] = _described(value)
            if table is not None and table.frame is not None and _read_frames(copy):
                content = (table.frame.description, *sorted(table.categories.items()))
                described["names and labels of the columns"] = content_of(content).hex()
        except NotComparableError as error:
            return cls({}, f"{name}: {error}")
        return cls(described)

    def is_repeatable(self, random_state: RandomStateLike) -> bool:
        """Return whether another fit with this `random_state` would have the same circumstances."""
        draws_alike = self.described.get("seed") == _NO_SEED or isinstance(random_state, Integral)
        return draws_alike and not self.not_comparable

    def serves(self, other: Circumstances) -> bool:
        """Return whether a fit under other circumstances would get the same answers from the same rows."""
        return not self.not_comparable and self.described == other.described


def _copied(test: IndependenceTest) -> IndependenceTest:
    try:
        copy: IndependenceTest = clone(test)
    except Exception as error:
        # The search raises for it later.
        raise NotComparableError(f"it cannot be copied: {error}") from error
    return copy


def _described(value: Any) -> str:
    if isinstance(value, _SHOWN) and type(value) in _SHOWN:
        return repr(value)
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__name__} with content {content_of(value).hex()}"


def _read_frames(test: IndependenceTest) -> bool:
    """Return whether a model of a test, also one of several, reads columns by their names."""
    values = test.get_params(deep=False).values()
    models = (one for value in values for one in (value if isinstance(value, list | tuple) else [value]))
    return any(reads_frames(model) for model in models if not isinstance(model, type))


def digest_of(table: Table, n_jobs: int | None = None) -> bytes:
    """Return a digest of all values and how they are read; it does not depend on `n_jobs`, its number of threads."""
    digest = blake2b(digest_size=_BYTES_OF_DIGEST)
    kinds = (table.n_levels, table.kinds.categorical_mask) if table.is_in_memory else ()
    target = (table.codes, table.classes)
    times = () if table.time is None else (table.time.positions, np.array([table.time.gap]))
    for array in (*table.storage.content, *target, *kinds, table.weights, table.groups, *times):
        if array is None or isinstance(array, bytes):
            digest.update(array or b"none")
            continue
        # Numbers stored in fewer bytes are converted to floats, so the table is the same.
        dtype = np.dtype(np.float64) if array is table.X and is_compact(array.dtype) else array.dtype
        digest.update(f"{array.shape}{dtype}".encode())
        for part in _digests(array, dtype, n_jobs):
            digest.update(part)
    digest.update(f"{table.task_name}{table.columns if table.has_feature_groups else ''}".encode())
    return digest.digest()


def _digests(array: NDArray[Any], dtype: np.dtype[Any], n_jobs: int | None) -> Sequence[bytes]:
    """Return digests of the parts of an array: of some rows each, so that an array in Fortran order is never copied."""
    if dtype.hasobject:
        return [repr(array.tolist()).encode()]
    if array.dtype == np.int8:
        dtype = array.dtype
    n_rows = as_many_as_fit(_BYTES_AT_ONCE, array.size * dtype.itemsize // max(1, len(array)))

    def rows(first: int) -> NDArray[Any]:
        return np.ascontiguousarray(array[first : first + n_rows], dtype=dtype)

    starts = range(0, len(array), n_rows)
    # The same numbers in an eighth of the bytes; the type that is hashed before them is that of the table.
    is_short = dtype == np.float64 and all(_same_bits(rows(first)) for first in starts)

    def hashed(first: int) -> bytes:
        part = rows(first).astype(np.int8) if is_short else rows(first)
        whole: Any = part.reshape(-1).view(np.uint8)
        # Most processors have instructions for this one.
        return sha256(whole).digest()

    n_threads = min(len(starts), int(effective_n_jobs(n_jobs)))
    if n_threads <= 1:
        return [hashed(first) for first in starts]
    # Hashing releases the interpreter's lock.
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(hashed, starts))


def _same_bits(array: NDArray[np.float64]) -> bool:
    """Return whether all numbers are integers of 8 bits; -0.0 is not, because its bits are not those of 0."""
    with np.errstate(invalid="ignore"):
        back = array.astype(np.int8).astype(np.float64)
    return bool((back.view(np.int64) == array.view(np.int64)).all())
