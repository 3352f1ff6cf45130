"""Caches compiled kernels on disk, and warns if that is not possible."""

from __future__ import annotations

import warnings
from typing import Any

_told: list[bool] = []


def keep_on_disk(compiled: Any, stamp: Any) -> None:
    """Give a kernel a cache on disk; if that is not possible, it is compiled in every process.

    Parameters
    ----------
    compiled : Numba dispatcher
        The kernel.

    stamp : object
        Equal for equal sources: code that was compiled under another stamp is not used.
    """
    try:
        # Imported here, because the import fails with a version of Numba that lacks the private parts it needs.
        from ppfs._engine.jit.checked_cache import KernelCache

        if not hasattr(compiled, "_cache"):
            raise AttributeError("this version of Numba keeps its cache elsewhere")
        compiled._cache = KernelCache(compiled.py_func, stamp, tell_once)
    except Exception as error:
        tell_once("", error)


def is_compiled(kernel: Any) -> bool:
    """Return whether a kernel was compiled, by this process or by another one with the same cache."""
    if not hasattr(kernel, "signatures"):
        # Compilation is switched off.
        return True
    has_files = getattr(getattr(kernel, "_cache", None), "has_files", None)
    return bool(kernel.signatures) or (has_files is not None and has_files())


def tell_once(folder: str, error: Exception) -> None:
    """Warn that kernels are compiled in memory, and how to fix it, the first time in a process."""
    if _told:
        return
    _told.append(True)
    where = f"in {folder!r} " if folder else ""
    warnings.warn(
        f"The cache of compiled kernels {where}cannot be used, so this process compiles them itself, which takes some "
        f"seconds: {type(error).__name__}: {error}. To fix it, delete that folder if its files are damaged, or set "
        "NUMBA_CACHE_DIR to a writable folder with 20 megabytes free.",
        RuntimeWarning,
        stacklevel=2,
    )
