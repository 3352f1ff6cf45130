"""Time PyImpetus on one file of data; runs in PyImpetus's own environment, and prints one JSON object."""

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PyImpetus import PPIMBC
from sklearn.tree import DecisionTreeClassifier

LIBRARIES = ("PyImpetus", "numpy", "scipy", "scikit-learn", "joblib", "pandas")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help=".npz with X (dense) and y (class codes)")
    parser.add_argument("--n-splits", type=int, required=True)
    parser.add_argument("--alpha", type=float, required=True)
    parser.add_argument("--growth-only", action="store_true")
    return parser.parse_args()


def make_selector(n_splits: int, alpha: float) -> PPIMBC:
    return PPIMBC(
        DecisionTreeClassifier(random_state=0),
        p_val_thresh=alpha,
        num_simul=n_splits,
        random_state=0,
        n_jobs=-1,
        verbose=0,
    )


def grow(frame: pd.DataFrame, y: Any, selector: PPIMBC) -> None:
    selector._grow(frame, np.reshape(y, (-1, 1)))


def main() -> None:
    arguments = read_arguments()
    with np.load(arguments.data) as archive:
        # Columns are named by their number, so that the answer can be compared.
        frame, y = pd.DataFrame(archive["X"]), archive["y"]
    # joblib starts its processes at the first call and keeps them: that second or two is not counted.
    grow(frame.iloc[:, :4], y, make_selector(5, arguments.alpha))

    selector = make_selector(arguments.n_splits, arguments.alpha)
    start = time.perf_counter()
    if arguments.growth_only:
        grow(frame, y, selector)
    else:
        selector.fit(frame, y)
    seconds = time.perf_counter() - start
    selected = None if arguments.growth_only else sorted(int(name) for name in selector.MB)
    versions = {name: version(name) for name in LIBRARIES}
    print(json.dumps({"seconds": seconds, "selected": selected, "versions": versions}))


if __name__ == "__main__":
    main()
