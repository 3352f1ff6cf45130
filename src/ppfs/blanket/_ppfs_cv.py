"""PPFS whose settings, or whose number of columns, are chosen by cross-validation of the model they are meant for."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from numbers import Integral
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer_names
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import ClassifierTags, RegressorTags, Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._conventions import (
    N_JOBS_RULE,
    HasMethods,
    Interval,
    IsModel,
    Progress,
    ProgressBar,
    RandomStateLike,
    StrOptions,
    can_predict,
    integer_seed,
    n_rows_of,
    root_entropy,
    stream,
)
from ppfs._data import (
    BY_ESTIMATOR,
    CallersColumns,
    NewRows,
    Table,
    Task,
    agreed_task,
    backend_of,
    check_columns,
    read_table,
    require_finite,
    require_two_classes,
    warn_if_ambiguous,
    weights_among,
)
from ppfs._estimator import FrameSelector, in_one_step
from ppfs._fitting import (
    Scorer,
    ToFrame,
    constant_model,
    estimator_for,
    fitted_clone,
    frame_for,
    input_tags,
    naming_the_model,
    prepared,
    require_valid_parameters,
    scorer_for,
    seeded,
    task_of_estimator,
    weight_arguments,
    weighted_score,
)
from ppfs._rows import divide_into_folds, every_class_has, splits_of
from ppfs.blanket._cv.candidates import SIZE, Candidates, Grids
from ppfs.blanket._cv.choice import Rule, Scored
from ppfs.blanket._cv.inner_scores import Judge, PartScores, Rows, searched
from ppfs.blanket._cv.ranking import Path
from ppfs.blanket._ppfs import PPFS
from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.exceptions import InvalidInputError

# What a user gets who asks for nothing: the blanket, and a path over size; see docs/decisions/0110.
_DEFAULT_SIZES = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 128, 256)
_DEFAULT_SHARES = (0.25, 0.5, 1.0)


def _default_candidates(n_features: int) -> dict[str, list[Any]]:
    """Return the candidates for a table of so many features; all of them are a share, not a size."""
    sizes = [size for size in _DEFAULT_SIZES if size < n_features]
    return {SIZE: [None, *sizes, *_DEFAULT_SHARES]}


def _refitted_has(name: str) -> Callable[[PPFSCV], bool]:
    """Tell whether the model has a method; before the fit, the caller's has."""

    def check(self: PPFSCV) -> bool:
        if not self.refit:
            return False
        model = getattr(self, "estimator_", self.estimator)
        if name == "predict" and model is not None:
            return can_predict(model)
        return hasattr(DecisionTreeClassifier if model is None else model, name)

    return check


