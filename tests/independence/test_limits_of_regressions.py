"""Partial correlations and likelihood ratios where little is left: of a column's variance, of the rows, of a class."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import FisherZ, IndependenceResult, LikelihoodRatio, PartialCorrelationT
from ppfs.independence._answers import CANNOT_TELL, INDEPENDENT
from ppfs.independence._classical import partial
from ppfs.independence._classical.correlation import target_as_numbers
from ppfs.independence._classical.likelihood_ratio import _combined
from ppfs.independence._classical.logistic import _limit
from ppfs.independence._classical.partial import Correlations, standardized
from ppfs.independence._classical.regressors import Designs, Extensions, added_directions


def table_of(X, y, task="regression", **given):
    return read_table(X, y, task=task, owner="a test", **given)


def test_rows_are_standardized_whatever_their_size():
    rows = np.array(
        [[1.0, 3.0, 2.0], [5.0, 5.0, 5.0], [0.0, 0.0, 0.0], [-1e300, 1e300, 0.0], [0.1, 0.1, 0.1]]
    )
    rows = np.vstack([rows, [3e-200, -3e-200, 0.0]])
    root = np.sqrt(0.5)
    expected = [[-root, root, 0], [0, 0, 0], [0, 0, 0], [-root, root, 0], [0, 0, 0], [root, -root, 0]]
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_allclose(standardized(rows), expected, atol=1e-15)


@pytest.mark.parametrize(("left", "is_determined"), [(0.8e-10, True), (1.5e-10, False)])
def test_a_column_is_determined_where_next_to_nothing_is_left(left, is_determined):
    """Column 1 is column 0 and a bit at a right angle to it; as a given column it counts only if that is enough."""
    u = np.linalg.qr(np.column_stack([np.ones(12), np.random.default_rng(0).normal(size=(12, 4))]))[0][:, 1:]
    near = np.sqrt(1 - left) * u[:, 0] + np.sqrt(left) * u[:, 1]
    X = np.column_stack([u[:, 0], near, u[:, 2]])
    y = u[:, 0] + u[:, 1] + u[:, 2] + u[:, 3]
    correlations = Correlations(table_of(X, y), y)
    found = correlations.given([1, 2], 3, [0])
    assert found.determined_mask.tolist() == [is_determined, False]
    assert found.values[1] == pytest.approx(1 / np.sqrt(3))
    assert found.values[0] == pytest.approx(0.0 if is_determined else 1 / np.sqrt(3), abs=1e-4)
    assert correlations.given([2], 3, [0, 1]).n_given == (1 if is_determined else 2)
    # The same for the target.
    found = correlations.given([2, 3], 1, [0])
    assert found.determined_mask.tolist() == [is_determined] * 2


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("at_once", [1, 25, 40, 2**20])
def test_partial_correlations_are_those_of_residuals(form, at_once, monkeypatch):
    monkeypatch.setattr(partial, "_MAX_MULTIPLIED", at_once)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6)) + rng.normal(size=(20, 1))
    X[:, 4] = 2.0
    y = X[:, 0] - X[:, 1] + rng.normal(size=20)
    correlations = Correlations(table_of(form(X), y), y)
    everything = np.column_stack([X, y])
    for target, given in ((6, [1, 2]), (6, []), (6, [3, 1, 2, 4]), (3, [0, 6])):
        xs = [x for x in range(7) if x not in (target, *given)]
        found = correlations.given(xs, target, given)
        design = np.column_stack([np.ones(20), everything[:, given]])
        left = everything - design @ np.linalg.lstsq(design, everything, rcond=None)[0]
        expected = [0.0 if x == 4 else stats.pearsonr(left[:, x], left[:, target]).statistic for x in xs]
        np.testing.assert_allclose(found.values, expected, atol=1e-12)
        assert found.n_given == len([x for x in given if x != 4])
        assert found.determined_mask.tolist() == [x == 4 for x in xs]


@pytest.mark.parametrize(
    ("n_features", "n_kept"), [(9, 838_860), (1023, 8192), (65_535, 128), (100_000, 128)]
)
def test_rows_of_64_megabytes_are_kept_and_at_least_128(n_features, n_kept):
    table = SimpleNamespace(is_sparse=True, n_features=n_features)
    assert Correlations(table, np.arange(3.0))._with.cache_info().maxsize == n_kept


@pytest.mark.parametrize(
    ("test", "statistic"),
    [
        (FisherZ(), np.sqrt(9) * np.arctanh(1 - 1e-15)),
        (PartialCorrelationT(), (1 - 1e-15) * np.sqrt(10 / (1 - (1 - 1e-15) ** 2))),
    ],
)
def test_a_copy_of_the_target_has_a_finite_statistic(test, statistic):
    x = np.random.default_rng(0).normal(size=(12, 1))
    for sign in (1, -1):
        found = test.evaluate(sign * x, x[:, 0], 0)
        assert found.statistic == pytest.approx(sign * statistic, rel=1e-9)
        assert found.effect == pytest.approx(1.0)
        assert found.pvalue < 1e-9


@pytest.mark.parametrize(
    ("test", "n_rows", "is_reliable"),
    [
        (FisherZ(), 6, True),
        (FisherZ(), 5, False),
        (PartialCorrelationT(), 5, True),
        (PartialCorrelationT(), 4, False),
    ],
)
def test_one_degree_of_freedom_given_two_columns(test, n_rows, is_reliable):
    rng = np.random.default_rng(0)
    table = table_of(rng.normal(size=(n_rows, 4)), rng.normal(size=n_rows))
    bound = test.bind(table)
    found = bound.query_many([0, 3], 4, [1, 2])
    assert [one.is_reliable for one in found] == [is_reliable] * 2
    assert found[0] == CANNOT_TELL or is_reliable
    assert bound.has_rows_for(4, [1, 2]) is is_reliable


@pytest.mark.parametrize(
    ("y", "numbers"),
    [
        (np.array(["b", "a", "b", "a"]), [1.0, 0.0, 1.0, 0.0]),
        (np.array([7, 5, 7, 5]), [1.0, 0.0, 1.0, 0.0]),
        (np.array([7, 5, 9, 5]), [7.0, 5.0, 9.0, 5.0]),
    ],
)
def test_two_classes_are_0_and_1_and_more_are_their_numbers(y, numbers):
    assert target_as_numbers(table_of(np.eye(4), y, "classification"), "FisherZ").tolist() == numbers


def test_three_classes_of_text_have_no_order():
    with pytest.raises(InvalidInputError) as raised:
        target_as_numbers(table_of(np.eye(4), np.array(list("bacb")), "classification"), "FisherZ")
    assert str(raised.value) == (
        "FisherZ needs a numeric target, but y has 3 classes, such as 'a', which have no order. Use LikelihoodRatio, "
        "or GSquared if all columns are categorical."
    )


def mixed(n_rows=60):
    """Return a number, categories of three and of five levels, a copy of the number, and a constant."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=n_rows), np.arange(n_rows) % 3, rng.permutation(np.arange(n_rows) % 5),
                         np.zeros(n_rows), np.ones(n_rows)])  # fmt: skip
    X[:, 3] = 2 * X[:, 0] - 1
    return X, np.isin(np.arange(5), [1, 2])


