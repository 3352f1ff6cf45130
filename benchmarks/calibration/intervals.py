"""How often the 90 % intervals of an importance contain the true one, and whether one of two near copies is stable.

    python benchmarks/calibration/intervals.py --replicates 300

The true importance is the mean rise in risk that 100,000 rows show.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ppfs import PPFS
from ppfs.blanket import StabilitySelection
from ppfs.independence import CrossFitPPI

Floats = NDArray[np.float64]
MANY = 100_000


def _columns(rng: np.random.Generator, n: int, n_given: int = 2) -> Floats:
    z = rng.normal(size=(n, n_given))
    return np.column_stack([0.5 * z[:, 0] + np.sqrt(0.75) * rng.normal(size=n), z])


def _line(
    slope: float, n_given: int = 2
) -> Callable[[np.random.Generator, int], tuple[Floats, NDArray[np.generic]]]:
    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.generic]]:
        X = _columns(rng, n, n_given)
        return X, slope * X[:, 0] + X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=n)

    return draw


def _uneven(rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.generic]]:
    X = _columns(rng, n)
    return X, 0.5 * X[:, 0] + X[:, 1] + np.exp(0.5 * X[:, 2]) * rng.normal(size=n)


def _square(rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.generic]]:
    X = _columns(rng, n)
    return X, 0.5 * (X[:, 0] ** 2 - 1) + X[:, 1] + rng.normal(size=n)


def _class(rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.generic]]:
    X = _columns(rng, n)
    return X, X[:, 0] + X[:, 1] + rng.logistic(size=n) > 0


CASES = {
    "line, slope 0.3, n = 200": (_line(0.3), 200),
    "line, slope 0.6, n = 200": (_line(0.6), 200),
    "line, slope 0.3, n = 1,000, ten columns": (_line(0.3, 10), 1000),
    "uneven spread, n = 500": (_uneven, 500),
    "square, n = 500": (_square, 500),
    "two classes, n = 500": (_class, 500),
    "no effect, n = 200": (_line(0.0), 200),
}


def _answer(X: Floats, y: NDArray[np.generic]) -> tuple[float, float, float, float]:
    """Return the effect and its interval, and whether it is finite."""
    task = "classification" if y.dtype == bool else "regression"
    answer = CrossFitPPI("panel", random_state=0).evaluate(
        X, y, 0, given=range(1, X.shape[1]), task=task, categorical_features=None
    )
    root, error = answer.root_effect
    reach = norm.isf(0.05) * error
    return (
        answer.effect,
        max(root - reach, 0.0) ** 2,
        (root + reach) ** 2,
        float(np.isfinite([root, error]).all()),
    )


def coverage(replicates: int) -> None:
    """Print a row per case."""
    print("| case | true importance | covered | finite | tables |\n| --- | --- | --- | --- | --- |")
    for number, (name, (draw, n)) in enumerate(CASES.items()):
        true = (
            0.0
            if name.startswith("no effect")
            else _answer(*draw(np.random.default_rng([number, 0]), MANY))[0]
        )
        found = np.array(
            [_answer(*draw(np.random.default_rng([number, i + 1]), n)) for i in range(replicates)]
        )
        covered = (found[:, 1] <= true) & (true <= found[:, 2])
        finite = f"{100 * found[:, 3].mean():.0f} %"
        print(f"| {name} | {true:.3f} | {100 * covered.mean():.1f} % | {finite} | {replicates} |", flush=True)


def copies(replicates: int) -> None:
    """Print in how many tables one of two near copies is selected."""
    selected = []
    for i in range(replicates):
        rng = np.random.default_rng([99, i])
        useful = rng.normal(size=300)
        near = [useful + 0.1 * rng.normal(size=300) for _ in range(2)]
        X = np.column_stack([*near, rng.normal(size=(300, 6))])
        stable = StabilitySelection(PPFS.calibrated(), n_pairs=15, random_state=i).fit(
            X, useful + rng.normal(size=300)
        )
        selected.append(stable.support_[:2].any())
    print(f"\nOne of two near copies is selected in {sum(selected)} of {replicates} tables.")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--copies", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    coverage(arguments.replicates)
    copies(arguments.copies)


if __name__ == "__main__":
    main()
