"""What a test compares: risks with the original feature, and with its knockoff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats


@dataclass(frozen=True)
class Views:
    """What the models of all splits predict with a feature, and without its information.

    Attributes
    ----------
    own : ndarray of shape (n_tested, n_outputs)
        Predictions of the tested rows, in the order of the splits' test parts: probabilities of the classes or other
        scores of them, or numbers.

    without : ndarray of shape (n_tested, n_outputs)
        The mean of the predictions with the feature's values shuffled within the test part: a function of the other
        features alone.
    """

    own: Floats
    without: Floats


# Computes them, in any thread; None if no model uses the feature.
LaterViews = Callable[[], Views | None]


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

    moments : ndarray of shape (n_questions, n_moments), default=None
        What a test needs of the differences, where a GPU has summed them up: then `base` and `replaced` have no
        pairs. See `moments_of` for a t-test, and `rank_sums_on` for a signed-rank test.
    """

    base: Floats
    replaced: Floats
    unused: NDArray[np.bool_]
    by_draw: Floats | None = None
    n_coefficients: NDArray[Any] | None = None
    moments: Floats | None = None

    @classmethod
    def summed_up(cls, moments: Floats, n_coefficients: NDArray[Any] | None = None) -> PairedRisks:
        """Return the moments of differences alone."""
        nothing = np.empty((len(moments), 0))
        unused = np.zeros(len(moments), dtype=bool)
        return cls(nothing, nothing, unused, n_coefficients=n_coefficients, moments=moments)

    @classmethod
    def joined(cls, parts: Sequence[PairedRisks]) -> PairedRisks:
        """Concatenate the risks of several batches of questions."""
        if len(parts) == 1:
            return parts[0]
        return cls(**{field.name: _joined(parts, field.name) for field in fields(cls)})

    def at(self, question: int) -> PairedRisks:
        """Return the risks of one of the questions."""
        return self.at_all(np.array([question]))

    def at_all(self, questions: NDArray[np.intp]) -> PairedRisks:
        """Return the risks of some of the questions."""
        arrays: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        # In C order, whatever the original: NumPy adds up rows of other layouts in another order.
        own: dict[str, Any] = {
            name: None if array is None else np.take(array, questions, axis=0)
            for name, array in arrays.items()
        }
        return PairedRisks(**own)


# The entry of a batch that has none: an unknown number of coefficients.
_MISSING = {"n_coefficients": np.inf}


def _joined(parts: Sequence[PairedRisks], name: str) -> Any:
    """Concatenate the entries of one name, or return None where no batch has any."""
    arrays = [getattr(part, name) for part in parts]
    if all(array is None for array in arrays):
        return None
    return np.concatenate(
        [
            np.full(len(part.unused), _MISSING[name]) if array is None else array
            for part, array in zip(parts, arrays, strict=True)
        ]
    )
