"""What counting small p-values costs on Arcene (100 rows, 10,000 columns), beside growth without it.

    python benchmarks/calibration/tail_cost.py --models logistic panel

One line per model is printed as soon as it is done: CPU seconds of the growth phase with and without permutations, and
the number of candidates.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

from provenance import describe
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ppfs import PPFS
from ppfs.blanket._steps.growth import grow_marginally
from ppfs.datasets import load_dataset
from ppfs.independence import CrossFitPPI

MODELS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "panel": lambda: "panel",
    "tree": lambda: None,
    "forest": lambda: RandomForestClassifier(100),
}


class _TimedGrowth(PPFS):
    """A search that ends with its candidates, and tells how long they took."""

    def _search(self, inquiry: Any) -> list[int]:
        start = time.process_time()
        found = grow_marginally(inquiry, inquiry.candidates, self.correction)
        type(self).seconds = time.process_time() - start
        return [x for x, _ in found]

    seconds = 0.0


def grown(model: str, X: Any, y: Any, *, is_counted: bool) -> tuple[int, float, str]:
    """Return the number of candidates, the CPU seconds of growth, and what was counted."""
    test = CrossFitPPI(MODELS[model](), exact_tail="auto" if is_counted else False)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        selector = _TimedGrowth(independence=test, correction="bh", random_state=0).fit(X, y)
    notes = [note for note in selector.trace_.notes if note.startswith("exact growth: ")]
    return int(selector.blanket_.size), _TimedGrowth.seconds, notes[0] if notes else ""


def select(model: str, X: Any, y: Any) -> None:
    """Print what the whole search selects, growth and shrink, and what it takes."""
    began = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        selector = PPFS.calibrated(MODELS[model](), random_state=0).fit(X, y)
    seconds = time.process_time() - began
    names = ", ".join(map(str, selector.blanket_))
    print(
        f"{model}: {selector.blanket_.size} of {X.shape[1]} columns in {seconds:.0f} CPU seconds: {names}",
        flush=True,
    )


def main() -> None:
    """Grow with every model, twice; or search to the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--whole", action="store_true", help="search to the end, once")
    options = parser.parse_args()
    arcene = load_dataset("arcene")
    if options.whole:
        for model in options.models:
            select(model, arcene.X, arcene.y)
        print(f"\n{describe()[0]}")
        return
    print("| model | t-test: columns | seconds | counted: columns | seconds | times | what was counted |")
    print("| --- |" + " --- |" * 6)
    for model in options.models:
        # The first search compiles.
        grown(model, arcene.X[:, :300], arcene.y, is_counted=True)
        n_approximate, plain, _ = grown(model, arcene.X, arcene.y, is_counted=False)
        n_counted, seconds, what = grown(model, arcene.X, arcene.y, is_counted=True)
        print(
            f"| {model} | {n_approximate} | {plain:.1f} | {n_counted} | {seconds:.1f} | "
            f"{seconds / plain:.1f} | {what} |",
            flush=True,
        )
    print(f"\n{describe()[0]}")


if __name__ == "__main__":
    main()
