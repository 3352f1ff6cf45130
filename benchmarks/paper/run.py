"""The paper's tables, cell by cell: as published, and with selection inside the training folds.

    python benchmarks/paper/run.py                          # what `make paper` runs: two sets
    python benchmarks/paper/run.py --all                    # everything
    python benchmarks/paper/run.py --sets wdbc --methods PPFS PPFSCV --seeds 27 1001
    python benchmarks/paper/render.py                       # writes docs/paper.md from what is there

A cell is a line of a table in results/. Cells that are there are not run again, so an interrupted run continues;
``--again`` runs the chosen cells again. Each cell runs in its own process with a limit of CPU seconds; a cell that
exceeds it is recorded as cut. It is cut early if its first fold takes a third of the limit, or if the folds so far
show that all of them together will take far longer.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from as_published import all_settings, seeds_of
from methods import DEAR, METHODS, PEERS, RULES, looks_at_model, select
from records import CELLS, LATER, PUBLISHED, RESULTS, Key, Records
from sets import MORE_SEEDS, SEED, SETS, SMALL, folds, load, score

from peers import select_by_peer

QUICK_SETS = ("heart", "wdbc")
# The sets of tables 1 and 2: what more seeds are for, unless others are asked for by name.
REPEATED = tuple(one.key for one in SMALL)

# CPU seconds for all folds of a cell. Ours have ten minutes on the wide sets, because that is what is promised.
LIMIT = 240
LIMIT_OF_OURS = 600
# Where models are fitted for every size in every fold, or many times for every column, there is no promise.
LIMIT_OF_PATIENCE = 1800

# How a process ends that will not keep its limit.
TOO_LONG = 3


@dataclass(frozen=True)
class Cell:
    """One set, seed and method; the method "as published" is protocol (a). Patience stands for the usual limit."""

    key: str
    seed: int
    method: str
    patience: int | None = None
    is_later: bool = False

    @property
    def table(self) -> Records:
        """The table that it belongs to."""
        if self.method == "as published":
            return PUBLISHED
        return LATER if self.is_later else CELLS

    @property
    def place(self) -> Key:
        """Its key in that table."""
        return self.table.key_of({"set": self.key, "seed": self.seed, "method": self.method})

    @property
    def partial(self) -> Path:
        """The folder that holds what is selected in each fold while the cell runs."""
        return RESULTS / "partial" / f"{self.key}-{self.seed}-{self.method.replace(' ', '-').lower()}"

    @property
    def limit(self) -> int:
        """CPU seconds that it may take."""
        if self.patience is not None:
            return self.patience
        if self.method in (*RULES, "PPFS calibrated") and SETS[self.key].is_wide:
            return LIMIT_OF_PATIENCE
        return LIMIT_OF_OURS if "PPFS" in self.method or self.method == "as published" else LIMIT

    @property
    def turn(self) -> int:
        """When it runs: cells that say most per minute of computing first, further seeds of expensive methods last."""
        is_published = self.method == "as published"
        return (not is_published and self.seed != SEED) + (self.method in DEAR) + SETS[self.key].is_wide

    def run(self) -> dict[str, Any]:
        """Return what the cell holds."""
        if self.method == "as published":
            return all_settings(self.key, self.seed)
        return honest(self)


class TooLong(Exception):
    """Tells that a cell would exceed its limit."""


def honest(cell: Cell) -> dict[str, Any]:
    """Select in the training part of every fold, fit the model there, and score it on the fold."""
    X, y = load(cell.key)
    models = SETS[cell.key].models
    divisions = folds(cell.key, cell.seed)
    extra: dict[str, Any] = {}
    if cell.method in PEERS:
        start = _cpu_seconds()
        columns, extra["versions"] = select_by_peer(cell.method, X, y, divisions, cell.seed)
        found, seconds = dict.fromkeys(models, columns), _cpu_seconds() - start
    else:
        # Those that do not look at the model select once for all.
        asked = models if looks_at_model(cell.method) else models[:1]
        n_parts = len(asked) * len(divisions)
        parts: dict[str, list[dict[str, Any]]] = {model: [] for model in asked}
        seconds, n_done = 0.0, 0
        for model, i in product(asked, range(len(divisions))):
            parts[model].append(_selected(cell, X, y, model, i))
            seconds, n_done = seconds + parts[model][-1]["seconds"], n_done + 1
            if seconds * n_parts / n_done > 1.5 * cell.limit:
                raise TooLong
            resource.setrlimit(resource.RLIMIT_CPU, (cell.limit, cell.limit + 5))
        by_model = {model: [part["columns"] for part in some] for model, some in parts.items()}
        found = {model: by_model.get(model, by_model[asked[0]]) for model in models}
    return {
        "models": {
            model: {
                "scores": [
                    round(score(model, X, y, chosen, *division), 6)
                    for chosen, division in zip(selected, divisions, strict=True)
                ],
                "sizes": [len(chosen) for chosen in selected],
            }
            for model, selected in found.items()
        },
        # Of selecting, for all folds and models.
        "seconds": round(seconds, 2),
        **extra,
    }


def _selected(cell: Cell, X: Any, y: np.ndarray, model: str, fold: int) -> dict[str, Any]:
    """Return what is selected in one fold, and the CPU seconds; kept in a file until the cell is complete.

    What is found on the way for another cell is kept for that one.
    """
    name = f"{model.replace(' ', '-')}-{fold}.json"
    path = cell.partial / name
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    train, _ = folds(cell.key, cell.seed)[fold]
    start = _cpu_seconds()
    found = select(cell.method, X[train], y[train], model, cell.seed)
    seconds = _cpu_seconds() - start
    for method, columns in found.items():
        part = {"columns": columns, "seconds": seconds}
        folder = Cell(cell.key, cell.seed, method).partial
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(part) + "\n", encoding="utf-8")
    return {"columns": found[cell.method], "seconds": seconds}


@cache
def code() -> str:
    """Return the commit that the cells of this run come from, so that those of two states are not taken for one."""
    command = ["git", "-C", str(RESULTS.parent), "log", "-1", "--format=%h", "--abbrev=10", "--", ":/src"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or version("ppfs")


def _cpu_seconds() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _work(cell: Cell) -> None:
    """Run a cell and record its result; the system ends the process at its limit."""
    # The others do all folds in one call, so what the first of them took is not known.
    by_fold = cell.method not in (*PEERS, "as published")
    first = cell.limit // 3 if by_fold else cell.limit
    resource.setrlimit(resource.RLIMIT_CPU, (first, cell.limit + 5))
    warnings.simplefilter("ignore")
    try:
        _write(cell, {"status": "done", **cell.run()})
        shutil.rmtree(cell.partial, ignore_errors=True)
    except TooLong:
        os._exit(TOO_LONG)
    except Exception as error:
        traceback.print_exc()
        # Of another project's method the last line of its own traceback.
        reason = _reason_of(cell)
        reason.parent.mkdir(parents=True, exist_ok=True)
        reason.write_text(str(error).strip().splitlines()[-1], encoding="utf-8")
        os._exit(1)
    # Not by way of the interpreter's end, which waits for threads that only the parent has.
    os._exit(0)


def _write(cell: Cell, record: dict[str, Any]) -> None:
    about = {"set": cell.key, "seed": cell.seed, "method": cell.method, "limit": cell.limit, "code": code()}
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    cell.table.add({**about, **record, "versions": versions | record.get("versions", {})})


def run_cell(cell: Cell) -> str:
    """Run one cell in a separate process, and return how it ended."""
    start = time.monotonic()
    process = multiprocessing.get_context("fork").Process(target=_work, args=(cell,))
    process.start()
    process.join()
    clock = time.monotonic() - start
    if process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL, TOO_LONG):
        _write(cell, {"status": "cut", "clock": round(clock)})
        ended = f"cut: more than {cell.limit} s"
    elif process.exitcode:
        _write(cell, {"status": "failed", "clock": round(clock), "reason": _taken(_reason_of(cell))})
        ended = "failed"
    else:
        ended = "done"
    return f"{cell.key:<18}{cell.seed:>6}  {cell.method:<16}{ended}, {clock:.0f} s wall-clock time"


def _reason_of(cell: Cell) -> Path:
    """Return the file in which a cell's process leaves the reason for its failure."""
    return cell.partial.with_suffix(".reason")


