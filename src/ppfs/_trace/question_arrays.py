"""The questions of one fold as arrays, for plots and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._trace.batch import StepBatch
from ppfs._trace.steps import FAVORABLE, Step


@dataclass(frozen=True)
class QuestionArrays:
    """The questions about a search's own target in one fold, in the order in which they were asked.

    Attributes
    ----------
    features : ndarray of int, shape (n_questions,)

    phases : ndarray of str, shape (n_questions,)
        The part of the search that the question belongs to.

    pvalues, adjusted_pvalues, effects : ndarray of shape (n_questions,)

    is_favorable : ndarray of bool, shape (n_questions,)
        Whether the decision was in favor of the feature.

    is_marginal : ndarray of bool, shape (n_questions,)
        Whether the feature was tested given no other feature.
    """

    features: NDArray[np.intp]
    phases: NDArray[np.str_]
    pvalues: Floats
    adjusted_pvalues: Floats
    effects: Floats
    is_favorable: NDArray[np.bool_]
    is_marginal: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.features)


def question_arrays_of(parts: Sequence[Step | StepBatch], fold: int) -> QuestionArrays:
    """Join the reliable answers of a fold, without those about other targets or with features withheld."""
    mine = [part for part in parts if part.fold == fold and part.is_main]
    pieces = [_piece(part) for part in mine]
    if not pieces:
        empty = np.empty(0)
        none = np.empty(0, dtype=bool)
        return QuestionArrays(empty.astype(np.intp), empty.astype(str), empty, empty, empty, none, none)
    return QuestionArrays(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _piece(part: Step | StepBatch) -> tuple[NDArray[np.generic], ...]:
    if isinstance(part, Step):
        n = int(part.is_reliable)
        return (
            np.full(n, part.feature, dtype=np.intp),
            np.full(n, part.phase),
            np.full(n, part.pvalue),
            np.full(n, part.adjusted_pvalue),
            np.full(n, part.effect),
            np.full(n, part.decision in FAVORABLE),
            np.full(n, not part.others),
        )
    rows = np.flatnonzero(part.is_reliable)
    return (
        part.features[rows],
        np.full(len(rows), part.phase),
        part.pvalues[rows],
        part.adjusted_pvalues[rows],
        part.effects[rows],
        part.is_favorable[rows],
        np.full(len(rows), not part.given),
    )
