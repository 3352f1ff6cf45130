"""The result of a comparison: score, size, stability and time of every method."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import narwhals as nw
import numpy as np

from ppfs._data import new_frame

_TYPES = {
    "method": nw.String(),
    "score": nw.Float64(),
    "score_error": nw.Float64(),
    "n_columns": nw.Float64(),
    "stability": nw.Float64(),
    "seconds": nw.Float64(),
    "n_folds": nw.Int64(),
    "note": nw.String(),
}


@dataclass(frozen=True)
class MethodScores:
    """The results of one method, one entry per fold.

    Attributes
    ----------
    name : str
        Of the method.

    scores : tuple of float
        Of the model with the selected columns, on the rows of the fold.

    selected : tuple of tuple of str
        The columns that were selected outside the fold.

    seconds : tuple of float
        What the selection took.

    note : str
        Why folds are missing; "" where none is.
    """

    name: str
    scores: tuple[float, ...]
    selected: tuple[tuple[str, ...], ...]
    seconds: tuple[float, ...]
    note: str = ""

    @property
    def score(self) -> float:
        """The mean score; NaN without a fold."""
        return float(np.mean(self.scores)) if self.scores else float("nan")

    @property
    def score_error(self) -> float:
        """The standard error of the mean over folds; NaN with fewer than two."""
        n = len(self.scores)
        return float(np.std(self.scores, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")

    @property
    def n_columns(self) -> float:
        """How many columns were selected, on average."""
        return float(np.mean([len(names) for names in self.selected])) if self.selected else float("nan")

    @property
    def stability(self) -> float:
        """How much the folds agree: of the columns that either of two folds selects, the share that both select.

        The mean over all pairs of folds (Jaccard's index); two empty selections agree. NaN with fewer than two folds.
        """
        sets = [set(names) for names in self.selected]
        shares = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(sets, 2)]
        return float(np.mean(shares)) if shares else float("nan")


@dataclass(frozen=True)
class Comparison:
    """Several methods on the same folds of the same data.

    Attributes
    ----------
    methods : tuple of MethodScores
        In the order in which they were asked for.

    scoring : str
        What the scores are; more is better.

    task : {"classification", "regression"}
        How the target was read.

    n_rows, n_columns, n_folds : int
        Of the data, and of the cross-validation.

    model : str
        The model that was scored.
    """

    methods: tuple[MethodScores, ...]
    scoring: str
    task: str
    n_rows: int
    n_columns: int
    n_folds: int
    model: str

    def to_frame(self, backend: Any = None) -> Any:
        """Return one row per method, best score first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Which library makes the frame; None takes pandas, or polars where pandas is missing.
        """
        ordered = sorted(
            self.methods, key=lambda method: (np.isnan(method.score), -method.score, method.n_columns)
        )
        values: dict[str, list[Any]] = {
            "method": [method.name for method in ordered],
            "score": [method.score for method in ordered],
            "score_error": [method.score_error for method in ordered],
            "n_columns": [method.n_columns for method in ordered],
            "stability": [method.stability for method in ordered],
            "seconds": [
                float(np.mean(method.seconds)) if method.seconds else float("nan") for method in ordered
            ],
            "n_folds": [len(method.scores) for method in ordered],
            "note": [method.note for method in ordered],
        }
        return new_frame(values, _TYPES, backend)

    def __getitem__(self, name: str) -> MethodScores:
        """Return the results of a method, by its name."""
        for method in self.methods:
            if method.name == name:
                return method
        raise KeyError(name)

    def __str__(self) -> str:
        lines = [f"{'method':<24}{self.scoring:>18}{'columns':>9}{'stability':>11}{'seconds':>10}"]
        for row in nw.from_native(self.to_frame(), eager_only=True).rows(named=True):
            score = f"{row['score']:.3f} ± {row['score_error']:.3f}"
            lines.append(
                f"{row['method']:<24}{score:>18}{row['n_columns']:>9.1f}{row['stability']:>11.2f}{row['seconds']:>10.2f}"
                + (f"  {row['note']}" if row["note"] else "")
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        return str(frame._repr_html_())
