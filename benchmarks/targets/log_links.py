"""CPU time of a growth phase with log links: solved or grown for all columns at once, and fitted one by one.

python benchmarks/targets/log_links.py
"""

from __future__ import annotations

import platform
import time

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

import ppfs
from ppfs import PPFS

BOOSTING = {"loss": "poisson", "max_iter": 20}


class OwnPoisson(PoissonRegressor):
    """A class that the engine does not support."""


class OwnGamma(GammaRegressor):
    """A class that the engine does not support."""


class OwnTweedie(TweedieRegressor):
    """A class that the engine does not support."""


class OwnBoosting(HistGradientBoostingRegressor):
    """A class that the engine does not support."""


def seconds(model: object, task: str, X: np.ndarray, y: np.ndarray) -> float:
    start = time.process_time()
    PPFS(model, task=task, n_splits=10, random_state=0, correction="bonferroni").fit(X, y)
    return time.process_time() - start


def main() -> None:
    print(f"ppfs {ppfs.__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    y = rng.poisson(np.exp(0.5 * X[:, 0])) + 1.0
    print("\n| model | one by one, s | at once, s | ratio |\n| --- | --- | --- | --- |")
    for known, own, task in [
        (PoissonRegressor(), OwnPoisson(), "count"),
        (GammaRegressor(), OwnGamma(), "positive"),
        (TweedieRegressor(power=1.5), OwnTweedie(power=1.5), "count"),
        (HistGradientBoostingRegressor(**BOOSTING), OwnBoosting(**BOOSTING), "count"),
    ]:
        # Kernels are compiled first.
        seconds(known, task, X[:, :2], y)
        ours, theirs = seconds(known, task, X, y), seconds(own, task, X, y)
        print(f"| {type(known).__name__} | {theirs:.1f} | {ours:.2f} | {theirs / ours:.0f} |", flush=True)


if __name__ == "__main__":
    main()
