"""HITON-MB: parents and children, the other parents of the children, and an optional wrapper."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from ppfs._conventions import Interval, IsModel
from ppfs.blanket._run.independence_search import SubsetsSearch
from ppfs.blanket._steps.neighbors import hiton_neighbors
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.shrink import drop_while_score_holds
from ppfs.blanket._steps.spouses import neighbors_and_spouses


@dataclass(kw_only=True, eq=False, repr=False)
class HITONMB(SubsetsSearch):
    """HITON Markov blanket.

    Like `MMMB`, but columns enter in the order of their marginal association with the target, and after each
    entry the members that can be separated from the target leave, so the set of neighbors stays small. An optional
    wrapper drops members without which a model predicts equally well.

    Parameters
    ----------
    max_k : int or None, default=3
        Size of the largest conditioning set. None means no limit, and may take very long.

    wrapper : estimator, default=None
        A classifier or regressor for the final pass; None skips it.

    cv : int, default=5
        Folds of the wrapper's cross-validation.

    independence : IndependenceTest or str, default="auto"
        The test: an instance, or "g2", "chi2", "fisher-z", "partial-t", "likelihood-ratio", "ppi" or "cross-fit-ppi"
        for a test with its defaults. "auto" chooses by the columns: `GSquared` if all are categorical, `FisherZ` if
        all are continuous, else `LikelihoodRatio`; the choice is in ``trace_.notes``.

    n_folds : int, default=0
        Search in the training part of each of K folds and return the blanket whose members the others
        agree on most. 0 searches once, in all rows.

    alpha : float, default=0.05
        Level of each test.

    always_keep : int, str or collection of them, default=()
        Columns, by number or name, that are always selected and never tested. They count as
        neighbors of the target.

    condition_on : int, str or collection of them, default=()
        Columns that are in every conditioning set and are never selected.

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

    task : {"auto", "classification", "regression", "count", "positive", "ordinal", "survival"}, default="auto"
        Whether the target holds labels or numeric values. "auto" follows the test's estimator, or else the target:
        text, booleans, and integers with at most 20 distinct values are labels.

    random_state : int, Generator, RandomState or None, default=None
        Seeds the folds and the test.

    n_jobs : int, default=None
        Number of parallel fits of a predictive test; classical tests need one pass.

    progress : bool or "log", default=False
        Show a bar for each round, on stderr, in terminals and notebooks. "log" writes a line from time to time
        if stderr is neither.

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
        The p-value of the test that decided about each column; 1 if there were too few rows to tell.

    importances_ : ndarray of shape (n_features,)
        The effect size from the same test, on the scale of that test.

    scores_ : ndarray of shape (n_features,)
        log(1/p).

    trace_ : Trace
        Every question, answer and decision; ``trace_.to_frame()``, ``trace_.explain(name)``.

    folds_ : tuple of Fold
        Each fold's blanket and z score; empty without folds.

    n_tests_ : int
        Number of tests. Results of the last fit on the same data are reused, so fitting with another alpha costs
        little.

    n_fits_ : int
        Number of models fitted by the test.

    independence_ : IndependenceTest
        The test that was used.

    results_ : data frame
        One row per column: whether it was selected, its importance and p-value, and why.

    roles_ : tuple of Role
        For each selected column: parent, child, spouse or undecided, with the question that decided.

    blankets_ : Blankets
        The columns of each output of a target of several columns; computed when it is first read. A target of one
        column has no such attribute.

    sufficiency_ : Sufficiency
        What a model with all columns would gain, with an interval and a verdict; measured when it is first read.

    warnings_ : tuple of ColumnWarning
        Suspicious columns, such as identifiers, copies and leaks, with advice for each.

    stability_ : ndarray of shape (n_features,)
        Share of the folds that selected each column; NaN without folds.

    task_ : {"classification", "regression", "count", "positive", "ordinal", "survival"}
        How the target was read.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    Notes
    -----
    A set for which there are too few rows separates nothing; a column enters only if there are enough rows to test
    that it depends on the target marginally.

    References
    ----------
    Aliferis, Tsamardinos and Statnikov, "HITON: a novel Markov blanket algorithm for optimal variable
    selection", 2003.

    Examples
    --------
    >>> from ppfs.blanket import HITONMB
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, random_state=0)
    >>> sorted(HITONMB(alpha=0.01).fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SubsetsSearch._parameter_constraints,
        "wrapper": [IsModel(), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
    }

    wrapper: Any = None
    cv: int = 5

    def _search(self, inquiry: Inquiry) -> list[int]:
        blanket = neighbors_and_spouses(inquiry, hiton_neighbors, self.max_k)
        return (
            blanket
            if self.wrapper is None
            else drop_while_score_holds(inquiry, blanket, self.wrapper, self.cv)
        )
