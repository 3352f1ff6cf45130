"""A predictive test that tests every row once."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats, Interval, StrOptions
from ppfs._data import Table
from ppfs._rows import Split, draw_folds, folds_to_stratify, require_disjoint_tests
from ppfs.exceptions import InvalidInputError
from ppfs.independence._bound import Binding
from ppfs.independence._predictive.bound_predictive import BoundPredictiveTest
from ppfs.independence._predictive.predictive_test import PREDICTIVE_CONSTRAINTS, PredictiveTest
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.boosted_linear import is_boosted_linear, most_coefficients
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.significance import (
    effective_freedom,
    randomisation,
    seen_by_each_other,
    seen_in_moments,
)

# With fewer draws a randomization p-value of 5 % is impossible.
_MIN_RANDOMISATION_DRAWS = 19

# An early stop ends the draws when this many had no higher risk than the feature itself. The p-value is then this
# number divided by the draws made (Besag and Clifford, 1991).
_ENOUGH_AS_GOOD = 10


@dataclass(kw_only=True, eq=False, repr=False)
class CrossFitPPI(PredictiveTest):
    """Predictive independence test by cross-fitting: every row is tested once.

    The rows are divided into K folds, and a model is fitted on the rows outside each fold. Given nothing, the feature's
    values are shuffled in the fold, several times, and a one-sided test compares each row's loss, averaged over the
    draws, with its original loss.

    Given other columns, the products of two residuals are tested: of the target given the others, and of what the
    models predict from the feature beyond the others, given these. The p-value is right if either regression is;
    `may_be_too_small` of the answer says where both seem to be wrong
    (docs/decisions/0230-products-of-residuals.md, docs/decisions/0320-models-as-members.md). With
    ``estimator="panel"`` functions of the feature are tested instead of models, and no folds are needed.

    `significance`, `knockoff` and `conditional` can ask for draws instead: the feature is then replaced by draws from
    an estimate of it given the others, and the losses are compared as above.

    It needs K models per question, where the paper's test needs B = 30, and holds its level where the
    paper's test does not; docs/p-values.md has the measurements.

    Parameters
    ----------
    estimator : estimator, list of estimator, "panel" or None, default=None
        Any classifier or regressor; None is a decision tree. The p-values of several estimators are combined by
        Cauchy's method; "panel" is the estimators of `ppfs.models.default_panel`.

    n_folds : int, default=5
        The number of folds K.

    n_draws : int, default=10
        How often the feature is shuffled or drawn.

    significance : {"paired-t", "randomisation"}, default="paired-t"
        "paired-t" tests the mean of the rows' differences; see Notes. "randomisation" counts the draws
        whose total risk is no higher than the feature's own, p = (1 + count) / (n_draws + 1); it needs at
        least 19 draws, better 199. It does not allow for rows tested by each other's models (see Notes): use it
        with linear models. With full trees it rejected true nulls in up to 15 % of tables.

    knockoff : {"conditional", "permutation"}, default="conditional"
        What replaces the feature: draws given the other features, or its own values shuffled.

    conditional : estimator, default=None
        The model of a feature given the others: a regressor for numbers or a classifier for categories, fitted
        outside each fold. None is ridge regression with lines, curves and products of the features, fitted once on all
        rows (without the target).

    early_stop : bool, default=False
        With "randomisation", end the draws of a question as soon as 10 of them had no higher risk
        than the feature itself; the p-value is then 10 divided by the draws made. It is valid too, and saves most of
        the work for features that do not matter.

    exact_tail : bool or "auto", default="auto"
        Whether a search that tests every column given nothing, as `PPFS` does, counts small p-values by
        permutations: the column's values are rearranged, the models refitted, the same statistic compared. Such
        p-values are exact for any model, number of rows and distribution. A t-test over rows is not exact at
        p-values of 1e-5, which a correction for thousands of columns requires. "auto" counts where the engine does the
        refits, there are at most 500 rows, and `significance` is "paired-t". See Notes.

    stratify : bool or "auto", default="auto"
        Keep the proportions of the classes in the folds; "auto" does when every class has a row for each fold.

    loss : str or callable, default="auto"
        For classification "log-loss", "brier", "hinge" or "zero-one", for regression "squared" or "absolute", or a
        callable ``loss(y_true, prediction)`` that returns one loss per row; see `PPI` for its arguments. "auto" is the
        Brier score, or hinge for classifiers that have only ``decision_function``, or zero-one for those with neither;
        squared error for regression. The log-loss of a wrong prediction with probability 1 is unbounded, and the leaves
        of a full tree have probabilities of 0 and 1: a few rows would decide, and the level of 5 % became 19 %.

    class_weight : dict, "balanced" or None, default=None
        The weight of a row's loss, by its class; "balanced" gives all classes the same total weight. The fit is not
        weighted: for that, set `class_weight` of the estimator.

    impute : "median" or None, default=None
        How missing values in numeric columns are filled: with the column's median in each train part. None leaves them
        to estimators that accept NaN, and is an error for others. Missing values in categorical columns are a category.

    splitter : splitter or list of (train, test) pairs, default=None
        Any scikit-learn splitter whose test parts are disjoint, instead of the folds: `n_folds` and `stratify`
        are then ignored. A splitter whose `random_state` is None is seeded from `random_state`.

    task : {"auto", "classification", "regression", "count", "positive", "ordinal", "survival"}, default="auto"
        "auto" follows the estimator, or the target where the estimator is None.

    marginal_estimator : estimator, list of estimator, "panel" or None, default=None
        Another model for questions given nothing; None is `estimator`.

    random_state : int, Generator, RandomState or None, default=None
        Seeds folds and draws, and the estimator where its own `random_state` is None.

    n_jobs : int, default=None
        Parallel fits; ``joblib.parallel_config`` chooses the backend.

    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where single columns are tested: "cuda" is an NVIDIA GPU, which grows decision trees and random forests on dense
        columns and needs CuPy; "auto" takes it where it can and pays, and says in the trace what it took and why. The
        answers are the same; see docs/gpu.md.

    Notes
    -----
    A chance pattern that two rows share counts twice: when the first is tested by a model fitted on the second, and the
    other way round. The variance of the mean difference is therefore larger than that of independent rows, at
    most twice as large, which is what "paired-t" allows for. Where the number of coefficients of a linear model for the
    feature is known, so is the distribution of the t-statistic, and it is used; with one coefficient
    the plain paired t-test holds its level (docs/decisions/0101-what-rows-share.md).

    Where `groups` are passed to `fit`, rows of one group are in the same fold, and "paired-t" tests the sums of the
    groups instead of the rows: rows of a group are not independent, and count as one observation. Its degrees of
    freedom are the effective number of groups with a difference (docs/decisions/0150-rows-that-carry-the-answer.md).

    Permutations (`exact_tail`) are made for columns whose approximate p-value is small, as many as the correction for
    the number of columns requires; models are refitted to those that pass a quick screening for dependence
    (docs/decisions/0145-draws-follow-the-correction.md). Rows are permuted freely; with `groups`, a column that is
    constant within groups is permuted by group, and in any other column whole groups of the same number of
    rows are exchanged. Weights stay with the target. Questions given other columns, and `evaluate`, are not counted.

    The p-value is only as good as the estimate of the feature given the others: no test is
    valid for every distribution and also has power (Shah and Peters, 2020).

    References
    ----------
    Watson and Wright, "Testing conditional independence in supervised learning algorithms", Machine Learning 110, 2021.

    Tansey, Veitch, Zhang, Rabadan and Blei, "The holdout randomization test for feature selection in black box
    models", Journal of Computational and Graphical Statistics 31, 2022.

    Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991.

    Shah and Peters, "The hardness of conditional independence testing and the generalized covariance measure", 2020.

    Lundborg, Kim, Shah and Samworth, "The projected covariance measure for assumption-lean variable significance
    testing", Annals of Statistics 52, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs.independence import CrossFitPPI
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> test = CrossFitPPI(random_state=0)
    >>> test.evaluate(X, y, "petal width (cm)").pvalue < 0.001
    True
    >>> test.evaluate(X, y, "sepal width (cm)", given=["petal width (cm)", "petal length (cm)"]).pvalue < 0.05
    False
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PREDICTIVE_CONSTRAINTS,
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "significance": [StrOptions({"paired-t", "randomisation"})],
        "early_stop": ["boolean"],
        "exact_tail": ["boolean", StrOptions({"auto"})],
    }

    is_by_row = True
    loss_of_probabilities = "brier"

    n_folds: int = 5
    n_draws: int = 10
    significance: str = "paired-t"
    knockoff: str = "conditional"
    early_stop: bool = False
    exact_tail: bool | Literal["auto"] = "auto"

    def _bind(self, table: Table, binding: Binding) -> BoundPredictiveTest:
        return BoundPredictiveTest(table, binding, self)

    @property
    def uses_products(self) -> bool:
        """Whether questions given other columns are answered by products of residuals, without draws."""
        return self.significance == "paired-t" and self.knockoff == "conditional" and self.conditional is None

    @property
    def counts_draws(self) -> bool:
        """Whether p-values are counts of draws that are no worse."""
        return self.significance == "randomisation"

    @property
    def stop_after(self) -> int:
        """After how many draws that are as good as the feature itself a question ends."""
        return _ENOUGH_AS_GOOD if self.early_stop else 0

    def check(self, table: Table) -> None:
        """Raise if the table has too few rows, or if parameters contradict each other."""
        n_rows = table.n_rows
        if self.splitter is None and n_rows < 2 * self.n_folds:
            raise InvalidInputError(
                f"CrossFitPPI(n_folds={self.n_folds}) needs at least {2 * self.n_folds} rows, two in each fold, "
                f"but there are {n_rows}. Use more rows, or fewer folds of the test, for example "
                "independence=CrossFitPPI(n_folds=2)."
            )
        is_counting = self.significance == "randomisation"
        if is_counting and self.n_draws < _MIN_RANDOMISATION_DRAWS:
            raise InvalidInputError(
                f"n_draws={self.n_draws} is too few for significance='randomisation', whose smallest p-value would be "
                f"{1 / (self.n_draws + 1):.3g}: at least {_MIN_RANDOMISATION_DRAWS} draws are needed. Raise n_draws, "
                "for example to 199, or use significance='paired-t'."
            )
        if is_counting and table.groups is not None:
            raise InvalidInputError(
                "significance='randomisation' needs independent rows, but groups or time were passed to fit, and rows "
                "of a group are not drawn together. Use significance='paired-t'."
            )
        if self.early_stop and not is_counting:
            raise InvalidInputError(
                f"early_stop=True needs significance='randomisation', but it is {self.significance!r}: only "
                "counting draws can end early. Use significance='randomisation' with n_draws=199, or early_stop=False."
            )

    def labels_to_stratify(self, labels: NDArray[Any], table: Table, warn: bool) -> NDArray[Any] | None:
        """Return the labels whose proportions the folds keep, or None."""
        return folds_to_stratify(labels, self.stratify, self.n_folds, warn=warn)

    def draw_splits(self, table: Table, labels: NDArray[Any] | None, entropy: int, fold: int) -> list[Split]:
        """Divide the rows into folds, each of them the test part of one split."""
        return draw_folds(
            table.n_rows,
            labels,
            n_folds=self.n_folds,
            entropy=entropy,
            fold=fold,
            n_draws=self.n_draws,
            groups=table.groups,
            time=table.time,
        )

    def check_splits(self, splits: list[Split]) -> None:
        """Raise if a row is tested twice."""
        require_disjoint_tests(splits, user=type(self).__name__)

    def assess(
        self, risks: PairedRisks, differences: Floats, problem: Problem, is_screened: bool
    ) -> tuple[Floats, Floats]:
        """Test the rows' differences, or the groups', or count the draws."""
        if self.significance == "randomisation":
            assert risks.by_draw is not None
            return randomisation(risks.base.mean(axis=1), risks.by_draw, self.stop_after)
        is_counted = is_boosted_linear(problem.estimator)
        n_coefficients = np.full(len(risks.unused), most_coefficients(problem) if is_counted else np.inf)
        if risks.n_coefficients is not None:
            n_coefficients[:] = risks.n_coefficients
        if problem.pair_groups is not None and risks.moments is None:
            differences = _group_sums(differences, problem.pair_groups)
        # Columns for counting are chosen by a liberal tail: a column that is not chosen is lost.
        is_liberal = is_screened and problem.is_counted
        if risks.moments is not None:
            n_rows = sum(split.test.size for split in problem.splits)
            return seen_in_moments(risks.moments, n_rows, n_coefficients, is_liberal=is_liberal)
        freedom = None if is_liberal else effective_freedom(differences)
        return seen_by_each_other(differences, n_coefficients, freedom)

    def smallest_pvalue(self, n_splits: int) -> float:
        """Return the smallest p-value this test can reach, whatever the data."""
        return 1.0 / (self.n_draws + 1) if self.significance == "randomisation" else 0.0


def _group_sums(differences: Floats, groups: NDArray[np.intp]) -> Floats:
    """Add up the differences of each group, shape (n_questions, n_groups).

    The mean of the sums is 0 if and only if the mean of the rows is, and the sums of different groups are independent.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
    return np.add.reduceat(differences[:, order], starts, axis=1)
