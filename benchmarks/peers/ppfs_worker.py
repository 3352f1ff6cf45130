"""Time ppfs on one data set, and print one JSON object.

The first fit of the process compiles (its cache is empty). A fit of a larger table compiles what small tables do
without at first. The later fits, each of a new selector because a fitted one remembers its answers, compile nothing.
"""

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.datasets import load_dataset


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--n-splits", type=int, required=True)
    parser.add_argument("--alpha", type=float, required=True)
    parser.add_argument("--n-warm", type=int, required=True, help="fits after the first")
    return parser.parse_args()


def timed_fit(X: Any, y: Any, n_splits: int, alpha: float) -> tuple[float, PPFS]:
    # PyImpetus's splits are not stratified unless asked to be, so neither are these.
    selector = PPFS(
        DecisionTreeClassifier(random_state=0),
        n_splits=n_splits,
        alpha=alpha,
        stratify=False,
        random_state=0,
        n_jobs=-1,
    )
    start = time.perf_counter()
    selector.fit(X, y)
    return time.perf_counter() - start, selector


def main() -> None:
    arguments = read_arguments()
    dataset = load_dataset(arguments.dataset, download=False)
    y = np.unique(dataset.y, return_inverse=True)[1]
    first, selector = timed_fit(dataset.X, y, arguments.n_splits, arguments.alpha)
    noise = np.random.default_rng(0).normal(size=(len(y), 3000))
    timed_fit(noise, y, arguments.n_splits, arguments.alpha)
    warm = [timed_fit(dataset.X, y, arguments.n_splits, arguments.alpha)[0] for _ in range(arguments.n_warm)]
    answer = {
        "seconds": statistics.median(warm),
        "warm fits": warm,
        "first fit": first,
        "selected": sorted(selector.blanket_.tolist()),
        "n_fits": int(selector.n_fits_),
        "notes": selector.trace_.notes,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