class PPFSCV(FrameSelector, BaseEstimator):
    """PPFS with the settings, or the number of columns, that serve a given model best.

    The paper leaves B and K to nested cross-validation; this is it. The rows are divided into folds. Outside each fold
    every candidate selects columns and the model is fitted on them; inside the fold the model is scored. The candidate
    with the best mean score then selects in all rows. No search sees the rows that it is judged by, so the scores of
    the candidates can be compared, whatever they select; that of the best among many is a little too good.

    Parameters
    ----------
    estimator : estimator, default=None
        The model that the columns are meant for: it is scored, and fitted on the selected columns at the end. None is a
        decision tree. The model that the test asks is a parameter of `selector`.

    selector : PPFS or other search of `ppfs.blanket`, default=None
        The search whose parameters are varied. None is ``PPFS()``.

    candidates : dict, list of dict or "auto", default="auto"
        Which parameters of `selector` to try: a grid such as ``{"n_splits": [10, 30], "alpha": [0.01, 0.05]}``,
        or several. Two keys mean more: "selector", another search, and "n_features", how many columns to take: a whole
        number, a share of all columns as a fraction, or None for the blanket as found. They are the first so many
        members of the blanket, most important first, and beyond these the others by what they tell of the target on
        their own. "auto" is the search as it is, with its blanket and with a path over size from 1 to all columns.

    rule : {"best", "one-se"}, default="best"
        "best" takes the highest mean score, "one-se" the fewest columns among the candidates whose mean score is
        within one standard error of the highest.

    scoring : str or callable, default=None
        As in scikit-learn; None is the estimator's own score.

    cv : int, splitter or list of (train, test) pairs, default=5
        How the rows are divided. A number of folds means shuffled ones, stratified where every class has enough
        rows, that keep groups together.

    n_repeats : int, default=1
        How often the rows are divided into `cv` folds, where that is a number. More cost as many times more and
        make the standard errors of ``rule="one-se"`` steadier; the highest score is not chosen better by them,
        as measured (docs/decisions/0155).

    refit : bool, default=True
        Fit the model on all rows with the selected columns, so that `predict` and `score` work.

    random_state : int, Generator, RandomState or None, default=None
        Decides the folds, and seeds searches and estimators that were left unseeded.

    n_jobs : int, default=None
        Folds that are worked on in parallel. The answer is the same for any number.

    progress : bool or "log", default=False
        Show a bar for the folds; see `PPFS`.

    Attributes
    ----------
    cv_results_ : dict of str to array
        One entry a candidate: "params" and "param_<name>"; "split<i>_test_score", "mean_test_score", "std_test_score",
        "se_test_score" (the standard error of the mean) and "rank_test_score"; "split<i>_n_features",
        "mean_n_features" and "std_n_features". ``pandas.DataFrame(cv_results_)`` is a table of it.

    best_index_ : int
        The chosen candidate.

    best_params_ : dict
        Its parameters.

    best_score_ : float
        Its mean score.

    selector_ : PPFS or other search
        The search with these parameters, fitted on all rows: its trace, p-values and blanket.

    estimator_ : estimator
        The model, fitted on the selected columns; where X has text or categories it reads codes, so use
        `predict`. Only with ``refit=True``.

    support_ : ndarray of bool, shape (n_columns,)
        Which columns were selected.

    selected_ : ndarray of int
        Their numbers, most important first.

    n_features_ : int
        How many they are.

    path_ : ndarray of int
        The columns in the order in which the model should be given them: the members of the blanket, most important
        first, then the others by what they tell of the target on their own. The first five of them are what
        ``n_features=5`` selects with these parameters, without another search.

    n_splits_ : int
        How many divisions of the rows the candidates were scored on.

    scorer_ : callable
        What `score` and the choice use.

    warnings_ : tuple of records
        Columns that should make a person think: `column`, `kind`, `message`.

    results_ : data frame
        What became of every column: the `results_` of `selector_`, with the columns chosen here.

    classes_ : ndarray
        The labels, for classification.

    task_ : {"classification", "regression"}
        How the target was read.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    Notes
    -----
    Work is shared. Candidates with the same test ask each question once, so that levels and corrections cost little
    more than one of them; sizes share one search; a model is fitted once on each set of columns.

    `best_score_` is the best of many and therefore optimistic. For a forecast put the whole selector into
    ``sklearn.model_selection.cross_val_score``.

    References
    ----------
    Hassan, Paik, Khare and Hassan, "PPFS: Predictive Permutation Feature Selection", 2021.

    Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984 (the rule of one standard error).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ppfs import PPFSCV
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> search = PPFSCV(SVC(), candidates={"alpha": [0.01, 0.05]}, random_state=0).fit(X, y)
    >>> search.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> search.score(X, y) > 0.9
    True
    """

    _parameter_constraints: dict[str, Any] = {
        "estimator": [IsModel(), None],
        "selector": [BaseBlanketSelector, None],
        "candidates": [StrOptions({"auto"}), dict, list, tuple],
        "rule": [StrOptions({"best", "one-se"})],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            list,
            tuple,
        ],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "refit": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
        "n_jobs": N_JOBS_RULE,
        "progress": ["boolean", StrOptions({"log"})],
    }

    cv_results_: dict[str, Any]
    estimator_: Any
    task_: Task

    def __init__(
        self,
        estimator: Any = None,
        *,
        selector: BaseBlanketSelector | None = None,
        candidates: Grids | Literal["auto"] = "auto",
        rule: Rule = "best",
        scoring: str | Callable[..., float] | None = None,
        cv: Any = 5,
        n_repeats: int = 1,
        refit: bool = True,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        progress: Progress = False,
    ) -> None:
        self.estimator = estimator
        self.selector = selector
        self.candidates = candidates
        self.rule = rule
        self.scoring = scoring
        self.cv = cv
        self.n_repeats = n_repeats
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    @property
    def results_(self) -> Any:
        """What became of every column, as of `selector_`, with the columns that the cross-validation chose."""
        check_is_fitted(self)
        frame = nw.from_native(self.selector_.results_, eager_only=True)
        chosen = nw.new_series("selected", self.support_.tolist(), nw.Boolean, backend=frame.implementation)
        return frame.with_columns(chosen).to_native()

    def fit(self, X: Any, y: Any, *, groups: Any = None, **params: Any) -> Self:
        """Choose among the candidates, search with the chosen one in all rows, and fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The columns: numbers, and in data frames text and categories too.

        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The target.

        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together: no division of the rows separates them.

        **params
            `sample_weight`, array-like of shape (n_rows,): how much each row counts, in searches, fits and scores. A
            row of weight 0 is left out.

        Returns
        -------
        self
        """
        self._validate_params()
        with in_one_step(self) as draft:
            draft._fit(X, y, groups=groups, sample_weight=weights_among(params, self))
        return self

    def _fit(self, X: Any, y: Any, *, groups: Any, sample_weight: Any) -> None:
        base: BaseBlanketSelector = PPFS() if self.selector is None else self.selector
        base._validate_params()
        named = None if isinstance(self.candidates, str) else Candidates.of(self.candidates, base)
        table = read_table(
            X,
            y,
            task=task_of_estimator(self.estimator)
            or agreed_task(base._independence_test().declared_task(), base.task, type(base).__name__),
            owner=self,
            feature_groups=base.feature_groups,
            categorical_features=base.categorical_features,
            sample_weight=sample_weight,
            groups=groups,
            memory_limit=base.memory_limit,
        )
        candidates = named or Candidates.of(_default_candidates(table.n_features), base)
        warn_if_ambiguous(table, BY_ESTIMATOR)
        validate_data(self, X, skip_check_array=True)
        entropy = root_entropy(self.random_state)
        seed = integer_seed(stream(entropy))
        model = self._model(table, seed)
        self.scorer_: Scorer = scorer_for(model, self.scoring, is_weighted=table.weights is not None)
        judge = Judge(table, candidates, model, self.scorer_, seed)
        scored = self._scored(judge, self._divisions(table, entropy))
        self.cv_results_ = scored.as_results(candidates.all)
        self.best_index_ = scored.best(self.rule)
        best = candidates.all[self.best_index_]
        self.best_params_ = best.params
        self.best_score_ = float(scored.scores[self.best_index_].mean())
        self.n_splits_ = scored.scores.shape[1]
        self.selector_ = searched([candidates.settings[best.setting]], table, seed)[0]
        validate_data(self.selector_, X, skip_check_array=True)
        self.selector_._backend = backend_of(X)
        self.warnings_ = self.selector_.warnings_ = check_columns(table)
        path = Path.of(self.selector_, table)
        self._select(path.features(best.size(table.n_features)), table)
        self.path_ = np.array(CallersColumns.of(table).numbers(path.ranking), dtype=np.intp)
        if self.refit:
            self._fit_model(model, table)

    def _model(self, table: Table, seed: int) -> Any:
        """Return the model to be scored, or say why it cannot be fitted on such data."""
        if self.estimator is not None:
            require_valid_parameters(self.estimator)
        model = estimator_for(self.estimator, table.task)
        require_two_classes(table)
        if table.is_sparse and not input_tags(model).sparse:
            raise InvalidInputError(
                f"X is sparse, and {type(model).__name__} does not take sparse data. Pass X.toarray(), or use an "
                "estimator that does."
            )
        require_finite(
            table,
            allow_missing=input_tags(model).allow_nan and not table.is_sparse,
            user=type(model).__name__,
            way_out="Put an imputer before it: make_pipeline(SimpleImputer(), ...), or use an estimator that takes "
            "NaN, such as HistGradientBoostingClassifier.",
        )
        weight_arguments(model, table.weights)
        return seeded(model, seed)

    def _divisions(self, table: Table, entropy: int) -> list[tuple[Rows, Rows]]:
        """Return the rows to search and fit in, and the rows to score, of every division."""
        if not isinstance(self.cv, Integral):
            try:
                splits = splits_of(self.cv, table, table.y, entropy=entropy, fold=0, n_draws=1)
            except InvalidInputError as error:
                raise InvalidInputError(f"cv: {error}") from error
            return [(split.train, split.test) for split in splits]
        n_folds = int(self.cv)
        if n_folds > table.n_rows:
            raise InvalidInputError(f"cv={n_folds} is more than the {table.n_rows} rows. Use fewer folds.")
        labels = table.y if table.task == "classification" and every_class_has(table.y, n_folds) else None
        return [
            division
            for repeat in range(self.n_repeats)
            for division in divide_into_folds(
                table.n_rows,
                labels,
                table.groups,
                n_folds,
                integer_seed(stream(entropy, repeat)),
                called=f"cv={n_folds}",
            )
        ]

    def _scored(self, judge: Judge, divisions: list[tuple[Rows, Rows]]) -> Scored:
        run = Parallel(n_jobs=self.n_jobs, return_as="generator")
        found: list[PartScores] = []
        with ProgressBar("folds", len(divisions), self.progress) as bar:
            for part in run(delayed(judge)(*division) for division in divisions):
                found.append(part)
                bar.advance()
        return Scored(
            np.column_stack([part.scores for part in found]),
            np.column_stack([part.sizes for part in found]).astype(np.float64),
        )

    def _select(self, features: list[int], table: Table) -> None:
        callers = CallersColumns.of(table)
        self.selected_ = np.array(callers.numbers(features), dtype=np.intp)
        self.n_features_ = int(self.selected_.size)
        self.support_ = np.zeros(callers.n_columns, dtype=bool)
        self.support_[self.selected_] = True
        self.task_ = table.task
        self._has_gaps_in_text = table.has_gaps_in_text
        self._column_names = table.column_names

    def _fit_model(self, model: Any, table: Table) -> None:
        """Fit the model on the selected columns, in the caller's order, as `predict` will read them."""
        columns = np.flatnonzero(self.support_).tolist()
        self._reader = NewRows.like(table, columns)
        if not columns:
            self.estimator_ = constant_model(table.task).fit(np.zeros((table.n_rows, 1)), table.y)
            return
        chosen = table.X[:, columns]
        frame = frame_for(model, table)
        to_frame = None if frame is None else ToFrame(frame, self._reader.names)
        ready = prepared(model, self._reader.n_levels, None, to_frame)
        matrix = chosen.tocsr() if table.is_sparse else np.ascontiguousarray(chosen)
        with naming_the_model(ready, table, ()):
            self.estimator_ = fitted_clone(ready, matrix, table.y, **weight_arguments(ready, table.weights))

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        if getattr(X, "ndim", 2) != 2:
            raise InvalidInputError(
                f"Expected 2D array, but X has the shape {X.shape}. Reshape your data: X.reshape(1, -1) is one row."
            )
        validate_data(self, X, skip_check_array=True, reset=False)
        return self._reader.read(X, owner=self) if self.n_features_ else np.zeros((n_rows_of(X), 1))

    @available_if(_refitted_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the selected columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            All the columns that were seen in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        seen = self._read(X)
        return np.asarray(self.estimator_.predict(seen))

    @available_if(_refitted_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the classes, shape (n_rows, n_classes); see `predict`."""
        seen = self._read(X)
        return np.asarray(self.estimator_.predict_proba(seen))

    @available_if(_refitted_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the model's decision values; see `predict`."""
        seen = self._read(X)
        return np.asarray(self.estimator_.decision_function(seen))

    @available_if(_refitted_has("predict"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the model on other rows, with `scoring`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            All the columns that were seen in `fit`.

        y : array-like of shape (n_rows,)
            The truth.

        sample_weight : array-like of shape (n_rows,), default=None
            How much each row counts.

        Returns
        -------
        float
        """
        seen = self._read(X)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return weighted_score(self.scorer_, self.estimator_, seen, np.asarray(y), weights)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of `predict_proba`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.classes_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        base = get_tags(PPFS() if self.selector is None else self.selector)
        tags.target_tags.required = True
        tags.input_tags.sparse = base.input_tags.sparse
        tags.input_tags.allow_nan = base.input_tags.allow_nan or self._has_gaps_in_text
        if self.estimator is None:
            # The tree is a classifier or a regressor, as the target will tell: both have their tags.
            tags.classifier_tags, tags.regressor_tags = ClassifierTags(), RegressorTags()
        else:
            own = get_tags(self.estimator)
            tags.estimator_type = own.estimator_type
            tags.classifier_tags = deepcopy(own.classifier_tags)
            tags.regressor_tags = deepcopy(own.regressor_tags)
            tags.input_tags.sparse &= input_tags(self.estimator).sparse
            tags.input_tags.allow_nan &= input_tags(self.estimator).allow_nan
        return tags
