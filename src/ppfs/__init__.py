"""Predictive Permutation Feature Selection: a small set of columns that predicts the target, with evidence for each."""

import sys
from typing import TYPE_CHECKING, Any

# Python 3.13 and later can run without the lock.
if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "ppfs does not support Python without its global interpreter lock (a free-threaded build), because Numba does "
        "not. Use the standard build of Python, or start this one with PYTHON_GIL=1."
    )

if TYPE_CHECKING:
    from ppfs._comparison import compare
    from ppfs._data import RowsInTime, lagged
    from ppfs.blanket import PPFS, PPFSCV

__all__ = ["PPFS", "PPFSCV", "RowsInTime", "__version__", "compare", "lagged"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that importing the package costs nothing."""
    if name in ("PPFS", "PPFSCV"):
        from ppfs import blanket

        return getattr(blanket, name)
    if name in ("RowsInTime", "lagged"):
        from ppfs import _data

        return getattr(_data, name)
    if name == "compare":
        from ppfs._comparison import compare

        return compare
    if name == "__version__":
        from importlib.metadata import version

        return version("ppfs")
    raise AttributeError(f"module 'ppfs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
