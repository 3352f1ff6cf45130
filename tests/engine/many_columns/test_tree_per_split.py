import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from engine.grown_trees import tree_of
from engine.problems import draw_splits, problems, single_column_risks
from ppfs._engine import SortedColumns, TreeRules, grow_tree_per_split


def _assert_same_forests(forest, other, numbers):
    """``other`` has the columns ``numbers`` of ``forest``, renumbered."""
    names = np.append(numbers, -1)
    for split in range(len(forest.base_risk)):
        mine, theirs = tree_of(forest, split), tree_of(other, split)
        np.testing.assert_array_equal(mine.feature, names[theirs.feature])
        for field in ("threshold", "left", "right", "n_samples", "value"):
            np.testing.assert_array_equal(getattr(mine, field), getattr(theirs, field))
    np.testing.assert_array_equal(forest.base_risk, other.base_risk)
    np.testing.assert_array_equal(forest.used[:, numbers], other.used)
    mine, theirs = forest.permuted_risk(numbers), other.permuted_risk(range(len(numbers)))
    np.testing.assert_array_equal(mine, theirs)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(problems(max_columns=6))
def test_removing_columns_equals_growing_without_them(problem):
    forest = grow_tree_per_split(problem.columns, *problem.arguments)
    remaining = list(range(problem.X.shape[1]))
    order = np.random.default_rng(0).permutation(len(remaining))
    for column in order[:-1].tolist():
        n_stale = int(forest.used[:, column].sum())
        n_fits = forest.n_fits
        forest, n_refits = forest.without(column)
        remaining.remove(column)
        assert n_refits == n_stale
        assert forest.n_fits == n_fits + n_refits
        assert not forest.used[:, column].any()
        assert np.flatnonzero(forest.active).tolist() == remaining
        fresh = grow_tree_per_split(problem.columns.take(remaining), *problem.arguments)
        _assert_same_forests(forest, fresh, np.array(remaining))


@settings(derandomize=True, deadline=None, max_examples=30)
@given(problems(max_columns=6))
def test_a_sequence_of_removals_equals_one_removal_at_a_time(problem):
    forest = grow_tree_per_split(problem.columns, *problem.arguments)
    order = np.random.default_rng(1).permutation(problem.X.shape[1]).tolist()
    step_by_step = forest
    every = np.arange(problem.X.shape[1])
    for column, (ahead, n_ahead) in zip(order, forest.without_each(order), strict=True):
        step_by_step, n_refits = step_by_step.without(column)
        assert n_ahead == n_refits
        assert ahead.n_fits == step_by_step.n_fits
        np.testing.assert_array_equal(ahead.active, step_by_step.active)
        _assert_same_forests(ahead, step_by_step, every)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(problems(max_columns=1))
def test_risks_of_one_column_equal_the_single_column_kernel(problem):
    columns = problem.columns
    forest = grow_tree_per_split(columns, *problem.arguments)
    base, permuted = single_column_risks(columns, *problem.arguments)
    np.testing.assert_allclose(forest.base_risk, base[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(forest.permuted_risk([0]), permuted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("limit", ["_MOST_LOSSES_AHEAD", "_MOST_PLACES"])
def test_risks_do_not_depend_on_how_many_are_computed_at_once(forest, monkeypatch, limit):
    at_once = forest.permuted_risk(range(8))
    monkeypatch.setattr(f"ppfs._engine.many_columns.scored_tree.{limit}", 0)
    one_by_one = forest.without(2)[0].permuted_risk(range(8))
    monkeypatch.undo()
    np.testing.assert_array_equal(one_by_one, forest.without(2)[0].permuted_risk(range(8)))
    assert not np.array_equal(one_by_one, at_once)


@pytest.fixture
def forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = (X[:, 2] + 0.3 * rng.normal(size=60) > 0).astype(int)
    return grow_tree_per_split(
        SortedColumns.from_dense(X), y, 2, draw_splits(rng, 60, 4), TreeRules(max_depth=3)
    )


def test_unused_columns_have_exactly_the_base_risk(forest):
    permuted = forest.permuted_risk(np.arange(8))
    unused = ~forest.used.T
    assert unused.any()
    np.testing.assert_array_equal(permuted[unused], np.tile(forest.base_risk, (8, 1))[unused])


def test_risks_do_not_depend_on_the_question_they_were_asked_in(forest):
    together = forest.permuted_risk(np.arange(8))
    for column in range(8):
        np.testing.assert_array_equal(forest.permuted_risk([column])[0], together[column])


def test_a_forest_does_not_change_when_a_column_is_removed(forest):
    trees = [tree_of(forest, split).feature.copy() for split in range(4)]
    smaller, n_refits = forest.without(2)
    assert n_refits == forest.used[:, 2].sum() > 0
    assert not smaller.active[2]
    assert forest.active.all()
    for split in range(4):
        np.testing.assert_array_equal(tree_of(forest, split).feature, trees[split])


def test_an_unused_column_goes_without_a_fit(forest):
    unused = int(np.flatnonzero(~forest.used.any(axis=0))[0])
    smaller, n_refits = forest.without(unused)
    assert n_refits == 0
    assert smaller.n_fits == forest.n_fits == 4


def test_a_forest_can_lose_all_its_columns(forest):
    for column in range(8):
        forest, _ = forest.without(column)
    assert not forest.used.any()
    assert [tree_of(forest, split).feature.tolist() for split in range(4)] == [[-1]] * 4


@pytest.mark.data
def test_sparse_columns_of_real_data_shrink_to_the_same_trees():
    """Dexter's first 2000 columns, of which few are used: removals copy trees, and still equal a fresh growth."""
    from scipy import sparse

    folder = Path(os.environ["PPFS_DATA"])
    columns = SortedColumns.from_sparse(sparse.load_npz(folder / "dexter_X.npz").tocsc()[:, :2000])
    y = (np.load(folder / "dexter_y.npz")["y"] > 0).astype(int)
    arguments = y, 2, draw_splits(np.random.default_rng(1), len(y), 3), TreeRules()
    forest = grow_tree_per_split(columns, *arguments)
    removed = np.flatnonzero(forest.used.any(axis=0))[::2]
    for column in removed.tolist():
        forest, _ = forest.without(column)
    remaining = np.setdiff1d(np.arange(2000), removed)
    _assert_same_forests(forest, grow_tree_per_split(columns.take(remaining), *arguments), remaining)
