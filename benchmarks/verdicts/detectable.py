"""How often a column is selected that has exactly the effect stated as detectable with probability 0.8.

    python benchmarks/verdicts/detectable.py --tables 200 --make plain
    python benchmarks/verdicts/detectable.py --tables 200 --make other

Two makes of tables. "plain": 500 rows, three strong columns and 16 of noise, all normal. "other": 400 rows, a
strong column of two values, a curved one and a skewed one, and 30 correlated columns of noise. Pilot tables without
the planted column's effect state what is detectable for a line. Other links need more: how much more is measured on
separately simulated tables (`effect_at_80`). In tables with exactly that effect the questions of the search
decide: the column alone, and given the strong ones. `--fits` searches the whole tables instead.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from ppfs import PPFS
from ppfs.independence import CrossFitPPI

LINKS = {
    "line": lambda x: x,
    "saturating": lambda x: np.tanh(2 * x),
    "step": lambda x: np.sign(x),
    "parabola": lambda x: x**2 - 1,
}
# The quantiles of the normal distribution: sums over them are those of the law.
LARGE = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
N_PILOTS = 12
# Strong columns of either make.
N_STRONG = 3
# Tables that are drawn to compare other links with a line.
N_DRAWN = 200


def unit_link(link: str, x: np.ndarray) -> np.ndarray:
    values = LINKS[link](LARGE)
    return (LINKS[link](x) - values.mean()) / values.std()


def plain(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return columns, the first of which is the planted one, and the signal of the others."""
    X = rng.normal(size=(500, 20))
    return X, 0.6 * X[:, 1:4].sum(axis=1)


def other(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(400, 34))
    for column in range(5, 34):
        X[:, column] = 0.5 * X[:, column - 1] + np.sqrt(0.75) * X[:, column]
    X[:, 1] = rng.integers(2, size=400)
    X[:, 3] = rng.exponential(size=400)
    return X, 1.2 * X[:, 1] + 0.9 * np.abs(X[:, 2]) + 0.7 * X[:, 3] - 2.0


MAKES = {"plain": plain, "other": other}


def with_noise(signal: np.ndarray, task: str, rng: np.random.Generator) -> np.ndarray:
    if task == "regression":
        return signal + rng.normal(size=len(signal))
    return (signal + rng.logistic(size=len(signal)) > 0).astype(int)


