"""PyImpetus's names and parameters on this library's PPFS.

Change the import and the same call finishes sooner::

    from ppfs.compat import PPIMBC   # instead of: from PyImpetus import PPIMBC

Where the two differ, and why:

===============================  ======================================  ================================
topic                            PyImpetus 4.1.2                         here
===============================  ======================================  ================================
a blanket of one feature         comes back empty                        is returned
order of ``MB``                  by log(1/p), which ties at its ceiling  ties in order of effect size
``sig_test_type="parametric"``   unpaired t-test                         paired t-test
classifiers without              an error, or log-loss of a              hinge loss of
``predict_proba``                decision value                          ``decision_function``
``random_state``                 does not reach the splits               decides splits and shuffles
``np.random.seed``               reset at every fit                      never touched
splits of each question          drawn again                             drawn once, models reused
folds of an integer ``cv``       plain                                   stratified where possible
``p == p_val_thresh``            left out in growth, kept in shrink      dependent in both
``fit``                          returns None                            returns self
===============================  ======================================  ================================
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._random import RandomStateLike
from ppfs._sparse import require_sound
from ppfs._table import Task
from ppfs.blanket import PPFS
from ppfs.exceptions import InvalidInputError

__all__ = ["PPIMBC", "PPIMBR"]

_SIGNIFICANCE = {"non-parametric": "wilcoxon", "parametric": "paired-t"}


class _PyImpetusSelector(TransformerMixin, BaseEstimator):
    """What the classifier's and the regressor's selector share."""

    _task: Task
    model: Any
    p_val_thresh: float
    num_simul: int
    simul_size: float
    simul_type: int
    sig_test_type: str
    cv: Any
    random_state: RandomStateLike
    n_jobs: int | None
    verbose: int

    selector_: PPFS

    def fit(self, data: Any, Y: Any) -> Self:
        """Find the Markov blanket of `Y`.

        Parameters
        ----------
        data : array, sparse matrix or data frame of shape (n_rows, n_features)
            The columns.

        Y : array-like of shape (n_rows,)
            The target.

        Returns
        -------
        self
        """
        self.selector_ = self._selector().fit(data, Y)
        validate_data(self, data, skip_check_array=True)
        return self

    def transform(self, data: Any) -> Any:
        """Return the blanket's columns, most important first, as the kind of table that was passed."""
        check_is_fitted(self)
        require_sound(data, "data")
        if hasattr(data, "columns"):
            validate_data(self, data, skip_check_array=True, reset=False)
            return data[self.MB]
        tags = get_tags(self).input_tags
        matrix = validate_data(
            self, data, reset=False, accept_sparse="csr", ensure_all_finite=not tags.allow_nan, dtype=None
        )
        return matrix[:, self._order()]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "selector_")

    @property
    def MB(self) -> list[Any] | None:
        """Names of the blanket's columns, most important first; None before `fit`.

        The columns of an array are called Column1, Column2 and so on, as PyImpetus calls them.
        """
        if not self.__sklearn_is_fitted__():
            return None
        if hasattr(self, "feature_names_in_"):
            return [str(self.feature_names_in_[column]) for column in self._order()]
        return [f"Column{column + 1}" for column in self._order()]

    @property
    def feat_imp_scores(self) -> list[float]:
        """The paper's score, log(1/p), of each member of `MB`; empty before `fit`."""
        if not self.__sklearn_is_fitted__():
            return []
        return [float(score) for score in self.selector_.scores_[self._order()]]

    def feature_importance(self) -> Any:
        """Draw the scores as bars and return the Matplotlib axes."""
        check_is_fitted(self)
        try:
            from matplotlib import pyplot as plt
        except ImportError as error:
            raise ImportError(
                "feature_importance draws with Matplotlib. Run: pip install 'ppfs[plots]'"
            ) from error
        names = [str(name) for name in self.MB or ()]
        _, axes = plt.subplots(figsize=(6, 0.3 * len(names) + 1), layout="constrained")
        axes.barh(range(len(names)), self.feat_imp_scores)
        axes.set_yticks(range(len(names)), names, size="small")
        axes.invert_yaxis()
        axes.set(xlabel="Importance score, log(1/p)", ylabel="Feature")
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def _order(self) -> NDArray[np.intp]:
        blanket = self.selector_.blanket_
        return blanket[np.argsort(-self.selector_.scores_[blanket], kind="stable")]

    def _selector(self) -> PPFS:
        if self.sig_test_type not in _SIGNIFICANCE:
            raise InvalidInputError(
                f"sig_test_type must be one of {sorted(_SIGNIFICANCE)}, but is {self.sig_test_type!r}."
            )
        if self.simul_type not in (0, 1):
            raise InvalidInputError(
                f"simul_type must be 0 (plain splits) or 1 (stratified splits), but is {self.simul_type!r}."
            )
        return PPFS(
            self.model,
            n_splits=self.num_simul,
            n_folds=self.cv.get_n_splits() if hasattr(self.cv, "get_n_splits") else self.cv,
            alpha=self.p_val_thresh,
            test_size=self.simul_size,
            stratify=self.simul_type == 1,
            significance=_SIGNIFICANCE[self.sig_test_type],
            task=self._task,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            progress=self.verbose > 0,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags = get_tags(PPFS(self.model, task=self._task)).input_tags
        return tags


class PPIMBC(_PyImpetusSelector):
    """Select features for classification with PyImpetus's parameters.

    The module's page lists where the answers differ from PyImpetus's and why.

    Parameters
    ----------
    model : classifier, default=None
        None is a decision tree.

    p_val_thresh : float, default=0.05
        Level of each test; `alpha` of `ppfs.PPFS`.

    num_simul : int, default=30
        Splits a question; `n_splits`, the paper's B.

    cv : int or splitter, default=0
        Folds to aggregate over; `n_folds`, the paper's K. Of a splitter only the number of folds is used.

    simul_size : float, default=0.2
        Share of the rows in each test part; `test_size`.

    simul_type : {0, 1}, default=0
        0 for plain, 1 for stratified splits; `stratify`.

    sig_test_type : {"non-parametric", "parametric"}, default="non-parametric"
        Wilcoxon's signed-rank test, or the paired t-test.

    random_state : int, Generator, RandomState or None, default=None
        Decides splits and shuffles.

    n_jobs : int, default=-1
        Parallel fits.

    verbose : int, default=2
        More than 0 shows progress bars.

    Attributes
    ----------
    selector_ : PPFS
        The fitted selector, with its trace, p-values and effect sizes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs.compat import PPIMBC
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPIMBC(simul_type=1, random_state=0, n_jobs=1, verbose=0)
    >>> selector.fit_transform(X, y).shape
    (150, 2)
    >>> sorted(selector.MB)
    ['petal length (cm)', 'petal width (cm)']
    """

    _task: Task = "classification"

    def __init__(
        self,
        model: Any = None,
        p_val_thresh: float = 0.05,
        num_simul: int = 30,
        cv: Any = 0,
        simul_size: float = 0.2,
        simul_type: int = 0,
        sig_test_type: str = "non-parametric",
        random_state: RandomStateLike = None,
        n_jobs: int | None = -1,
        verbose: int = 2,
    ) -> None:
        self.model = model
        self.p_val_thresh = p_val_thresh
        self.num_simul = num_simul
        self.cv = cv
        self.simul_size = simul_size
        self.simul_type = simul_type
        self.sig_test_type = sig_test_type
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class PPIMBR(_PyImpetusSelector):
    """Select features for regression with PyImpetus's parameters.

    The module's page lists where the answers differ from PyImpetus's and why.

    Parameters
    ----------
    model : regressor, default=None
        None is a decision tree.

    p_val_thresh, num_simul, simul_size, sig_test_type, cv, random_state, n_jobs, verbose
        See `PPIMBC`.

    simul_type : {0}, default=0
        Accepted so that both classes can be called alike: quantities are never stratified.

    Attributes
    ----------
    selector_ : PPFS
        The fitted selector, with its trace, p-values and effect sizes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ppfs.compat import PPIMBR
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in PPIMBR(random_state=0, n_jobs=1, verbose=0).fit(X, y).MB
    True
    """

    _task: Task = "regression"

    def __init__(
        self,
        model: Any = None,
        p_val_thresh: float = 0.05,
        num_simul: int = 30,
        simul_size: float = 0.2,
        sig_test_type: str = "non-parametric",
        cv: Any = 0,
        random_state: RandomStateLike = None,
        n_jobs: int | None = -1,
        verbose: int = 2,
        simul_type: int = 0,
    ) -> None:
        self.model = model
        self.p_val_thresh = p_val_thresh
        self.num_simul = num_simul
        self.simul_size = simul_size
        self.sig_test_type = sig_test_type
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.simul_type = simul_type
