"""The trace: every question of a search, and the outcome."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from ppfs._data import column_index, new_frame
from ppfs._trace.batch import StepBatch
from ppfs._trace.data import DataSummary, target_name
from ppfs._trace.deciding import DecidingSteps
from ppfs._trace.outcome import Outcome
from ppfs._trace.question_arrays import QuestionArrays, question_arrays_of
from ppfs._trace.steps import FAVORABLE, Step
from ppfs._trace.words import called, sentence, verdict

_FRAME_TYPES = {
    "fold": nw.Int64(),
    "phase": nw.String(),
    "feature": nw.String(),
    "given": nw.List(nw.String()),
    "n_given": nw.Int64(),
    "pvalue": nw.Float64(),
    "adjusted_pvalue": nw.Float64(),
    "statistic": nw.Float64(),
    "effect": nw.Float64(),
    "decision": nw.String(),
    "is_reliable": nw.Boolean(),
    "target": nw.String(),
    "n_withheld": nw.Int64(),
}

# Only with a panel of models.
_PANEL_TYPES = {
    "seen_by": nw.String(),
    "model_pvalues": nw.List(nw.Float64()),
    "may_be_too_small": nw.Boolean(),
    "target_explained": nw.Float64(),
    "feature_explained": nw.Float64(),
}


class Trace:
    """Every question of a search, in the order in which it was asked.

    Steps refer to features by number. Methods take the name of a column, or its position in X.

    Parameters
    ----------
    names : sequence of str
        The names of the features.

    column_names : sequence of str, default=()
        The names of the columns. Empty: those of the features.

    columns : sequence of tuple of int, default=None
        The columns of each feature. None: every column is a feature.

    Attributes
    ----------
    names, column_names : tuple of str
        Of the features, and of the columns.

    notes : list of str
        Remarks about the whole search, such as which test was chosen and why.

    method : str
        How columns were selected, in a sentence, if not by questions alone; else empty.

    models : tuple of str
        The models of a panel; empty without a panel.

    outcome : Outcome or None
        The outcome of the search; None while it runs.

    data : DataSummary or None
        A summary of the data; None while the search runs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> X, y = load_iris(return_X_y=True)
    >>> trace = PPFS(n_splits=5, random_state=0).fit(X, y).trace_
    >>> trace[0].phase
    'growth'
    >>> list(trace.to_frame().columns)[:4]
    ['fold', 'phase', 'feature', 'given']
    """

    def __init__(
        self,
        names: Sequence[str],
        column_names: Sequence[str] = (),
        columns: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self.names = tuple(names)
        self.notes: list[str] = []
        self.method = ""
        # What was determined after the search: by topic, features and sentences; None for the selection as a whole. As
        # pairs, because skops cannot store None as a key.
        self.said: dict[str, list[tuple[int | None, str]]] = {}
        self.models: tuple[str, ...] = ()
        self.outcome: Outcome | None = None
        self.data: DataSummary | None = None
        self.column_names = tuple(column_names) or self.names
        self._columns = None if columns is None else tuple(tuple(sorted(group)) for group in columns)
        self._parts: list[Step | StepBatch] = []
        self._starts: list[int] = []
        self._length = 0
        # The last result of `decided`, and its arguments.
        self._decided: tuple[tuple[int, frozenset[int], int], DecidingSteps] | None = None

    def record(self, step: Step) -> None:
        """Add a step."""
        self._append(step, 1)

    def record_batch(self, batch: StepBatch) -> None:
        """Add many steps of one kind."""
        self._append(batch, len(batch))

    def _append(self, part: Step | StepBatch, length: int) -> None:
        self._parts.append(part)
        self._starts.append(self._length)
        self._length += length

    def conclude(self, outcome: Outcome) -> None:
        """Store the outcome of the search."""
        self.outcome = outcome

    def concluded_by(self, method: str, outcome: Outcome) -> Trace:
        """Return the same questions with another outcome, which was not decided by answers."""
        other = copy(self)
        other.notes, other.said = list(self.notes), dict(self.said)
        other.method, other.outcome = method, outcome
        return other

    def say(self, topic: str, sentences: Mapping[int | None, str]) -> None:
        """Keep what was determined after the search, for explanations; it replaces what was said on the topic.

        Parameters
        ----------
        sentences : mapping of int or None to str
            By feature; None for the selection as a whole.
        """
        self.said[topic] = list(sentences.items())

    def name_target(self, y: Any) -> None:
        """Set the name of the target."""
        if self.data is not None:
            self.data = replace(self.data, target=target_name(y))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Step]:
        for part in self._parts:
            if isinstance(part, Step):
                yield part
            else:
                yield from part

    def __getitem__(self, number: int) -> Step:
        position = number + self._length if number < 0 else number
        if not 0 <= position < self._length:
            raise IndexError(f"There is no step {number}: the trace has {self._length}.")
        which = bisect_right(self._starts, position) - 1
        part = self._parts[which]
        return part if isinstance(part, Step) else part[position - self._starts[which]]

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} questions about {len(self.names)} columns>"

    def of(self, column: int | str) -> list[Step]:
        """Return all steps about a column: by its number or name, or by the name of its group."""
        return list(self.steps_about([self.feature_of(column)]))

    def steps_about(self, features: Collection[int]) -> Iterator[Step]:
        """Yield the steps about some features, in order."""
        wanted = np.zeros(len(self.names) + 1, dtype=bool)
        wanted[list(features)] = True
        for part in self._parts:
            if isinstance(part, Step):
                if wanted[part.feature]:
                    yield part
            else:
                yield from (part[number] for number in np.flatnonzero(wanted[part.features]).tolist())

    def deciding_step(self, column: int | str) -> Step | None:
        """Return the step that decided about a column, in the chosen fold.

        Returns
        -------
        Step or None
            None for columns that were not tested, such as those kept or conditioned on by request, and for those
            with too few rows.
        """
        return self.deciding_steps().get(self.feature_of(column))

    def deciding_steps(self) -> DecidingSteps:
        """Return the step that decided about each feature, in the chosen fold; none while the search runs."""
        if self.outcome is None:
            return DecidingSteps((), len(self.names), 0, ())
        return self.decided(self.outcome.fold, self.outcome.blanket)

    def decided(self, fold: int, blanket: Collection[int]) -> DecidingSteps:
        """Return the step that decided about each feature, given the blanket that was found in a fold."""
        asked = (fold, frozenset(blanket), self._length)
        if self._decided is None or self._decided[0] != asked:
            self._decided = asked, DecidingSteps(self._parts, len(self.names), fold, blanket)
        return self._decided[1]

    def once_favored(self, fold: int) -> set[int]:
        """Return the features that some answer of a fold was in favor of."""
        favored: set[int] = set()
        for part in self._parts:
            if part.fold != fold:
                continue
            if isinstance(part, Step):
                if part.is_verdict and part.decision in FAVORABLE:
                    favored.add(part.feature)
            elif part.is_main:
                favored.update(part.features[part.is_favorable & part.is_reliable].tolist())
        return favored

    def question_arrays(self, fold: int | None = None) -> QuestionArrays:
        """Return the questions about the search's own target as arrays; those of the chosen fold by default."""
        if fold is None:
            fold = 0 if self.outcome is None else self.outcome.fold
        return question_arrays_of(self._parts, fold)

    def features_of_columns(self) -> list[int]:
        """Return the number of the feature that each column belongs to; of several, the first selected one, if any."""
        if self._columns is None:
            return list(range(len(self.column_names)))
        selected = () if self.outcome is None else self.outcome.blanket
        features = [0] * len(self.column_names)
        for feature in (*reversed(range(len(self._columns))), *reversed(selected)):
            for column in self._columns[feature]:
                features[column] = feature
        return features

    def feature_of(self, column: int | str) -> int:
        """Return the number of the feature that a column belongs to."""
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        number = column_index(column, self.column_names)
        if self._columns is None:
            return number
        return self.features_of_columns()[number]

    def explain(self, column: int | str) -> str:
        """Explain in words why a column was kept or dropped.

        Parameters
        ----------
        column : int or str
            Its position or name in X, or the name of a group of columns.

        Returns
        -------
        str
            The decision and its reason in the first line, with what was determined after the search; then one line per
            question.
        """
        steps = self.of(column)
        if self.outcome is None:
            return "\n".join(sentence(step, self._call, self.models) for step in steps)
        feature = self.feature_of(column)
        first = verdict(feature, self.outcome, steps, self._call)
        further = [
            text
            for wanted in (feature, None)
            for said in self.said.values()
            for about, text in said
            if about == wanted
        ]
        first = " ".join([first, *further])
        sentences = (sentence(step, self._call, self.models, self.outcome.fold) for step in steps)
        return "\n".join([first, *sentences])

    def to_frame(self, backend: Any = None) -> Any:
        """Return the steps as a data frame, one row per question.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            The library of the frame; None uses pandas, or polars if pandas is not installed.

        Returns
        -------
        data frame
            `given` lists the names of the features that the question was conditioned on. With a panel, `model_pvalues`
            lists the p-value of each of `models`, and `seen_by` is the model with the smallest one, if the answer
            was in favor of the column. `may_be_too_small` marks p-values that may be too small, because models of the
            target and of the column given the others both missed a part; `target_explained` and `feature_explained`
            are the shares of both that the others explain.
        """
        columns = [self._frame_columns(part) for part in self._parts]
        types = _FRAME_TYPES | (_PANEL_TYPES if self.models else {})
        values = {name: [value for part in columns for value in part[name]] for name in types}
        return new_frame(values, types, backend)

    def _frame_columns(self, part: Step | StepBatch) -> dict[str, list[Any]]:
        """Return the entries of a step, or of a batch, for each column of the frame."""
        if isinstance(part, Step):
            others = [self._name(other) for other in part.others]
            return {
                "fold": [part.fold],
                "phase": [part.phase],
                "feature": [self._name(part.feature)],
                "given": [others],
                "n_given": [len(others)],
                "pvalue": [part.pvalue],
                "adjusted_pvalue": [part.adjusted_pvalue],
                "statistic": [part.statistic],
                "effect": [part.effect],
                "decision": [part.decision],
                "is_reliable": [part.is_reliable],
                "target": [self._name(part.target)],
                "n_withheld": [len(part.withheld)],
                "seen_by": [self._seen_by(part)],
                "model_pvalues": [list(part.model_pvalues)],
                "may_be_too_small": [part.may_be_too_small],
                **_explained([part]),
            }
        n = len(part)
        given = (
            [[self._name(other) for other in part[i].others] for i in range(n)] if part.given else [[]] * n
        )
        return {
            "fold": [part.fold] * n,
            "phase": [part.phase] * n,
            "feature": [self._name(feature) for feature in part.features.tolist()],
            "given": given,
            "n_given": [len(others) for others in given],
            "pvalue": part.pvalues.tolist(),
            "adjusted_pvalue": part.adjusted_pvalues.tolist(),
            "statistic": part.statistics.tolist(),
            "effect": part.effects.tolist(),
            "decision": [part.decisions[0 if is_first else 1] for is_first in part.is_first.tolist()],
            "is_reliable": part.is_reliable.tolist(),
            "target": [self._name(part.target)] * n,
            "n_withheld": [len(part.withheld)] * n,
            "seen_by": [self._seen_by(step) for step in part] if self.models else [],
            "model_pvalues": [] if part.model_pvalues is None else part.model_pvalues.tolist(),
            "may_be_too_small": [step.may_be_too_small for step in part] if self.models else [],
            **_explained(list(part) if self.models else []),
        }

    def _seen_by(self, step: Step) -> str | None:
        """Return the name of the model with the smallest p-value, if a link was found."""
        clearest = step.clearest_model
        return None if clearest is None or step.decision not in FAVORABLE else self.models[clearest]

    def _call(self, variable: int | None) -> str:
        name = self._name(variable)
        if self._columns is None or variable is None or variable == len(self.names):
            return repr(name)
        return called(name, [self.column_names[column] for column in self._columns[variable]])

    def _name(self, variable: int | None) -> str:
        """Return the name of a variable; None and the number after the last feature mean the target."""
        return "target" if variable is None or variable == len(self.names) else self.names[variable]


def _explained(steps: list[Step]) -> dict[str, list[float | None]]:
    """Return the columns of the frame about what the others explain."""
    shares = [step.explained or (None, None) for step in steps]
    return {
        "target_explained": [share[0] for share in shares],
        "feature_explained": [share[1] for share in shares],
    }
