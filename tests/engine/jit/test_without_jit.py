"""The kernels are plain Python too: a part of the suite runs with Numba's compiler switched off."""

import os
import subprocess
import sys
from pathlib import Path

ENGINE_TESTS = Path(__file__).parents[1]


def test_kernels_pass_without_the_compiler():
    chosen = (
        "slow_twin or missing_from or tiny_scale or exactly_equal or single_column_kernel or lose_all or room "
        "or never_tested or weighted_mean or constant_column or to_the_kernel or express "
        "or copies_without or many_rows or class_without or any_scale or one_class_cut or small_sparse "
        "or near_ties or unused_row or several_trees"
    )
    # Without the compiler these run the lines of the others, and take longest.
    chosen = f"({chosen}) and not (more_room or gamma or False-3 or 0.0-False or 0.2-False)"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen]
    files = [
        "one_column/test_tree_risks.py",
        "many_columns/test_cart.py",
        "many_columns/test_tree_per_split.py",
        "one_column/test_forest_risks.py",
        "trees/test_row_losses.py",
        "trees/test_class_weights.py",
        "boosting/test_column_models.py",
        "boosting/test_models.py",
        "linear/test_logistic.py",
        "linear/test_least_squares.py",
        "tables/test_counting.py",
        "linear/test_extensions.py",
        "one_column/test_neighbors.py",
        "many_columns/test_forest_per_split.py",
        "linear/test_sparse_logistic.py",
        "one_column/test_weighted_trees.py",
        "many_columns/test_weighted_trees.py",
    ]
    finished = subprocess.run(
        command + [str(ENGINE_TESTS / name) for name in files],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-4000:]
    assert " passed" in finished.stdout
