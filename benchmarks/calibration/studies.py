"""What is to be run: which contender, on which problem, with which effect, how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from contenders import CLASSICAL, IN_SIZE_TABLE, ORACLE, is_calibrated, suits
from effects import ORACLE_POWERS, effect_for
from problems import CORRELATIONS, ROWS, TASKS, Problem, all_problems

# Enough to tell 5 % from 7 %: the standard error is 0.7 points.
MANY = 1000
SOME = 250

IN_POWER_CURVES = {
    ORACLE: MANY,
    "cross-fit-5/linear": MANY,
    "cross-fit-5/tree": SOME,
    "corrected-conditional-10/linear": SOME,
    "corrected-conditional-30/tree": SOME,
    "cross-fit-randomisation-5/linear": SOME,
}

# Where the number of fits is varied: one problem a task, at half-way power.
FITS_ROWS, FITS_CORR, FITS_ORACLE_POWER = 200, 0.5, 0.7
COUNTS = {"cross-fit": (2, 5, 10, 20), "paper": (5, 10, 30, 100), "corrected-conditional": (5, 10, 30, 100)}
FITS_ESTIMATORS = ("linear", "tree")


@dataclass(frozen=True)
class Series:
    """Replicates of one contender in one cell."""

    contender: str
    problem: Problem
    effect: float
    n_replicates: int

    @property
    def key(self) -> tuple[str, str, str]:
        """The values that identify a series of a study, as written in the results."""
        return self.contender, self.problem.name, f"{self.effect:g}"


def size_series() -> Iterator[Series]:
    """Yield every contender under the null of every problem it is made for.

    How far a test is from its level needs fewer replicates than whether it holds it.
    """
    for contender, problem in product(IN_SIZE_TABLE, all_problems()):
        if suits(contender, problem):
            is_exact = contender in CLASSICAL or is_calibrated(contender)
            yield Series(contender, problem, 0.0, MANY if is_exact else SOME)


def power_series() -> Iterator[Series]:
    """Yield some contenders where the oracle's power goes from 20 to 97 %; linear link, continuous columns."""
    for contender, n_replicates in IN_POWER_CURVES.items():
        for task, n_rows, corr in product(TASKS, ROWS, CORRELATIONS):
            problem = Problem(task, "continuous", "linear", n_rows, corr)
            for power in ORACLE_POWERS:
                yield Series(contender, problem, effect_for(power, problem), n_replicates)


def fits_series() -> Iterator[Series]:
    """Yield the predictive tests with ever more splits or folds, under the null and not."""
    for task in TASKS:
        problem = Problem(task, "continuous", "linear", FITS_ROWS, FITS_CORR)
        effects = (0.0, effect_for(FITS_ORACLE_POWER, problem))
        for effect, (family, counts), estimator in product(effects, COUNTS.items(), FITS_ESTIMATORS):
            for count in counts:
                yield Series(f"{family}-{count}/{estimator}", problem, effect, SOME)


#: By name of the study, which is also the name of its file of results.
STUDIES = {"size": size_series, "power": power_series, "fits": fits_series}


def series_of(study: str, at_most: int) -> list[Series]:
    """Return a study's series with no more replicates than wanted."""
    return [replace(series, n_replicates=min(series.n_replicates, at_most)) for series in STUDIES[study]()]
