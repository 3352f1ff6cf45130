"""How often useless columns are called where x and the target depend on z in other ways than by a sum.

    python benchmarks/calibration/made_otherwise.py run --replicates 400        # resumes; results/made_otherwise.csv
    python benchmarks/calibration/made_otherwise.py run --tests gcm pcm --replicates 30 --rows 300
    python benchmarks/calibration/made_otherwise.py print                       # the tables of docs/p-values.md

In every cell x and the target depend on the columns z, and never on each other, so that every rejection is an error.
The cells of MADE were used to develop the test, on other tables; some of FRESH were, and none of BLIND.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Collection
from functools import partial
from hashlib import blake2b
from itertools import product
from pathlib import Path

import numpy as np
from covariance_measures import gcm, pcm
from numpy.typing import NDArray

from ppfs.independence import CrossFitPPI

Floats = NDArray[np.float64]
Sample = tuple[Floats, NDArray[np.generic], Floats]
Draw = Callable[[np.random.Generator, int], Sample]
Measure = Callable[[Floats, Floats, Floats, int], float]

RESULTS = Path(__file__).parent / "results" / "made_otherwise.csv"
FIELDS = ("cell", "rows", "test", "replicate", "pvalue", "flag", "seconds")
ROWS = (300, 1000)
# By level, the largest rate of true nulls rejected that a cell may have.
LIMITS = {0.05: 0.07, 0.01: 0.02}


def _shared(
    mean: Callable[[Floats], Floats], n_given: int, x_noise: float, y_noise: float, correlation: float = 0.0
) -> Draw:
    """Return what draws x and y around the same function of z."""

    def draw(rng: np.random.Generator, n: int) -> Sample:
        z = np.sqrt(1 - correlation) * rng.normal(size=(n, n_given)) + np.sqrt(correlation) * rng.normal(
            size=(n, 1)
        )
        m = mean(z)
        return m + x_noise * rng.normal(size=n), m + y_noise * rng.normal(size=n), z

    return draw


def _classes(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    chance = 1 / (1 + np.exp(-3 * z[:, 0] * z[:, 1]))
    return (rng.random(n) < chance).astype(float), rng.random(n) < chance, z


def _spread(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    return np.exp(z[:, 0]) * rng.normal(size=n), np.exp(0.7 * z[:, 0]) * rng.normal(size=n), z


def _spread_and_mean(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    x = z[:, 0] + np.exp(z[:, 1]) * rng.normal(size=n)
    return x, z[:, 0] + np.exp(z[:, 1]) + np.exp(0.5 * z[:, 1]) * rng.normal(size=n), z


def _two_modes(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    x = rng.choice([-2.0, 2.0], n) * z[:, 0] + 0.3 * rng.normal(size=n)
    return x, np.abs(z[:, 0]) + z[:, 1] + 0.7 * rng.normal(size=n), z


def _poisson(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    return rng.poisson(np.exp(z[:, 0])).astype(float), np.exp(z[:, 0]) + rng.normal(size=n), z


def _negative_binomial(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    rate = np.exp(z[:, 0])
    return rng.negative_binomial(1.0, 1 / (1 + rate)).astype(float), rate + rng.normal(size=n), z


def _missing(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    x = z[:, 0] + rng.normal(size=n)
    x[rng.random(n) < 1 / (1 + np.exp(-3 * z[:, 0]))] = np.nan
    return x, z[:, 0] + z[:, 1] + rng.normal(size=n), z


def _near_copy(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 2))
    y = np.sin(3 * z[:, 0]) + z[:, 1] + 0.5 * rng.normal(size=n)
    return z[:, 0] + 0.14 * rng.normal(size=n), y, z


def _three_classes(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 4))
    m = z[:, 0] * z[:, 1]
    y = np.where(m + 0.7 * rng.normal(size=n) > 0.5, 2, (z[:, 2] + rng.normal(size=n) > 0).astype(int))
    return m + z[:, 2] + rng.normal(size=n), y, z


def _counts(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 3))
    rate = np.exp(0.5 * z[:, 0] + 0.3 * z[:, 1] * z[:, 2])
    return rng.poisson(rate).astype(float), rng.poisson(rate).astype(float), z


def _category(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 3))
    z[:, 2] = np.floor(np.abs(z[:, 2]) * 2).clip(0, 3)
    m = np.where(z[:, 2] % 2, z[:, 0], -z[:, 0])
    return m + rng.normal(size=n), m + rng.normal(size=n), z


def _ratio(rng: np.random.Generator, n: int) -> Sample:
    z = np.exp(0.5 * rng.normal(size=(n, 3)))
    ratio = z[:, 0] / z[:, 1]
    return np.log(ratio) + 0.5 * rng.normal(size=n), ratio + rng.normal(size=n), z


def _heavy(rng: np.random.Generator, n: int) -> Sample:
    z = rng.standard_t(3, size=(n, 4))
    m = np.abs(z[:, 0]) - np.minimum(z[:, 1], z[:, 2])
    return m + rng.standard_t(3, size=n), m + rng.standard_t(3, size=n), z


def _index_class(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 8)) * 0.7 + 0.7 * rng.normal(size=(n, 1))
    index = z[:, :4].sum(axis=1) / 2
    return index + rng.normal(size=n), rng.random(n) < 1 / (1 + np.exp(-2 * index)), z


def _ordered_classes(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 3))
    m = z[:, 0] ** 2 - 1 + z[:, 1]
    return (m + rng.logistic(size=n) > 0).astype(float), np.digitize(m + rng.logistic(size=n), [-1, 1]), z


def _overdispersed(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 3))
    rate = np.exp(0.4 * z[:, 0] + 0.4 * np.abs(z[:, 1]))
    x = rng.poisson(rate * rng.gamma(2.0, 0.5, size=n)).astype(float)
    return x, np.log1p(rng.poisson(3 * rate)), z


def _six_levels(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 4))
    z[:, 0] = rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    level = z[:, 0].astype(int)
    m = np.array([0, 2, -1, 1, -2, 0.5])[level] + np.array([1, -1, 0, 1, 0.5, -0.5])[level] * z[:, 1]
    return m + rng.normal(size=n), m + z[:, 2] + rng.normal(size=n), z


def _missing_given(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 4))
    is_missing = rng.random(n) < 1 / (1 + np.exp(1 - z[:, 1]))
    m = np.where(is_missing, 1.5, z[:, 0]) + 0.5 * z[:, 1] * z[:, 2]
    z[is_missing, 0] = np.nan
    return m + rng.normal(size=n), m + rng.normal(size=n), z


def _heavy_ratio(rng: np.random.Generator, n: int) -> Sample:
    z = rng.standard_t(2.5, size=(n, 3))
    m = 3 * z[:, 0] / (1 + z[:, 1] ** 2)
    return m + rng.standard_t(3, size=n), m + rng.standard_t(3, size=n), z


def _ties(rng: np.random.Generator, n: int) -> Sample:
    z = np.round(2 * rng.normal(size=(n, 3))) / 2
    m = np.abs(z[:, 0]) + np.maximum(z[:, 1], z[:, 2])
    return np.round(m + rng.normal(size=n)), np.round(2 * (m + rng.normal(size=n))) / 2, z


def _product_and_spread(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 5))
    m = z[:, 0] * z[:, 1]
    x = m + (0.5 + np.abs(z[:, 2])) * rng.normal(size=n)
    return x, m + np.exp(0.5 * z[:, 2]) * rng.normal(size=n), z


def _third_of_the_rows(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n // 3, 3))
    m = z[:, 0] ** 2 / 2 + z[:, 1]
    return m + rng.normal(size=n // 3), m + rng.normal(size=n // 3), z


def _checkerboard(rng: np.random.Generator, n: int) -> Sample:
    z = rng.normal(size=(n, 3))
    m = np.sign(np.sin(2.5 * z[:, 0]) * np.sin(2.5 * z[:, 1]))
    return m + 0.7 * rng.normal(size=n), rng.random(n) < 1 / (1 + np.exp(-1.5 * m)), z


MADE: dict[str, Draw] = {
    "product": _shared(lambda z: z[:, 0] * z[:, 1], 2, 0.5, 1.0),
    "weak product": _shared(lambda z: z[:, 0] + z[:, 1] + 0.3 * z[:, 0] * z[:, 1], 2, 1.0, 1.0),
    "classes by a product": _classes,
    "spread": _spread,
    "spread and mean": _spread_and_mean,
    "two modes": _two_modes,
    "Poisson": _poisson,
    "negative binomial": _negative_binomial,
    "square of the sum of ten": _shared(lambda z: (z.sum(axis=1) / np.sqrt(91)) ** 2, 10, 1.0, 1.0, 0.9),
    "missing": _missing,
    "max(z1, z2)": _shared(lambda z: z.max(axis=1), 2, 0.5, 0.5),
    "near copy": _near_copy,
    "sign(z1 z2)": _shared(lambda z: np.sign(z[:, 0] * z[:, 1]), 2, 0.5, 1.0),
    "smooth ring": _shared(lambda z: 2 * np.exp(-4 * (np.hypot(z[:, 0], z[:, 1]) - 1.2) ** 2), 2, 0.5, 1.0),
    "sharp ring": _shared(lambda z: 2.0 * (np.abs(np.hypot(z[:, 0], z[:, 1]) - 1.2) < 0.4), 2, 0.5, 1.0),
    "tanh of the sum of ten": _shared(lambda z: np.tanh(2 * z.sum(axis=1)), 10, 0.5, 0.5),
}
FRESH: dict[str, Draw] = {
    "sine of a sum, and a product": _shared(
        lambda z: np.sin(z[:, 0] + z[:, 1]) + z[:, 2] * z[:, 3] / 2, 5, 1.0, 1.0, 0.3
    ),
    "three classes": _three_classes,
    "counts on both sides": _counts,
    "slope by category": _category,
    "ratio": _ratio,
    "heavy tails, abs and min": _heavy,
    "class by an index of eight": _index_class,
    "product of three": _shared(lambda z: z.prod(axis=1), 3, 1.0, 1.0),
}
# Written down before any of them was run.
BLIND: dict[str, Draw] = {
    "logistic curve of three": _shared(lambda z: 3 / (1 + np.exp(-2 * z.sum(axis=1))), 3, 0.5, 0.7),
    "sine and product of six": _shared(lambda z: np.sin(2 * z[:, 0]) + z[:, 1] * z[:, 2], 6, 1.0, 1.0, 0.4),
    "ordered classes, x of two values": _ordered_classes,
    "overdispersed counts": _overdispersed,
    "category of six levels": _six_levels,
    "missing values in z": _missing_given,
    "heavy tails, ratio": _heavy_ratio,
    "rounded columns": _ties,
    "product, spread in common": _product_and_spread,
    "square, a third of the rows": _third_of_the_rows,
    "thirty columns": _shared(lambda z: z[:, 0] + z[:, 1] * z[:, 2] + np.sin(2 * z[:, 3]), 30, 1.0, 1.0),
    "checkerboard": _checkerboard,
}
HARD = ("sign(z1 z2)", "smooth ring", "sharp ring", "tanh of the sum of ten")


def by_preset(sample: Sample, replicate: int) -> tuple[float, bool]:
    """Return the p-value of the preset's test, and whether it says that it may be too small."""
    x, y, z = sample
    is_class = y.dtype.kind in "bi" and np.unique(y).size < 6
    answer = CrossFitPPI("panel", impute="median", random_state=replicate).evaluate(
        np.column_stack([x, z]),
        y,
        0,
        given=range(1, z.shape[1] + 1),
        task="classification" if is_class else "regression",
        categorical_features=None,
    )
    return answer.pvalue, answer.may_be_too_small


