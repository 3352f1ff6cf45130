"""Tables that were read, and the parts that a search uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from ppfs.cli._failures import UsageFailure
from ppfs.cli.input.columns import resolve


@dataclass(frozen=True)
class FrameRead:
    """A table as it was read.

    Attributes
    ----------
    name : str
        Of the file.

    place : function from row numbers to text
        Names rows as the file numbers them.

    notes : list of str
        Messages about the reading.

    texts : function from column names to a data frame, or None
        Returns columns of a text file as they are written; None for files that have types.
    """

    name: str
    frame: Any
    place: Callable[[Sequence[int]], str]
    notes: list[str]
    texts: Callable[..., Any] | None = None

    def written(self, names: Sequence[str], *, has_types: bool) -> Any:
        """Return some columns as the file has them; `has_types` where numbers are wanted as numbers."""
        return self.frame[list(names)] if self.texts is None else self.texts(names, has_types=has_types)

    def only(self, is_wanted: Any) -> FrameRead:
        """Return some of the rows, given as a mask."""
        texts = self.texts

        def some_texts(names: Sequence[str], *, has_types: bool) -> Any:
            return texts(names, has_types=has_types)[is_wanted].reset_index(drop=True) if texts else None

        return replace(
            self,
            frame=self.frame[is_wanted].reset_index(drop=True),
            texts=None if texts is None else some_texts,
        )


@dataclass(frozen=True)
class Input:
    """Columns and target to select from.

    Attributes
    ----------
    name : str
        The file or data set.

    X, y : table and vector
        As ``fit`` takes them; for files that are streamed, a path and the name of the target, or its two names.

    names : list of str
        The column names.

    target : str
        The name of `y`.

    groups, time, weights : vector, str or None
        As ``fit`` takes them; names for files that are streamed.

    event : str or None
        The column that says whether an event was observed; `target` is then its time, and y has both.

    exposure : str or None
        The column with the exposures of counts; `target` is then the count, and y has both.

    rows : FrameRead or None
        The rows that are searched, for writing a part of them; None where they are not in memory.

    ids : tuple of str
        Columns that identify the rows.

    notes : tuple of str
        Messages about the reading.

    lags : Lags or None
        The lagged copies among the columns.
    """

    name: str
    X: Any
    y: Any
    names: list[str]
    target: str
    groups: Any = None
    time: Any = None
    weights: Any = None
    event: str | None = None
    exposure: str | None = None
    rows: FrameRead | None = None
    ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    lags: Any = None

    def columns(self, values: Sequence[str], flag: str) -> list[str]:
        """Return the columns that a flag lists."""
        return resolve(values, self.names, f"{flag}: {self.name!r}")

    def said_task(self, wanted: str | None) -> str:
        """Return the kind of target that ``--task``, ``--event`` and ``--exposure`` name; "auto" if none does."""
        said = wanted or "auto"
        for column, flag, kind, what in (
            (self.event, "--event", "survival", "survival times"),
            (self.exposure, "--exposure", "count", "counts"),
        ):
            if column is not None and said not in ("auto", kind):
                raise UsageFailure(f"{flag} is for {what}, but --task is {wanted}. Leave one of them out.")
            said = kind if column is not None else said
        return said

    def task(self, wanted: str | None) -> Literal["classification", "regression"]:
        """Return whether the target is for classification or regression."""
        from ppfs._data import KINDS, choose_task, read_target

        if wanted in KINDS:
            return KINDS[str(wanted)].task
        if wanted not in (None, "auto"):
            return cast(Literal["classification", "regression"], wanted)

        is_categorical = str(getattr(self.y, "dtype", "")) == "category"
        if is_categorical:
            return "classification"
        return choose_task(read_target(self.target_values(), owner="ppfs")).task

    def labels(self) -> list[Any]:
        """Return the different values of the target."""
        import numpy as np

        return list(np.unique(np.asarray(self.target_values())))

    def target_values(self) -> Any:
        """Return the target; of columns that stay in their file, it is read from there."""
        if not self.is_streamed:
            return self.y
        from ppfs._data import open_source, target_of_file

        return target_of_file(open_source(self.X), self.target_columns)

    @property
    def is_streamed(self) -> bool:
        """Whether the columns stay in their file."""
        return isinstance(self.X, str)

    @property
    def target_columns(self) -> list[str]:
        """The columns of the target: a time and an event, or a count and its exposure; for all others, one."""
        return [name for name in (self.target, self.event, self.exposure) if name is not None]

    def fit_arguments(self) -> dict[str, Any]:
        """Return the arguments of ``fit`` after X and y."""
        given = {"groups": self.groups, "time": self.time, "sample_weight": self.weights}
        return {name: value for name, value in given.items() if value is not None}
