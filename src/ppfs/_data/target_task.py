"""Labels or quantities: how the target is to be predicted, why, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._data.kinds import MAX_WHOLE_CATEGORIES, holds_few_whole_numbers
from ppfs.exceptions import InvalidInputError

Task = Literal["classification", "regression"]

# Labels are numbered from here; whatever else numbers begin with, they mean something.
_FIRST_LABELS = (-1, 0, 1)

# From so many different numbers on, frequencies tell counts from labels.
_FEWEST_COUNTS = 6

# Numbers without a gap that each occur this often may be labels, even if there are more than 20 of them.
_ROWS_A_LABEL, _MOST_LABELS = 5, 50


@dataclass(frozen=True)
class TaskChoice:
    """How a target is read.

    Attributes
    ----------
    task : {"classification", "regression"}
        How it is to be predicted.

    reason : str
        Why, as the end of a sentence.

    doubt : str
        What speaks for the other task, as a sentence; "" where nothing does.
    """

    task: Task
    reason: str
    doubt: str = ""


def infer_task(target: NDArray[Any]) -> Task:
    """Read the task off the target.

    Text and truth values are labels; numbers with a fraction are quantities; whole
    numbers are labels when there are at most 20 different ones.
    """
    is_labelled = target.dtype.kind not in "iuf" or holds_few_whole_numbers(target)
    return "classification" if is_labelled else "regression"


def choose_task(target: NDArray[Any]) -> TaskChoice:
    """Read the task off one or several columns, and say why.

    The rule is `infer_task`'s. In doubt are whole numbers that labels do not usually look like, or quantities
    that look like labels: see `_doubt`.
    """
    if target.ndim == 2:
        return _several_outputs(target)
    task = infer_task(target)
    if target.dtype.kind not in "iuf":
        kind = "truth values" if target.dtype.kind == "b" else "text"
        return TaskChoice(task, f"y holds {kind}")
    values, counts = np.unique(target, return_counts=True)
    if np.any(values % 1):
        return TaskChoice(task, "y holds numbers with a fraction")
    more = f", more than {MAX_WHOLE_CATEGORIES}" if task == "regression" else ""
    reason = f"y holds {values.size} different whole numbers{more}"
    doubt = _doubt(values, counts, task)
    if not doubt:
        return TaskChoice(task, reason)
    read = "labels" if task == "classification" else "quantities"
    return TaskChoice(
        task,
        reason,
        f"y holds {values.size} different whole numbers from {values[0]:g} to {values[-1]:g}, {doubt}; they are read "
        f"as {read}.",
    )


def agreed_task(declared: Task | None, wanted: Task | Literal["auto"], owner: str) -> Task | Literal["auto"]:
    """Return the task that a test and whoever uses it declare, or refuse two that differ.

    Parameters
    ----------
    declared : Task or None
        What the parameters of the test imply.

    wanted : Task or "auto"
        What its user says.

    owner : str
        Who the user is, for the message.
    """
    if declared is not None and wanted not in ("auto", declared):
        raise InvalidInputError(
            f"{owner} has task={wanted!r}, but its test or estimator is for {declared}. Leave task out, or use another "
            "estimator."
        )
    return declared or wanted


def _several_outputs(target: NDArray[Any]) -> TaskChoice:
    n_outputs = target.shape[1]
    reason = f"y has {n_outputs} columns"
    if not all(holds_few_whole_numbers(target[:, output]) for output in range(n_outputs)):
        return TaskChoice("regression", reason)
    return TaskChoice(
        "regression",
        reason,
        f"The {n_outputs} columns of y hold few different whole numbers, as labels do; they are read as quantities. "
        "Select for one column at a time if they are labels.",
    )


def _doubt(values: NDArray[Any], counts: NDArray[np.intp], task: Task) -> str:
    """Say why whole numbers may mean something else than they are read as; "" where nothing says so.

    Two numbers are labels, and so are -1, 0 and 1, and numbers from 0 or 1 on without a gap, unless their
    frequencies are those of counts.
    """
    is_gapless = values[0] in _FIRST_LABELS and values[-1] - values[0] == values.size - 1
    if task == "regression":
        may_be_labels = is_gapless and values.size <= _MOST_LABELS and counts.min() >= _ROWS_A_LABEL
        return "without a gap and none of them rare, as labels are" if may_be_labels else ""
    if values.size <= 2:
        return ""
    if not is_gapless:
        return "not numbered from 0 or 1 on without a gap, as labels are"
    if _look_like_counts(counts):
        return "whose frequencies rise to one peak and fall to a thin end, as those of counts do"
    return ""


def _look_like_counts(frequencies: NDArray[np.intp]) -> bool:
    """Tell whether frequencies, in order of the values, rise to one peak and then fall to almost nothing.

    Up to two standard deviations of their difference against the direction are chance.
    """
    if frequencies.size < _FEWEST_COUNTS:
        return False
    peak = int(np.argmax(frequencies))
    rises = np.diff(frequencies).astype(np.float64)
    noise = 2 * np.sqrt(frequencies[1:] + frequencies[:-1])
    rises[:peak] *= -1
    return bool((rises <= noise).all() and frequencies[-1] <= 0.05 * frequencies[peak])
