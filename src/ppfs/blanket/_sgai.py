"""SGAI: groups of columns that can stand for each other, chosen by alpha-investing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from typing import Any, Literal

from ppfs._conventions import Interval, Progress, RandomStateLike
from ppfs._data import CallersColumns, CategoricalFeatures, ColumnsLike, Task
from ppfs._trace import Decision
from ppfs.blanket._run.independence_search import IndependenceSearch
from ppfs.blanket._run.search_result import Found
from ppfs.blanket._steps.order import ask_marginally
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.shrink import shrink_weakest_first
from ppfs.independence import IndependenceTest


@dataclass(frozen=True)
class FoundGroups(Found):
    """The blanket, and what can stand for its members.

    Attributes
    ----------
    groups : list of list of int
        Features that can replace each other, the strongest first, in the groups as in each of them.
    """

    groups: list[list[int]]


class SGAI(IndependenceSearch):
    """Selection via group alpha-investing.

    Puts columns that can replace each other into groups, so that the groups tell which columns
    carry the same information. The strongest of each represents it. The representatives are asked, strongest
    first, whether the target depends on them given those already chosen, each at a level that alpha-investing
    allows: a discovery earns wealth, a failure costs some.

    Parameters
    ----------
    wealth : float, default=0.5
        What alpha-investing begins with, and what a discovery earns.

    independence : IndependenceTest or str, default="auto"
        The test: an instance, or "g2", "chi2", "fisher-z", "partial-t", "likelihood-ratio", "ppi" or "cross-fit-ppi"
        for one with its defaults. "auto" looks at the columns: `GSquared` if all are categorical, `FisherZ` if all
        are continuous, else `LikelihoodRatio`; the choice is in ``trace_.notes``.

    n_folds : int, default=0
        Search in the training part of each of K folds and return the blanket whose members the others
        agree on most. 0 searches once, in all rows.

    alpha : float, default=0.05
        Level of all questions but those that alpha-investing asks.

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
    groups_ : list of list of int
        The groups, strongest first, their representatives at the head.

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
    This reconstructs the published idea, of which only the abstract was at hand: (1) keep columns that depend
    on the target; (2) x joins the group of w when x is independent of the target given w, and w given x;
    (3) the i-th group is tested at level wealth / (2 i); a discovery earns `wealth` less that level,
    anything else costs it; (4) a backward pass.

    Only columns that depend on the target on their own are considered, so spouses are not found.

    Where the test cannot tell, a column is left out in (1) and stays alone in (2); (3) passes over it
    without pay; (4) does not drop it.

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

    groups_: list[list[int]]

    _parameter_constraints: dict[str, Any] = {
        **IndependenceSearch._parameter_constraints,
        "wealth": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        wealth: float = 0.5,
        independence: IndependenceTest | str = "auto",
        n_folds: int = 0,
        alpha: float = 0.05,
        always_keep: ColumnsLike = (),
        condition_on: ColumnsLike = (),
        feature_groups: Mapping[str, ColumnsLike] | None = None,
        categorical_features: CategoricalFeatures = "auto",
        min_features: int = 0,
        task: Task | Literal["auto"] = "auto",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        progress: Progress = False,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        super().__init__(
            independence=independence,
            n_folds=n_folds,
            alpha=alpha,
            always_keep=always_keep,
            condition_on=condition_on,
            feature_groups=feature_groups,
            categorical_features=categorical_features,
            min_features=min_features,
            task=task,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
            checkpoint=checkpoint,
        )
        self.wealth = wealth

    def _search(self, inquiry: Inquiry) -> list[int]:
        return list(self._find(inquiry).blanket)

    def _find(self, inquiry: Inquiry) -> FoundGroups:
        relevant = [x for x, result in ask_marginally(inquiry) if result.is_dependent(inquiry.alpha)]
        groups = _group(inquiry, relevant)
        chosen = _invest(inquiry, [group[0] for group in groups], self.wealth)
        return FoundGroups(shrink_weakest_first(inquiry, chosen), groups)

    def _set_findings(self, found: Found, callers: CallersColumns) -> None:
        assert isinstance(found, FoundGroups)
        self.groups_ = [callers.numbers(group) for group in found.groups]


def _group(inquiry: Inquiry, relevant: list[int]) -> list[list[int]]:
    """Let each column in turn found a group, and those that can replace it join."""
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
    """Test one column after the other given those chosen, at levels that the wealth allows."""
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
