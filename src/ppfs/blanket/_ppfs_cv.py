"""PPFS with settings, or a number of columns, chosen by cross-validation of the model that will use the columns."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils import ClassifierTags, RegressorTags, Tags, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ppfs._conventions import (
    N_JOBS_RULE,
    HasMethods,
    Interval,
    IsModel,
    Progress,
    ProgressBar,
    RandomStateLike,
    StrOptions,
    integer_seed,
    root_entropy,
    stream,
)
from ppfs._data import (
    BY_ESTIMATOR,
    CallersColumns,
    FitData,
    Table,
    agreed_task,
    check_columns,
    require_finite,
    require_two_classes,
)
from ppfs._estimator import Selector
from ppfs._fitting import (
    Scorer,
    estimator_for,
    for_labels,
    input_tags,
    require_valid_parameters,
    scorer_for,
    seeded,
    task_of_estimator,
    weight_arguments,
)
from ppfs.blanket._cv.candidates import SEARCH, SIZE, Candidates, Grids
from ppfs.blanket._cv.choice import Rule, Scored, chosen_by_score
from ppfs.blanket._cv.divisions import divisions
from ppfs.blanket._cv.inner_scores import Judge, PartScores, Rows, searched
from ppfs.blanket._cv.on_device import on_device
from ppfs.blanket._cv.ranking import Path
from ppfs.blanket._cv.refitted_model import RefittedModel
from ppfs.blanket._ppfs import PPFS
from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.blanket._steps.joint_growth import model_of_all, suits_joint_growth
from ppfs.exceptions import InvalidInputError

# The default candidates: the blanket, and a path over size; see docs/decisions/0110.
_DEFAULT_SIZES = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 128, 256)
_DEFAULT_SHARES = (0.25, 0.5, 1.0)


# Sizes of a path by a model of all columns, in tables that are small enough for one.
_JOINT_SIZES = tuple(size for size in _DEFAULT_SIZES if size <= 32)
# With fewer rows, the folds of the test inside the folds of the cross-validation are too small.
_JOINT_ROWS = 100


def _default_candidates(n_features: int, joint: PPFS | None = None) -> list[dict[str, list[Any]]]:
    """Return the default candidates for a number of features; "all features" is a share, not a size.

    Parameters
    ----------
    joint : PPFS, default=None
        A search that grows jointly, where the table suits one.
    """
    sizes = [size for size in _DEFAULT_SIZES if size < n_features]
    grids: list[dict[str, list[Any]]] = [{SIZE: [None, *sizes, *_DEFAULT_SHARES]}]
    if joint is not None:
        grids.append({SEARCH: [joint], SIZE: [None, *(size for size in sizes if size in _JOINT_SIZES)]})
    return grids


def _joint_search(table: Table, device: str | None) -> PPFS | None:
    """Return a search by gradient boosting that grows jointly; None where the table does not suit it."""
    is_taken = table.is_in_memory and not table.is_sparse and table.codes.ndim == 1 and table.groups is None
    if not is_taken or table.n_rows < _JOINT_ROWS or not suits_joint_growth(table.n_rows, table.n_features):
        return None
    return PPFS(
        model_of_all(table.task),
        independence="cross-fit-ppi",
        growth="auto",
        correction="bh",
        # Not every target has kernels for its model.
        device="auto" if device == "cuda" else device or "cpu",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PPFSCV(RefittedModel, Selector):
    """PPFS with the settings, or the number of columns, that are best for a given model.

    The paper chooses B and K by nested cross-validation, which this class does. The rows are divided into folds. On
    the rows outside each fold every candidate selects columns and the model is fitted on them; on the rows inside the
    fold the model is scored. The candidate with the best mean score then selects columns on all rows. No search uses
    the rows that it is scored on, so the scores of the candidates are comparable; the best of many scores is slightly
    optimistic.

    Parameters
    ----------
    estimator : estimator, default=None
        The model that will use the columns: it is scored, and fitted on the selected columns at the end. None is a
        decision tree, of the response (see `predict`) of counts, amounts, ordered classes and survival times.
        The model of the test is a parameter of `selector`.

    selector : PPFS or other search of `ppfs.blanket`, default=None
        The search whose parameters are varied. None is ``PPFS()``.

    candidates : dict, list of dict or "auto", default="auto"
        Which parameters of `selector` to try: a grid such as ``{"n_splits": [10, 30], "alpha": [0.01, 0.05]}``,
        or several. Two keys are special: "selector" is another search, and "n_features" how many columns to select: an
        integer, a fraction of all columns, or None for the blanket. Selected are the most important members of the
        blanket, and beyond these the other columns in the order of their marginal p-values. "auto" varies "n_features":
        the blanket, and sizes from 1 to all columns. If `selector` is None and the table has 100 rows or more and is
        small enough for joint growth (see `growth` of `PPFS`), "auto" also has the blanket, and sizes up to 32, of a
        search by gradient boosting with ``growth="auto"``, which finds columns that act only together.

    rule : {"best", "one-se"}, default="best"
        "best" takes the highest mean score, "one-se" the fewest columns among the candidates whose mean score is
        within one standard error of the highest.

    scoring : str or callable, default=None
        As in scikit-learn; None is the estimator's own score.

    cv : int, splitter or list of (train, test) pairs, default=5
        How the rows are divided. An integer is a number of shuffled folds, stratified if every class has enough rows;
        rows of a group stay together.

    n_repeats : int, default=1
        How often the rows are divided into `cv` folds, if that is an integer. The cost grows in proportion. More
        repeats make the standard errors of ``rule="one-se"`` more precise, but do not improve the choice of the
        highest score (docs/decisions/0155).

    refit : bool, default=True
        Fit the model on all rows with the selected columns, so that `predict` and `score` work.

    random_state : int, Generator, RandomState or None, default=None
        Seeds the folds, and searches and estimators without a seed of their own.

    n_jobs : int, default=None
        Number of folds processed in parallel. The result is the same for any number.

    progress : bool or "log", default=False
        Show a bar for the folds; see `PPFS`.

    device : {"cpu", "cuda", "auto"} or None, default=None
        Where the growth phase runs; see `PPFS`. None leaves that to `selector`. Searches among the candidates keep
        their own.

    Attributes
    ----------
    cv_results_ : dict of str to array
        One entry per candidate: "params" and "param_<name>"; "split<i>_test_score", "mean_test_score",
        "std_test_score", "se_test_score" (the standard error of the mean) and "rank_test_score";
        "split<i>_n_features", "mean_n_features" and "std_n_features". ``pandas.DataFrame(cv_results_)`` makes a table
        of it.

    best_index_ : int
        The chosen candidate.

    best_params_ : dict
        Its parameters.

    best_score_ : float
        Its mean score.

    selector_ : PPFS or other search
        The search with these parameters, fitted on all rows: its trace, p-values and blanket.

    estimator_ : estimator
        The model, fitted on the selected columns; text and categories are encoded for it, so use `predict`. Only with
        ``refit=True``.

    support_ : ndarray of bool, shape (n_columns,)
        Which columns were selected.

    blanket_, selected_ : ndarray of int
        Their numbers, most important first. This is the set with which the model scores best: the blanket of
        `selector_`, a part of it, or more.

    trace_ : Trace
        Every question, answer and decision of `selector_`, and which columns the cross-validation chose.

    n_features_ : int
        Number of selected columns.

    path_ : ndarray of int
        The columns in the order in which "n_features" selects them: the members of the blanket, most important first,
        then the others in the order of their marginal p-values. The first five are what ``n_features=5`` selects.

    n_splits_ : int
        Number of divisions of the rows that the candidates were scored on.

    scorer_ : callable
        What `score` and the choice use.

    blankets_ : Blankets
        The columns of each output of a target of several columns; computed when it is first read. A target of one
        column has no such attribute.

    sufficiency_ : Sufficiency
        What a model with all columns would gain, with an interval and a verdict; measured when it is first read.

    warnings_ : tuple of ColumnWarning
        Suspicious columns, such as identifiers, copies and leaks, with advice for each.

    results_ : data frame
        One row per column: whether it was selected, its importance and p-value in `selector_`, and why.

    classes_ : ndarray
        The labels, for classification.

    task_ : {"classification", "regression", "count", "positive", "ordinal", "survival"}
        How the target was read.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    Notes
    -----
    Candidates share work. Those with the same test share its results, so trying several levels and corrections costs
    little more than one; sizes share one search; a model is fitted once on each set of columns.

    Scores of candidates, above all of neighboring sizes, often differ by less than their standard errors. A fit with
    other folds may then choose another number of columns, at about the same score: ``trace_.method`` says which numbers
    are within one standard error. Set `random_state` to repeat a choice, and ``rule="one-se"`` for the fewest columns.

    `best_score_` is the best of many scores and therefore optimistic. To estimate the score on new data, pass the whole
    selector to ``sklearn.model_selection.cross_val_score``.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
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
        "device": [StrOptions({"cpu", "cuda", "auto"}), None],
    }

    estimator: Any = field(default=None, kw_only=False)
    selector: BaseBlanketSelector | None = None
    candidates: Grids | Literal["auto"] = "auto"
    rule: Rule = "best"
    scoring: str | Callable[..., float] | None = None
    cv: Any = 5
    n_repeats: int = 1
    refit: bool = True
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    progress: Progress = False
    device: str | None = None

    @property
    def results_(self) -> Any:
        """What became of every column, as in every selector's `results_`; `pvalue` and others are those of `selector_`.

        `selected` and `reason` say which columns the cross-validation chose, and why.
        """
        check_is_fitted(self)
        return self.selector_._results_of(self.trace_, self.support_)

    def _fit(self, data: FitData) -> None:
        base = on_device(PPFS() if self.selector is None else self.selector, self.device)
        base._validate_params()
        named = None if isinstance(self.candidates, str) else Candidates.of(self.candidates, base)
        table = self._read_table(
            data,
            task=agreed_task(
                task_of_estimator(self.estimator),
                agreed_task(base._independence_test().declared_task(), base.task, type(base).__name__),
                type(self).__name__,
            ),
            decided_by=BY_ESTIMATOR,
            settings=base,
        )
        if self.estimator is None:
            table = table.with_response()
        candidates = named or Candidates.of(
            _default_candidates(
                table.n_features, _joint_search(table, self.device) if self.selector is None else None
            ),
            base,
        )
        entropy = root_entropy(self.random_state)
        seed = integer_seed(stream(entropy))
        model = self._model(table, seed)
        self.scorer_: Scorer = scorer_for(model, self.scoring, is_weighted=table.weights is not None)
        judge = Judge(table, candidates, model, self.scorer_, seed)
        scored = self._scored(judge, divisions(self.cv, table, entropy, self.n_repeats))
        self.cv_results_: dict[str, Any] = scored.as_results(candidates.all)
        self.best_index_ = scored.best(self.rule)
        best = candidates.all[self.best_index_]
        self.best_params_ = best.params
        self.best_score_ = float(scored.scores[self.best_index_].mean())
        self.n_splits_ = scored.scores.shape[1]
        self.selector_ = searched([candidates.settings[best.setting]], table, seed)[0]
        self.selector_._see_columns(data.X, table)
        self.selector_.trace_.name_target(data.y)
        self.warnings_ = self.selector_.warnings_ = check_columns(table)
        path = Path.of(self.selector_, table)
        self._select(path.features(best.size(table.n_features)), table, scored)
        self.path_ = np.array(CallersColumns.of(table).numbers(path.ranking), dtype=np.intp)
        if self.refit:
            self._fit_model(model, table)

    def _model(self, table: Table, seed: int) -> Any:
        """Return the model to be scored, or raise if it cannot be fitted on such data."""
        if self.estimator is not None:
            require_valid_parameters(self.estimator)
        model = estimator_for(for_labels(self.estimator, table), table.task)
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

    def _select(self, features: list[int], table: Table, scored: Scored) -> None:
        callers = CallersColumns.of(table)
        self.blanket_ = self.selected_ = np.array(callers.numbers(features), dtype=np.intp)
        self.n_features_ = int(self.selected_.size)
        self._set_columns(self.selected_, table)
        method = scored.described(
            self.best_index_,
            self.n_features_,
            type(estimator_for(None, table.task) if self.estimator is None else self.estimator),
        )
        self.trace_ = chosen_by_score(self.selector_.trace_, features, self.n_features_, method)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        base = get_tags(PPFS() if self.selector is None else self.selector)
        tags.target_tags.required = True
        tags.input_tags.sparse = base.input_tags.sparse
        tags.input_tags.allow_nan = base.input_tags.allow_nan or self._has_missing_labels
        if self.estimator is None:
            # The tree is a classifier or a regressor, depending on the target: set the tags of both.
            tags.classifier_tags, tags.regressor_tags = ClassifierTags(), RegressorTags()
        else:
            own = get_tags(self.estimator)
            tags.estimator_type = own.estimator_type
            tags.classifier_tags = deepcopy(own.classifier_tags)
            tags.regressor_tags = deepcopy(own.regressor_tags)
            tags.input_tags.sparse &= input_tags(self.estimator).sparse
            tags.input_tags.allow_nan &= input_tags(self.estimator).allow_nan
        return tags
