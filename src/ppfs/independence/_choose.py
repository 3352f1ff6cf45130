"""Tests by name, and the choice of one by the kinds of the columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ppfs._data import Table
from ppfs.independence._bound import Binding, BoundTest
from ppfs.independence._classical.contingency import ChiSquared, GSquared
from ppfs.independence._classical.correlation import FisherZ, PartialCorrelationT
from ppfs.independence._classical.likelihood_ratio import LikelihoodRatio
from ppfs.independence._predictive.cross_fit import CrossFitPPI
from ppfs.independence._predictive.ppi import PPI
from ppfs.independence._test import IndependenceTest


@dataclass(frozen=True)
class Choice:
    """A test, and why it suits the data."""

    test: IndependenceTest
    reason: str


class Automatic(IndependenceTest):
    """Choose the classical test that suits the columns: what ``independence="auto"`` means.

    `GSquared` when all columns and the target are categorical, `FisherZ` when all are continuous,
    `LikelihoodRatio` when there are both, or groups of continuous columns. Constant columns are ignored. Which columns
    are categorical is set by `categorical_features`; by default text, categories, booleans and integers with at most 20
    distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.independence import Automatic
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> Automatic().evaluate(X, X[:, 0] - X[:, 1], 0).pvalue < 0.05
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def _bind(self, table: Table, binding: Binding) -> BoundTest:
        return self.choose(table).test._bind(table, binding)

    def choose(self, table: Table) -> Choice:
        """Choose a test by the kinds of the columns and the target."""
        varied = [feature for feature in range(table.n_features) if not table.constant_mask[feature]]
        n_categorical = sum(bool(table.categorical_mask([feature]).all()) for feature in varied)
        is_labelled = table.task == "classification"
        if is_labelled and n_categorical == len(varied):
            return Choice(GSquared(), "GSquared, because all columns and the target are categorical")
        if not is_labelled and n_categorical == 0 and not table.has_feature_groups:
            return Choice(FisherZ(), "FisherZ, because all columns and the target are continuous")
        return Choice(
            LikelihoodRatio(),
            f"LikelihoodRatio, because {n_categorical} of {len(varied)} columns are categorical and the target is "
            f"{'categorical' if is_labelled else 'continuous'}",
        )


TESTS_BY_NAME: dict[str, Callable[[], IndependenceTest]] = {
    "auto": Automatic,
    "g2": GSquared,
    "chi2": ChiSquared,
    "fisher-z": FisherZ,
    "partial-t": PartialCorrelationT,
    "likelihood-ratio": LikelihoodRatio,
    "ppi": PPI,
    "cross-fit-ppi": CrossFitPPI,
}
