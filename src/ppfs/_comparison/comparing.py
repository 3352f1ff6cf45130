"""The paper's tables for the user's own data."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from ppfs._comparison.methods import ALL, methods_of, ready, selects_for_a_model
from ppfs._comparison.peers import PEERS, selected_by_peer
from ppfs._comparison.result import Comparison, MethodScores
from ppfs._conventions import Progress, ProgressBar, RandomStateLike, integer_seed, root_entropy, stream
from ppfs._data import FitData, SaidTask, Table, read_table
from ppfs._fitting import (
    Scorer,
    estimator_for,
    fold_score,
    for_labels,
    naming_the_model,
    scorer_for,
    seeded,
    seen_by,
    task_of_estimator,
)
from ppfs._rows import folds_of
from ppfs.exceptions import InvalidInputError

Rows = NDArray[np.intp]

_OWN_SCORES = {"classification": "accuracy", "regression": "r2"}


def compare(
    X: Any,
    y: Any,
    *,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    estimator: Any = None,
    scoring: str | Callable[..., float] | None = None,
    cv: int = 5,
    task: SaidTask = "auto",
    time_limit: float | None = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Comparison:
    """Compare methods of feature selection on your own data by nested cross-validation.

    The rows are divided into folds. On the rows outside each fold every method selects columns, and the same model is
    fitted on them; on the rows inside the fold that model is scored. The selection is part of the cross-validation, so
    a method that overfits gets a low score.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        The columns: numbers, and in data frames text and categories too.

    y : array-like of shape (n_rows,)
        The target.

    methods : sequence of str or mapping of str to selector, default=None
        Names, such as "all" (no selection), "ppfs" (calibrated), "ppfs-paper", "ppfs-cv", "rfecv", "l1", "univariate"
        and the other searches of this library; or selectors of your own by name. None is "all", "ppfs", "ppfs-cv",
        "rfecv", "l1" and "univariate".

    estimator : estimator, default=None
        The model that is scored. None is a random forest.

    scoring : str or callable, default=None
        As in scikit-learn; None is accuracy for classification, r2 for regression, and the model's own score for
        counts, amounts, ordered classes and survival times. Without a model of your own, the r2 of these is that of
        the response which this package predicts: see `task`.

    cv : int, default=5
        Number of folds: shuffled, stratified if every class has enough rows, with groups kept together.

    task : {"auto", "classification", "regression", "count", "positive", "ordinal", "survival"}, default="auto"
        "auto" follows the estimator, or else the target. Methods of this library select for this kind of target; other
        methods, and models that are not given by `estimator`, get its response, one number per row.

    time_limit : float, default=None
        Seconds for all methods together. Each has an equal share; a method that would exceed it is not run on further
        folds, and its note says so. Running fits are completed.

    groups : array-like of shape (n_rows,), default=None
        Labels of rows that belong together.

    time : array-like of shape (n_rows,), str or RowsInTime, default=None
        The order of the rows in time: folds are then runs of neighboring rows. See `ppfs.RowsInTime`.

    sample_weight : array-like of shape (n_rows,), default=None
        How much each row counts, in the searches of this library, in the model and in the scores.

    random_state : int, Generator, RandomState or None, default=None
        Seeds the folds, and methods and models without a seed of their own.

    n_jobs : int, default=None
        Number of parallel workers, for methods that have such a parameter.

    progress : bool or "log", default=False
        Show a bar on stderr.

    Returns
    -------
    Comparison
        ``to_frame()`` makes a table of it, ``print`` shows it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ppfs import compare
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = compare(
    ...     X, y, methods=["all", "ppfs-paper", "univariate"], estimator=DecisionTreeClassifier(), random_state=0
    ... )
    >>> result["all"].n_columns
    4.0
    """
    named = methods_of(methods)
    if time_limit is not None and not time_limit > 0:
        raise InvalidInputError(f"time_limit={time_limit!r} must be a positive number of seconds.")
    table = read_table(
        X,
        y,
        task=task if task != "auto" else task_of_estimator(estimator) or "auto",
        owner="compare",
        sample_weight=sample_weight,
        groups=groups,
        time=time,
    )
    kind = None if table.target_kind is None else table.target_kind.name
    if estimator is None:
        table = table.with_response()
    entropy = root_entropy(random_state)
    seed = integer_seed(stream(entropy))
    model = _model(estimator, table, seed)
    scorer = scorer_for(model, scoring, is_weighted=table.weights is not None)
    data = FitData(X, y, groups, time, sample_weight)
    race = _Race(data, table, model, scorer, scoring, seed, n_jobs, kind)
    tallies = [_Tally(name, method) for name, method in named.items()]
    share = None if time_limit is None else time_limit / len(tallies)
    divisions = _divisions(table, cv, seed)
    with ProgressBar("compare", len(divisions) * len(tallies), progress) as bar:
        for train, test in divisions:
            for tally in tallies:
                if not tally.note and not tally.stops_at(share, len(divisions)):
                    race.run(tally, train, test)
                bar.advance()
    return Comparison(
        methods=tuple(tally.result() for tally in tallies),
        scoring=_called(scoring, table),
        task=table.task,
        n_rows=table.n_rows,
        n_columns=table.n_features,
        n_folds=len(divisions),
        model=type(model).__name__,
    )


@dataclass
class _Tally:
    """The results of a method so far."""

    name: str
    method: Any
    scores: list[float] = field(default_factory=list)
    selected: list[tuple[str, ...]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    note: str = ""

    def stops_at(self, share: float | None, n_folds: int) -> bool:
        """Return whether another fold would take the method beyond its share of the time."""
        if share is not None and self.seconds and sum(self.seconds) + self.seconds[-1] > share:
            self.note = f"time limit: {len(self.scores)} of {n_folds} folds"
        return bool(self.note)

    def result(self) -> MethodScores:
        return MethodScores(
            self.name, tuple(self.scores), tuple(self.selected), tuple(self.seconds), self.note
        )


@dataclass(frozen=True)
class _Race:
    """The data, the model and the score that all methods share."""

    data: FitData
    table: Table
    model: Any
    scorer: Scorer
    scoring: Any
    seed: int
    n_jobs: int | None
    kind: str | None

    def run(self, tally: _Tally, train: Rows, test: Rows) -> None:
        """Select in the rows `train` and score on the rows `test`; a method that fails is noted, and stops."""
        begin = time.perf_counter()
        try:
            features = self._selected(tally.method, train)
            seconds = time.perf_counter() - begin
            X, model = seen_by(self.model, self.table, features)
            with naming_the_model(model, self.table, features):
                score = fold_score(model, X, self.table.y, self.table.weights, self.scorer, train, test)
        except Exception as error:
            tally.note = f"failed: {type(error).__name__}: {error}"
            return
        tally.scores.append(score)
        tally.selected.append(tuple(self.table.column_names[feature] for feature in features))
        tally.seconds.append(seconds)

    def _selected(self, method: Any, train: Rows) -> list[int]:
        """Return the columns that a method selects in some of the rows."""
        if isinstance(method, str):
            if method == ALL:
                return list(range(self.table.n_features))
            if method in PEERS:
                return selected_by_peer(method, self.table.with_response().rows(train), self.seed)
        selector = ready(
            method, model=self.model, scoring=self.scoring, seed=self.seed, n_jobs=self.n_jobs, kind=self.kind
        )
        rows = train if self.table.kept_rows is None else self.table.kept_rows[train]
        part = self.data.of_rows(rows)
        y, given = part.y, part.about_rows if type(selector).__module__.startswith("ppfs.") else {}
        if self.kind is not None and (selects_for_a_model(selector) or not hasattr(selector, "task")):
            y = self.table.y[train]
            if self.table.weights is not None:
                # Exposures of counts are among them.
                given["sample_weight"] = self.table.weights[train]
        selector.fit(part.X, y, **given)
        return [int(column) for column in np.flatnonzero(selector.get_support())]


def _called(scoring: Any, table: Table) -> str:
    """Return what the scores are called."""
    if scoring is not None:
        return str(getattr(scoring, "__name__", scoring))
    return "the model's own score" if table.target_kind is not None else _OWN_SCORES[table.task]


def _model(estimator: Any, table: Table, seed: int) -> Any:
    if estimator is None:
        estimator = RandomForestClassifier() if table.task == "classification" else RandomForestRegressor()
    return seeded(clone(estimator_for(for_labels(estimator, table), table.task)), seed)


def _divisions(table: Table, cv: int, seed: int) -> list[tuple[Rows, Rows]]:
    if not 2 <= cv <= table.n_rows:
        raise InvalidInputError(f"cv={cv!r} must be between 2 and the number of rows, {table.n_rows}.")
    return folds_of(table, cv, seed, called=f"cv={cv}")
