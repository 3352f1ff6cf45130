"""The target of a table: its values, its task and its classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._data.labels import SeveralLabels, coded_labels
from ppfs._data.target_kinds import TargetKind
from ppfs._data.target_task import Task, TaskChoice


@dataclass(frozen=True)
class Target:
    """The target, in the type that its task needs.

    Attributes
    ----------
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels of any kind, or numbers; or a structured array of numbers.

    choice : TaskChoice
        The task, and why.

    labels_of_all : ndarray, default=None
        The labels of the target that this one is a part of. None: it is not a part.

    kind : TargetKind, default=None
        None: labels or plain numbers.

    origin : Target, default=None
        The target whose response this is.

    labels : SeveralLabels, default=None
        The columns of labels whose indicators the values are.
    """

    values: NDArray[Any]
    choice: TaskChoice
    labels_of_all: NDArray[Any] | None = None
    kind: TargetKind | None = None
    origin: Target | None = None
    labels: SeveralLabels | None = None

    @property
    def task(self) -> Task:
        """How the target is predicted."""
        return self.choice.task

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The distinct values, sorted."""
        if self._has_text_labels:
            return self._coded_text[0]
        return np.unique(self.values if self.task == "classification" else self.codes)

    @property
    def known_labels(self) -> NDArray[Any]:
        """The labels of this target and of the one that it is a part of; empty for regression."""
        if self.task == "regression":
            return np.empty(0)
        return self.classes if self.labels_of_all is None else self.labels_of_all

    @cached_property
    def codes(self) -> NDArray[np.float64]:
        """The target as numbers: itself, or the position of each label among the classes.

        Shape (n_rows,); or (n_rows, k) for a target of k columns, or of k fields.
        """
        if self.values.dtype.names is not None:
            return np.column_stack([self.values[name].astype(np.float64) for name in self.values.dtype.names])
        if self.task == "regression":
            return np.asarray(self.values, dtype=np.float64)
        if self._has_text_labels:
            return self._coded_text[1]
        return np.searchsorted(self.classes, self.values).astype(np.float64)

    @property
    def width(self) -> int:
        """The number of columns of `codes`."""
        return 1 if self.codes.ndim == 1 else int(self.codes.shape[1])

    @property
    def response(self) -> Target:
        """The target that models of this package predict: one number per row."""
        if self.kind is None:
            return self
        choice = replace(self.choice, task="regression")
        return Target(self.kind.response(self.values), choice, origin=self)

    def response_given(self, weights: Floats | None) -> Callable[[Floats], Floats] | None:
        """Return what computes the response beside what a model of some columns expects; None for most targets."""
        origin = self.origin
        kind = None if origin is None else origin.kind
        if origin is None or kind is None or kind.response_given is None:
            return None
        given = kind.response_given
        return lambda columns: given(origin.values, columns, weights)

    def of_rows(self, index: NDArray[np.intp]) -> Target:
        """Return the target of some of the rows."""
        origin = None if self.origin is None else self.origin.of_rows(index)
        labels = None if self.labels is None else self.labels.of_rows(index)
        return replace(
            self, values=self.values[index], labels_of_all=self.known_labels, origin=origin, labels=labels
        )

    @property
    def _has_text_labels(self) -> bool:
        return self.task == "classification" and self.values.dtype.kind in "US"

    @cached_property
    def _coded_text(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        return coded_labels(self.values)