def by_forests(measure: Measure, sample: Sample, replicate: int) -> tuple[float, bool]:
    """Return the p-value of a covariance measure."""
    x, y, z = sample
    return measure(np.where(np.isnan(x), np.nanmedian(x), x), y.astype(float), z, replicate), False


TESTS = {"preset": by_preset, "gcm": partial(by_forests, gcm), "pcm": partial(by_forests, pcm)}
PEERS = {"gcm": "GCM", "pcm": "PCM"}


def draw(name: str, n_rows: int, replicate: int) -> Sample:
    """Draw a table: the same for a cell's name and a number, whatever else is run."""
    key = blake2b(f"{name}/{n_rows}#{replicate}".encode(), digest_size=8).digest()
    return {**MADE, **FRESH, **BLIND}[name](np.random.default_rng(int.from_bytes(key)), n_rows)


def _ask(
    test: Callable[[Sample, int], tuple[float, bool]], name: str, n_rows: int, replicate: int
) -> tuple[float, bool]:
    return test(draw(name, n_rows, replicate), replicate)


def read(path: Path = RESULTS) -> list[dict[str, str]]:
    """Return the lines that there are."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# From a cell's name, the number of rows and of the table to a p-value and whether it is marked.
Ask = Callable[[str, int, int], tuple[float, bool]]


def ask_missing(
    cells: list[str], tests: dict[str, Ask], replicates: int, rows: list[int], path: Path
) -> None:
    """Ask what is missing in a file of results, cell after cell in rounds of ten tables."""
    done = {(line["cell"], int(line["rows"]), line["test"], int(line["replicate"])) for line in read(path)}
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        for first in range(0, replicates, 10):
            for one in product(cells, rows, tests, range(first, min(first + 10, replicates))):
                if one in done:
                    continue
                name, n_rows, test, replicate = one
                began = time.process_time()
                pvalue, flag = tests[test](name, n_rows, replicate)
                seconds = time.process_time() - began
                writer.writerow([*one, f"{pvalue:.6g}", int(flag), f"{seconds:.3f}"])
            file.flush()


def table(names: list[str], path: Path = RESULTS, hard: Collection[str] = HARD) -> str:
    """Return the share of tables that were called, and marked, a row per cell."""
    found: dict[tuple[str, int, str], list[tuple[float, int]]] = {}
    for line in read(path):
        key = line["cell"], int(line["rows"]), line["test"]
        found.setdefault(key, []).append((float(line["pvalue"]), int(line["flag"])))
    peers = [test for test in PEERS if any((name, ROWS[0], test) in found for name in names)]
    out = [
        "| cell | tables | 5 %, n = 300 | 1 % | marked | 5 %, n = 1,000 | 1 % | marked |"
        + "".join(f" {PEERS[test]}, n = 300 |" for test in peers),
        "| --- |" * 1 + " --- |" * (7 + len(peers)),
    ]
    for name in names:
        own = [np.array(found.get((name, n_rows, "preset"), [])) for n_rows in ROWS]
        if any(not len(one) for one in own):
            continue
        texts = [
            f"{name} (hard)" if name in hard else name,
            "/".join(dict.fromkeys(str(len(one)) for one in own)),
        ]
        for one in own:
            texts += [
                _percent((one[:, 0] <= level).mean(), 0.5 if name in hard else most)
                for level, most in LIMITS.items()
            ]
            texts.append(f"{100 * one[:, 1].mean():.0f} %")
        for test in peers:
            theirs = np.array(found.get((name, ROWS[0], test), []))
            texts.append(
                f"{100 * (theirs[:, 0] <= 0.05).mean():.0f} % of {len(theirs)}" if len(theirs) else ""
            )
        out.append(f"| {' | '.join(texts)} |")
    return "\n".join(out)


def _percent(rate: float, most: float) -> str:
    text = f"{100 * rate:.1f} %"
    return f"**{text}**" if rate > most else text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "print"])
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--tests", nargs="+", choices=list(TESTS), default=["preset"])
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.what == "run":
        tests = {test: partial(_ask, TESTS[test]) for test in arguments.tests}
        ask_missing([*MADE, *FRESH, *BLIND], tests, arguments.replicates, arguments.rows, arguments.results)
    else:
        print(*(table(list(cells), arguments.results) for cells in (MADE, FRESH, BLIND)), sep="\n\n")


if __name__ == "__main__":
    main()
