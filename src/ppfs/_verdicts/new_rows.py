"""New rows of a fitted selector: joined to the earlier ones, predicted, and then learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._conventions import n_rows_of
from ppfs._data import FitData, Table, in_order, readable
from ppfs._printable import listed
from ppfs._verdicts.updating import Update, Watch, after_batch, begin, read_off
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class Watched:
    """The evidence so far, and all rows that it rests on.

    Attributes
    ----------
    X, y : objects or None
        All earlier rows; None for a selector that was loaded from a file.

    found : Update
        What the evidence shows.
    """

    watch: Watch
    X: Any
    y: Any
    found: Update

    def without_data(self) -> Watched:
        """Return the evidence alone."""
        return Watched(self.watch, None, None, self.found)


def update_with(selector: Any, X_new: Any, y_new: Any, earlier: tuple[Any, Any] | None) -> Watched:
    """Return what new rows show about a fitted selector's columns, and the evidence to continue from.

    Parameters
    ----------
    earlier : (X, y) or None
        All rows before these; None for those that the selector holds.
    """
    require_squares(selector.trace_.data.task, np.asarray(_values(y_new)))
    require_alike(given_with_rows(selector))
    if selector._lags is not None:
        raise InvalidInputError(
            "update compares new rows without their past, so it cannot make lagged copies. Fit again with the new rows "
            "instead, or make the copies yourself with ppfs.lagged before fit and update."
        )
    known = selector._watched
    X, y = earlier if earlier is not None else _held(selector, known)
    watch = None if known is None else known.watch
    n_earlier = int(n_rows_of(X))
    if watch is not None and n_earlier != watch.n_rows + watch.n_new:
        raise InvalidInputError(
            f"X has {n_earlier} rows, but {watch.n_rows} were fitted and {watch.n_new} were seen in updates. Pass all "
            "of them, in their order."
        )
    if watch is None:
        table = selector._read_again(FitData(X, y))
        watch = begin(table, _selected(selector, table))
    if selector.task_ == "ordinal":
        y, y_new = in_order(y), in_order(y_new)
    X, y = stacked_rows(X, X_new), np.concatenate([_values(y), _values(y_new)])
    table = selector._read_again(FitData(X, y))
    watch = after_batch(watch, table, n_earlier)
    return Watched(watch, X, y, read_off(watch, table.names, float(getattr(selector, "alpha", 0.05))))


def require_squares(task: str, y: NDArray[Any]) -> None:
    """Raise for targets whose predictions have no squared errors."""
    if task == "survival" or y.dtype.names is not None:
        raise InvalidInputError(
            "update compares squared errors or Brier scores, which a structured target, such as survival times, "
            "does not have. Fit again with the new rows instead."
        )


def given_with_rows(selector: Any) -> tuple[str, ...]:
    """Return which of groups, time, sample_weight and class_weight a selector was fitted with."""
    search = getattr(selector, "selector_", selector)
    by_class = getattr(search, "class_weight", None) is not None
    return (*getattr(selector, "_given_with_rows", ()), *(("class_weight",) if by_class else ()))


def require_alike(given: Sequence[str]) -> None:
    """Raise if rows were weighted or depend on each other: the evidence counts each row once, as a new one."""
    if given:
        raise InvalidInputError(
            "update counts all rows alike and as independent of each other, which rows with "
            f"{' and '.join(given)} are not. Fit again with the new rows instead."
        )


def _held(selector: Any, known: Watched | None) -> tuple[Any, Any]:
    if known is not None and known.X is not None:
        return known.X, known.y
    kept = selector._at_hand
    if known is None and kept is not None:
        kept.require_unchanged()
        return kept.data.X, kept.data.y
    raise InvalidInputError(
        f"This {type(selector).__name__} holds no earlier rows to learn from: it was fitted with sufficiency=False, to "
        "a file or to a table of more than 64 MiB, or it was loaded. Pass them: update(X_new, y_new, X=X, y=y)."
    )


def _selected(selector: Any, table: Table) -> Sequence[int]:
    support = selector.support_
    return [feature for feature, columns in enumerate(table.columns) if support[list(columns)].all()]


def stacked_rows(X: Any, X_new: Any) -> Any:
    """Return earlier rows and new ones as one table; columns of data frames are found by name."""
    X, X_new = readable(X), readable(X_new)
    if nw.dependencies.is_into_dataframe(X):
        old = nw.from_native(X, eager_only=True)
        if not nw.dependencies.is_into_dataframe(X_new):
            raise InvalidInputError(
                "The selector was fitted to a data frame. Pass new rows as a data frame too."
            )
        new = nw.from_native(X_new, eager_only=True)
        missing = [name for name in old.columns if name not in new.columns]
        if missing:
            raise InvalidInputError(
                f"The new rows lack the columns {listed(missing)}. Pass all columns of the fit."
            )
        return nw.concat([old, new.select(old.columns)]).to_native()
    n_columns, n_new = np.shape(X)[1], np.shape(X_new)[1]
    if n_columns != n_new:
        raise InvalidInputError(f"The new rows have {n_new} columns, but {n_columns} were seen in fit.")
    if sp.issparse(X) or sp.issparse(X_new):
        return sp.vstack([sp.csr_array(X), sp.csr_array(X_new)], format="csr")
    return np.vstack([np.asarray(X), np.asarray(X_new)])


def _values(y: Any) -> Any:
    series = nw.from_native(y, series_only=True, allow_series=True, pass_through=True)
    return np.asarray(series.to_numpy() if isinstance(series, nw.Series) else y)
