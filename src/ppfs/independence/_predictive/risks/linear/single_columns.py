"""Growth: one linear model per column, a block of columns at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats, as_many_as_fit
from ppfs._data import Block
from ppfs._fitting import dense
from ppfs._parallel import MOST_THREADS_OF_PYTHON
from ppfs._rows import Split
from ppfs.independence._predictive.losses import losses_of_class
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ModelGrower
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.linear.categories import FittedCategories, n_slots
from ppfs.independence._predictive.risks.linear.outputs import as_predicted
from ppfs.independence._predictive.risks.linear.recipe import Recipe
from ppfs.independence._predictive.risks.linear.steps import FittedSteps, require_squarable
from ppfs.independence._predictive.risks.linear.target import TrainTarget
from ppfs.independence._predictive.risks.paired import PairedRisks

# Losses of draws that are computed in one step: some megabytes of them.
_LOSSES_AT_ONCE = 2**19

# NumPy is ten times as slow on rows of one or two numbers as on longer rows.
_BYTES_PER_BLOCK, _LEAST_COLUMNS = 2**20, 4


@dataclass(frozen=True)
class LinearGrower(Grower):
    """Fits a linear model to each column of a block, all of them at once."""

    problem: Problem
    recipe: Recipe
    prefers = "threads"
    most_threads = MOST_THREADS_OF_PYTHON
    # One column is fitted as two.
    least_columns = 2

    @property
    def bytes_per_block(self) -> int:  # type: ignore[override]
        """How many bytes of columns are best processed together: at least a few columns."""
        return max(_BYTES_PER_BLOCK, _LEAST_COLUMNS * 8 * len(self.problem.y))

    @property
    def is_quick(self) -> bool:
        """Whether refits are fast: they take one step, or have one coefficient."""
        return not self.problem.classes.size or self.recipe.width == 1

    def for_many_columns(self) -> Grower:
        """Return what fits the same models with compiled kernels."""
        return replace(self, recipe=self.recipe.for_many_columns())

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        slots = np.where(self.recipe.is_mixed, n_slots(block.n_levels), 0)
        kinds = np.unique(slots)
        if kinds.size == 1:
            return self._risks(block)
        by_kind = [np.flatnonzero(slots == kind) for kind in kinds]
        answers = PairedRisks.joined([self._risks(block.take(columns)) for columns in by_kind])
        return answers.at_all(np.argsort(np.concatenate(by_kind)))

    def _risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about numbers, or about categories that have equally many regressors."""
        # At least two columns: NumPy adds up a single column in another order than one of several, and a
        # column's answer must not depend on the other columns of its block.
        # A block of several columns is copied only where it is not in C order.
        n_columns = block.n_columns
        two = [0, 0] if n_columns == 1 else slice(None)
        columns, n_levels = np.ascontiguousarray(dense(block.X[:, two])), block.n_levels[two]
        require_squarable(columns, block.names, self.recipe.steps, self.problem.estimator)
        by_split = [
            _split_risks(self.problem, self.recipe, columns, n_levels, split) for split in self.problem.splits
        ]
        base = np.concatenate([part.base for part in by_split], axis=1)[:n_columns]
        replaced = np.concatenate([part.replaced for part in by_split], axis=1)[:n_columns]
        over_pairs = np.sum([part.over_pairs for part in by_split], axis=0)[:n_columns]
        by_draw = over_pairs / base.shape[1] if self.problem.is_by_row else None
        n_scores = max(1, self.problem.classes.size - 1)
        n_coefficients = n_scores * self._n_coefficients(block)
        risks = PairedRisks(base, replaced, np.zeros(block.n_columns, dtype=bool), by_draw, n_coefficients)
        failed = np.isnan(base).any(axis=1) | np.isnan(replaced).any(axis=1)
        return self._without_failures(risks, block, failed) if failed.any() else risks

    def _n_coefficients(self, block: Block) -> NDArray[Any]:
        """Return the coefficients of each column, those of one output."""
        if not (self.recipe.is_mixed and block.n_levels.any()):
            return np.full(block.n_columns, self.recipe.n_coefficients, dtype=np.intp)
        trains = [split.train for split in self.problem.splits]
        columns = range(block.n_columns)
        return np.array([self.recipe.n_coefficients_of(block.X[:, column], trains) for column in columns])

    def _without_failures(self, risks: PairedRisks, block: Block, failed: NDArray[np.bool_]) -> PairedRisks:
        """Leave the columns whose fit failed to scikit-learn, which answers or raises."""
        one_by_one = ModelGrower(self.problem)
        parts = [risks.at(column) for column in range(block.n_columns)]
        for column in np.flatnonzero(failed):
            answer = one_by_one.risks(block.take(np.array([column])))
            parts[column] = replace(answer, n_coefficients=parts[column].n_coefficients)
        return PairedRisks.joined(parts)


