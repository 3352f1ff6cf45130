"""How often a column is found that has exactly the effect stated as detectable with probability 0.8.

    python benchmarks/verdicts/detectable.py --tables 100

Tables of 500 rows: three strong columns, one with a planted effect, and 16 columns of noise. Pilot tables without the
planted effect state what is detectable, and at which level. Tables with that effect, times the factor of the link, then
count how often the question that decides about the column, the column on its own, has a p-value below the level.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from ppfs import PPFS
from ppfs._verdicts.detectable import OTHER_LINKS
from ppfs.independence import CrossFitPPI

N_ROWS, N_STRONG, N_NOISE = 500, 3, 16
PLANTED = N_STRONG
LINKS = {
    "line": lambda x: x,
    "saturating": lambda x: np.tanh(2 * x),
    "step": lambda x: np.sign(x),
    "parabola": lambda x: x**2 - 1,
}
# A sample so large that its means are those of the law.
LARGE = np.random.default_rng(1).normal(size=200_000)


def draw(
    link: str, task: str, strength: float, table: int, n_rows: int = N_ROWS
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([31, table])
    X = rng.normal(size=(n_rows, N_STRONG + 1 + N_NOISE))
    planted = LINKS[link](X[:, PLANTED]) / LINKS[link](LARGE).std()
    signal = 0.6 * X[:, :N_STRONG].sum(axis=1) + strength * planted
    if task == "regression":
        return X, signal + rng.normal(size=n_rows)
    return X, (signal + rng.logistic(size=n_rows) > 0).astype(int)


def effect_of(link: str, task: str, strength: float) -> float:
    """Return the rise of the risk when the planted column is replaced by another row's, for a model of it alone."""
    g = LINKS[link](LARGE) / LINKS[link](LARGE).std()
    if task == "regression":
        return 2 * strength**2
    rng = np.random.default_rng(2)
    rest = 0.6 * rng.normal(size=(400, N_STRONG)).sum(axis=1)
    p = (1 / (1 + np.exp(-(rest[:, np.newaxis] + strength * g[:4000])))).mean(axis=0)
    return float(4 * p.var())


def strength_of(link: str, task: str, effect: float) -> float:
    low, high = 0.0, 5.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if effect_of(link, task, middle) > effect else (middle, high)
    return high


def stated(task: str) -> tuple[float, float]:
    """Return the detectable effect of columns of noise and the level they are tested at, from pilot tables."""
    found, levels = [], []
    for table in range(1000, 1003):
        X, y = draw("line", task, 0.0, table)
        selector = PPFS.calibrated(random_state=table).fit(X, y)
        found.append(selector.trace_.outcome.detectable.alone)
        n_called = len(selector.trace_.once_favored(0)) + 1
        levels.append(selector.alpha * n_called / X.shape[1])
    return float(np.mean(found)), float(np.mean(levels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100, help="per link and task")
    args = parser.parse_args()
    print(f"{'task':<16}{'link':<14}{'tables':>7}{'level':>8}{'planted':>9}{'found':>8}", flush=True)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for task in ("regression", "classification"):
            effect, level = stated(task)
            for link in LINKS:
                planted = effect * OTHER_LINKS[link]
                strength = strength_of(link, task, planted)
                pvalues = []
                for table in range(args.tables):
                    X, y = draw(link, task, strength, table)
                    pvalues.append(CrossFitPPI("panel").evaluate(X[:, [PLANTED]], y, 0).pvalue)
                found = np.mean(np.array(pvalues) <= level)
                print(
                    f"{task:<16}{link:<14}{args.tables:>7}{level:>8.4f}{planted:>9.4f}{found:>8.0%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
