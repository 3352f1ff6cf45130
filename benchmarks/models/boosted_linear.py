"""Power of linear models with boosted trees behind them, by link and setting: where their defaults come from.

A column x is tested given two others, one of which is correlated 0.5 with it, by `CrossFitPPI` at 5 %. Every setting
sees the same samples. Prints one table; the decision page 0057 shows it.

    python benchmarks/models/boosted_linear.py --task regression --replicates 200
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from ppfs.independence import CrossFitPPI
from ppfs.models import BoostedLinearClassifier, BoostedLinearRegressor

N_ROWS = {"regression": 200, "classification": 300}

# How much of x reaches the target: x itself, and the other column.
Link = Callable[[np.ndarray, np.ndarray], np.ndarray]
LINKS: dict[str, Link] = {
    "none": lambda x, _: np.zeros_like(x),
    "line": lambda x, _: 0.25 * x,
    "sine": lambda x, _: 0.5 * np.sin(2.0 * x),
    "square": lambda x, _: 0.25 * (x**2 - 1.0),
    "interaction": lambda x, other: 0.35 * x * other,
    "step": lambda x, _: 0.31 * np.sign(x),
}

# Rounds, learning rate, depth, weight of a leaf, l2; the first are the defaults.
SETTINGS = [
    (15, 0.2, 2, 10, 1),
    (10, 0.2, 2, 10, 1),
    (30, 0.1, 2, 10, 1),
    (60, 0.1, 2, 10, 1),
    (20, 0.2, 2, 10, 5),
    (15, 0.2, 2, 20, 1),
    (15, 0.2, 3, 10, 1),
    (30, 0.1, 4, 10, 1),
]


def draw(task: str, link: str, replicate: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a sample whose column 0 is asked about."""
    rng = np.random.default_rng([list(LINKS).index(link), replicate])
    given = rng.normal(size=(N_ROWS[task], 2))
    x = 0.5 * given[:, 0] + np.sqrt(0.75) * rng.normal(size=N_ROWS[task])
    effect = LINKS[link](x, given[:, 1])
    signal = given[:, 0] + 0.5 * given[:, 1]
    if task == "regression":
        return np.column_stack([x, given]), signal + effect + rng.normal(size=x.size)
    return np.column_stack([x, given]), signal + 2.2 * effect + rng.logistic(size=x.size) > 0


def is_rejected(model: BaseEstimator, task: str, link: str, replicate: int) -> bool:
    """Return whether x is found at 5 %."""
    X, y = draw(task, link, replicate)
    return bool(CrossFitPPI(model, random_state=replicate).evaluate(X, y, 0, given=[1, 2]).pvalue < 0.05)


def contenders(task: str) -> dict[str, BaseEstimator]:
    """Return models by name."""
    is_regression = task == "regression"
    linear = Ridge() if is_regression else LogisticRegression()
    boosting = HistGradientBoostingRegressor if is_regression else HistGradientBoostingClassifier
    boosted_linear = BoostedLinearRegressor if is_regression else BoostedLinearClassifier
    models: dict[str, BaseEstimator] = {
        "linear": linear,
        "HistGradientBoosting, 50 rounds": boosting(max_iter=50),
    }
    for rounds, rate, depth, leaf, l2 in SETTINGS:
        name = f"linear, then {rounds} rounds, rate {rate}, depth {depth}, leaf {leaf}, l2 {l2}"
        models[name] = boosted_linear(
            n_rounds=rounds, learning_rate=rate, max_depth=depth, min_leaf_weight=leaf, l2_regularization=l2
        )
    return models


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=list(N_ROWS), default="regression")
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--n-jobs", type=int, default=2)
    arguments = parser.parse_args()
    links = list(LINKS)
    print(f"{arguments.task}, {N_ROWS[arguments.task]} rows, {arguments.replicates} replicates\n")
    print("| model | " + " | ".join(links) + " | mean of the links |")
    print("| --- |" + " --- |" * (len(links) + 1))
    for name, model in contenders(arguments.task).items():
        found = Parallel(n_jobs=arguments.n_jobs)(
            delayed(is_rejected)(model, arguments.task, link, replicate)
            for link in links
            for replicate in range(arguments.replicates)
        )
        rates = np.reshape(found, (len(links), -1)).mean(axis=1)
        cells = " | ".join(f"{rate:.2f}" for rate in rates)
        print(f"| {name} | {cells} | {rates[1:].mean():.3f} |", flush=True)


if __name__ == "__main__":
    main()
