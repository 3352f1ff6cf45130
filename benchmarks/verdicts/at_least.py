"""How often the bounds for sets of columns are wrong for any set, and how often they find three effects among 20.

    python benchmarks/verdicts/at_least.py --tables 500

Tables of 400 rows: three true columns and 17 of noise, all kept by request, so that all 20 are tested on the 200 rows
that are held out. A bound is wrong for some set if and only if it is above 0 for the set of all noise columns: closed
testing then rejects what is true.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from ppfs import PPFS

N_ROWS, N_COLUMNS, N_TRUE = 400, 20, 3


def judge(table: int, model: object) -> tuple[bool, bool]:
    rng = np.random.default_rng([37, table])
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = 0.5 * X[:, :N_TRUE].sum(axis=1) + rng.normal(size=N_ROWS)
    everything = range(N_COLUMNS)
    selector = PPFS.calibrated(model, confirm=0.5, always_keep=everything, random_state=table).fit(X, y)
    return selector.at_least(range(N_TRUE, N_COLUMNS)) > 0, selector.at_least(range(N_TRUE)) == N_TRUE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first table, to measure in parts")
    parser.add_argument("--model", choices=("ridge", "panel"), default="panel")
    args = parser.parse_args()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        model = Ridge() if args.model == "ridge" else "panel"
        found = [judge(table, model) for table in range(args.first, args.first + args.tables)]
    wrong, complete = np.mean(found, axis=0)
    print(
        f"{args.model}: {args.tables} tables, wrong for some set {wrong:.1%}, all three found {complete:.1%}"
    )


if __name__ == "__main__":
    main()
