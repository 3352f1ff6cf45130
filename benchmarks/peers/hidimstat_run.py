"""Conditional tests of hidimstat, GCM and PCM beside the panel, on the regression tables of calibration/links.py.

    python benchmarks/peers/hidimstat_run.py --replicates 50     # resumes; then prints the table of docs/p-values.md
    python benchmarks/peers/hidimstat_run.py --print

hidimstat runs in a separate environment, created on first use in the user's cache folder; GCM and PCM are those of
benchmarks/calibration/covariance_measures.py. Our own answers are those that benchmarks/calibration/panel.py wrote,
about the same tables.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "calibration"), str(HERE)]

import links  # noqa: E402
import panel  # noqa: E402
from covariance_measures import gcm, pcm  # noqa: E402
from pyimpetus import make_environment  # noqa: E402

RESULTS = HERE / "results" / "hidimstat.csv"
BY_FORESTS = {"GCM, forests": gcm, "PCM, forests": pcm}


def read(path: Path = RESULTS) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return p-values and seconds by test and link."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    if path.exists():
        with path.open(newline="") as file:
            for line in csv.DictReader(file):
                found[line["test"]][line["link"]].append((float(line["pvalue"]), float(line["seconds"])))
    return found


def ask_forests(n_replicates: int, path: Path = RESULTS) -> None:
    """Ask GCM and PCM about the same tables, where that is missing."""
    known = read(path)
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for cell in (one for one in links.POWER if one.target == "quantity"):
            for name, test in BY_FORESTS.items():
                # Tables are asked about in their order.
                for replicate in range(len(known[name][cell.link]), n_replicates):
                    sample = links.draw(cell, replicate)
                    began = time.process_time()
                    pvalue = test(sample.X[:, 0], sample.y, sample.X[:, 1:], replicate)
                    seconds = time.process_time() - began
                    writer.writerow([name, cell.link, replicate, f"{pvalue:.6g}", f"{seconds:.4f}"])
                file.flush()


def own(path: Path = panel.RESULTS) -> dict[str, list[tuple[float, float]]]:
    """Return p-values and seconds of the default panel by link, about the tables that hidimstat was asked about."""
    found = defaultdict(list)
    with RESULTS.open(newline="") as file:
        asked = {line["replicate"] for line in csv.DictReader(file)}
    by_name = {cell.name: cell.link for cell in links.POWER if cell.target == "quantity"}
    for line in panel.read(path):
        if line["test"] == "panel" and line["cell"] in by_name and line["replicate"] in asked:
            found[by_name[line["cell"]]].append((float(line["pvalue"]), float(line["seconds"])))
    return found


def table(path: Path = RESULTS, of_panel: Path = panel.RESULTS) -> str:
    """Return a row a test: tables, size, power by link, mean power and seconds."""
    names = list(links.LINKS)
    out = [
        f"| test | tables | size | {' | '.join(names[1:])} | mean of the five | seconds |",
        "| --- |" + " --- |" * (len(names) + 3),
    ]
    for test, by_link in {"**default panel**": own(of_panel), **read(path)}.items():
        rates = [np.mean([pvalue <= 0.05 for pvalue, _ in by_link[name]]) for name in names]
        n_tables = min(len(by_link[name]) for name in names)
        seconds = np.median([one for name in names for _, one in by_link[name]])
        shown = " | ".join(f"{rate:.2f}" for rate in rates)
        out.append(f"| {test} | {n_tables} | {shown} | {np.mean(rates[1:]):.2f} | {seconds:.2f} |")
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=50)
    parser.add_argument("--print", action="store_true", dest="only_print")
    arguments = parser.parse_args()
    if not arguments.only_print:
        worker = [str(HERE / "hidimstat_worker.py"), str(RESULTS), str(arguments.replicates)]
        subprocess.run([str(make_environment("hidimstat")), *worker], check=True)
        ask_forests(arguments.replicates)
    print(table())


if __name__ == "__main__":
    main()
