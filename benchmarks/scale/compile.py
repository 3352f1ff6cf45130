"""What the kernels of one kind of model cost to compile, once for an installation: CPU seconds with an empty cache.

python benchmarks/scale/compile.py                     # all kinds, each in a separate process
python benchmarks/scale/compile.py --kinds forest
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from recording import describe_machine, machine_lines, markdown_table, run_child, save, say, verdict
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

RESULTS = Path(__file__).resolve().parent / "results" / "compile.json"
AT_MOST = 15.0
SEED = 0


def logistic(**parameters: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return make_pipeline(StandardScaler(), LogisticRegression(**parameters))


MODELS = {
    "tree": lambda: DecisionTreeClassifier(),
    "weighted tree": lambda: DecisionTreeClassifier(),
    "forest": lambda: RandomForestClassifier(20),
    "forest with missing values": lambda: RandomForestClassifier(20),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=10),
    "weighted boosting": lambda: HistGradientBoostingClassifier(max_iter=10),
    "ridge": lambda: Ridge(),
    "logistic": lambda: logistic(),
    "sparse logistic": lambda: logistic(solver="liblinear"),
}


def compile_seconds(kind: str) -> float:
    """Return the CPU time of a first search in growth and shrinkage, less that of a second one."""
    from ppfs import PPFS

    generator = np.random.default_rng(SEED)
    X = generator.standard_normal((120, 6))
    score = X[:, 0] + X[:, 1] + 0.5 * generator.standard_normal(120)
    y = score if kind == "ridge" else (score > 0).astype(int)
    if kind.endswith("missing values"):
        X[generator.random(X.shape) < 0.05] = np.nan
    weights = generator.uniform(0.5, 2.0, size=120) if kind.startswith("weighted") else None
    times = []
    for _ in range(2):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = PPFS(MODELS[kind](), n_splits=10, alpha=0.2, random_state=SEED, n_jobs=1)
            selector.fit(X, y, sample_weight=weights)
        times.append(time.process_time() - start)
    return times[0] - times[1]


def table_of(seconds: Mapping[str, float]) -> str:
    rows = [
        [kind, f"{value:.1f}", f"{AT_MOST:g}", verdict(value <= AT_MOST)] for kind, value in seconds.items()
    ]
    return markdown_table(["kernels of", "compile once, CPU s", "at most", "met"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps({"seconds": compile_seconds(arguments.kinds[0])}))
        return
    results: dict[str, Any] = {"machine": describe_machine(), "seconds": {}}
    for kind in arguments.kinds:
        say(f"{kind} ...")
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, Path(__file__).resolve(), "--child", "--kinds", kind]
            results["seconds"][kind] = run_child(command, NUMBA_CACHE_DIR=cache)["seconds"]
    print(table_of(results["seconds"]))
    print("", *machine_lines(results["machine"]), sep="\n")
    if arguments.kinds == list(MODELS):
        save(results, RESULTS)


if __name__ == "__main__":
    main()