def _taken(path: Path) -> str:
    """Read a file that is not needed any more."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    path.unlink(missing_ok=True)
    return text


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """Yield the chosen cells: what is published, then seed by seed."""
    for key in arguments.sets:
        if arguments.published and key not in ("desharnais-honest",):
            for seed in seeds_of(key):
                yield Cell(key, seed, "as published")
    for seed in arguments.seeds:
        for method in arguments.methods:
            for key in arguments.sets:
                if arguments.all and seed != SEED and key not in REPEATED:
                    continue
                yield Cell(key, seed, method, arguments.limit, arguments.later)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="every set, and ten more seeds of the small ones")
    parser.add_argument(
        "--sets", nargs="+", choices=list(SETS), metavar="SET", help=f"from {', '.join(SETS)}"
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--seeds", nargs="+", type=int)
    parser.add_argument(
        "--no-published", dest="published", action="store_false", help="leave out protocol (a)"
    )
    parser.add_argument("--again", action="store_true", help="run the chosen cells even if they are there")
    parser.add_argument(
        "--later",
        action="store_true",
        help="put cells beside those of an earlier version, into a table of their own",
    )
    parser.add_argument("--limit", type=int, help="CPU seconds for every cell, in place of the usual ones")
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time")
    arguments = parser.parse_args()
    arguments.sets = arguments.sets or (list(SETS) if arguments.all else list(QUICK_SETS))
    arguments.seeds = arguments.seeds or ([SEED, *MORE_SEEDS] if arguments.all else [SEED])
    return arguments


def main() -> None:
    arguments = read_arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    np.seterr(all="ignore")
    chosen = sorted(cells(arguments), key=lambda cell: cell.turn)
    there = (LATER if arguments.later else CELLS).read().keys() | PUBLISHED.read().keys()
    wanted = [cell for cell in chosen if arguments.again or cell.place not in there]
    print(f"{len(wanted)} cells to run", file=sys.stderr, flush=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for number, line in enumerate(pool.map(run_cell, wanted), start=1):
            print(f"{number:>4}/{len(wanted)}  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
