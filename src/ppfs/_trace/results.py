"""What became of every feature, as columns of a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from ppfs._frames import new_frame
from ppfs._trace.outcome import gave_way_to
from ppfs._trace.record import Trace
from ppfs._trace.steps import Step
from ppfs._trace.words import reason

_TYPES = {
    "column": nw.String(),
    "selected": nw.Boolean(),
    "importance": nw.Float64(),
    "importance_low": nw.Float64(),
    "importance_high": nw.Float64(),
    "pvalue": nw.Float64(),
    "adjusted_pvalue": nw.Float64(),
    "stability": nw.Float64(),
    "phase": nw.String(),
    "reason": nw.String(),
    "redundant_with": nw.List(nw.String()),
}


def results_table(values: Mapping[str, Sequence[Any]], backend: Any) -> Any:
    """Return the columns that ``results_`` has, in their order; those that are not given are empty.

    Parameters
    ----------
    values : mapping of str to sequence
        Some of the columns, one entry a column of X.

    backend : str or None
        The library of the frame; None takes one that is installed.
    """
    n = len(values["column"])
    empty: dict[Any, Any] = {nw.Float64(): float("nan"), nw.String(): "", nw.List(nw.String()): []}
    full = {
        name: list(values[name]) if name in values else [empty[kind]] * n for name, kind in _TYPES.items()
    }
    return new_frame(full, _TYPES, backend)


@dataclass(frozen=True)
class FeatureResults:
    """What became of each feature; lists with one entry a feature.

    Attributes
    ----------
    adjusted_pvalues : list of float
        Of the answer that decided; NaN where none did.

    stability : list of float
        Share of the folds whose blankets have the feature; NaN without folds.

    phases : list of str
        Where the decision fell; "" where no answer decided.

    reasons : list of str
        Why, in a few words.

    superseders : list of list of str
        The features that made it redundant.
    """

    adjusted_pvalues: list[float]
    stability: list[float]
    phases: list[str]
    reasons: list[str]
    superseders: list[list[str]]


def feature_results(trace: Trace) -> FeatureResults:
    """Read off a finished trace what became of each feature."""
    outcome = trace.outcome
    if outcome is None:
        raise ValueError("The search has not ended: there are no results yet.")
    decided = trace.deciding_steps()
    steps = [decided.get(feature) for feature in range(len(trace.names))]
    dropped = {
        feature
        for feature, step in enumerate(steps)
        if step is not None and step.decision == "dropped" and feature not in outcome.filled_up
    }
    about = _steps_about(trace, dropped)
    n_folds = len(outcome.blankets)
    counts = np.zeros(len(trace.names))
    for blanket in outcome.blankets:
        counts[list(blanket)] += 1
    return FeatureResults(
        adjusted_pvalues=[float("nan") if step is None else step.adjusted_pvalue for step in steps],
        stability=(counts / n_folds).tolist() if n_folds else [float("nan")] * len(steps),
        phases=["" if step is None else step.phase for step in steps],
        reasons=[reason(feature, outcome, step) for feature, step in enumerate(steps)],
        superseders=[
            [trace.names[other] for other in gave_way_to(about[feature], outcome.fold, outcome.blanket)]
            if feature in dropped
            else []
            for feature in range(len(steps))
        ],
    )


def _steps_about(trace: Trace, features: Iterable[int]) -> dict[int, list[Step]]:
    """Return all steps about some features, in one pass: a wide table has many features and few of these."""
    wanted = set(features)
    about: defaultdict[int, list[Step]] = defaultdict(list)
    for step in trace.steps_about(wanted):
        about[step.feature].append(step)
    return about
