"""Libraries that only some users need: import them, or say how to install them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module, util
from typing import Any


def imported(module: str, purpose: str, extra: str) -> Any:
    """Return a module, or raise an ImportError that names the extra of ppfs that installs it.

    Parameters
    ----------
    purpose : str
        What needs it, such as "Reading Parquet files".
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(missing(module, purpose, extra)) from error
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module}, which cannot be imported: {error}. Install it again with: "
            f"pip install 'ppfs[{extra}]'"
        ) from error


def require_installed(module: str, purpose: str, extra: str) -> None:
    """Raise an ImportError if a library is not installed, without the time that importing it takes."""
    if util.find_spec(module) is None:
        raise ImportError(missing(module, purpose, extra))


def missing(module: str, purpose: str, extra: str) -> str:
    """Return the message about a library that is not installed.

    Examples
    --------
    >>> missing("h5py", "Reading HDF5", "files")
    "Reading HDF5 needs h5py, which is not installed. Run: pip install 'ppfs[files]'"
    """
    library = module.partition(".")[0]
    return f"{purpose} needs {library}, which is not installed. Run: pip install 'ppfs[{extra}]'"


def first_installed(modules: Sequence[str], purpose: str) -> str:
    """Return the name of the first of some libraries that is installed, or raise an ImportError."""
    for module in modules:
        if util.find_spec(module) is not None:
            return module
    names = f"{', '.join(modules[:-1])} or {modules[-1]}"
    raise ImportError(f"{purpose} needs {names}, but none is installed. Run: pip install {modules[0]}")
