"""Compiled kernels on disk, written so that no file can harm a fit.

Numba keeps compiled code in files that it reads back unchecked: a damaged file is an exception in the middle of a
fit, and one whose machine code has changed may be anything. Here every file ends with a digest of what stands
before it, and says which sources and which signature it was compiled for. Whatever goes wrong with a file, or with the
place where files are kept, means that the kernel is compiled in memory, as if there were no cache. A file of other
sources is no fault: nothing of it is used, and nothing is said.

The classes rest on private parts of Numba and look whether they are there before they rely on them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from pickle import dumps
from typing import Any

from numba.core import caching

# Numba has no type hints for it.
_caching: Any = caching

_DIGEST_SIZE = 32
_FILE_PARTS = ("_source_stamp", "_version", "_index_path", "_data_path", "_dump", "_load_index", "_load_data")


class DamagedCacheError(Exception):
    """A file of the cache does not hold what was written."""


class OtherSourcesError(OSError):
    """A file of the cache was compiled from other sources. To Numba it is as if the file had been removed."""


class CheckedFiles(_caching.IndexDataCacheFile):
    """Numba's index and data files, each with a digest that is checked before a byte of it is interpreted."""

    def load(self, key: Any) -> Any:
        """Return what was saved under a key, or None."""
        entry = super().load(key)
        if entry is None:
            return None
        written_for, data = entry
        # Two processes that save at the same time may both take the next free file name: the index of one then
        # points at the machine code of the other.
        return data if written_for == self._tag(key) else None

    def save(self, key: Any, data: Any) -> None:
        """Keep data under a key."""
        super().save(key, (self._tag(key), data))

    def _tag(self, key: Any) -> str:
        return repr((self._source_stamp, key))

    def _dump(self, obj: Any) -> bytes:
        # Unpickling stops before the digests. That of the sources stands outside of what is pickled, because other
        # sources may lack what a pickle names.
        body: bytes = super()._dump(obj) + self._digest_of_sources()
        return body + _digest(body)

    def _digest_of_sources(self) -> bytes:
        return _digest(repr(self._source_stamp).encode())

    def _load_index(self) -> Any:
        try:
            content = Path(self._index_path).read_bytes()
        except FileNotFoundError:
            return {}
        version = dumps(self._version, protocol=-1)
        if not content.startswith(version):
            # Another version of Numba wrote it, or nobody did: either way there is nothing to use.
            return {}
        body = _whole(content[len(version) :], self._index_path)
        return super()._load_index() if body.endswith(self._digest_of_sources()) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        body = _whole(Path(path).read_bytes(), path)
        if not body.endswith(self._digest_of_sources()):
            # The index is written before the file, so that it may point at what older sources left.
            raise OtherSourcesError(f"{name} was compiled from other sources")
        return super()._load_data(name)


class KernelCache(_caching.FunctionCache):
    """A kernel's cache on disk; every failure is a kernel compiled in memory and a warning, once a process.

    Parameters
    ----------
    function : callable
        The kernel before compilation.

    stamp : object
        Equal for equal sources: what was compiled under another stamp is not used.

    tell : callable of (str, Exception)
        Takes the folder and what went wrong.
    """

    def __init__(
        self, function: Callable[..., Any], stamp: Any, tell: Callable[[str, Exception], None]
    ) -> None:
        super().__init__(function)
        # A name of their own: files that Numba wrote under the plain one end without a digest.
        files: Any = CheckedFiles(
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.checked",
            source_stamp=stamp,
        )
        missing = [name for name in _FILE_PARTS if not hasattr(files, name)]
        if missing:
            raise AttributeError(f"this version of Numba has no {', '.join(missing)}")
        self._tell = tell
        self._cache_file = files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None where it is not to be had."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:
            self._tell(self.cache_path, error)
            self._replace_damaged()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code for a signature if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._tell(self.cache_path, error)

    def _replace_damaged(self) -> None:
        """Make room for what is compiled now: a damaged data file is written over, a damaged index must be emptied."""
        try:
            self._cache_file._load_index()
        except Exception:
            with suppress(OSError):
                self.flush()


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=_DIGEST_SIZE).digest()


def _whole(content: bytes, path: str) -> bytes:
    """Return what stands before the digest, if it is what was written."""
    body, digest = content[:-_DIGEST_SIZE], content[-_DIGEST_SIZE:]
    if _digest(body) != digest:
        raise DamagedCacheError(f"{Path(path).name} is damaged")
    return body
