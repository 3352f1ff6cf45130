"""What the verdicts about a selection cost, as multiples of the fit's processor time.

    python benchmarks/verdicts/costs.py

One table of 500 rows and 2,000 columns, five of them true. A first fit, which is not counted, compiles the kernels.
"""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

import ppfs
from ppfs import PPFS

N_ROWS, N_COLUMNS, N_NEW = 500, 2000, 100


def draw(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    return X, 0.6 * X[:, :5].sum(axis=1) + rng.normal(size=n_rows)


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def main() -> None:
    X, y = draw(N_ROWS, 0)
    new = draw(N_NEW, 1)

    def fitted(**settings: Any) -> PPFS:
        return PPFS.calibrated(random_state=0, **settings).fit(X, y)

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        fitted().measure_sufficiency(X, y)
        seconds, selector = timed(fitted)
        confirmed = fitted(confirm=0.3)
        # Detectable effects are stated by the fit, so that they are part of its time.
        asked = {
            "sufficiency_": lambda: selector.sufficiency_,
            "results_": lambda: selector.results_,
            "at_least": lambda: confirmed.at_least(list(range(5))),
            "find_roles": lambda: selector.find_roles(),
            "update": lambda: selector.update(*new),
        }
        print(f"fit: {seconds:.2f} s of processor time, {selector.support_.sum()} columns")
        for name, function in asked.items():
            print(f"{name:<14}{timed(function)[0] / seconds:>8.3f} fits", flush=True)
    print(
        f"\nppfs {ppfs.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )


if __name__ == "__main__":
    main()
