"""Beam search, random hill climbing and a genetic search through the subsets of columns."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

from ppfs._conventions import Interval, StrOptions, stream
from ppfs._data import CallersColumns, Table
from ppfs.wrappers._base import WRAPPER_CONSTRAINTS, BaseWrapper
from ppfs.wrappers._strategies import STRATEGIES, Walk


@dataclass(kw_only=True, eq=False, repr=False)
class SubsetSearch(BaseWrapper):
    """Search for the subset of columns with the best cross-validated score.

    `Stepwise` moves from one subset to the next and stops if no single step helps. The searches here go further: a beam
    search continues with several subsets, hill climbing restarts from random ones, a genetic search crosses them. All
    stop after a number of scored subsets. The more subsets are scored, the more the best score is due to chance: use
    `score_` for comparison, not as an estimate for new data.

    Parameters
    ----------
    estimator : estimator, default=None
        The model that will use the columns. None is a decision tree.

    strategy : {"beam", "hill-climbing", "genetic"}, default="beam"
        "beam" adds one column to each of the five best subsets of a size, and ends when a size brings nothing better
        (Siedlecki and Sklansky, 1993). "hill-climbing" adds or removes one random column and keeps improvements
        (Skalak, 1994). "genetic" crosses and mutates twenty subsets (Holland, 1992).

    max_subsets : int, default=500
        Maximum number of different subsets that are scored.

    cv : int, default=5
        Number of folds: shuffled, and stratified if every class has enough rows.

    scoring : str or callable, default=None
        As in scikit-learn; None is the estimator's own score.

    impute : "median" or None, default=None
        How missing values in numeric columns are filled, in each training part. None leaves them to estimators that
        accept NaN.

    always_keep : int, str or collection of them, default=()
        Columns, by number or name, that are always selected.

    min_features : int, default=0
        Select at least this many columns, if necessary by adding those that keep the score highest. A group counts as
        one.

    feature_groups : mapping of str to collection of int or str, default=None
        Columns that form one feature, such as ``{"address": ["street", "city"]}``.

    categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
        Which columns are categorical; see `Stepwise`.

    random_state : int, Generator, RandomState or None, default=None
        Seeds the folds and the search, and estimators without a seed of their own.

    n_jobs : int, default=None
        Number of folds processed in parallel.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Which columns were selected.

    blanket_ : ndarray of int
        Their numbers, in ascending order, because a subset search does not rank columns.

    trace_ : Trace
        Why each column was selected or not: ``trace_.explain(name)``. Wrappers ask no questions.

    score_ : float
        The score of the selected columns.

    n_subsets_ : int
        Number of scored subsets.

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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ppfs.wrappers import SubsetSearch
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> search = SubsetSearch(LogisticRegression(max_iter=1000), strategy="genetic", random_state=0).fit(X, y)
    >>> "petal width (cm)" in search.get_feature_names_out()
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WRAPPER_CONSTRAINTS,
        "strategy": [StrOptions(set(STRATEGIES))],
        "max_subsets": [Interval(Integral, 1, None, closed="left")],
    }

    strategy: Literal["beam", "hill-climbing", "genetic"] = "beam"
    max_subsets: int = 500

    def _select(
        self, table: Table, estimator: Any, entropy: int, callers: CallersColumns, kept: list[int]
    ) -> list[int]:
        scores = self._cross_validated(table, estimator, entropy)
        free = table.order.canonical(x for x in range(table.n_features) if x not in kept)
        walk = Walk(scores, free, frozenset(kept), self.max_subsets)
        STRATEGIES[self.strategy](walk, stream(entropy, 1))
        selected = walk.best
        while len(selected) < self.min_features:
            added = max((x for x in free if x not in selected), key=lambda x: scores.score(selected | {x}))
            selected = selected | {added}
        self.score_ = scores.score(selected)
        self.n_subsets_ = walk.n_scored
        return sorted(selected)
