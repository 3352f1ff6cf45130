"""Warnings that name the caller's own line."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

# Packages that call a selector on behalf of the caller: no warning should point into them.
_INSIDE = ("ppfs", "sklearn", "joblib")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that points to the line that called into the package, or into a scikit-learn tool around it.

    That line is where the caller can fix the cause, however deep inside the package it was found. Python also shows a
    warning once per line.
    """
    warnings.warn(message, category, stacklevel=1 + _callers_level())


def _callers_level() -> int:
    """Return how many frames above the caller of this function the package was called.

    Other libraries may lie in between, such as joblib where a selector fits others, or around it, such as a pipeline
    of scikit-learn; the outermost call counts.
    """
    level, found = 0, 0
    frame = sys._getframe(1)
    while frame.f_back is not None:
        level += 1
        if _is_inside(frame) and not _is_inside(frame.f_back):
            found = level
        frame = frame.f_back
    return found


def _is_inside(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _INSIDE
