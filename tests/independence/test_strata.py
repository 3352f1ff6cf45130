"""Pearson's statistic and its moments, stratum by stratum; what tests of tables and correlations refuse."""

import numpy as np
import pytest
from reference import contingency
from scipy.stats import chi2, gamma

from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import ChiSquared, FisherZ, GSquared, LikelihoodRatio, PartialCorrelationT
from ppfs.independence._classical import contingency as module
from ppfs.independence._classical.contingency import _against_gamma
from ppfs.independence._classical.strata import Moments, Strata, Tables, degrees_of_freedom

CLASSICAL = [GSquared(), ChiSquared(), FisherZ(), PartialCorrelationT(), LikelihoodRatio()]
every_test = pytest.mark.parametrize("test", CLASSICAL, ids=repr)


def pearson(cells):
    """Return the statistic of one table without its empty rows and columns."""
    cells = cells[cells.sum(axis=1) > 0][:, cells.sum(axis=0) > 0]
    if not cells.size:
        return 0.0
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
    return float(((cells - expected) ** 2 / expected).sum())


def haldane(cells):
    """Return statistic, mean and variance of one table; nothing if it has none."""
    rows, columns = (margin[margin > 0] for margin in (cells.sum(axis=1), cells.sum(axis=0)))
    n, r, c = cells.sum(), rows.size, columns.size
    if n < 4 or r < 2 or c < 2:
        return np.zeros(3)
    v = [(k - 1) * (n - k) / (n - 1) for k in (r, c)]
    w = [(n * (1 / margin).sum() - len(margin) ** 2) / (n - 2) for margin in (rows, columns)]
    variance = 2 * n / (n - 3) * (v[0] - w[0]) * (v[1] - w[1]) + n**2 / (n - 1) * w[0] * w[1]
    return np.array([pearson(cells), n / (n - 1) * (r - 1) * (c - 1), variance])


def strata_of_many_sizes():
    """Return columns, a target and strata of 0 to 9 rows; some have one level or one class only."""
    rng = np.random.default_rng(0)
    stratum = np.concatenate([np.full(n, number) for number, n in enumerate([9, 1, 2, 3, 4, 5, 8, 6, 7, 30])])
    X = np.column_stack([rng.integers(0, width, stratum.size) for width in (2, 3, 3, 4, 2)])
    y = (X[:, 0] + rng.integers(0, 3, stratum.size)) % 3
    X[stratum == 6, 1], y[stratum == 7] = 1, 2
    return X, y, stratum


@pytest.mark.parametrize("at_once", [1, 300, 2**20])
@pytest.mark.parametrize("kind", ["g2", "chi2", "moments"])
def test_answers_are_those_of_one_table_per_stratum(kind, at_once, monkeypatch):
    monkeypatch.setattr(module, "_MAX_CELLS", at_once)
    X, y, stratum = strata_of_many_sizes()
    table = read_table(np.column_stack([X, stratum]).astype(float), y, task="classification", owner="test")
    test = {
        "g2": GSquared(min_rows_per_cell=0),
        "chi2": ChiSquared(min_rows_per_cell=0),
        "moments": ChiSquared(exact_moments=True, min_rows_per_cell=0),
    }[kind]
    found = test.bind(table).query_many(range(5), 6, [5])
    for x, answer in enumerate(found):
        cells = contingency.table_of(stratum, y, X[:, x])
        free = contingency.degrees_of_freedom(cells)
        if kind == "moments":
            statistic, mean, variance = np.sum([haldane(one) for one in cells], axis=0)
            pvalue, effect = gamma.sf(statistic, mean**2 / variance, scale=variance / mean), statistic / mean
        else:
            statistic = contingency.g_squared(cells) if kind == "g2" else sum(pearson(one) for one in cells)
            pvalue, effect = chi2.sf(statistic, free), statistic / free
        assert answer.statistic == pytest.approx(statistic, rel=1e-9)
        assert answer.effect == pytest.approx(effect, rel=1e-9)
        assert answer.pvalue == pytest.approx(pvalue, rel=1e-7)


@pytest.mark.parametrize("n_rows", [3, 4])
def test_a_table_of_three_rows_has_no_moments(n_rows):
    x, y = np.array([0, 1, 1, 0])[:n_rows], np.array([0, 1, 1, 1])[:n_rows]
    found = ChiSquared(exact_moments=True, min_rows_per_cell=0).evaluate(x[:, np.newaxis], y, 0)
    cells = contingency.table_of(np.zeros(n_rows, dtype=int), y, x)[0]
    if n_rows == 3:
        assert (found.pvalue, found.statistic, found.effect) == (1.0, 0.0, 0.0)
        return
    statistic, mean, variance = haldane(cells)
    assert found.statistic == pytest.approx(statistic)
    assert found.effect == pytest.approx(statistic / mean)
    assert found.pvalue == pytest.approx(gamma.sf(statistic, mean**2 / variance, scale=variance / mean))


