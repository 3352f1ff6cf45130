"""The paper's test: a model predicts worse when a column that matters is replaced by its knockoff."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats, Interval, StrOptions
from ppfs._data import Table
from ppfs._rows import (
    Split,
    draw_splits,
    labels_to_stratify,
    require_enough_groups,
    require_enough_rows,
)
from ppfs.exceptions import InvalidInputError
from ppfs.independence._bound import Binding
from ppfs.independence._predictive.bound_predictive import BoundPredictiveTest
from ppfs.independence._predictive.predictive_test import PREDICTIVE_CONSTRAINTS, PredictiveTest
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.significance import MAX_EXACT_TIED, SIGNIFICANCES, tails_of

# The constraints that PPI and every search with flat parameters share.
PPI_CONSTRAINTS: dict[str, Any] = {
    **PREDICTIVE_CONSTRAINTS,
    "n_splits": [Interval(Integral, 2, None, closed="left")],
    "test_size": [Interval(Real, 0, 1, closed="neither")],
    "significance": [StrOptions(set(SIGNIFICANCES))],
}


@dataclass(kw_only=True, eq=False, repr=False)
class PPI(PredictiveTest):
    """Predictive Permutation Independence test.

    Fits a model on B random train parts. On each test part its risk is compared with the risk after
    one column was replaced by its knockoff. Replacing a column that the target does not depend on, given
    the other columns of the model, does not raise the risk; a one-sided paired test over
    the B differences gives the p-value.

    The splits and permutations are drawn once and shared by all questions, so a model depends only on its
    column set, and an answer depends neither on earlier questions nor on `n_jobs`.

    Parameters
    ----------
    estimator : estimator, list of estimator, "panel" or None, default=None
        Any classifier or regressor; None is a decision tree, as in the paper. The p-values of several estimators are
        combined by Cauchy's method; "panel" is the estimators of `ppfs.models.default_panel`.

    n_splits : int, default=30
        The paper's B.

    test_size : float, default=0.2
        Share of the rows in each test part; of the groups, where `groups` are passed to `fit`.

    stratify : bool or "auto", default="auto"
        Keep the proportions of the classes in the splits; "auto" does when every class can be
        represented in both parts.

    knockoff : {"permutation", "conditional"}, default="permutation"
        What replaces the column in the test part: its values shuffled, as in the paper, or draws from an
        estimate of the column given the other columns of the model. Shuffling breaks the dependence between the
        column and the others, so the model predicts rows that cannot occur; see Notes.

    significance : {"wilcoxon", "paired-t", "corrected-t"}, default="wilcoxon"
        The one-sided paired test over the B differences. "corrected-t" allows for the rows that the splits
        share (Nadeau and Bengio, 2003).

    n_draws : int, default=1
        How often the column is replaced in each test part; the risks are averaged.

    conditional : estimator, default=None
        The model of a column given the others, for the conditional knockoff: a regressor for numbers or a
        classifier for categories, fitted in the train parts. None is ridge regression
        with lines, curves and products of the columns, fitted once on all rows (without the target).

    loss : str or callable, default="auto"
        For classification "log-loss", "brier", "hinge" or "zero-one", for regression "squared" or
        "absolute". "auto" is log-loss, or hinge for classifiers that have only
        ``decision_function``, or zero-one for those with neither; squared error for regression; and for the
        tasks "count", "positive", "ordinal" and "survival" their own: "poisson-deviance", "gamma-deviance",
        "ranked-probability" and "partial-likelihood". A
        callable ``loss(y_true, prediction)`` returns one loss per row; it is passed probabilities (one
        column per class, sorted), decision values, labels or numbers, the first of these that the
        estimator predicts, for the rows of one test part. With several outputs the named losses are means
        over them; a structured target that is not a survival time needs a callable.

    class_weight : dict, "balanced" or None, default=None
        The weight of a row's LOSS, by its class; "balanced" gives all classes the same total weight:
        n / (k * count) for n rows of k classes. The fit is not weighted: for that, set `class_weight` of the
        estimator.

    impute : "median" or None, default=None
        How missing values in numeric columns are filled: with the column's median in each train part. None leaves them
        to estimators that accept NaN, and is an error for others. Missing values in categorical columns are a category.

    splitter : splitter or list of (train, test) pairs, default=None
        Any scikit-learn splitter, such as TimeSeriesSplit or RepeatedStratifiedKFold, instead of the random splits:
        `n_splits`, `test_size` and `stratify` are then ignored. A splitter whose `random_state` is None is seeded from
        `random_state`. Pairs of row numbers, and PredefinedSplit, refer to the rows passed to `fit`;
        other splitters divide the rows whose weight is not 0.

    task : {"auto", "classification", "regression", "count", "positive", "ordinal", "survival"}, default="auto"
        "auto" follows the estimator, or the target where the estimator is None.

    marginal_estimator : estimator, list of estimator, "panel" or None, default=None
        Another model for questions given nothing; None is `estimator`.

    random_state : int, Generator, RandomState or None, default=None
        Seeds splits and permutations, and the estimator where its own `random_state` is None.

    n_jobs : int, default=None
        Parallel fits; ``joblib.parallel_config`` chooses the backend.

    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where single columns are tested: "cuda" is an NVIDIA GPU, which grows decision trees and random forests on dense
        columns and needs CuPy; "auto" takes it where it can and pays, and says in the trace what it took and why. The
        answers are the same; see docs/gpu.md.

    Notes
    -----
    The splits share rows, so the B differences are dependent and the paper's p-values are too small: a true null is
    rejected far more often than alpha, above all with many splits, and with columns that are correlated with
    the columns they are tested given. ``significance="corrected-t"`` with ``knockoff="conditional"`` holds its
    level in the cases that docs/p-values.md lists; `CrossFitPPI` does so with fewer fits.

    A column that is constant, or equal to a column it is tested given, is independent by
    definition, and no model is fitted.

    References
    ----------
    Hassan, Paik, Khare and Hassan, "PPFS: Predictive Permutation Feature Selection", 2021.

    Nadeau and Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs.independence import PPI
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> PPI(random_state=0).evaluate(X, y, "petal width (cm)").pvalue < 0.05
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = PPI_CONSTRAINTS

    n_splits: int = 30
    test_size: float = 0.2
    significance: str = "wilcoxon"

    def _bind(self, table: Table, binding: Binding) -> BoundPredictiveTest:
        return BoundPredictiveTest(table, binding, self)

    def check(self, table: Table) -> None:
        """Raise if there are too few rows, or too few splits for the significance test."""
        if self.splitter is not None:
            return
        self._require_splits(self.n_splits, f"n_splits={self.n_splits}", "Raise n_splits (the paper's B)")
        require_enough_rows(table.n_rows, self.test_size)
        if table.groups is not None:
            require_enough_groups(table.groups, self.test_size)

    def check_splits(self, splits: list[Split]) -> None:
        """Raise if there are too few splits for the significance test."""
        n_splits = f"{len(splits)} split{'s' if len(splits) != 1 else ''}"
        name = f"splitter={type(self.splitter).__name__} makes {n_splits}, which"
        self._require_splits(len(splits), name, "Use a splitter that makes more")

    def _require_splits(self, n_splits: int, source: str, way_out: str) -> None:
        significance = SIGNIFICANCES[self.significance]
        if n_splits < significance.min_splits:
            smallest = significance.smallest(n_splits) if n_splits > 1 else 1.0
            other = "" if self.significance == "paired-t" else ", or use significance='paired-t'"
            raise InvalidInputError(
                f"{source} is too few for significance={self.significance!r}, whose smallest p-value would be "
                f"{smallest:.3g}: at least {significance.min_splits} splits are needed. {way_out}{other}."
            )

    def labels_to_stratify(self, labels: NDArray[Any], table: Table, warn: bool) -> NDArray[Any] | None:
        """Return the labels whose proportions the splits keep, or None."""
        if table.groups is None:
            return labels_to_stratify(labels, self.stratify, self.test_size, warn=warn)
        if self.stratify is True:
            raise InvalidInputError(
                "stratify=True is impossible with groups: random splits that keep groups together cannot keep the "
                'proportions of the classes too. Use stratify="auto", or splitter=StratifiedGroupKFold(...).'
            )
        return None

    def draw_splits(self, table: Table, labels: NDArray[Any] | None, entropy: int, fold: int) -> list[Split]:
        """Draw B random splits."""
        return draw_splits(
            table.n_rows,
            labels,
            n_splits=self.n_splits,
            test_size=self.test_size,
            entropy=entropy,
            fold=fold,
            n_draws=self.n_draws,
            groups=table.groups,
            time=table.time,
        )

    def assess(
        self, risks: PairedRisks, differences: Floats, problem: Problem, is_screened: bool
    ) -> tuple[Floats, Floats]:
        """Test the B differences of each question."""
        if risks.moments is not None:
            return tails_of(_engine.SignedRanks(*risks.moments.T[2:]), len(problem.splits))
        return SIGNIFICANCES[self.significance].assess(differences, problem.splits)

    def ranks(self, n_splits: int) -> bool:
        """Return whether the test needs sums of ranks only, and not which of few differences are tied."""
        return self.significance == "wilcoxon" and n_splits > MAX_EXACT_TIED

    def smallest_pvalue(self, n_splits: int) -> float:
        """Return the smallest p-value that the significance test can reach with `n_splits` splits."""
        return SIGNIFICANCES[self.significance].smallest(n_splits)
