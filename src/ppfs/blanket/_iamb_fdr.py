"""IAMB with control of the false discovery rate."""

from __future__ import annotations

import numpy as np

from ppfs._trace import Decision
from ppfs.blanket._run.independence_search import IndependenceSearch
from ppfs.blanket._steps.correction import adjust
from ppfs.blanket._steps.interleave import RevisitGuard
from ppfs.blanket._steps.order import strongest_first
from ppfs.blanket._steps.questions import Answered, Inquiry


class IAMBFDR(IndependenceSearch):
    """IAMB that controls the false discovery rate.

    Each round tests every column given the rest of the blanket, and adjusts the p-values for the number of columns
    (Benjamini-Yekutieli, valid under any dependence). Then the weakest member that is not significant is dropped; if
    there is none, the strongest significant column outside the blanket is added. This controls the expected share of
    false members rather than the error of each test: use it when there are many columns.

    Parameters
    ----------
    independence : IndependenceTest or str, default="auto"
        The test: an instance, or "g2", "chi2", "fisher-z", "partial-t", "likelihood-ratio", "ppi" or "cross-fit-ppi"
        for a test with its defaults. "auto" chooses by the columns: `GSquared` if all are categorical, `FisherZ` if
        all are continuous, else `LikelihoodRatio`; the choice is in ``trace_.notes``.

    n_folds : int, default=0
        Search in the training part of each of K folds and return the blanket whose members the others
        agree on most. 0 searches once, in all rows.

    alpha : float, default=0.05
        The false discovery rate.

    always_keep : int, str or collection of them, default=()
        Columns, by number or name, that are always selected and never tested.

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
        The p-value, before adjustment, of the question that decided about each column; the trace has both. 1 if nothing
        could be decided.

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
    A column whose addition led back to an earlier blanket is excluded until a new blanket is reached. If there are too
    few rows for a test, a column is not added and a member is not dropped.

    References
    ----------
    Peña, "Learning Gaussian graphical models of gene networks with false discovery rate control", 2008.

    Examples
    --------
    >>> from ppfs.blanket import IAMBFDR
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(1000, n_features=50, random_state=0)
    >>> sorted(IAMBFDR().fit(X, y).blanket_.tolist()) == blanket.tolist()
    True
    """

    def _search(self, inquiry: Inquiry) -> list[int]:
        blanket = list(inquiry.always_keep)
        guard = RevisitGuard(blanket)
        last_added: list[int] = []
        while True:
            dropped, added = _one_move(inquiry, blanket, guard.banned)
            if not dropped and not added:
                return blanket
            last_added = added or last_added
            blanket = [x for x in blanket if x not in dropped] + added
            guard.watch(blanket, blanket, last_added)


def _one_move(inquiry: Inquiry, blanket: list[int], banned: set[int]) -> tuple[list[int], list[int]]:
    """Test all columns; return the member to drop, or else the column to add, in lists of at most one."""
    given = inquiry.given(blanket)
    answered = inquiry.ask(inquiry.candidates, given, "round")
    adjusted = adjust(np.array([result.pvalue for _, result in answered]), "by").tolist()
    failing: list[Answered] = []
    passing: list[Answered] = []
    for (x, result), pvalue in zip(answered, adjusted, strict=True):
        if x in blanket and pvalue > inquiry.alpha and result.is_reliable:
            failing.append((x, result))
        elif x not in blanket and x not in banned and pvalue <= inquiry.alpha:
            passing.append((x, result))
    dropped = [x for x, _ in strongest_first(failing, inquiry.test.table)[-1:]]
    added = [] if dropped else [x for x, _ in strongest_first(passing, inquiry.test.table)[:1]]
    for (x, result), pvalue in zip(answered, adjusted, strict=True):
        phase = "shrink" if x in blanket else "growth"
        inquiry.record(
            phase, x, given, result, _decision(x, blanket, dropped, added, pvalue <= inquiry.alpha), pvalue
        )
    return dropped, added


def _decision(x: int, blanket: list[int], dropped: list[int], added: list[int], passes: bool) -> Decision:
    if x in blanket:
        return "dropped" if x in dropped else "kept"
    if x in added:
        return "added"
    return "candidate" if passes else "rejected"
