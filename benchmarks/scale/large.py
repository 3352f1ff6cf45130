"""What large tables cost the preset: many rows, many classes, many sparse columns, and weights of the rows.

python benchmarks/scale/large.py                         # every case
python benchmarks/scale/large.py --cases digits weights
python benchmarks/scale/large.py --cases tall --size 0.1 # a tenth of the rows; nothing is written

Every fit runs in a separate process, on one thread, after small fits that load the kernels. CPU seconds are
counted, which other work on the machine changes little; the peak is the largest resident set of the process, with the
table in it. With `--folds 10` all folds of Dorothea are run. A fit is cut after `--limit` CPU seconds, twenty minutes;
then the least that its questions would take is measured. Results are kept case by case.
"""

import argparse
import json
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from recording import (
    REPOSITORY,
    describe_machine,
    load,
    machine_lines,
    markdown_table,
    run_child,
    save,
    say,
    verdict,
)

from ppfs import PPFS
from ppfs.blanket._run import grow_and_shrink
from ppfs.models import default_panel

RESULTS = Path(__file__).resolve().parent / "results" / "large.json"
SEED = 0
# The seed of the folds of docs/paper.md.
SEED_OF_FOLDS = 27
N_FOLDS = 10

Problem = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A table, what is asked of the preset on it, and the limits: CPU seconds, and GiB of memory."""

    label: str
    make: Callable[[float, int], Problem]
    most_seconds: float
    most_gib: float | None = None


def digits(size: float, part: int) -> Problem:
    """Return scikit-learn's digits: ten classes."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    n_rows = round(size * len(y))
    return X[:n_rows], y[:n_rows]


def tall(size: float, part: int) -> Problem:
    """Return 20 columns of noise and two classes that depend on the first two."""
    generator = np.random.default_rng(SEED)
    n_rows = round(size * 1_000_000)
    X = generator.standard_normal((n_rows, 20))
    return X, (X[:, 0] + X[:, 1] + generator.standard_normal(n_rows) > 0).astype(int)


def dorothea(size: float, part: int) -> Problem:
    """Return the training rows of one of Dorothea's folds."""
    sys.path.append(str(REPOSITORY / "benchmarks" / "paper"))
    import sets

    X, y = sets.load("dorothea")
    train = sets.folds("dorothea", SEED_OF_FOLDS)[part][0]
    return X[train][:, : round(size * X.shape[1])], y[train]


CASES = {
    "digits": Case("digits, ten classes, 1,797 x 64", digits, 60.0),
    "tall": Case("1,000,000 x 20, two classes", tall, 240.0, 4.0),
    "dorothea": Case("Dorothea, 720 x 100,000 sparse, a fold", dorothea, 60.0),
}

#: Rows and columns of the table whose rows get weights, and how much longer fits may take with them.
N_WEIGHTED, MOST_WITH_WEIGHTS = (60, 5_000), 1.5


