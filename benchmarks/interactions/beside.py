"""Columns that matter only beside others: which settings of the preset find them, and what they add by mistake.

Each part prints one table, on which docs/searches.md rests:

    python benchmarks/interactions/beside.py planted      # exclusive-or of two and three, a product beside two lines
    python benchmarks/interactions/beside.py suppressors  # x1 - x2, both correlated
    python benchmarks/interactions/beside.py ordinary     # lines, curves and noise: what the settings cost elsewhere
    python benchmarks/interactions/beside.py links        # the tables of benchmarks/calibration: links.py, planted.py
    python benchmarks/interactions/beside.py copies       # every true column twice
    python benchmarks/interactions/beside.py noise        # tables with nothing to find
    python benchmarks/interactions/beside.py madelon      # folds, selection inside; --tables is their number
    python benchmarks/interactions/beside.py together     # what testing all rejected columns together adds
    python benchmarks/interactions/beside.py separated    # size and power given columns that separate the classes
    python benchmarks/interactions/beside.py members      # nine columns of the breast cancer table, and without each
    python benchmarks/interactions/beside.py halves --tables 12  # what the other half says of a selection in one
    python benchmarks/interactions/beside.py textbook --tables-of <folder of ISLP's CSV files>

ISLP's tables are in its wheel: `pip download ISLP --no-deps`, then unzip `ISLP/data`. `--which others` and `further`
have ten more tables each and need statsmodels and lifelines. Madelon is read from the folder in PPFS_DATA. Seeds are
0 to the number of tables minus one. `--settings` names some of SETTINGS and PEERS; "Boruta" needs the package boruta.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ppfs
from ppfs import PPFS
from ppfs.blanket._steps import second_look
from ppfs.independence import CrossFitPPI

Floats = NDArray[np.float64]
Planted = tuple[Floats, Floats, set[int]]

SETTINGS: dict[str, dict[str, Any]] = {
    "marginal": {"growth": "marginal", "second_look": False},
    "second look": {"growth": "marginal", "second_look": True},
    "joint": {"growth": "joint", "second_look": False},
    "both, second look": {"growth": "both", "second_look": True},
    "pairs": {"growth": "marginal", "second_look": False, "interactions": "pairs"},
    "default": {},
    "not together": {},
}

#: The default, but without a question about all rejected columns together.
NOT_TOGETHER = "not together"

PEERS = ("RFECV (forest)", "Boruta")


def in_blocks(rng: np.random.Generator, n_rows: int, n_columns: int) -> Floats:
    """Draw normal columns in blocks of five, correlated .5 within a block."""
    shared = rng.normal(size=(n_rows, n_columns // 5, 1))
    own = rng.normal(size=(n_rows, n_columns // 5, 5))
    return (np.sqrt(0.5) * (shared + own)).reshape(n_rows, n_columns)


def exclusive_or(n_inputs: int) -> Callable[[int, int, int], Planted]:
    """Return a maker of tables whose label is the sign of a product of columns of different blocks."""

    def make(seed: int, n_rows: int, n_columns: int) -> Planted:
        X = in_blocks(np.random.default_rng([seed, n_columns, n_inputs]), n_rows, n_columns)
        inputs = [5 * i for i in range(n_inputs)]
        return X, (X[:, inputs].prod(axis=1) > 0).astype(float), set(inputs)

    return make


def product_and_lines(seed: int, n_rows: int, n_columns: int) -> Planted:
    """Return a target of a product of two columns, two lines and noise."""
    rng = np.random.default_rng([seed, n_columns, 9])
    X = in_blocks(rng, n_rows, n_columns)
    return X, X[:, 0] * X[:, 5] + X[:, 10] + X[:, 15] + rng.normal(size=n_rows), {0, 5, 10, 15}


PROBLEMS: dict[str, Callable[[int, int, int], Planted]] = {
    "exclusive-or of two": exclusive_or(2),
    "exclusive-or of three": exclusive_or(3),
    "product beside two lines": product_and_lines,
}


def suppressor(correlation: float) -> Callable[[int, int, int], Planted]:
    """Return a maker of tables with y = x0 - x1 + noise."""

    def make(seed: int, n_rows: int, n_columns: int) -> Planted:
        rng = np.random.default_rng([seed, 4])
        X = rng.normal(size=(n_rows, n_columns))
        X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
        return X, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n_rows), {0, 1}

    return make


def without_marginal_link(seed: int, n_rows: int, n_columns: int) -> Planted:
    """Return a target to which x1 has no link on its own."""
    rng = np.random.default_rng([seed, 5])
    X = rng.normal(size=(n_rows, n_columns))
    own = X[:, 0].copy()
    X[:, 0] = own + X[:, 1]
    return X, own + rng.normal(size=n_rows), {0, 1}


def noise_of_numbers(seed: int) -> Planted:
    """Return a target of numbers without a link to any column."""
    rng = np.random.default_rng([seed, 1])
    return in_blocks(rng, 200, 20), rng.normal(size=200), set()


def noise_of_labels(seed: int) -> Planted:
    """Return two classes of equal size without a link to any column."""
    rng = np.random.default_rng([seed, 2])
    return in_blocks(rng, 300, 50), rng.permutation(np.arange(300) % 2), set()


def lines(seed: int) -> Planted:
    """Return a target of three lines."""
    rng = np.random.default_rng([seed, 3])
    X = in_blocks(rng, 200, 20)
    return X, 0.3 * (X[:, 0] + X[:, 5] + X[:, 10]) + rng.normal(size=200), {0, 5, 10}


def curves(seed: int) -> Planted:
    """Return a target of a square, a wave and a step."""
    rng = np.random.default_rng([seed, 4])
    X = in_blocks(rng, 300, 20)
    signal = 0.3 * X[:, 0] ** 2 + 0.6 * np.sin(2 * X[:, 5]) + 0.6 * (X[:, 10] > 0.5)
    return X, signal + rng.normal(size=300), {0, 5, 10}


def labels(seed: int) -> Planted:
    """Return two classes that depend on three columns of 30."""
    rng = np.random.default_rng([seed, 5])
    X = in_blocks(rng, 300, 30)
    odds = 0.7 * (X[:, 0] + X[:, 5] - X[:, 10])
    return X, (rng.uniform(size=300) < 1 / (1 + np.exp(-odds))).astype(float), {0, 5, 10}


def skewed(seed: int) -> Planted:
    """Return a target of skewed columns, whose spread depends on one of them."""
    rng = np.random.default_rng([seed, 6])
    X = np.exp(in_blocks(rng, 300, 20))
    y = np.log(X[:, 0]) + 0.3 * X[:, 5] + 0.5 * rng.normal(size=300) * X[:, 10]
    return X, y, {0, 5, 10}


ORDINARY: dict[str, Callable[[int], Planted]] = {
    "noise, numbers, 200 x 20": noise_of_numbers,
    "noise, labels, 300 x 50": noise_of_labels,
    "three lines, 200 x 20": lines,
    "square, wave and step, 300 x 20": curves,
    "labels by three lines, 300 x 30": labels,
    "skewed columns, 300 x 20": skewed,
}


def strong(seed: int, n_columns: int, is_classified: bool) -> Planted:
    """Return a target of three strong lines: all three are found, and the rest adds nothing."""
    rng = np.random.default_rng([seed, 77, n_columns])
    X = in_blocks(rng, 200, n_columns)
    signal = 1.2 * X[:, [0, 5, 10]].sum(axis=1)
    if is_classified:
        return X, (signal + rng.logistic(size=200) > 0).astype(float), {0, 5, 10}
    return X, signal + rng.normal(size=200), {0, 5, 10}


def uneven_curves(seed: int) -> Planted:
    """Return a target of a square, a wave and a product, whose spread depends on a column."""
    rng = np.random.default_rng([seed, 78])
    X = in_blocks(rng, 300, 20)
    signal = X[:, 0] ** 2 + np.sin(2 * X[:, 5]) * 1.5 + X[:, 5] * X[:, 10]
    return X, signal + 0.7 * rng.normal(size=300) * (1 + 0.5 * np.abs(X[:, 0])), {0, 5, 10}


def many_weak(seed: int) -> Planted:
    """Return two classes that depend a little on every other of 40 columns."""
    rng = np.random.default_rng([seed, 79])
    X = in_blocks(rng, 300, 40)
    truth = list(range(0, 40, 2))
    return X, (0.5 * X[:, truth].sum(axis=1) + rng.logistic(size=300) > 0).astype(float), set(truth)


COMPLETE: dict[str, Callable[[int], Planted]] = {
    f"three strong lines, {'labels' if is_classified else 'numbers'}, 200 x {n_columns}": partial(
        strong, n_columns=n_columns, is_classified=is_classified
    )
    for n_columns in (20, 60, 200)
    for is_classified in (False, True)
} | {"square, wave and product, 300 x 20": uneven_curves, "20 weak lines, labels, 300 x 40": many_weak}


def calibration_tables() -> dict[str, Callable[[int], Planted]]:
    """Return makers of the tables on which power is measured in benchmarks/calibration, as whole selections."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "calibration"))
    from links import POWER, Cell, draw
    from planted import effects

    def of(cell: Cell, seed: int) -> Planted:
        sample = draw(cell, seed)
        return sample.X, np.asarray(sample.y, dtype=float), {1, 2} if cell.link == "none" else {0, 1, 2}

    made = {f"{cell.target}, {cell.link}, {cell.n_rows} x 3": partial(of, cell) for cell in POWER}
    return made | {"three lines, 200 x 20, not correlated": lambda seed: (*effects(seed), {0, 1, 2})}


