"""A warning about a target that may belong to the other task."""

from __future__ import annotations

from ppfs._conventions import warn_caller
from ppfs._data.table import Table
from ppfs.exceptions import AmbiguousTargetWarning


def warn_if_ambiguous(table: Table, way_out: str) -> None:
    """Warn if the target may belong to the other task.

    Parameters
    ----------
    way_out : str
        How to decide it, as a sentence.
    """
    doubt = table.task_choice.doubt
    if doubt:
        warn_caller(f"{doubt} {way_out}", AmbiguousTargetWarning)


BY_TASK = 'Say which is meant: task="classification" or task="regression".'
BY_ESTIMATOR = "Say which is meant: pass a classifier or a regressor as estimator."
