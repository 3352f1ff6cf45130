"""Models at kernel speed: trees, boosting and linear models of columns, and contingency tables.

Importing this package loads Numba, which takes about half a second: the rest of ppfs imports it only
when a fit can use it. It imports nothing from the rest of ppfs.
"""

from ppfs._engine.boosting.binned_columns import BinnedColumns, bin_columns
from ppfs._engine.boosting.linear_start import (
    LinearStart,
    boosted_linear_rules,
    fit_linear,
    fit_lines,
    fit_starts,
)
from ppfs._engine.boosting.models import BoostedModels, Starts, grow_models
from ppfs._engine.boosting.one_column import boosted_column_losses
from ppfs._engine.boosting.problem import BoostingProblem, prepare_boosting
from ppfs._engine.boosting.rules import BoostingRules
from ppfs._engine.boosting.scores import Outcome
from ppfs._engine.inputs.sorted_columns import SortedColumns, fits_float32
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.jit.threads import run_tasks
from ppfs._engine.linear.extensions import add_directions, fit_extensions
from ppfs._engine.linear.least_squares import (
    independent_rows,
    line_columns,
    products,
    ridge_columns,
    row_products,
    solve_elastic_net,
    solve_ridge,
    solve_symmetric,
)
from ppfs._engine.linear.logistic import Likelihood, fit_scores, logistic_columns
from ppfs._engine.linear.sparse_logistic import sparse_logistic_columns
from ppfs._engine.linear.spline_bases import spline_values
from ppfs._engine.many_columns.forest_nodes import MOST_TREES
from ppfs._engine.many_columns.forests import BaggedForest, ForestRules, grow_bagged_forest
from ppfs._engine.many_columns.single_trees import Forest, Tree, grow_forest
from ppfs._engine.one_column.bags import MOST_DRAWN
from ppfs._engine.one_column.forests import (
    PreparedForest,
    prepare_forest,
    prepared_forest_risks,
    prepared_forest_row_losses,
    with_permutations,
)
from ppfs._engine.one_column.shared_plan import PreparedColumns, prepare_columns
from ppfs._engine.one_column.tree_risks import prepared_column_risks, single_column_risks
from ppfs._engine.one_column.tree_rows import (
    make_draws,
    prepared_column_row_losses,
    single_column_row_losses,
)
from ppfs._engine.one_column.weighted_trees import order_columns, tree_predictions
from ppfs._engine.tables.counting import count_cells, likelihood_ratios, rank_levels
from ppfs._engine.tables.pair_scores import N_QUARTERS, score_pairs, whole_k_log_k
from ppfs._engine.trees.row_losses import DrawnRows
from ppfs._engine.trees.rules import CLASS_CRITERIA, LOSSES, NUMBER_CRITERIA, TreeRules

__all__ = [
    "CLASS_CRITERIA",
    "LOSSES",
    "MOST_DRAWN",
    "MOST_TREES",
    "NUMBER_CRITERIA",
    "N_QUARTERS",
    "BaggedForest",
    "BinnedColumns",
    "BoostedModels",
    "BoostingProblem",
    "BoostingRules",
    "DrawnRows",
    "Forest",
    "ForestRules",
    "Likelihood",
    "LinearStart",
    "Outcome",
    "PreparedColumns",
    "PreparedForest",
    "SortedColumns",
    "Splits",
    "Starts",
    "Tree",
    "TreeRules",
    "add_directions",
    "bin_columns",
    "boosted_column_losses",
    "boosted_linear_rules",
    "count_cells",
    "fit_columns",
    "fit_extensions",
    "fit_linear",
    "fit_lines",
    "fit_scores",
    "fit_starts",
    "fits_float32",
    "grow_bagged_forest",
    "grow_forest",
    "grow_models",
    "independent_rows",
    "likelihood_ratios",
    "line_columns",
    "logistic_columns",
    "make_draws",
    "order_columns",
    "prepare_boosting",
    "prepare_columns",
    "prepare_forest",
    "prepared_column_risks",
    "prepared_column_row_losses",
    "prepared_forest_risks",
    "prepared_forest_row_losses",
    "products",
    "rank_levels",
    "ridge_columns",
    "row_products",
    "run_tasks",
    "score_pairs",
    "single_column_risks",
    "single_column_row_losses",
    "solve_elastic_net",
    "solve_ridge",
    "solve_symmetric",
    "sparse_logistic_columns",
    "spline_values",
    "tree_predictions",
    "whole_k_log_k",
    "with_permutations",
]
