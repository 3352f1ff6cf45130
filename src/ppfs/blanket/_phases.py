"""The phases that searches are made of: grow, shrink."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from ppfs._progress import ProgressBar
from ppfs._trace import Decision, Step, Trace
from ppfs.independence import BoundTest, IndependenceResult

CORRECTIONS = ("bh", "by", "bonferroni")


@dataclass(frozen=True)
class Inquiry:
    """A bound test, the target it is asked about, and where the answers are recorded."""

    test: BoundTest
    target: int
    alpha: float
    trace: Trace
    fold: int
    progress: bool = False

    def answers(
        self, xs: Sequence[int], given: tuple[int, ...], bar: ProgressBar
    ) -> Iterator[tuple[int, IndependenceResult]]:
        """Yield each x with the answer for it."""
        for x, result in zip(xs, self.test.answers(xs, self.target, given), strict=True):
            bar.advance()
            yield x, result

    def bar(self, phase: str, total: int) -> ProgressBar:
        """Return the progress bar of a phase."""
        return ProgressBar(f"fold {self.fold} {phase}" if self.fold else phase, total, self.progress)

    def record(
        self,
        phase: str,
        feature: int,
        given: tuple[int, ...],
        result: IndependenceResult,
        decision: Decision,
        adjusted_pvalue: float | None = None,
    ) -> None:
        """Enter an answer and its consequence into the trace."""
        adjusted = result.pvalue if adjusted_pvalue is None else adjusted_pvalue
        self.trace.record(
            Step(
                self.fold,
                phase,
                feature,
                given,
                result.pvalue,
                result.statistic,
                result.effect,
                adjusted,
                decision,
            )
        )


def grow_marginally(
    inquiry: Inquiry, columns: Sequence[int], correction: str | None
) -> list[tuple[int, IndependenceResult]]:
    """Return the columns that depend on the target given nothing, with their answers.

    Parameters
    ----------
    columns : sequence of int
        Whom to ask about.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of columns before they are compared with alpha.
    """
    with inquiry.bar("growth", len(columns)) as bar:
        answered = list(inquiry.answers(columns, (), bar))
    adjusted = adjust(np.array([result.pvalue for _, result in answered]), correction)
    candidates = []
    for (x, result), pvalue in zip(answered, adjusted.tolist(), strict=True):
        is_candidate = pvalue <= inquiry.alpha
        inquiry.record("growth", x, (), result, "candidate" if is_candidate else "rejected", pvalue)
        if is_candidate:
            candidates.append((x, result))
    return candidates


def shrink(inquiry: Inquiry, members: Sequence[int], *, restart: bool = False) -> list[int]:
    """Drop the members that the target does not depend on given the others.

    Parameters
    ----------
    members : sequence of int
        In the order in which they are asked about, least important first.

    restart : bool, default=False
        Begin again after each removal, the paper's plain version, instead of one ordered pass.

    Returns
    -------
    list of int
        Those that stay, in the given order.
    """
    kept = list(members)
    waiting = list(members)
    with inquiry.bar("shrink", len(members)) as bar:
        while waiting:
            removed = _first_independent(inquiry, waiting, tuple(kept), bar)
            if removed is None:
                break
            kept.remove(removed)
            waiting = list(kept) if restart else waiting[waiting.index(removed) + 1 :]
    return kept


def _first_independent(
    inquiry: Inquiry, waiting: Sequence[int], given: tuple[int, ...], bar: ProgressBar
) -> int | None:
    for x, result in inquiry.answers(waiting, given, bar):
        is_dependent = result.is_dependent(inquiry.alpha)
        inquiry.record("shrink", x, given, result, "kept" if is_dependent else "dropped")
        if not is_dependent:
            return x
    return None


def adjust(pvalues: NDArray[np.float64], correction: str | None) -> NDArray[np.float64]:
    """Adjust p-values for multiplicity so that they can be compared with alpha as they are.

    Parameters
    ----------
    correction : {"bh", "by", "bonferroni"} or None
        Benjamini-Hochberg, Benjamini-Yekutieli (valid under any dependence), Bonferroni, or none.
    """
    if correction is None or not pvalues.size:
        return pvalues
    if correction == "bonferroni":
        return np.minimum(1.0, pvalues * pvalues.size)
    adjusted: NDArray[np.float64] = false_discovery_control(pvalues, method=correction)
    return adjusted