def test_without_variance_nothing_is_shown():
    moments = Moments(np.array([3.0, 3.0]), np.array([0.0, 1.5]), np.array([0.0, 1e-3]))
    found = _against_gamma(moments)
    assert found[0].tolist() == [1.0, 3.0, 3.0]
    assert found[1].tolist() == [pytest.approx(gamma.sf(3.0, 2250.0, scale=1e-3 / 1.5)), 3.0, 2.0]
    assert _against_gamma(Moments(*np.array([[3.0], [1.5], [0.5]])))[0, 0] == pytest.approx(
        gamma.sf(3.0, 4.5, scale=1 / 3)
    )


class Coded:
    """Levels of two columns, a target and a stratum; the last stratum and the last class never occur."""

    codes = np.array([[0, 1, 0, 1, 1], [0, 0, 0, 1, 1], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
    counts = np.array([2, 2, 3, 3])


def test_strata_that_never_occur_have_no_freedom():
    strata = Strata.of(Coded, 2, (3,))
    assert (strata.n_strata, strata.n_classes) == (3, 3)
    assert strata.by_target.tolist() == [[[1, 2, 0], [2, 0, 0], [0, 0, 0]]]
    assert strata.total.tolist() == [[3, 2, 0]]
    assert strata.extra_classes.tolist() == [1, 0, 0]
    np.testing.assert_allclose(
        strata.k_log_k, [0.0, 0.0, 2 * np.log(2), 3 * np.log(3), 4 * np.log(4), 5 * np.log(5)]
    )
    np.testing.assert_allclose(strata.log_likelihood, [4 * np.log(2), 3 * np.log(3) + 2 * np.log(2)])
    [(places, counts)] = Tables.count(strata, Coded, [0, 1]).by_width()
    assert places.tolist() == [0, 1]
    assert counts.cells[0].tolist() == [[[1, 0], [1, 1], [0, 0]], [[0, 2], [0, 0], [0, 0]], [[0, 0]] * 3]
    assert counts.by_column[1].tolist() == [[3, 0], [0, 2], [0, 0]]
    # Column 0 has one degree of freedom in the first stratum; column 1 has none, and counts as one.
    assert degrees_of_freedom(counts).tolist() == [1, 1]


@pytest.mark.parametrize("n_levels", [100, 101])
def test_a_column_may_have_a_hundred_levels(n_levels):
    codes = np.arange(10 * n_levels) % n_levels
    if n_levels == 100:
        assert GSquared().evaluate(codes[:, np.newaxis], codes % 2, 0).is_reliable
        return
    with pytest.raises(InvalidInputError) as raised:
        GSquared().evaluate(codes[:, np.newaxis], codes % 2, 0)
    assert str(raised.value) == (
        "GSquared needs categorical columns, but 'x0' has 101 distinct values in 1010 rows. Use FisherZ or "
        "LikelihoodRatio, or discretize the column first (sklearn.preprocessing.KBinsDiscretizer)."
    )


@every_test
def test_classical_tests_draw_nothing(test):
    assert test.is_random is False
    assert test.reads_task is isinstance(test, LikelihoodRatio)


@every_test
def test_classical_tests_take_rows_of_equal_weight_and_one_target(test):
    X, y = np.arange(24.0).reshape(12, 2) % 3, np.arange(12) % 2
    name = type(test).__name__
    weights = np.arange(12.0) + 1
    for given, message in (
        (
            {"sample_weight": weights},
            f"{name} does not support sample_weight, unless all weights are 0 or equal. Use a predictive test, such as "
            "PPI, with an estimator that supports weights, or leave the weights out.",
        ),
        (
            {"groups": np.arange(12) // 2},
            f"{name} needs independent rows, so it does not support groups. Use PPI, whose splits keep groups of rows "
            "together, or CrossFitPPI, which tests groups instead of rows.",
        ),
        (
            {"time": np.arange(12)},
            f"{name} needs independent rows, so it does not support time. Use PPI, whose splits keep groups of rows "
            "together, or CrossFitPPI, which tests groups instead of rows.",
        ),
    ):
        with pytest.raises(InvalidInputError) as raised:
            test.evaluate(X, y, 0, **given)
        assert str(raised.value) == message
    with pytest.raises(InvalidInputError) as raised:
        test.evaluate(X, np.column_stack([y, y]), 0)
    assert str(raised.value) == (
        f"{name} needs a target of one column, but y is 2 columns. Select for one column at a time, or use PPI with an "
        "estimator that predicts all of them."
    )
    X[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match="missing"):
        test.evaluate(X, y, 0)


def test_correlations_need_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    kinds = np.array([False, True, False])
    X[:, 1] = np.arange(12) % 2
    assert FisherZ().evaluate(X, y, 0, categorical_features=kinds).is_reliable
    X[:, 1] = np.arange(12) % 3
    with pytest.raises(InvalidInputError) as raised:
        FisherZ().evaluate(X, y, 0, categorical_features=kinds)
    assert str(raised.value) == (
        "FisherZ needs numbers, but 'x1' has 3 categories, such as '0', without an order. Use LikelihoodRatio or PPI, "
        "or GSquared if all columns are categorical."
    )
    with pytest.raises(InvalidInputError) as raised:
        FisherZ().evaluate(X, y, "x2", feature_groups={"both": [0, 1]})
    assert str(raised.value) == (
        "FisherZ needs single columns, but the group 'both' has 2. Use LikelihoodRatio or PPI, or leave the group out "
        "of feature_groups."
    )
