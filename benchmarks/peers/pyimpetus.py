"""ppfs and PyImpetus side by side: same data, number of splits, alpha and tree, both on all cores.

PyImpetus runs in a separate environment, created on first use in the user's cache folder. On the three wide
sets it would take from a quarter of an hour to more than an hour: there its growth phase is timed on 1,000 random
columns and scaled to all of them, and our whole fit is compared with that growth alone.

PyImpetus's speed depends on its SciPy: the ``wilcoxon`` of 1.17 is slow for few splits with ties or zeros, that of
1.12 is not. ``--older-scipy`` runs PyImpetus with 1.12.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ppfs.datasets import load_dataset

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
NEWEST, OLDER_SCIPY = "pyimpetus", "pyimpetus-older-scipy"
ALPHA = 0.05
SEED_OF_COLUMNS = 0


@dataclass(frozen=True)
class Comparison:
    """One row of the table.

    Attributes
    ----------
    n_splits : int
        The paper's B.
    at_least : int
        How many times faster ppfs has to be.
    is_wide : bool
        Whether PyImpetus is only asked to grow, on a sample of the columns.
    """

    name: str
    n_splits: int
    at_least: int
    is_wide: bool = False


COMPARISONS = (
    Comparison("ionosphere", 30, 100),
    Comparison("sonar", 10, 100),
    Comparison("wdbc", 30, 100),
    Comparison("madelon", 5, 50),
    Comparison("arcene", 10, 500, is_wide=True),
    Comparison("dexter", 5, 500, is_wide=True),
    Comparison("dorothea", 5, 1000, is_wide=True),
)


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    n_warm: int
    n_columns: int


THOROUGH = Effort(n_warm=5, n_columns=1000)
QUICK = Effort(n_warm=2, n_columns=50)


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    names = [comparison.name for comparison in COMPARISONS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sets", nargs="+", choices=names, default=names, metavar="SET", help=f"from {', '.join(names)}"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer columns and repeats, a first impression; nothing is written",
    )
    parser.add_argument(
        "--older-scipy", action="store_true", help="run PyImpetus with SciPy 1.12, which is faster"
    )
    return parser.parse_args(arguments)


def results_path(peer: str) -> Path:
    return HERE / "results" / f"{peer}.json"


def make_environment(peer: str) -> Path:
    """Return the interpreter that has PyImpetus, installing it where the requirements are new."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ppfs" / peer
    requirements = HERE / f"{peer}-requirements.txt"
    python = folder / "bin" / "python"
    stamp = folder / "requirements.sha256"
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    say(f"Installing PyImpetus into {folder} ...")
    venv.create(folder, clear=True, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--requirement", requirements]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"PyImpetus could not be installed:\n{done.stderr.strip()}")
    stamp.write_text(wanted)
    return python


def sample_columns(n_columns: int, n_sampled: int) -> np.ndarray:
    """Draw columns without replacement, the same ones every time, in ascending order."""
    generator = np.random.default_rng(SEED_OF_COLUMNS)
    return np.sort(generator.choice(n_columns, min(n_sampled, n_columns), replace=False))


def compare(comparison: Comparison, python: Path, folder: Path, effort: Effort) -> dict[str, Any]:
    """Time both libraries on one data set."""
    dataset = load_dataset(comparison.name, download=False)
    n_rows, n_columns = dataset.X.shape
    columns = sample_columns(n_columns, effort.n_columns) if comparison.is_wide else np.arange(n_columns)
    chosen = dataset.X[:, columns]
    path = folder / f"{comparison.name}.npz"
    y = np.unique(dataset.y, return_inverse=True)[1]
    np.savez(path, X=chosen.toarray() if sparse.issparse(chosen) else chosen, y=y)

    shared = ["--n-splits", str(comparison.n_splits), "--alpha", str(ALPHA)]
    say(f"{comparison.name}: ppfs ...")
    with tempfile.TemporaryDirectory() as cache:
        ours = run_child(
            [
                sys.executable,
                HERE / "ppfs_worker.py",
                comparison.name,
                *shared,
                "--n-warm",
                str(effort.n_warm),
            ],
            NUMBA_CACHE_DIR=cache,
        )
    say(f"{comparison.name}: PyImpetus, {columns.size} columns ...")
    growth_only = ["--growth-only"] if comparison.is_wide else []
    theirs = run_child([python, "-I", HERE / "pyimpetus_worker.py", path, *shared, *growth_only])
    return conclude(comparison, (n_rows, n_columns), columns.size, ours, theirs)


def conclude(
    comparison: Comparison,
    shape: tuple[int, int],
    n_timed: int,
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
) -> dict[str, Any]:
    """Put both measurements into one record."""
    seconds = theirs["seconds"] * shape[1] / n_timed
    both = None if theirs["selected"] is None else len(set(ours["selected"]) & set(theirs["selected"]))
    return {
        "rows": shape[0],
        "columns": shape[1],
        "n_splits": comparison.n_splits,
        "columns timed by PyImpetus": n_timed,
        "PyImpetus seconds": seconds,
        "PyImpetus selected": theirs["selected"],
        "PyImpetus versions": theirs["versions"],
        "seconds": ours["seconds"],
        "warm fits": ours["warm fits"],
        "compile seconds": ours["first fit"] - ours["seconds"],
        "selected": ours["selected"],
        "selected by both": both,
        "n_fits": ours["n_fits"],
        "notes": ours["notes"],
        "ratio": seconds / ours["seconds"],
        "at least": comparison.at_least,
    }


def table_of(sets: Mapping[str, Mapping[str, Any]]) -> str:
    header = [
        "set",
        "rows x columns",
        "B",
        "PyImpetus, s",
        "ppfs, s",
        "compile once, s",
        "times faster",
        "at least",
        "met",
        "features: PyImpetus, ppfs, both",
    ]
    return markdown_table(header, (_row(name, record) for name, record in sets.items()))


def _row(name: str, record: Mapping[str, Any]) -> list[str]:
    is_scaled = record["PyImpetus selected"] is None
    theirs = "-" if is_scaled else str(len(record["PyImpetus selected"]))
    both = "-" if is_scaled else str(record["selected by both"])
    return [
        name,
        f"{record['rows']} x {record['columns']}",
        str(record["n_splits"]),
        f"{record['PyImpetus seconds']:,.1f}" + (" (growth)" if is_scaled else ""),
        f"{record['seconds']:.3f}",
        f"{record['compile seconds']:.1f}",
        f"{record['ratio']:,.0f}",
        f"{record['at least']:,}",
        verdict(record["ratio"] >= record["at least"]),
        f"{theirs}, {len(record['selected'])}, {both}",
    ]


def notes_of(results: Mapping[str, Any]) -> list[str]:
    """Say how the numbers came about, under the table."""
    sets = results["sets"].values()
    lines = []
    scaled = [record for record in sets if record["PyImpetus selected"] is None]
    if scaled:
        lines.append(
            f"(growth): the growth phase alone, timed on {scaled[0]['columns timed by PyImpetus']:,} random "
            f"columns (seed {SEED_OF_COLUMNS}) and scaled to all columns; ppfs: the whole fit."
        )
    record = next(iter(sets))
    theirs = ", ".join(f"{name} {number}" for name, number in record["PyImpetus versions"].items())
    lines += [
        f"alpha = {ALPHA}, `DecisionTreeClassifier(random_state=0)`, plain random splits; seeds: ppfs "
        "`random_state=0`, PyImpetus 0 to B - 1. PyImpetus: one run, worker processes already started. ppfs: "
        f'median of {len(record["warm fits"])} fits of new selectors; "compile once" is the first fit with an '
        "empty cache, less that median.",
        *runs_of(results["sets"]),
        f"PyImpetus ran with {theirs}.",
    ]
    return lines


def runs_of(sets: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say where and when the sets were measured; those of several runs are named run by run."""
    names: dict[str, list[str]] = {}
    for name, record in sets.items():
        names.setdefault(" ".join(machine_lines(record["machine"])), []).append(name)
    if len(names) == 1:
        return list(names)
    return [f"{', '.join(measured)}: {lines}" for lines, measured in names.items()]


def merged(results: dict[str, Any], path: Path) -> dict[str, Any]:
    """Add the sets of earlier runs that this run left out, in the order of the table."""
    earlier = load(path)["sets"] if path.is_file() else {}
    known = earlier | results["sets"]
    return results | {"sets": {c.name: known[c.name] for c in COMPARISONS if c.name in known}}


def main() -> None:
    arguments = read_arguments()
    os.environ["PPFS_DATA"] = str(data_folder())
    peer = OLDER_SCIPY if arguments.older_scipy else NEWEST
    python = make_environment(peer)
    effort = QUICK if arguments.quick else THOROUGH
    machine = describe_machine()
    results: dict[str, Any] = {"sets": {}}
    with tempfile.TemporaryDirectory() as folder:
        for comparison in COMPARISONS:
            if comparison.name in arguments.sets:
                record = compare(comparison, python, Path(folder), effort)
                results["sets"][comparison.name] = record | {"machine": machine}
    print(table_of(results["sets"]))
    print("", *notes_of(results), sep="\n")
    if not arguments.quick:
        save(merged(results, results_path(peer)), results_path(peer))


if __name__ == "__main__":
    main()
