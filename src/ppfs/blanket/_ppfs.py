"""The paper's search: marginal growth, one ordered shrink pass, aggregation over folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Literal

from sklearn.utils import Tags

from ppfs._conventions import Interval, Progress, RandomStateLike, StrOptions
from ppfs._data import CategoricalFeatures, ColumnsLike, SaidTask, Task
from ppfs._fitting import Impute, PanelParameters, accepted_input
from ppfs._rows import ClassWeight, Stratify
from ppfs.blanket._calibrated import CalibratedPreset
from ppfs.blanket._run.base import SEARCH_CONSTRAINTS
from ppfs.blanket._run.confirming_search import ConfirmingSearch
from ppfs.blanket._run.described_test import described_test
from ppfs.blanket._run.grow_and_shrink import GrowAndShrink, Growth
from ppfs.blanket._steps.correction import CORRECTIONS
from ppfs.independence import (
    PPI_CONSTRAINTS,
    TESTS_BY_NAME,
    IndependenceTest,
    LossFunction,
    OnError,
    PredictiveTest,
)


@dataclass(kw_only=True, eq=False, repr=False)
class PPFS(CalibratedPreset, PanelParameters, GrowAndShrink, ConfirmingSearch):
    """Predictive Permutation Feature Selection.

    Searches for a small set of columns that a model needs: first every column that helps to predict the target on
    its own, then, weakest first, drops those that do not help beside the others. "Helps" means that the model predicts
    significantly worse on unseen rows when the column is replaced by its knockoff (see `ppfs.independence.PPI`).

    Parameters
    ----------
    estimator : estimator, list of estimator, "panel" or None, default=None
        Any classifier or regressor; None is a decision tree, as in the paper. The p-values of several models are
        combined by the Cauchy combination test; "panel" is `ppfs.models.default_panel`.

    n_splits : int, default=30
        The paper's B: random train/test splits per question. At least 5 for "wilcoxon".

    n_folds : int, default=0
        The paper's K: search in the training part of each of K folds and return the blanket whose members the others
        agree on most. 0 searches once, in all rows.

    alpha : float, default=0.05
        Level of each test.

    test_size : float, default=0.2
        Share of the rows in each split's test part.

    stratify : bool or "auto", default="auto"
        Keep the proportions of the classes in the splits; "auto" does so if every class can be in both parts.

    knockoff : {"permutation", "conditional"}, default="permutation"
        What replaces a column in the test part: its values shuffled, or draws given the other columns of the model; see
        `ppfs.independence.PPI`.

    significance : {"wilcoxon", "paired-t", "corrected-t"}, default="wilcoxon"
        The one-sided paired test over the splits.

    n_draws : int, default=None
        How often a column is replaced in each test part. None is the test's default: once, or 10 times for
        "cross-fit-ppi".

    conditional : estimator, default=None
        The model of a column given others, for the conditional knockoff; see `ppfs.independence.PPI`.

    loss : str or callable, default="auto"
        See `ppfs.independence.PPI`.

    class_weight : dict, "balanced" or None, default=None
        Weights of the losses by class; "balanced" gives all classes the same total weight. The fits are not weighted:
        set the estimator's own `class_weight` for that.

    impute : "median" or None, default=None
        How missing values in numeric columns are filled, in each training part. None leaves them to estimators that
        accept NaN.

    splitter : splitter or list of (train, test) pairs, default=None
        Any splitter of scikit-learn instead of the random splits; `n_splits`, `test_size` and `stratify` are then
        ignored. With `n_folds` it splits the training part of each fold. See `ppfs.independence.PPI`.

    correction : {"bh", "by", "bonferroni"}, default=None
        Adjust the growth phase's p-values for the number of columns. None does not, as in the paper.

    confirm : float, default=None
        Share of the rows to hold out from the search, such as 0.3. On them each selected column is tested given the
        other selected ones, corrected for their number ("bh" if `correction` is None): `confirmed_` has the p-values,
        which are valid because the columns were selected on other rows.

    growth : {"marginal", "joint", "both", "auto"}, default="marginal"
        How columns become candidates. "marginal", as in the paper, tests each column on its own. "joint" tests each
        column given all others, by one set of models of all columns: it finds columns that matter only beside others,
        such as the inputs of an exclusive-or. "both" takes the union. "auto" is "both" in small tables, with at most
        500 columns, 10,000 rows and two million values, and "marginal" in others. With fewer than ten rows per column,
        and more than 40 columns, a model has the columns of the most promising pairs.

    second_look : bool, default=False
        After the shrink phase, test every rejected column given the selected ones, and shrink again where one enters.
        This finds suppressors: columns that are independent of the target on their own, but not given others. Of
        more than 100 rejected columns the most promising ones are tested. Selected columns are tested again too, until
        each was kept given exactly those that remain.

    task : {"auto", "classification", "regression", "count", "positive", "ordinal", "survival"}, default="auto"
        "auto" follows the estimator, or else the target: text, booleans, and integers with at most 20 distinct values
        are labels.

    interactions : {"pairs"} or None, default=None
        "pairs": growth also tests two columns given each other, and adds both if the target depends on each given the
        other, as it does on the inputs of an exclusive-or. The p-values are adjusted for the number of pairs, by
        `correction`, or by "bh" if that is None. All pairs of up to 45 columns are tested; of more columns the 1,000
        most promising ones; see the notes.

    growth_estimator : estimator, list of estimator, "panel" or None, default=None
        Another model for the growth phase, for example a decision tree if `estimator` is slow. None is `estimator`, as
        in the paper.

    independence : IndependenceTest or str, default=None
        The test, an instance or a name; None is "ppi", the paper's test. "cross-fit-ppi" is the cross-fitted test with
        the parameters given here: `estimator`, `growth_estimator`, `stratify`, `n_draws`, `conditional`, `loss`,
        `class_weight`, `impute`, `splitter`, `task` and `device`. "auto", "g2" and the other names of `IAMB` have no
        model. An instance has its own parameters. A parameter that would have no effect is an error.

    random_state : int, Generator, RandomState or None, default=None
        Seeds folds, splits, knockoffs, and estimators without a seed of their own.

    n_jobs : int, default=None
        Number of parallel fits; ``joblib.parallel_config`` chooses the backend. The result is the same for any number
        and backend.

    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the growth phase runs: "cuda" is an NVIDIA GPU, which grows decision trees and random forests on dense
        columns and needs CuPy; "auto" takes it where it can and pays, and says in the trace what it took and why. The
        answers are the same; see docs/gpu.md.

    progress : bool or "log", default=False
        Show a bar for growth and one for shrink, on stderr, in terminals and notebooks. "log" writes a line from time
        to time if stderr is neither.

    always_keep : collection of int or str, default=()
        Columns, by number or name, that are always selected, never tested, and in every conditioning set of the shrink
        phase.

    condition_on : collection of int or str, default=()
        Columns that are in every conditioning set, also in the growth phase, and are never selected.

    feature_groups : mapping of str to collection of int or str, default=None
        Columns that form one feature, such as ``{"address": ["street", "city"]}``: they are kept or dropped together.
        Fitted attributes have one entry per column; the trace has one per group.

    categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
        Which columns are categorical. "auto": text, categories, and integers with at most 20 distinct values, which
        models still get as numbers. "from_dtype": text and categories only. A list of names or numbers, or a mask,
        names all of them, and models then treat them as categories; None means none.

    min_features : int, default=0
        Select at least this many columns, if necessary by adding those that came closest; an empty selection stops a
        pipeline. A group counts as one.

    memory_limit : int, default=None
        If X is a path: bytes of memory that its candidates may take. None is a quarter of the machine's memory.

    checkpoint : path, default=None
        A folder that finished answers are written to: new, empty, or a checkpoint. The next fit with the same folder,
        data and parameters continues from them; a fit with others is an error. Whatever is random needs an integer as
        `random_state`.

    on_error : {"raise", "drop"}, default="raise"
        What to do if the estimator fails on a column in the growth phase, or a column of a file cannot be used: raise
        an error that names the column, or leave the column out, with a note in the trace. A failing model of several
        columns is always an error.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Which columns were selected.

    blanket_ : ndarray of int
        Their numbers, most important first.

    pvalues_ : ndarray of shape (n_features,)
        The p-value of the test that decided about each column. For a column that entered because the rejected ones
        add something together (phase "rest together" of `results_`) it is that of all of them.

    importances_ : ndarray of shape (n_features,)
        Mean increase of the risk when the column is replaced by its knockoff, from the same test.

    scores_ : ndarray of shape (n_features,)
        The paper's importance score, log(1/p). It saturates; `importances_` does not.

    trace_ : Trace
        Every question, answer and decision; ``trace_.to_frame()``, ``trace_.explain(name)``.

    folds_ : tuple of Fold
        Each fold's blanket and z score; empty without folds.

    results_ : data frame
        One row per column, in the library of the caller's frame: `column`, `selected`, `importance` with
        `importance_low` and `importance_high`, `pvalue`, `adjusted_pvalue`, `stability`, `phase`, `reason`,
        `redundant_with`, `detectable`, `at_least`.

    roles_ : tuple of Role
        For each selected column: parent, child, spouse or undecided, with the question that decided.

    blankets_ : Blankets
        The columns of each output of a target of several columns; computed when it is first read. A target of one
        column has no such attribute.

    sufficiency_ : Sufficiency
        What a model with all columns would gain, with an interval and a verdict; measured when it is first read.

    warnings_ : tuple of ColumnWarning
        Suspicious columns, such as identifiers, copies and leaks, with advice for each.

    confirmed_ : Confirmation or None
        The tests of the selected columns on rows held out from the search: `pvalues`, `adjusted_pvalues`,
        `is_confirmed`, `fdr`, `to_frame()`. None without `confirm`.

    n_fits_ : int
        Number of models fitted.

    n_tests_ : int
        Number of tests. Results of the last fit on the same data are reused.

    independence_ : IndependenceTest
        The test that was used.

    stability_ : ndarray of shape (n_features,)
        Share of the folds that selected each column; NaN without folds.

    task_ : {"classification", "regression", "count", "positive", "ordinal", "survival"}
        How the target was read.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    See Also
    --------
    ppfs.independence.PPI : the test.

    Notes
    -----
    Growth is marginal: a column that acts only together with another one is independent of the target on its own and
    never becomes a candidate. Searches that grow conditionally, such as FBED, find it where the other one enters alone,
    as the child of a spouse in a Bayesian network does. Of an exclusive-or neither side enters alone, and they miss
    both: ``interactions="pairs"`` finds it, with a model that can express it, such as a tree; three columns that act
    only together are still missed.

    If there are more than 1,000 pairs, the most promising ones are tested: each column, and a numeric target, is
    divided into quarters of its ranks, and pairs are ranked by the smaller of the two likelihood ratios "a given b" and
    "b given a". The p-values are adjusted for all pairs, including those not tested, so the screening does not add
    false positives; docs/searches.md shows how often it misses a pair.

    The p-values are the paper's. They are too small, because the splits overlap and because shuffling a column breaks
    its dependence on the others; `PPFS.calibrated` is the same search with p-values that hold their level.

    References
    ----------
    Hassan, Paik, Khare and Hassan, "PPFS: Predictive Permutation Feature Selection", 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS(random_state=0).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in PPI_CONSTRAINTS.items() if name != "marginal_estimator"},
        **SEARCH_CONSTRAINTS,
        "growth_estimator": PPI_CONSTRAINTS["marginal_estimator"],
        "correction": [StrOptions(set(CORRECTIONS)), None],
        "confirm": [Interval(Real, 0, 1, closed="neither"), None],
        "interactions": [StrOptions({"pairs"}), None],
        "growth": [StrOptions({"marginal", "joint", "both", "auto"})],
        "second_look": ["boolean"],
        "independence": [StrOptions(set(TESTS_BY_NAME)), IndependenceTest, None],
        "n_draws": [*PPI_CONSTRAINTS["n_draws"], None],
    }

    estimator: Any = field(default=None, kw_only=False)
    n_splits: int = 30
    n_folds: int = 0
    alpha: float = 0.05
    test_size: float = 0.2
    stratify: Stratify = "auto"
    knockoff: str = "permutation"
    significance: str = "wilcoxon"
    n_draws: int | None = None
    conditional: Any = None
    loss: str | LossFunction = "auto"
    class_weight: ClassWeight = None
    impute: Impute = None
    splitter: Any = None
    correction: str | None = None
    confirm: float | None = None
    interactions: Literal["pairs"] | None = None
    growth: Growth = "marginal"
    second_look: bool = False
    task: SaidTask = "auto"
    growth_estimator: Any = None
    independence: IndependenceTest | str | None = None
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    device: str = "cpu"
    progress: Progress = False
    always_keep: ColumnsLike = ()
    condition_on: ColumnsLike = ()
    feature_groups: Mapping[str, ColumnsLike] | None = None
    categorical_features: CategoricalFeatures = "auto"
    min_features: int = 0
    memory_limit: int | None = None
    checkpoint: str | PathLike[str] | None = None
    on_error: OnError = "raise"

    def _independence_test(self) -> IndependenceTest:
        return described_test(self, self.independence)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        is_flat = self.independence in (None, "ppi", "cross-fit-ppi")
        test = self if is_flat else self.independence
        if isinstance(test, PPFS | PredictiveTest):
            task: Task = (
                "classification" if test.task in ("auto", "classification", "ordinal") else "regression"
            )
            accepts = accepted_input(test.estimator, task)
            tags.input_tags.sparse = accepts.sparse
            tags.input_tags.allow_nan |= accepts.allow_nan or test.impute is not None
        return tags
