"""TIE*: all Markov blankets of a target that has more than one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ppfs._conventions import Interval, IsModel
from ppfs._data import CallersColumns
from ppfs._fitting import CrossValidated
from ppfs.blanket._iamb import IAMB
from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.blanket._run.independence_search import IndependenceSearch
from ppfs.blanket._run.search_in_parts import Found
from ppfs.blanket._steps.questions import Inquiry


@dataclass(frozen=True)
class FoundBlankets(Found):
    """All blankets that were found.

    Attributes
    ----------
    blankets : list of list of int
        Each in ascending order, the first one first.
    """

    blankets: list[list[int]]


@dataclass(kw_only=True, eq=False, repr=False)
class TIEStar(IndependenceSearch):
    """Target information equivalence: find every Markov blanket of the target.

    Columns that carry the same information, such as copies or recodings of each other, make the blanket ambiguous:
    several sets predict equally well, and other searches return one of them arbitrarily. TIE* withholds columns of the
    known blankets, searches again without them, and accepts a new blanket if no information was lost.

    Parameters
    ----------
    search : search, default=None
        The search for one blanket: an instance of a search of this module, or None for `IAMB`. Only its own parameters
        are used; the test, alpha and the other shared parameters are those given here.

    max_withheld : int, default=3
        Largest number of columns to withhold at once.

    max_blankets : int, default=20
        Stop when this many blankets are known.

    estimator : estimator, default=None
        Accept a blanket if the cross-validated score of this model is as good with it as with the first one. None
        accepts it if the target is independent of each column of the first blanket given it.

    cv : int, default=5
        Folds of that cross-validation.

    tol : float, default=0.0
        How much lower the score may be.

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
    blankets_ : list of ndarray of int
        All blankets, each in ascending order, the first one first.

    support_ : ndarray of bool, shape (n_features,)
        Which columns are in the first blanket.

    blanket_ : ndarray of int
        The first blanket, most important columns first.

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
    This procedure is covered by US patents. Seek legal advice before commercial use.

    Only sets that contain a member of every known blanket are withheld: withholding anything else would lead to a known
    blanket again. Supersets of a set without which the search failed are not tried.

    A blanket is not accepted if there are too few rows for the test. Steps of the trace list the withheld columns;
    `pvalues_` and `importances_` are those of the first search.

    References
    ----------
    Statnikov et al., "Algorithms for discovery of multiple Markov boundaries", 2013.

    Examples
    --------
    The second column is the first in other units:

    >>> import numpy as np
    >>> from ppfs.blanket import TIEStar
    >>> rng = np.random.default_rng(0)
    >>> celsius = rng.normal(size=300)
    >>> X = np.column_stack([celsius, 1.8 * celsius + 32])
    >>> search = TIEStar().fit(X, celsius + rng.normal(size=300))
    >>> sorted(blanket.tolist() for blanket in search.blankets_)
    [[0], [1]]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **IndependenceSearch._parameter_constraints,
        "search": [BaseBlanketSelector, None],
        "max_withheld": [Interval(Integral, 1, None, closed="left")],
        "max_blankets": [Interval(Integral, 1, None, closed="left")],
        "estimator": [IsModel(), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    search: BaseBlanketSelector | None = None
    max_withheld: int = 3
    max_blankets: int = 20
    estimator: Any = None
    cv: int = 5
    tol: float = 0.0

    def _search(self, inquiry: Inquiry) -> list[int]:
        return list(self._find(inquiry).blanket)

    def _find(self, inquiry: Inquiry) -> FoundBlankets:
        search = IAMB() if self.search is None else clone(self.search)
        search._validate_params()
        known = [frozenset(search._search(inquiry))]
        failed: list[frozenset[int]] = []
        while len(known) < self.max_blankets:
            withheld = next(self._untried(inquiry, known, failed), None)
            if withheld is None:
                break
            reduced = inquiry.without(sorted(withheld))
            found = frozenset(search._search(reduced))
            if self._is_as_good(reduced, found, known[0]):
                known.append(found)
            else:
                failed.append(withheld)
        return FoundBlankets(sorted(known[0]), [sorted(one) for one in known])

    def _set_findings(self, found: Found, callers: CallersColumns) -> None:
        assert isinstance(found, FoundBlankets)
        columns = [sorted(callers.numbers(one)) for one in found.blankets]
        self._equivalent = [np.array(one, dtype=np.intp) for one in columns]

    @property
    def blankets_(self) -> list[NDArray[np.intp]]:  # type: ignore[override]
        """All blankets, each in ascending order, the first one first."""
        check_is_fitted(self)
        return self._equivalent

    def _untried(
        self, inquiry: Inquiry, known: list[frozenset[int]], failed: list[frozenset[int]]
    ) -> Iterator[frozenset[int]]:
        """Yield sets, small ones first, that hit every known blanket and contain no failed set."""
        table = inquiry.test.table
        members = table.order.canonical(frozenset().union(*known) - set(inquiry.always_keep))
        for size in range(1, self.max_withheld + 1):
            for chosen in map(frozenset, combinations(members, size)):
                hits_all = all(chosen & blanket for blanket in known)
                if hits_all and not any(chosen >= failure for failure in failed):
                    yield chosen

    def _is_as_good(self, inquiry: Inquiry, found: frozenset[int], first: frozenset[int]) -> bool:
        if self.estimator is not None:
            scores = CrossValidated(inquiry.test.table, self.estimator, cv=self.cv, entropy=inquiry.entropy)
            return scores.score(found) >= scores.score(first) - self.tol
        given = inquiry.given(sorted(found))
        answered = inquiry.ask(sorted(first - found), given, "equivalence")
        for x, result in answered:
            is_replaced = result.is_independent(inquiry.alpha)
            inquiry.record("equivalence", x, given, result, "dropped" if is_replaced else "kept")
        return all(result.is_independent(inquiry.alpha) for _, result in answered)