def selected(setting: str, X: Any, y: Any, seed: int) -> list[int]:
    """Return the columns that the preset, or a peer, selects."""
    return selected_of_asked(setting, X, y, seed)[0]


def selected_of_asked(setting: str, X: Any, y: Any, seed: int) -> tuple[list[int], set[int]]:
    """Return the columns that the preset selects, and those that a shrink phase tested; a peer has none of these."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if setting in PEERS:
            return _selected_by_peer(setting, X, y, seed), set()
        fitted = fitted_by(setting, X, y, seed)
    shrunk = {name for step in fitted.trace_ if "shrink" in step.phase for name in [step.feature]}
    return fitted.blanket_.tolist(), shrunk


def fitted_by(setting: str, X: Any, y: Any, seed: int) -> PPFS:
    """Return the preset, fitted with a setting."""
    with asking_together(setting):
        return PPFS.calibrated(random_state=seed, **SETTINGS[setting]).fit(X, y)


@contextmanager
def asking_together(setting: str) -> Iterator[None]:
    """Ask about all rejected columns together, unless the setting is not to."""
    most = second_look.MOST_VALUES_TOGETHER
    second_look.MOST_VALUES_TOGETHER = 0 if setting == NOT_TOGETHER else most
    try:
        yield
    finally:
        second_look.MOST_VALUES_TOGETHER = most


def _selected_by_peer(peer: str, X: Any, y: Any, seed: int) -> list[int]:
    forest = RandomForestClassifier if len(np.unique(y)) <= 10 else RandomForestRegressor
    if peer == "Boruta":
        from boruta import BorutaPy

        searched = BorutaPy(forest(max_depth=5, n_jobs=1), n_estimators="auto", random_state=seed).fit(X, y)
        return np.flatnonzero(searched.support_).tolist()
    found = RFECV(forest(100, random_state=seed), step=0.2, cv=3).fit(X, y)
    return np.flatnonzero(found.support_).tolist()


@dataclass
class Score:
    """What was selected in some tables: true columns, tables with another one, others that shrinkage tested."""

    n_found: int = 0
    n_true: int = 0
    n_with_false: int = 0
    n_false: int = 0
    n_stand_in: int = 0
    n_tested: int = 0

    def add(self, chosen: set[int], truth: set[int], tested: set[int]) -> None:
        """Count what was selected in one table."""
        self.n_found, self.n_true = self.n_found + len(chosen & truth), self.n_true + len(truth)
        self.n_with_false, self.n_false = (
            self.n_with_false + bool(chosen - truth),
            self.n_false + len(chosen - truth),
        )
        # Columns stand in blocks of five; the true one of a block, if there is any, is its first.
        missed = truth - chosen
        self.n_stand_in += sum(5 * (x // 5) in missed for x in chosen - truth)
        self.n_tested += len(tested - truth)


def score_planted(
    problem: str, make: Callable[[int], Planted], setting: str, n_tables: int, kept: Kept
) -> tuple[Score, float]:
    """Return what was selected, and CPU seconds per table."""
    score, seconds = Score(), 0.0
    for seed in range(n_tables):
        X, y, truth = make(seed)
        chosen, tested, took = kept.answer(
            problem, setting, seed, partial(selected_of_asked, setting, X, y, seed)
        )
        score.add(set(chosen), truth, set(tested))
        seconds += took
    return score, seconds / n_tables


class Kept:
    """What was selected in each table, with CPU seconds, kept in a file so that a run can be continued."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.known = {tuple(key): answer for key, *answer in map(json.loads, lines)}

    def answer(
        self, problem: str, setting: str, seed: int, ask: Callable[[], tuple[list[int], set[int]]]
    ) -> tuple[list[int], list[int], float]:
        """Return what is known, or ask and keep it."""
        key = (problem, setting, seed)
        if key not in self.known:
            began = time.process_time()
            chosen, tested = ask()
            self._keep(key, [chosen, sorted(map(int, tested)), time.process_time() - began])
        return self.known[key]

    def scores(self, table: str, way: str, ask: Callable[[], Floats]) -> Floats:
        """Return the score of each fold, or ask and keep them."""
        key = (table, way)
        if key not in self.known:
            self._keep(key, ask().tolist())
        return np.array(self.known[key])

    def _keep(self, key: tuple[Any, ...], answer: list[Any]) -> None:
        self.known[key] = answer
        if self.path is not None:
            with self.path.open("a") as stream:
                stream.write(json.dumps([key, *answer]) + "\n")


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" for _ in head) + " |")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def planted(settings: Sequence[str], n_tables: int, sizes: Sequence[int], kept: Kept) -> None:
    rows = []
    for name, make in PROBLEMS.items():
        for n_columns in sizes:
            for setting in settings:
                score, cpu = score_planted(
                    f"{name}, {n_columns}",
                    lambda seed, make=make, n=n_columns: make(seed, 500, n),
                    setting,
                    n_tables,
                    kept,
                )
                rows.append([name, str(n_columns), setting, *_told(score, n_tables), f"{cpu:.1f}"])
                print("#", *rows[-1], flush=True)
    print_table(["the target is", "columns", "setting", *_TOLD, "CPU s"], rows)


