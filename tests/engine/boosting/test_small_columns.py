"""Boosting on the single columns of small tables: the kernels' losses, in NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.boosting import TwinBoosting

from engine.boosting_problems import make_problem, row_losses
from ppfs._conventions.sklearn_compat import method_of_bins
from ppfs._engine import boosted_column_losses
from ppfs._engine.boosting.small_columns import small_column_losses

PLAIN = {"max_iter": 3, "max_leaf_nodes": None, "max_depth": 2, "min_samples_leaf": 3}


def constant_lines(prepared, n_columns):
    lines = np.zeros((n_columns, prepared.n_splits, prepared.n_trees, 3))
    lines[..., 0] = prepared.baseline
    return lines


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("has_lines", [False, True])
@settings(derandomize=True, deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.sampled_from([12, 45, 90, 330]),
    is_weighted=st.booleans(),
    parameters=st.fixed_dictionaries(
        {
            "learning_rate": st.sampled_from([0.1, 0.5, 30.0]),
            "max_iter": st.integers(1, 9),
            "max_depth": st.integers(1, 3),
            "min_samples_leaf": st.sampled_from([1, 5, 20]),
            "l2_regularization": st.sampled_from([0.0, 1.5]),
            "max_bins": st.sampled_from([2, 16, 255]),
        }
    ),
)
def test_losses_are_those_of_the_kernels_bit_for_bit(
    seed, n_rows, n_classes, has_lines, is_weighted, parameters
):
    problem = make_problem(seed, n_rows, n_classes, max_leaf_nodes=None, **parameters)
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, n_rows) if is_weighted else None
    for loss in problem.losses:
        prepared = problem.prepared(loss, is_by_row=True, weights=weights)
        lines = rng.normal(scale=rng.choice([0.1, 1.0, 200.0]), size=(3, prepared.n_splits, 1, 3))
        if not has_lines:
            lines = constant_lines(prepared, 3)
        kernels, ours = (
            boosted_column_losses(problem.X, prepared, lines),
            small_column_losses(problem.X, prepared, lines),
        )
        np.testing.assert_array_equal(ours.base, kernels.base)
        np.testing.assert_array_equal(ours.replaced, kernels.replaced)
        np.testing.assert_allclose(ours.by_draw, kernels.by_draw, rtol=1e-14)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_they_are_those_of_the_slow_twin(n_classes):
    problem = make_problem(1, 40, n_classes, n_folds=2, **PLAIN)
    for loss in problem.losses:
        ours = boosted_column_losses(problem.X, problem.prepared(loss, is_by_row=True), is_small=True)
        for column in range(3):
            expected = []
            for train, test in zip(problem.train, problem.test, strict=True):
                twin = TwinBoosting(n_classes, quantiles=method_of_bins(), **problem.parameters)
                twin.fit(problem.X[train][:, [column]], problem.y[train])
                predicted = twin.predict(problem.X[test][:, [column]])
                expected.append(row_losses(loss, problem.y[test], predicted))
            np.testing.assert_allclose(ours.base[column], np.concatenate(expected), atol=1e-7)


def test_a_train_part_of_one_class_is_certain():
    problem = make_problem(5, 60, 2, **PLAIN)
    problem.y[problem.train[0]] = 1
    for loss in problem.losses:
        prepared = problem.prepared(loss, is_by_row=True)
        kernels, ours = (
            boosted_column_losses(problem.X, prepared, is_small=is_small) for is_small in (False, True)
        )
        np.testing.assert_array_equal(ours.base, kernels.base)


def test_a_column_does_not_depend_on_its_neighbors():
    problem = make_problem(2, 60, 2, **PLAIN)
    prepared = problem.prepared("log-loss", is_by_row=True)
    whole = boosted_column_losses(problem.X, prepared, is_small=True)
    for column in range(3):
        alone = boosted_column_losses(problem.X[:, [column]], prepared, is_small=True)
        np.testing.assert_array_equal(alone.replaced[0], whole.replaced[column])


@pytest.mark.parametrize(
    "change",
    [
        {"n_classes": 3},
        {"max_depth": 4},
        {"max_leaf_nodes": 5},
        {"missing": 0.1},
        {"is_weighted": True},
        {"n_classes": 0, "reduces": "poisson"},
    ],
)
def test_other_problems_are_left_to_the_kernels(change):
    parts = {"n_classes": 2, **PLAIN, **change}
    problem = make_problem(3, 60, **parts)
    prepared = problem.prepared(problem.losses[0], is_by_row=True)
    assert small_column_losses(problem.X, prepared, constant_lines(prepared, 3)) is None
    ours, kernels = (
        boosted_column_losses(problem.X, prepared, is_small=is_small) for is_small in (True, False)
    )
    np.testing.assert_array_equal(ours.base, kernels.base)


def test_so_are_losses_that_are_not_asked_for_by_row():
    problem = replace(make_problem(3, 60, 2, **PLAIN))
    prepared = problem.prepared("log-loss")
    assert small_column_losses(problem.X, prepared, constant_lines(prepared, 3)) is None
