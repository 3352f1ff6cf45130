"""Sufficiency of a fitted selector: its search is repeated in parts of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import integer_seed, root_entropy, stream
from ppfs._data import FitData, Table
from ppfs._fitting import DEFAULT_PANEL
from ppfs._rows import folds_of
from ppfs._verdicts.keeping import digest_of
from ppfs._verdicts.measuring import Divided, measure_sufficiency
from ppfs._verdicts.sufficiency import Sufficiency
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PredictiveTest

# Selections in the parts should not cost more than twice the search: see decision 290.
_MOST_FOR_FIVE_FOLDS, _MOST_FOR_THREE_FOLDS = 100, 1000

_TASKS = ("classification", "regression")


def sufficiency_of(
    selector: Any, data: FitData, *, margin: float = 0.05, n_folds: int | None = None
) -> Sufficiency:
    """Measure how much better a model is with all columns than with what a selector selects.

    Parameters
    ----------
    selector : fitted selector
        It is not changed: clones of it are fitted to parts of the rows.

    margin : float, default=0.05
        The share of what all columns explain that may be lost.

    n_folds : int, default=None
        None is 5 for up to 100 columns, 3 for up to 1,000, and 2 for more. It has no effect where `confirm` held rows
        out: then these are used, and nothing is repeated.
    """
    if not 0 < margin < 1:
        raise InvalidInputError(
            f"margin={margin!r} must be a share between 0 and 1 of what all columns explain."
        )
    table = selector._read_again(data)
    test = getattr(getattr(selector, "selector_", selector), "independence_", None)
    if test is None or test.is_of_package:
        table = table.with_response()
    _require_measurable(table)
    seed = integer_seed(stream(root_entropy(selector.random_state)))
    aside = getattr(selector, "_rows_aside", None)
    if aside is not None:
        rest = np.setdiff1d(np.arange(table.n_rows), aside)
        divided = Divided([(rest, aside)], 0)
    else:
        divided = _folds(table, n_folds, seed)
    searching = _Repeated(selector, table, data)
    asked = test if isinstance(test, PredictiveTest) else None
    return measure_sufficiency(
        table,
        divided,
        searching.select if aside is None else searching.selected,
        estimator=DEFAULT_PANEL if asked is None else asked.estimator,
        loss="auto" if asked is None else asked.loss,
        margin=float(margin),
        seed=seed,
    )


def _require_measurable(table: Table) -> None:
    if table.task not in _TASKS or table.y.dtype.names is not None:
        raise InvalidInputError(
            f"Sufficiency is measured for targets of one or more numbers or of labels, and the task is {table.task}"
            f"{'' if table.y.dtype.names is None else ' of a structured array'}. Compare models of this target with "
            "ppfs.compare instead."
        )


def _folds(table: Table, n_folds: int | None, seed: int) -> Divided:
    if n_folds is None:
        n_columns = table.n_features
        n_folds = 5 if n_columns <= _MOST_FOR_FIVE_FOLDS else 3 if n_columns <= _MOST_FOR_THREE_FOLDS else 2
    if not 2 <= n_folds <= table.n_rows:
        raise InvalidInputError(
            f"n_folds={n_folds!r} must be between 2 and the number of rows, {table.n_rows}."
        )
    return Divided(folds_of(table, n_folds, seed), n_folds)


class SupportsOfParts:
    """Which columns a selector selects in parts of the rows; each part is searched once."""

    def __init__(self) -> None:
        self._known: dict[int, NDArray[np.bool_]] = {}

    def of(self, selector: Any, part: FitData) -> NDArray[np.bool_]:
        """Return the columns that a clone of the selector selects in some rows, as a mask."""
        digest = digest_of(part)
        if digest is not None and digest in self._known:
            return self._known[digest]
        again = selector._to_repeat()
        with warnings.catch_warnings():
            # The fit to all rows has warned already.
            warnings.simplefilter("ignore", UserWarning)
            again.fit(part.X, part.y, sufficiency=False, **part.about_rows)
        support: NDArray[np.bool_] = again.support_
        if digest is not None:
            self._known[digest] = support
        return support


class _Repeated:
    """A search that is made again in some of the rows."""

    def __init__(self, selector: Any, table: Table, data: FitData) -> None:
        self._selector, self._table, self._data = selector, table, data

    def select(self, train: NDArray[np.intp]) -> Sequence[int]:
        """Return the features that a clone of the selector selects in some rows."""
        rows = train if self._table.kept_rows is None else self._table.kept_rows[train]
        parts = self._selector._in_parts or SupportsOfParts()
        return self._features(parts.of(self._selector, self._data.of_rows(rows)))

    def selected(self, train: NDArray[np.intp]) -> Sequence[int]:
        """Return the features that the selector itself selected."""
        return self._features(self._selector.support_)

    def _features(self, support: NDArray[np.bool_]) -> Sequence[int]:
        return [
            feature for feature, columns in enumerate(self._table.columns) if support[list(columns)].all()
        ]
