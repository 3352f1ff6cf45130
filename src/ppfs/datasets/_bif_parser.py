"""Parser of the Bayesian Interchange Format (BIF).

The grammar, with commas optional everywhere, names bare or in double quotes, and ``//`` and ``/* */``
comments::

    network NAME { }
    variable NAME { type discrete [ N ] { STATE, STATE, ... }; }
    probability ( NODE | PARENT, ... ) {
        table P, P, ...;            // all values; the node's own state varies slowest
        ( STATE, ... ) P, P, ...;   // one row: the parents' states, then the node's probabilities
        default P, P, ...;          // rows that are not listed
    }

``property`` statements are allowed in every block and ignored.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ppfs.datasets._bif_text import BIFText
from ppfs.datasets._graph import CycleError
from ppfs.datasets._network import SUM_TOLERANCE, BayesianNetwork, check_table, shorten

# A few characters of a file can ask for any amount of memory. Published networks stay far below these limits: of the
# thirteen in the benchmarks the largest, Mildew, has 547,158 entries, 280,000 of them in one table.
MAX_PARENTS = 24
MAX_TABLE_ENTRIES = 2**22
MAX_ENTRIES = 2**24


class BIFParser:
    """Collects the blocks of one file; every method reads one piece of the grammar.

    Parameters
    ----------
    text : BIFText
        The file, at its beginning.
    """

    def __init__(self, text: BIFText) -> None:
        self.text = text
        self.states: dict[str, tuple[str, ...]] = {}
        self.codes: dict[str, dict[str, int]] = {}
        self.n_entries = 0
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, NDArray[np.float64]] = {}
        self.places: dict[str, int] = {}

    def parse(self) -> BayesianNetwork:
        blocks = {"network": self.network, "variable": self.variable, "probability": self.probability}
        while not self.text.at_end():
            start = self.text.position
            keyword = self.text.name("'network', 'variable' or 'probability'")
            if keyword not in blocks:
                raise self.text.error(
                    f"expected 'network', 'variable' or 'probability', found {keyword!r}", start
                )
            blocks[keyword]()
        return self.finish()

    def finish(self) -> BayesianNetwork:
        if not self.states:
            raise self.text.error("no 'variable' block: this is not a BIF network")
        for node, place in self.places.items():
            if node not in self.tables:
                raise self.text.error(f"variable {node!r} has no 'probability' block", place)
        try:
            return BayesianNetwork(self.states, self.parents, self.tables)
        except CycleError as error:
            raise self.text.error(str(error), self.places[error.cycle[0]]) from error

    def network(self) -> None:
        if not self.text.comes("{"):
            self.text.name("the network's name")
        self.text.expect("{")
        while not self.text.take("}"):
            self.text.property()

    def variable(self) -> None:
        start = self.text.position
        node = self.text.name("a variable's name")
        if node in self.states:
            raise self.text.error(f"variable {node!r} is defined twice", start)
        self.places[node] = start
        self.text.expect("{")
        while not self.text.take("}"):
            if self.text.take_word("type"):
                self.states[node] = self.discrete_type(node)
                self.codes[node] = {state: code for code, state in enumerate(self.states[node])}
            else:
                self.text.property()
        if node not in self.states:
            raise self.text.error(f"variable {node!r} has no 'type discrete' statement", start)

    def discrete_type(self, node: str) -> tuple[str, ...]:
        start = self.text.position
        if not self.text.take_word("discrete"):
            raise self.text.error(f"variable {node!r}: only 'type discrete' is supported")
        self.text.expect("[")
        count = self.text.until("]")
        self.text.expect("{")
        states = tuple(self.text.split_names(self.text.until("}")))
        self.text.expect(";")
        if count.strip() != str(len(states)):
            raise self.text.error(
                f"variable {node!r} declares {count.strip()} states but lists {len(states)}", start
            )
        if len(set(states)) < len(states) or not states:
            raise self.text.error(
                f"variable {node!r} must have distinct states, found {shorten(states) or 'none'}", start
            )
        return states

    def probability(self) -> None:
        start = self.text.position
        self.text.expect("(")
        names = self.text.split_names(self.text.until(")"))
        self.check_header(names, start)
        node, parents = names[0], tuple(names[1:])
        self.parents[node], self.places[node] = parents, start
        self.tables[node] = self.table(node, parents, start)
        try:
            check_table(node, self.tables[node], self.states[node], [self.states[name] for name in parents])
        except ValueError as error:
            raise self.text.error(str(error), start) from error

    def check_header(self, names: list[str], start: int) -> None:
        if not names:
            raise self.text.error("'probability' names no variable", start)
        for name in names:
            if name not in self.states:
                raise self.text.error(
                    f"unknown variable {name!r}: no 'variable' block before this line", start
                )
        if names[0] in self.tables:
            raise self.text.error(f"variable {names[0]!r} has two 'probability' blocks", start)
        if len(set(names)) < len(names):
            raise self.text.error(f"a variable appears twice in 'probability' of {shorten(names)}", start)
        self.check_size(names, start)

    def check_size(self, names: list[str], start: int) -> None:
        """Refuse a table before memory is asked for it."""
        if len(names) - 1 > MAX_PARENTS:
            raise self.text.error(
                f"{names[0]!r} has {len(names) - 1} parents, but at most {MAX_PARENTS} are read", start
            )
        n_entries = math.prod(len(self.states[name]) for name in names)
        if n_entries > MAX_TABLE_ENTRIES:
            raise self.text.error(
                f"the table of {names[0]!r} has {n_entries:,} entries, but at most {MAX_TABLE_ENTRIES:,} are read",
                start,
            )
        self.n_entries += n_entries
        if self.n_entries > MAX_ENTRIES:
            raise self.text.error(
                f"with {names[0]!r} the tables have {self.n_entries:,} entries, but at most {MAX_ENTRIES:,} are read",
                start,
            )

    def table(self, node: str, parents: tuple[str, ...], start: int) -> NDArray[np.float64]:
        shape = [len(self.states[name]) for name in parents]
        n_states = len(self.states[node])
        # NaN marks the rows that have not been given.
        table = np.full((*shape, n_states), np.nan)
        default = None
        self.text.expect("{")
        while not self.text.take("}"):
            if self.text.comes("("):
                self.row(node, parents, table)
            elif self.text.take_word("table"):
                values = self.text.numbers(table.size, f"'table' of {node!r}")
                # The node's own state varies slowest in the file; it is the last axis here.
                table[:] = np.moveaxis(np.reshape(values, (n_states, *shape)), 0, -1)
            elif self.text.take_word("default"):
                default = self.text.numbers(n_states, f"'default' of {node!r}")
            else:
                self.text.property()
        missing = np.isnan(table[..., 0])
        if default is not None:
            table[missing] = default
        elif missing.any():
            first = np.argwhere(missing)[0]
            given = ", ".join(self.states[name][i] for name, i in zip(parents, first, strict=True))
            raise self.text.error(f"the table of {node!r} has no entry for ({given})", start)
        return table

    def row(self, node: str, parents: tuple[str, ...], table: NDArray[np.float64]) -> None:
        start = self.text.position
        self.text.expect("(")
        given = self.text.split_names(self.text.until(")"))
        if len(given) != len(parents):
            raise self.text.error(
                f"{node!r} has {len(parents)} parents, but this row names {len(given)} states", start
            )
        index = []
        for parent, state in zip(parents, given, strict=True):
            if state not in self.codes[parent]:
                known = self.states[parent]
                shown = known if len(known) <= 8 else shorten(known)
                raise self.text.error(f"{parent!r} has no state {state!r}, only {shown}", start)
            index.append(self.codes[parent][state])
        cell = tuple(index)
        if not np.isnan(table[cell][0]):
            raise self.text.error(f"the table of {node!r} has two entries for ({', '.join(given)})", start)
        values = self.text.numbers(table.shape[-1], f"row ({', '.join(given)}) of {node!r}")
        # Also checked with the whole table, but here the line is known.
        if abs(sum(values) - 1) > SUM_TOLERANCE:
            raise self.text.error(
                f"row ({', '.join(given)}) of {node!r} sums to {sum(values):.6g}; "
                f"probabilities must sum to 1 within {SUM_TOLERANCE:g}",
                start,
            )
        table[cell] = values
