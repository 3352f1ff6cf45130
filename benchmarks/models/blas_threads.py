"""Time of the recommended preset with one and with two threads of linear algebra, in one run.

Run with ``python benchmarks/models/blas_threads.py``.
"""

import time

import sklearn
from sklearn.datasets import load_breast_cancer, load_wine
from threadpoolctl import threadpool_limits

import ppfs
from ppfs import PPFS
from ppfs._parallel import threads


def seconds(X, y, n_threads):
    """Return processor and clock seconds of a fit in which linear algebra has this many threads."""
    kept = threads._FEW_ROWS
    threads._FEW_ROWS = 0  # no limit
    try:
        with threadpool_limits(limits=n_threads, user_api="blas"):
            cpu, clock = time.process_time(), time.perf_counter()
            PPFS.calibrated(random_state=0).fit(X, y)
            return time.process_time() - cpu, time.perf_counter() - clock
    finally:
        threads._FEW_ROWS = kept


def main():
    print(f"ppfs {ppfs.__version__}, scikit-learn {sklearn.__version__}, seed 0")
    for name, load in {"breast cancer": load_breast_cancer, "wine": load_wine}.items():
        X, y = load(return_X_y=True)
        seconds(X, y, 1)  # compiles
        one, two = seconds(X, y, 1), seconds(X, y, 2)
        cpu, clock = two[0] / one[0], two[1] / one[1]
        print(f"{name}: two threads take {cpu:.1f} times the processor and {clock:.1f} times the clock")


if __name__ == "__main__":
    main()
