"""How the time of a fit grows with the rows, the columns and the number of splits.

Each is doubled four times while the other two stay. Three things are timed on one thread: the growth phase (a fit
whose alpha no p-value reaches ends after it), the whole fit, and ``np.argsort`` of every column of the
same matrix, which is a lower bound for any method that sorts the values.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from recording import REPOSITORY, describe_machine, machine_lines, markdown_table, save, say

from ppfs import PPFS

RESULTS = Path(__file__).resolve().parent / "results" / "growth.json"
PLOT = REPOSITORY / "docs" / "images" / "growth.png"
SEED = 0
N_SIGNAL = 5

# No Wilcoxon p-value of fewer than two hundred splits is this small.
UNREACHABLE = 1e-40

# After this many seconds an action is not repeated.
LONG = 3.0

TIMED = {"growth": "growth phase", "fit": "whole fit", "argsort": "np.argsort"}


@dataclass(frozen=True)
class Size:
    """What a fit is asked to do."""

    n_rows: int = 1000
    n_columns: int = 1000
    n_splits: int = 10


@dataclass(frozen=True)
class Axis:
    """What is doubled, and what the growth phase should be proportional to."""

    field: str
    label: str
    smallest: int
    expected: str

    def sizes(self, n_doublings: int) -> list[Size]:
        """Return the sizes to measure, smallest first."""
        return [replace(Size(), **{self.field: self.smallest * 2**i}) for i in range(n_doublings + 1)]


# With fewer than ten splits the fixed cost of a column (reading, sorting, recording) hides what a split costs.
AXES = (
    Axis("n_rows", "rows n", 500, "n log n"),
    Axis("n_columns", "columns d", 500, "d"),
    Axis("n_splits", "splits B", 10, "B"),
)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two doublings, timed once; nothing is written")
    return parser.parse_args()


def make_problem(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """Draw noise in which the first five columns decide between two classes."""
    generator = np.random.default_rng(SEED)
    X = generator.standard_normal((size.n_rows, size.n_columns))
    noise = generator.standard_normal(size.n_rows)
    return X, (X[:, :N_SIGNAL].sum(axis=1) + noise > 0).astype(int)


def best_seconds(action: Callable[[], object], n_repeats: int) -> float:
    """Return the least CPU time of a few runs, of one only if it takes long.

    All is done on one thread, where CPU time is what a clock would show on an idle machine.
    """
    timings: list[float] = []
    while len(timings) < n_repeats and sum(timings) < LONG:
        start = time.process_time()
        action()
        timings.append(time.process_time() - start)
    return min(timings)


def measure(size: Size, n_repeats: int) -> dict[str, Any]:
    """Time growth phase, whole fit and sorting at one size."""
    X, y = make_problem(size)

    def fit(alpha: float) -> PPFS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return PPFS(n_splits=size.n_splits, alpha=alpha, random_state=SEED, n_jobs=1).fit(X, y)

    return asdict(size) | {
        "growth": best_seconds(lambda: fit(UNREACHABLE), n_repeats),
        "fit": best_seconds(lambda: fit(0.05), n_repeats),
        "argsort": best_seconds(lambda: np.argsort(X, axis=0), n_repeats),
    }


def exponent(amounts: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of a straight line through the logarithms, by least squares."""
    return float(np.polyfit(np.log(amounts), np.log(seconds), 1)[0])


def exponents_of(axis: Axis, points: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the exponent of each timed thing along an axis, and of growth in what it should follow."""
    amounts = np.array([point[axis.field] for point in points], dtype=float)
    found = {name: exponent(amounts, [point[name] for point in points]) for name in TIMED}
    expected = amounts * np.log2(amounts) if axis.expected == "n log n" else amounts
    return found | {"growth in expected": exponent(expected, [point["growth"] for point in points])}


def sweep(axis: Axis, n_doublings: int, n_repeats: int) -> dict[str, Any]:
    points = []
    for size in axis.sizes(n_doublings):
        say(f"{axis.label} = {getattr(size, axis.field):,} ...")
        points.append(measure(size, n_repeats))
    return {"points": points, "exponents": exponents_of(axis, points)}


def timings_table(axes: Mapping[str, Mapping[str, Any]]) -> str:
    header = [
        "n",
        "d",
        "B",
        "growth phase, s",
        "whole fit, s",
        "np.argsort, s",
        "growth / argsort",
        "the same for one split",
    ]
    rows = []
    for sweep_of in axes.values():
        for point in sweep_of["points"]:
            multiple = point["growth"] / point["argsort"]
            rows.append(
                [
                    *(f"{point[name]:,}" for name in ("n_rows", "n_columns", "n_splits")),
                    *(f"{point[name]:.3f}" for name in TIMED),
                    f"{multiple:.1f}",
                    f"{multiple / point['n_splits']:.2f}",
                ]
            )
    return markdown_table(header, rows)


def exponents_table(axes: Mapping[str, Mapping[str, Any]]) -> str:
    header = ["doubled", "growth phase", "growth against", "exponent there", "whole fit", "np.argsort"]
    rows = []
    for axis in AXES:
        found = axes[axis.field]["exponents"]
        numbers = [f"{found[name]:.2f}" for name in ("growth", "growth in expected", "fit", "argsort")]
        rows.append([axis.label, numbers[0], axis.expected, *numbers[1:]])
    return markdown_table(header, rows)


def draw(axes: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Plot seconds against each axis, both logarithmic, with the exponents in the legend."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(AXES), figsize=(11, 3.6), sharey=True, layout="constrained")
    for panel, axis in zip(panels, AXES, strict=True):
        points, found = axes[axis.field]["points"], axes[axis.field]["exponents"]
        amounts = [point[axis.field] for point in points]
        for (name, label), marker in zip(TIMED.items(), "osx", strict=True):
            seconds = [point[name] for point in points]
            panel.loglog(amounts, seconds, marker=marker, label=f"{label}: exponent {found[name]:.2f}")
        panel.set_xticks(amounts, [f"{amount:,}" for amount in amounts])
        panel.minorticks_off()
        panel.set_xlabel(axis.label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    panels[0].set_ylabel("CPU seconds, one thread")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    say(f"Drawn in {path.relative_to(REPOSITORY)}.")


def main() -> None:
    arguments = read_arguments()
    n_doublings, n_repeats = (2, 1) if arguments.quick else (4, 3)
    machine = describe_machine()
    measure(Size(500, 20, 10), 1)  # compiles, or loads what was compiled before
    axes = {axis.field: sweep(axis, n_doublings, n_repeats) for axis in AXES}
    print(timings_table(axes))
    print("", exponents_table(axes), "", *machine_lines(machine), sep="\n")
    if not arguments.quick:
        save({"machine": machine, "axes": axes}, RESULTS)
        draw(axes, PLOT)


if __name__ == "__main__":
    main()
