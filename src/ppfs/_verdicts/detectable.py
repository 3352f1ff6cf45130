"""The smallest effect that a table with this number of rows shows with probability 0.8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from ppfs._data import Table
from ppfs._fitting import DEFAULT_PANEL, estimator_for, usable_members
from ppfs._trace import Detectable, Trace
from ppfs._verdicts.measuring import losses_in_sample
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence import CrossFitPPI, FisherZ, IndependenceTest

# The probability with which an effect is found.
POWER = 0.8

# The effect that the panel's test finds, as a multiple of what the best test of a line would find, and the effects of
# other links as multiples of a line's: measured by benchmarks/verdicts/detectable.py.
_OF_THE_PANEL = 1.25
OTHER_LINKS = {"line": 1.0, "saturating": 1.1, "step": 1.4, "parabola": 1.7}

# More regressors than this share of the rows leave no spread to speak of.
_MOST_REGRESSORS = 0.5

_LOSSES = ("auto", "squared", "brier")


def detectable_of(
    trace: Trace,
    table: Table,
    test: IndependenceTest,
    alpha: float,
    level_alone: Callable[[int, int], float],
) -> Detectable | None:
    """Return the smallest effects that would have been found in a table; None where the test has no known power.

    A column that explains the share f2 of what is unexplained without it is found with probability 0.8 where
    ``n * f2 = (z(level / 2) + z(0.2))**2``. Replacing it by another row's value raises the mean squared error, or the
    Brier score, by ``2 * f2`` times what is unexplained. The panel's test needs a little more, as measured. The effects
    are those of lines. Nothing is fitted again but one line of the selected columns.

    Parameters
    ----------
    level_alone : callable
        ``level_alone(n_asked, n_called)``: how small a p-value has to be in the growth phase to be called with others.
    """
    outcome = trace.outcome
    if outcome is None:
        return None
    asked = trace.question_arrays()
    features = asked.features[asked.is_marginal]
    n_asked = int(np.count_nonzero(np.bincount(features))) if features.size else 0
    if not n_asked:
        return None
    n_called = len(trace.once_favored(outcome.fold))
    distances = [
        float(norm.isf(level / 2) + norm.isf(1 - POWER))
        for level in (level_alone(n_asked, min(n_asked, n_called + 1)), alpha)
    ]
    rows, blanket = effective_rows(table), outcome.blanket
    if isinstance(test, FisherZ):
        alone, given = (
            float(np.tanh(distance / np.sqrt(max(1.0, rows - n_given - 3))))
            for distance, n_given in zip(distances, (0, len(blanket)), strict=True)
        )
    elif isinstance(test, CrossFitPPI) and test.loss in _LOSSES and _is_measured(table):
        spreads = (_spread(table), _left_by(table, blanket))
        alone, given = (
            2 * _OF_THE_PANEL * spread * distance**2 / rows
            for spread, distance in zip(spreads, distances, strict=True)
        )
    else:
        return None
    decided = trace.deciding_steps()
    effects = [step.effect for x in blanket if (step := decided.get(x)) is not None and step.effect > 0]
    return Detectable(alone, given, min(effects, default=float("nan")))


def rows_needed(detectable: Detectable, trace: Trace, test: IndependenceTest, n_rows: int) -> str:
    """Return a sentence about an empty selection: what would have been found, and what the strongest effect needs."""
    asked = trace.question_arrays()
    alone = np.flatnonzero(asked.is_marginal & np.isfinite(asked.effects))
    if not alone.size:
        return ""
    best = alone[asked.effects[alone].argmax()]
    effect, name = float(asked.effects[best]), trace.names[int(asked.features[best])]
    found = (
        f"no column was selected: these {n_rows:,} rows find an effect of {detectable.alone:.3g} with probability "
        f"{POWER:g}"
    )
    if effect <= 0 or effect >= detectable.alone:
        return found
    # The rows needed are inverse to an effect on the risk, and to the square of a correlation.
    power = 2 if isinstance(test, FisherZ) else 1
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


def _is_measured(table: Table) -> bool:
    return table.task == "classification" or (table.task == "regression" and table.y.dtype.kind in "fiu")


def _spread(table: Table) -> float:
    """Return the risk of the best constant: the variance, or the Brier score of the shares of the classes."""
    if table.task == "regression":
        return float(np.var(table.y, axis=0).mean())
    shares = np.unique(table.y, return_counts=True)[1] / table.n_rows
    return float(1 - (shares**2).sum())


def _left_by(table: Table, features: Sequence[int]) -> float:
    """Return the risk that a line of some features leaves, corrected for the number of its coefficients."""
    if not features:
        return _spread(table)
    n_regressors = int(sum(place.stop - place.start for place in table.places(features)))
    if n_regressors > _MOST_REGRESSORS * table.n_rows:
        return float("nan")
    line: Any = estimator_for(usable_members(DEFAULT_PANEL, table)[0], table.task)
    try:
        with np.errstate(all="ignore"):
            risk = losses_in_sample(table, line, sorted(features)).mean()
    except EstimatorFailedError:
        # The numbers are too large for sums of squares: nothing is stated.
        return float("nan")
    return float(min(_spread(table), risk * table.n_rows / (table.n_rows - n_regressors - 1)))
