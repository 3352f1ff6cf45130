"""Time one library with one model on one file of data, and print one JSON object.

It runs in the environment of the library: that of ppfs, or PyImpetus's own. CPU seconds count the worker processes
too; on a busy machine they are more reliable than wall-clock time.
"""

import argparse
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

LIBRARIES = {
    "PyImpetus": ("PyImpetus", "numpy", "scipy", "scikit-learn", "joblib", "pandas", "lightgbm"),
    "ppfs": ("ppfs", "numpy", "scipy", "scikit-learn", "joblib", "numba", "lightgbm"),
}
# No p-value is below it, so growth finds no candidate and there is nothing to shrink.
UNREACHABLE = 1e-40
# Fits are repeated until this many seconds have passed, or as often as asked.
LONG = 20.0


class GenericBoosting(HistGradientBoostingClassifier):
    """The same model, which the engine does not recognise: it is fitted through scikit-learn's interface."""


def lightgbm(n_jobs: int | None = None) -> Any:
    """Return LightGBM with the threads of its default, as many as there are cores in every worker, or with some."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=50, n_jobs=n_jobs, verbose=-1, random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomForestClassifier(100, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0),
    "generic boosting": lambda: GenericBoosting(max_iter=50, early_stopping=False, random_state=0),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "ridge": Ridge,
    "lightgbm": lightgbm,
    "lightgbm-one-thread": lambda: lightgbm(n_jobs=1),
}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=list(LIBRARIES))
    parser.add_argument("model", choices=list(MODELS))
    parser.add_argument("data", type=Path, help="folder with X.npz (sparse) or X.npy, and y.npy")
    parser.add_argument("--n-splits", type=int, required=True)
    parser.add_argument("--alpha", type=float, required=True)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--growth-only", action="store_true")
    return parser.parse_args()


def read(folder: Path) -> tuple[Any, np.ndarray]:
    is_sparse = (folder / "X.npz").is_file()
    X = sparse.load_npz(folder / "X.npz") if is_sparse else np.load(folder / "X.npy")
    return X, np.load(folder / "y.npy")


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the worker processes that it started."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = time.process_time()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    cpu, clock = cpu_seconds(), time.perf_counter()
    answer = action()
    return time.perf_counter() - clock, cpu_seconds() - cpu, answer


def fitted_ppfs(X: Any, y: np.ndarray, asked: argparse.Namespace) -> Any:
    from ppfs import PPFS

    # PyImpetus's splits are not stratified unless asked to be, so neither are these.
    return PPFS(
        MODELS[asked.model](),
        n_splits=asked.n_splits,
        alpha=UNREACHABLE if asked.growth_only else asked.alpha,
        stratify=False,
        random_state=0,
        n_jobs=-1,
        task="regression" if asked.model == "ridge" else "classification",
    ).fit(X, y)


def fitted_pyimpetus(X: Any, y: np.ndarray, asked: argparse.Namespace) -> Any:
    import pandas as pd
    from PyImpetus import PPIMBC, PPIMBR

    selector = (PPIMBR if asked.model == "ridge" else PPIMBC)(
        MODELS[asked.model](),
        p_val_thresh=asked.alpha,
        num_simul=asked.n_splits,
        random_state=0,
        n_jobs=-1,
        verbose=0,
    )
    frame = pd.DataFrame(X)
    if asked.growth_only:
        selector._grow(frame, np.reshape(y, (-1, 1)))
    else:
        selector.fit(frame, y)
    return selector


def main() -> None:
    asked = read_arguments()
    X, y = read(asked.data)
    is_ours = asked.library == "ppfs"
    fitted = fitted_ppfs if is_ours else fitted_pyimpetus
    warnings.simplefilter("ignore")
    # The first fit compiles our kernels, or starts the worker processes of PyImpetus: it is not counted.
    warm_up = argparse.Namespace(**vars(asked) | ({} if is_ours else {"n_splits": 5, "growth_only": True}))
    first, _, _ = timed(lambda: fitted(X if is_ours and X.shape[1] < 2000 else X[:, :4], y, warm_up))
    clocks: list[float] = []
    cpus: list[float] = []
    while len(clocks) < asked.repeats and sum(clocks) < LONG:
        clock, cpu, selector = timed(lambda: fitted(X, y, asked))
        clocks.append(clock)
        cpus.append(cpu)
    answer = {
        "seconds": statistics.median(clocks),
        "cpu seconds": statistics.median(cpus),
        "repeats": len(clocks),
        "first": first,
        "versions": {name: version(name) for name in LIBRARIES[asked.library]},
    }
    if is_ours:
        answer |= {"selected": len(selector.blanket_), "notes": selector.trace_.notes}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
