"""Short runs of a search on a part of its table."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from ppfs import _engine
from ppfs._conventions import OutOfTimeError, Phase, stream, take_rows, watched_phases
from ppfs._data import KINDS, read_typed
from ppfs._planning.imagined import imagined_table
from ppfs._planning.rates import EXPONENT, Line, PerQuestion, Rates, Shrinkage
from ppfs.blanket import expected_refits
from ppfs.exceptions import InvalidInputError
from ppfs.independence import LARGEST_BOUND

# The largest part of a table that is measured: rows and columns.
_MOST_ROWS, _MOST_COLUMNS = 4000, 400

# Growth is timed with few columns and with more, as many as take about a second: the difference is what columns cost.
_FEW, _GROWTH_SECONDS = 8, 1.0

# Enough for a small search.
_LOADING_ROWS = 200

# The shrink phase is timed with this many candidates, and then with more as long as there is time.
_FIRST, _MOST_CANDIDATES = 8, 64

# The smallest number of candidates that is assumed if not all columns were looked at: candidates may be rare.
_CANDIDATES = 20

# Questions given other columns are timed in a table of at most this many columns and rows.
_BESIDE, _BESIDE_ROWS = 24, 1000

# No p-value is below this level, so nothing becomes a candidate and a fit ends after growth.
_UNREACHABLE = 1e-300

# A search that asks no question beside others.
_MARGINAL_ONLY = {"growth": "marginal", "second_look": False}

# Parameters that name columns, which a part of the table may not have.
_NAMING_COLUMNS = ("always_keep", "condition_on", "feature_groups", "categorical_features")


def measure_rates(
    selector: Any,
    X: Any,
    y: NDArray[Any],
    *,
    n_columns: int | None = None,
    n_candidates: int | None = None,
    budget: float = 10.0,
) -> Rates:
    """Run a search on parts of a table, and return what that took.

    Parameters
    ----------
    selector : PPFS
        With the parameters of the search to come.

    X : ndarray, sparse matrix or pandas.DataFrame of shape (n_rows, n_sample)
        The table, or some of its columns.

    y : array-like of shape (n_rows,)
        The target.

    n_columns : int, default=None
        How many columns the whole table has; None: those of X.

    n_candidates : int, default=None
        How many candidates the search is expected to have; None: as many as the columns of X suggest.

    budget : float, default=10.0
        CPU seconds after which the shrink phase is cut short; one step is always taken.
    """
    startup = time.process_time()
    runs = _Runs(selector, X, np.asarray(y))
    startup += runs.load()
    growth, fits_per_column = runs.growth()
    n_columns = X.shape[1] if n_columns is None else n_columns
    found, n_looked_at, share_counted = runs.candidates(growth, n_columns)
    share = found.size / n_looked_at
    if n_candidates is None:
        n_candidates = round(share * n_columns)
        if n_looked_at < n_columns:
            n_candidates = max(n_candidates, min(_CANDIDATES, n_columns))
    shrink, counts = runs.shrink(found, n_candidates, budget)
    joint, look = runs.beside()
    refits = expected_refits(counts.n_columns, counts.n_columns, selector.correction, selector.alpha)
    return Rates(
        startup,
        runs.n_rows,
        growth,
        fits_per_column,
        shrink,
        runs.shrink_by_rows(shrink),
        runs.shrink_rows,
        max(1, round(fits_per_column)),
        counts.seconds / refits,
        counts.n_fits / refits,
        n_candidates,
        selector.correction,
        selector.alpha,
        joint,
        look,
        getattr(selector, "growth", "marginal"),
        share_counted,
    )


@dataclass(frozen=True)
class _Counts:
    """The cost of counting small p-values, and the number of columns whose p-values were counted."""

    n_columns: int = 1
    seconds: float = 0.0
    n_fits: int = 0

    @classmethod
    def of(cls, phases: Sequence[Phase], n_columns: int) -> _Counts | None:
        """Return the cost of counting from the phases; None where no count was finished."""
        counted = [phase for phase in _named(phases, "exact growth") if phase.is_complete]
        if not counted:
            return None
        return cls(n_columns, sum(phase.seconds for phase in counted), sum(phase.n_fits for phase in counted))


class _Runs:
    """Runs of a search on parts of a table."""

    def __init__(self, selector: Any, X: Any, y: NDArray[Any]) -> None:
        generator = stream(0)
        self._whole = _without_columns(selector)
        if selector.task in KINDS and not hasattr(selector.estimator, "fit"):
            # The models of this package predict one number per row, whatever the kind of target.
            y = read_typed(y, selector.task, owner=selector)[0].response.values
            self._whole.set_params(task="regression")
        # Growth and the shrink phase are measured without what comes before and after them.
        self._selector = _plain(self._whole)
        self._n_folds = int(getattr(selector, "n_folds", 0) or 0)
        self._all_X, self._all_y = X, y
        self.n_sample = int(X.shape[1])
        self.n_rows = self.shrink_rows = min(_MOST_ROWS, len(y))
        is_whole = self.n_rows == len(y)
        self._rows = np.arange(len(y)) if is_whole else np.sort(generator.permutation(len(y))[: self.n_rows])
        self._columns = generator.permutation(self.n_sample)

    def load(self) -> float:
        """Run a small search twice, and return how many more CPU seconds the first took: it loads the kernels."""
        X, y = self._imagined(_FEW, min(self.n_rows, _LOADING_ROWS))
        compiled, times = _engine.compile_seconds()[1], [time.process_time()]
        for _ in range(2):
            self._fitted(X, y)
            times.append(time.process_time())
        compiled = _engine.compile_seconds()[1] - compiled
        return max(0.0, (times[1] - times[0]) - (times[2] - times[1]) - compiled)

    def growth(self) -> tuple[Line, float]:
        """Return the time of growth per column, by the number of rows, and how many models it fits."""
        seconds, fits = self._growth_at(self._rows)
        if self.n_rows == len(self._all_y):
            return Line(0.0, seconds / self.n_rows), fits
        fewer = self._rows[::4]
        fewer_seconds, _ = self._growth_at(fewer)
        return Line.through(self.n_rows, seconds, len(fewer), fewer_seconds), fits

    def _growth_at(self, rows: NDArray[np.intp]) -> tuple[float, float]:
        few, most = self._columns[:_FEW], min(_MOST_COLUMNS, self.n_sample)
        seconds = few_seconds = self._run(few, rows=rows, alpha=_UNREACHABLE)[0]
        n = len(few)
        while True:
            # Columns cost less where there are many: more of them may fit into the time.
            n = int(np.clip(_GROWTH_SECONDS * n / seconds, n, most))
            seconds, phases = self._run(self._columns[:n], rows=rows, alpha=_UNREACHABLE)
            if n == most or seconds > _GROWTH_SECONDS / 2:
                break
        in_growth = sum(phase.seconds for phase in phases)
        per_column = in_growth / n
        if n > len(few):
            per_column = max(per_column, (seconds - few_seconds) / (n - len(few)))
        return max(per_column, 1e-7), sum(phase.n_fits for phase in phases) / n

    def candidates(self, growth: Line, n_columns: int) -> tuple[NDArray[np.intp], int, float]:
        """Return columns that become candidates, how many columns were looked at, and the share that is counted.

        The p-values of the others are so small that a bound decides about them in a table of `n_columns`. Where few
        candidates were found the share is drawn towards a half.
        """
        # All columns, if there is time: candidates may be rare.
        n = int(np.clip(2 * _GROWTH_SECONDS / growth.at(len(self._all_y)), _FEW, self.n_sample))
        columns = self._columns[:n]
        search = self._made(_UNREACHABLE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(_taken(self._all_X, None, columns), self._all_y)
        found = {
            step.feature: step.pvalue
            for step in search.trace_
            if step.phase == "growth" and step.adjusted_pvalue <= self._selector.alpha
        }
        n_counted = sum(pvalue > LARGEST_BOUND / n_columns for pvalue in found.values())
        return columns[sorted(found)], n, (n_counted + 1) / (len(found) + 2)

    def shrink(
        self, found: NDArray[np.intp], n_candidates: int, budget: float
    ) -> tuple[Shrinkage | None, _Counts]:
        """Return the time of the shrink phase, and of counting small p-values."""
        if n_candidates < 2:
            return None, _Counts()
        if found.size < min(n_candidates, _FIRST):
            return self._shrink_of(*self._imagined(n_candidates), n_candidates, budget)
        end = time.process_time() + budget
        X = _taken(self._all_X, self._rows, found)
        shrink, counts = self._shrink_of(X, self._all_y[self._rows], n_candidates, budget)
        left = end - time.process_time()
        n_rows = len(self._all_y)
        if shrink is None or shrink.seconds_per_set * n_rows / self.n_rows > left:
            return shrink, counts
        return self._shrink_of_all_rows(found[: shrink.n_candidates], left) or shrink, counts

    def _shrink_of_all_rows(self, columns: NDArray[np.intp], limit: float) -> Shrinkage | None:
        """Return the time of the shrink phase with all rows, if there are more than were measured so far."""
        if self.n_rows == len(self._all_y):
            return None
        phases = self._fitted(_taken(self._all_X, None, columns), self._all_y, limit)
        shrink = Shrinkage.of(_named(phases, "shrink"), self._n_folds)
        if shrink is not None:
            self.shrink_rows = len(self._all_y)
        return shrink

    def _shrink_of(
        self, X: Any, y: NDArray[Any], n_candidates: int, budget: float
    ) -> tuple[Shrinkage | None, _Counts]:
        end = time.process_time() + budget
        most = min(n_candidates, X.shape[1], _MOST_CANDIDATES)
        n, last, counts = min(_FIRST, most), None, _Counts()
        while True:
            left = end - time.process_time()
            phases = self._fitted(_taken(X, None, np.arange(n)), y, max(0.0, left))
            counts = _Counts.of(phases, n) or counts
            taken = Shrinkage.of(_named(phases, "shrink"), self._n_folds, last.exponent if last else EXPONENT)
            if taken is None:
                return last, counts
            last = replace(taken, exponent=taken.exponent_from(last)) if last else taken
            left = end - time.process_time()
            # One set of models of the next size should fit into the time that is left.
            larger = min(most, round(n * max(left / last.seconds_per_set, 0.0) ** 0.5))
            if larger <= n or not all(phase.is_complete for phase in phases):
                return last, counts
            n = larger

    def shrink_by_rows(self, shrink: Shrinkage | None) -> Line:
        """Return the time of the shrink phase by the number of rows."""
        if shrink is None or self.shrink_rows == len(self._all_y):
            return Line(0.0, 1.0)
        n = min(_FIRST, shrink.n_candidates)
        seconds = []
        sizes = [self.n_rows, self.n_rows // 4]
        for size in sizes:
            X, y = self._imagined(n, size)
            taken = Shrinkage.of(_named(self._fitted(X, y), "shrink"), self._n_folds)
            if taken is None:
                return Line(0.0, 1.0)
            seconds.append(taken.seconds_per_set)
        return Line.through(sizes[0], seconds[0], sizes[1], seconds[1])

    def beside(self) -> tuple[PerQuestion, PerQuestion]:
        """Return the cost of a question of joint growth, and of a second look."""
        if all(getattr(self._whole, name, one) == one for name, one in _MARGINAL_ONLY.items()):
            return PerQuestion(), PerQuestion()
        X, y = self._imagined(_BESIDE, min(self.n_rows, _BESIDE_ROWS), n_signals=_BESIDE // 3)
        with warnings.catch_warnings(), watched_phases() as phases:
            warnings.simplefilter("ignore")
            with suppress(InvalidInputError):
                clone(self._whole).fit(X, y)
        ratio = self.n_rows / len(y)
        times = ratio, max(1, self._n_folds)
        return _per_question(phases, "joint", *times), _per_question(phases, "second look", *times)

    def _imagined(
        self, n_columns: int, n_rows: int | None = None, n_signals: int | None = None
    ) -> tuple[Any, NDArray[Any]]:
        """Return a table whose columns all are candidates, or some of them, with a target of the same kind."""
        is_labels = self._task() == "classification"
        n_rows = self.n_rows if n_rows is None else n_rows
        n = min(n_columns, _MOST_CANDIDATES)
        return imagined_table(
            n_rows,
            n,
            n if n_signals is None else n_signals,
            task="classification" if is_labels else "regression",
            n_classes=np.unique(self._all_y).size if is_labels else 2,
        )

    def _task(self) -> str:
        if self._selector.task != "auto":
            return str(self._selector.task)
        if self._selector.estimator is not None and hasattr(self._selector.estimator, "fit"):
            return "classification" if is_classifier(self._selector.estimator) else "regression"
        is_numeric = self._all_y.dtype.kind in "fiu" and np.unique(self._all_y).size > 20
        return "regression" if is_numeric else "classification"

    def _run(
        self, columns: NDArray[np.intp], *, rows: NDArray[np.intp] | None = None, alpha: float | None = None
    ) -> tuple[float, list[Phase]]:
        """Fit to a part of the table; return the CPU seconds, and those of the phases, without compiling."""
        rows = self._rows if rows is None else rows
        while True:
            started, compiled = time.process_time(), _engine.compile_seconds()
            phases = self._fitted(_taken(self._all_X, rows, columns), self._all_y[rows], alpha=alpha)
            if _engine.compile_seconds() == compiled:
                return max(time.process_time() - started, 1e-6), phases

    def _fitted(
        self, X: Any, y: NDArray[Any], limit: float = np.inf, alpha: float | None = None
    ) -> list[Phase]:
        with warnings.catch_warnings(), watched_phases(limit) as phases:
            warnings.simplefilter("ignore")
            with suppress(OutOfTimeError, InvalidInputError):
                self._made(alpha).fit(X, y)
        return phases

    def _made(self, alpha: float | None = None) -> Any:
        settings = {} if alpha is None else {"alpha": alpha}
        return clone(self._selector).set_params(**settings)


def _plain(selector: Any) -> Any:
    """Return the search with marginal growth and without a second look, where it has them."""
    return clone(selector).set_params(
        **{name: one for name, one in _MARGINAL_ONLY.items() if hasattr(selector, name)}
    )


def _per_question(phases: Sequence[Phase], beginning: str, ratio: float, n_folds: int) -> PerQuestion:
    """Return the cost of a question, in all folds, in the phases whose names begin with `beginning`."""
    found = [phase for phase in phases if re.sub(r"^fold \d+ ", "", phase.label).startswith(beginning)]
    n_asked = sum(phase.total for phase in found) / n_folds
    if not n_asked:
        return PerQuestion()
    seconds = ratio * sum(phase.seconds for phase in found)
    return PerQuestion(seconds / n_asked, sum(phase.n_fits for phase in found) / n_asked)


def _without_columns(selector: Any) -> Any:
    """Return the selector for parts of a table: nothing in it names a column, and nothing is written."""
    defaults = {name: one.default for name, one in signature(type(selector)).parameters.items()}
    plain = {name: defaults[name] for name in _NAMING_COLUMNS if name in defaults}
    return clone(selector).set_params(**plain, checkpoint=None, progress=False, n_jobs=1, min_features=0)


def _taken(X: Any, rows: NDArray[np.intp] | None, columns: NDArray[np.intp]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, columns] if rows is None else X.iloc[rows, columns]
    some = X[:, columns]
    return some if rows is None else take_rows(some, rows)


def _named(phases: Sequence[Phase], name: str) -> list[Phase]:
    """Return the phases of this name, of all folds."""
    return [phase for phase in phases if re.sub(r"^fold \d+ ", "", phase.label) == name]
