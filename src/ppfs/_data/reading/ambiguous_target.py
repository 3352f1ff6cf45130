"""A word to the caller where the target may mean something else."""

from __future__ import annotations

from ppfs._conventions import warn_caller
from ppfs._data.table import Table
from ppfs.exceptions import AmbiguousTargetWarning


def warn_if_ambiguous(table: Table, way_out: str) -> None:
    """Warn where the target was read one way and could as well be read the other.

    Parameters
    ----------
    way_out : str
        What decides it, as a sentence.
    """
    doubt = table.task_choice.doubt
    if doubt:
        warn_caller(f"{doubt} {way_out}", AmbiguousTargetWarning)


BY_TASK = 'Say which is meant: task="classification" or task="regression".'
BY_ESTIMATOR = "Say which is meant: pass a classifier or a regressor as estimator."
