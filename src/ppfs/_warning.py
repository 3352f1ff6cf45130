"""Warnings that name the caller's own line."""

from __future__ import annotations

import sys
import warnings


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn, as of the line that called into the package.

    However deep inside the package the reason was found: that line is where the caller can mend it, and Python shows a
    warning once a line.
    """
    warnings.warn(message, category, stacklevel=1 + _callers_level())


def _callers_level() -> int:
    """Return how many frames above the caller of this function the package was called.

    Other libraries may lie in between, such as joblib where a selector fits others; the outermost call counts.
    """
    level, found = 0, 0
    frame = sys._getframe(1)
    while frame.f_back is not None:
        level += 1
        if _is_ours(frame.f_globals.get("__name__", "")) and not _is_ours(
            frame.f_back.f_globals.get("__name__", "")
        ):
            found = level
        frame = frame.f_back
    return found


def _is_ours(module: str) -> bool:
    return module == "ppfs" or module.startswith("ppfs.")
