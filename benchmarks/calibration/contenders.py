"""The tests that are compared, by name.

A predictive test is called ``family-count/estimator``: the count is the number of splits, or of folds for the
cross-fitted ones. ``cross-fit-5/tree`` is `CrossFitPPI` with 5 folds and a decision tree. The classical tests have
no model to choose and are called by their own names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

from problems import Problem, Task
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import independence
from ppfs.independence import (
    PPI,
    ChiSquared,
    GSquared,
    IndependenceTest,
    LikelihoodRatio,
    PartialCorrelationT,
)

# The randomisation p-value is at least 1 / (draws + 1): with 99 draws the level of 1 % can be reached.
N_RANDOMISATION_DRAWS = 99

_BOOSTING = {"max_iter": 10, "early_stopping": False}
_FOREST = {"n_estimators": 10, "n_jobs": 1}

#: The model of each name, for classification and for regression. They are left unseeded: the test seeds them.
ESTIMATORS: dict[str, dict[Task, Callable[[], Any]]] = {
    "linear": {"classification": LogisticRegression, "regression": Ridge},
    "tree": {"classification": DecisionTreeClassifier, "regression": DecisionTreeRegressor},
    "boosting": {
        "classification": lambda: HistGradientBoostingClassifier(**_BOOSTING),
        "regression": lambda: HistGradientBoostingRegressor(**_BOOSTING),
    },
    "forest": {
        "classification": lambda: RandomForestClassifier(**_FOREST),
        "regression": lambda: RandomForestRegressor(**_FOREST),
    },
}


def _ppi(**parameters: Any) -> Callable[[Any, int, int], IndependenceTest]:
    return lambda estimator, count, seed: PPI(estimator, n_splits=count, random_state=seed, **parameters)


def _cross_fit(**parameters: Any) -> Callable[[Any, int, int], IndependenceTest]:
    return lambda estimator, count, seed: independence.CrossFitPPI(
        estimator, n_folds=count, random_state=seed, **parameters
    )


#: The predictive tests: from an estimator, a number of splits or folds and a seed to a test.
FAMILIES: dict[str, Callable[[Any, int, int], IndependenceTest]] = {
    "paper": _ppi(),
    "wilcoxon-conditional": _ppi(knockoff="conditional"),
    "corrected-permutation": _ppi(significance="corrected-t"),
    "corrected-conditional": _ppi(significance="corrected-t", knockoff="conditional"),
    "cross-fit": _cross_fit(significance="paired-t", n_draws=10),
    "cross-fit-randomisation": _cross_fit(significance="randomisation", n_draws=N_RANDOMISATION_DRAWS),
}

#: The families whose level is claimed; the others are there to be compared with.
CALIBRATED = ("corrected-conditional", "cross-fit", "cross-fit-randomisation")


def _is_categorical(problem: Problem) -> bool:
    return problem.task == "classification" and problem.kind == "discrete"


def _is_gaussian(problem: Problem) -> bool:
    return problem.task == "regression" and problem.kind == "continuous"


#: The classical tests and their problems. For a numeric target the likelihood-ratio test is the F-test.
CLASSICAL: dict[str, tuple[Callable[[], IndependenceTest], Callable[[Problem], bool]]] = {
    "g-squared": (GSquared, _is_categorical),
    "chi-squared": (ChiSquared, _is_categorical),
    "partial-correlation": (PartialCorrelationT, _is_gaussian),
    "likelihood-ratio": (LikelihoodRatio, lambda problem: True),
}

#: What no test can beat where the link is linear: it knows the model.
ORACLE = "likelihood-ratio"

#: Everything in the table of sizes, cheapest first. With models that take long to fit the tests
#: have fewer splits: 30 would cost days.
IN_SIZE_TABLE = (
    *CLASSICAL,
    "cross-fit-5/tree",
    "cross-fit-5/linear",
    "paper-30/tree",
    "corrected-conditional-30/tree",
    "paper-30/linear",
    "corrected-conditional-10/linear",
    "corrected-permutation-10/linear",
    "wilcoxon-conditional-10/linear",
    "cross-fit-randomisation-5/tree",
    "cross-fit-randomisation-5/linear",
    "cross-fit-5/boosting",
    "paper-10/boosting",
    "corrected-conditional-5/boosting",
    "cross-fit-5/forest",
    "paper-10/forest",
    "corrected-conditional-5/forest",
)


@dataclass(frozen=True)
class PredictiveName:
    """The parts of a predictive test's name."""

    family: str
    count: int
    estimator: str

    @classmethod
    def parse(cls, name: str) -> PredictiveName:
        """Take a name apart.

        Examples
        --------
        >>> PredictiveName.parse("cross-fit-5/tree")
        PredictiveName(family='cross-fit', count=5, estimator='tree')
        """
        test, _, estimator = name.partition("/")
        family, _, count = test.rpartition("-")
        if family not in FAMILIES or estimator not in ESTIMATORS or not count.isdigit():
            raise ValueError(
                f"{name!r} is no contender. Classical tests are {', '.join(CLASSICAL)}; the others are called "
                f"family-count/estimator with a family of {', '.join(FAMILIES)} and an estimator of "
                f"{', '.join(ESTIMATORS)}."
            )
        return cls(family, int(count), estimator)


def make(name: str, task: Task, seed: int) -> IndependenceTest:
    """Return the test of a name, seeded."""
    if name in CLASSICAL:
        return CLASSICAL[name][0]()
    parts = PredictiveName.parse(name)
    return FAMILIES[parts.family](ESTIMATORS[parts.estimator][task](), parts.count, seed)


def suits(name: str, problem: Problem) -> bool:
    """Return whether a test is made for a problem; the predictive ones are for all."""
    return name not in CLASSICAL or CLASSICAL[name][1](problem)


def family_of(name: str) -> str:
    """Return the family of a predictive test, or the name of a classical one."""
    return name if name in CLASSICAL else PredictiveName.parse(name).family


def is_calibrated(name: str) -> bool:
    """Return whether the test claims to hold its level."""
    return family_of(name) in CALIBRATED


def matches(name: str, patterns: list[str] | None) -> bool:
    """Return whether a name fits one of the shell patterns, such as ``cross-fit-*``; no patterns fit all."""
    return patterns is None or any(fnmatch(name, pattern) for pattern in patterns)