_TOLD = (
    "found",
    "tables with others",
    "others selected of those that a shrink phase tested",
    "of these in a block whose true column was missed",
)


def _told(score: Score, n_tables: int) -> list[str]:
    return [
        f"{score.n_found / score.n_true:.3f}" if score.n_true else "-",
        f"{score.n_with_false} of {n_tables}",
        f"{score.n_false} of {score.n_tested}",
        str(score.n_stand_in),
    ]


def suppressors(settings: Sequence[str], n_tables: int, kept: Kept) -> None:
    rows = []
    makers = {"x1 - x2, correlated .95": suppressor(0.95), "x2 has no link alone": without_marginal_link}
    for name, make in makers.items():
        for setting in settings:
            score, cpu = score_planted(
                name, lambda seed, make=make: make(seed, 200, 10), setting, n_tables, kept
            )
            rows.append([name, setting, *_told(score, n_tables), f"{cpu:.1f}"])
            print("#", *rows[-1], flush=True)
    print_table(["the target is", "setting", *_TOLD, "CPU s"], rows)


def ordinary(
    settings: Sequence[str], n_tables: int, kept: Kept, tables: dict[str, Callable[[int], Planted]]
) -> None:
    rows = []
    for name, make in tables.items():
        for setting in settings:
            score, cpu = score_planted(name, make, setting, n_tables, kept)
            rows.append([name, setting, *_told(score, n_tables), f"{cpu:.1f}"])
            print("#", *rows[-1], flush=True)
    print_table(["the target is", "setting", *_TOLD, "CPU s"], rows)


