"""The smallest effect that a search in these rows finds with probability 0.8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs._fitting import DEFAULT_PANEL, DefaultMember, estimator_for, usable_members
from ppfs._trace import SECOND_LOOK, Detectable, QuestionArrays, Trace
from ppfs._verdicts.measuring import predicted_in_sample
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence import SHARE_OF_THE_LINE, CrossFitPPI, FisherZ, IndependenceTest, PartialCorrelationT

# The probability with which an effect is found.
POWER = 0.8

# With more regressors than this share of the rows, the residuals are too small to be measured.
_MOST_REGRESSORS = 0.5

# This many pairs of test statistics are drawn, and as many with the opposite sign; the probability of finding a column
# is the share of pairs that find it.
_N_DRAWS = 4_000

_LOSSES = ("auto", "squared", "brier")


@dataclass(frozen=True)
class Levels:
    """How small p-values have to be in the questions that a dropped column had to pass.

    Attributes
    ----------
    growth : float
        In the growth phase, on its own, after the correction for the number of columns.

    shrink : float
        Given the selected columns, once growth has called it.

    second_look : float
        Given the selected columns, if growth has not called it; 0 without a second look.
    """

    growth: float
    shrink: float
    second_look: float


def detectable_of(
    trace: Trace,
    table: Table,
    test: IndependenceTest,
    alpha: float,
    level: Callable[[int, int], float],
    has_second_look: bool,
) -> Detectable | None:
    """Return the smallest effects that would have been found in a table; None where the test has no known power.

    A column that explains the share f2 of what is unexplained without it moves the test statistic of a line, given the
    selected columns, by ``d = sqrt(n * f2)`` standard errors, and the statistic of the column on its own by
    ``rho * d``, with rho squared the share of the target's spread that the selected columns leave. The correlation of
    both statistics is rho as well. A column is found if both are significant, or the one given the selected columns at
    the level of the second look; d is the number for which that has probability 0.8. Replacing the column by another
    row's value then raises the mean squared error, or the Brier score, by ``2 * f2`` times what is unexplained.

    The effects are those of lines. Nothing is fitted again but one line of the selected columns.

    Parameters
    ----------
    level : callable
        ``level(n_asked, n_called)``: how small a p-value has to be to be called with others.

    has_second_look : bool
        Whether rejected columns are asked about again, given the selected ones.
    """
    outcome = trace.outcome
    if outcome is None or not _has_known_power(test, table):
        return None
    asked = trace.question_arrays(outcome.fold)
    n_asked = _n_distinct(asked.features[asked.is_marginal])
    if not n_asked:
        return None
    n_called = _n_distinct(asked.features[asked.is_marginal & asked.is_favorable])
    blanket, n_rest = outcome.blanket, max(1, n_asked - len(outcome.blanket))
    levels = Levels(
        level(n_asked, min(n_asked, n_called + 1)),
        alpha,
        level(n_rest, 1) if has_second_look and blanket else 0.0,
    )
    left = _left_by(table, blanket, _explained(trace, asked, blanket))
    is_panel = isinstance(test, CrossFitPPI)
    if is_panel:
        # The p-values of several functions are combined by their weights; a line has this share.
        of_growth = _share_alone(table)
        levels = Levels(
            of_growth * levels.growth, SHARE_OF_THE_LINE * alpha, SHARE_OF_THE_LINE * levels.second_look
        )
    freedom = max(1, table.classes.size - 1) if table.task == "classification" and is_panel else 1
    never = Levels(1.0, levels.shrink, 0.0)
    distances = [_distance(one, left.share, freedom) for one in (levels, never)]
    rows = effective_rows(table)
    if is_panel:
        kurtosis = 0.0 if table.task == "classification" else 3.0 if blanket else 1.0
        found = [2 * left.scale * _share_explained(distance, rows, kurtosis) for distance in distances]
    else:
        found = [np.tanh(distance / np.sqrt(max(1.0, rows - len(blanket) - 3))) for distance in distances]
    decided = trace.deciding_steps()
    effects = [step.effect for x in blanket if (step := decided.get(x)) is not None and step.effect > 0]
    return Detectable(float(found[0]), float(found[1]), min(effects, default=float("nan")))


def _n_distinct(features: NDArray[np.intp]) -> int:
    """Return how many features there are, without sorting: there may be a million."""
    return int(np.count_nonzero(np.bincount(features))) if features.size else 0


def _share_explained(distance: float, rows: float, kurtosis: float) -> float:
    """Return the share of what is unexplained that moves the statistic of a line by some standard errors.

    Given other columns, the statistic divides the sum of products by the root of their squares, and for numbers the
    squares hold the effect itself: ``distance**2 = rows * f2 / (1 + k * f2)``, with k the kurtosis of a normal column.
    Given nothing, rows are rearranged, and what is divided by is the target's own spread: k is 1.
    """
    left = rows - kurtosis * distance**2
    return distance**2 / left if left > 0 else float("nan")


def _has_known_power(test: IndependenceTest, table: Table) -> bool:
    if isinstance(test, CrossFitPPI):
        is_measured = table.task == "classification" or (
            table.task == "regression" and table.y.dtype.kind in "fiu" and table.y.ndim == 1
        )
        return test.estimator == DEFAULT_PANEL and test.loss in _LOSSES and is_measured
    return isinstance(test, FisherZ | PartialCorrelationT)


def _share_alone(table: Table) -> float:
    """Return the share of the line in the combination of the panel's answers about a column on its own."""
    asked = [one for one in usable_members(DEFAULT_PANEL, table) if one.is_asked_given(0)]
    line: DefaultMember = asked[0]
    return float(line.weight / sum(one.weight for one in asked))


