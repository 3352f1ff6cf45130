"""PyImpetus's names and parameters on this library's PPFS.

Change the import and the same call finishes sooner::

    from ppfs.compat import PPIMBC   # instead of: from PyImpetus import PPIMBC

Where the two differ, and why:

===============================  ======================================  ================================
topic                            PyImpetus 4.1.2                         here
===============================  ======================================  ================================
a blanket of one feature         empty                                   is returned
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
arrays in ``transform``          any that have the columns               as wide as in ``fit``
a column of ``MB`` is missing    KeyError                                an error that names it
frames of polars and PyArrow     an error                                like those of pandas
weights, groups of rows          none                                    passed on to `ppfs.PPFS`
===============================  ======================================  ================================
"""

from __future__ import annotations

from typing import Any

from ppfs._conventions import RandomStateLike
from ppfs._data import Task
from ppfs.compat._selector import PyImpetusSelector

__all__ = ["PPIMBC", "PPIMBR"]


class PPIMBC(PyImpetusSelector):
    """Select features for classification with PyImpetus's parameters.

    The module's page lists the differences from PyImpetus, with reasons.

    Parameters
    ----------
    model : classifier, default=None
        None is a decision tree.

    p_val_thresh : float, default=0.05
        Level of each test; `alpha` of `ppfs.PPFS`.

    num_simul : int, default=30
        Splits per question; `n_splits`, the paper's B.

    cv : int or splitter, default=0
        Folds to aggregate over; `n_folds`, the paper's K. Of a splitter only the number of folds is used.

    simul_size : float, default=0.2
        Share of the rows in each test part; `test_size`.

    simul_type : {0, 1}, default=0
        0 for plain, 1 for stratified splits; `stratify`.

    sig_test_type : {"non-parametric", "parametric"}, default="non-parametric"
        Wilcoxon's signed-rank test, or the paired t-test.

    random_state : int, Generator, RandomState or None, default=None
        Seeds splits and shuffles.

    n_jobs : int, default=-1
        Number of parallel fits.

    verbose : int or None, default=2
        1 shows progress bars on stderr, in terminals and notebooks; 2 or more also writes a line from time to time if
        stderr is neither, such as in a log. 0 and None are silent.

    Attributes
    ----------
    MB : list
        Names of the blanket's columns, most important first.

    feat_imp_scores : list of float
        The paper's score, log(1/p), of each of them.

    selector_ : PPFS
        The fitted selector, with its trace, p-values and effect sizes.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where all were text.

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


class PPIMBR(PyImpetusSelector):
    """Select features for regression with PyImpetus's parameters.

    The module's page lists the differences from PyImpetus, with reasons.

    Parameters
    ----------
    model : regressor, default=None
        None is a decision tree.

    p_val_thresh : float, default=0.05
        Level of each test; `alpha` of `ppfs.PPFS`.

    num_simul : int, default=30
        Splits per question; `n_splits`, the paper's B.

    simul_size : float, default=0.2
        Share of the rows in each test part; `test_size`.

    sig_test_type : {"non-parametric", "parametric"}, default="non-parametric"
        Wilcoxon's signed-rank test, or the paired t-test.

    cv : int or splitter, default=0
        Folds to aggregate over; `n_folds`, the paper's K. Of a splitter only the number of folds is used.

    random_state : int, Generator, RandomState or None, default=None
        Seeds splits and shuffles.

    n_jobs : int, default=-1
        Number of parallel fits.

    verbose : int or None, default=2
        1 shows progress bars on stderr, in terminals and notebooks; 2 or more also writes a line from time to time if
        stderr is neither, such as in a log. 0 and None are silent.

    simul_type : {0}, default=0
        Accepted so that both classes have the same parameters; numeric targets are never stratified.

    Attributes
    ----------
    MB : list
        Names of the blanket's columns, most important first.

    feat_imp_scores : list of float
        The paper's score, log(1/p), of each of them.

    selector_ : PPFS
        The fitted selector, with its trace, p-values and effect sizes.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where all were text.

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
        verbose: int | None = 2,
        simul_type: int = 0,
    ) -> None:
        super().__init__(
            model=model,
            p_val_thresh=p_val_thresh,
            num_simul=num_simul,
            cv=cv,
            simul_size=simul_size,
            simul_type=simul_type,
            sig_test_type=sig_test_type,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
