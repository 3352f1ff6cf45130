"""Several models that answer the same question, and their combined answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppfs.independence._answers import Answers
from ppfs.independence._predictive.significance import cauchy_combination


@dataclass(frozen=True)
class PanelMembers:
    """Which models of a panel answer a question, and how many there are in all.

    Questions given nothing may have models of their own.

    Attributes
    ----------
    numbers : tuple of int
        The numbers of the models that answer.

    weights : tuple of float
        The weight of the answer of each of them.

    n_models : int
        How many models all questions have together; 0 where there is no panel.
    """

    numbers: tuple[int, ...]
    weights: tuple[float, ...]
    n_models: int

    @classmethod
    def of(cls, models: Sequence[Any], numbers: Sequence[int], n_models: int) -> PanelMembers:
        """Choose some of the models; those of the caller have equal weights."""
        weights = tuple(getattr(models[number], "weight", 1.0) for number in numbers)
        return cls(tuple(numbers), weights, n_models)

    def some(self, places: Sequence[int]) -> PanelMembers:
        """Return those at some places."""
        numbers = tuple(self.numbers[place] for place in places)
        return PanelMembers(numbers, tuple(self.weights[place] for place in places), self.n_models)

    def joined(self, answers: Sequence[Answers]) -> Answers:
        """Combine the answers of the models: one p-value, and the effect of the model with the smallest p-value.

        Parameters
        ----------
        answers : sequence of Answers
            One per model that answers, about the same columns.
        """
        if not self.n_models:
            return answers[0]
        pvalues = np.column_stack([one.pvalues for one in answers])
        effects = np.column_stack([one.effects for one in answers])
        n = len(pvalues)
        by_model = np.full((n, self.n_models), np.nan)
        by_model[:, self.numbers] = pvalues
        # Of models with equal p-values, the one with the largest effect.
        clearest = np.lexsort((-effects, pvalues), axis=1)[:, 0]
        combined, statistics = cauchy_combination(pvalues, self.weights)
        return Answers(
            combined,
            statistics,
            effects[np.arange(n), clearest],
            np.all([one.is_reliable for one in answers], axis=0),
            np.all([one.is_inert for one in answers], axis=0),
            by_model,
            np.any([one.may_be_too_small for one in answers], axis=0),
            answers[0].explained,
            answers[0].root_effects,
        )