def draw(make: str, link: str, task: str, strength: float, table: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([31, table, *make.encode()])
    X, signal = MAKES[make](rng)
    return X, with_noise(signal + strength * unit_link(link, X[:, 0]), task, rng)


def effect_of(rest: np.ndarray, link: str, task: str, strength: float) -> float:
    """Return the rise of the risk of the true model when the planted column is replaced by another row's.

    Parameters
    ----------
    rest : ndarray
        Signals of the other columns.
    """
    if task == "regression":
        return 2 * strength**2
    move = strength * unit_link(link, LARGE[::50])
    return float(4 * (1 / (1 + np.exp(-(rest[:, np.newaxis] + move)))).var(axis=1).mean())


def strength_of(rest: np.ndarray, link: str, task: str, effect: float) -> float:
    return solved(lambda strength: effect_of(rest, link, task, strength), effect, 5.0)


def solved(function, wanted: float, high: float, n_halvings: int = 30) -> float:
    low = 0.0
    for _ in range(n_halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > wanted else (middle, high)
    return high


@dataclass(frozen=True)
class Stated:
    """What pilot tables state: the effect for columns that growth did not call, and the levels of the questions."""

    effect: float
    growth: float
    shrink: float
    second_look: float

    def finds(self, given: float, alone: float) -> bool:
        """Return whether the p-values given the strong columns, and alone, select a column."""
        return given <= self.second_look or (alone <= self.growth and given <= self.shrink)


def stated(make: str, task: str, first: int) -> Stated:
    found = []
    for table in range(first - N_PILOTS, first):
        X, y = draw(make, "line", task, 0.0, table)
        selector = PPFS.calibrated(random_state=table).fit(X, y)
        asked = selector.trace_.question_arrays()
        n_called = int((asked.is_favorable & asked.is_marginal).sum())
        found.append(
            (
                selector.trace_.outcome.detectable.alone,
                selector.alpha * (n_called + 1) / X.shape[1],
                selector.alpha,
                selector.alpha / (X.shape[1] - selector.support_.sum()),
            )
        )
    return Stated(*np.mean(found, axis=0).tolist())


@cache
def effect_at_80(link: str, task: str, levels: Stated, n_rows: int, spread: float) -> float:
    """Return the effect of a link that the questions of the search find in 80 % of drawn tables.

    All columns of these tables are normal. The strong ones have equal slopes, and their signal has the given spread.
    """
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(N_DRAWN, n_rows, N_STRONG + 1))
    noise = (
        rng.normal(size=(N_DRAWN, n_rows)) if task == "regression" else rng.logistic(size=(N_DRAWN, n_rows))
    )

    def power(strength: float) -> float:
        found = []
        for X, error in zip(tables, noise, strict=True):
            rest = spread * X[:, 1:].sum(axis=1) / np.sqrt(N_STRONG)
            y = rest + strength * unit_link(link, X[:, 0]) + error
            found.append(is_found(X, y if task == "regression" else (y > 0).astype(int), levels))
        return float(np.mean(found))

    return effect_of(spread * LARGE[::50], link, task, solved(power, 0.8, 1.2, 8))


def factor_of(link: str, task: str, levels: Stated, n_rows: int, spread: float) -> float:
    """Return the effect of a link that is found as often as a line, as a multiple of the line's."""
    of_link, of_line = (effect_at_80(one, task, levels, n_rows, spread) for one in (link, "line"))
    return of_link / of_line


def is_found(X: np.ndarray, y: np.ndarray, levels: Stated) -> bool:
    """Return whether the questions of the search find the first column beside the next ones, the strong ones."""
    test = CrossFitPPI("panel")
    given = test.evaluate(X[:, : N_STRONG + 1], y, 0, given=range(1, N_STRONG + 1)).pvalue
    return levels.finds(given, test.evaluate(X[:, [0]], y, 0).pvalue)


def is_selected(X: np.ndarray, y: np.ndarray, seed: int) -> bool:
    return bool(PPFS.calibrated(random_state=seed).fit(X, y, sufficiency=False).support_[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200, help="per link and task")
    parser.add_argument("--first", type=int, default=1000, help="number of the first table, for fresh ones")
    parser.add_argument("--make", choices=MAKES, default="plain")
    parser.add_argument("--tasks", nargs="+", default=["regression", "classification"])
    parser.add_argument(
        "--multiple", type=float, help="of the line's effect, instead of the one that is drawn"
    )
    parser.add_argument("--fits", action="store_true", help="search whole tables")
    args = parser.parse_args()
    print(f"{'task':<16}{'link':<14}{'tables':>7}{'factor':>8}{'planted':>9}{'found':>8}", flush=True)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for task in args.tasks:
            levels = stated(args.make, task, args.first)
            n_rows = len(draw(args.make, "line", task, 0.0, 0)[1])
            rest = np.concatenate([MAKES[args.make](np.random.default_rng([7, i]))[1] for i in range(4)])
            for link in LINKS:
                factor = args.multiple or factor_of(link, task, levels, n_rows, float(rest.std()))
                effect = levels.effect * factor
                strength = strength_of(rest, link, task, effect)
                found = []
                for table in range(args.first, args.first + args.tables):
                    X, y = draw(args.make, link, task, strength, table)
                    found.append(is_selected(X, y, table) if args.fits else is_found(X, y, levels))
                told = f"{args.tables:>7}{factor:>8.2f}{effect:>9.4f}{np.mean(found):>8.1%}"
                print(f"{task:<16}{link:<14}{told}", flush=True)


if __name__ == "__main__":
    main()
