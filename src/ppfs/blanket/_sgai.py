"""SGAI: groups of interchangeable columns, selected by alpha-investing."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from ppfs._conventions import Interval
from ppfs._data import CallersColumns
from ppfs._trace import Decision
from ppfs.blanket._run.independence_search import IndependenceSearch
from ppfs.blanket._run.search_in_parts import Found
from ppfs.blanket._steps.order import ask_marginally
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.shrink import shrink_weakest_first


@dataclass(frozen=True)
class FoundGroups(Found):
    """The blanket, and the groups that its members represent.

    Attributes
    ----------
    groups : list of list of int
        Features that can replace each other; groups, and the features in each, are sorted strongest first.
    """

    groups: list[list[int]]


@dataclass(kw_only=True, eq=False, repr=False)
class SGAI(IndependenceSearch):
    """Selection via group alpha-investing.

    Groups columns that can replace each other, that is, columns that carry the same information. Each group is
    represented by its strongest column. The representatives are tested, strongest first, given those already selected,
    each at a level set by alpha-investing: a discovery increases the wealth, a failure reduces it.

    Parameters
    ----------
    wealth : float, default=0.5
        The initial wealth of alpha-investing, and what a discovery adds to it.

    independence : IndependenceTest or str, default="auto"
        The test: an instance, or "g2", "chi2", "fisher-z", "partial-t", "likelihood-ratio", "ppi" or "cross-fit-ppi"
        for a test with its defaults. "auto" chooses by the columns: `GSquared` if all are categorical, `FisherZ` if
        all are continuous, else `LikelihoodRatio`; the choice is in ``trace_.notes``.

    n_folds : int, default=0
        Search in the training part of each of K folds and return the blanket whose members the others
        agree on most. 0 searches once, in all rows.

    alpha : float, default=0.05
        Level of all questions but those that alpha-investing asks.

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
    groups_ : list of list of int
        The groups, strongest first, each with its representative first.

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
    This is a reconstruction from the abstract of the paper: (1) keep columns that depend on the target; (2) x joins the
    group of w if x is independent of the target given w, and w given x; (3) the i-th group is tested at level
    wealth / (2 i); a discovery adds `wealth` minus that level, anything else costs that level; (4) a backward pass.

    Only columns that depend on the target on their own are considered, so spouses are not found.

    If there are too few rows for a test, a column is excluded in (1), forms its own group in (2), is skipped at no
    cost in (3), and is not dropped in (4).

    References
    ----------
    Yu et al., "Markov blanket feature selection with non-faithful data distributions", 2013, and the
    group version of 2016.

    Examples
    --------
    The second column copies the first:

    >>> import numpy as np
    >>> from ppfs.blanket import SGAI
    >>> rng = np.random.default_rng(0)
    >>> cause, other = rng.normal(size=(2, 300))
    >>> X = np.column_stack([cause, 2 * cause, other])
    >>> search = SGAI().fit(X, cause + other + rng.normal(size=300))
    >>> search.groups_
    [[0, 1], [2]]
    >>> len(search.blanket_)
    2
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **IndependenceSearch._parameter_constraints,
        "wealth": [Interval(Real, 0, 1, closed="neither")],
    }

    wealth: float = 0.5

    def _search(self, inquiry: Inquiry) -> list[int]:
        return list(self._find(inquiry).blanket)

    def _find(self, inquiry: Inquiry) -> FoundGroups:
        relevant = [x for x, result in ask_marginally(inquiry) if result.is_dependent(inquiry.alpha)]
        groups = _group(inquiry, relevant)
        chosen = _invest(inquiry, [group[0] for group in groups], self.wealth)
        return FoundGroups(shrink_weakest_first(inquiry, chosen), groups)

    def _set_findings(self, found: Found, callers: CallersColumns) -> None:
        assert isinstance(found, FoundGroups)
        self.groups_: list[list[int]] = [callers.numbers(group) for group in found.groups]


def _group(inquiry: Inquiry, relevant: list[int]) -> list[list[int]]:
    """Form a group for each column in turn, with the columns that can replace it."""
    groups: list[list[int]] = []
    waiting = list(relevant)
    while waiting:
        head, *others = waiting
        joined = [x for x in _replaced_by(inquiry, head, others) if _replaced_by(inquiry, x, [head])]
        groups.append([head, *joined])
        waiting = [x for x in others if x not in joined]
    return groups


def _replaced_by(inquiry: Inquiry, stand_in: int, columns: list[int]) -> list[int]:
    """Return those of `columns` that the target does not depend on given one other column."""
    given = inquiry.given((stand_in,))
    replaced: list[int] = []
    for x, result in inquiry.ask(columns, given, "groups"):
        is_independent = result.is_independent(inquiry.alpha)
        decision: Decision = "rejected" if is_independent else "candidate"
        inquiry.record("groups", x, given, result, decision)
        replaced += [x] if is_independent else []
    return replaced


def _invest(inquiry: Inquiry, stream: list[int], wealth: float) -> list[int]:
    """Test one column after another given those selected, at the levels that the wealth allows."""
    earnings = wealth
    chosen = list(inquiry.always_keep)
    for number, x in enumerate(stream, start=1):
        given = inquiry.given(chosen)
        result = inquiry.test.query(x, inquiry.target, given)
        level = wealth / (2 * number)
        is_discovery = result.pvalue < level
        inquiry.record("alpha-investing", x, given, result, "added" if is_discovery else "rejected")
        if is_discovery:
            chosen.append(x)
            wealth += earnings - level
        elif result.is_reliable:
            wealth -= level
    return chosen