def together(n_tables: int) -> None:
    """Print which columns a joint test of all rejected ones adds, in tables where little is missing too."""
    rows = []
    for name, make in COMPLETE.items():
        for setting in (NOT_TOGETHER, "default"):
            score, n_entered = Score(), 0
            for seed in range(n_tables):
                X, y, truth = make(seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fitted = fitted_by(setting, X, y, seed)
                chosen = set(fitted.blanket_.tolist())
                phases = fitted.results_["phase"]
                n_entered += any(phases[x] == "rest together" for x in chosen - truth)
                score.add(chosen, truth, set())
            others = f"{score.n_with_false} of {n_tables}"
            found = f"{score.n_found / score.n_true:.3f}"
            rows.append([name, setting, found, others, f"{n_entered} of {n_tables}"])
            print("#", *rows[-1], flush=True)
    print_table(["the target is", "setting", "found", "tables with others", "added together"], rows)


def copies(settings: Sequence[str], n_tables: int) -> None:
    """Print how often at least one of two near copies (correlation .99) of each true column is selected."""
    rows = []
    for setting in settings:
        found = 0
        for seed in range(n_tables):
            rng = np.random.default_rng([seed, 6])
            X = rng.normal(size=(300, 10))
            y = X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=300)
            twins = 0.99 * X[:, :3] + np.sqrt(1 - 0.99**2) * rng.normal(size=(300, 3))
            chosen = set(selected(setting, np.column_stack([X, twins]), y, seed))
            found += sum(bool(chosen & {i, 10 + i}) for i in range(3))
        rows.append([setting, f"{found / (3 * n_tables):.3f}"])
    print_table(["setting", "true columns with a twin selected"], rows)


