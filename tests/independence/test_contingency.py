"""G-squared and chi-squared against SciPy and by hand."""

from itertools import combinations

import numpy as np
import pytest
from reference import contingency
from scipy.stats import chi2, chi2_contingency, gamma

from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import ChiSquared, GSquared


def table_of(x, y, *given):
    return read_table(np.column_stack([x, *given]).astype(float), y, task="classification", owner="test")


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 900)
    x = (z + rng.integers(0, 3, 900)) % 4
    y = (z + rng.integers(0, 2, 900)) % 3
    return x, y, z


@pytest.mark.parametrize(
    ("test", "kind"), [(GSquared(), "log-likelihood"), (ChiSquared(), "pearson")], ids=repr
)
def test_marginal_test_equals_scipy(sample, test, kind):
    x, y, _ = sample
    counts = np.histogram2d(y, x, bins=(3, 4))[0]
    expected = chi2_contingency(counts, correction=False, lambda_=kind)
    found = test.bind(table_of(x, y)).query(0, 1)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-8)
    assert found.effect == pytest.approx(expected.statistic / expected.dof, rel=1e-10)


@pytest.mark.parametrize(
    ("test", "kind"), [(GSquared(), "log-likelihood"), (ChiSquared(), "pearson")], ids=repr
)
def test_conditional_test_adds_the_strata_up(sample, test, kind):
    x, y, z = sample
    statistic, free = 0.0, 0
    for level in range(3):
        inside = z == level
        counts = np.histogram2d(y[inside], x[inside], bins=(3, 4), range=((0, 2), (0, 3)))[0]
        # SciPy refuses empty rows and columns: a stratum without a level has a smaller table.
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        part = chi2_contingency(counts, correction=False, lambda_=kind)
        statistic, free = statistic + part.statistic, free + part.dof
    found = test.bind(table_of(x, y, z)).query(0, 2, (1,))
    assert found.statistic == pytest.approx(statistic, rel=1e-10)
    assert found.pvalue == pytest.approx(chi2.sf(statistic, free), rel=1e-8)


def test_empty_margins_reduce_the_degrees_of_freedom():
    # Given z = 1 only x = 0 occurs: that stratum has no degree of freedom, the other one has 1.
    x = np.r_[np.repeat([0, 1, 0, 1], [30, 20, 20, 30]), np.zeros(100, dtype=int)]
    y = np.r_[np.repeat([0, 0, 1, 1], [30, 20, 20, 30]), np.tile([0, 1], 50)]
    z = np.repeat([0, 1], 100)
    found = ChiSquared().bind(table_of(x, y, z)).query(0, 2, (1,))
    assert found.statistic == pytest.approx(4.0)
    assert found.pvalue == pytest.approx(chi2.sf(4.0, 1))


def test_exact_moments_of_a_small_table_by_enumeration():
    # All arrangements of the target over the rows are equally likely given the margins: here are all of them.
    x = np.array([0, 0, 0, 1, 1, 2, 2])
    test = ChiSquared(exact_moments=True, min_rows_per_cell=0)
    arranged = [np.isin(np.arange(7), ones).astype(int) for ones in combinations(range(7), 4)]
    found = [test.bind(table_of(x, y)).query(0, 1) for y in arranged]
    statistics = np.array([one.statistic for one in found])
    mean, variance = statistics.mean(), statistics.var()
    # The mean is n / (n - 1) times the degrees of freedom; `effect` is the statistic in units of it.
    assert mean == pytest.approx(7 / 6 * 2)
    for one in found:
        assert one.effect == pytest.approx(one.statistic / mean)
        assert one.pvalue == pytest.approx(gamma.sf(one.statistic, mean**2 / variance, scale=variance / mean))


def test_exact_moments_keep_the_level_where_chi_squared_and_g_squared_do_not():
    # 300 strata of about 7 rows: the null holds, and the classical approximations reject most of the time.
    rng = np.random.default_rng(1)
    rejected = dict.fromkeys(("g2", "chi2", "moments"), 0)
    tests = {
        "g2": GSquared(min_rows_per_cell=0, max_levels=300),
        "chi2": ChiSquared(min_rows_per_cell=0, max_levels=300),
        "moments": ChiSquared(exact_moments=True, min_rows_per_cell=0, max_levels=300),
    }
    for _ in range(100):
        z = rng.permutation(np.arange(2100) % 300)
        table = table_of(rng.integers(0, 3, 2100), rng.integers(0, 3, 2100), z)
        for name, test in tests.items():
            rejected[name] += test.bind(table).query(0, 2, (1,)).pvalue <= 0.05
    assert rejected["g2"] > 90
    assert rejected["moments"] <= 12  # binomial(100, 0.05): beyond 12 once in 600


def test_exact_moments_agree_with_chi_squared_on_a_full_table(sample):
    x, y, _ = sample
    plain = ChiSquared().bind(table_of(x, y)).query(0, 1)
    exact = ChiSquared(exact_moments=True).bind(table_of(x, y)).query(0, 1)
    assert exact.statistic == pytest.approx(plain.statistic)
    assert np.log10(exact.pvalue) == pytest.approx(np.log10(plain.pvalue), rel=0.1, abs=0.05)


