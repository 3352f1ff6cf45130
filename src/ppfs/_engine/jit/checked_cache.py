"""Compiled kernels on disk, written so that no file can harm a fit.

Numba keeps compiled code in files and reads them without a check: a damaged file raises an exception in the middle of a
fit, and changed machine code may do anything. Here every file ends with a digest of its content, and contains the stamp
of the sources and the signature that it was compiled for. If anything goes wrong with a file or with its folder, the
kernel is compiled in memory, as if there were no cache. Files that were compiled from other sources are ignored without
a warning.

The classes use private parts of Numba, and check first that these exist.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from pickle import dumps
from typing import Any

from ppfs._engine.jit.numba_private import caching

_DIGEST_SIZE = 32
_FILE_PARTS = ("_source_stamp", "_version", "_index_path", "_data_path", "_dump", "_load_index", "_load_data")


class DamagedCacheError(Exception):
    """A file of the cache does not contain what was written."""


class OtherSourcesError(OSError):
    """A file of the cache was compiled from other sources. Numba then proceeds as if the file did not exist."""


class CheckedFiles(caching.IndexDataCacheFile):
    """Numba's index and data files, each with a digest that is checked before the content is interpreted."""

    def load(self, key: Any) -> Any:
        """Return the data that was saved under a key, or None."""
        entry = super().load(key)
        if entry is None:
            return None
        written_for, data = entry
        # Two processes that save at the same time may both take the next free file name: the index of one then
        # points at the machine code of the other.
        return data if written_for == self._tag(key) else None

    def save(self, key: Any, data: Any) -> None:
        """Save data under a key."""
        super().save(key, (self._tag(key), data))

    def _tag(self, key: Any) -> str:
        return repr((self._source_stamp, key))

    def _dump(self, obj: Any) -> bytes:
        # Unpickling stops before the digests. The digest of the sources is not part of the pickle, because names in a
        # pickle may not exist in other sources.
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
            # Another version of Numba wrote the file, or it is empty.
            return {}
        body = _whole(content[len(version) :], self._index_path)
        return super()._load_index() if body.endswith(self._digest_of_sources()) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        body = _whole(Path(path).read_bytes(), path)
        if not body.endswith(self._digest_of_sources()):
            # The index is written before the data file, so it may point at a file from older sources.
            raise OtherSourcesError(f"{name} was compiled from other sources")
        return super()._load_data(name)


class KernelCache(caching.FunctionCache):
    """A kernel's cache on disk. If it fails, the kernel is compiled in memory, with one warning per process.

    Parameters
    ----------
    function : callable
        The kernel before compilation.

    stamp : object
        Equal for equal sources: code that was compiled under another stamp is not used.

    tell : callable of (str, Exception)
        Called with the folder and the error.
    """

    def __init__(
        self, function: Callable[..., Any], stamp: Any, tell: Callable[[str, Exception], None]
    ) -> None:
        super().__init__(function)
        # A separate name, because files that Numba wrote under the plain one have no digest.
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

    def has_files(self) -> bool:
        """Return whether there is compiled code for some signature."""
        try:
            return bool(self._cache_file._load_index())
        except Exception:
            return False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None if it is not in the cache."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:
            self._tell(self.cache_path, error)
            self._replace_damaged()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save compiled code for a signature, if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._tell(self.cache_path, error)

    def _replace_damaged(self) -> None:
        """Prepare for saving: a damaged data file is overwritten, but a damaged index must be emptied."""
        try:
            self._cache_file._load_index()
        except Exception:
            with suppress(OSError):
                self.flush()


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=_DIGEST_SIZE).digest()


def _whole(content: bytes, path: str) -> bytes:
    """Return the content before the digest; raise if it is damaged."""
    body, digest = content[:-_DIGEST_SIZE], content[-_DIGEST_SIZE:]
    if _digest(body) != digest:
        raise DamagedCacheError(f"{Path(path).name} is damaged")
    return body
