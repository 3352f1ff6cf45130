"""Several models that answer the same question, and their combined answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ppfs._data import AnyBlock, Block
from ppfs.independence._answers import Answers
from ppfs.independence._predictive.marginal import Grown, Growth
from ppfs.independence._predictive.risks.cuda_panel import uploaded
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


@dataclass(frozen=True)
class PanelGrowth:
    """Growth with several models per block: the columns are read once.

    Attributes
    ----------
    parts : tuple of Growth
        One per model.

    members : PanelMembers

    of_categories : PanelGrowth or None
        What answers about columns of categories, if that is not this.
    """

    parts: tuple[Growth, ...]
    members: PanelMembers
    of_categories: PanelGrowth | None = None

    @property
    def n_models(self) -> int:
        """How many p-values of single models an answer holds."""
        return self.members.n_models

    @property
    def bytes_per_block(self) -> int:
        """How many bytes of columns are best processed together."""
        return min(part.bytes_per_block for part in self.parts)

    @property
    def prefers(self) -> Literal["threads"] | None:
        """The kind of workers that suits all models."""
        return "threads" if all(part.prefers == "threads" for part in self.parts) else None

    @property
    def takes_views(self) -> bool:
        """Whether blocks may be views of the caller's array."""
        return all(part.takes_views for part in self.parts)

    @property
    def is_on_device(self) -> bool:
        """Whether models are fitted on a GPU."""
        return any(part.is_on_device for part in self.parts)

    def prepare(self) -> None:
        """Make what all blocks share, before several threads need it at once."""
        for part in self.parts:
            part.prepare()

    def quick_part(self) -> PanelGrowth | None:
        """Return the models that are refitted quickly; None if none is, or if scikit-learn fits some."""
        quick = [number for number, part in enumerate(self.parts) if part.quick_part() is not None]
        if not quick or self.prefers != "threads":
            return None
        # A line through the dummies of a column takes any shape, so that it sees what slower models see.
        always = [number for number in quick if self.parts[number].grower.is_quick_with_categories]
        of_categories = self._some(always) if 0 < len(always) < len(quick) else None
        return replace(self._some(quick), of_categories=of_categories)

    def _some(self, numbers: Sequence[int]) -> PanelGrowth:
        members = PanelMembers(
            tuple(self.members.numbers[number] for number in numbers),
            tuple(self.members.weights[number] for number in numbers),
            self.n_models,
        )
        return PanelGrowth(tuple(self.parts[number] for number in numbers), members)

    def __call__(self, unread: AnyBlock) -> Grown:
        """Answer whether each column of a block is independent of the target."""
        block = unread.read()
        if self.of_categories is not None and block.n_levels.any():
            return self._by_kind(block, self.of_categories)
        if self.is_on_device:
            block = uploaded(block)
        grown = [part(block) for part in self.parts]
        return Grown(self.members.joined([one.answers for one in grown]), sum(one.n_fits for one in grown))

    def _by_kind(self, block: Block, of_categories: PanelGrowth) -> Grown:
        """Answer about numbers with all models, and about categories with some of them."""
        answers, n_fits = Answers.independent(block.n_columns, self.n_models), 0
        for growth, is_asked in ((self, block.n_levels == 0), (of_categories, block.n_levels > 0)):
            if is_asked.any():
                grown = growth(block.take(np.flatnonzero(is_asked)))
                answers.put(np.flatnonzero(is_asked), grown.answers)
                n_fits += grown.n_fits
        return Grown(answers, n_fits)
