"""A word to the caller where the target may mean something else."""

from __future__ import annotations

import warnings

from ppfs._table import Table
from ppfs.exceptions import AmbiguousTargetWarning


def warn_if_ambiguous(table: Table, way_out: str, *, stacklevel: int) -> None:
    """Warn where the target was read one way and could as well be read the other.

    Parameters
    ----------
    way_out : str
        What decides it, as a sentence.

    stacklevel : int
        As for `warnings.warn`, counted from the caller of this function.
    """
    doubt = table.task_choice.doubt
    if doubt:
        warnings.warn(f"{doubt} {way_out}", AmbiguousTargetWarning, stacklevel=stacklevel + 1)


BY_TASK = 'Say which is meant: task="classification" or task="regression".'
BY_ESTIMATOR = "Say which is meant: pass a classifier or a regressor as estimator."