@pytest.mark.parametrize(
    ("n_rows", "reliable"),
    [
        (60, [True, True]),
        (40, [True, True]),
        (35, [True, False]),
        (29, [True, False]),
        (20, [True, False]),
        (19, [False, False]),
    ],
)
def test_logistic_regressions_need_five_rows_per_coefficient(n_rows, reliable):
    """Given column 1: three coefficients, and one more for column 0, or four more for column 2."""
    X, kinds = mixed(n_rows)
    y = np.random.default_rng(1).permutation(np.arange(n_rows) % 2)
    bound = LikelihoodRatio().bind(table_of(X, y, "classification", categorical_features=kinds))
    found = bound.query_many([0, 2], 5, [1])
    expected = [n_rows >= 20, n_rows >= 35]
    assert [one.is_reliable for one in found] == expected
    assert bound.n_fits == (sum(expected) + 1 if any(expected) else 0)
    # What is determined is independent, however many rows there are; so is a constant.
    assert bound.query_many([3, 4], 5, [0]) == [INDEPENDENT] * 2
    assert bound.has_rows_for(5, [0, 1]) is (n_rows >= 20)
    assert bound.has_rows_for(5, [1, 2]) is (n_rows >= 35)
    assert bound.has_rows_for(5, []) is True


def test_three_classes_need_twice_the_rows():
    X, kinds = mixed(40)
    y = np.random.default_rng(1).permutation(np.arange(40) % 3)
    bound = LikelihoodRatio().bind(table_of(X, y, "classification", categorical_features=kinds))
    found = bound.query(0, 5, [1])
    assert found.is_reliable
    assert found.effect == pytest.approx(found.statistic / 2)
    assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, 2))
    assert not bound.query(2, 5, [0]).is_reliable


