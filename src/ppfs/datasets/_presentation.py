"""How simulated values are presented: as text, with missing values, spread over several columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs.datasets._frames import build_frame
from ppfs.datasets._graph import markov_blanket
from ppfs.datasets._seeds import SeedTree

# What categories are called. Their order means nothing: `_mechanisms` shuffles the codes.
LEVEL_NAMES = ("amber", "blue", "coral", "dune")

# A value of a group is its multiple of this, and what remains: like hours and minutes, exact only together.
COARSE_STEP = 1.5


@dataclass(frozen=True)
class Presentation:
    """Which nodes look different from their values.

    Attributes
    ----------
    categorical : frozenset of int
        Nodes whose codes become text.
    grouped : frozenset of int
        Nodes spread over two columns.
    with_gaps : frozenset of int
        Nodes of which some values are missing.
    missing : float
        Share of their values that is.
    """

    categorical: frozenset[int]
    grouped: frozenset[int]
    with_gaps: frozenset[int]
    missing: float

    def table(
        self, values: NDArray[np.float64], order: Sequence[int], seeds: SeedTree
    ) -> tuple[Any, dict[str, list[int | str]]]:
        """Return X and its groups of columns.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_nodes)
        order : sequence of int
            The node of each feature.
        seeds : SeedTree
            The missing values of node j's column k use stream (3, j, k), one draw per row.

        Returns
        -------
        X : ndarray, or a data frame if some columns hold text
        groups : dict of str to list
            The columns of each group: numbers, or names if X is a frame.
        """
        columns: dict[str, NDArray[Any]] = {}
        members: list[list[str]] = []
        for feature, node in enumerate(order):
            parts = self._columns(f"x{feature}", node, values[:, node])
            if node in self.with_gaps:
                parts = {
                    name: _with_gaps(part, self.missing, seeds.stream(3, node, k))
                    for k, (name, part) in enumerate(parts.items())
                }
            columns.update(parts)
            if node in self.grouped:
                members.append(list(parts))
        if self.categorical:
            return build_frame(columns, None), _named(members)
        position = {name: number for number, name in enumerate(columns)}
        numbers: list[list[int]] = [[position[name] for name in names] for names in members]
        return np.ascontiguousarray(np.column_stack(list(columns.values()))), _named(numbers)

    def _columns(self, name: str, node: int, values: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        if node in self.categorical:
            return {name: np.array(LEVEL_NAMES, dtype=object)[values.astype(np.intp)]}
        if node not in self.grouped:
            return {name: values}
        coarse = np.floor(values / COARSE_STEP) * COARSE_STEP
        return {f"{name}_coarse": coarse, f"{name}_fine": values - coarse}


def harmless_gaps(parents: Mapping[int, Sequence[int]], target: int) -> frozenset[int]:
    """Return the nodes whose values can be missing at random without changing the target's Markov blanket.

    If a value of a blanket member is missing, nodes behind it become informative about the target: a
    grandparent in place of a missing parent, for example. There are none behind a member whose own blanket is
    within the target's. Outside the blanket missing values do not matter.

    Parameters
    ----------
    parents : mapping of int to sequence of int
        Each node with its parents.
    """
    blanket = set(markov_blanket(parents, target))
    inside = blanket | {target}
    return frozenset(
        node
        for node in parents
        if node != target and (node not in blanket or set(markov_blanket(parents, node)) <= inside)
    )


def _with_gaps(values: NDArray[Any], share: float, stream: np.random.Generator) -> NDArray[Any]:
    gaps = stream.random(len(values)) < share
    holed = values.copy()
    holed[gaps] = None if values.dtype == object else np.nan
    return holed


def _named(members: Sequence[Sequence[int | str]]) -> dict[str, list[int | str]]:
    return {f"group{number}": list(columns) for number, columns in enumerate(members)}
