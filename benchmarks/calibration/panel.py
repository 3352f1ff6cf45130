"""Size and power of the default panel and its models, by link and by what the data are like.

    python benchmarks/calibration/panel.py run --replicates 200   # resumes; one line per question in results/panel.csv
    python benchmarks/calibration/panel.py print                  # the tables of docs/p-values.md
    python benchmarks/calibration/panel.py draw                   # its picture

A column x is asked about given other columns, the first of which is correlated 0.5 with it. In a cell called "none" the
target does not depend on x, so that a rejection is an error; in the others it does, along a line, a curve, a step or
together with the second column.
"""

from __future__ import annotations

import argparse
import csv
import time
from itertools import groupby
from pathlib import Path

import numpy as np
from links import POWER, SIZE, Cell, draw
from numpy.typing import NDArray
from provenance import describe
from scipy.stats import binom

from ppfs.independence import PPI, CrossFitPPI

Floats = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "panel.csv"
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "panel-power.png"
# Cells of fewer tables are not shown.
FEWEST = 20
# By level, the largest rate of true nulls rejected that a cell may have.
LIMITS = {0.05: 0.065, 0.01: 0.015}

FIELDS = ("cell", "test", "replicate", "pvalue", "by_model", "seconds")

TESTS = {
    "panel": lambda seed: CrossFitPPI("panel", random_state=seed),
    "paper": lambda seed: PPI(random_state=seed),
}


def ask(cell: Cell, test: str, replicate: int) -> dict[str, object]:
    """Ask one question and return a line of the results."""
    sample = draw(cell, replicate)
    task = "regression" if cell.target in ("quantity", "heavy tails") else "classification"
    began = time.process_time()
    answer = TESTS[test](replicate).evaluate(
        sample.X,
        sample.y,
        0,
        given=range(1, sample.X.shape[1]),
        task=task,
        groups=sample.groups,
        sample_weight=sample.weights,
        categorical_features=None,
    )
    seconds = time.process_time() - began
    by_model = " ".join(f"{pvalue:.6g}" for pvalue in answer.model_pvalues)
    values = (cell.name, test, replicate, f"{answer.pvalue:.6g}", by_model, f"{seconds:.3f}")
    return dict(zip(FIELDS, values, strict=True))


def read(path: Path = RESULTS) -> list[dict[str, str]]:
    """Return the lines that there are."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(replicates: range, tests: list[str], path: Path = RESULTS, cells: str = "all") -> None:
    """Ask what is missing, cell after cell in rounds, so that whatever was done before an end is even."""
    nulls = [cell for cell in POWER if cell.link == "none"]
    asked = {"power": POWER, "size": [*nulls, *SIZE], "all": [*POWER, *SIZE]}[cells]
    done = {(line["cell"], line["test"], int(line["replicate"])) for line in read(path)}
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for replicate in replicates:
            for test in tests:
                for cell in asked:
                    if (cell.name, test, replicate) not in done:
                        writer.writerow(ask(cell, test, replicate))
                        file.flush()


def _of(cell: Cell, test: str, lines: dict[tuple[str, str], list[dict[str, str]]]) -> Floats:
    """Return the p-values of a cell, shape (n_replicates, 1 + n_models)."""
    mine = lines.get((cell.name, test), [])
    # A column that is constant in some table is answered without a model.
    nobody = " ".join(["1"] * len(MODELS))
    return np.array(
        [[float(line["pvalue"]), *map(float, (line["by_model"] or nobody).split())] for line in mine]
    )


def _by_cell(path: Path) -> dict[tuple[str, str], list[dict[str, str]]]:
    def key(line: dict[str, str]) -> tuple[str, str]:
        return line["cell"], line["test"]

    return {one: list(some) for one, some in groupby(sorted(read(path), key=key), key=key)}


MODELS = ("line", "curves", "products", "steps")


def power_table(path: Path = RESULTS) -> str:
    """Return the rejection rates at 5 %, one row per link and one column per model."""
    lines = _by_cell(path)
    out = []
    for target in ("quantity", "two classes"):
        cells = [cell for cell in POWER if cell.target == target]
        counts = sorted({len(_of(cell, "panel", lines)) for cell in cells})
        rows = f"{cells[0].n_rows} rows, {counts[0]} tables per link"
        out += [
            f"**{'Regression' if target == 'quantity' else 'Classification'}, {rows}**",
            "",
            f"| link | **panel** | {' | '.join(MODELS)} |",
            "| --- |" + " --- |" * (1 + len(MODELS)),
        ]
        found = []
        for cell in cells:
            own = (_of(cell, "panel", lines) <= 0.05).mean(axis=0)
            found.append(own)
            shown = " | ".join(f"{rate:.2f}" for rate in own[1:])
            out.append(f"| {cell.link} | **{own[0]:.2f}** | {shown} |")
        mean = np.mean(found[1:], axis=0)
        out += [
            f"| mean of the five links | **{mean[0]:.2f}** | {' | '.join(f'{rate:.2f}' for rate in mean[1:])} |",
            "",
        ]
    return "\n".join(out).strip()


def size_table(path: Path = RESULTS) -> str:
    """Return how often true nulls were rejected, a row a cell."""
    lines = _by_cell(path)
    out = [
        "| target | rows | columns | given | tables | at 5 % | at 1 % | largest of models | the paper's test, 5 % |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for cell in [one for one in [*POWER, *SIZE] if one.link == "none"]:
        pvalues = _of(cell, "panel", lines)
        if len(pvalues) < FEWEST:
            continue
        five, one = ((pvalues[:, 0] <= level).mean() for level in LIMITS)
        most = (pvalues[:, 1:] <= 0.05).mean(axis=0).max()
        kind = cell.columns if cell.rows == "alone" else f"{cell.columns}, {cell.rows}"
        cells = (
            cell.target,
            cell.n_rows,
            kind,
            cell.n_given,
            len(pvalues),
            _percent(five, LIMITS[0.05]),
            _percent(one, LIMITS[0.01]),
        )
        out.append(f"| {' | '.join(map(str, cells))} | {100 * most:.1f} % | {_of_paper(cell, lines)} |")
    return "\n".join(out)


def _of_paper(cell: Cell, lines: dict[tuple[str, str], list[dict[str, str]]]) -> str:
    """Return how often the paper's test rejects, and of how many tables."""
    found = [float(line["pvalue"]) <= 0.05 for line in lines.get((cell.name, "paper"), [])]
    return f"{100 * np.mean(found):.0f} % of {len(found)}" if found else ""


