"""Problems with a known blanket: published Bayesian networks, and random graphs with continuous or mixed columns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ppfs.datasets import make_blanket_problem, read_network

# Of the largest networks some nodes are drawn: searching around all would take hours.
MAX_TARGETS = 20

NETWORKS = (
    "asia",
    "cancer",
    "earthquake",
    "survey",
    "sachs",
    "child",
    "alarm",
    "water",
    "mildew",
    "barley",
    "win95pts",
    "pigs",
    "link",
)
WITH_SOME_TARGETS = ("pigs", "link")
GRAPHS = ("continuous", "mixed")

N_GRAPHS = 10


@dataclass(frozen=True)
class Problem:
    """Columns, a target, and which columns are its blanket."""

    X: np.ndarray
    y: np.ndarray
    blanket: frozenset[int]


def data_folder() -> Path:
    """Return where the networks are: PPFS_DATA, or the folder next to the project."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("PPFS_DATA", beside))


def draw(name: str, n_rows: int, seed: int) -> Iterator[Problem]:
    """Yield one problem for each target of a sample."""
    return _graphs(name, n_rows, seed) if name in GRAPHS else _network(name, n_rows, seed)


def _network(name: str, n_rows: int, seed: int) -> Iterator[Problem]:
    network = read_network(data_folder() / "networks" / f"{name}.bif.gz")
    codes = network.sample_codes(n_rows, random_state=seed).astype(float)
    nodes = list(network.nodes)
    targets = np.arange(len(nodes))
    if name in WITH_SOME_TARGETS:
        targets = np.sort(np.random.default_rng(0).choice(len(nodes), MAX_TARGETS, replace=False))
    for target in targets:
        y = codes[:, target].astype(int)
        if (y == y[0]).all():
            continue
        others = [node for node in nodes if node != nodes[target]]
        blanket = frozenset(others.index(node) for node in network.markov_blanket(nodes[target]))
        yield Problem(np.delete(codes, target, axis=1), y, blanket)


def _graphs(mechanism: str, n_rows: int, seed: int) -> Iterator[Problem]:
    """Yield planted problems of 30 columns, each with its own graph."""
    for graph in range(N_GRAPHS):
        X, y, blanket = make_blanket_problem(
            n_rows,
            n_features=30,
            n_parents=2,
            n_children=3,
            n_spouses=2,
            n_relatives=8,
            mechanism="linear" if mechanism == "continuous" else "mixed",
            task="regression" if mechanism == "continuous" else "classification",
            random_state=seed * N_GRAPHS + graph,
        )
        yield Problem(X, y, frozenset(blanket.tolist()))
