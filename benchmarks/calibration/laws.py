"""Why the row test selects irrelevant columns: its draws or its null distribution, varied on the same tables.

    python benchmarks/calibration/laws.py run --replicates 100      # resumes; one line per table in results/laws.csv
    python benchmarks/calibration/laws.py print

Behind docs/decisions/0180-draws-on-normal-scores.md and 0181-rows-trade-places-with-their-draws.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from links import Cell, Sample, draw
from numpy.typing import NDArray
from provenance import describe
from threadpoolctl import threadpool_limits

from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.knockoffs import conditional
from ppfs.independence._predictive.significance import (
    cauchy_combination,
    effective_freedom,
    seen_by_each_other,
    trading_places,
)

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "benchmarks"))

from pages import fill  # noqa: E402

Floats = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "laws.csv"
PAGE = REPOSITORY / "docs" / "decisions" / "0181-rows-trade-places-with-their-draws.md"

CELLS = [
    Cell("quantity", 1000, columns="lognormal"),
    Cell("two classes", 1000, columns="lognormal"),
    Cell("two classes", 200, columns="lognormal"),
    Cell("two classes", 80, columns="rare counts"),
    Cell("two classes", 40, columns="rare counts"),
    Cell("quantity", 200, "interaction"),
    Cell("quantity", 200, "square"),
]

# The models of the default panel given two columns, and how much each of them counts.
WEIGHTS = (2.0, 1.0, 1.0, 1.0)
DRAWS = ("residuals of values", "as the package draws", "true law")
LAWS = ("t, n - 1", "t, rows that carry", "trading places")


class Watched(CrossFitPPI):
    """Keeps the p-values of several laws."""

    def assess(self, risks, differences, problem, is_screened):  # type: ignore[no-untyped-def]
        """Test the differences, and keep what each law says."""
        # Boosted trees behind a line have at most 46 coefficients (decision 101).
        counts = risks.n_coefficients
        q = np.array([46.0]) if counts is None else np.asarray(counts, dtype=np.float64)
        seen.append(
            [
                seen_by_each_other(differences, q)[0][0],
                seen_by_each_other(differences, q, effective_freedom(differences))[0][0],
                trading_places(risks.exchange, q)[0][0],
            ]
        )
        return super().assess(risks, differences, problem, is_screened)


seen: list[list[float]] = []


def true_draws(cell: Cell, sample: Sample) -> Callable[..., Floats]:
    """Return what draws x from the law that made it, in place of `ConditionalLaw.draws`."""

    def draws(_: Any, split: Any, first: int, end: int, given_too: Floats | None = None) -> Floats:
        z = sample.X[split.test, 1]
        drawn = []
        for number in range(first, end):
            rng = np.random.default_rng([split.seed, number])
            if cell.columns == "rare counts":
                drawn.append(rng.poisson(0.05 * np.exp(0.5 * z - 0.125)).astype(np.float64))
                continue
            score = np.log(z) if cell.columns == "lognormal" else z
            x = 0.5 * score + np.sqrt(0.75) * rng.normal(size=z.size)
            drawn.append(np.exp(x) if cell.columns == "lognormal" else x)
        return np.array(drawn)

    return draws


def ask(cell: Cell, draws: str, replicate: int) -> list[float] | None:
    """Return the panel's p-value by each law."""
    sample = draw(cell, replicate)
    seen.clear()
    own = conditional._UNEVEN, conditional.ConditionalLaw.draws
    if draws == "residuals of values":
        conditional._UNEVEN = np.inf
    if draws == "true law":
        conditional.ConditionalLaw.draws = true_draws(cell, sample)  # type: ignore[method-assign]
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            Watched("panel", random_state=replicate).evaluate(
                sample.X,
                sample.y,
                0,
                given=[1, 2],
                task="regression" if cell.target == "quantity" else "classification",
                categorical_features=None,
            )
    finally:
        conditional._UNEVEN, conditional.ConditionalLaw.draws = own
    if len(seen) < len(WEIGHTS):  # A column that is constant in this table is answered without a model.
        return None
    return [float(cauchy_combination(by_model[np.newaxis], WEIGHTS)[0][0]) for by_model in np.array(seen).T]


def run(n_replicates: int, path: Path = RESULTS) -> None:
    """Ask what is missing."""
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {(line["cell"], line["draws"], int(line["replicate"])) for line in csv.DictReader(file)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(["cell", "draws", "replicate", *LAWS])
        for replicate in range(n_replicates):
            for cell in CELLS:
                for draws in DRAWS:
                    if (cell.name, draws, replicate) in done:
                        continue
                    found = ask(cell, draws, replicate)
                    if found is not None:
                        writer.writerow([cell.name, draws, replicate, *(f"{value:.6g}" for value in found)])
                        file.flush()


def table(path: Path = RESULTS) -> str:
    """Return a row a cell and kind of draws: rates at 5 % and 1 % by each law."""
    found = defaultdict(list)
    with path.open(newline="") as file:
        for line in csv.DictReader(file):
            found[line["cell"], line["draws"]].append([float(line[name]) for name in LAWS])
    out = [f"| cell | draws | tables | {' | '.join(LAWS)} |", "| --- |" + " --- |" * (2 + len(LAWS))]
    for cell in CELLS:
        for draws in DRAWS:
            values = np.array(found[cell.name, draws])
            rates = " | ".join(
                f"{100 * (law <= 0.05).mean():.1f} / {100 * (law <= 0.01).mean():.1f}" for law in values.T
            )
            out.append(f"| {cell.name} | {draws} | {len(values)} | {rates} |")
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "print", "render"])
    parser.add_argument("--replicates", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.replicates)
    elif arguments.what == "render":
        text = f"{table()}\n\n{describe()[0]}"
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), {"laws": text}), encoding="utf-8")
    else:
        print(table(), *describe(), sep="\n\n")


if __name__ == "__main__":
    main()
