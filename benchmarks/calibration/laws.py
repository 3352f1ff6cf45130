"""What the degrees of freedom of the row test do to its level: several laws, applied to the same differences.

    python benchmarks/calibration/laws.py run --replicates 200      # resumes; a line a table in results/laws.csv
    python benchmarks/calibration/laws.py print

Behind docs/decisions/0150-rows-that-carry-the-answer.md. Rows that carry are those of the linear model's differences.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from links import Cell, draw
from numpy.typing import NDArray
from provenance import describe

from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.significance import (
    cauchy_combination,
    effective_freedom,
    seen_by_each_other,
)

Floats = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "laws.csv"

CELLS = [
    Cell("quantity", 200),
    Cell("quantity", 200, columns="lognormal"),
    Cell("quantity", 200, columns="rare counts"),
    Cell("two classes", 200, columns="rare counts"),
    Cell("quantity", 200, rows="weights"),
    Cell("quantity", 200, "interaction"),
    Cell("quantity", 200, "square"),
]

# The models of the default panel given two columns, and how much each of them counts.
WEIGHTS = (2.0, 1.0, 1.0, 1.0)
PRODUCTS = 2
LAWS = ("n - 1", "n - 1, products unknown", "rows", "rows, products unknown")


class Watched(CrossFitPPI):
    """Keeps the differences that it tests, and how many coefficients each model spends."""

    def assess(self, risks, differences, problem, is_screened):  # type: ignore[no-untyped-def]
        """Test the differences, and keep them."""
        seen.append((differences, risks.n_coefficients))
        return super().assess(risks, differences, problem, is_screened)


seen: list[tuple[Floats, Any]] = []


def ask(cell: Cell, replicate: int) -> list[float] | None:
    """Return the rows that carry the line's differences, and the panel's p-value by each law."""
    sample = draw(cell, replicate)
    seen.clear()
    task = "regression" if cell.target == "quantity" else "classification"
    Watched("panel", random_state=replicate).evaluate(
        sample.X,
        sample.y,
        0,
        given=[1, 2],
        task=task,
        sample_weight=sample.weights,
        categorical_features=None,
    )
    if len(seen) < len(WEIGHTS):
        return None
    joined = []
    for law in LAWS:
        pvalues = []
        for model, (differences, counts) in enumerate(seen):
            # Boosted trees behind a line have at most 46 coefficients (decision 101).
            q = 46.0 if counts is None else float(counts[0])
            if model == PRODUCTS and law.endswith("unknown"):
                q = np.inf
            freedom = effective_freedom(differences) if law.startswith("rows") else None
            pvalues.append(seen_by_each_other(differences, np.array([q]), freedom)[0])
        joined.append(float(cauchy_combination(np.column_stack(pvalues), WEIGHTS)[0][0]))
    return [float(effective_freedom(seen[0][0])[0]), *joined]


def run(n_replicates: int, path: Path = RESULTS) -> None:
    """Ask what is missing."""
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {(line["cell"], int(line["replicate"])) for line in csv.DictReader(file)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(["cell", "replicate", "carriers", *LAWS])
        for replicate in range(n_replicates):
            for cell in CELLS:
                if (cell.name, replicate) not in done and (found := ask(cell, replicate)) is not None:
                    writer.writerow([cell.name, replicate, *(f"{value:.6g}" for value in found)])
                    file.flush()


def table(path: Path = RESULTS) -> str:
    """Return a row a cell: the rows that carry the differences, and rates at 5 % and 1 % by each law."""
    found = defaultdict(list)
    with path.open(newline="") as file:
        for line in csv.DictReader(file):
            found[line["cell"]].append([float(line[name]) for name in ("carriers", *LAWS)])
    out = [
        f"| cell | tables | rows that carry (10 %, median, 90 %) | {' | '.join(LAWS)} |",
        "| --- |" + " --- |" * (2 + len(LAWS)),
    ]
    for cell in CELLS:
        values = np.array(found[cell.name])
        rows = ", ".join(f"{share:.0f}" for share in np.quantile(values[:, 0], [0.1, 0.5, 0.9]))
        rates = " | ".join(
            f"{100 * (law <= 0.05).mean():.1f} / {100 * (law <= 0.01).mean():.1f}" for law in values[:, 1:].T
        )
        out.append(f"| {cell.name} | {len(values)} | {rows} | {rates} |")
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "print"])
    parser.add_argument("--replicates", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.replicates)
    else:
        print(table(), *describe(), sep="\n\n")


if __name__ == "__main__":
    main()
