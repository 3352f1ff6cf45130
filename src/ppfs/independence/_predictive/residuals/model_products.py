"""Answers from products of residuals of the target and of what the caller's models predict of it from x."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs.independence._predictive.residuals.regressions import Fit
from ppfs.independence._predictive.residuals.regressors import GivenColumn, unit
from ppfs.independence._predictive.residuals.residual_products import (
    Asked,
    Member,
    Question,
    ResidualProducts,
)
from ppfs.independence._predictive.residuals.smoother import Residuals
from ppfs.independence._predictive.residuals.statistics import ProductTest, Tested
from ppfs.independence._predictive.risks.paired import LaterViews, Views
from ppfs.independence._predictive.risks.source import RiskSource

# The scale of the models' predictions in the design: that of a line.
_SCALE = 4.0

# Differences below this share of the largest prediction are rounding error.
_ROUNDING = 2.0**-40


class ModelProducts(ResidualProducts):
    """Tests x given other columns by what models of x and the others predict beyond the others.

    The function of x is h(x, z) = f(x, z) - f(z), where f(x, z) is what a model of other rows predicts, and f(z) is the
    mean of its predictions with the values of x shuffled: what it predicts from z alone. Both are cross-fitted. f(z)
    is also a regressor for the target and for h, beside those that all questions have: the caller's model is one of the
    learners of the target given z (docs/decisions/0320-models-as-members.md).

    Parameters
    ----------
    sources : mapping of int to RiskSource
        The models by their number in the answers' `model_pvalues`.

    table, n_models, entropy, fold, further
        See `ResidualProducts`.
    """

    def __init__(
        self,
        table: Table,
        sources: Mapping[int, RiskSource],
        n_models: int,
        entropy: int,
        fold: int,
        *further: Any,
    ) -> None:
        problem = next(iter(sources.values())).problem
        super().__init__(table, problem, {}, n_models, entropy, fold, *further)
        self._sources = sources
        self._tested_rows = np.concatenate([split.test for split in problem.splits])

    def _views(self, x: int, others: tuple[int, ...], *, is_added: bool) -> Mapping[int, LaterViews]:
        members = frozenset((*others, x))
        return {
            number: source.views_later(x, members, is_added=is_added)
            for number, source in self._sources.items()
        }

    def _asked(self, question: Question, given: list[GivenColumn]) -> Asked:
        found = {number: views() for number, views in question.views.items()}
        used = {number: views for number, views in found.items() if views is not None}
        without = [unit(self._by_row(one.without)) * _SCALE for one in used.values()]
        members = [Member(number, 1.0, self._by_row(_difference(one))) for number, one in used.items()]
        return Asked([member for member in members if member.functions.any()], without)

    def _by_row(self, predicted: Floats) -> Floats:
        """Return predictions in the order of the table's rows, one per output of the target."""
        outputs = predicted[:, predicted.shape[1] - self._outputs.shape[1] :]
        answer = np.zeros((self._table.n_rows, outputs.shape[1]))
        answer[self._tested_rows] = np.nan_to_num(outputs, posinf=0.0, neginf=0.0)
        return answer

    def _judged(self, fit: Fit, part: Residuals, member: Member) -> Tested:
        return ProductTest(fit.target, fit.smoother, self.problem.groups).of_predictions(part)


def _difference(views: Views) -> Floats:
    """Return what a feature adds to predictions; differences that are only rounding error are 0."""
    difference = views.own - views.without
    return np.where(np.abs(difference) > _ROUNDING * np.abs(views.own).max(initial=0.0), difference, 0.0)
