"""Libraries that only some users need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ppfs.exceptions import InvalidInputError


def required(module: str, extra: str) -> Any:
    """Return a module, or raise an error that names the extra that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidInputError(
            f"{module.partition('.')[0]} is needed for this and cannot be imported ({error}). Install it with: pip "
            f"install 'ppfs[{extra}]'"
        ) from error