def noise(settings: Sequence[str], n_tables: int) -> None:
    rows = []
    for n_rows, n_columns in ((40, 5000), (200, 500)):
        for setting in settings:
            n_wrong = 0
            for seed in range(n_tables):
                rng = np.random.default_rng([n_rows, n_columns, seed])
                X = rng.normal(size=(n_rows, n_columns))
                y = rng.permutation(np.arange(n_rows) % 2) if seed % 2 else rng.normal(size=n_rows)
                n_wrong += bool(selected(setting, X, y, seed))
            rows.append([f"{n_rows} x {n_columns}", setting, f"{n_wrong} of {n_tables}"])
    print_table(["rows x columns", "setting", "tables with a selection"], rows)


def madelon(settings: Sequence[str], n_folds: int) -> None:
    with np.load(Path(os.environ["PPFS_DATA"]) / "madelon.npz") as data:
        X, y = data["X"].astype(float), data["y"]
    rows = []
    for setting in settings:
        errors, sizes, began = [], [], time.process_time()
        for fold, (train, test) in enumerate(StratifiedKFold(10, shuffle=True, random_state=27).split(X, y)):
            if fold == n_folds:
                break
            chosen = selected(setting, X[train], y[train], 0)
            cpu = time.process_time() - began
            sizes.append(len(chosen))
            if chosen:
                forest = RandomForestClassifier(300, random_state=0).fit(X[train][:, chosen], y[train])
                errors.append(1 - forest.score(X[test][:, chosen], y[test]))
            else:
                errors.append(0.5)
            began = time.process_time() - cpu
        rows.append([setting, f"{np.mean(errors):.3f}", f"{np.mean(sizes):.1f}", f"{cpu:.0f}"])
    print_table(["setting", "error of a forest", "columns", "CPU s of all folds"], rows)


def centers(seed: int, n_rows: int, n_given: int, adds: bool) -> tuple[Floats, NDArray[np.intp]]:
    """Return normal columns around the centers of three classes; the last one adds to the others or follows two."""
    rng = np.random.default_rng([seed, n_rows, 77])
    y = rng.permutation(np.arange(n_rows) % 3)
    X = rng.normal(size=(3, n_given + 1))[y] * 5.0 / np.sqrt(10.0) + rng.normal(size=(n_rows, n_given + 1))
    if not adds:
        X[:, -1] = X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=n_rows)
    return X, y


