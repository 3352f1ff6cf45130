"""Why every column was kept or dropped: the record that reports and plots are made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw

from ppfs._table import column_index, listed

Decision = Literal["candidate", "added", "rejected", "kept", "dropped"]

# Decisions that speak for a column, and leave it in the running.
FAVOURABLE: frozenset[Decision] = frozenset({"candidate", "added", "kept"})


@dataclass(frozen=True, slots=True)
class Step:
    """One question that was asked, its answer, and what followed from it.

    Attributes
    ----------
    fold : int
        0 when there are no folds, else counted from 1.

    phase : str
        The part of the search that asked, such as "growth" or "shrink".

    feature : int
        The column in question.

    given : tuple of int
        The columns it was tested given. `feature` itself may be listed and does not count:
        the members of a blanket share one tuple.

    pvalue, statistic, effect : float
        The answer; see `ppfs.independence.IndependenceResult`.

    adjusted_pvalue : float
        The p-value after correction for the number of questions; equal to `pvalue` without one.

    decision : {"candidate", "added", "rejected", "kept", "dropped"}
        What the search did. While it grows, a dependent column is a "candidate", "added" to the blanket
        at once or later, and an independent one "rejected"; while it shrinks, members are "kept" or
        "dropped".

    is_reliable : bool, default=True
        False when there were too few rows to tell.

    target : int, default=None
        The variable that the column was tested against, where that is not the target of the search: some
        searches ask about the neighbours of other columns. It is the number of a column; `feature` may
        then be the search's target, whose number is the number of columns.

    withheld : tuple of int, default=()
        Columns that the search had to do without.
    """

    fold: int
    phase: str
    feature: int
    given: tuple[int, ...]
    pvalue: float
    statistic: float
    effect: float
    adjusted_pvalue: float
    decision: Decision
    is_reliable: bool = True
    target: int | None = None
    withheld: tuple[int, ...] = ()

    @property
    def is_main(self) -> bool:
        """Whether the question was about the search's own target, with all columns at hand."""
        return self.target is None and not self.withheld


class Trace:
    """Every question of a search, in the order in which it was asked.

    Parameters
    ----------
    names : sequence of str
        The names of the features.

    column_names : sequence of str, default=()
        The names of the columns, by which features can be called too.

    columns : sequence of tuple of int, default=None
        The columns of each feature. None: every column is a feature.

    Attributes
    ----------
    notes : list of str
        Remarks about the whole search, such as which test was chosen and why.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> X, y = load_iris(return_X_y=True)
    >>> trace = PPFS(n_splits=5, random_state=0).fit(X, y).trace_
    >>> trace[0].phase
    'growth'
    >>> list(trace.to_frame().columns)[:4]
    ['fold', 'phase', 'feature', 'n_given']
    """

    def __init__(
        self,
        names: Sequence[str],
        column_names: Sequence[str] = (),
        columns: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self.names = tuple(names)
        self._feature_of = {
            column_names[column]: feature for feature, group in enumerate(columns or ()) for column in group
        }
        self.notes: list[str] = []
        self._steps: list[Step] = []

    def record(self, step: Step) -> None:
        """Add a step."""
        self._steps.append(step)

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def __getitem__(self, number: int) -> Step:
        return self._steps[number]

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} questions about {len(self.names)} columns>"

    def of(self, feature: int | str) -> list[Step]:
        """Return all steps about one feature: by its number, its name, or the name of one of its columns."""
        if isinstance(feature, str) and feature not in self.names:
            feature = self._feature_of.get(feature, feature)
        number = column_index(feature, self.names)
        return [step for step in self._steps if step.feature == number]

    def explain(self, feature: int | str) -> str:
        """Say in words why a column was kept or dropped.

        Parameters
        ----------
        feature : int or str
            A column's number or name; where columns are grouped, a feature's number, or the name of a group or
            of one of its columns.

        Returns
        -------
        str
            One line a question.
        """
        return "\n".join(self._sentence(step) for step in self.of(feature))

    def to_frame(self, backend: Any = None) -> Any:
        """Return the steps as a data frame, one row a question.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Which library makes the frame; None takes pandas, or polars where pandas is missing.
        """
        columns = {
            "fold": [step.fold for step in self],
            "phase": [step.phase for step in self],
            "feature": [self._name(step.feature) for step in self],
            "n_given": [self._n_given(step) for step in self],
            "pvalue": [step.pvalue for step in self],
            "adjusted_pvalue": [step.adjusted_pvalue for step in self],
            "statistic": [step.statistic for step in self],
            "effect": [step.effect for step in self],
            "decision": [step.decision for step in self],
            "is_reliable": [step.is_reliable for step in self],
            "target": [self._name(step.target) for step in self],
            "n_withheld": [len(step.withheld) for step in self],
        }
        return nw.from_dict(columns, backend=_installed_backend() if backend is None else backend).to_native()

    def _sentence(self, step: Step) -> str:
        others = [self._name(column) for column in step.given if column != step.feature]
        given = f" given {listed(others)}" if others else ""
        adjusted = "" if step.adjusted_pvalue == step.pvalue else f", adjusted {step.adjusted_pvalue:.3g}"
        fold = f"fold {step.fold}, " if step.fold else ""
        against = f" against {self._name(step.target)!r}" if step.target is not None else ""
        withheld = (
            f" without {listed([self._name(column) for column in step.withheld])}" if step.withheld else ""
        )
        answer = (
            f"p = {step.pvalue:.3g}{adjusted}, effect {step.effect:.3g}"
            if step.is_reliable
            else "too few rows to tell"
        )
        return f"{fold}{step.phase}{withheld}: {self._name(step.feature)!r}{against}{given}: {answer}: {step.decision}"

    def _name(self, variable: int | None) -> str:
        """Return a variable's name; None and the number after the last column stand for the target."""
        return "target" if variable is None or variable == len(self.names) else self.names[variable]

    @staticmethod
    def _n_given(step: Step) -> int:
        return len(step.given) - (step.feature in step.given)


def _installed_backend() -> Any:
    for name in ("pandas", "polars", "pyarrow"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    raise ImportError("to_frame needs a data frame library, and none is installed. Run: pip install pandas")
