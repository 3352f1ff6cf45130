"""What each private part of another library gains: CPU seconds of searches with it and without it.

    python benchmarks/libraries/private_parts.py

Every figure is from a new process. The first process compiles the kernels, the second one reads them from the cache;
its second search is warm. The parts of Numba are switched off by ``tests/portable/without.py``.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_TIMES = """
import json, sys, time
from importlib import import_module
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
import portable.without
from ppfs import PPFS
models = {"tree": None, "boosting": HistGradientBoostingClassifier(max_iter=20), "forest": RandomForestClassifier(30)}
model, off = models[sys.argv[1]], sys.argv[2]
if off:
    setattr(import_module(f"ppfs.independence._predictive.risks.{off.split('.')[0]}"), off.split(".")[1], lambda: None)
X, y = load_breast_cancer(return_X_y=True)
times = []
for _ in range(3):
    start = time.process_time()
    PPFS(model, n_splits=10, random_state=0).fit(X, y)
    times.append(time.process_time() - start)
print(json.dumps([times[0], min(times[1:])]))
"""


def times(model, part="", off=""):
    """Return the CPU seconds of the first search of two processes, and of a warm search."""
    with tempfile.TemporaryDirectory(prefix="ppfs-kernels-") as cache:
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
        environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
        if part:
            environment["PPFS_WITHOUT"] = part
        runs = []
        for _ in range(2):
            command = [sys.executable, "-W", "ignore", "-c", _TIMES, model, off]
            finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            runs.append(json.loads(finished.stdout))
    return runs[0][0], runs[1][0], runs[1][1]


CASES = [
    ("tree", "", ""),
    ("tree", "the compiler", ""),
    ("tree", "the cache", ""),
    ("boosting", "", ""),
    ("boosting", "uncounted kernels", ""),
    ("boosting", "", "boosting.method_of_bins"),
    ("forest", "", ""),
    ("forest", "", "forests.can_repeat_draws"),
]


def main():
    print("| model | without | first process | second process | warm |\n| --- | --- | ---: | ---: | ---: |")
    for model, part, off in CASES:
        row = " | ".join(f"{seconds:.2f} s" for seconds in times(model, part, off))
        print(f"| {model} | {part or off or 'nothing'} | {row} |", flush=True)


if __name__ == "__main__":
    main()
