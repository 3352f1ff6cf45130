"""The paper's search: marginal growth, one ordered shrink pass, aggregation over folds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from numbers import Real
from os import PathLike
from typing import Any, Literal, Self

from sklearn.utils import Tags

from ppfs._conventions import Interval, Progress, RandomStateLike, StrOptions
from ppfs._data import CategoricalFeatures, ColumnsLike, Table, Task, listed
from ppfs._fitting import DEFAULT_PANEL, Impute, PanelParameters, accepted_input
from ppfs._rows import ClassWeight, Stratify
from ppfs.blanket._run.base import SEARCH_CONSTRAINTS, BaseBlanketSelector
from ppfs.blanket._run.confirm import Confirmation, search_and_confirm
from ppfs.blanket._run.described_test import OF_THE_PAPERS_TEST, described_test
from ppfs.blanket._run.reused_answers import ReusedAnswers
from ppfs.blanket._steps.correction import CORRECTIONS
from ppfs.blanket._steps.growth import grow_marginally
from ppfs.blanket._steps.joint_growth import bind_to_all, grow_jointly
from ppfs.blanket._steps.joint_shrink import shrink_jointly
from ppfs.blanket._steps.pairs import grow_by_pairs
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.blanket._steps.second_look import look_again
from ppfs.blanket._steps.shrink import shrink
from ppfs.exceptions import InvalidInputError
from ppfs.independence import (
    PPI_CONSTRAINTS,
    TESTS_BY_NAME,
    BoundTest,
    IndependenceTest,
    LossFunction,
    OnError,
    PredictiveTest,
)

Growth = Literal["marginal", "joint", "both"]


class PPFS(PanelParameters, BaseBlanketSelector):
    """Predictive Permutation Feature Selection.

    Keeps the smallest set of columns that a model still needs: first every column that helps to
    predict the target on its own, then, weakest first, drops those that add nothing to the
    others. "Helps" means that the model predicts significantly worse on unseen rows when the
    column is replaced by its knockoff (see `ppfs.independence.PPI`).

    Parameters
    ----------
    estimator : estimator, list of estimator, "panel" or None, default=None
        Any classifier or regressor; None is a decision tree, as in the paper. Several are asked together, and their
        p-values are
        joined by Cauchy's combination; "panel" is those of `ppfs.models.default_panel`.

    n_splits : int, default=30
        The paper's B: random train/test splits a question. At least 5 for "wilcoxon".

    n_folds : int, default=0
        The paper's K: search in the training part of each of K folds and return the blanket whose
        members the others agree on most. 0 searches once, in all rows.

    alpha : float, default=0.05
        Level of each test.

    test_size : float, default=0.2
        Share of the rows in each split's test part.

    stratify : bool or "auto", default="auto"
        Keep the proportions of the classes in the splits; "auto" does when every class can be
        represented in both parts.

    knockoff : {"permutation", "conditional"}, default="permutation"
        What replaces a column in the test part: its values shuffled, or draws given the other columns of the
        model; see `ppfs.independence.PPI`.

    significance : {"wilcoxon", "paired-t", "corrected-t"}, default="wilcoxon"
        The one-sided paired test over the splits.

    n_draws : int, default=None
        How often a column is replaced in each test part. None is once, or what a test by name has: 10 times for
        "cross-fit-ppi".

    conditional : estimator, default=None
        The model of a column given others, for the conditional knockoff; see `ppfs.independence.PPI`.

    loss : str or callable, default="auto"
        See `ppfs.independence.PPI`.

    class_weight : dict, "balanced" or None, default=None
        What the loss of a row is multiplied by, by its class; "balanced" makes all classes count alike. The fit is not
        weighted: for that, give the estimator a `class_weight` of its own.

    impute : "median" or None, default=None
        How gaps in numeric columns are filled, in each train part. None leaves them to estimators that take NaN.

    splitter : splitter or list of (train, test) pairs, default=None
        Any splitter of scikit-learn in place of the random splits; `n_splits`, `test_size` and `stratify` are then
        ignored. With `n_folds` it divides the training part of each fold. See `ppfs.independence.PPI`.

    correction : {"bh", "by", "bonferroni"}, default=None
        Adjust the growth phase's p-values for the number of columns. None is the paper's way.

    confirm : float, default=None
        Share of the rows that the search never sees, such as 0.3. On them each selected column is tested given the
        other selected ones, corrected for their number ("bh" where `correction` is None): `confirmed_` holds the
        p-values, which a selection from the same rows could not give.

    growth : {"marginal", "joint", "both"}, default="marginal"
        How columns become candidates. "marginal", as in the paper, tests each column on its own. "joint" tests each
        column given all others, by one set of models of all columns: it finds columns that matter only beside others,
        such as the inputs of an exclusive-or. "both" takes the union.

    second_look : bool, default=False
        After the shrink phase, test every rejected column given the selected ones, and shrink again where one enters.
        This finds suppressors: columns that have no link to the target on their own, but have one beside others.

    task : {"auto", "classification", "regression"}, default="auto"
        "auto" follows the estimator; without one the target: text, truth values and at most 20
        different whole numbers are labels.

    interactions : {"pairs"} or None, default=None
        "pairs": growth also asks about two columns given each other, and lets them enter together if the target depends
        on either of them given the other, as it does on the sides of an exclusive-or. The p-values are adjusted
        for the number of pairs, by `correction`, or by "bh" where that is None. All pairs of up to 45 columns are asked
        about; of more columns the 1,000 most promising; see the notes.

    growth_estimator : estimator, list of estimator, "panel" or None, default=None
        Another model for the growth phase, for example a decision tree before shrinking with a slow
        model. None is `estimator`, as in the paper.

    independence : IndependenceTest or str, default=None
        The test, ready or by name; None is "ppi", the paper's. "cross-fit-ppi" is the cross-fitted test with the
        parameters given here: `estimator`, `growth_estimator`, `stratify`, `n_draws`, `conditional`, `loss`,
        `class_weight`, `impute`, `splitter` and `task`. "auto", "g2" and the other names of `IAMB` have no model. A
        ready test has its own parameters. One given here that would have no effect is an error.

    random_state : int, Generator, RandomState or None, default=None
        Decides folds, splits and shuffles, and seeds estimators that were left unseeded.

    n_jobs : int, default=None
        Parallel fits; ``joblib.parallel_config`` chooses the backend. The answer is the same for
        any number and backend.

    progress : bool or "log", default=False
        Show a bar for growth and one for shrink, on stderr, in terminals and notebooks. "log" writes a line now and
        then where stderr is neither.

    always_keep : collection of int or str, default=()
        Columns, by number or name, that are in the blanket from the start, are never asked about, and
        are in every conditioning set of the shrink phase.

    condition_on : collection of int or str, default=()
        Columns that are in every conditioning set, also in growth, and are never selected.

    feature_groups : mapping of str to collection of int or str, default=None
        Columns that are one feature together, such as ``{"address": ["street", "city"]}``: they are kept or dropped
        together. The fitted attributes still have one entry a column; the trace speaks of the groups.

    categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
        Which columns are categorical. "auto": text, categories and whole numbers with at most 20 different ones; models
        see the latter as numbers all the same. "from_dtype": text and categories alone. A list of names or numbers,
        or a mask, names all of them, and models then see categories; None names none.

    min_features : int, default=0
        How many columns to select at least, if need be by adding those that came closest; an empty selection stops a
        pipeline. A group counts as one.

    memory_limit : int, default=None
        Where X is a path: bytes that its candidates may take in memory. None is a quarter of the machine's.

    checkpoint : path, default=None
        A folder that finished answers are written to: new, empty, or a checkpoint. The next fit with the same folder,
        data and parameters continues from them; a fit with others is an error. Whatever is random needs an integer as
        `random_state`.

    on_error : {"raise", "drop"}, default="raise"
        What to do when the estimator fails on a column in growth, or a column of a file holds what no model can take:
        raise an error that names the column, or leave it out, with a note in the trace. A model of several columns
        that fails is always an error.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Which columns were selected.

    blanket_ : ndarray of int
        Their numbers, most important first.

    pvalues_ : ndarray of shape (n_features,)
        The p-value of the last question about each column: the one that decided.

    importances_ : ndarray of shape (n_features,)
        Mean rise in risk when the column is replaced by its knockoff, from the same question.

    scores_ : ndarray of shape (n_features,)
        The paper's importance score, log(1/p). It saturates; `importances_` does not.

    trace_ : Trace
        Every question, answer and decision; ``trace_.to_frame()``, ``trace_.explain(name)``.

    folds_ : tuple of Fold
        Each fold's blanket and z score; empty without folds.

    results_ : data frame
        One row a column, in the library of the caller's frame: `column`, `selected`, `importance` with
        `importance_low` and `importance_high`, `pvalue`, `adjusted_pvalue`, `stability`, `phase`, `reason`,
        `redundant_with`.

    warnings_ : tuple of records
        Columns that should make a person think, such as identifiers: `column`, `kind`, `message`.

    confirmed_ : Confirmation or None
        What rows that the search never saw say about the selected columns: `pvalues`, `adjusted_pvalues`,
        `is_confirmed`, `fdr`, `to_frame()`. None without `confirm`.

    n_fits_ : int
        Models fitted.

    n_tests_ : int
        Questions answered. What is known from the last fit on the same data is not asked again.

    independence_ : IndependenceTest
        The test that answered.

    stability_ : ndarray of shape (n_features,)
        Share of the folds that selected each column; NaN without folds.

    task_ : {"classification", "regression"}
        The task that was solved.

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

    Where there are more than 1,000 pairs, the most promising are asked about: each column is cut into the quarters of
    its ranks, a target that is a quantity too, and pairs are compared by the smaller of the two likelihood ratios "a
    given b" and "b given a". The p-values are adjusted for all pairs, those left out included, so that the choice
    cannot bring in noise; how often it misses a pair is measured in docs/searches.md.

    The p-values are the paper's and too small, because the splits overlap and shuffling a column breaks its links to
    the others; `PPFS.calibrated` is the same search with p-values that hold their level.

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

    _parameter_constraints: dict[str, Any] = {
        **{name: rule for name, rule in PPI_CONSTRAINTS.items() if name != "marginal_estimator"},
        **SEARCH_CONSTRAINTS,
        "growth_estimator": PPI_CONSTRAINTS["marginal_estimator"],
        "correction": [StrOptions(set(CORRECTIONS)), None],
        "confirm": [Interval(Real, 0, 1, closed="neither"), None],
        "interactions": [StrOptions({"pairs"}), None],
        "growth": [StrOptions({"marginal", "joint", "both"})],
        "second_look": ["boolean"],
        "independence": [StrOptions(set(TESTS_BY_NAME)), IndependenceTest, None],
        "n_draws": [*PPI_CONSTRAINTS["n_draws"], None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_splits: int = 30,
        n_folds: int = 0,
        alpha: float = 0.05,
        test_size: float = 0.2,
        stratify: Stratify = "auto",
        knockoff: str = "permutation",
        significance: str = "wilcoxon",
        n_draws: int | None = None,
        conditional: Any = None,
        loss: str | LossFunction = "auto",
        class_weight: ClassWeight = None,
        impute: Impute = None,
        splitter: Any = None,
        correction: str | None = None,
        confirm: float | None = None,
        interactions: Literal["pairs"] | None = None,
        growth: Growth = "marginal",
        second_look: bool = False,
        task: Task | Literal["auto"] = "auto",
        growth_estimator: Any = None,
        independence: IndependenceTest | str | None = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        progress: Progress = False,
        always_keep: ColumnsLike = (),
        condition_on: ColumnsLike = (),
        feature_groups: Mapping[str, ColumnsLike] | None = None,
        categorical_features: CategoricalFeatures = "auto",
        min_features: int = 0,
        memory_limit: int | None = None,
        checkpoint: str | PathLike[str] | None = None,
        on_error: OnError = "raise",
    ) -> None:
        self.estimator = estimator
        self.n_splits = n_splits
        self.n_folds = n_folds
        self.alpha = alpha
        self.test_size = test_size
        self.stratify = stratify
        self.knockoff = knockoff
        self.significance = significance
        self.n_draws = n_draws
        self.conditional = conditional
        self.loss = loss
        self.class_weight = class_weight
        self.impute = impute
        self.splitter = splitter
        self.correction = correction
        self.confirm = confirm
        self.interactions = interactions
        self.growth = growth
        self.second_look = second_look
        self.task = task
        self.growth_estimator = growth_estimator
        self.independence = independence
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.always_keep = always_keep
        self.condition_on = condition_on
        self.feature_groups = feature_groups
        self.categorical_features = categorical_features
        self.min_features = min_features
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.on_error = on_error

    @classmethod
    def calibrated(
        cls,
        estimator: Any = DEFAULT_PANEL,
        *,
        correction: str | None = "bh",
        **parameters: Any,
    ) -> Self:
        """Return the recommended settings: p-values that mean what they say, and models that see every kind of link.

        The test is `ppfs.independence.CrossFitPPI` with a panel of four models: a linear model, splines, products of
        two columns, and a linear model followed by boosted trees. P-values of the growth phase are corrected for the
        number of columns: if no column depends on the target, something is selected in about one of twenty tables.

        Parameters
        ----------
        estimator : estimator, list of estimator, "panel" or None, default="panel"
            The models of the test: "panel" is `ppfs.models.default_panel`, one model or a list of them is asked instead
            of it, and None is a decision tree, which sees little.

        correction : {"bh", "by", "bonferroni"} or None, default="bh"
            How the growth phase's p-values are adjusted.

        **parameters
            Any other parameter of `PPFS` that does not describe the paper's test: all but `n_splits`, `test_size`,
            `knockoff`, `significance` and `independence`.

        Returns
        -------
        PPFS
            ``PPFS(estimator, independence="cross-fit-ppi", correction=correction, **parameters)``: an ordinary PPFS,
            whose parameters can be set and searched over.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ppfs import PPFS
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> selector = PPFS.calibrated(random_state=0).fit(X, y)
        >>> "petal length (cm)" in selector.get_feature_names_out()
        True
        """
        wrong = sorted({"independence", *OF_THE_PAPERS_TEST} & set(parameters))
        if wrong:
            raise InvalidInputError(
                f"PPFS.calibrated does not take {listed(wrong)}: the preset decides how the test is made. Use "
                "PPFS(independence=CrossFitPPI(...), correction='bh') to set the test's own parameters."
            )
        return cls(estimator, independence="cross-fit-ppi", correction=correction, **parameters)

    def _independence_test(self) -> IndependenceTest:
        return described_test(self, self.independence)

    confirmed_: Confirmation | None

    def _fit_table(self, table: Table, test: IndependenceTest, shared: ReusedAnswers | None = None) -> None:
        self.confirmed_ = None
        if self.confirm is None:
            super()._fit_table(table, test, shared)
            return
        search = super()._fit_table
        self.confirmed_ = search_and_confirm(
            self, table, test, self.confirm, lambda part: search(part, test, shared)
        )

    def _search(self, inquiry: Inquiry) -> list[int]:
        table = inquiry.test.table
        bind = bind_to_all(self._independence_test(), inquiry, self.n_jobs, self.on_error)
        jointly = self._grow_jointly(inquiry, bind)
        candidates = [*jointly, *self._grow_alone(inquiry, {x for x, _ in jointly})]
        if self.interactions is not None:
            entered = [x for x, _ in candidates]
            candidates += grow_by_pairs(inquiry, inquiry.candidates, entered, self.correction, self.n_jobs)
        # Least important first, so that false positives go before they can displace a strong
        # column. Copies are equal in everything: the later ones are asked, and dropped, first.
        candidates.sort(
            key=lambda found: (-found[1].pvalue, found[1].effect, table.order.key(found[0]), -found[0])
        )
        blanket = shrink(inquiry, [*(x for x, _ in candidates), *inquiry.always_keep])
        blanket = shrink_jointly(inquiry, jointly, blanket, bind)
        return look_again(inquiry, blanket, self.correction) if self.second_look else blanket

    def _grow_jointly(self, inquiry: Inquiry, bind: Callable[[Table], BoundTest]) -> list[Answered]:
        """Return the candidates of a model of all columns."""
        if self.growth == "marginal":
            return []
        return grow_jointly(inquiry, inquiry.candidates, self.correction, bind, self.n_jobs)

    def _grow_alone(self, inquiry: Inquiry, entered: Collection[int]) -> list[Answered]:
        """Return the candidates of growth column by column, without those that entered before."""
        if self.growth == "joint":
            return []
        alone = grow_marginally(inquiry, inquiry.candidates, self.correction)
        return [(x, result) for x, result in alone if x not in entered]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        is_flat = self.independence in (None, "ppi", "cross-fit-ppi")
        test = self if is_flat else self.independence
        if isinstance(test, PPFS | PredictiveTest):
            task: Task = "classification" if test.task == "auto" else test.task
            accepts = accepted_input(test.estimator, task)
            tags.input_tags.sparse = accepts.sparse
            tags.input_tags.allow_nan |= accepts.allow_nan or test.impute is not None
        return tags