@dataclass(frozen=True)
class _BlockRisks:
    """Risks of the columns of a block in one split.

    Attributes
    ----------
    base, replaced : ndarray of shape (n_columns, n_pairs)
        See `PairedRisks`.

    over_pairs : ndarray of shape (n_columns, n_draws)
        Sum over the pairs of this split.
    """

    base: Floats
    replaced: Floats
    over_pairs: Floats


def _split_risks(
    problem: Problem, recipe: Recipe, block: Floats, n_levels: NDArray[np.intp], split: Split
) -> _BlockRisks:
    """Compare each column of a block with its permutations in one split.

    Parameters
    ----------
    block : ndarray of shape (n_rows, n_columns)
        See `LinearGrower`.
    """
    target = TrainTarget.of(problem, split)
    if recipe.is_mixed and n_levels.any():
        categories = FittedCategories.of(recipe.steps, n_levels, block[split.train], target.weights)
        train, test = (categories.regressors(block[rows]) for rows in (split.train, split.test))
    else:
        train, test = _regressors(recipe, block, split)
    slopes, intercepts = recipe.solver.fit_columns(train, target)
    outputs = _outputs(slopes, intercepts, test)
    predictions = as_predicted(outputs, problem.loss.output)
    # A model of one column predicts from that column alone: permuting it permutes the predictions.
    orders = np.vstack([np.arange(split.test.size), split.permutations])
    pieces = _losses(problem, split, predictions, orders)
    first = next(pieces)
    base, draws = np.ascontiguousarray(first[:, 0]), first[:, 1:]
    replaced, over_pairs = np.zeros_like(base), []
    for piece in chain([draws], pieces):
        for draw in range(piece.shape[1]):
            replaced += piece[:, draw]
        over_pairs.append(piece.sum(axis=2))
    return _BlockRisks(base, replaced / problem.n_draws, np.hstack(over_pairs))


def _regressors(recipe: Recipe, block: Floats, split: Split) -> tuple[Floats, Floats]:
    """Return the regressors of the train and of the test rows, shape (n_regressors, n_rows, n_columns)."""
    train, test = block[split.train], block[split.test]
    if not recipe.steps:
        return train[np.newaxis], test[np.newaxis]
    fitted = FittedSteps.of(recipe.steps, train, is_single=True)
    made = (fitted.regressors(rows) for rows in (train, test))
    train, test = (np.ascontiguousarray(np.moveaxis(regressors, 2, 0)) for regressors in made)
    return train, test


def _outputs(slopes: Floats, intercepts: Floats, test: Floats) -> Floats:
    """Return the linear outputs of the test rows, shape (n_columns, n_test, n_scores)."""
    n_regressors, n_rows, n_columns = test.shape
    outputs = np.empty((n_columns, n_rows, slopes.shape[1]))
    for score in range(slopes.shape[1]):
        own = test[0] * slopes[:, score, 0]
        for regressor in range(1, n_regressors):
            own += test[regressor] * slopes[:, score, regressor]
        outputs[:, :, score] = (own + intercepts[:, score]).T
    return outputs


def _losses(
    problem: Problem, split: Split, predictions: NDArray[Any], orders: NDArray[np.intp]
) -> Iterator[Floats]:
    """Yield each column's losses, or their mean, for some of the orders, shape (n_columns, n_some, n_pairs).

    Parameters
    ----------
    predictions : ndarray of shape (n_columns, n_test, ...)

    orders : ndarray of shape (n_orders, n_test)
        The row whose prediction each row gets.
    """
    n_columns, n_test = len(predictions), split.test.size
    truth = problem.truth[split.test]
    n_classes = problem.classes.size
    # A loss depends on the row's class and the prediction: with few classes it is cheaper to compute all of these once.
    is_shared = 0 < n_classes < len(orders) and not problem.loss.wants_labels
    known = np.empty(0)
    if is_shared:
        known = np.hstack([losses_of_class(problem.loss, number, predictions) for number in range(n_classes)])
    at_once = as_many_as_fit(_LOSSES_AT_ONCE, n_columns * n_test) if is_shared else 1
    for start in range(0, len(orders), at_once):
        some = orders[start : start + at_once]
        if is_shared:
            # Fancy indexing would give another memory layout, and sums would depend on the block's size.
            by_row = np.take(known, (truth * n_test + some).ravel(), axis=1)
        else:
            by_row = _rows(problem, truth, predictions[:, some[0]])
        weighed = problem.weights.weighed(by_row.reshape(-1, n_test), split.test, problem.is_by_row)
        yield weighed.reshape(n_columns, len(some), -1)


def _rows(problem: Problem, truth: NDArray[Any], predictions: NDArray[Any]) -> Floats:
    """Return the loss of each row of each column, shape (n_columns, n_test)."""
    n_columns = len(predictions)
    flat = predictions.reshape(n_columns * truth.size, *predictions.shape[2:])
    by_row: Floats = problem.loss.rows(np.tile(truth, n_columns), flat).reshape(n_columns, -1)
    return by_row