@pytest.mark.parametrize(
    ("n_rows", "given", "is_reliable"),
    [(5, [1, 2], True), (5, [1, 2, 3], False), (4, [1, 2], False), (6, [1, 2, 3], True)],
)
def test_least_squares_needs_a_degree_of_freedom(n_rows, given, is_reliable):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 5)), rng.normal(size=n_rows)
    bound = LikelihoodRatio().bind(table_of(X, y))
    found = bound.query_many([0, 4], 5, given)
    assert [one.is_reliable for one in found] == [is_reliable] * 2
    if is_reliable:
        design = np.column_stack([np.ones(n_rows), X[:, given]])
        before, after = (
            np.linalg.lstsq(one, y, rcond=None)[1][0] for one in (design, np.column_stack([design, X[:, 0]]))
        )
        statistic = (before - after) / after
        assert found[0].statistic == found[0].effect == pytest.approx(statistic)
        assert found[0].pvalue == pytest.approx(stats.f.sf(statistic, 1, 1))
    assert bound.has_rows_for(5, given) is (n_rows > len(given) + 1)
    assert bound.n_fits == 0


def test_a_category_of_many_levels_leaves_no_degree_of_freedom():
    X = np.column_stack([np.arange(6.0) % 5, np.arange(6.0) ** 2])
    bound = LikelihoodRatio().bind(
        table_of(X, np.array([3.0, 1, 4, 1, 5, 9]), categorical_features=np.array([True, False]))
    )
    assert bound.query(0, 2).is_reliable
    assert bound.query(0, 2, [1]) == CANNOT_TELL


def test_a_perfect_fit_has_a_finite_statistic_and_an_explained_target_is_independent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    found = LikelihoodRatio().evaluate(X, 2 * X[:, 0] - X[:, 1], 0, given=[1])
    assert found.statistic == pytest.approx(9 * 1e15, rel=1e-6)
    assert LikelihoodRatio().evaluate(X, 3 * X[:, 1] + 1, 0, given=[1]) == INDEPENDENT
    assert LikelihoodRatio().evaluate(X, X[:, 1] + 1e-4 * X[:, 2], 2, given=[1]).pvalue < 1e-9


def test_a_constant_column_is_no_target():
    X, kinds = mixed(60)
    X[:, 1] = 1.0
    table = table_of(X, X[:, 0], categorical_features=kinds)
    assert LikelihoodRatio(symmetric=True).bind(table).query_many([0, 2], 1) == [INDEPENDENT] * 2


def test_the_two_directions_are_combined():
    one, other = IndependenceResult(0.01, 5.0, 6.0), IndependenceResult(0.3, 7.0, 8.0)
    assert _combined(one, other) == IndependenceResult(0.02, 5.0, 6.0)
    assert _combined(other, one) == IndependenceResult(0.02, 7.0, 8.0)
    near = IndependenceResult(0.015, 7.0, 8.0)
    assert _combined(one, near) == IndependenceResult(0.015, 5.0, 6.0)
    assert _combined(CANNOT_TELL, other) is other
    assert _combined(one, CANNOT_TELL) is one