@pytest.mark.parametrize("test", [GSquared(), ChiSquared(), ChiSquared(exact_moments=True)], ids=repr)
def test_relabelled_categories_give_the_same_answer(sample, test):
    x, y, z = sample
    straight = test.bind(table_of(x, y, z)).query(0, 2, (1,))
    relabelled = test.bind(
        table_of(np.array([7, 2, 9, 4])[x], np.array(["b", "c", "a"])[y], np.array([5, -1, 0])[z])
    ).query(0, 2, (1,))
    assert relabelled.pvalue == pytest.approx(straight.pvalue, rel=1e-8)
    assert relabelled.statistic == pytest.approx(straight.statistic, rel=1e-9)


def test_too_few_rows_for_the_table_is_cannot_tell():
    rng = np.random.default_rng(0)
    table = table_of(rng.integers(0, 3, 89), rng.integers(0, 3, 89), rng.integers(0, 2, 89))
    # 3 x 3 x 2 cells need 90 rows.
    assert not GSquared().bind(table).query(0, 2, (1,)).is_reliable
    assert GSquared().bind(table).query(0, 2).is_reliable
    assert GSquared(min_rows_per_cell=4).bind(table).query(0, 2, (1,)).is_reliable
    assert not GSquared().bind(table).has_rows_for(2, (0, 1))


def test_exactly_enough_rows_are_enough():
    rng = np.random.default_rng(0)
    table = table_of(rng.permutation(90) % 3, rng.permutation(90) % 3, rng.permutation(90) % 2)
    bound = GSquared().bind(table)
    # 3 x 3 x 2 cells need 90 rows.
    assert bound.query(0, 2, (1,)).is_reliable
    assert bound.has_rows_for(2, (0, 1))


def test_strong_link_does_not_underflow_before_the_effect():
    y = np.tile([0, 1], 5000)
    noisy = np.where(np.arange(10_000) % 50 == 0, 1 - y, y)
    answers = GSquared().bind(table_of(y, y, noisy)).query_many([0, 1], 2)
    assert [one.pvalue for one in answers] == [0.0, 0.0]
    assert answers[0].effect > answers[1].effect


@pytest.mark.parametrize("test", [GSquared(), ChiSquared()], ids=repr)
def test_continuous_column_is_named(test):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 500), rng.normal(size=500)])
    with pytest.raises(
        InvalidInputError, match="needs categorical columns, but 'x1' has 500 distinct values in 500 rows"
    ):
        test.evaluate(X, rng.integers(0, 2, 500), 0)


def test_continuous_target_is_named():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="the target has 50 distinct values in 50 rows"):
        GSquared().evaluate(rng.integers(0, 2, (50, 1)), rng.normal(size=50), 0)


def test_few_repeated_fractions_and_many_whole_numbers_are_categories():
    rng = np.random.default_rng(0)
    halves, ages = rng.integers(0, 5, 500) / 2, rng.integers(0, 60, 500)
    table = table_of(halves, rng.integers(0, 2, 500), ages)
    assert GSquared().bind(table).query(0, 2).is_reliable
    with pytest.raises(InvalidInputError, match="'x1' has 60 distinct values"):
        GSquared(max_levels=50).bind(table)


def test_product_of_many_levels_does_not_overflow():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, size=(300, 30))
    table = read_table(X.astype(float), rng.integers(0, 2, 300), task="auto", owner="test")
    assert not GSquared().bind(table).query(0, 30, range(1, 30)).is_reliable
    assert GSquared(min_rows_per_cell=0).bind(table).query(0, 30, range(1, 30)).pvalue == 1.0


@pytest.mark.parametrize("n_rows", [40, 3000])
def test_g_squared_agrees_with_its_slow_twin(n_rows):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, width, n_rows) for width in (2, 3, 4, 6, 3)])
    y = (X[:, 0] + rng.integers(0, 2, n_rows)) % 3
    for given in ((), (4,), (3, 4)):
        stratum = np.unique(X[:, list(given)], axis=0, return_inverse=True)[1].ravel() if given else y * 0
        for x in (0, 1, 2):
            found = GSquared(min_rows_per_cell=0).evaluate(X, y, x, given)
            cells = contingency.table_of(stratum, y, X[:, x])
            assert found.effect == pytest.approx(
                contingency.g_squared(cells) / contingency.degrees_of_freedom(cells), rel=1e-12
            )


def test_a_column_with_far_apart_numbers_is_counted_as_one_with_close_ones():
    rng = np.random.default_rng(0)
    near = rng.integers(0, 4, (200, 2))
    y = (near[:, 0] + rng.integers(0, 2, 200)) % 2
    # Beyond 255 apart the levels are found by sorting; 5 in place of 2 leaves unused codes between them.
    far, gappy = near * 1000, np.where(near == 2, 5, near)
    for other in (far, gappy, gappy - 7, near.astype(np.float32)):
        assert GSquared().evaluate(other, y, 0, [1]) == GSquared().evaluate(near, y, 0, [1])
