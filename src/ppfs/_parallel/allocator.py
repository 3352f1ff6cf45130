"""How a worker's memory allocator treats what is freed and soon wanted again."""

from __future__ import annotations

import ctypes
import os
from functools import cache

# Names of parameters in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3

# Up to this many free bytes are kept for later arrays of at most half that size; more go back to the system.
_KEPT = 2**24


@cache
def keep_freed_memory() -> None:
    """Keep a few freed megabytes in this process where Dask configured it to return everything at once.

    Dask starts workers with ``MALLOC_TRIM_THRESHOLD_=65536``. Every array above 128 KiB is then fetched from the
    system, filled with zeros a page at a time, and given back, which takes a tenth of the time of growth: see decision
    170. Nothing is changed where the variable is not set, or where memory is not managed by glibc.
    """
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_MMAP_THRESHOLD, _KEPT // 2)
    mallopt(_TRIM_THRESHOLD, _KEPT)
