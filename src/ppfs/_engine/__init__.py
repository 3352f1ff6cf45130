"""Exact decision trees at kernel speed: the growth and shrink phases on sorted columns.

Importing this package loads Numba, which takes about half a second: the rest of ppfs imports it only
when a fit can use it. It imports nothing from the rest of ppfs.
"""

from ppfs._engine.columns import SortedColumns, fits_float32
from ppfs._engine.forest import Forest, Tree, grow_forest
from ppfs._engine.rules import TreeRules
from ppfs._engine.single_column import single_column_risks
from ppfs._engine.single_column_rows import single_column_row_losses
from ppfs._engine.splits import Splits

__all__ = [
    "Forest",
    "SortedColumns",
    "Splits",
    "Tree",
    "TreeRules",
    "fits_float32",
    "grow_forest",
    "single_column_risks",
    "single_column_row_losses",
]
