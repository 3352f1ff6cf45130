"""Shrinkage: one linear model per split, fitted on all members, and its risk when one member is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats, as_many_as_fit
from ppfs._fitting import Design, dense
from ppfs._rows import Split
from ppfs.independence._predictive.drawing import over_draws
from ppfs.independence._predictive.draws import Draws, PermutedValues
from ppfs.independence._predictive.losses import Output
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.linear.categories import FittedColumns
from ppfs.independence._predictive.risks.linear.outputs import as_predicted
from ppfs.independence._predictive.risks.linear.recipe import Recipe
from ppfs.independence._predictive.risks.linear.solver import TrainData
from ppfs.independence._predictive.risks.linear.steps import FittedSteps, require_squarable
from ppfs.independence._predictive.risks.linear.target import TrainTarget
from ppfs.independence._predictive.risks.paired import PairedRisks, Views

# Outputs of models that are computed at once.
_MAX_OUTPUTS = 2**21

# Data that fits of fewer members can share is kept up to this many values, over all splits.
_MAX_SHARED = 2**24


@dataclass(frozen=True)
class SplitData:
    """The regressors of the members in one split.

    Attributes
    ----------
    test : ndarray of shape (n_regressors, n_test)

    scales : ndarray of shape (n_columns,) or None
        The scales of the columns; None where regressors are more than shifted and scaled columns.
    """

    data: TrainData
    test: Floats
    scales: Floats | None

    def kept(self, regressors: NDArray[np.intp], columns: NDArray[np.intp]) -> SplitData:
        """Return the regressors of some of the members."""
        scales = None if self.scales is None else self.scales[columns]
        return SplitData(self.data.kept(regressors), np.ascontiguousarray(self.test[regressors]), scales)

    @property
    def n_numbers(self) -> int:
        """The number of values that are kept."""
        return int(self.data.design.size + self.test.size)


@dataclass(frozen=True)
class SplitModel:
    """The model of one split.

    Attributes
    ----------
    slopes : ndarray of shape (n_scores, n_regressors)

    outputs : ndarray of shape (n_test, n_scores)

    scales : ndarray of shape (n_columns,) or None
        See `SplitData`.
    """

    slopes: Floats
    outputs: Floats
    scales: Floats | None


class LinearMembers:
    """The models of one set of members, fitted once for questions about any of the members.

    Each model is a sum of one function per column, so replacing a feature changes the outputs by the change of its own
    function. No answer depends on earlier questions: regressors and their products are the same numbers whether they
    are computed or taken from a larger set.

    Parameters
    ----------
    design : Design
        The members' columns.

    larger : LinearMembers or None
        The models of a larger set, whose regressors can be used again.
    """

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        design: Design,
        n_threads: int,
        larger: LinearMembers | None = None,
    ) -> None:
        self._problem = problem
        self._recipe = recipe
        self._design = design
        self._columns = dense(design.X)
        # Numbers are standardized where there are categories beside them, as they are for scikit-learn's models.
        self._is_encoded = recipe.is_mixed and bool(design.n_levels.any())
        self._starts = np.append(0, np.cumsum(recipe.widths(design.n_levels)))
        require_squarable(self._columns, design.column_names, recipe.steps, problem.estimator)
        known = None if larger is None else larger._of_some(design)

        def fitted(number: int) -> tuple[SplitData | None, SplitModel]:
            part = self._prepared(problem.splits[number]) if known is None else known[number]
            # Data that is not kept is dropped at once: that of all splits together may not fit in memory.
            is_kept = part.n_numbers * len(problem.splits) <= _MAX_SHARED
            return part if is_kept else None, _fitted(part)

        both = _engine.run_tasks(fitted, range(len(problem.splits)), n_threads)
        self._models = [model for _, model in both]
        self._outputs = np.concatenate([model.outputs for model in self._models])
        parts = [part for part, _ in both if part is not None]
        self._parts = parts if len(parts) == len(both) else None
        self._base = self._losses(self._outputs[np.newaxis])[0]

    def _prepared(self, split: Split) -> SplitData:
        """Make the regressors of one split."""
        train, test = self._columns[split.train], self._columns[split.test]
        steps = self._fitted_steps(split, slice(None))
        data = self._recipe.solver.data(
            np.ascontiguousarray(steps.transform(train).T), TrainTarget.of(self._problem, split)
        )
        return SplitData(data.with_products(), np.ascontiguousarray(steps.transform(test).T), steps.scales())

    def _of_some(self, design: Design) -> list[SplitData] | None:
        """Return the regressors of some of the members; None if some are not members, or if none were kept."""
        if self._parts is None or not design.places.keys() <= self._design.places.keys():
            return None
        if self._is_encoded and not design.n_levels.any():
            return None
        places = [self._design.places[feature] for feature in design.places]
        columns = np.concatenate([np.arange(place.start, place.stop) for place in places])
        regressors = np.concatenate([np.arange(self._starts[c], self._starts[c + 1]) for c in columns])
        return [part.kept(regressors, columns) for part in self._parts]

    def views(self, feature: int) -> Views:
        """Return what the models predict with a feature, and with its values shuffled."""
        problem = self._problem
        wanted: Output = "probabilities" if problem.classes.size else "values"
        draws = PermutedValues(self._design, feature)
        own = as_predicted(self._outputs, wanted).reshape(len(self._outputs), -1)
        total, at_once = np.zeros_like(own), as_many_as_fit(_MAX_OUTPUTS, self._outputs.size)
        for first in range(0, problem.n_draws, at_once):
            moved = self._moved(feature, draws, first, min(first + at_once, problem.n_draws))
            predicted = as_predicted(self._outputs + moved, wanted)
            total += predicted.reshape(len(moved), *own.shape).sum(axis=0)
        return Views(own, total / problem.n_draws)

    def risks(self, features: Sequence[int]) -> PairedRisks:
        """Return the risks of questions about some of the members."""
        return PairedRisks.joined([self._risk(feature) for feature in features])

    def _risk(self, feature: int) -> PairedRisks:
        problem = self._problem
        draws = problem.knockoff(self._design, feature)

        def evaluate(first: int, end: int) -> Floats:
            at_once = as_many_as_fit(_MAX_OUTPUTS, self._outputs.size)
            parts = [
                self._losses(self._outputs + self._moved(feature, draws, start, min(start + at_once, end)))
                for start in range(first, end, at_once)
            ]
            return np.concatenate(parts)[np.newaxis]

        drawn = over_draws(problem, self._base, evaluate)
        n_scores = max(1, problem.classes.size - 1)
        place = self._design.places[feature]
        n_coefficients = n_scores * sum(map(self._n_coefficients, range(place.start, place.stop)))
        return PairedRisks(
            self._base[np.newaxis],
            drawn.replaced,
            np.zeros(1, dtype=bool),
            drawn.by_draw,
            np.array([n_coefficients]),
        )

    def _n_coefficients(self, column: int) -> float:
        if not (self._is_encoded and self._design.n_levels[column]):
            return self._recipe.n_coefficients
        trains = [split.train for split in self._problem.splits]
        return self._recipe.n_coefficients_of(self._columns[:, column], trains)

    def _moved(self, feature: int, draws: Draws, first: int, end: int) -> Floats:
        """Return how the outputs change when draws replace a feature, shape (n_draws, n_tested, n_scores)."""
        if draws.is_permutation:
            own = self._contributions(feature)
            moved: Floats = own[self._shuffles[first:end]] - own
            return moved
        moved_by_split = [
            self._moved_in(number, feature, draws.values(split, first, end))
            for number, split in enumerate(self._problem.splits)
        ]
        return np.concatenate(moved_by_split, axis=1)

    @cached_property
    def _shuffles(self) -> NDArray[np.intp]:
        """The permutations of all test parts, concatenated."""
        sizes = [split.test.size for split in self._problem.splits]
        starts = np.cumsum([0, *sizes[:-1]])
        return np.hstack(
            [split.permutations + start for split, start in zip(self._problem.splits, starts, strict=True)]
        )

    def _contributions(self, feature: int) -> Floats:
        """Return the part of the outputs that is due to one feature, shape (n_tested, n_scores)."""
        parts = [
            outputs_of(model.slopes[:, self._regressors(feature)], self._tested(number, feature))
            for number, model in enumerate(self._models)
        ]
        return np.concatenate(parts)

    def _regressors(self, feature: int) -> slice:
        place = self._design.places[feature]
        return slice(int(self._starts[place.start]), int(self._starts[place.stop]))

    def _tested(self, number: int, feature: int) -> Floats:
        """Return the regressors of one feature in a test part, shape (n_regressors, n_test)."""
        if self._parts is not None:
            return self._parts[number].test[self._regressors(feature)]
        tested = self._columns[self._problem.splits[number].test, self._design.places[feature]]
        return self._steps_of(number, feature).transform(tested).T

    def _steps_of(self, number: int, feature: int) -> FittedSteps | FittedColumns:
        return self._fitted_steps(self._problem.splits[number], self._design.places[feature])

    def _fitted_steps(self, split: Split, place: slice) -> FittedSteps | FittedColumns:
        """Return what makes regressors of some columns, fitted to the train part of a split."""
        train = self._columns[split.train, place]
        if not self._is_encoded:
            return FittedSteps.of(self._recipe.steps, train)
        weights = TrainTarget.of(self._problem, split).weights
        return FittedColumns.of(self._recipe.steps, self._design.n_levels[place], train, weights)

    def _moved_in(self, number: int, feature: int, values: Floats) -> Floats:
        """Return by how much the outputs of one test part change; values have shape (n_draws, n_test, n_columns)."""
        model, place = self._models[number], self._design.places[feature]
        slopes = model.slopes[:, self._regressors(feature)]
        n_draws, n_test, n_columns = values.shape
        if model.scales is not None and not (self._is_encoded and self._design.n_levels[place].any()):
            tested = self._columns[self._problem.splits[number].test, place]
            return outputs_of(slopes / model.scales[place], np.moveaxis(values - tested, 2, 0))
        made = self._steps_of(number, feature).transform(values.reshape(-1, n_columns))
        drawn = outputs_of(slopes, made.T).reshape(n_draws, n_test, -1)
        return drawn - outputs_of(slopes, self._tested(number, feature))

    def _losses(self, outputs: Floats) -> Floats:
        """Return what is compared, from outputs of shape (n_copies, n_tested, n_scores)."""
        problem = self._problem
        n_copies, n_tested, _ = outputs.shape
        predictions = as_predicted(outputs, problem.loss.output)
        truth = np.tile(problem.truth[self._rows], n_copies)
        flat = predictions.reshape(truth.size, *predictions.shape[2:])
        losses: Floats = problem.loss.rows(truth, flat).reshape(n_copies, n_tested)
        compared, start = [], 0
        for split in problem.splits:
            own = np.ascontiguousarray(losses[:, start : start + split.test.size])
            compared.append(problem.weights.weighed(own, split.test, problem.is_by_row))
            start += split.test.size
        return np.concatenate(compared, axis=1)

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        """The rows of all test parts, concatenated."""
        return np.concatenate([split.test for split in self._problem.splits])


def _fitted(part: SplitData) -> SplitModel:
    slopes, intercepts = part.data.fit()
    return SplitModel(slopes, outputs_of(slopes, part.test) + intercepts, part.scales)


def outputs_of(slopes: Floats, regressors: Floats) -> Floats:
    """Return the sums of slopes times regressors, shape (..., n_scores).

    BLAS is not used, since its sums may depend on the number of its threads.

    Parameters
    ----------
    slopes : ndarray of shape (n_scores, n_regressors)

    regressors : ndarray of shape (n_regressors, ...)
    """
    outputs: Floats = np.einsum("sr,r...->...s", slopes, regressors)
    return outputs
