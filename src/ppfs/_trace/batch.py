"""Many questions of one kind as arrays, which take less memory than one step per question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._trace.steps import FAVORABLE, Decision, Step


@dataclass(frozen=True)
class StepBatch:
    """Steps that share everything but the feature, the answer and the decision; see `Step`.

    Attributes
    ----------
    features : ndarray of int, shape (n_steps,)

    pvalues, statistics, effects, adjusted_pvalues : ndarray of shape (n_steps,)

    is_reliable : ndarray of bool, shape (n_steps,)

    is_first : ndarray of bool, shape (n_steps,)
        Whether the decision is the first of `decisions`, or the second.

    model_pvalues : ndarray of shape (n_steps, n_models) or None
        The p-value of each model of a panel; None without a panel.

    may_be_too_small : ndarray of bool, shape (n_steps,), or None
        None if none is.

    explained, root_effects : ndarray of shape (n_steps, 2) or None
    """

    fold: int
    phase: str
    given: tuple[int, ...]
    features: NDArray[np.intp]
    pvalues: Floats
    statistics: Floats
    effects: Floats
    adjusted_pvalues: Floats
    is_reliable: NDArray[np.bool_]
    is_first: NDArray[np.bool_]
    decisions: tuple[Decision, Decision]
    target: int | None = None
    withheld: tuple[int, ...] = ()
    model_pvalues: Floats | None = None
    may_be_too_small: NDArray[np.bool_] | None = None
    explained: Floats | None = None
    root_effects: Floats | None = None

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, number: int) -> Step:
        return Step(
            self.fold,
            self.phase,
            int(self.features[number]),
            self.given,
            float(self.pvalues[number]),
            float(self.statistics[number]),
            float(self.effects[number]),
            float(self.adjusted_pvalues[number]),
            self.decisions[0 if self.is_first[number] else 1],
            bool(self.is_reliable[number]),
            self.target,
            self.withheld,
            () if self.model_pvalues is None else tuple(self.model_pvalues[number].tolist()),
            self.may_be_too_small is not None and bool(self.may_be_too_small[number]),
            _measured(self.explained, number),
            _measured(self.root_effects, number),
        )

    def __iter__(self) -> Iterator[Step]:
        return (self[number] for number in range(len(self)))

    @property
    def is_main(self) -> bool:
        """Whether the questions were about the search's own target, with no feature withheld."""
        return self.target is None and not self.withheld

    @property
    def is_favorable(self) -> NDArray[np.bool_]:
        """Which decisions are in favor of the feature, shape (n_steps,)."""
        first, second = (decision in FAVORABLE for decision in self.decisions)
        return np.where(self.is_first, first, second)


def _measured(numbers: Floats | None, number: int) -> tuple[float, ...]:
    """Return two numbers of a step; nothing where they were not measured."""
    return () if numbers is None or np.isnan(numbers[number, 0]) else tuple(numbers[number].tolist())
