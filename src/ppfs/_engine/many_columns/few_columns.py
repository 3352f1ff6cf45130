"""Trees on few single columns, without the kernels that are made for many.

A process without a cache compiles what it uses. The kernels of single columns take about two seconds, and the trees of
a small table a fraction of that, in the builder of trees that the shrink phase compiles anyway.
"""

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.jit.disk_cache import is_compiled
from ppfs._engine.jit.kernels import Float64s
from ppfs._engine.many_columns.tree_per_split import grow_tree_per_split
from ppfs._engine.one_column.neighbor_risks import class_risks
from ppfs._engine.trees.rules import TreeRules

# The train rows of all trees that a process grows in this way: about a third of a second.
_MOST_ROWS = 1_000_000
_n_rows_grown = [0]


def is_sooner_grown(n_rows: int) -> bool:
    """Return whether trees with this many train rows in all are grown before the kernels of single columns compile."""
    return _n_rows_grown[0] + n_rows <= _MOST_ROWS and not is_compiled(class_risks)


def few_column_risks(
    columns: SortedColumns,
    y: npt.ArrayLike,
    n_classes: int,
    splits: Splits,
    rules: TreeRules,
    class_weights: npt.ArrayLike | None = None,
) -> tuple[Float64s, Float64s]:
    """Test risks of the tree on each single column: those of `prepared_column_risks`, bit for bit.

    Sums of numbers would be rounded in another order, so the target has to be classes.
    """
    base = np.empty((columns.n_columns, splits.n_splits))
    permuted = np.empty_like(base)
    for column in range(columns.n_columns):
        alone = columns.take(np.array([column]))
        trees = grow_tree_per_split(alone, y, n_classes, splits, rules, class_weights=class_weights)
        base[column], permuted[column] = trees.base_risk, trees.permuted_risk([0])[0]
    _n_rows_grown[0] += columns.n_columns * sum(train.size for train in splits.train)
    return base, permuted