def separated(n_tables: int) -> None:
    """Print how often the preset's test calls a column given others that separate three classes."""
    rows = []
    for n_given in (3, 10):
        for n_rows in (200, 500):
            called = []
            for adds in (False, True):
                pvalues = []
                for seed in range(n_tables):
                    X, y = centers(seed, n_rows, n_given, adds)
                    test = CrossFitPPI("panel", random_state=0)
                    pvalues.append(test.evaluate(X, y, n_given, given=range(n_given)).pvalue)
                called.append(f"{np.mean(np.array(pvalues) <= 0.05):.2f}")
            rows.append([str(n_given), str(n_rows), *called])
            print("#", *rows[-1], flush=True)
    print_table(["given columns", "rows", "called though it adds nothing", "called where it adds"], rows)


# What the preset kept of the breast cancer table before members were asked about again (decision 331).
ONE_PASS = (
    "mean radius",
    "mean texture",
    "mean perimeter",
    "mean compactness",
    "mean concave points",
    "smoothness error",
    "worst perimeter",
    "worst smoothness",
    "worst symmetry",
)


def members() -> None:
    """Print the accuracy of a logistic regression on nine columns of the breast cancer table, and without each."""
    table, y = load_breast_cancer(return_X_y=True, as_frame=True)
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    rows = []
    for left_out in (None, *ONE_PASS):
        columns = [name for name in ONE_PASS if name != left_out]
        rows.append([left_out or "none", f"{cross_val_score(line, table[columns], y, cv=cv).mean():.3f}"])
    print_table(["left out", "accuracy"], rows)


def halves(settings: Sequence[str], n_halves: int) -> None:
    """Print what is selected in half of the rows of the breast cancer table, and what the other half says of it."""
    X, y = load_breast_cancer(return_X_y=True)
    divisions = list(StratifiedShuffleSplit(n_halves, test_size=0.5, random_state=0).split(X, y))
    rows = []
    for setting in settings:
        n_selected = n_confirmed = 0
        scores = []
        for train, test in divisions:
            chosen = selected(setting, X[train], y[train], 0)
            n_selected += len(chosen)
            for x in chosen:
                others = [z for z in chosen if z != x]
                asked = CrossFitPPI("panel", random_state=0).evaluate(X[test], y[test], x, given=others)
                n_confirmed += asked.pvalue <= 0.05
            line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
            for model in (line, RandomForestClassifier(100, random_state=0)):
                scores.append(model.fit(X[train][:, chosen], y[train]).score(X[test][:, chosen], y[test]))
        shares = [
            n_selected / n_halves,
            n_confirmed / n_selected,
            np.mean(scores[::2]),
            np.mean(scores[1::2]),
        ]
        rows.append([setting, *(f"{share:.3f}" for share in shares)])
    print_table(
        ["setting", "columns", "with p <= 0.05 in the other half", "logistic regression", "forest"], rows
    )


def textbook(
    settings: Sequence[str], tables: dict[str, tuple[Floats, Any]], n_folds: int, kept: Kept
) -> None:
    """Print cross-validated scores with selection inside the folds, beside RFECV and all columns.

    The score is that of a line (ridge or logistic regression) or of a forest, whichever does better with all columns.
    A setting is short by a standard error of the other way's score, or by one of the difference in the same folds.
    """
    rows = []
    for name, (X, y) in tables.items():
        is_classified = len(np.unique(y)) <= 10
        line = LogisticRegression(max_iter=2000) if is_classified else Ridge()
        forest = (RandomForestClassifier if is_classified else RandomForestRegressor)(100, random_state=0)
        cv = (StratifiedKFold if is_classified else KFold)(n_folds, shuffle=True, random_state=0)
        models = {"line": make_pipeline(StandardScaler(), line), "forest": forest}
        scores = {
            kind: kept.scores(name, f"all, {kind}", partial(cross_val_score, model, X, y, cv=cv))
            for kind, model in models.items()
        }
        best = max(models, key=lambda kind, scores=scores: scores[kind].mean())
        peers = {"all columns": scores[best]}
        ways: dict[str, Any] = {"RFECV (forest)": RFECV(forest, step=0.2, cv=3)}
        ways |= {setting: PPFS.calibrated(random_state=0, **SETTINGS[setting]) for setting in settings}
        for way, selector in ways.items():
            ask = partial(_with_selection, selector, models[best], X, y, cv)
            with asking_together(way):
                found = kept.scores(name, f"{way}, {best}", ask)
            if way not in settings:
                peers[way] = found
                continue
            short = [_is_short(found, peer) for peer in peers.values()]
            rows.append([name, best, way, *map(_with_error, (*peers.values(), found))])
            rows[-1] += ["short" if any(one[kind] for one in short) else "" for kind in (0, 1)]
            print("#", *rows[-1], flush=True)
    kinds = ["by its standard error", "by that of the difference"]
    print_table(["table", "model", "setting", "all columns", "RFECV (forest)", "selected", *kinds], rows)


