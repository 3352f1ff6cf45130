"""Whether the selected columns are enough: the losses of three models, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ppfs._conventions import Floats
from ppfs._verdicts.intervals import Estimate, RowMeans
from ppfs._verdicts.scores import CALLED

Verdict = Literal["sufficient", "not sufficient", "too few rows", "nothing to explain"]

#: Above this share the bound on what is lost says nothing.
_ALL = 1.0


@dataclass(frozen=True)
class Compared:
    """What losses of the same rows show, as numbers.

    Attributes
    ----------
    verdict : {"sufficient", "not sufficient", "too few rows", "nothing to explain"}
        "sufficient": less than the share `margin` of what all columns explain is lost (a one-sided test at 5 %). "not
        sufficient": more is lost (also at 5 %). "too few rows": neither is shown. "nothing to explain": no model is
        shown to predict better than none at all.

    margin : float
        The share of what all columns explain that may be lost.

    of_nothing, of_selected, of_all : float
        Mean losses of the best constant, of the best model with the selected columns, and of the best model that sees
        all columns.

    lost : Estimate
        `of_selected` minus `of_all`, with a 95 % interval: above 0 where the other columns help.

    explained : Estimate
        What all columns explain: `of_nothing` minus `of_all`, or minus `of_selected` where that is smaller: a model
        that sees all columns may use the selected ones alone.

    gained : Estimate
        `of_nothing` minus `of_selected`: what the selected columns explain.

    share_lost, share_lost_high : float
        `lost` as a share of `explained`, and the upper end of its one-sided 95 % interval; NaN where nothing is
        explained, infinity where no bound can be given.
    """

    verdict: Verdict
    margin: float
    of_nothing: float
    of_selected: float
    of_all: float
    lost: Estimate
    explained: Estimate
    gained: Estimate
    share_lost: float
    share_lost_high: float

    @staticmethod
    def of(
        of_nothing: Floats, of_selected: Floats, of_all: Floats, rows: RowMeans, margin: float
    ) -> Compared:
        """Compare the losses of rows with no column, with the selected ones, and with all."""
        lost = rows.estimate(of_selected - of_all)
        by_all = of_nothing - (of_selected if lost.value < 0 else of_all)
        explained = rows.estimate(by_all)
        high = _share_high(of_selected - of_all, by_all, rows)
        share = lost.value / explained.value if explained.value > 0 else float("nan")
        verdict: Verdict = "too few rows"
        # One-sided, so that both sides of the margin are tested at 5 %.
        if not rows.estimate(by_all, 0.9).low > 0:
            verdict, share, high = "nothing to explain", float("nan"), float("nan")
        elif high < margin:
            verdict = "sufficient"
        elif rows.estimate((of_selected - of_all) - margin * by_all, 0.9).low > 0:
            verdict = "not sufficient"
        nothing, selected, everything = (rows.mean(losses) for losses in (of_nothing, of_selected, of_all))
        gained = rows.estimate(of_nothing - of_selected)
        return Compared(verdict, margin, nothing, selected, everything, lost, explained, gained, share, high)


@dataclass(frozen=True)
class Sufficiency(Compared):
    """How much better a model is with all columns than with the selected ones.

    Models are fitted on a part of the rows and their losses measured on the others. Where the rows were divided into
    folds, the selection was repeated in the training part of each: the numbers are about the selection as a method,
    made from `n_training_rows` rows. Where rows were held out (`confirm`), they are about the selection itself.

    Attributes
    ----------
    verdict, margin, of_nothing, of_selected, of_all, lost, explained, gained, share_lost, share_lost_high
        See `Compared`.

    loss : str
        The name of the loss.

    scores : mapping of str to mapping of str to float
        The same in other words, for "nothing", "selected" and "all": "r2" for numbers, "accuracy" and "auc" for labels,
        "deviance" (the share of the Poisson deviance that is explained) for counts, "r2_log" for positive amounts,
        "concordance" for ordered classes and survival times.

    models : mapping of str to str
        The model that was best most often, for "selected" and "all".

    n_rows, n_training_rows : int
        Rows that were predicted, and rows that models were fitted on.

    n_folds : int
        Number of folds; 0 where the rows that `confirm` held out were used.

    n_selected : float
        How many features were selected, on average over the folds.
    """

    loss: str
    scores: Mapping[str, Mapping[str, float]]
    models: Mapping[str, str]
    n_rows: int
    n_training_rows: int
    n_folds: int
    n_selected: float

    def as_plain(self) -> dict[str, Any]:
        """Return it as plain numbers and texts, with None for numbers that are not finite."""
        plain: dict[str, Any] = _finite(asdict(self))
        return {**plain, "summary": str(self)}

    def __str__(self) -> str:
        """Return the verdict in words."""
        return f"{self._said()} {self._how()}"

    @property
    def in_short(self) -> str:
        """The verdict in a short sentence, for explanations of single columns."""
        loss = f"than {self.margin:.0%} of what all columns explain"
        return {
            "sufficient": f"The selected columns together lose less {loss}.",
            "not sufficient": f"The selected columns together lose more {loss}.",
            "too few rows": "There are too few rows to tell whether the selected columns together are enough to within "
            f"{self.margin:.0%}.",
            "nothing to explain": "No model, even with all columns, is shown to predict better than a constant.",
        }[self.verdict]

    def _said(self) -> str:
        words, nothing, selected, everything = self._in_the_score()
        if self.verdict == "nothing to explain":
            return (
                "No model, with the selected columns or with all, is shown to predict better than a constant, so "
                "nothing is known that a selection could lack."
            )
        compared = f"{words} {selected} with the selected columns, {everything} with all, {nothing} with none"
        if self.verdict == "sufficient":
            lost = (
                f"they lose at most {self.share_lost_high:.1%} of what the best model with all columns explains"
                if self.share_lost_high > 0
                else "models predict better with them than with all columns"
            )
            return f"The selected columns are enough to within {self.margin:.0%}: {lost} ({compared})."
        if self.verdict == "not sufficient":
            return (
                f"The selected columns are not enough: they lose about {self.share_lost:.0%} of what the best model "
                f"with all columns explains, more than the margin of {self.margin:.0%} ({compared})."
            )
        if self.share_lost_high <= _ALL:
            bound = f"they may lose up to {self.share_lost_high:.0%} of what all columns explain"
        else:
            bound = "what they lose cannot be bounded"
        return (
            f"There are too few rows to tell whether the selected columns are enough to within {self.margin:.0%}: "
            f"{bound} ({compared})."
        )

    def _how(self) -> str:
        if not self.n_folds:
            return (
                f"Measured on {self.n_rows:,} rows that the search did not use, with models fitted on "
                f"{self.n_training_rows:,}."
            )
        return (
            f"Measured on {self.n_rows:,} rows in {self.n_folds} folds, with the selection repeated on the "
            f"{self.n_training_rows:,} rows outside each ({self.n_selected:.3g} columns on average)."
        )

    def _in_the_score(self) -> tuple[str, str, str, str]:
        """Return the best-known score, and its values with none, with the selected and with all columns."""
        name = next((name for name in CALLED if name in self.scores), None)
        if name is None:
            losses = (self.of_nothing, self.of_selected, self.of_all)
            return (f"{self.loss} loss", *(f"{value:.3g}" for value in losses))  # type: ignore[return-value]
        values = (self.scores[name][side] for side in ("nothing", "selected", "all"))
        return (CALLED[name], *(f"{value:.3f}" for value in values))  # type: ignore[return-value]


def _share_high(lost: Floats, explained: Floats, rows: RowMeans) -> float:
    """Return the smallest share m for which "lost - m * explained is below 0" is shown at 5 %; infinity for none.

    Fieller's bound of a ratio. Where it exists it is found by halving: once the difference is shown to be below 0, it
    is for all larger shares up to 1, because what is explained was shown to be above 0.
    """

    def is_shown(share: float) -> bool:
        return rows.estimate(lost - share * explained, 0.9).high < 0

    low, high = 0.0, _ALL
    if not is_shown(high):
        return float("inf")
    if is_shown(low):
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if is_shown(middle) else (middle, high)
    return high


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    return None if isinstance(value, float) and not np.isfinite(value) else value
