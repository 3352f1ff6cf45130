"""Columns as regressors: dummy variables for categories, and orthonormal bases without redundant columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Table, Task
from ppfs.independence._classical.partial import DETERMINED, standardized


class Designs:
    """The variables of a table as blocks of regressors.

    A continuous variable is one standardized column. A categorical one with k levels is k - 1 dummy variables. A group
    of columns is the regressors of all its columns.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._kinds: dict[int, Task] = {}

    def kind(self, variable: int) -> Task:
        """Return how `variable` is modeled: "classification" (categories) or "regression" (numbers)."""
        if variable not in self._kinds:
            self._kinds[variable] = self._table.task_of(variable)
        return self._kinds[variable]

    def codes(self, variable: int) -> NDArray[np.intp]:
        """Return a categorical variable's levels as numbers from 0."""
        return np.unique(self._table.values(variable), return_inverse=True)[1].ravel()

    def values(self, variable: int) -> Floats:
        """Return a continuous variable, centered and scaled to length 1; a constant one is 0."""
        values = np.asarray(self._table.values(variable), dtype=np.float64)
        return np.asarray(standardized(values[None, :])[0])

    def block(self, variable: int) -> Floats:
        """Return the regressors of one variable, shape (n_rows, n_regressors)."""
        values = self._table.values(variable)
        if values.ndim == 1:
            return _regressors(values, self.kind(variable))
        mask = self._table.categorical_mask([variable])
        return np.hstack(
            [
                _regressors(column, "classification" if is_categorical else "regression")
                for column, is_categorical in zip(values.T, mask.tolist(), strict=True)
            ]
        )

    def blocks(self, variables: Sequence[int]) -> Blocks:
        """Return the regressors of several variables."""
        table = self._table
        numeric = [
            v for v in variables if v != table.target and table.is_single(v) and self.kind(v) == "regression"
        ]
        # All at once: sums run along each column, in an order that does not depend on the other columns.
        ready = dict(zip(numeric, self._standardized(numeric), strict=True)) if numeric else {}
        rows = [ready[v][None, :] if v in ready else self.block(v).T for v in variables]
        starts = np.cumsum([0, *(len(block) for block in rows)])
        return Blocks(np.ascontiguousarray(np.concatenate(rows)), starts)

    def _standardized(self, numeric: Sequence[int]) -> Floats:
        taken = self._table.take(numeric)
        columns = taken.toarray() if sp.issparse(taken) else taken
        return standardized(np.ascontiguousarray(columns.T, dtype=np.float64))

    @cached_property
    def intercept(self) -> Floats:
        """The basis that every model starts from, shape (n_rows, 1)."""
        n_rows = self._table.n_rows
        return np.full((n_rows, 1), 1.0 / np.sqrt(n_rows))

    def basis(self, variables: tuple[int, ...]) -> Floats:
        """Return an orthonormal basis of an intercept and these variables, shape (n_rows, rank)."""
        basis = self.intercept
        for variable in variables:
            basis = np.hstack([basis, added_directions(self.block(variable), basis)])
        return basis


@dataclass(frozen=True)
class Blocks:
    """The regressors of several variables.

    Attributes
    ----------
    regressors : ndarray of shape (n_regressors, n_rows)
        Of length 1, or 0.

    starts : ndarray of shape (n_variables + 1,)
        Where the regressors of each variable begin, and where the last ones end.
    """

    regressors: Floats
    starts: NDArray[np.int64]


@dataclass(frozen=True)
class Extensions:
    """What each of several variables adds to a basis.

    Attributes
    ----------
    basis : ndarray of shape (rank, n_rows)
        Orthonormal.

    directions : ndarray of shape (n_regressors, n_rows)
        The added directions, orthonormal: those of variable v are ``directions[starts[v] : starts[v] + n_added[v]]``.

    starts : ndarray of shape (n_variables + 1,)

    n_added : ndarray of shape (n_variables,)
        0 where the basis determines the variable.
    """

    basis: Floats
    directions: Floats
    starts: NDArray[np.int64]
    n_added: NDArray[np.int64]

    @classmethod
    def of(cls, blocks: Blocks, basis: Floats) -> Extensions:
        """Add each variable to `basis`, shape (n_rows, rank); `added_directions` for many variables at once."""
        rows = np.ascontiguousarray(basis.T)
        directions = np.empty_like(blocks.regressors)
        n_added = np.empty(blocks.starts.size - 1, dtype=np.int64)
        _engine.add_directions(blocks.regressors, blocks.starts, rows, DETERMINED, directions, n_added)
        return cls(rows, directions, blocks.starts, n_added)


def _regressors(values: NDArray[Any], kind: Task) -> Floats:
    """Return one column as regressors, shape (n_rows, n_regressors)."""
    if kind == "regression":
        return standardized(np.asarray(values, dtype=np.float64)[None, :]).T
    codes = np.unique(values, return_inverse=True)[1].ravel()
    levels = np.arange(1, codes.max() + 1)
    return standardized((codes[None, :] == levels[:, None]).astype(np.float64)).T


def added_directions(block: Floats, basis: Floats) -> Floats:
    """Return orthonormal directions that `block` adds to `basis`; none where it is redundant.

    Parameters
    ----------
    block : ndarray of shape (n_rows, n_regressors)
        Columns of length 1, or 0.

    basis : ndarray of shape (n_rows, rank)
        Orthonormal.

    Returns
    -------
    ndarray of shape (n_rows, n_added)
    """
    added = np.empty((len(block), 0))
    for column in block.T:
        left = column
        # Twice is enough: the second projection removes the rounding error of the first.
        for _ in range(2):
            left = left - basis @ (basis.T @ left)
            left = left - added @ (added.T @ left)
        share = float(left @ left)
        if share > DETERMINED:
            added = np.column_stack([added, left / np.sqrt(share)])
    return added