def _is_short(found: Floats, peer: Floats) -> tuple[bool, bool]:
    """Return whether scores are below others by a standard error of these, or of the difference fold by fold."""
    behind = peer.mean() - found.mean()
    return behind > _standard_error(peer), behind > _standard_error(peer - found)


def _standard_error(scores: Floats) -> float:
    return float(scores.std(ddof=1) / np.sqrt(len(scores)))


def _with_error(scores: Floats) -> str:
    return f"{scores.mean():.3f} ± {_standard_error(scores):.3f}"


def _with_selection(selector: Any, model: Any, X: Floats, y: Any, cv: Any) -> Floats:
    """Return the score of each fold; without a selected column, that of the most frequent class or of the mean."""
    scores = []
    for train, test in cv.split(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            support = clone(selector).fit(X[train], y[train]).get_support()
        guess = DummyClassifier() if is_classifier(model) else DummyRegressor()
        used = clone(model) if support.any() else guess
        columns = support if support.any() else np.ones_like(support)
        scores.append(used.fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test]))
    return np.array(scores)


def _as_numbers(frame: Any, target: str, without: Sequence[str] = ()) -> tuple[Floats, Any]:
    """Return columns as numbers, categories as indicators, and the target."""
    import pandas as pd

    frame = frame.dropna()
    X = pd.get_dummies(frame.drop(columns=[target, *without]), drop_first=True).to_numpy(dtype=float)
    y = frame[target]
    return X, pd.factorize(y)[0] if y.dtype.kind not in "if" else y.to_numpy(dtype=float)


def other_tables(folder: Path) -> dict[str, tuple[Floats, Any]]:
    """Return ten other tables: of ISLP, scikit-learn, statsmodels and lifelines."""
    import pandas as pd
    from lifelines import datasets as lifelines
    from sklearn.datasets import load_iris
    from statsmodels import datasets as statsmodels

    read = {name: pd.read_csv(folder / f"{name}.csv") for name in ("Smarket", "Weekly", "Publication")}
    star = statsmodels.star98.load_pandas().data
    star["share"] = star["NABOVE"] / (star["NABOVE"] + star["NBELOW"])
    return {
        "Smarket": _as_numbers(read["Smarket"], "Direction", ["Today"]),
        "Weekly": _as_numbers(read["Weekly"], "Direction", ["Today"]),
        "Publication": _as_numbers(read["Publication"], "time", ["mech"]),
        "iris": load_iris(return_X_y=True),
        "anes96": _as_numbers(statsmodels.anes96.load_pandas().data, "vote"),
        "star98": _as_numbers(star, "share", ["NABOVE", "NBELOW"]),
        "ccard": _as_numbers(statsmodels.ccard.load_pandas().data, "AVGEXP"),
        "rossi": _as_numbers(lifelines.load_rossi(), "arrest", ["week"]),
        "lung": _as_numbers(lifelines.load_lung(), "status", ["time"]),
        "gbsg2": _as_numbers(lifelines.load_gbsg2(), "cens", ["time"]),
    }


