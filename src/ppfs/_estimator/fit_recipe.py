"""The recipe of a fit for every selector: check the parameters, read the table, fit a copy, and take it over."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ppfs._data import (
    CallersColumns,
    ColumnWarning,
    Table,
    Task,
    backend_of,
    read_table,
    warn_if_ambiguous,
    weights_among,
)
from ppfs._estimator.frame_selector import FrameSelector
from ppfs._estimator.one_step import in_one_step
from ppfs._printable import listed
from ppfs._trace import Trace

if TYPE_CHECKING:
    from ppfs.report import Report


class Selector(FrameSelector, BaseEstimator, ABC):
    """A selector that is fitted in one step: after an error it is unchanged.

    A subclass implements `_fit`, which sets the fitted attributes. It reads the data with `_read_table`, and sets the
    selected columns with `_set_columns`.
    """

    task_: Task
    # The selected columns, most important first.
    blanket_: NDArray[np.intp]
    trace_: Trace
    warnings_: tuple[ColumnWarning, ...]

    # The library of the caller's data frame.
    _backend: str | None = None

    @abstractmethod
    def _fit(self, X: Any, y: Any, *, groups: Any, sample_weight: Any) -> None:
        """Set the fitted attributes; called on an unfitted copy with parameters that were checked."""

    def _keep_from_failure(self, draft: Self, error: BaseException) -> None:
        """Keep what the next fit may reuse from the copy that failed."""

    def fit(self, X: Any, y: Any, *, groups: Any = None, **params: Any) -> Self:
        """Select columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features), or path
            The columns: numbers, and in data frames text and categories too. A path of a Parquet file, of a folder
            of Parquet files that hold different columns of the same rows, or of a .npy, zarr, HDF5 or h5ad file:
            searches then read a few columns at a time, and keep only candidates in memory.

        y : array-like of shape (n_rows,) or (n_rows, n_outputs), or str
            The target. Where X is a path, the name of one of its columns.

        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as those of one patient: no split and no fold separates them.

        **params
            `sample_weight`, array-like of shape (n_rows,): how much each row counts, in fits, losses and scores. A row
            of weight 0 is left out.

        Returns
        -------
        self
        """
        self._validate_params()
        with in_one_step(self) as draft:
            try:
                draft._fit(X, y, groups=groups, sample_weight=weights_among(params, self))
            except BaseException as error:
                self._keep_from_failure(draft, error)
                raise
        return self

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows: scikit-learn's diagram, and below it what was selected."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown and hasattr(self, "blanket_"):
            names = [self._column_names[column] for column in self.blanket_]
            text = f"{len(names)} of {len(self.support_)} columns selected"
            text += f", most important first: {listed(names, 20)}" if names else ""
            shown["text/html"] += f"<p>{html.escape(text)}</p>"
        return shown

    def report(self, X: Any = None, y: Any = None, **rows: Any) -> Report:
        """Return a report to pass on: ``selector.report().save("report.html")``.

        Parameters
        ----------
        X, y : array or data frame, array-like, default=None
            The data that the selector was fitted on. The report then has the cross-validated scores of the selection
            and of all columns, and how often each column is selected again: the selection is repeated five times, each
            time inside a training part.

        rows : array-likes
            `sample_weight` and `groups`, where the selector was fitted with them.

        Returns
        -------
        Report
            With `html`, `json`, `markdown` and `save`; a notebook shows it.
        """
        from ppfs.report import Report

        return Report(self) if X is None else Report.with_scores(self, X, y, **rows)

    def _read_table(
        self,
        X: Any,
        y: Any,
        *,
        task: Task | Literal["auto"],
        decided_by: str | None,
        groups: Any,
        sample_weight: Any,
        settings: Any = None,
    ) -> Table:
        """Read the data, and remember number and names of the columns, as scikit-learn does.

        Parameters
        ----------
        decided_by : str or None
            What decides about a target that may be labels or numbers, for a warning; None for no warning.

        settings : object
            Whose parameters say how columns are read; None is this selector.
        """
        settings = self if settings is None else settings
        table = read_table(
            X,
            y,
            task=task,
            owner=self,
            feature_groups=settings.feature_groups,
            categorical_features=settings.categorical_features,
            sample_weight=sample_weight,
            groups=groups,
            memory_limit=getattr(settings, "memory_limit", None),
        )
        if decided_by is not None:
            warn_if_ambiguous(table, decided_by)
        self._see_columns(X, table)
        return table

    def _see_columns(self, X: Any, table: Table) -> None:
        self._backend = backend_of(X)
        if table.is_in_memory:
            validate_data(self, X, skip_check_array=True)
            return
        self.n_features_in_ = table.n_features
        if table.has_names:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def _set_columns(self, columns: Sequence[int] | NDArray[np.intp], table: Table) -> None:
        """Set what every fitted selector has, for these of the caller's columns."""
        self.support_ = np.zeros(CallersColumns.of(table).n_columns, dtype=bool)
        self.support_[columns] = True
        self.task_ = table.task
        self._has_missing_labels = table.has_missing_labels
        self._column_names = table.column_names
