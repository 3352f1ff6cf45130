"""How often the 95 % interval of what a selection loses holds, and how often each verdict is given.

    python benchmarks/verdicts/sufficiency.py --tables 100

Tables of 500 rows and 20 columns, of which five are true; their selection is given, so that the answer is known: all
five kept, one of five left out that explains 10 % of what the five explain (twice the margin), or no column that
matters and none selected. What is true is measured on 8,000 more rows of the same law: the mean difference of the
losses of those models that the interval is about.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from ppfs._data import read_table
from ppfs._rows import divide_into_folds
from ppfs._verdicts.measuring import Divided, Measured, measured_losses

N_ROWS, N_NEW, N_COLUMNS, N_FOLDS, MARGIN = 500, 8_000, 20, 5, 0.05
CASES = {"all kept": (0, 1, 2, 3, 4), "one left out": (0, 1, 2, 3), "noise only": ()}
# Shares of the explained variance; the last column explains twice the margin.
SHARES = np.array([0.225, 0.225, 0.225, 0.225, 0.1])


def draw(case: str, task: str, table: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([29, table, *case.encode()])
    X = rng.normal(size=(N_ROWS + N_NEW, N_COLUMNS))
    signal = X[:, :5] @ np.sqrt(SHARES) * (case != "noise only")
    if task == "regression":
        return X, signal + rng.normal(size=len(X))
    if task == "count":
        return X, rng.poisson(np.exp(0.5 + 0.6 * signal))
    if task == "positive":
        return X, np.exp(signal) * rng.gamma(2.0, size=len(X))
    if task == "ordinal":
        return X, np.digitize(2 * signal + rng.logistic(size=len(X)), [-2.0, -0.7, 0.7, 2.0])
    if task == "survival":
        times = np.exp(-signal) * rng.exponential(size=len(X))
        ends = 2 * rng.exponential(size=len(X))
        observed = list(zip(times <= ends, np.minimum(times, ends), strict=True))
        return X, np.array(observed, dtype=[("event", bool), ("time", float)])
    return X, (2 * signal + rng.logistic(size=len(X)) > 0).astype(int)


def judge(case: str, task: str, table: int) -> tuple[bool, float, str]:
    """Return whether the interval holds what is true, the distance in standard errors, and the verdict."""
    X, y = draw(case, task, table)
    whole = read_table(X, y, task=task, owner="benchmark").with_response()
    new = np.arange(N_ROWS, N_ROWS + N_NEW)
    labels = y[:N_ROWS] if task == "classification" else None
    folds = divide_into_folds(N_ROWS, labels, None, N_FOLDS, table)
    both = Divided([(train, np.concatenate([test, new])) for train, test in folds], N_FOLDS)
    selected = CASES[case]
    measured, n_selected = measured_losses(
        whole, both, lambda _: selected, estimator="panel", loss="auto", seed=table
    )
    known = cut(measured, whole, folds)
    found = known.concluded(Divided(folds, N_FOLDS), n_selected, MARGIN)
    lost = [
        lost_on_new_rows(measured, known, k, len(test), whole.y[N_ROWS:]) for k, (_, test) in enumerate(folds)
    ]
    truth = np.average(lost, weights=[len(test) for _, test in folds])
    error = (found.lost.high - found.lost.low) / 2 / 1.96
    distance = (found.lost.value - truth) / error if error else 0.0
    return bool(found.lost.low - 1e-12 <= truth <= found.lost.high + 1e-12), distance, found.verdict


def lost_on_new_rows(measured: Measured, known: Measured, fold: int, n_test: int, truth: np.ndarray) -> float:
    """Return what a fold's models of the selected columns lose on the new rows."""
    selected, everything = (
        measured.predictions[side][fold][known.chosen[side][fold]][n_test:] for side in ("selected", "all")
    )
    if known.is_averaged[fold]:
        everything = (selected + everything) / 2
    return float(np.mean(measured.loss.rows(truth, selected) - measured.loss.rows(truth, everything)))


def cut(measured: Measured, whole, folds) -> Measured:
    """Return the same models with the rows of the folds alone."""
    known = Measured(whole, measured.loss, 0)
    for number, (_, test) in enumerate(folds):
        known.take(
            number,
            test,
            {
                side: {
                    name: (one[: len(test)], measured.predictions[side][number][name][: len(test)])
                    for name, one in measured.losses[side][number].items()
                }
                for side in measured.losses
            },
        )
    return known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100, help="per case and task")
    parser.add_argument("--first", type=int, default=0, help="number of the first table, for fresh ones")
    parser.add_argument(
        "--tasks",
        nargs="+",
        default=["regression", "classification"],
        help="also count, positive, ordinal and survival",
    )
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    args = parser.parse_args()
    print(f"{'task':<15}{'case':<15}{'tables':>7}{'covered':>9}{'spread':>8}  verdicts", flush=True)
    for task in args.tasks:
        for case in args.cases:
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                found = [judge(case, task, table) for table in range(args.first, args.first + args.tables)]
            covered = np.mean([one for one, _, _ in found])
            spread = np.sqrt(np.mean([distance**2 for _, distance, _ in found]))
            verdicts = [verdict for _, _, verdict in found]
            shares = ", ".join(
                f"{name} {verdicts.count(name) / len(verdicts):.0%}" for name in sorted(set(verdicts))
            )
            print(f"{task:<15}{case:<15}{len(found):>7}{covered:>9.1%}{spread:>8.2f}  {shares}", flush=True)


if __name__ == "__main__":
    main()
