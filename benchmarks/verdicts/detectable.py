"""How often a column is selected that has exactly the effect stated as detectable with probability 0.8.

    python benchmarks/verdicts/detectable.py --tables 200 --make plain
    python benchmarks/verdicts/detectable.py --tables 200 --make other

Two makes of tables. "plain": 500 rows, three strong columns and 16 of noise, all normal. "other": 400 rows, a
strong column of two values, a curved one and a skewed one, and 30 correlated columns of noise. Pilot tables without
the planted column's effect state what is detectable for a line. Other links need more: by how much follows from the
functions that the test asks about and their weights, without these tables (`factor_of`). In tables with exactly that
effect the questions of the search decide: the column alone, and given the strong ones. `--fits` searches the whole
tables instead, which takes fifteen times as long.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_law
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from ppfs import PPFS
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.residuals.functions import PRODUCTS, WEIGHTS, functions_of
from ppfs.independence._predictive.residuals.regressors import GivenColumn

LINKS = {
    "line": lambda x: x,
    "saturating": lambda x: np.tanh(2 * x),
    "step": lambda x: np.sign(x),
    "parabola": lambda x: x**2 - 1,
}
# The quantiles of the normal distribution: sums over them are those of the law.
LARGE = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
N_PILOTS = 6
# Tables drawn to compare other links with a line.
N_DRAWN = 400


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


def draw(make: str, link: str, task: str, strength: float, table: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([31, table, *make.encode()])
    X, signal = MAKES[make](rng)
    signal = signal + strength * unit_link(link, X[:, 0])
    if task == "regression":
        return X, signal + rng.normal(size=len(X))
    return X, (signal + rng.logistic(size=len(X)) > 0).astype(int)


def effect_of(make: str, link: str, task: str, strength: float) -> float:
    """Return the rise of the risk of the true model when the planted column is replaced by another row's."""
    if task == "regression":
        return 2 * strength**2
    rest = np.concatenate([MAKES[make](np.random.default_rng([7, i]))[1] for i in range(4)])
    move = strength * unit_link(link, LARGE[::50])
    return float(4 * (1 / (1 + np.exp(-(rest[:, np.newaxis] + move)))).var(axis=1).mean())


def solved(function, wanted: float, high: float, n_halvings: int = 30) -> float:
    low = 0.0
    for _ in range(n_halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > wanted else (middle, high)
    return high


def factor_of(link: str, task: str, level: float, n_rows: int) -> float:
    """Return the effect of a link that is found as often as a line at this level, as a multiple of the line's.

    The functions of x that the test asks about, their products with what is left of the target, and the combination of
    the p-values, for rows in which nothing else matters.
    """
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(2, N_DRAWN, n_rows))
    uniform, of_products = rng.uniform(size=(N_DRAWN, n_rows)), rng.uniform(size=N_DRAWN)
    given = [GivenColumn.of(rng.normal(size=n_rows), False)]
    made = [
        [(member, values - values.mean(axis=0)) for member, values in functions_of([(x, False)], given)]
        for x in X
    ]

    def power(of_link: str, strength: float) -> float:
        move = strength * unit_link(of_link, X)
        y = move + noise if task == "regression" else (uniform < 1 / (1 + np.exp(-move))).astype(float)
        r = y - y.mean(axis=1, keepdims=True)
        total = WEIGHTS[PRODUCTS] / np.tan(np.pi * of_products)
        for number, functions in enumerate(made):
            for member, values in functions:
                if member != PRODUCTS:
                    products = r[number][:, np.newaxis] * values
                    pvalue = hotelling(products)
                    total[number] += WEIGHTS[member] / np.tan(np.pi * min(max(pvalue, 1e-15), 1 - 1e-15))
        return float((total / sum(WEIGHTS.values()) >= 1 / np.tan(np.pi * level)).mean())

    strengths = [solved(lambda s, one=one: power(one, s), 0.8, 1.5, 12) for one in (link, "line")]
    own, of_line = (
        2 * s**2 if task == "regression" else float(4 * (1 / (1 + np.exp(-s * unit_link(one, LARGE)))).var())
        for s, one in zip(strengths, (link, "line"), strict=True)
    )
    return own / of_line


def hotelling(products: np.ndarray) -> float:
    """Return the p-value of "the mean of each column is 0"; the squares are those about 0."""
    sums, n, k = products.sum(axis=0), len(products), products.shape[1]
    statistic = float(sums @ np.linalg.pinv(products.T @ products) @ sums)
    return float(f_law.sf(statistic / k * (n - k + 1) / n, k, n - k + 1))


@dataclass(frozen=True)
class Stated:
    """What pilot tables state: the effect for columns that growth did not call, and the levels of the questions."""

    effect: float
    growth: float
    shrink: float
    second_look: float


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


def is_found(X: np.ndarray, y: np.ndarray, levels: Stated, seed: int, *, by_fit: bool) -> bool:
    if by_fit:
        return bool(PPFS.calibrated(random_state=seed).fit(X, y, sufficiency=False).support_[0])
    test = CrossFitPPI("panel")
    alone = test.evaluate(X[:, [0]], y, 0).pvalue
    given = test.evaluate(X[:, :4], y, 0, given=[1, 2, 3]).pvalue
    return given <= levels.second_look or (alone <= levels.growth and given <= levels.shrink)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200, help="per link and task")
    parser.add_argument("--first", type=int, default=1000, help="number of the first table, for fresh ones")
    parser.add_argument("--make", choices=MAKES, default="plain")
    parser.add_argument("--tasks", nargs="+", default=["regression", "classification"])
    parser.add_argument("--fits", action="store_true", help="search whole tables")
    args = parser.parse_args()
    print(f"{'task':<16}{'link':<14}{'tables':>7}{'factor':>8}{'planted':>9}{'found':>8}", flush=True)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for task in args.tasks:
            levels = stated(args.make, task, args.first)
            n_rows = len(draw(args.make, "line", task, 0.0, 0)[1])
            for link in LINKS:
                factor = factor_of(link, task, levels.second_look, n_rows)
                effect = levels.effect * factor
                strength = solved(
                    lambda s, link=link, task=task: effect_of(args.make, link, task, s), effect, 5.0
                )
                found = [
                    is_found(*draw(args.make, link, task, strength, table), levels, table, by_fit=args.fits)
                    for table in range(args.first, args.first + args.tables)
                ]
                told = f"{args.tables:>7}{factor:>8.2f}{effect:>9.4f}{np.mean(found):>8.1%}"
                print(f"{task:<16}{link:<14}{told}", flush=True)


if __name__ == "__main__":
    main()
