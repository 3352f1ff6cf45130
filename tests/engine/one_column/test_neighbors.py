"""Full trees by neighbors: the same risks as from leaves, on columns that are hard for a walk."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from reference import single_column_tree

from engine.problems import (
    CLASS_LOSSES,
    COLUMN_KINDS,
    NUMBER_LOSSES,
    draw_folds,
    draw_splits,
    problems,
    single_column_risks,
    single_column_row_losses,
)
from ppfs._engine import (
    SortedColumns,
    Splits,
    TreeRules,
)
from ppfs._engine.inputs.bit_sets import first_bit, make_planes, sets_of_rows, unpacked
from ppfs._engine.one_column.neighbors import DISTINCT, ENTANGLED, TIED, make_line, mark_groups

LOSSES = [(2, loss) for loss in CLASS_LOSSES] + [(4, "log-loss")] + [(0, loss) for loss in NUMBER_LOSSES]


def _rules(n_classes, loss):
    return TreeRules("gini" if n_classes else "squared_error", loss=loss)


def _target(rng, n_rows, n_classes):
    return rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows)


@pytest.fixture
def from_leaves(monkeypatch):
    """Turn an engine function into one that builds leaves."""

    def forced(function, *arguments, **keywords):
        with monkeypatch.context() as patch:
            patch.setattr("ppfs._engine.one_column.prepared_columns.make_neighbors", lambda *_: None)
            return function(*arguments, **keywords)

    return forced


@pytest.mark.parametrize(("n_classes", "loss"), LOSSES)
@pytest.mark.parametrize("n_splits", [1, 64, 130])
def test_any_number_of_splits_has_the_risks_of_leaves(n_classes, loss, n_splits, from_leaves):
    rng = np.random.default_rng(0)
    X = np.column_stack([kind(rng, 40) for kind in COLUMN_KINDS])
    arguments = (
        SortedColumns.from_dense(X),
        _target(rng, 40, n_classes),
        n_classes,
        draw_splits(rng, 40, n_splits),
        _rules(n_classes, loss),
    )
    found, expected = (
        single_column_risks(*arguments),
        from_leaves(single_column_risks, *arguments),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(problems(max_columns=4), st.booleans())
def test_class_weights_and_groups_have_the_risks_of_leaves(problem, is_weighted):
    problem = replace(problem, rules=TreeRules(problem.rules.criterion, loss=problem.rules.loss))
    weights = np.linspace(0.5, 3.0, problem.n_classes) if is_weighted and problem.n_classes else None
    columns = SortedColumns.from_dense(problem.X)
    found = single_column_risks(columns, *problem.arguments, class_weights=weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ppfs._engine.one_column.prepared_columns.make_neighbors", lambda *_: None)
        expected = single_column_risks(columns, *problem.arguments, class_weights=weights)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("n_classes", "loss"), LOSSES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_rows_of_any_column_have_the_losses_of_leaves(n_classes, loss, is_weighted, from_leaves):
    rng = np.random.default_rng(1)
    X = np.column_stack([kind(rng, 60) for kind in COLUMN_KINDS * 3])
    splits = draw_folds(rng, 60, 4)
    draws = [np.array([rng.permutation(test.size) for _ in range(7)]) for test in splits.test]
    weights = np.linspace(0.5, 2.0, n_classes) if n_classes and is_weighted else None
    arguments = SortedColumns.from_dense(X), _target(rng, 60, n_classes), n_classes, splits
    arguments = *arguments, _rules(n_classes, loss), draws
    found = single_column_row_losses(*arguments, class_weights=weights)
    expected = from_leaves(single_column_row_losses, *arguments, class_weights=weights)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_an_unused_row_is_not_met_and_a_tie_of_distances_goes_left():
    """The test value 2 lies at the midpoint of 1 and 3; row 1.5 belongs to neither part."""
    columns = SortedColumns.from_dense([[1.0], [3.0], [2.0], [1.5]])
    splits = Splits.from_sequences([[0, 1]], [[2]], [[0]])
    rules = TreeRules("squared_error", loss="absolute")
    base, _ = single_column_risks(columns, [10.0, 20.0, 0.0, 99.0], 0, splits, rules)
    assert base.tolist() == [[10.0]]


@pytest.mark.parametrize("n_classes", [16, 17])
def test_many_classes_have_the_risks_of_the_slow_twin(n_classes):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 6, 50)])
    y = rng.integers(0, n_classes, 50)
    splits = draw_splits(rng, 50, 2)
    found = single_column_risks(SortedColumns.from_dense(X), y, n_classes, splits, TreeRules())
    expected = single_column_tree.single_column_risks(X, y, n_classes, splits, TreeRules())
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1.0, 2.0], DISTINCT),
        ([0.0, 1.0, 1.0], TIED),
        ([0.0, 1e-8, 1.0], TIED),
        # A chain of near ties that spans more than scikit-learn's tolerance: its groups depend on the train part.
        ([0.0, 0.8e-7, 1.6e-7], ENTANGLED),
        ([0.0, 0.9e-7, 2.0e-7], TIED),
    ],
)
def test_near_ties_are_told_apart_or_given_up(values, expected):
    values = np.array(values, dtype=np.float32)
    line = make_line(values.size)
    assert _mark(values, line) == expected


@njit
def _mark(values, line):
    return mark_groups(0, values.size, values, line)


def test_sets_of_rows_and_their_bits():
    members = [np.array([0, 2])] * 64 + [np.array([1])]
    words = sets_of_rows(members, 3)
    assert words.shape == (2, 3)
    np.testing.assert_array_equal(unpacked(words, 65)[[0, 63, 64]], [[1, 0, 1], [1, 0, 1], [0, 1, 0]])
    assert make_planes(2, 7).shape == (2, 4)
    assert callable(first_bit)