def summary(path: Path = RESULTS) -> str:
    """Return which cells are above what was asked for, and how often chance alone does that."""
    lines = _by_cell(path)
    above, n_cells, n_tables, everything = [], 0, [], []
    for cell in [one for one in [*POWER, *SIZE] if one.link == "none"]:
        pvalues = _of(cell, "panel", lines)
        if len(pvalues) < FEWEST:
            continue
        n_cells += 1
        n_tables.append(len(pvalues))
        everything.append(pvalues[:, 0])
        for level, most in LIMITS.items():
            rate = (pvalues[:, 0] <= level).mean()
            if rate > most:
                n_called = int((pvalues[:, 0] <= level).sum())
                chance = binom.sf(n_called - 1, len(pvalues), level)
                above.append(
                    f"- {cell.name}: {n_called} of {len(pvalues)} at {100 * level:g} %, which a true "
                    f"{100 * level:g} % gives in {100 * chance:.2g} of 100 such cells"
                )
    tables = " to ".join(str(n) for n in sorted({min(n_tables), max(n_tables)})) + " tables each"
    joined = np.concatenate(everything)
    together = ", ".join(
        f"{100 * (joined <= level).mean():.2f} % at {100 * level:g} %" for level in (*LIMITS, 0.001)
    )
    limits = " or ".join(f"{100 * most:g} % at {100 * level:g} %" for level, most in LIMITS.items())
    head = f"{n_cells} cells, {tables}. All {joined.size} tables together: {together}. Cells above {limits}:"
    return "\n".join([head, "", *(above or ["- none"])])


def _percent(rate: float, most: float) -> str:
    text = f"{100 * rate:.1f} %"
    return f"**{text}**" if rate > most else text


def picture(path: Path = RESULTS, to: Path = PICTURE) -> None:
    """Draw what the panel and each of its models see, by link."""
    import matplotlib.pyplot as plt

    lines = _by_cell(path)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
    for axis, target in zip(axes, ("quantity", "two classes"), strict=True):
        cells = [cell for cell in POWER if cell.target == target]
        rates = np.array([(_of(cell, "panel", lines) <= 0.05).mean(axis=0) for cell in cells])
        for number, (name, marker) in enumerate(zip(MODELS, "sdpv", strict=True), start=1):
            axis.plot(rates[:, number], marker, alpha=0.6, label=name)
        axis.plot(rates[:, 0], "ko", label="all of them together")
        axis.axhline(0.05, color="grey", linewidth=0.8)
        axis.set_xticks(range(len(cells)), [cell.link for cell in cells])
        axis.set_title(
            f"{'regression' if target == 'quantity' else 'classification'}, {cells[0].n_rows} rows"
        )
    axes[0].set_ylabel("share of tables in which x is found")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(to, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "print", "draw"])
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tests", nargs="+", choices=list(TESTS), default=["panel"])
    parser.add_argument("--cells", choices=["power", "size", "all"], default="all")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(range(arguments.first, arguments.replicates), arguments.tests, arguments.results, arguments.cells)
    elif arguments.what == "draw":
        picture(arguments.results)
    else:
        print(power_table(arguments.results), size_table(arguments.results), *describe(), sep="\n\n")


if __name__ == "__main__":
    main()
