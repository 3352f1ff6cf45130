"""What a test compares: risks with the original feature, and with its knockoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats


@dataclass(frozen=True)
class PairedRisks:
    """Risks of several questions with the original feature, and with its knockoff.

    Attributes
    ----------
    base, replaced : ndarray of shape (n_questions, n_pairs)
        One pair per split (the mean loss over its test part), or one pair per tested row (its loss), in the order of
        the splits' test parts. `replaced` is the mean over the draws.

    unused : ndarray of bool, shape (n_questions,)
        Where it is known that no model uses the feature.

    by_draw : ndarray of shape (n_questions, n_draws), default=None
        The mean over all pairs of each draw; NaN for draws that an early stop skipped. None
        where pairs are splits.

    n_coefficients : ndarray of shape (n_questions,), default=None
        The number of coefficients of a linear model for the feature; infinite where it is unknown for a
        question, None where it is unknown for all.

    exchange : ndarray of shape (n_questions,), default=None
        Where the rise of the risk lies among the rises if rows exchanged values with their draws, as a
        normal quantile; see `exchange_scores`. None where rows are not exchangeable, or scores are not needed.
    """

    base: Floats
    replaced: Floats
    unused: NDArray[np.bool_]
    by_draw: Floats | None = None
    n_coefficients: NDArray[Any] | None = None
    exchange: Floats | None = None

    @classmethod
    def joined(cls, parts: Sequence[PairedRisks]) -> PairedRisks:
        """Concatenate the risks of several batches of questions."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.base for part in parts]),
            np.concatenate([part.replaced for part in parts]),
            np.concatenate([part.unused for part in parts]),
            None if parts[0].by_draw is None else np.concatenate([part.by_draw for part in parts]),
            _joined_counts(parts),
            _joined_exchange(parts),
        )

    def at(self, question: int) -> PairedRisks:
        """Return the risks of one of the questions."""
        one = slice(question, question + 1)
        return PairedRisks(
            self.base[one],
            self.replaced[one],
            self.unused[one],
            None if self.by_draw is None else self.by_draw[one],
            None if self.n_coefficients is None else self.n_coefficients[one],
            None if self.exchange is None else self.exchange[one],
        )


def _joined_counts(parts: Sequence[PairedRisks]) -> NDArray[Any] | None:
    """Concatenate the numbers of coefficients; unknown numbers are infinite."""
    if all(part.n_coefficients is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(len(part.unused), np.inf) if part.n_coefficients is None else part.n_coefficients
            for part in parts
        ]
    )


def _joined_exchange(parts: Sequence[PairedRisks]) -> Floats | None:
    """Concatenate the exchange scores; a feature that no model uses has the score 0."""
    if all(part.exchange is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros(len(part.unused)) if part.exchange is None else part.exchange for part in parts]
    )
