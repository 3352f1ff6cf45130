"""Stepwise selection: add and remove columns as long as the cross-validated score improves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ppfs._conventions import Interval
from ppfs._data import CallersColumns, Table
from ppfs._fitting import CrossValidated
from ppfs.wrappers._base import WRAPPER_CONSTRAINTS, BaseWrapper


@dataclass(frozen=True)
class Move:
    """One column added or removed.

    Attributes
    ----------
    feature : int
        The column; of a group, its first one.

    is_added : bool
        False when it was removed.

    score : float
        The cross-validated score afterwards.
    """

    feature: int
    is_added: bool
    score: float


@dataclass(kw_only=True, eq=False, repr=False)
class Stepwise(BaseWrapper):
    """Bidirectional stepwise selection.

    Adds the column that increases the cross-validated score most, if by more than `tol`; then removes columns as long
    as that does not lower the score by more than `tol`; and so on until nothing changes. It optimizes the prediction
    of one model, so unlike a blanket search it does not show which columns matter in general.

    Parameters
    ----------
    estimator : estimator, default=None
        The model that will use the columns. None is a decision tree.

    tol : float, default=0.001
        The smallest change of the score that counts.

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
        Select at least this many columns, if necessary by adding the best ones even though the score does not rise; an
        empty selection stops a pipeline. A group counts as one.

    feature_groups : mapping of str to collection of int or str, default=None
        Columns that form one feature, such as ``{"address": ["street", "city"]}``.

    categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
        Which columns are categorical. "auto": text, categories, and integers with at most 20 distinct values, which
        models still get as numbers. "from_dtype": text and categories only. A list of names or numbers, or a mask,
        names all of them, and models then treat them as categories; None means none.

    random_state : int, Generator, RandomState or None, default=None
        Seeds the folds, and estimators without a seed of their own.

    n_jobs : int, default=None
        Number of folds processed in parallel.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Which columns were selected.

    blanket_, selected_ : ndarray of int
        Their numbers, in the order in which they entered.

    trace_ : Trace
        Why each column was selected or not: ``trace_.explain(name)``. Wrappers ask no questions.

    moves_ : list of Move
        The columns added and removed, with the score after each move.

    score_ : float
        The score of the selected columns.

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

    Notes
    -----
    A column that would lead back to an earlier selection does not enter. Without columns the score is that of a
    constant prediction. Every step fits ``cv`` models for each remaining column, so this is meant for a few dozen
    columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ppfs.wrappers import Stepwise
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> Stepwise(LogisticRegression(max_iter=1000), random_state=0).fit(X, y).get_feature_names_out()
    array(['petal width (cm)'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WRAPPER_CONSTRAINTS,
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    tol: float = 1e-3

    def _select(
        self, table: Table, estimator: Any, entropy: int, callers: CallersColumns, kept: list[int]
    ) -> list[int]:
        scores = self._cross_validated(table, estimator, entropy)
        walk = _Walk(table, scores, self.tol, kept)
        while walk.add():
            while walk.remove():
                pass
        while len(walk.selected) < self.min_features:
            walk.add_the_best()
        self.moves_ = [replace(move, feature=callers.numbers([move.feature])[0]) for move in walk.moves]
        self.score_ = scores.score(walk.selected)
        self.selected_ = np.array(callers.numbers(walk.selected), dtype=np.intp)
        return walk.selected


class _Walk:
    """The selection so far, and the earlier ones."""

    def __init__(self, table: Table, scores: CrossValidated, tol: float, kept: list[int]) -> None:
        self._table = table
        self._scores = scores
        self._tol = tol
        self._kept = kept
        self._seen = {frozenset(kept)}
        self.selected: list[int] = list(kept)
        self.moves: list[Move] = []

    def add(self) -> bool:
        """Add the best column if it raises the score by more than the tolerance."""
        reached = {x: after for x, after in self._additions().items() if frozenset(after) not in self._seen}
        best = self._best(reached)
        if best is None:
            return False
        if self._scores.score(reached[best]) <= self._scores.score(self.selected) + self._tol:
            return False
        return self._move(best, reached[best])

    def add_the_best(self) -> None:
        """Add the best column, even if the score falls."""
        reached = self._additions()
        best = self._best(reached)
        if best is not None:
            self._move(best, reached[best])

    def remove(self) -> bool:
        """Remove the least useful column if the score does not fall by more than the tolerance."""
        removable = [x for x in self.selected if x not in self._kept]
        reached = {x: [other for other in self.selected if other != x] for x in removable}
        best = self._best(reached)
        if best is None or self._scores.score(reached[best]) < self._scores.score(self.selected) - self._tol:
            return False
        return self._move(best, reached[best])

    def _additions(self) -> dict[int, list[int]]:
        outside = [x for x in range(self._table.n_features) if x not in self.selected]
        return {x: [*self.selected, x] for x in outside}

    def _best(self, reached: dict[int, list[int]]) -> int | None:
        """Return the column whose move leads to the best score."""
        # In order of content, so that the order of the columns does not decide between equal scores.
        ordered = self._table.order.canonical(reached)
        return max(ordered, key=lambda x: self._scores.score(reached[x]), default=None)

    def _move(self, feature: int, selected: list[int]) -> bool:
        self.moves.append(Move(feature, len(selected) > len(self.selected), self._scores.score(selected)))
        self.selected = selected
        self._seen.add(frozenset(selected))
        return True
