"""Tables in which a column x is asked about given others, the first of which is correlated 0.5 with it.

In a cell whose link is "none" the target does not depend on x, so that a rejection is an error; in the others it does,
along a line, a curve, a step or together with the second column. Nothing here needs ppfs: peers draw the same tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# What x adds to the target, given x and the second of the other columns.
LINKS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "none": lambda x, _: np.zeros_like(x),
    "line": lambda x, _: 0.25 * x,
    "sine": lambda x, _: 0.5 * np.sin(2.0 * x),
    "square": lambda x, _: 0.25 * (x**2 - 1.0),
    "interaction": lambda x, other: 0.35 * x * other,
    "step": lambda x, _: 0.31 * np.sign(x),
}


@dataclass(frozen=True)
class Cell:
    """What the tables of a cell are like.

    Parameters
    ----------
    columns : {"normal", "lognormal", "rare counts"}
        The laws of x and of the columns it is asked about given; rare counts are those of x alone.

    target : {"quantity", "heavy tails", "two classes", "rare class", "three classes"}

    rows : {"alone", "groups", "weights"}
        Rows in groups of five that share an effect, or with weights that differ.
    """

    target: str
    n_rows: int
    link: str = "none"
    columns: str = "normal"
    n_given: int = 2
    rows: str = "alone"

    @property
    def name(self) -> str:
        """The cell as text: the key of results and random streams."""
        return f"{self.target}/{self.n_rows}/{self.link}/{self.columns}/{self.n_given}/{self.rows}"


POWER = [
    *(Cell("quantity", 200, link) for link in LINKS),
    *(Cell("two classes", 300, link) for link in LINKS),
]
SIZE = [
    *(
        Cell(target, n_rows, columns=columns)
        for columns in ("normal", "lognormal", "rare counts")
        for n_rows in (40, 80, 200, 1000)
        for target in ("quantity", "two classes")
        if (target, n_rows, columns) != ("quantity", 200, "normal")  # It is among those of power.
    ),
    Cell("heavy tails", 200),
    Cell("heavy tails", 80, columns="lognormal"),
    Cell("rare class", 300),
    Cell("rare class", 1000),
    *(Cell("three classes", n_rows) for n_rows in (80, 200, 1000)),
    *(Cell(target, 200, n_given=n_given) for n_given in (5, 20) for target in ("quantity", "two classes")),
    *(
        Cell(target, 200, rows=rows)
        for rows in ("groups", "weights")
        for target in ("quantity", "two classes")
    ),
]


@dataclass(frozen=True)
class Sample:
    """One table of a cell; x is column 0."""

    X: Floats
    y: NDArray[np.generic]
    groups: NDArray[np.intp] | None
    weights: Floats | None


def draw(cell: Cell, replicate: int) -> Sample:
    """Draw a table: the same for a cell's name and a number, whatever else is run."""
    key = blake2b(f"{cell.name}#{replicate}".encode(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(key))
    n = cell.n_rows
    given = rng.normal(size=(n, cell.n_given))
    x = 0.5 * given[:, 0] + np.sqrt(0.75) * rng.normal(size=n)
    signal = given[:, 0] + 0.5 * given[:, 1]
    effect = LINKS[cell.link](x, given[:, 1])
    groups = weights = None
    if cell.rows == "groups":
        groups = np.repeat(np.arange(n // 5), 5)
        # Both sides share something within a group, so that rows are not independent.
        x = 0.7 * x + 0.7 * rng.normal(size=n // 5)[groups]
        signal = signal + rng.normal(size=n // 5)[groups]
    if cell.rows == "weights":
        weights = rng.exponential(size=n) + 0.1
    if cell.columns == "lognormal":
        x, given = np.exp(x), np.exp(given)
    if cell.columns == "rare counts":
        x = rng.poisson(0.05 * np.exp(0.5 * given[:, 0] - 0.125)).astype(np.float64)
    return Sample(np.column_stack([x, given]), _target(cell, signal, effect, rng), groups, weights)


def _target(cell: Cell, signal: Floats, effect: Floats, rng: np.random.Generator) -> NDArray[np.generic]:
    n = cell.n_rows
    if cell.target == "quantity":
        return signal + effect + rng.normal(size=n)
    if cell.target == "heavy tails":
        return signal + effect + rng.standard_t(2, size=n)
    if cell.target == "three classes":
        scores = np.column_stack([signal, -signal, np.zeros(n)]) + rng.gumbel(size=(n, 3))
        return scores.argmax(axis=1)
    score = signal + 2.2 * effect + rng.logistic(size=n)
    return score > (np.quantile(score, 0.95) if cell.target == "rare class" else 0.0)
