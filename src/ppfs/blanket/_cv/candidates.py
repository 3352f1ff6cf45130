"""The candidates of `PPFSCV`: settings of a search, each with its blanket or a number of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ppfs._printable import listed
from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.exceptions import InvalidInputError

# One grid of parameters, or several that are searched one after the other.
Grids = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]

# Keys of a grid that are not parameters of the search: another search, and how many columns of its ranking to take.
SEARCH, SIZE = "selector", "n_features"

# Parameters that decide how X and y are read, which happens once for all candidates.
_OF_READING = ("feature_groups", "categorical_features", "memory_limit", "task")


@dataclass(frozen=True)
class Candidate:
    """One row of `cv_results_`.

    Attributes
    ----------
    params : dict
        As in the caller's grid.

    setting : int
        Which of the settings of a search it belongs to.

    n_features : int, float or None
        How many columns, or which share of them, to take from the search's ranking; None for the blanket.
    """

    params: dict[str, Any]
    setting: int
    n_features: int | float | None

    def size(self, n_columns: int) -> int | None:
        """Return the number of columns to take, at least one and at most all; None for the blanket."""
        if self.n_features is None:
            return None
        wanted = self.n_features if isinstance(self.n_features, int) else round(self.n_features * n_columns)
        return min(max(wanted, 1), n_columns)


@dataclass(frozen=True)
class Candidates:
    """All candidates, and the different settings of the search among them.

    Sizes of one setting share its search.
    """

    all: list[Candidate]
    settings: list[BaseBlanketSelector]

    @classmethod
    def of(cls, grids: Grids, selector: BaseBlanketSelector) -> Candidates:
        """Read a grid, or several, of parameters of `selector`."""
        candidates: list[Candidate] = []
        settings: list[BaseBlanketSelector] = []
        described: list[dict[str, Any]] = []
        for params in _combinations(grids):
            own = {name: value for name, value in params.items() if name != SIZE}
            if own not in described:
                described.append(own)
                settings.append(_setting(own, selector))
            candidates.append(Candidate(params, described.index(own), _checked_size(params.get(SIZE))))
        return cls(candidates, settings)


def _combinations(grids: Grids) -> list[dict[str, Any]]:
    try:
        found = list(ParameterGrid(grids))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"candidates must be a grid of parameters of the search, such as {{'alpha': [0.01, 0.05]}}, or a list of "
            f"such grids: {error}"
        ) from error
    if not found:
        raise InvalidInputError("candidates is an empty list. Pass [{}] for the search as it is.")
    return found


def _setting(params: dict[str, Any], selector: BaseBlanketSelector) -> BaseBlanketSelector:
    rest = {name: value for name, value in params.items() if name != SEARCH}
    search = params.get(SEARCH, selector)
    if not isinstance(search, BaseBlanketSelector):
        raise InvalidInputError(
            f"{SEARCH}={search!r} is not a search of ppfs. Use PPFS(...), FBED(...) or another one of ppfs.blanket."
        )
    changed: BaseBlanketSelector = clone(search).set_params(**rest)
    changed._validate_params()
    if changed.checkpoint is not None:
        raise InvalidInputError(
            f"The search has checkpoint={str(changed.checkpoint)!r}, but a checkpoint is for one set of rows, and "
            "PPFSCV searches in the rows outside each fold. Leave checkpoint out."
        )
    other = [name for name in _OF_READING if getattr(changed, name) is not getattr(selector, name)]
    other = [name for name in other if getattr(changed, name) != getattr(selector, name)]
    if other:
        raise InvalidInputError(
            f"candidates differ in {listed(other)}, which decides how the data are read, once for all of them. Set it "
            "in selector=PPFS(...)."
        )
    return changed


def _checked_size(size: Any) -> int | float | None:
    if size is None:
        return None
    if isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 1:
        return int(size)
    if isinstance(size, float | np.floating) and 0 < size <= 1:
        return float(size)
    raise InvalidInputError(
        f"{SIZE}={size!r} in candidates must be a number of columns, at least 1, a share of them between 0 and 1, or "
        "None for the blanket that the search finds."
    )
