"""The recipe of a fit for every selector: check the parameters, read the table, fit a copy, and take it over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._data import (
    CallersColumns,
    ColumnWarning,
    FitData,
    SaidTask,
    Table,
    backend_of,
    read_table,
    require_one_type_of_names,
    warn_if_ambiguous,
    warn_if_neighbors_are_alike,
    weights_among,
    with_lags,
)
from ppfs._estimator.frame_selector import FrameSelector
from ppfs._estimator.one_step import in_one_step
from ppfs._printable import listed
from ppfs._trace import Trace

if TYPE_CHECKING:
    from ppfs._verdicts import Blankets, DataAtHand, Sufficiency, SupportsOfParts, Update, Watched
    from ppfs.report import Report


class Selector(FrameSelector, BaseEstimator, ABC):
    """A selector that is fitted in one step: after an error it is unchanged.

    A subclass implements `_fit`, which sets the fitted attributes. It reads the data with `_read_table`, and sets the
    selected columns with `_set_columns`.
    """

    task_: str
    # The selected columns, most important first.
    blanket_: NDArray[np.intp]
    trace_: Trace
    warnings_: tuple[ColumnWarning, ...]

    # The library of the caller's data frame.
    _backend: str | None = None

    # What the last fit can be asked about later, and the answer.
    _at_hand: DataAtHand | None = None
    # Which of groups, time and sample_weight it was given.
    _given_with_rows: tuple[str, ...] = ()
    _sufficiency: Sufficiency | None = None
    # What was selected in parts of the rows, which sufficiency and the report's scores have in common.
    _in_parts: SupportsOfParts | None = None
    _watched: Watched | None = None
    _blankets: Blankets | None = None

    @abstractmethod
    def _fit(self, data: FitData) -> None:
        """Set the fitted attributes; called on an unfitted copy with parameters that were checked."""

    def _keep_from_failure(self, draft: Self, error: BaseException) -> None:
        """Keep what the next fit may reuse from the copy that failed."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        time: Any = None,
        lags: Sequence[int] | None = None,
        sufficiency: bool = True,
        **params: Any,
    ) -> Self:
        """Select columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features), or path
            The columns: numbers, and in data frames text and categories too. A path of a Parquet file, of a folder
            of Parquet files that hold different columns of the same rows, or of a .npy, zarr, HDF5 or h5ad file:
            searches then read a few columns at a time, and keep only candidates in memory.

        y : array-like of shape (n_rows,) or (n_rows, n_outputs), or str or list of str
            The target. Where X is a path, the name of one of its columns, or a list of names, such as those of a
            survival time and its event.

        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as those of one patient: no split and no fold separates them.

        time : array-like of shape (n_rows,), str or RowsInTime, default=None
            The order of the rows in time, for series with similar neighboring rows: numbers or dates, the name of a
            column of X, or "index" for the order of the rows. Folds are then blocks of neighboring rows, and blocks
            count as observations. `ppfs.RowsInTime` sets the length of blocks and a gap around test parts.

        lags : sequence of int, default=None
            Add lagged copies of all columns, such as those of 1, 2 and 7 rows before, in the order of `time`. They are
            columns of the fitted selector, named like temperature_lag7; a column and its copies are one feature, unless
            ``RowsInTime(..., lags_together=False)``. The first rows, which have no past, are left out. `transform`
            makes the copies of new rows.

        sufficiency : bool, default=True
            Whether `sufficiency_` can be read after the fit. Nothing is computed before it is read; for that the
            selector holds a reference to X and y, where they take at most 64 MiB, which `update` uses too. False holds
            none.

        **params
            `sample_weight`, array-like of shape (n_rows,): how much each row counts, in fits, losses and scores. A row
            of weight 0 is left out.

        Returns
        -------
        self
        """
        self._validate_params()
        sample_weight = weights_among(params, self)
        with in_one_step(self) as draft:
            draft._lags, data = with_lags(FitData(X, y, groups, time, sample_weight), lags)
            try:
                draft._fit(data)
            except BaseException as error:
                self._keep_from_failure(draft, error)
                raise
            draft._keep_data(data, wanted=sufficiency)
        return self

    def _sk_visual_block_(self) -> Any:
        """Return what scikit-learn's diagram shows: the name, and after a fit what was selected.

        Names are escaped there. An object with the attributes of scikit-learn's block is enough.
        """
        caption = None
        if hasattr(self, "blanket_"):
            names = [self._column_names[column] for column in self.blanket_]
            caption = f"{len(names)} of {len(self.support_)} columns selected"
            caption += f", most important first: {listed(names, 20)}" if names else ""
        return SimpleNamespace(
            kind="single",
            estimators=self,
            names=type(self).__name__,
            name_details=str(self),
            name_caption=caption,
            doc_link_label=None,
            dash_wrapped=True,
        )

    def __dir__(self) -> list[str]:
        """Return the names of attributes, without those that are computed when they are first read.

        scikit-learn's diagram and converters to other formats read whatever is listed, which would search again.
        """
        kept = vars(self)
        unread = {name for name in ("sufficiency_", "blankets_") if kept.get(f"_{name[:-1]}") is None}
        return [name for name in object.__dir__(self) if name not in unread and hasattr(self, name)]

    def _keep_data(self, data: FitData, *, wanted: bool) -> None:
        from ppfs._verdicts import DataAtHand, SupportsOfParts

        self._in_parts = SupportsOfParts()
        self._sufficiency, self._watched, self._blankets = None, None, None
        given = {"groups": data.groups, "time": data.time, "sample_weight": data.sample_weight}
        self._given_with_rows = tuple(name for name, values in given.items() if values is not None)
        self._at_hand = DataAtHand.of(data, self.n_features_in_) if wanted else None

    @property
    def sufficiency_(self) -> Sufficiency:
        """Whether the selected columns are enough: what a model with all columns would gain, and a verdict.

        It is measured when it is first read, which takes about two fits for wide tables and up to five for narrow ones:
        the selection is repeated in parts of the rows. See `measure_sufficiency`.
        """
        check_is_fitted(self)
        if self._sufficiency is None:
            data = self._data_of_fit("sufficiency_", "Call measure_sufficiency(X, y)")
            self.measure_sufficiency(data.X, data.y, **data.about_rows)
        assert self._sufficiency is not None
        return self._sufficiency

    @property
    def blankets_(self) -> Blankets:
        """What is selected for each column of a target of several columns, by its name or number: a dict of arrays.

        `blanket_` is the selection for all columns together. The search is repeated for each column when this is first
        read, with the data of the fit.
        """
        check_is_fitted(self)
        if self._blankets is None:
            from ppfs._verdicts import blankets_of

            way_out = "Fit again, and read blankets_ before the selector is saved"
            self._blankets = blankets_of(self, self._data_of_fit("blankets_", way_out))
        return self._blankets

    def _data_of_fit(self, wanted: str, way_out: str) -> FitData:
        """Return the data of the last fit, or raise if they are not held or were changed."""
        if self._at_hand is None:
            raise AttributeError(
                f"This {type(self).__name__} holds no data to measure {wanted} with: it was fitted with "
                f"sufficiency=False, to a file or to a table of more than 64 MiB, or it was loaded. {way_out}."
            )
        self._at_hand.require_unchanged()
        return self._at_hand.data

    def measure_sufficiency(
        self,
        X: Any,
        y: Any,
        *,
        margin: float = 0.05,
        n_folds: int | None = None,
        groups: Any = None,
        time: Any = None,
        sample_weight: Any = None,
    ) -> Sufficiency:
        """Measure how much better a model is with all columns than with the selected ones, and set `sufficiency_`.

        The rows are divided into folds. Outside each the selection is repeated and models are fitted, with the selected
        columns and with all of them; inside it they are compared row by row. Where `confirm` held rows out, the
        selection itself is compared on those, and nothing is repeated.

        Parameters
        ----------
        X, y : array or data frame, array-like
            The data that the selector was fitted on.

        margin : float, default=0.05
            The share of what all columns explain that may be lost for the verdict "sufficient".

        n_folds : int, default=None
            None is 5 for up to 100 columns, 3 for up to 1,000, and 2 for more.

        groups, time, sample_weight : array-likes of shape (n_rows,), default=None
            As in `fit`.

        Returns
        -------
        Sufficiency
        """
        from ppfs._verdicts import sufficiency_of

        check_is_fitted(self)
        data = self._with_copies(FitData(X, y, groups, time, sample_weight))
        self._sufficiency = sufficiency_of(self, data, margin=margin, n_folds=n_folds)
        self.trace_.say("sufficiency", {None: self._sufficiency.in_short})
        return self._sufficiency

    def update(self, X_new: Any, y_new: Any, *, X: Any = None, y: Any = None) -> Update:
        """Report what new rows show about the selected columns and about the others; the selection is not changed.

        The new rows are predicted by models of all earlier rows, and learned after that, so that no row is used twice.
        Every column has an e-value, which is multiplied from batch to batch: evidence may be read after each, and the
        probability that there is ever a false alarm is at most `alpha`.

        All rows count alike and as independent of each other. After a fit with `groups`, `time`, `sample_weight` or
        `class_weight` this raises an `InvalidInputError`.

        Parameters
        ----------
        X_new, y_new : array or data frame, array-like
            New rows, with the columns of the fit.

        X, y : array or data frame, array-like, default=None
            All earlier rows, where the selector does not hold them: those of the fit, followed by those of earlier
            updates.

        Returns
        -------
        Update
            With a status for each column, and the selection that the rule suggests: without columns that are no longer
            needed, with those that are newly needed. Fit again to change the selection.
        """
        from ppfs._verdicts import update_with

        check_is_fitted(self)
        self._watched = update_with(self, X_new, y_new, None if X is None else (X, y))
        found = self._watched.found
        by_name = {name: feature for feature, name in enumerate(self.trace_.names)}
        self.trace_.say("update", {by_name[name]: said for name, said in found.by_feature().items()})
        return found

    def __getstate__(self) -> dict[str, Any]:
        # The caller's data are not part of the result.
        state: dict[str, Any] = super().__getstate__()
        if state.get("_watched") is not None:
            state = {**state, "_watched": state["_watched"].without_data()}
        return {name: value for name, value in state.items() if name not in ("_at_hand", "_in_parts")}

    def report(self, X: Any = None, y: Any = None, *, sufficiency: bool = True, **rows: Any) -> Report:
        """Return a report to pass on: ``selector.report().save("report.html")``.

        Parameters
        ----------
        X, y : array or data frame, array-like, default=None
            The data that the selector was fitted on. The report then has the cross-validated scores of the selection
            and of all columns, and how often each column is selected again: the selection is repeated five times, each
            time inside a training part.

        sufficiency : bool, default=True
            Measure `sufficiency_` for the first sentence, where that was not done yet and the data are available. It
            takes about two fits for wide tables and up to five for narrow ones.

        rows : array-likes
            `sample_weight`, `groups` and `time`, where the selector was fitted with them.

        Returns
        -------
        Report
            With `html`, `json`, `markdown` and `save`; a notebook shows it.
        """
        from ppfs.report import Report

        if X is None:
            return Report(self, sufficiency=sufficiency)
        if "lags" in rows:
            raise TypeError("report takes no lags: it makes the lagged copies of the fit.")
        if self._lags is not None:
            own = {name: rows.pop(name) for name in FitData._fields if name in rows}
            data = self._with_copies(FitData(X, y, **own))
            X, y, rows = data.X, data.y, {**data.about_rows, **rows}
        return Report.with_scores(self, X, y, sufficiency=sufficiency, **rows)

    def _with_copies(self, data: FitData) -> FitData:
        """Return the data of a fit with the lagged copies that it made, where X does not have them."""
        if self._lags is None or np.shape(data.X)[1] == self.n_features_in_:
            return data
        return with_lags(data, self._lags.lags)[1]

    def _read_table(
        self, data: FitData, *, task: SaidTask, decided_by: str | None, settings: Any = None
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
        require_one_type_of_names(data.X)
        table = read_table(
            data.X,
            data.y,
            task=task,
            owner=self,
            feature_groups=self._grouped(settings.feature_groups),
            categorical_features=settings.categorical_features,
            **data.about_rows,
            memory_limit=getattr(settings, "memory_limit", None),
        )
        if decided_by is not None:
            warn_if_ambiguous(table, decided_by)
        if getattr(settings, "splitter", None) is None:
            warn_if_neighbors_are_alike(table)
        self._see_columns(data.X, table)
        return table

    def _read_again(self, data: FitData) -> Table:
        """Read data as those of the fit were read: with its task, its groups of columns and its categories."""
        return read_table(
            data.X,
            data.y,
            task=self.trace_.data.task,  # type: ignore[arg-type,union-attr]
            owner=self,
            feature_groups=self._grouped(getattr(self, "feature_groups", None)),
            categorical_features=getattr(self, "categorical_features", "auto"),
            **data.about_rows,
        )

    def _to_repeat(self, **settings: Any) -> Self:
        """Return an unfitted copy for other rows or another target: without a checkpoint and a progress bar."""
        groups = self._grouped(getattr(self, "feature_groups", None))
        settings = {"checkpoint": None, "progress": False, "feature_groups": groups, **settings}
        known = self.get_params(deep=False)
        own = {name: value for name, value in settings.items() if name in known}
        copy: Self = clone(self).set_params(**own)
        return copy

    def _grouped(self, feature_groups: Any) -> Any:
        """Return the groups of columns, those of lagged copies included."""
        return feature_groups if self._lags is None else self._lags.groups(feature_groups)

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
        self.task_ = table.task_name
        self._has_missing_labels = table.has_missing_labels
        self._column_names = table.column_names
