"""What a test compares: risks with a feature as it is, and with its knockoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats


@dataclass(frozen=True)
class PairedRisks:
    """Risks of several questions with the feature as it is, and with its knockoff.

    Attributes
    ----------
    base, replaced : ndarray of shape (n_questions, n_pairs)
        One pair a split (the mean loss over its test part), or one pair a tested row (its loss), in the order of
        the splits' test parts. `replaced` is the mean over the draws.

    unused : ndarray of bool, shape (n_questions,)
        Where it is known that no model uses the feature.

    by_draw : ndarray of shape (n_questions, n_draws), default=None
        The mean over all pairs of each draw; not a number for draws that an early stop made unnecessary. None
        where pairs are splits.

    n_coefficients : ndarray of shape (n_questions,), default=None
        How many coefficients a linear model spends on the feature; infinite where that is not known for one
        question, None where it is for none.

    exchange : ndarray of shape (n_questions,), default=None
        Where the rise of the risk stands among those that there would be if rows traded places with their draws, as a
        normal quantile; see `exchange_scores`. None where rows cannot trade, or need not.
    """

    base: Floats
    replaced: Floats
    unused: NDArray[np.bool_]
    by_draw: Floats | None = None
    n_coefficients: NDArray[Any] | None = None
    exchange: Floats | None = None

    @classmethod
    def joined(cls, parts: Sequence[PairedRisks]) -> PairedRisks:
        """Put the answers to several batches of questions below each other."""
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
    """Put the numbers of coefficients below each other; a model whose number is not known may have any."""
    if all(part.n_coefficients is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(len(part.unused), np.inf) if part.n_coefficients is None else part.n_coefficients
            for part in parts
        ]
    )


def _joined_exchange(parts: Sequence[PairedRisks]) -> Floats | None:
    """Put the rows' scores below each other; a feature that no model uses has none, and no rise either."""
    if all(part.exchange is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros(len(part.unused)) if part.exchange is None else part.exchange for part in parts]
    )
