"""Why every column was kept or dropped: the record that reports and plots are made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw

from ppfs._table import listed

Decision = Literal["candidate", "rejected", "kept", "dropped"]


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

    decision : {"candidate", "rejected", "kept", "dropped"}
        What the search did.
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


class Trace:
    """Every question of a search, in the order in which it was asked.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.

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

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
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
        """Return all steps about one column, by number or name."""
        number = self.names.index(feature) if isinstance(feature, str) else feature
        return [step for step in self._steps if step.feature == number]

    def explain(self, feature: int | str) -> str:
        """Say in words why a column was kept or dropped.

        Parameters
        ----------
        feature : int or str
            A column's number or name.

        Returns
        -------
        str
            One line a question.
        """
        return "\n".join(self._sentence(step) for step in self.of(feature))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the steps as a data frame, one row a question.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Which library makes the frame; None takes pandas, or polars where pandas is missing.
        """
        columns = {
            "fold": [step.fold for step in self],
            "phase": [step.phase for step in self],
            "feature": [self.names[step.feature] for step in self],
            "n_given": [self._n_given(step) for step in self],
            "pvalue": [step.pvalue for step in self],
            "adjusted_pvalue": [step.adjusted_pvalue for step in self],
            "statistic": [step.statistic for step in self],
            "effect": [step.effect for step in self],
            "decision": [step.decision for step in self],
        }
        return nw.from_dict(columns, backend=backend or _installed_backend()).to_native()

    def _sentence(self, step: Step) -> str:
        others = [self.names[column] for column in step.given if column != step.feature]
        given = f" given {listed(others)}" if others else ""
        adjusted = "" if step.adjusted_pvalue == step.pvalue else f", adjusted {step.adjusted_pvalue:.3g}"
        fold = f"fold {step.fold}, " if step.fold else ""
        return (
            f"{fold}{step.phase}: {self.names[step.feature]!r}{given}: p = {step.pvalue:.3g}{adjusted}, "
            f"effect {step.effect:.3g}: {step.decision}"
        )

    @staticmethod
    def _n_given(step: Step) -> int:
        return len(step.given) - (step.feature in step.given)


def _installed_backend() -> str:
    for name in ("pandas", "polars", "pyarrow"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    raise ImportError("to_frame needs a data frame library, and none is installed. Run: pip install pandas")
