"""Strong models: ppfs and PyImpetus side by side, same model, data and number of splits, both on all cores.

HistGradientBoosting is compared with this library's own path through scikit-learn's interface: what the engine adds.
Where the other side would take hours its growth phase is timed on random columns and scaled to all of them, and our
growth phase over all columns is compared with it. Every cell is saved when it is measured, so an interrupted run
continues.

    python benchmarks/peers/models.py --cells forest/wdbc lightgbm/sonar
    python benchmarks/peers/models.py --show
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyimpetus import NEWEST, OLDER_SCIPY, make_environment, sample_columns
from scipy import sparse

from ppfs.datasets import load_dataset, make_blanket_problem

sys.path.append(str(Path(__file__).resolve().parents[1] / "scale"))

from recording import (
    data_folder,
    describe_machine,
    load,
    machine_lines,
    markdown_table,
    run_child,
    save,
    say,
    verdict,
)

HERE = Path(__file__).resolve().parent
ALPHA = 0.05
SEED = 0


@dataclass(frozen=True)
class Cell:
    """One cell of the table.

    Attributes
    ----------
    at_least : int
        How many times faster ppfs has to be.
    n_columns : int
        On how many random columns the other side grows; 0 for a whole fit on all columns.
    """

    model: str
    dataset: str
    at_least: int
    n_splits: int = 10
    n_columns: int = 0

    @property
    def name(self) -> str:
        """How the command line calls it."""
        return f"{self.model}/{self.dataset}"


CELLS = (
    Cell("forest", "wdbc", 30),
    Cell("forest", "sonar", 30),
    Cell("forest", "arcene", 300, n_columns=20),
    Cell("forest", "dexter", 300, n_columns=20),
    Cell("boosting", "wdbc", 15),
    Cell("boosting", "sonar", 15),
    Cell("boosting", "arcene", 300, n_columns=20),
    Cell("logistic", "wdbc", 20),
    Cell("logistic", "sonar", 20),
    Cell("logistic", "arcene", 100, n_columns=40),
    Cell("logistic", "dexter", 100, n_columns=40),
    Cell("ridge", "planted", 50),
    Cell("lightgbm", "wdbc", 6),
    Cell("lightgbm", "sonar", 6),
    Cell("lightgbm", "arcene", 10, n_columns=20),
    Cell("lightgbm-one-thread", "wdbc", 1),
)

MODEL_NAMES = {
    "forest": "`RandomForestClassifier(100)`",
    "boosting": "`HistGradientBoostingClassifier(max_iter=50)`",
    "logistic": "`StandardScaler`, `LogisticRegression`",
    "ridge": "`Ridge`",
    "lightgbm": "`LGBMClassifier(n_estimators=50)`",
    "lightgbm-one-thread": "`LGBMClassifier(n_estimators=50, n_jobs=1)`",
}


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    names = [cell.name for cell in CELLS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", nargs="+", choices=names, default=names, metavar="MODEL/SET")
    parser.add_argument("--again", action="store_true", help="measure known cells again")
    parser.add_argument("--ours", action="store_true", help="time ppfs again, and keep the other side's time")
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--older-scipy", action="store_true", help="run PyImpetus with SciPy 1.12")
    return parser.parse_args(arguments)


def results_path(peer: str) -> Path:
    return HERE / "results" / f"models-{peer}.json"


def read_data(name: str) -> tuple[Any, np.ndarray]:
    if name == "planted":
        X, y, *_ = make_blanket_problem(500, n_features=1000, random_state=SEED)
        return X, y
    dataset = load_dataset(name, download=False)
    return dataset.X, np.unique(dataset.y, return_inverse=True)[1]


def write(X: Any, y: np.ndarray, folder: Path) -> Path:
    """Write data for the worker."""
    folder.mkdir()
    if sparse.issparse(X):
        sparse.save_npz(folder / "X.npz", X)
    else:
        np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return folder


def compare(cell: Cell, python: Path, repeats: int, known: Mapping[str, Any] | None) -> dict[str, Any]:
    """Time both sides of one cell; the other side's time may be known."""
    X, y = read_data(cell.dataset)
    if cell.model == "logistic" and sparse.issparse(X):
        # The scaler centres, which fills up a sparse matrix: both sides get it filled.
        X = X.toarray()
    n_rows, n_columns = X.shape
    is_own = cell.model == "boosting"
    shared = ["--n-splits", cell.n_splits, "--alpha", ALPHA, *(["--growth-only"] if cell.n_columns else [])]
    worker = HERE / "model_worker.py"
    with tempfile.TemporaryDirectory() as folder:
        whole = write(X, y, Path(folder) / "whole")
        say(f"{cell.name}: ppfs ...")
        ours = child([sys.executable, worker, "ppfs", cell.model, whole, *shared, "--repeats", repeats])
        if known is not None:
            theirs = known["other"]
        else:
            columns = sample_columns(n_columns, cell.n_columns or n_columns)
            some = X[:, columns]
            part = write(some.toarray() if sparse.issparse(some) else some, y, Path(folder) / "part")
            say(f"{cell.name}: the other side, {columns.size} columns ...")
            theirs = (
                child([sys.executable, worker, "ppfs", "generic boosting", part, *shared])
                if is_own
                else child([python, "-I", worker, "PyImpetus", cell.model, part, *shared])
            ) | {"columns": columns.size}
    scale = n_columns / theirs["columns"]
    return {
        "rows": n_rows,
        "columns": n_columns,
        "n_splits": cell.n_splits,
        "ppfs": ours,
        "other": theirs,
        "other seconds": theirs["seconds"] * scale,
        "ratio": theirs["seconds"] * scale / ours["seconds"],
        "cpu ratio": theirs["cpu seconds"] * scale / ours["cpu seconds"],
        "at least": cell.at_least,
        "machine": describe_machine(),
    }


