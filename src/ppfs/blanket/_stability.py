"""Selection by how often a column is selected in random halves of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._conventions import (
    N_JOBS_RULE,
    InstanceWith,
    Interval,
    Progress,
    ProgressBar,
    RandomStateLike,
    StrOptions,
    integer_seed,
    n_rows_of,
    root_entropy,
    stream,
)
from ppfs._data import (
    ColumnWarning,
    FitData,
    backend_of,
    check_columns,
    column_names,
    is_path,
    read_table,
    readable,
)
from ppfs._estimator import Selector
from ppfs._fitting import seeded
from ppfs._rows import complementary_halves, every_class_has
from ppfs._trace import Outcome, Trace, results_table, summary_of
from ppfs.blanket._ppfs import PPFS
from ppfs.blanket._steps.alike import near_copies
from ppfs.exceptions import InvalidInputError


@dataclass(kw_only=True, eq=False, repr=False)
class StabilitySelection(Selector):
    """Select the columns that a selector finds in most halves of the rows.

    The rows are repeatedly divided into two halves at random, and the selector is fitted on every half. Relevant
    columns are selected in nearly all halves, others only in some. The expected number of false columns has a bound
    that does not depend on the selector, its model or the distribution of the data.

    Parameters
    ----------
    selector : selector, default=None
        Any selector of this package, or of scikit-learn. None is ``PPFS.calibrated()``.

    n_pairs : int, default=25
        Number of divisions of the rows; the selector is fitted twice for each.

    threshold : float, default=0.75
        Minimum share of the halves in which a column must be found, above 0.5.

    max_false : float, default=None
        Choose the threshold such that at most this many false columns are expected; `threshold` is then ignored.

    random_state : int, Generator, RandomState or None, default=None
        Seeds the halves, and selectors without a seed of their own.

    n_jobs : int, default=None
        Number of parallel fits.

    progress : bool or "log", default=False
        Show a bar for the halves; see `PPFS`.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Which columns were selected.

    blanket_ : ndarray of int
        Their numbers, most frequently found first.

    trace_ : Trace
        Why each column was selected or not: ``trace_.explain(name)``. The tests of the halves are not kept.

    stability_ : ndarray of shape (n_features,)
        Share of the halves in which each column was found.

    threshold_ : float
        The threshold that was used.

    n_found_ : float
        Mean number of columns found in a half.

    expected_false_ : float
        The bound on the expected number of false columns; see Notes.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    results_ : data frame
        One row per column: whether it was selected, how often it was found, and why.

    blankets_ : Blankets
        The columns of each output of a target of several columns; computed when it is first read. A target of one
        column has no such attribute.

    sufficiency_ : Sufficiency
        What a model with all columns would gain, with an interval and a verdict; measured when it is first read.

    warnings_ : tuple of ColumnWarning
        Suspicious columns, such as identifiers, copies and leaks, with advice for each.

    Notes
    -----
    Let q be the number of columns found in a half, p the number of columns and t the threshold. At most q^2 / ((2t -
    1) p) of the selected columns are expected to be ones that the selector finds in a half with probability at most q
    / p, that of a random column (Shah and Samworth, theorem 1). Meinshausen and Bühlmann have the same bound for false
    columns, if these are exchangeable and the selector is better than guessing. q is estimated from the halves.

    Of near copies (columns correlated at least 0.95) a search keeps one, by chance another one in every half, so that
    none is found often. If one of them is found in enough halves, whichever it is, the most frequent one is selected.

    References
    ----------
    Meinshausen and Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72, 2010.

    Shah and Samworth, "Variable selection with error control: another look at stability selection", Journal of the
    Royal Statistical Society B 75, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> from ppfs.blanket import StabilitySelection
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> stable = StabilitySelection(PPFS(n_splits=5), n_pairs=5, random_state=0).fit(X, y)
    >>> "petal length (cm)" in stable.get_feature_names_out()
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "selector": [InstanceWith(["fit", "get_support", "get_params"]), None],
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0.5, 1, closed="right")],
        "max_false": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state", np.random.Generator],
        "n_jobs": N_JOBS_RULE,
        "progress": ["boolean", StrOptions({"log"})],
    }

    selector: Any = field(default=None, kw_only=False)
    n_pairs: int = 25
    threshold: float = 0.75
    max_false: float | None = None
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    progress: Progress = False

    def _fit(self, data: FitData) -> None:
        if is_path(data.X):
            raise InvalidInputError(
                "StabilitySelection divides rows in memory, but X is a path. Read the columns into memory first."
            )
        X = readable(data.X)
        validate_data(self, X, skip_check_array=True)
        if data.y is None:
            raise InvalidInputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X, y, groups, sample_weight = indexable(X, data.y, data.groups, data.sample_weight)
        data = FitData(X, y, groups, data.time, sample_weight)
        blocks = groups
        if data.time is not None:
            blocks = read_table(X, y, task="auto", owner=self, groups=groups, time=data.time).groups
        halves = self._halves(X, y, blocks)
        selector = PPFS.calibrated() if self.selector is None else self.selector
        if getattr(selector, "checkpoint", None) is not None:
            raise InvalidInputError(
                f"The selector has checkpoint={str(selector.checkpoint)!r}, but a checkpoint is for one set of rows, "
                f"and {type(self).__name__} searches in {2 * self.n_pairs} halves. Leave checkpoint out."
            )
        entropy = root_entropy(self.random_state)
        searches = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_found)(selector, integer_seed(stream(entropy, number, 1)), data, rows)
            for number, rows in enumerate(halves)
        )
        found = []
        with ProgressBar("halves", len(halves), self.progress) as bar:
            for support in searches:
                found.append(support)
                bar.advance()
        self.stability_: NDArray[np.float64] = np.mean(found, axis=0)
        self.n_found_ = float(self.stability_.sum())
        self.threshold_ = self.threshold if self.max_false is None else self._threshold_for(self.max_false)
        self.support_ = self.stability_ >= self.threshold_
        self._together: dict[int, float] = {}
        copies = self._copies(X, y)
        for group in copies:
            self._select_one_of(group, np.asarray(found))
        n_units = self.stability_.size - sum(len(group) - 1 for group in copies)
        self.expected_false_ = self.n_found_**2 / ((2 * self.threshold_ - 1) * n_units)
        self._column_names = column_names(X) or [f"x{i}" for i in range(self.stability_.size)]
        self._backend = backend_of(X)
        self.blanket_ = np.flatnonzero(self.support_)
        self.blanket_ = self.blanket_[np.argsort(-self.stability_[self.blanket_], kind="stable")]
        self.trace_ = self._trace(type(selector).__name__)
        self._look_at(X, y)

    def _copies(self, X: Any, y: Any) -> list[tuple[int, ...]]:
        """Return the near copies among the columns that were found in some half."""
        candidates = np.flatnonzero(self.stability_).tolist()
        try:
            return near_copies(read_table(X, y, task="auto", owner=self), candidates)
        except InvalidInputError:
            # A selector of another package may accept data that this package does not.
            return []

    def _select_one_of(self, group: tuple[int, ...], found: NDArray[np.bool_]) -> None:
        """Select the most frequent of near copies that are found often enough together, if none is alone.

        A search keeps one of them, by chance another one in every half.
        """
        members = list(group)
        together = float(found[:, members].any(axis=1).mean())
        if together >= self.threshold_ and not self.support_[members].any():
            chosen = members[int(np.argmax(self.stability_[members]))]
            self.support_[chosen] = True
            self._together[chosen] = together

    def _trace(self, searched_with: str) -> Trace:
        """Return a trace without questions, because those of the halves are not kept."""
        trace = Trace(self._column_names)
        trace.method = (
            f"{searched_with} searched in {2 * self.n_pairs} random halves of the rows. Selected are the columns that "
            f"it found in at least {self.threshold_:.0%} of them. The expected number of false ones is at most "
            f"{self.expected_false_:.2g}."
        )
        trace.conclude(Outcome(tuple(self.blanket_.tolist()), reasons=dict(enumerate(self._reasons()))))
        return trace

    def _reasons(self) -> list[str]:
        reasons = [f"found in {share:.0%} of the halves" for share in self.stability_.tolist()]
        for column, together in self._together.items():
            reasons[column] += f", it or a near copy in {together:.0%}"
        return reasons

    def _look_at(self, X: Any, y: Any) -> None:
        """Set the warnings about the data, and their summary."""
        self.warnings_: tuple[ColumnWarning, ...] = ()
        try:
            table = read_table(X, y, task="auto", owner=self)
        except InvalidInputError:
            # A selector of another package may accept data that this package does not.
            return
        self.warnings_ = check_columns(table)
        self.trace_.data = summary_of(table)
        self.trace_.name_target(y)

    @property
    def results_(self) -> Any:
        """The result for every column: a data frame of the caller's library, one row per column of X.

        The columns are those of every selector's `results_`; `column`, `selected`, `stability` and `reason` are filled.
        """
        check_is_fitted(self)
        values: dict[str, list[Any]] = {
            "column": list(self._column_names),
            "selected": self.support_.tolist(),
            "stability": self.stability_.tolist(),
            "reason": self._reasons(),
        }
        return results_table(values, self._backend)

    def _halves(self, X: Any, y: Any, groups: Any) -> list[NDArray[np.intp]]:
        n_rows = n_rows_of(X)
        target = np.asarray(y)
        is_labels = target.ndim == 1 and type_of_target(target) in ("binary", "multiclass")
        labels = target if is_labels and every_class_has(target, 4) else None
        if n_rows < 4:
            raise InvalidInputError(
                f"Found array with {n_rows} sample(s) while a minimum of 4 is required: each half needs two rows."
            )
        entropy = root_entropy(self.random_state)
        grouped = None if groups is None else np.asarray(groups)
        return [
            half
            for pair in range(self.n_pairs)
            for half in complementary_halves(n_rows, labels, grouped, stream(entropy, pair, 0))
        ]

    def _threshold_for(self, max_false: float) -> float:
        """Return the smallest threshold whose bound is at most `max_false`."""
        threshold = (1 + self.n_found_**2 / (max_false * self.stability_.size)) / 2
        if threshold > 1:
            raise InvalidInputError(
                f"max_false={max_false} cannot be reached: the selector finds {self.n_found_:.1f} of "
                f"{self.stability_.size} columns in a half, for which no threshold gives a bound below "
                f"{self.n_found_**2 / self.stability_.size:.2g}. Use a selector that finds fewer columns, for example "
                "with a smaller alpha, or a larger max_false."
            )
        return max(threshold, 0.5 + 0.25 / self.n_pairs)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(PPFS.calibrated() if self.selector is None else self.selector)
        tags.target_tags.required = True
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _found(selector: Any, seed: int, data: FitData, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which columns a copy of the selector selects in some of the rows."""
    part = data.of_rows(rows)
    support: NDArray[np.bool_] = seeded(selector, seed).fit(part.X, part.y, **part.about_rows).get_support()
    return support
