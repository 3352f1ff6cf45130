"""Which tables are so small that NumPy fits models of single columns sooner than their kernels compile."""

from __future__ import annotations

from ppfs._data import Table
from ppfs.independence._predictive.problem import Problem

# Values of all columns, counted once per score. NumPy takes a tenth of a second longer than the kernels for this many.
_MOST_VALUES = 2**17


def is_small(table: Table, problem: Problem) -> bool:
    """Return whether models of single columns are fitted in NumPy: what does not compile starts at once.

    This depends on the table alone, so that the last bits of an answer do not depend on blocks, workers or what was
    compiled before.
    """
    n_rows, n_columns = table.storage.shape
    return n_rows * n_columns * max(1, problem.classes.size - 1) <= _MOST_VALUES