def weighted(size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns of noise, two classes that depend on the first two, and weights of the rows."""
    generator = np.random.default_rng(SEED)
    n_rows, n_columns = N_WEIGHTED
    X = generator.standard_normal((n_rows, round(size * n_columns)))
    y = (X[:, 0] + X[:, 1] + generator.standard_normal(n_rows) > 0).astype(int)
    return X, y, generator.uniform(0.5, 2.0, size=n_rows)


def models() -> dict[str, Any]:
    """Return what is fitted with and without weights: the panel, and each of its models."""
    panel = default_panel("classification")
    return {"the panel": "panel", **{_name(model): model for model in panel}}


def _name(model: Any) -> str:
    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    return ", ".join(f"`{type(step).__name__}`" for step in steps)


class Cut(Exception):
    """Raised where a fit takes too long."""


def fit(name: str, size: float, part: int, limit: int) -> dict[str, Any]:
    """Fit the preset to a case's table, and say what that took."""
    X, y = CASES[name].make(size, part)
    # Load the kernels: a few rows take no time, but in small tables models are fitted without kernels.
    for some in ((X[:100], y[:100]), tall(0.02, 0)):
        PPFS.calibrated(random_state=SEED).fit(*some)
    signal.signal(signal.SIGXCPU, _cut)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + limit, resource.RLIM_INFINITY))
    found: dict[str, Any] = {"shape": list(X.shape), "is_cut": False, "n_selected": None}
    started = time.process_time()
    shrink = grow_and_shrink.shrink_until_stable

    def noted(inquiry: Any, members: Sequence[int]) -> list[int]:
        found.update(n_candidates=len(members), growth_seconds=time.process_time() - started)
        return shrink(inquiry, members)

    grow_and_shrink.shrink_until_stable = noted
    try:
        selector = PPFS.calibrated(random_state=SEED).fit(X, y)
        found["n_selected"] = int(selector.support_.sum())
    except Cut:
        found["is_cut"] = True
    found["seconds"] = time.process_time() - started
    if found["is_cut"] and "n_candidates" in found:
        found["floor"] = floor(len(y), found["n_candidates"])
    return found | {"peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def floor(n_rows: int, n_candidates: int) -> dict[str, float]:
    """Measure what a question given all candidates but one takes at least: the least of three times each."""
    values = np.random.default_rng(SEED).standard_normal((n_rows, n_candidates - 1))
    products = values @ values.T
    return {
        "products": min(_timed(lambda: values @ values.T)[0] for _ in range(3)),
        "eigenvectors": min(_timed(lambda: np.linalg.eigh(products))[0] for _ in range(3)),
    }


def _cut(number: int, frame: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    raise Cut


def fit_with_weights(size: float) -> dict[str, Any]:
    """Fit every model of the panel with and without weights; the least of three times each."""
    X, y, weights = weighted(size)
    found = {}
    for name, model in models().items():
        seconds: dict[str, list[float]] = {"without": [], "with": []}
        for _ in range(4):
            for key, given in (("without", None), ("with", weights)):
                seconds[key].append(
                    _timed(
                        lambda model=model, given=given: PPFS.calibrated(model, random_state=SEED).fit(
                            X, y, sample_weight=given
                        )
                    )[0]
                )
        # The first of each may compile.
        found[name] = {key: min(some[1:]) for key, some in seconds.items()}
        say(f"{name}: {found[name]}")
    return found


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    done = call()
    return time.process_time() - started, done


def fits_table(cases: Mapping[str, Any]) -> str:
    """Lay out the fits of large tables."""
    rows = []
    for name, case in CASES.items():
        if name not in cases:
            continue
        parts = cases[name]["parts"].values()
        seconds, peak = [part["seconds"] for part in parts], max(part["peak_gib"] for part in parts)
        is_cut = any(part["is_cut"] for part in parts)
        is_met = max(seconds) <= case.most_seconds and (case.most_gib is None or peak <= case.most_gib)
        n_parts = f" ({len(seconds)} folds: {sum(seconds):.1f})" if len(seconds) > 1 else ""
        asked = f"{case.most_seconds:.0f}" + (f" and {case.most_gib:.0f} GiB" if case.most_gib else "")
        selected = ", ".join("-" if part["is_cut"] else str(part["n_selected"]) for part in parts)
        longest = ("cut after " if is_cut else "") + f"{max(seconds):.1f}{n_parts}"
        rows.append([case.label, longest, f"{peak:.2f}", asked, verdict(is_met and not is_cut), selected])
    header = ["`PPFS.calibrated()` on", "CPU s", "peak, GiB", "at most", "met", "columns selected"]
    return markdown_table(header, rows)


def floors_of(cases: Mapping[str, Any]) -> list[str]:
    """Say of fits that were cut what they would take at least."""
    lines = []
    for name, case in CASES.items():
        for part in cases.get(name, {"parts": {}})["parts"].values():
            if "floor" not in part:
                continue
            n_rows, n_candidates, least = part["shape"][0], part["n_candidates"], part["floor"]
            minutes = (n_candidates - n_rows) * least["eigenvectors"] / 60
            lines.append(
                f"{case.label}: growth takes {part['growth_seconds']:.1f} CPU s and leaves {n_candidates:,} "
                "candidates, and the shrink phase asks about each given all that are left. While these are more than "
                "the rows, a question takes at least the eigenvectors of the products of the rows, "
                f"{least['eigenvectors']:.2f} CPU s, {minutes:.0f} minutes for all; the products ({n_rows}² x "
                f"{n_candidates - 1:,} multiplications, {8e-6 * n_rows * (n_candidates - 1):.0f} MB) take "
                f"{least['products']:.2f} CPU s more at first."
            )
    return lines


def weights_table(found: Mapping[str, Mapping[str, float]]) -> str:
    """Lay out fits with and without weights."""
    rows = [
        [
            name,
            f"{one['without']:.2f}",
            f"{one['with']:.2f}",
            f"{one['with'] / one['without']:.2f}",
            verdict(one["with"] <= MOST_WITH_WEIGHTS * one["without"]),
        ]
        for name, one in found.items()
    ]
    n_rows, n_columns = N_WEIGHTED
    header = [
        f"model, {n_rows} x {n_columns:,}",
        "CPU s",
        "with weights, CPU s",
        "times",
        f"at most {MOST_WITH_WEIGHTS}",
    ]
    return markdown_table(header, rows)


def blocks_of(results: Mapping[str, Any]) -> list[str]:
    """Return the tables, each with the machine and the date of its case."""
    cases = results["cases"]
    lines = [fits_table(cases)] if any(name in cases for name in CASES) else []
    lines += floors_of(cases)
    if "weights" in cases:
        lines.append(weights_table(cases["weights"]["found"]))
    latest = max((case["machine"] for case in cases.values()), key=lambda machine: machine["date"])
    dates = ", ".join(f"{name} {case['machine']['date']}" for name, case in cases.items())
    return [*lines, "\n".join([f"One thread. Measured: {dates}.", *machine_lines(latest)])]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*CASES, "weights"]
    parser.add_argument("--cases", nargs="+", choices=every, default=every)
    parser.add_argument("--folds", type=int, default=1, help="how many folds of Dorothea")
    parser.add_argument("--size", type=float, default=1.0, help="as a share of the full size")
    parser.add_argument("--limit", type=int, default=1200, help="CPU seconds after which a fit is cut")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.child:
        name, part = arguments.child
        found = (
            fit_with_weights(arguments.size)
            if name == "weights"
            else fit(name, arguments.size, int(part), arguments.limit)
        )
        print(json.dumps(found))
        return
    results: dict[str, Any] = load(RESULTS) if RESULTS.is_file() else {"seed": SEED, "cases": {}}
    for name in arguments.cases:
        case: dict[str, Any] = {"machine": describe_machine()}
        command = [sys.executable, __file__, "--size", str(arguments.size)]
        command += ["--limit", str(arguments.limit), "--child", name]
        if name == "weights":
            case["found"] = run_child([*command, "0"])
        else:
            case["parts"] = {}
            for part in range(arguments.folds if name == "dorothea" else 1):
                case["parts"][str(part)] = run_child([*command, str(part)])
                say(f"{name}, {part}: {case['parts'][str(part)]}")
        results["cases"][name] = case
        if arguments.size == 1.0:
            save(results, RESULTS)
    print("\n\n".join(blocks_of(results)))


if __name__ == "__main__":
    main()
