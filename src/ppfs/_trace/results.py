"""The result for every feature, as columns of a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._data import new_frame
from ppfs._trace.batch import StepBatch
from ppfs._trace.outcome import Outcome, made_redundant_by
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
    "detectable": nw.Float64(),
    "at_least": nw.Float64(),
}


def results_table(values: Mapping[str, Sequence[Any]], backend: Any) -> Any:
    """Return the columns of ``results_``, in order; those that are not given are empty.

    Parameters
    ----------
    values : mapping of str to sequence
        Some of the columns, one entry per column of X.

    backend : str or None
        The library of the frame; None uses one that is installed.
    """
    n = len(values["column"])
    empty: dict[Any, Any] = {nw.Float64(): float("nan"), nw.String(): "", nw.List(nw.String()): []}
    full = {
        name: list(values[name]) if name in values else [empty[kind]] * n for name, kind in _TYPES.items()
    }
    return new_frame(full, _TYPES, backend)


@dataclass(frozen=True)
class FeatureResults:
    """The result for each feature, as lists with one entry per feature.

    Attributes
    ----------
    adjusted_pvalues : list of float
        Of the answer that decided; NaN if there is none.

    stability : list of float
        Share of the folds that selected the feature; NaN without folds.

    phases : list of str
        The phase of the deciding answer; "" if there is none.

    reasons : list of str
        The reason, in a few words.

    superseders : list of list of str
        The features that made it redundant.

    detectable : list of float
        The smallest effect that would have been found; NaN for selected features, and where that is not known.

    root_effects : ndarray of shape (n_features, 2)
        The root of each effect and its standard error; NaN where they were not measured.
    """

    adjusted_pvalues: list[float]
    stability: list[float]
    phases: list[str]
    reasons: list[str]
    superseders: list[list[str]]
    detectable: list[float]
    root_effects: Floats


def feature_results(trace: Trace) -> FeatureResults:
    """Return the result for each feature from a finished trace."""
    outcome = trace.outcome
    if outcome is None:
        raise ValueError("The search has not ended: there are no results yet.")
    read = _Read(trace, outcome)
    about = _steps_about(trace, read.dropped)
    n_folds, n = len(outcome.blankets), len(trace.names)
    counts = np.zeros(n)
    for blanket in outcome.blankets:
        counts[list(blanket)] += 1
    superseders: list[list[str]] = [[] for _ in range(n)]
    for feature in read.dropped:
        others = made_redundant_by(feature, about[feature], outcome)
        superseders[feature] = [trace.names[other] for other in others]
    return FeatureResults(
        adjusted_pvalues=read.adjusted_pvalues.tolist(),
        stability=(counts / n_folds).tolist() if n_folds else [float("nan")] * n,
        phases=read.phases,
        reasons=read.reasons,
        superseders=superseders,
        detectable=read.detectable.tolist(),
        root_effects=read.root_effects,
    )


class _Read:
    """The content of the deciding steps, read batch by batch: one batch decides about nearly all of 100,000 columns."""

    def __init__(self, trace: Trace, outcome: Outcome) -> None:
        n = len(trace.names)
        self._outcome = outcome
        self.adjusted_pvalues: Floats = np.full(n, np.nan)
        self.detectable: Floats = np.full(n, np.nan)
        self.root_effects: Floats = np.full((n, 2), np.nan)
        self.phases = [""] * n
        self.reasons = [""] * n
        self.dropped: set[int] = set()
        requested = {*outcome.always_keep, *outcome.condition_on, *outcome.filled_up, *outcome.left_out}
        self._special = {*requested, *outcome.blanket}
        decided = trace.deciding_steps()
        for batch, features, within in decided.batches():
            self._read_batch(batch, features, within)
        rest = [feature for feature in range(n) if not self.reasons[feature]]
        for feature in rest:
            self._read_one(feature, decided.get(feature))

    def _read_batch(self, batch: StepBatch, features: NDArray[np.intp], within: NDArray[np.intp]) -> None:
        """Read the features that differ in numbers only: those not selected and tested given nothing."""
        if batch.given:
            return
        is_plain = np.array([feature not in self._special for feature in features.tolist()], dtype=bool)
        features, within = features[is_plain], within[is_plain]
        self.adjusted_pvalues[features] = batch.adjusted_pvalues[within]
        if self._outcome.detectable is not None:
            self.detectable[features] = self._outcome.detectable.alone
        for is_first in (True, False):
            alike = np.flatnonzero(batch.is_first[within] == is_first)
            if not alike.size:
                continue
            why = reason(int(features[alike[0]]), self._outcome, batch[int(within[alike[0]])])
            for feature in features[alike].tolist():
                self.phases[feature], self.reasons[feature] = batch.phase, why
            if batch.decisions[0 if is_first else 1] == "dropped":
                self.dropped.update(features[alike].tolist())

    def _read_one(self, feature: int, step: Step | None) -> None:
        self.reasons[feature] = reason(feature, self._outcome, step)
        if step is None:
            return
        self.adjusted_pvalues[feature] = step.adjusted_pvalue
        self.root_effects[feature] = step.root_effect or np.nan
        if self._outcome.detectable is not None and feature not in self._special:
            self.detectable[feature] = self._outcome.detectable.of(step)
        self.phases[feature] = step.phase
        if step.decision == "dropped" and feature not in self._outcome.filled_up:
            self.dropped.add(feature)


def _steps_about(trace: Trace, features: Iterable[int]) -> dict[int, list[Step]]:
    """Return all steps about some features, in one pass over the trace."""
    wanted = set(features)
    about: defaultdict[int, list[Step]] = defaultdict(list)
    for step in trace.steps_about(wanted):
        about[step.feature].append(step)
    return about
