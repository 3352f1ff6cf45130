"""Shrinkage with products of columns: replacing one column changes every product that it is part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ppfs._models import Design
from ppfs._rows import Split
from ppfs._types import Floats
from ppfs.independence._predictive.knockoffs import Draws
from ppfs.independence._predictive.risks.linear.members import LinearMembers, SplitData, outputs_of
from ppfs.independence._predictive.risks.linear.steps import is_joint
from ppfs.independence._predictive.risks.linear.target import TrainTarget
from ppfs.independence._predictive.risks.paired import PairedRisks


def n_products(steps: Sequence[Any], n_columns: int) -> int:
    """Return how many regressors steps with products make of some columns."""
    joint = next(step for step in steps if is_joint(step))
    return int(clone(joint).fit(np.zeros((1, n_columns))).n_output_features_)


class JointMembers(LinearMembers):
    """`LinearMembers` of models with products: the regressors of a replaced copy are made anew."""

    def _prepared(self, split: Split) -> SplitData:
        train, test = self._columns[split.train], self._columns[split.test]
        steps = []
        for step in self._recipe.steps:
            steps.append(clone(step).fit(train))
            train = np.asarray(steps[-1].transform(train), dtype=np.float64)
        # Each thread has splits of its own, so that none writes where another one does.
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
        # How many coefficients a feature takes is counted for sums of functions of one column only.
        return replace(super()._risk(feature), n_coefficients=None)

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
