"""Shrinkage with products of columns: replacing one column changes every product that it is part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ppfs._conventions import Floats
from ppfs._fitting import Design
from ppfs._rows import Split
from ppfs.independence._predictive.draws import Draws
from ppfs.independence._predictive.risks.linear.members import LinearMembers, SplitData, outputs_of
from ppfs.independence._predictive.risks.linear.steps import is_joint
from ppfs.independence._predictive.risks.linear.target import TrainTarget
from ppfs.independence._predictive.risks.paired import PairedRisks

# Products have longer tails than columns, and the distribution of the row test is a first-order approximation: with
# the plain number of coefficients, the model rejected up to 10 % of true nulls at 5 % (docs/decisions/0150).
_ALLOWANCE = 2


def n_products(steps: Sequence[Any], n_columns: int) -> int:
    """Return how many regressors steps with products make of `n_columns` columns."""
    joint = next(step for step in steps if is_joint(step))
    return int(clone(joint).fit(np.zeros((1, n_columns))).n_output_features_)


class JointMembers(LinearMembers):
    """`LinearMembers` of models with products: the regressors of a replaced copy are computed again."""

    def _prepared(self, split: Split) -> SplitData:
        train, test = self._columns[split.train], self._columns[split.test]
        steps = []
        for step in self._recipe.steps:
            steps.append(clone(step).fit(train))
            train = np.asarray(steps[-1].transform(train), dtype=np.float64)
        # Each thread has splits of its own, so that no two write to the same entry.
        self._steps[split.seed] = steps
        data = self._recipe.solver.data(np.ascontiguousarray(train.T), TrainTarget.of(self._problem, split))
        return SplitData(data, self._regressors_of(split, test), None)

    def _regressors_of(self, split: Split, rows: Floats) -> Floats:
        """Return regressors of shape (n_regressors, n_rows)."""
        for step in self._steps[split.seed]:
            rows = np.asarray(step.transform(rows), dtype=np.float64)
        return np.ascontiguousarray(rows.T)

    def _of_some(self, design: Design) -> list[SplitData] | None:
        return None

    def _risk(self, feature: int) -> PairedRisks:
        """Answer about one member; its coefficients are those of all regressors that contain it."""
        joint = next(step for step in self._steps[self._problem.splits[0].seed] if is_joint(step))
        has_part = (joint.powers_[:, self._design.places[feature]] > 0).any(axis=1)
        n_scores = max(1, self._problem.classes.size - 1)
        counted = np.array([_ALLOWANCE * n_scores * int(has_part.sum())])
        return replace(super()._risk(feature), n_coefficients=counted)

    def _moved(self, feature: int, draws: Draws, first: int, end: int) -> Floats:
        place, moved = self._design.places[feature], []
        for model, split in zip(self._models, self._problem.splits, strict=True):
            values = draws.values(split, first, end)
            copies = np.repeat(self._columns[split.test][np.newaxis], end - first, axis=0)
            copies[:, :, place] = values
            made = self._regressors_of(split, copies.reshape(-1, copies.shape[2]))
            new = outputs_of(model.slopes, made).reshape(end - first, split.test.size, -1)
            old = outputs_of(model.slopes, self._regressors_of(split, self._columns[split.test]))
            moved.append(new - old)
        return np.concatenate(moved, axis=1)
