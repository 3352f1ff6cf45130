"""Which searches run on which problems, and with which test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs.blanket import (
    FBED,
    HITONMB,
    IAMB,
    IAMBFDR,
    MMMB,
    SGAI,
    FastIAMB,
    GrowShrink,
    IAMBnPC,
    InterIAMB,
    InterIAMBnPC,
    MixedMB,
)
from ppfs.independence import PPI, ChiSquared, CrossFitPPI, FisherZ, GSquared, LikelihoodRatio

ALPHA = 0.01

SEARCHES = {
    search.__name__: search
    for search in (
        GrowShrink,
        IAMB,
        InterIAMB,
        FastIAMB,
        IAMBnPC,
        InterIAMBnPC,
        IAMBFDR,
        FBED,
        MMMB,
        HITONMB,
        SGAI,
    )
}

TESTS = {
    "g2": lambda: GSquared(),
    "chi2-moments": lambda: ChiSquared(exact_moments=True, min_rows_per_cell=1),
    "fisher-z": lambda: FisherZ(),
    "likelihood-ratio": lambda: LikelihoodRatio(),
}

# Where the predictive tests join, with a shallow tree so that they can be asked conditional questions.
SMALL = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "continuous", "mixed")


# Where searches over subsets take seconds to minutes for each target: columns with up to 100 levels, for
# which hardly any table has rows enough to separate anything, or hundreds of related columns.
HARD = ("mildew", "barley", "pigs", "link")
SUBSET_SEARCHES = ("MMMB", "HITONMB", "SGAI")


def contenders(problem: str) -> dict[tuple[str, str], Callable[[], Any]]:
    """Return what runs on a problem: by names of search and test, a function that makes the selector."""
    chosen: dict[tuple[str, str], Callable[[], Any]] = {}
    for test in _tests_for(problem):
        for name, search in SEARCHES.items():
            if problem in HARD and name in SUBSET_SEARCHES:
                continue
            chosen[name, test] = lambda search=search, test=test: search(
                independence=TESTS[test](), alpha=ALPHA
            )
    if problem == "mixed":
        chosen["MixedMB", "likelihood-ratio"] = lambda: MixedMB(alpha=ALPHA)
    if problem in SMALL:
        tree = DecisionTreeRegressor if problem == "continuous" else DecisionTreeClassifier
        ppi = lambda: PPI(tree(max_depth=4), n_splits=10, significance="wilcoxon")  # noqa: E731
        chosen["PPFS", "ppi"] = lambda: PPFS(independence=ppi(), alpha=ALPHA, random_state=0)
        chosen["FBED", "ppi"] = lambda: FBED(independence=ppi(), alpha=ALPHA, random_state=0)
        cross_fit = lambda: CrossFitPPI(tree(max_depth=4))  # noqa: E731
        chosen["PPFS", "cross-fit-ppi"] = lambda: PPFS(independence=cross_fit(), alpha=ALPHA, random_state=0)
        chosen["FBED", "cross-fit-ppi"] = lambda: FBED(independence=cross_fit(), alpha=ALPHA, random_state=0)
    return chosen


def _tests_for(problem: str) -> tuple[str, ...]:
    if problem == "continuous":
        return ("fisher-z",)
    if problem == "mixed":
        return ("likelihood-ratio",)
    return ("g2", "chi2-moments")