def further_tables(folder: Path) -> dict[str, tuple[Floats, Any]]:
    """Return ten further tables of the same packages, chosen by name before any was tried; at most 1,000 rows each."""
    import pandas as pd
    from lifelines import datasets as lifelines
    from statsmodels import datasets as statsmodels

    def some(frame: Any) -> Any:
        return frame.sample(1000, random_state=0) if len(frame) > 1000 else frame

    read = {name: some(pd.read_csv(folder / f"{name}.csv")) for name in ("Wage", "Default", "Bikeshare")}
    grunfeld = statsmodels.grunfeld.load_pandas().data
    return {
        "Wage": _as_numbers(read["Wage"], "wage", ["logwage"]),
        "Default": _as_numbers(read["Default"], "default"),
        "Bikeshare": _as_numbers(read["Bikeshare"], "bikers", ["casual", "registered"]),
        "BrainCancer": _as_numbers(pd.read_csv(folder / "BrainCancer.csv"), "status", ["time"]),
        "fair": _as_numbers(some(statsmodels.fair.load_pandas().data), "affairs"),
        "randhie": _as_numbers(some(statsmodels.randhie.load_pandas().data), "mdvis"),
        "modechoice": _as_numbers(statsmodels.modechoice.load_pandas().data, "choice", ["individual"]),
        "kidney": _as_numbers(lifelines.load_kidney_transplant(), "death", ["time"]),
        "statecrime": _as_numbers(statsmodels.statecrime.load_pandas().data, "violent"),
        "grunfeld": _as_numbers(grunfeld, "invest"),
    }


def textbook_tables(folder: Path) -> dict[str, tuple[Floats, Any]]:
    """Return ten tables as numbers: categories are indicators."""
    import pandas as pd
    from sklearn.datasets import load_diabetes, load_wine

    wanted = {
        "Carseats": "Sales",
        "Hitters": "Salary",
        "Boston": "medv",
        "Auto": "mpg",
        "College": "Apps",
        "Credit": "Balance",
        "OJ": "Purchase",
    }
    tables: dict[str, tuple[Floats, Any]] = {}
    for name, target in wanted.items():
        frame = pd.read_csv(folder / f"{name}.csv", na_values=["NA", "?"]).dropna()
        frame = frame.drop(columns=[c for c in ("Unnamed: 0", "name", "ID", "rownames") if c in frame])
        tables[name] = _as_numbers(frame, target)
    for name, load in {"diabetes": load_diabetes, "cancer": load_breast_cancer, "wine": load_wine}.items():
        tables[name] = load(return_X_y=True)
    return tables


TABLES = {"textbook": textbook_tables, "others": other_tables, "further": further_tables}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "part",
        choices=[
            "planted",
            "suppressors",
            "ordinary",
            "links",
            "copies",
            "noise",
            "madelon",
            "together",
            "separated",
            "members",
            "halves",
            "textbook",
        ],
    )
    parser.add_argument("--settings", nargs="*", default=["marginal", "joint", "both, second look"])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 100, 500])
    parser.add_argument("--tables-of", type=Path)
    parser.add_argument("--which", choices=list(TABLES), default="textbook", help="which ten tables")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="file that keeps what each table gave, to continue a run")
    given = parser.parse_args()
    kept = Kept(given.keep)
    if given.part == "planted":
        planted(given.settings, given.tables, given.sizes, kept)
    elif given.part == "suppressors":
        suppressors(given.settings, given.tables, kept)
    elif given.part in ("ordinary", "links"):
        tables = ORDINARY if given.part == "ordinary" else calibration_tables()
        ordinary(given.settings, given.tables, kept, tables)
    elif given.part == "members":
        members()
    elif given.part == "together":
        together(given.tables)
    elif given.part == "separated":
        separated(given.tables)
    elif given.part == "textbook":
        textbook(given.settings, TABLES[given.which](given.tables_of), given.folds, kept)
    else:
        {
            "copies": copies,
            "noise": noise,
            "madelon": madelon,
            "halves": halves,
        }[given.part](given.settings, given.tables)
    print(
        f"\nppfs {ppfs.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}; seeds 0 to {given.tables - 1}."
    )


if __name__ == "__main__":
    main()
