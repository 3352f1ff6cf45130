"""Classification or regression: the task of a target, its reason, and doubts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._data.kinds import MAX_WHOLE_CATEGORIES, holds_few_whole_numbers
from ppfs._data.target_kinds import KINDS
from ppfs.exceptions import InvalidInputError

Task = Literal["classification", "regression"]
# The tasks that the caller may declare.
SaidTask = Literal["auto", "classification", "regression", "count", "positive", "ordinal", "survival"]
TASKS = ("classification", "regression", *KINDS)

# Labels usually start at one of these numbers.
_FIRST_LABELS = (-1, 0, 1)

# With at least this many distinct numbers, frequencies distinguish counts from labels.
_FEWEST_COUNTS = 6

# Consecutive integers that each occur this often may be labels, even if there are more than 20 of them.
_ROWS_A_LABEL, _MOST_LABELS = 5, 50

_COUNTS = 'y holds integers from 0 on: if they are counts, task="count" sees more'


@dataclass(frozen=True)
class TaskChoice:
    """The task of a target.

    Attributes
    ----------
    task : {"classification", "regression"}
        How it is predicted.

    reason : str
        The reason, as the end of a sentence.

    doubt : str
        The reason for the other task, as a sentence; "" if there is none.

    hint : str
        A task that may suit the target better, for the trace; "" if there is none.
    """

    task: Task
    reason: str
    doubt: str = ""
    hint: str = ""


def infer_task(target: NDArray[Any]) -> Task:
    """Return the task of a target.

    Text, booleans and at most 20 distinct integers are labels; other numbers are a regression target.
    """
    is_labelled = target.dtype.kind not in "iuf" or holds_few_whole_numbers(target)
    return "classification" if is_labelled else "regression"


def choose_task(target: NDArray[Any]) -> TaskChoice:
    """Return the task of one or several columns, its reason and any doubt.

    The rule is that of `infer_task`. Doubtful are integers that are unusual for labels, and numeric targets that
    resemble labels: see `_doubt`.
    """
    if target.ndim == 2:
        return _several_outputs(target)
    task = infer_task(target)
    if target.dtype.kind not in "iuf":
        kind = "booleans" if target.dtype.kind == "b" else "text"
        return TaskChoice(task, f"y holds {kind}")
    values, counts = np.unique(target, return_counts=True)
    if np.any(values % 1):
        return TaskChoice(task, "y holds numbers with a fraction")
    more = f", more than {MAX_WHOLE_CATEGORIES}" if task == "regression" else ""
    reason = f"y holds {values.size} distinct integers{more}"
    doubt = _doubt(values, counts, task)
    if not doubt:
        return TaskChoice(task, reason, hint=_hint(values) if task == "regression" else "")
    read = "labels" if task == "classification" else "numbers"
    return TaskChoice(
        task,
        reason,
        f"y holds {values.size} distinct integers from {values[0]:g} to {values[-1]:g}, {doubt}; they are read "
        f"as {read}.",
    )


def said_regression(target: NDArray[Any], reason: str) -> TaskChoice:
    """Return regression for a target of which that was said, with a hint where it may hold counts."""
    is_one = target.ndim == 1 and target.dtype.kind in "iuf"
    return TaskChoice("regression", reason, hint=_hint(np.unique(target)) if is_one else "")


def _hint(values: NDArray[Any]) -> str:
    """Return a hint where distinct values, sorted, are integers from 0 or 1 on."""
    may_be_counts = values.size >= _FEWEST_COUNTS and values[0] in (0, 1) and not np.any(values % 1)
    return _COUNTS if may_be_counts else ""


def agreed_task(declared: SaidTask | None, wanted: SaidTask, owner: str) -> SaidTask:
    """Return the task that a test and its user declare, or raise if they differ.

    Parameters
    ----------
    declared : str or None
        The task that the parameters of the test imply.

    wanted : str
        The `task` of its user, "auto" if it says nothing.

    owner : str
        The name of the user, for the message.
    """
    if declared is not None and wanted not in ("auto", declared):
        # A regressor predicts counts, too.
        if wanted in KINDS and KINDS[wanted].task == declared:
            return wanted
        raise InvalidInputError(
            f"{owner} has task={wanted!r}, but its test or estimator is for {declared}. Leave task out, or use another "
            "estimator."
        )
    return declared or wanted


def _several_outputs(target: NDArray[Any]) -> TaskChoice:
    n_outputs = target.shape[1]
    reason = f"y has {n_outputs} columns"
    if _may_be_survival(target):
        return TaskChoice(
            "regression",
            reason,
            "One of the two columns of y holds 0 and 1 and the other one numbers above 0, as an event and its time do; "
            'they are read as two numbers. Pass task="survival" if they are a survival time.',
        )
    if not all(holds_few_whole_numbers(target[:, output]) for output in range(n_outputs)):
        return TaskChoice("regression", reason)
    return TaskChoice(
        "regression",
        reason,
        f"The {n_outputs} columns of y hold few distinct integers, as labels do; they are read as numbers. "
        'Pass task="classification" if they are labels.',
    )


def _may_be_survival(target: NDArray[Any]) -> bool:
    """Return whether one of two columns holds 0 and 1, and the other one many numbers above 0."""
    if target.shape[1] != 2 or target.dtype.kind not in "biuf":
        return False
    is_flag = [bool(np.array_equal(np.unique(column), (0, 1))) for column in target.T]
    times = target[:, int(is_flag[0])]
    return sum(is_flag) == 1 and bool((times >= 0).all()) and np.unique(times).size > 2


def _doubt(values: NDArray[Any], counts: NDArray[np.intp], task: Task) -> str:
    """Return why integers may belong to the other task; "" if there is no doubt.

    Two numbers are labels, and so are -1, 0 and 1, and consecutive numbers from 0 or 1, unless their
    frequencies are those of counts.
    """
    is_consecutive = values[0] in _FIRST_LABELS and values[-1] - values[0] == values.size - 1
    if task == "regression":
        may_be_labels = is_consecutive and values.size <= _MOST_LABELS and counts.min() >= _ROWS_A_LABEL
        return "consecutive and none of them rare, as labels are" if may_be_labels else ""
    if values.size <= 2:
        return ""
    if not is_consecutive:
        return "not consecutive from 0 or 1, as labels are"
    if _look_like_counts(counts):
        return "whose frequencies rise to one peak and fall to a thin end, as those of counts do"
    return ""


def _look_like_counts(frequencies: NDArray[np.intp]) -> bool:
    """Return whether frequencies, in order of the values, rise to one peak and then fall to almost nothing.

    Differences of up to two standard deviations against the direction are allowed as chance.
    """
    if frequencies.size < _FEWEST_COUNTS:
        return False
    peak = int(np.argmax(frequencies))
    rises = np.diff(frequencies).astype(np.float64)
    noise = 2 * np.sqrt(frequencies[1:] + frequencies[:-1])
    rises[:peak] *= -1
    return bool((rises <= noise).all() and frequencies[-1] <= 0.05 * frequencies[peak])