def child(command: Sequence[object]) -> dict[str, Any]:
    return run_child([str(part) for part in command])


def table_of(cells: Mapping[str, Mapping[str, Any]]) -> str:
    header = [
        "model",
        "set",
        "rows x columns",
        "B",
        "other, s",
        "ppfs, s",
        "times faster",
        "the same in CPU",
        "at least",
        "met",
    ]
    return markdown_table(header, (_row(name, record) for name, record in cells.items()))


def _row(name: str, record: Mapping[str, Any]) -> list[str]:
    model, dataset = name.split("/")
    is_scaled = record["other"]["columns"] < record["columns"]
    return [
        MODEL_NAMES[model],
        dataset + (" (growth)" if is_scaled else ""),
        f"{record['rows']} x {record['columns']}",
        str(record["n_splits"]),
        f"{record['other seconds']:,.1f}",
        f"{record['ppfs']['seconds']:.3f}",
        f"{record['ratio']:,.0f}",
        f"{record['cpu ratio']:,.0f}",
        f"{record['at least']:,}",
        verdict(record["ratio"] >= record["at least"]),
    ]


def notes_of(cells: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say how the numbers came about, under the table."""
    sampled = {
        str(record["other"]["columns"])
        for record in cells.values()
        if record["other"]["columns"] < record["columns"]
    }
    machines = {
        machine_lines(record["machine"])[1]: machine_lines(record["machine"])[0] for record in cells.values()
    }
    theirs = {
        ", ".join(f"{k} {v}" for k, v in record["other"]["versions"].items()): None
        for record in cells.values()
    }
    return [
        "other: PyImpetus; for HistGradientBoosting this library's own path through scikit-learn's interface. "
        f"(growth): the growth phase of both; the other's on {', '.join(sorted(sampled, key=int))} random columns, "
        "scaled to all.",
        f"alpha = {ALPHA}, plain random splits, models with random_state=0, all cores. Kernels compiled and workers "
        "started before; ppfs: median over fits of new selectors, the other side: one run. planted: "
        f"`make_blanket_problem(500, n_features=1000, random_state={SEED})`.",
        *(f"{where} {versions}" for versions, where in machines.items()),
        *(f"The other side: {versions}." for versions in theirs),
    ]


def main() -> None:
    arguments = read_arguments()
    os.environ["PPFS_DATA"] = str(data_folder())
    peer = OLDER_SCIPY if arguments.older_scipy else NEWEST
    path = results_path(peer)
    known: dict[str, Any] = load(path)["cells"] if path.is_file() else {}
    wanted = [] if arguments.show else [cell for cell in CELLS if cell.name in arguments.cells]
    for cell in wanted:
        if cell.name in known and not (arguments.again or arguments.ours):
            continue
        earlier = known.get(cell.name) if arguments.ours else None
        known[cell.name] = compare(cell, make_environment(peer), arguments.repeats, earlier)
        save({"cells": {one.name: known[one.name] for one in CELLS if one.name in known}}, path)
        print(table_of({cell.name: known[cell.name]}), flush=True)
    print(table_of(known), *notes_of(known), sep="\n\n")


if __name__ == "__main__":
    main()
