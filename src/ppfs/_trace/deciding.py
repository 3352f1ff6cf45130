"""The step that decided about each feature, found without creating a step for every answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._trace.batch import StepBatch
from ppfs._trace.outcome import decides
from ppfs._trace.steps import Step


class DecidingSteps(Mapping[int, Step]):
    """The step that decided about each feature, given the blanket that a fold's search found.

    This is the last step whose decision agrees with the outcome. For example, a spouse is independent of
    the target given one set and dependent given another; the latter decides. A feature that was not tested, or
    for which there were too few rows, has no such step.

    Attributes
    ----------
    pvalues, effects : ndarray of shape (n_features,)
        Of the deciding answer; 1 and 0 if there is none.
    """

    def __init__(
        self, parts: Sequence[Step | StepBatch], n_features: int, fold: int, blanket: Collection[int]
    ) -> None:
        self._parts = parts
        # The position of the step: the number of the part, and its number within the part.
        self._part: NDArray[np.intp] = np.full(n_features, -1, dtype=np.intp)
        self._within: NDArray[np.intp] = np.zeros(n_features, dtype=np.intp)
        self.pvalues: Floats = np.ones(n_features)
        self.effects: Floats = np.zeros(n_features)
        members = set(blanket)
        mask = np.zeros(n_features, dtype=bool)
        mask[list(members)] = True
        for number, part in enumerate(parts):
            if isinstance(part, Step):
                if decides(part, fold, members):
                    self._enter(number, part.feature, 0, part.pvalue, part.effect)
            elif part.fold == fold and part.is_main:
                agrees = np.flatnonzero(part.is_reliable & (part.is_favorable == mask[part.features]))
                self._enter(number, part.features[agrees], agrees, part.pvalues[agrees], part.effects[agrees])

    def _enter(
        self,
        number: int,
        features: int | NDArray[np.intp],
        within: int | NDArray[np.intp],
        pvalues: float | Floats,
        effects: float | Floats,
    ) -> None:
        self._part[features], self._within[features] = number, within
        self.pvalues[features], self.effects[features] = pvalues, effects

    def batches(self) -> Iterator[tuple[StepBatch, NDArray[np.intp], NDArray[np.intp]]]:
        """Yield each deciding batch, its features, and their positions in the batch."""
        order = np.argsort(self._part, kind="stable")
        starts = np.flatnonzero(np.diff(self._part[order], prepend=-2))
        for features in np.split(order, starts[1:]):
            part = self._parts[int(self._part[features[0]])] if self._part[features[0]] >= 0 else None
            if isinstance(part, StepBatch):
                yield part, features, self._within[features]

    def __getitem__(self, feature: int) -> Step:
        if not 0 <= feature < self._part.size or self._part[feature] < 0:
            raise KeyError(feature)
        part = self._parts[int(self._part[feature])]
        return part if isinstance(part, Step) else part[int(self._within[feature])]

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self._part >= 0).tolist())

    def __len__(self) -> int:
        return int((self._part >= 0).sum())
