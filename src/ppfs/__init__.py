"""Predictive Permutation Feature Selection: the smallest set of columns that still predicts the target."""

from typing import TYPE_CHECKING, Any

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
