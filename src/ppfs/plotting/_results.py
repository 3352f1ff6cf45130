"""The results of a selector as arrays, whatever kind of frame they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ppfs._conventions import Floats
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class Results:
    """A table of results, read by column."""

    frame: nw.DataFrame[Any]

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers; NaN where there is none."""
        return np.array(
            [np.nan if value is None else value for value in self.frame[name].to_list()], dtype=float
        )

    def flags(self, name: str) -> NDArray[np.bool_]:
        """Return a column of booleans."""
        return np.array(self.frame[name].to_list(), dtype=bool)

    def texts(self, name: str) -> list[str]:
        """Return a column of texts; empty where there is none."""
        return ["" if value is None else str(value) for value in self.frame[name].to_list()]

    def lists(self, name: str) -> list[list[str]]:
        """Return a column of lists of names."""
        return [[] if value is None else list(value) for value in self.frame[name].to_list()]


def search_of(selector: Any) -> Any:
    """Return the fitted search whose questions are drawn: the selector itself, or the one that it chose."""
    check_is_fitted(selector)
    search = getattr(selector, "selector_", selector)
    if not getattr(search, "trace_", ()):
        raise InvalidInputError(
            f"{type(selector).__name__} keeps no trace of questions to draw. Pass a fitted search, such as PPFS."
        )
    return search


def results_of(selector: Any) -> Results:
    """Return the results of a fitted selector."""
    check_is_fitted(selector)
    if not hasattr(selector, "results_"):
        raise InvalidInputError(
            f"{type(selector).__name__} has no results_ to draw. Pass a fitted search of ppfs, such as PPFS."
        )
    return Results(nw.from_native(selector.results_, eager_only=True))
