"""Partial correlations against SciPy and least squares."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import FisherZ, PartialCorrelationT

both = pytest.mark.parametrize("test", [FisherZ(), PartialCorrelationT()], ids=repr)


def partial_correlation(x, y, given):
    """Correlate the residuals of two regressions: the definition."""
    design = np.column_stack([np.ones(len(x)), *given])
    residuals = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y)]
    return stats.pearsonr(*residuals).statistic


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 3))
    x = Z @ [1.0, -2.0, 0.5] + rng.normal(size=80)
    y = Z @ [0.5, 1.0, -1.0] + 0.3 * x + rng.normal(size=80)
    return np.column_stack([x, Z]), y


def test_marginal_t_test_equals_pearson(sample):
    X, y = sample
    found = PartialCorrelationT().evaluate(X, y, 0)
    expected = stats.pearsonr(X[:, 0], y)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.effect == pytest.approx(abs(expected.statistic), rel=1e-12)


def test_conditional_t_test_equals_the_coefficient_of_least_squares(sample):
    X, y = sample
    design = np.column_stack([np.ones(80), X])
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    residual = y - design @ beta
    variance = residual @ residual / (80 - 5)
    t = beta[1] / np.sqrt(variance * np.linalg.inv(design.T @ design)[1, 1])
    found = PartialCorrelationT().evaluate(X, y, 0, given=[1, 2, 3])
    assert found.statistic == pytest.approx(t, rel=1e-10)
    assert found.pvalue == pytest.approx(2 * stats.t.sf(abs(t), 75), rel=1e-9)


def test_fisher_z_equals_its_formula(sample):
    X, y = sample
    r = partial_correlation(X[:, 0], y, X[:, 1:].T)
    z = np.sqrt(80 - 3 - 3) * np.arctanh(r)
    found = FisherZ().evaluate(X, y, 0, given=[1, 2, 3])
    assert found.statistic == pytest.approx(z, rel=1e-10)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


@both
def test_positive_and_negative_links_are_equally_significant(test):
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    x = y + 0.45 * rng.normal(size=500)
    up, down = (test.evaluate(column.reshape(-1, 1), y, 0) for column in (x, -x))
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(0.91, abs=0.02)
    assert up.pvalue == down.pvalue < 1e-100
    assert up.statistic == -down.statistic > 0


@both
def test_any_variable_can_be_the_target(sample, test):
    X, y = sample
    bound = test.bind(read_table(X, y, task="auto", owner=test))
    about_y, about_x = bound.query(0, 4, (2,)), bound.query(4, 0, (2,))
    assert about_y.pvalue == pytest.approx(about_x.pvalue, rel=1e-12)


@both
def test_redundant_given_columns_neither_count_nor_disturb(sample, test):
    X, y = sample
    widened = np.column_stack([X, X[:, 1] + X[:, 2], 3 * X[:, 3] - 1])
    plain = test.evaluate(widened, y, 0, given=[1, 2, 3])
    singular = test.evaluate(widened, y, 0, given=[1, 2, 3, 4, 5])
    assert singular.pvalue == pytest.approx(plain.pvalue, rel=1e-8)


@both
def test_a_column_or_target_that_the_given_columns_determine_is_independent(sample, test):
    X, y = sample
    widened = np.column_stack([X, X[:, 1] - 2 * X[:, 2]])
    assert test.evaluate(widened, y, 4, given=[1, 2]).pvalue == 1.0
    assert test.evaluate(widened, X[:, 1] + X[:, 2], 0, given=[1, 2]).pvalue == 1.0


@both
def test_offset_and_scale_do_not_matter(sample, test):
    X, y = sample
    plain = test.evaluate(X, y, 0, given=[1])
    shifted = test.evaluate(X * [1e-150, 1e150, 1, 1] + [0, 0, 5, 0], 1e6 + y, 0, given=[1])
    assert shifted.pvalue == pytest.approx(plain.pvalue, rel=1e-6)


def test_degrees_of_freedom_run_out():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 7)), rng.normal(size=8)
    assert PartialCorrelationT().evaluate(X, y, 0, given=range(1, 6)).is_reliable
    assert not PartialCorrelationT().evaluate(X, y, 0, given=range(1, 7)).is_reliable
    assert FisherZ().evaluate(X, y, 0, given=range(1, 5)).is_reliable
    assert not FisherZ().evaluate(X, y, 0, given=range(1, 6)).is_reliable


@both
def test_two_classes_count_as_numbers_and_more_classes_only_if_they_are(test):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1))
    side = x[:, 0] + rng.normal(size=200) > 0
    assert test.evaluate(x, np.where(side, "b", "a"), 0).pvalue < 1e-6
    grades = np.digitize(x[:, 0] + rng.normal(size=200), [-1, 0, 1])
    assert test.evaluate(x, grades, 0).pvalue < 1e-6
    with pytest.raises(InvalidInputError, match="y has 4 classes, such as 'a'"):
        test.evaluate(x, np.array(list("abcd"))[grades], 0)


@both
def test_sparse_columns_give_the_answers_of_dense_ones(sample, test):
    from scipy.sparse import csr_array

    X, y = sample
    X = np.where(np.abs(X) > 1, X, 0.0)
    dense, sparse = test.evaluate(X, y, 0, given=[1]), test.evaluate(csr_array(X), y, 0, given=[1])
    assert dense == sparse


def test_a_sparse_table_is_not_made_dense():
    rng = np.random.default_rng(0)
    X = sp.random_array((100, 80_000), density=0.002, format="csc", random_state=rng)
    y = rng.normal(size=100)
    table = read_table(X, y, task="regression", owner="a test")
    tracemalloc.start()
    test = FisherZ().bind(table)
    found = test.query_many(range(20), table.target, [30, 31])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * X.shape[1] * 8
    dense = read_table(X[:, :40].toarray(), y, task="regression", owner="a test")
    assert found == FisherZ().bind(dense).query_many(range(20), dense.target, [30, 31])


def test_correlations_of_all_pairs_are_not_kept():
    rng = np.random.default_rng(0)
    table = read_table(rng.normal(size=(20, 3000)), rng.normal(size=20), task="regression", owner="a test")
    test = FisherZ().bind(table)
    kept = test._correlations._with.cache_info().maxsize
    assert kept * 8 * 3001 <= 2**26


@pytest.mark.parametrize(("test", "n_rows"), [(FisherZ(), 4), (PartialCorrelationT(), 3)], ids=repr)
def test_one_degree_of_freedom_is_enough_to_tell(test, n_rows):
    X = np.arange(n_rows**2, dtype=float).reshape(n_rows, n_rows) ** 2
    bound = test.bind(read_table(X, X[:, 0], task="regression", owner=None))
    assert bound.has_rows_for(n_rows, ())
    assert not bound.has_rows_for(n_rows, (1,))


@pytest.mark.parametrize("seed", range(6))
def test_near_copies_have_a_correlation_of_one_at_most(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    # What is left of x1 given x0 and x2 is small, and rounding is large beside it.
    X[:, 1] = X[:, [0, 2]] @ rng.normal(size=2) + 10.0 ** -rng.uniform(3, 7) * rng.normal(size=30)
    y = X[:, 1] + 10.0 ** -rng.uniform(5, 9) * rng.normal(size=30)
    assert FisherZ().evaluate(X, y, 1, given=[0, 2]).effect <= 1.0
