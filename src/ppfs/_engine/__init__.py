"""Compiled models: trees, boosting and linear models of columns, and contingency tables.

The rest of ppfs writes ``from ppfs import _engine`` and uses the names below as attributes. A name's module is imported
when the name is first used, because the compiler of the kernels, Numba, takes about half a second to import. The engine
imports nothing from the rest of ppfs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppfs._engine.boosting.binned_columns import bin_columns
    from ppfs._engine.boosting.column_models import boosted_column_losses
    from ppfs._engine.boosting.linear_start import LinearStart, boosted_linear_rules, fit_linear, fit_lines
    from ppfs._engine.boosting.models import BoostedModels, grow_models
    from ppfs._engine.boosting.problem import BoostingProblem, prepare_boosting
    from ppfs._engine.boosting.rules import BOOSTING_LOSSES, BoostingRules
    from ppfs._engine.boosting.scores import Outcome
    from ppfs._engine.boosting.stumps import boost_stumps
    from ppfs._engine.cuda.device import Device, cuda_device, cuda_devices, device_in_turn, missing_for_cuda
    from ppfs._engine.cuda.draws import DeviceDraws
    from ppfs._engine.cuda.growth import column_risks_on, rank_sums_on, row_losses_on
    from ppfs._engine.cuda.panel import (
        DevicePairs,
        DevicePanel,
        boosted_scores,
        columns_on,
        is_boosted_on_device,
        line_scores,
        spline_scores,
    )
    from ppfs._engine.cuda.trees import DeviceTrees
    from ppfs._engine.inputs.permutations import outputs_by_source, random_permutations
    from ppfs._engine.inputs.sorted_columns import SortedColumns, fits_float32
    from ppfs._engine.inputs.splits import Splits
    from ppfs._engine.jit.compile_time import before_compiling, compile_seconds
    from ppfs._engine.jit.threads import run_tasks
    from ppfs._engine.linear.cox import RiskSets, fit_cox
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
    from ppfs._engine.linear.small_logistic import small_logistic_columns
    from ppfs._engine.linear.sparse_logistic import sparse_logistic_columns
    from ppfs._engine.linear.spline_bases import spline_values
    from ppfs._engine.many_columns.few_columns import few_column_risks, is_sooner_grown
    from ppfs._engine.many_columns.forest_nodes import MOST_TREES
    from ppfs._engine.many_columns.forest_per_split import ForestPerSplit, grow_forest_per_split
    from ppfs._engine.many_columns.scored_forest import ForestRules
    from ppfs._engine.many_columns.tree_per_split import TreePerSplit, grow_tree_per_split
    from ppfs._engine.one_column.bags import MOST_DRAWN
    from ppfs._engine.one_column.forest_risks import (
        PreparedForest,
        prepare_forest,
        prepared_forest_risks,
        prepared_forest_row_losses,
        with_permutations,
    )
    from ppfs._engine.one_column.prepared_columns import PreparedColumns, prepare_columns
    from ppfs._engine.one_column.tree_risks import prepared_column_risks
    from ppfs._engine.one_column.tree_rows import make_draws, prepared_column_row_losses
    from ppfs._engine.one_column.weighted_trees import order_columns, tree_predictions
    from ppfs._engine.tables.counting import count_cells, likelihood_ratios, rank_levels
    from ppfs._engine.tables.pair_scores import score_pairs, whole_k_log_k
    from ppfs._engine.tables.signed_ranks import SignedRanks, signed_ranks
    from ppfs._engine.trees.row_losses import DrawnRows
    from ppfs._engine.trees.rules import (
        CLASS_CRITERIA,
        LOSSES,
        NUMBER_CRITERIA,
        TIE,
        TreeRules,
        is_exhaustive,
    )

#: The module of every public name.
_MODULES = {
    "boosting.binned_columns": ("bin_columns",),
    "boosting.linear_start": ("LinearStart", "boosted_linear_rules", "fit_linear", "fit_lines"),
    "boosting.models": ("BoostedModels", "grow_models"),
    "boosting.column_models": ("boosted_column_losses",),
    "boosting.problem": ("BoostingProblem", "prepare_boosting"),
    "boosting.rules": ("BOOSTING_LOSSES", "BoostingRules"),
    "boosting.scores": ("Outcome",),
    "boosting.stumps": ("boost_stumps",),
    "cuda.device": ("Device", "cuda_device", "cuda_devices", "device_in_turn", "missing_for_cuda"),
    "cuda.draws": ("DeviceDraws",),
    "cuda.growth": ("column_risks_on", "rank_sums_on", "row_losses_on"),
    "cuda.panel": (
        "DevicePairs",
        "DevicePanel",
        "boosted_scores",
        "columns_on",
        "is_boosted_on_device",
        "line_scores",
        "spline_scores",
    ),
    "cuda.trees": ("DeviceTrees",),
    "inputs.permutations": ("outputs_by_source", "random_permutations"),
    "inputs.sorted_columns": ("SortedColumns", "fits_float32"),
    "inputs.splits": ("Splits",),
    "jit.compile_time": ("before_compiling", "compile_seconds"),
    "jit.threads": ("run_tasks",),
    "linear.cox": ("RiskSets", "fit_cox"),
    "linear.extensions": ("add_directions", "fit_extensions"),
    "linear.least_squares": (
        "independent_rows",
        "line_columns",
        "products",
        "ridge_columns",
        "row_products",
        "solve_elastic_net",
        "solve_ridge",
        "solve_symmetric",
    ),
    "linear.logistic": ("Likelihood", "fit_scores", "logistic_columns"),
    "linear.small_logistic": ("small_logistic_columns",),
    "linear.sparse_logistic": ("sparse_logistic_columns",),
    "linear.spline_bases": ("spline_values",),
    "many_columns.few_columns": ("few_column_risks", "is_sooner_grown"),
    "many_columns.forest_nodes": ("MOST_TREES",),
    "many_columns.forest_per_split": ("ForestPerSplit", "grow_forest_per_split"),
    "many_columns.scored_forest": ("ForestRules",),
    "many_columns.tree_per_split": ("TreePerSplit", "grow_tree_per_split"),
    "one_column.bags": ("MOST_DRAWN",),
    "one_column.forest_risks": (
        "PreparedForest",
        "prepare_forest",
        "prepared_forest_risks",
        "prepared_forest_row_losses",
        "with_permutations",
    ),
    "one_column.prepared_columns": ("PreparedColumns", "prepare_columns"),
    "one_column.tree_risks": ("prepared_column_risks",),
    "one_column.tree_rows": ("make_draws", "prepared_column_row_losses"),
    "one_column.weighted_trees": ("order_columns", "tree_predictions"),
    "tables.counting": ("count_cells", "likelihood_ratios", "rank_levels"),
    "tables.pair_scores": ("score_pairs", "whole_k_log_k"),
    "tables.signed_ranks": ("SignedRanks", "signed_ranks"),
    "trees.row_losses": ("DrawnRows",),
    "trees.rules": ("CLASS_CRITERIA", "LOSSES", "NUMBER_CRITERIA", "TIE", "TreeRules", "is_exhaustive"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value  # Later uses find it without this function.
    return value
