"""IAMBnPC: IAMB with the PC algorithm as its backward step."""

from __future__ import annotations

from ppfs.blanket._run.independence_search import SubsetsSearch
from ppfs.blanket._steps.growth import grow
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.skeleton import keep_joined


class IAMBnPC(SubsetsSearch):
    """IAMB whose backward step is the PC algorithm.

    Grows like `IAMB`. Then, instead of asking about each member given all others, runs the PC algorithm on the
    target and the members, and keeps the target's neighbours and those who share a collider with it. The
    conditioning sets of that step are small, so it still can tell where a table of all members
    would have too few rows a cell.

    Parameters
    ----------
    max_k : int or None, default=3
        Largest conditioning set of the backward step; None has no limit.

    independence : IndependenceTest or str, default="auto"
        The test: an instance, or "g2", "chi2", "fisher-z", "partial-t", "likelihood-ratio", "ppi" or "cross-fit-ppi"
        for one with its defaults. "auto" looks at the columns: `GSquared` if all are categorical, `FisherZ` if all
        are continuous, else `LikelihoodRatio`; the choice is in ``trace_.notes``.

    n_folds : int, default=0
        Search in the training part of each of K folds and return the blanket whose members the others
        agree on most. 0 searches once, in all rows.

    alpha : float, default=0.05
        Level of each test.

    always_keep : int, str or collection of them, default=()
        Columns, by number or name, that are in the blanket from the start and are never asked about.

    condition_on : int, str or collection of them, default=()
        Columns that are in every conditioning set and are never selected.

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

    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target holds labels or quantities. "auto" follows the test's estimator; without one the target:
        text, truth values and at most 20 different whole numbers are labels.

    random_state : int, Generator, RandomState or None, default=None
        Decides the folds, and whatever is random in the test.

    n_jobs : int, default=None
        Parallel fits of a predictive test; the classical ones answer in one pass.

    progress : bool or "log", default=False
        Show a bar for each round, on stderr, in terminals and notebooks. "log" writes a line now and then where
        stderr is neither.

    checkpoint : path, default=None
        A folder that finished answers are written to: new, empty, or a checkpoint. The next fit with the same folder,
        data and parameters continues from them; a fit with others is an error. Whatever is random needs an integer as
        `random_state`.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Which columns were selected.

    blanket_ : ndarray of int
        Their numbers, most important first.

    pvalues_ : ndarray of shape (n_features,)
        The p-value of the question that decided about each column. 1 if nothing could be told.

    importances_ : ndarray of shape (n_features,)
        The effect in the same answer, on the scale of the test: see there.

    scores_ : ndarray of shape (n_features,)
        log(1/p).

    trace_ : Trace
        Every question, answer and decision; ``trace_.to_frame()``, ``trace_.explain(name)``.

    folds_ : tuple of Fold
        Each fold's blanket and z score; empty without folds.

    n_tests_ : int
        Questions answered. What is known from the last fit on the same data is not asked again, so
        fitting with another alpha costs little.

    n_fits_ : int
        Models fitted by the test.

    independence_ : IndependenceTest
        The test that answered.

    results_ : data frame
        One row a column: whether it was selected, its importance and p-value, and why.

    warnings_ : tuple of ColumnWarning
        Columns that look odd: identifiers, copies, leakage and the like, each with what to do about it.

    stability_ : ndarray of shape (n_features,)
        Share of the folds that selected each column; NaN without folds.

    task_ : {"classification", "regression"}
        How the target was read.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    Notes
    -----
    Some descendants of the target are separated from it only by variables outside the members, so
    the result can be larger than the blanket, never smaller when the test is right.

    A column is not added where the test cannot tell, and a set for which it cannot tell separates nothing.
    Steps of the trace that ask about two members name one of them as their `target`.

    References
    ----------
    Tsamardinos, Aliferis and Statnikov, "Algorithms for large scale Markov blanket discovery", 2003.

    Examples
    --------
    >>> from ppfs.blanket import IAMBnPC
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(IAMBnPC(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    def _search(self, inquiry: Inquiry) -> list[int]:
        return keep_joined(inquiry, grow(inquiry, inquiry.always_keep), self.max_k)
