"""Least squares of the engine against what one solves on paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import least_squares as twin

from ppfs._engine import (
    fit_linear,
    independent_rows,
    products,
    ridge_columns,
    row_products,
    solve_elastic_net,
    solve_ridge,
    solve_symmetric,
)
from ppfs._engine.boosting.rules import Kind


def data(seed, n_rows, n_regressors):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_regressors)), rng.normal(size=n_rows)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(8, 40),
    n_regressors=st.integers(1, 6),
    penalty=st.sampled_from([0.0, 0.5, 30.0]),
)
def test_ridge_equals_its_slow_twin(seed, n_rows, n_regressors, penalty):
    X, y = data(seed, n_rows, n_regressors)
    design = np.ascontiguousarray(X.T)
    solution = np.empty(n_regressors)
    assert solve_ridge(design, products(design), y, penalty, solution)
    np.testing.assert_allclose(solution, twin.ridge(X, y, penalty), rtol=1e-8, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(8, 40),
    n_regressors=st.integers(1, 12),
    squares=st.sampled_from([0.0, 3.0]),
    sizes=st.sampled_from([0.5, 5.0, 1000.0]),
)
def test_elastic_net_is_at_its_optimum_as_its_slow_twin_says(seed, n_rows, n_regressors, squares, sizes):
    X, y = data(seed, n_rows, n_regressors)
    solution = np.empty(n_regressors)
    assert solve_elastic_net(X.T @ X, X.T @ y, squares, sizes, False, solution)
    assert twin.violation(X, y, solution, squares, sizes) < 1e-7


def test_regressors_that_depend_on_each_other_are_not_solved():
    X, y = data(0, 20, 3)
    design = np.ascontiguousarray(np.column_stack([X, X[:, 0] - X[:, 1]]).T)
    assert not solve_ridge(design, products(design), y, 0.0, np.empty(4))
    assert solve_ridge(design, products(design), y, 1.0, np.empty(4))


def test_products_of_some_regressors_are_those_of_more_to_the_last_bit():
    X, _ = data(1, 37, 6)
    design = np.ascontiguousarray(X.T)
    some = [0, 2, 5]
    np.testing.assert_array_equal(
        products(np.ascontiguousarray(design[some])), products(design)[np.ix_(some, some)]
    )


@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_weighted_columns_equal_their_slow_twin_with_a_constant_regressor(penalty):
    rng = np.random.default_rng(2)
    block = rng.normal(size=(3, 25, 2)) + 5.0
    block[1] = 1.0
    weights, y = rng.uniform(0.5, 2.0, 25), rng.normal(size=25)
    slopes, intercepts, is_solved = ridge_columns(block, weights, y, penalty, True)
    assert is_solved.all()
    for column in range(2):
        X = block[[0, 2], :, column].T
        centre, y_centre = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
        roots = np.sqrt(weights)
        expected = twin.ridge(roots[:, None] * (X - centre), roots * (y - y_centre), penalty)
        np.testing.assert_allclose(slopes[column, [0, 2]], expected, rtol=1e-9)
        assert slopes[column, 1] == 0.0
        assert intercepts[column] == pytest.approx(y_centre - expected @ centre)


def test_rows_are_expressed_by_independent_ones():
    X, _ = data(3, 6, 20)
    X = np.vstack([X, X[:2] * 2.0])
    gram = row_products(np.ascontiguousarray(X.T))
    np.testing.assert_allclose(gram, X @ X.T)
    factor, pivots = independent_rows(gram, 1e-12)
    assert len(factor) == len(pivots) == 6
    np.testing.assert_allclose(factor.T @ factor, gram, atol=1e-9)
    assert not np.tril(factor[:, pivots], -1).any()


def test_symmetric_equations_are_solved_or_refused():
    X, y = data(4, 5, 5)
    solution = np.empty(5)
    assert solve_symmetric(X @ X.T, y, 0.1, solution)
    np.testing.assert_allclose((X @ X.T + 0.1 * np.eye(5)) @ solution, y, atol=1e-9)
    assert not solve_symmetric(np.ones((5, 5)), y, 0.0, solution)


def test_a_start_from_copies_without_a_penalty_is_the_shortest_line():
    """Nothing can be solved there, and the slopes of copies are shared out evenly."""
    X, y = data(7, 30, 2)
    copies = X[:, [0, 1, 0]]
    start = fit_linear(copies, y, int(Kind.NUMBERS), 1, 0.0)
    Z = (copies - copies.mean(axis=0)) / copies.std(axis=0)
    shortest = np.linalg.lstsq(Z, y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(start.slopes[0], shortest / copies.std(axis=0), atol=1e-9)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_rows_are_independent_if_enough_of_the_largest_is_left(unit):
    factor, pivots = independent_rows(unit * np.diag([0.41, 4.0, 0.39]), 0.1)
    assert pivots.tolist() == [1, 0]
    np.testing.assert_allclose(factor, np.sqrt(unit * np.array([[0, 4.0, 0], [0.41, 0, 0]])), rtol=1e-12)
