"""Compare what is written by hand with the libraries that do it too: the table of docs/decisions/0030-made-by-hand.md.

    pip install --requirement benchmarks/libraries/requirements.txt
    python benchmarks/libraries/by_hand.py

Each line is a median over repetitions of CPU time in one process, and how often the two agree. Networks are read from
the folder that PPFS_DATA names, or from ../shared/data.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

DATA = Path(os.environ.get("PPFS_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
NETWORKS = ("child", "alarm", "win95pts", "pigs", "link")
N_QUESTIONS = 1000


def seconds(work: Callable[[], Any], repetitions: int = 3) -> float:
    """Return the median CPU seconds of some calls."""
    taken = []
    for _ in range(repetitions):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return median(taken)


def line(what: str, ours: float, theirs: float, note: str) -> None:
    print(f"| {what} | {1000 * ours:,.1f} ms | {1000 * theirs:,.1f} ms | {note} |", flush=True)


def imports() -> None:
    """Print what the libraries add to the start of a process."""
    for name in ("networkx", "pgmpy.readwrite", "clevercsv", "jinja2"):
        command = [
            sys.executable,
            "-c",
            f"import time; s = time.process_time(); import {name}; print(time.process_time() - s)",
        ]
        taken = median(
            float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(3)
        )
        print(f"| `import {name}` | | {1000 * taken:,.0f} ms | |", flush=True)


def d_separation() -> None:
    """Ask the same questions about Alarm: whether a column is d-separated from the target given two others."""
    import networkx
    import pandas as pd

    from ppfs._data.reading import read_table
    from ppfs.datasets import read_network
    from ppfs.independence import DSeparation

    network = read_network(DATA / "networks" / "alarm.bif.gz")
    graph = networkx.DiGraph(network.edges)
    nodes = list(network.nodes)
    draw = random.Random(0)
    target, columns = nodes[0], nodes[1:]
    frame = pd.DataFrame(np.zeros((2, len(columns))), columns=columns)
    questions = []
    for _ in range(N_QUESTIONS):
        x, *given = draw.sample(columns, 3)
        questions.append((x, given))
    oracle = DSeparation(network, target=target)
    table = read_table(frame, np.arange(2), task="regression", owner=oracle)
    place = {name: j for j, name in enumerate(columns)}
    asked = [(place[x], tuple(place[name] for name in given)) for x, given in questions]

    def ours() -> list[bool]:
        # Bound again each time: a bound test remembers its answers.
        bound = oracle.bind(table)
        return [bound.query(x, len(columns), given).pvalue == 1.0 for x, given in asked]

    def theirs() -> list[bool]:
        return [networkx.is_d_separator(graph, {x}, {target}, set(given)) for x, given in questions]

    n_equal = sum(a == b for a, b in zip(ours(), theirs(), strict=True))
    line(
        f"d-separation, {N_QUESTIONS:,} questions on Alarm",
        seconds(ours),
        seconds(theirs),
        f"{n_equal:,} equal answers",
    )


def bif() -> None:
    """Read networks, and files with mistakes."""
    import gzip
    import logging

    from pgmpy.readwrite import BIFReader

    from ppfs.datasets import read_network

    logging.disable(logging.CRITICAL)
    for name in NETWORKS:
        path = DATA / "networks" / f"{name}.bif.gz"
        text = gzip.decompress(path.read_bytes()).decode()
        start = time.process_time()
        network = read_network(path)
        ours = time.process_time() - start
        start = time.process_time()
        model = BIFReader(string=text).get_model()
        theirs = time.process_time() - start
        same = set(network.edges) == set(model.edges)
        line(
            f"BIF, {name} ({len(network.nodes)} nodes)",
            ours,
            theirs,
            "the same graph" if same else "another graph",
        )
    text = gzip.decompress((DATA / "networks" / "child.bif.gz").read_bytes()).decode()
    noticed = [0, 0]
    broken = list(_broken(text))
    with tempfile.TemporaryDirectory() as folder:
        for changed in broken:
            path = Path(folder, "broken.bif")
            path.write_text(changed, encoding="utf-8")
            for i, read in enumerate(
                (lambda p: read_network(p), lambda p: BIFReader(string=p.read_text()).get_model())
            ):
                try:
                    read(path)
                except Exception:
                    noticed[i] += 1
    print(
        f"| BIF, {len(broken)} broken copies of Child: refused | {noticed[0]} | {noticed[1]} | |", flush=True
    )


def _broken(text: str) -> Iterator[str]:
    """Yield a network with mistakes: cut off, with a number, a state, a parent or a separator changed."""
    draw = random.Random(0)
    lines = text.splitlines()
    rows = [i for i, one in enumerate(lines) if one.strip().startswith(("(", "table"))]
    for _ in range(10):
        yield "\n".join(lines[: draw.randrange(len(lines) // 4, len(lines) - 2)])
        for old, new in (("0.", "1."), (", 0.", ", x0."), ("(", "(x"), (";", "")):
            changed = list(lines)
            changed_row = draw.choice([i for i in rows if old in lines[i]])
            changed[changed_row] = changed[changed_row].replace(old, new, 1)
            yield "\n".join(changed)


def dialects() -> None:
    """Find the separator of files of 200 rows, and the decimal comma, which only one of the two looks for."""
    import clevercsv

    from ppfs.cli.input.dialect import find_dialect

    files = list(_texts())
    detector = clevercsv.Detector()

    def theirs() -> list[str | None]:
        found = [detector.detect(text) for text, _, _ in files]
        return [None if one is None else one.delimiter for one in found]

    def ours() -> list[Any]:
        return [find_dialect(text.encode(), "file", None, None, None) for text, _, _ in files]

    mine, other = ours(), theirs()
    right = [sum(one.sep == sep for one, (_, sep, _) in zip(mine, files, strict=True))]
    right.append(sum(one == sep for one, (_, sep, _) in zip(other, files, strict=True)))
    decimals = sum(one.decimal == decimal for one, (_, _, decimal) in zip(mine, files, strict=True))
    note = f"separators {right[0]} and {right[1]} of {len(files)}, decimals {decimals} and none"
    line(f"dialects of {len(files)} files of 200 rows", seconds(ours), seconds(theirs), note)


def _texts() -> Iterator[tuple[str, str, str]]:
    """Yield files with their separators and decimal points."""
    draw = random.Random(0)
    for sep, decimal, quoted, names in product(",;\t|", ".,", (False, True), ("plain", "spaces", "text")):
        if sep == decimal:
            continue
        rows = [["a", "b", "class"]]
        for _ in range(200):
            number = f"{draw.gauss(0, 10):.3f}".replace(".", decimal)
            word = {"plain": "x", "spaces": "x y", "text": "It is, as they say; so"}[names]
            rows.append([number, str(draw.randrange(100)), word + draw.choice("abc")])
        quote = '"' if quoted or names == "text" else ""
        lines = (
            sep.join(f"{quote}{cell}{quote}" if i == 2 else cell for i, cell in enumerate(row))
            for row in rows
        )
        yield "\n".join(lines) + "\n", sep, decimal


def splines() -> None:
    """Make the regressors of 200 columns of 500 rows, as growth does for every block."""
    from sklearn.preprocessing import SplineTransformer

    from ppfs.independence._predictive.risks.linear.splines import fitted_splines

    X = np.random.default_rng(0).normal(size=(500, 200))
    step = SplineTransformer(n_knots=4, extrapolation="constant", knots="quantile", include_bias=False)
    fitted_splines(step, X).transform(X)  # Compiles.
    ours, theirs = (lambda: fitted_splines(step, X).transform(X)), (lambda: step.fit(X).transform(X))
    difference = np.abs(ours() - theirs()).max()
    line(
        "splines of 200 columns, 500 rows",
        seconds(ours),
        seconds(theirs),
        f"largest difference {difference:.0e}",
    )


def main() -> None:
    print("| what | here | library | |\n| --- | ---: | ---: | --- |")
    for measure in (d_separation, bif, dialects, splines, imports):
        measure()


if __name__ == "__main__":
    main()