def test_likelihoods_near_their_limit_are_at_it():
    assert _limit(np.array([-1e-7, -0.99e-7, -1.01e-7, -3.0, 0.0])).tolist() == [
        -1e-7,
        0.0,
        -1.01e-7,
        -3.0,
        0.0,
    ]


def test_regressors_of_a_group_are_those_of_its_columns():
    X, kinds = mixed(12)
    table = table_of(X, np.arange(12.0), categorical_features=kinds, feature_groups={"both": [0, 1]})
    both, other = table.names.index("both"), table.names.index("x2")
    designs = Designs(table)
    number, second, third = (
        standardized(column[None, :].astype(float))[0] for column in (X[:, 0], X[:, 1] == 1.0, X[:, 1] == 2.0)
    )
    np.testing.assert_allclose(designs.block(both), np.column_stack([number, second, third]), atol=1e-12)
    blocks = designs.blocks([other, both, table.names.index("x3")])
    assert blocks.starts.tolist() == [0, 4, 7, 8]
    np.testing.assert_allclose(blocks.regressors[4:7], designs.block(both).T, atol=1e-12)
    np.testing.assert_allclose(blocks.regressors[7], number, atol=1e-12)
    basis = designs.basis((both, table.names.index("x3")))
    assert basis.shape == (12, 4)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(basis[:, 0], np.full(12, 1 / np.sqrt(12)))
    extensions = Extensions.of(blocks, basis[:, :2])
    assert extensions.n_added.tolist() == [4, 2, 0]
    for v, variable in enumerate([other, both]):
        start = extensions.starts[v]
        expected = added_directions(designs.block(variable), basis[:, :2])
        np.testing.assert_allclose(
            extensions.directions[start : start + extensions.n_added[v]], expected.T, atol=1e-9
        )


def test_directions_are_added_if_something_is_left():
    u = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 3)))[0]
    for left, n_added in ((0.8e-10, 0), (1.5e-10, 1)):
        near = np.sqrt(1 - left) * u[:, [0]] + np.sqrt(left) * u[:, [1]]
        added = added_directions(near, u[:, :1])
        assert added.shape == (8, n_added)
        if n_added:
            np.testing.assert_allclose(np.abs(added[:, 0] @ u[:, 1]), 1.0, atol=1e-9)
    twice = added_directions(np.column_stack([u[:, 1], (u[:, 1] + u[:, 2]) / np.sqrt(2), u[:, 2]]), u[:, :1])
    np.testing.assert_allclose(np.abs(twice.T @ u), [[0, 1, 0], [0, 0, 1]], atol=1e-12)


def test_values_at_the_mean_do_not_make_a_column_constant():
    x, y = np.array([-1.0, 0.0, 1.0, 2.0, -2.0]), np.array([1.0, 0.0, 2.0, 3.0, -1.0])
    assert PartialCorrelationT().evaluate(x[:, np.newaxis], y, 0).effect == pytest.approx(
        stats.pearsonr(x, y).statistic
    )


def test_nothing_is_determined_by_as_many_columns_as_rows():
    """Given three columns of five rows nothing is known about any column, nor about a copy of one of them."""
    X = np.random.default_rng(0).normal(size=(5, 5))
    X[:, 4] = 2 * X[:, 1]
    bound = LikelihoodRatio().bind(table_of(X, X[:, 0] ** 2))
    assert bound.query_many([0, 4], 5, [1, 2, 3]) == [CANNOT_TELL] * 2
    assert bound.query(4, 5, [1, 2]) == INDEPENDENT
    assert bound.has_rows_for(5, [0, 1, 2, 3]) is False
    assert bound.has_rows_for(5, [1, 2, 3]) is True
