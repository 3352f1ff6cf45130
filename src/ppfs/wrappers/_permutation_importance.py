"""Selection by permutation importance."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from ppfs._conventions import Interval, StrOptions
from ppfs._data import CallersColumns, Table
from ppfs.exceptions import InvalidInputError
from ppfs.wrappers._base import WRAPPER_CONSTRAINTS, BaseWrapper
from ppfs.wrappers._importances import ShuffledScores

Select = Literal["threshold", "n_features", "pvalue", "cv"]


@dataclass(kw_only=True, eq=False, repr=False)
class PermutationImportance(BaseWrapper):
    """Selection by permutation importance (PIFS).

    Fits one model on all columns and measures how much its score falls when a column is shuffled. One fit is enough for
    all columns, so it is fast; but columns that carry the same information hide each other, because the model can use
    either.

    Parameters
    ----------
    estimator : estimator, default=None
        The model. None is a decision tree.

    select : {"threshold", "n_features", "pvalue", "cv"}, default="threshold"
        Which columns to keep: those with an importance above `threshold`; the `n_features` most
        important; those whose importance is significant (Altmann); or the number of most important ones with the best
        cross-validated score.

    threshold : float, default=0.0
        For "threshold".

    n_features : int, default=None
        For "n_features"; for "cv" the largest number to try. None is all columns for "cv". A group counts as one.

    n_nulls : int, default=50
        For "pvalue": number of shuffled targets for which everything is repeated.

    alpha : float, default=0.05
        For "pvalue".

    n_repeats : int, default=10
        Number of shuffles of each column.

    test_size : float or None, default=0.25
        Share of the rows that are held out from the fit and used for the scores. None scores the rows of the fit, on
        which all columns look important to a model that overfits.

    cv : int, default=5
        Folds for "cv".

    scoring : str or callable, default=None
        As in scikit-learn; None is the estimator's own score.

    impute : "median" or None, default=None
        How missing values in numeric columns are filled, in each training part. None leaves them to estimators that
        accept NaN.

    always_keep : int, str or collection of them, default=()
        Columns, by number or name, that are always selected.

    min_features : int, default=0
        Select at least this many columns, the most important ones; an empty selection stops a pipeline. A group counts
        as one.

    feature_groups : mapping of str to collection of int or str, default=None
        Columns that form one feature, such as ``{"address": ["street", "city"]}``.

    categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
        Which columns are categorical. "auto": text, categories, and integers with at most 20 distinct values, which
        models still get as numbers. "from_dtype": text and categories only. A list of names or numbers, or a mask,
        names all of them, and models then treat them as categories; None means none.

    random_state : int, Generator, RandomState or None, default=None
        Seeds split, shuffles and folds, and estimators without a seed of their own.

    n_jobs : int, default=None
        Number of shuffled targets, or folds, processed in parallel.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Which columns were selected.

    blanket_ : ndarray of int
        Their numbers, those of `always_keep` and then the most important first.

    trace_ : Trace
        Why each column was selected or not: ``trace_.explain(name)``. Wrappers ask no questions.

    importances_ : ndarray of shape (n_features,)
        Mean decrease of the score when the column is shuffled, over `n_repeats`.

    importances_std_ : ndarray of shape (n_features,)
        Its standard deviation.

    ranking_ : ndarray of int
        All columns, most important first.

    pvalues_ : ndarray of shape (n_features,)
        For "pvalue": (1 + nulls as important) / (1 + nulls).

    cv_scores_ : ndarray
        For "cv": the score with the most important column, with the two most important ones, and so on; with
        `always_keep` starting from those.

    reference_score_ : float
        The score before anything is shuffled.

    results_ : data frame
        One row per column: whether it was selected, its importance and p-value, and why.

    blankets_ : Blankets
        The columns of each output of a target of several columns; computed when it is first read. A target of one
        column has no such attribute.

    sufficiency_ : Sufficiency
        What a model with all columns would gain, with an interval and a verdict; measured when it is first read.

    warnings_ : tuple of ColumnWarning
        Suspicious columns, such as identifiers, copies and leaks, with advice for each.

    task_ : {"classification", "regression"}
        How the target was read.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    References
    ----------
    Altmann et al., "Permutation importance: a corrected feature importance measure", 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs.wrappers import PermutationImportance
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PermutationImportance(select="n_features", n_features=2, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WRAPPER_CONSTRAINTS,
        "select": [StrOptions({"threshold", "n_features", "pvalue", "cv"})],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "n_features": [Interval(Integral, 1, None, closed="left"), None],
        "n_nulls": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "test_size": [Interval(Real, 0, 1, closed="neither"), None],
    }

    select: Select = "threshold"
    threshold: float = 0.0
    n_features: int | None = None
    n_nulls: int = 50
    alpha: float = 0.05
    n_repeats: int = 10
    test_size: float | None = 0.25

    def _select(
        self, table: Table, estimator: Any, entropy: int, callers: CallersColumns, kept: list[int]
    ) -> list[int]:
        self._check_n_features(table)
        shuffled = ShuffledScores(
            table,
            estimator,
            scoring=self.scoring,
            n_repeats=self.n_repeats,
            test_size=self.test_size,
            entropy=entropy,
            impute=self.impute,
        )
        found = shuffled.importances()
        self.importances_ = callers.spread(found.mean)
        self.importances_std_ = callers.spread(found.std)
        self.reference_score_ = found.reference
        # Equal importances in order of content, so that the order of the columns does not decide.
        ranking = sorted(table.order.canonical(range(table.n_features)), key=lambda x: -found.mean[x])
        self.ranking_ = np.array(callers.numbers(ranking), dtype=np.intp)
        order = [*kept, *(x for x in ranking if x not in kept)]
        if self.select == "threshold":
            selected = [x for x in order if x in kept or found.mean[x] > self.threshold]
        elif self.select == "n_features":
            selected = order[: max(self.n_features or 0, len(kept))]
        elif self.select == "pvalue":
            pvalues = shuffled.pvalues(found.mean, self.n_nulls, self.n_jobs)
            self.pvalues_ = callers.spread(pvalues)
            selected = [x for x in order if x in kept or pvalues[x] <= self.alpha]
        else:
            selected = self._best_length(table, estimator, order, entropy, len(kept))
        outside = [x for x in order if x not in selected]
        return selected + outside[: max(0, self.min_features - len(selected))]

    def _best_length(
        self, table: Table, estimator: Any, order: list[int], entropy: int, n_kept: int
    ) -> list[int]:
        """Return the most important columns, as many as score best in cross-validation, the fewest of equal numbers."""
        scores = self._cross_validated(table, estimator, entropy)
        longest = min(self.n_features or table.n_features, table.n_features)
        lengths = range(max(1, n_kept), max(longest, n_kept) + 1)
        self.cv_scores_ = np.array([scores.score(order[:length]) for length in lengths])
        return order[: lengths[int(np.argmax(self.cv_scores_))]]

    def _check_n_features(self, table: Table) -> None:
        if self.select != "n_features":
            return
        if self.n_features is None or self.n_features > table.n_features:
            raise InvalidInputError(
                f"select='n_features' needs n_features between 1 and the {table.n_features} columns of X, but it is "
                f"{self.n_features}. Set n_features, or use another select."
            )
