"""Discrete Bayesian networks, with known Markov blankets and samples."""

from collections.abc import Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ppfs.datasets._frames import Coded, build_frame
from ppfs.datasets._graph import children_of, markov_blanket, topological_order
from ppfs.datasets._seeds import RandomState, SeedTree

# Values of a list that a message shows.
_MOST_SHOWN = 8

# Published tables are rounded to about seven digits; a typing error is larger than this.
SUM_TOLERANCE = 1e-5


class BayesianNetwork:
    """A Bayesian network over discrete nodes.

    Use :func:`ppfs.datasets.read_network` to read one from a file. Its samples are test problems for
    which the Markov blanket of every node is known.

    Parameters
    ----------
    states : mapping of str to sequence of str
        Each node with the names of its states; fixes the order of the nodes.
    parents : mapping of str to sequence of str
        Each node with its parents; nodes left out have none.
    tables : mapping of str to array of shape (n_states of each parent, ..., n_states)
        Each node's probabilities, given the states of its parents in their order.

    Examples
    --------
    >>> from ppfs.datasets import BayesianNetwork
    >>> network = BayesianNetwork(
    ...     states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ...     parents={"wet": ["rain"]},
    ...     tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ... )
    >>> network
    BayesianNetwork(2 nodes, 1 arcs)
    >>> network.markov_blanket("rain")
    ('wet',)
    >>> network.sample_codes(1000, random_state=0).mean(axis=0).round(1).tolist()
    [0.2, 0.3]
    """

    def __init__(
        self,
        states: Mapping[str, Sequence[str]],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, ArrayLike],
    ) -> None:
        self._states = MappingProxyType({node: tuple(names) for node, names in states.items()})
        self._parents = MappingProxyType({node: tuple(parents.get(node, ())) for node in states})
        self._tables = {node: _read_only(tables[node]) for node in states}
        for node, table in self._tables.items():
            check_table(
                node, table, self._states[node], [self._states[above] for above in self._parents[node]]
            )
        self._order = topological_order(self._parents)
        self._children = children_of(self._parents)

    def __repr__(self) -> str:
        return f"BayesianNetwork({len(self.nodes)} nodes, {len(self.edges)} arcs)"

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only views of the constructor cannot be copied or pickled; what they show can.
        return type(self), (dict(self._states), dict(self._parents), self._tables)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in the order of the file."""
        return tuple(self._states)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All arcs as (parent, child)."""
        return tuple((parent, node) for node, above in self._parents.items() for parent in above)

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the parents of a node, in the order of its table's axes."""
        return self._parents[self._known(node)]

    def children(self, node: str) -> tuple[str, ...]:
        """Return the children of a node."""
        return tuple(self._children[self._known(node)])

    def states(self, node: str) -> tuple[str, ...]:
        """Return the names of a node's states."""
        return self._states[self._known(node)]

    def table(self, node: str) -> NDArray[np.float64]:
        """Return the probabilities of a node, shape (n_states of each parent, ..., n_states), read-only."""
        return self._tables[self._known(node)]

    def markov_blanket(self, node: str) -> tuple[str, ...]:
        """Return the parents, children and children's other parents of a node, in node order.

        Given these, the node is independent of all others, which is true for no smaller set.
        """
        blanket = markov_blanket(self._parents, self._known(node))
        return tuple(name for name in self.nodes if name in blanket)

    def sample(self, n: int, random_state: RandomState = None, *, backend: str | None = None) -> Any:
        """Draw rows from the network as a data frame.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : int, Generator, RandomState or None
            Each node has its own stream, so neither the order of evaluation nor NumPy's global state matters.
        backend : {"pandas", "polars"}, optional
            Library of the frame. By default pandas if installed, else polars.

        Returns
        -------
        pandas.DataFrame (Categorical columns) or polars.DataFrame (Enum columns)
            One column for each node, in node order; states that were not drawn stay among the categories.
        """
        codes = self.sample_codes(n, random_state)
        columns = {node: Coded(codes[:, j], self._states[node]) for j, node in enumerate(self.nodes)}
        return build_frame(columns, backend)

    def sample_codes(self, n: int, random_state: RandomState = None) -> NDArray[np.intp]:
        """Draw rows from the network as positions in `states`.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : int, Generator, RandomState or None
            As in `sample`.

        Returns
        -------
        ndarray of shape (n, n_nodes)
        """
        if n < 1:
            raise ValueError(f"n is {n}; a sample needs at least one row.")
        tree = SeedTree(random_state)
        position = {node: j for j, node in enumerate(self.nodes)}
        # Filled node by node, so columns are contiguous.
        codes = np.empty((n, len(position)), dtype=np.intp, order="F")
        for node in self._order:
            above = tuple(codes[:, position[parent]] for parent in self._parents[node])
            uniform = tree.stream(position[node]).random(n)
            codes[:, position[node]] = _draw(self._tables[node], above, uniform)
        return codes

    def _known(self, node: str) -> str:
        if node not in self._states:
            raise KeyError(f"no node {node!r}; the nodes are {shorten(self.nodes)}")
        return node


def check_table(
    node: str, table: NDArray[np.float64], states: Sequence[str], parent_states: Sequence[Sequence[str]]
) -> None:
    """Raise ValueError unless every row of a probability table is a distribution."""
    shape = (*(len(names) for names in parent_states), len(states))
    if table.shape != shape:
        raise ValueError(f"the table of {node!r} has shape {table.shape}; parents and states ask for {shape}")
    sums = table.sum(axis=-1)
    # Written so that NaN counts as bad.
    bad = ~((np.abs(sums - 1) <= SUM_TOLERANCE) & (table >= 0).all(axis=-1))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        given = next(row for i, row in enumerate(product(*parent_states)) if i == first)
        where = f" given ({', '.join(given)})" if given else ""
        raise ValueError(
            f"the probabilities of {node!r}{where} are {shorten(table.reshape(-1, len(states))[first].tolist())} "
            f"and sum to {sums.flat[first]:.6g}; they must be non-negative and sum to 1 within {SUM_TOLERANCE:g}"
        )


def _draw(
    table: NDArray[np.float64], above: tuple[NDArray[np.intp], ...], uniform: NDArray[np.float64]
) -> NDArray[np.intp]:
    n_states = table.shape[-1]
    row = np.ravel_multi_index(above, table.shape[:-1]) if above else np.zeros(len(uniform), dtype=np.intp)
    cumulative = table.reshape(-1, n_states).cumsum(axis=1)
    # Dividing by the last entry makes the end exactly 1: trailing states of probability 0 are never drawn.
    cumulative /= cumulative[:, -1:]
    code = np.zeros(len(uniform), dtype=np.intp)
    # One pass per state needs memory for n values; comparing with all states at once would need n x n_states.
    for state in range(n_states - 1):
        code += uniform >= cumulative[row, state]
    return code


def _read_only(table: ArrayLike) -> NDArray[np.float64]:
    array = np.array(table, dtype=np.float64)
    array.flags.writeable = False
    return array


def shorten(values: Sequence[Any]) -> str:
    """Write values for a message, the first few of a long list."""
    shown = ", ".join(str(value) for value in values[:_MOST_SHOWN])
    return shown if len(values) <= _MOST_SHOWN else f"{shown}, ... ({len(values)} in all)"
