"""The trace: every question of a search, and what it came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw

from ppfs._table import column_index
from ppfs._trace.outcome import Outcome, deciding_steps
from ppfs._trace.steps import Step
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


class Trace:
    """Every question of a search, in the order in which it was asked.

    Steps number features; whoever asks about a column does so by the column's name or number in X.

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
    notes : list of str
        Remarks about the whole search, such as which test was chosen and why.

    outcome : Outcome or None
        What the search came to; None while it runs.

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
        self.outcome: Outcome | None = None
        self._column_names = tuple(column_names) or self.names
        self._columns = None if columns is None else tuple(tuple(sorted(group)) for group in columns)
        self._steps: list[Step] = []

    def record(self, step: Step) -> None:
        """Add a step."""
        self._steps.append(step)

    def conclude(self, outcome: Outcome) -> None:
        """Enter what the search came to."""
        self.outcome = outcome

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def __getitem__(self, number: int) -> Step:
        return self._steps[number]

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} questions about {len(self.names)} columns>"

    def of(self, column: int | str) -> list[Step]:
        """Return all steps about a column: by its number or name, or by the name of its group."""
        number = self.feature_of(column)
        return [step for step in self._steps if step.feature == number]

    def deciding_step(self, column: int | str) -> Step | None:
        """Return the step that decided about a column, in the chosen fold.

        Returns
        -------
        Step or None
            None where nothing was asked, or could be told: columns kept or conditioned on by request, and those
            for which rows were too few.
        """
        return self.deciding_steps().get(self.feature_of(column))

    def deciding_steps(self) -> dict[int, Step]:
        """Return the step that decided about each feature, in the chosen fold; see `deciding_step`."""
        if self.outcome is None:
            return {}
        return deciding_steps(self, self.outcome.fold, self.outcome.blanket)

    def feature_of(self, column: int | str) -> int:
        """Return the number of the feature that a column belongs to."""
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        number = column_index(column, self._column_names)
        if self._columns is None:
            return number
        return next(feature for feature, group in enumerate(self._columns) if number in group)

    def explain(self, column: int | str) -> str:
        """Say in words why a column was kept or dropped.

        Parameters
        ----------
        column : int or str
            Its number or name in X; or the name of a group of columns.

        Returns
        -------
        str
            What became of it and why, in the first line; then one line a question.
        """
        steps = self.of(column)
        if self.outcome is None:
            return "\n".join(sentence(step, self._call) for step in steps)
        first = verdict(self.feature_of(column), self.outcome, steps, self._call)
        return "\n".join([first, *(sentence(step, self._call, self.outcome.fold) for step in steps)])

    def to_frame(self, backend: Any = None) -> Any:
        """Return the steps as a data frame, one row a question.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Which library makes the frame; None takes pandas, or polars where pandas is missing.

        Returns
        -------
        data frame
            `given` lists the names of what the question was conditioned on.
        """
        values = {
            "fold": [step.fold for step in self],
            "phase": [step.phase for step in self],
            "feature": [self._name(step.feature) for step in self],
            "given": [[self._name(other) for other in step.others] for step in self],
            "n_given": [len(step.others) for step in self],
            "pvalue": [step.pvalue for step in self],
            "adjusted_pvalue": [step.adjusted_pvalue for step in self],
            "statistic": [step.statistic for step in self],
            "effect": [step.effect for step in self],
            "decision": [step.decision for step in self],
            "is_reliable": [step.is_reliable for step in self],
            "target": [self._name(step.target) for step in self],
            "n_withheld": [len(step.withheld) for step in self],
        }
        maker: Any = nw.Implementation.from_backend(_installed_backend() if backend is None else backend)
        # pandas has no lists of text without pyarrow; the others must be told what empty lists are lists of.
        types = None if maker.is_pandas_like() else _FRAME_TYPES
        return nw.from_dict(values, types, backend=maker).to_native()

    def _call(self, variable: int | None) -> str:
        name = self._name(variable)
        if self._columns is None or variable is None or variable == len(self.names):
            return repr(name)
        return called(name, [self._column_names[column] for column in self._columns[variable]])

    def _name(self, variable: int | None) -> str:
        """Return a variable's name; None and the number after the last feature stand for the target."""
        return "target" if variable is None or variable == len(self.names) else self.names[variable]


def _installed_backend() -> Any:
    for name in ("pandas", "polars", "pyarrow"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    raise ImportError("to_frame needs a data frame library, and none is installed. Run: pip install pandas")