def _distance(levels: Levels, share_left: float, freedom: int) -> float:
    """Return by how many standard errors a statistic has to move so that the column is found with probability 0.8.

    The statistics have one component per degree of freedom; the column moves the first. They are drawn, always with
    the same random numbers: for one degree of freedom and one question it is z(level / 2) + z(0.2).
    """
    draws = np.random.default_rng(0).normal(size=(2, _N_DRAWS, freedom))
    noise, own = np.concatenate([draws, -draws], axis=1)
    rho = np.sqrt(min(1.0, share_left))
    cut = chi2.isf([levels.growth, levels.shrink, max(levels.second_look, 1e-300)], freedom)

    def is_found_often(distance: float) -> bool:
        given = noise + distance * np.eye(freedom)[0]
        alone = rho * given + np.sqrt(1.0 - rho**2) * own
        given2, alone2 = (given**2).sum(axis=1), (alone**2).sum(axis=1)
        is_found = (given2 > cut[2]) | ((given2 > cut[1]) & (alone2 > cut[0]))
        return float(is_found.mean()) >= POWER

    low, high = 0.0, float((np.sqrt(cut[:2].max()) + 10.0) / max(rho, 1e-3))
    for _ in range(18):
        middle = (low + high) / 2
        low, high = (low, middle) if is_found_often(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class _Left:
    """What the selected columns leave of the target.

    Attributes
    ----------
    share : float
        Of its spread.

    scale : float
        The spread that is left. Rows of classes differ in it, and the effect of a line is larger where it is: for
        classes it is the mean square of the rows' spread over its mean.
    """

    share: float
    scale: float


def _left_by(table: Table, features: Sequence[int], explained: float) -> _Left:
    """Return what some features leave: by a line of them, or by the test's own regressions if these explain more."""
    spread = _spread(table)
    if not features:
        return _Left(1.0, spread)
    n_regressors = int(sum(place.stop - place.start for place in table.places(features)))
    if n_regressors > _MOST_REGRESSORS * table.n_rows:
        return _Left(1.0, float("nan"))
    line: Any = estimator_for(usable_members(DEFAULT_PANEL, table)[0], table.task)
    try:
        with np.errstate(all="ignore"):
            losses, predicted = predicted_in_sample(table, line, sorted(features))
    except EstimatorFailedError:
        # The numbers are too large for sums of squares: nothing is stated.
        return _Left(1.0, float("nan"))
    by_line = losses.mean() * table.n_rows / (table.n_rows - n_regressors - 1)
    left = float(min(spread, by_line, spread * (1.0 - explained)))
    return _Left(left / spread if spread > 0 else 1.0, left * _unevenness(predicted))


def _unevenness(predicted: Floats) -> float:
    """Return the mean square over the squared mean of the rows' spread; 1 for numbers."""
    if predicted.ndim == 1:
        return 1.0
    of_rows = (predicted * (1.0 - predicted)).sum(axis=1)
    return float((of_rows**2).mean() / max(of_rows.mean() ** 2, 1e-300))


def _explained(trace: Trace, asked: QuestionArrays, features: Sequence[int]) -> float:
    """Return the share of the target that the test's own regressions on some features explain; 0 where unknown."""
    beside = asked.features[asked.phases == SECOND_LOOK][-1:].tolist()
    shares = [
        float(step.explained[0])
        for step in (trace.steps_about(beside) if beside else ())
        if step.explained and set(step.others) == set(features)
    ]
    return max((share for share in shares if np.isfinite(share)), default=0.0)


def rows_needed(detectable: Detectable, trace: Trace, test: IndependenceTest, n_rows: int) -> str:
    """Return a sentence about an empty selection: what would have been found, and what the strongest effect needs."""
    asked = trace.question_arrays()
    alone = np.flatnonzero(asked.is_marginal & np.isfinite(asked.effects))
    if not alone.size or not np.isfinite(detectable.alone):
        return ""
    best = alone[asked.effects[alone].argmax()]
    effect, name = float(asked.effects[best]), trace.names[int(asked.features[best])]
    found = (
        f"no column was selected: with these {n_rows:,} rows a linear effect of {detectable.alone:.3g} would have been "
        f"found with probability {POWER:g}"
    )
    if effect <= 0 or effect >= detectable.alone:
        return found
    # The rows needed are inverse to an effect on the risk, and to the square of a correlation.
    power = 1 if isinstance(test, CrossFitPPI) else 2
    needed = int(np.ceil(n_rows * (detectable.alone / effect) ** power))
    return (
        f"{found}; the largest effect seen is {effect:.3g} ({name!r}), and if it were real, about {needed:,} rows "
        "would be needed to find it"
    )


def effective_rows(table: Table) -> float:
    """Return how many independent rows of equal weight a table is worth."""
    if table.groups is not None:
        return float(np.unique(table.groups).size)
    if table.weights is None:
        return float(table.n_rows)
    return float(table.weights.sum() ** 2 / (table.weights**2).sum())


def _spread(table: Table) -> float:
    """Return the risk of the best constant: the variance, or the Brier score of the shares of the classes."""
    if table.task == "regression":
        return float(np.var(table.y, axis=0).mean())
    shares = np.unique(table.y, return_counts=True)[1] / table.n_rows
    return float(1 - (shares**2).sum())
