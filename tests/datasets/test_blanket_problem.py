import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression

from ppfs._data.table import Table
from ppfs.datasets import make_blanket_problem
from ppfs.datasets._blanket_problem import _parents_of
from ppfs.datasets._mechanisms import CURVES
from ppfs.datasets._presentation import COARSE_STEP, harmless_gaps
from ppfs.datasets._seeds import SeedTree
from ppfs.datasets._structures import planted_edges, random_edges
from ppfs.independence import DSeparation

ROLES = {"parents": [0, 1], "children": [2, 3], "spouse": [4], "relatives": [5, 6, 7, 8, 9]}
IRRELEVANT = list(range(10, 20))


def partial_correlation(x, y, given):
    """Correlation of what a linear regression on `given` leaves of x and y."""
    rest = [values - LinearRegression().fit(given, values).predict(given) for values in (x, y)]
    return stats.pearsonr(*rest).statistic


@pytest.fixture(scope="module")
def linear():
    X, y, _ = make_blanket_problem(20_000, shuffle=False, random_state=0)
    return X, y


# 4 / sqrt(20000): four standard deviations of the correlation of independent columns.
CHANCE = 0.028


def test_three_results_by_default_and_the_graph_on_request():
    X, y, blanket = make_blanket_problem(30, random_state=0)
    assert (X.shape, y.shape, X.dtype, y.dtype) == ((30, 20), (30,), np.float64, np.float64)
    assert (np.diff(blanket) > 0).all()
    *same, edges = make_blanket_problem(30, random_state=0, return_edges=True)
    np.testing.assert_array_equal(same[0], X)
    assert all(isinstance(node, int) for edge in edges for node in edge)


def test_blanket_is_the_family_in_order_of_roles():
    _, _, blanket = make_blanket_problem(5, shuffle=False, random_state=0)
    assert blanket.tolist() == [*ROLES["parents"], *ROLES["children"], *ROLES["spouse"]]


def test_blanket_can_be_read_from_the_edges():
    *_, blanket, edges = make_blanket_problem(
        5, n_features=15, n_spouses=3, random_state=4, return_edges=True
    )
    children = {effect for cause, effect in edges if cause == 15}
    causes = {cause for cause, effect in edges if effect == 15 or effect in children}
    assert set(blanket.tolist()) == (children | causes) - {15}


@pytest.mark.parametrize("column", [*ROLES["relatives"], *IRRELEVANT])
def test_outside_columns_add_nothing_to_the_blanket(linear, column):
    X, y = linear
    assert abs(partial_correlation(X[:, column], y, X[:, :5])) < CHANCE


@pytest.mark.parametrize("column", range(5))
def test_every_member_adds_to_the_rest_of_the_blanket(linear, column):
    X, y = linear
    others = [member for member in range(5) if member != column]
    assert abs(partial_correlation(X[:, column], y, X[:, others])) > 5 * CHANCE


@pytest.mark.parametrize("column", ROLES["relatives"])
def test_relatives_are_correlated_with_the_target(linear, column):
    X, y = linear
    assert abs(stats.pearsonr(X[:, column], y).statistic) > 5 * CHANCE


@pytest.mark.parametrize("column", [*ROLES["spouse"], *IRRELEVANT])
def test_spouses_and_irrelevant_columns_are_marginally_independent(linear, column):
    X, y = linear
    assert abs(stats.pearsonr(X[:, column], y).statistic) < CHANCE


def test_columns_have_about_unit_variance(linear):
    X, y = linear
    np.testing.assert_allclose(np.column_stack([X, y]).std(axis=0), 1, atol=0.05)


def test_noise_is_relative_to_the_signal():
    X, y, _ = make_blanket_problem(
        20_000, n_children=0, n_spouses=0, noise=1.0, shuffle=False, random_state=0
    )
    # Equal shares of signal and noise: the parents explain half of the variance.
    assert LinearRegression().fit(X[:, :2], y).score(X[:, :2], y) == pytest.approx(0.5, abs=0.02)


def test_classes_are_roughly_balanced_and_predictable_from_the_blanket():
    X, y, blanket = make_blanket_problem(5000, task="classification", n_classes=3, random_state=1)
    assert set(y.tolist()) == {0, 1, 2}
    np.testing.assert_allclose(np.bincount(y) / 5000, 1 / 3, atol=0.05)
    with_blanket = LogisticRegression().fit(X[:, blanket], y).score(X[:, blanket], y)
    rest = np.setdiff1d(np.arange(X.shape[1]), blanket)
    assert with_blanket > LogisticRegression().fit(X[:, rest], y).score(X[:, rest], y) + 0.05


def test_outside_columns_add_nothing_to_a_class_either():
    X, y, _ = make_blanket_problem(20_000, task="classification", shuffle=False, random_state=2)

    def deviance(columns):
        model = LogisticRegression(C=np.inf, tol=1e-8).fit(X[:, columns], y)
        return -2 * model.predict_log_proba(X[:, columns])[np.arange(len(y)), y].sum()

    blanket = list(range(5))
    gain = deviance(blanket) - deviance(list(range(20)))
    # Their mean given the blanket is linear in it, so 15 superfluous columns gain a chi-squared deviance.
    assert stats.chi2.sf(gain, 15) > 1e-3


@pytest.mark.parametrize("curve", CURVES)
def test_curves_are_standardised(curve):
    # Probability-weighted grid: the mean over equal slices of a standard normal.
    x = stats.norm.ppf((np.arange(100_000) + 0.5) / 100_000)
    assert curve(x).mean() == pytest.approx(0, abs=1e-3)
    assert curve(x).var() == pytest.approx(1, abs=1e-2)


def test_nonlinear_parents_explain_more_than_a_line_shows():
    X, y, _ = make_blanket_problem(
        5000, n_children=0, n_spouses=0, n_relatives=0, mechanism="nonlinear", shuffle=False, random_state=0
    )
    line = LinearRegression().fit(X[:, :2], y).score(X[:, :2], y)
    curves = np.column_stack([curve(X[:, j]) for j in range(2) for curve in CURVES])
    assert LinearRegression().fit(curves, y).score(curves, y) == pytest.approx(0.8, abs=0.02)
    assert line < 0.7


def test_mixed_problem_has_codes_in_every_second_column():
    X, _, _ = make_blanket_problem(300, mechanism="mixed", shuffle=False, random_state=0)
    categorical = np.flatnonzero((X == X.round()).all(axis=0))
    assert categorical.tolist() == list(range(0, 20, 2))
    levels = [len(np.unique(X[:, j])) for j in categorical]
    assert levels == [2 + j // 2 % 3 for j in categorical]
    assert X[:, categorical].min() == 0


def test_mixed_grandchild_tells_of_the_class_only_through_the_child():
    X, y, _, edges = make_blanket_problem(
        20_000, mechanism="mixed", task="classification", shuffle=False, random_state=0, return_edges=True
    )
    child, grandchild = 2, 6  # both categorical
    assert (child, grandchild) in edges
    assert stats.chi2_contingency(_counts(X[:, grandchild], y)).pvalue < 1e-3
    within = [_counts(X[rows, grandchild], y[rows]) for rows in _levels(X[:, child])]
    assert min(stats.chi2_contingency(counts).pvalue for counts in within) > 1e-3


def _levels(column):
    return [column == level for level in np.unique(column)]


def _counts(a, b):
    return np.array([[np.sum((a == i) & (b == j)) for j in np.unique(b)] for i in np.unique(a)])


@pytest.mark.parametrize("mechanism", ["linear", "nonlinear", "mixed"])
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("structure", ["planted", "random"])
def test_every_combination_is_reproducible_and_finite(mechanism, task, structure):
    def make(n_samples=40):
        return make_blanket_problem(
            n_samples, mechanism=mechanism, task=task, structure=structure, random_state=3, return_edges=True
        )

    (X, y, blanket, edges), again, longer = make(), make(), make(90)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    np.testing.assert_array_equal(blanket, again[2])
    assert edges == again[3] == longer[3]
    np.testing.assert_array_equal(X, longer[0][:40])
    np.testing.assert_array_equal(y, longer[1][:40])
    assert np.isfinite(X).all()
    assert y.dtype == (np.int64 if task == "classification" else np.float64)


@pytest.mark.parametrize("mechanism", ["linear", "nonlinear", "mixed"])
def test_values_stay_small_in_dense_random_graphs(mechanism):
    X, _, _ = make_blanket_problem(
        200, n_features=40, structure="random", edge_probability=0.5, mechanism=mechanism, random_state=0
    )
    assert np.abs(X).max() < 20


def test_other_seeds_give_other_data():
    first, second = (make_blanket_problem(20, random_state=seed)[0] for seed in (0, 1))
    assert (first != second).any()


def test_shuffling_only_renames_the_columns():
    X, y, blanket, edges = make_blanket_problem(50, shuffle=False, random_state=5, return_edges=True)
    Z, t, moved, renamed = make_blanket_problem(50, shuffle=True, random_state=5, return_edges=True)
    np.testing.assert_array_equal(y, t)
    # place[j] is where column j went; values are continuous, so each is found once.
    place = [int(np.flatnonzero((Z == X[:, [j]]).all(axis=0))[0]) for j in range(20)] + [20]
    assert place != sorted(place)
    assert sorted(place[j] for j in blanket) == moved.tolist()
    assert sorted((place[cause], place[effect]) for cause, effect in edges) == renamed


def test_random_structure_has_about_the_wanted_number_of_arcs():
    *_, edges = make_blanket_problem(
        5, n_features=39, structure="random", edge_probability=0.2, random_state=0, return_edges=True
    )
    # 40 x 39 / 2 = 780 pairs; four standard deviations of a binomial are 45.
    assert len(edges) == pytest.approx(0.2 * 780, abs=45)


def test_blanket_may_be_empty():
    X, _, blanket = make_blanket_problem(
        10, n_features=3, n_parents=0, n_children=0, n_spouses=0, n_relatives=0, random_state=0
    )
    assert X.shape == (10, 3)
    assert blanket.shape == (0,)
    assert blanket.dtype.kind == "i"


def real_table(n_samples=300, **parameters):
    """A problem with text, groups and missing values anywhere, and no relatives."""
    options = {"n_features": 10, "n_relatives": 0, "n_categorical": 3, "n_grouped": 2, "missing": 0.1}
    return make_blanket_problem(n_samples, random_state=0, **{**options, **parameters})


def test_text_columns_come_in_a_frame():
    X, _, blanket, groups = real_table(shuffle=False)
    assert isinstance(X, pd.DataFrame)
    assert list(X.columns)[:8] == ["x0", "x1_coarse", "x1_fine", "x2", "x3_coarse", "x3_fine", "x4", "x5"]
    assert groups == {"group0": ["x1_coarse", "x1_fine"], "group1": ["x3_coarse", "x3_fine"]}
    is_text = [not pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes]
    assert list(X.columns[is_text]) == ["x0", "x2", "x4"]
    assert X[["x0", "x2", "x4"]].nunique().tolist() == [2, 3, 4]
    assert blanket.tolist() == [0, 1, 2, 3, 4]


def test_without_text_groups_are_numbers_of_columns_of_an_array():
    X, _, blanket, groups = real_table(n_categorical=0, shuffle=False)
    assert X.shape == (300, 12)
    assert groups == {"group0": [0, 1], "group1": [2, 3]}
    assert blanket.tolist() == [0, 1, 2, 3, 4]


def test_parts_of_a_group_add_up_to_its_value():
    whole, _, _ = real_table(n_categorical=0, n_grouped=0, missing=0.0, shuffle=False)
    X, _, _, _ = real_table(n_categorical=0, missing=0.0, shuffle=False)
    np.testing.assert_allclose(X[:, 0] + X[:, 1], whole[:, 0], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(X[:, 0] % COARSE_STEP, 0)
    assert ((X[:, 1] >= 0) & (X[:, 1] < COARSE_STEP)).all()
    np.testing.assert_array_equal(X[:, 4:], whole[:, 2:])


def test_gaps_have_the_wanted_share_and_hide_what_would_be_there():
    full = real_table(2000, missing=0.0)[0]
    X = real_table(2000, missing=0.2)[0]
    # Four standard deviations of a binomial share are 0.036.
    np.testing.assert_allclose(X.isna().mean(), 0.2, atol=0.036)
    pd.testing.assert_frame_equal(X, full.where(X.notna()))
    assert not full.isna().any().any()


def test_gaps_of_different_columns_are_made_apart():
    gaps = real_table(2000, missing=0.3)[0].isna().to_numpy().astype(float)
    links = np.corrcoef(gaps.T) - np.eye(gaps.shape[1])
    assert np.abs(links).max() < 4.5 / np.sqrt(2000)


def test_fewer_rows_are_the_head_of_more():
    short, y, *_ = real_table(100)
    long, t, *_ = real_table(300)
    pd.testing.assert_frame_equal(short, long.head(100))
    np.testing.assert_array_equal(y, t[:100])


def test_groups_and_gaps_leave_the_target_as_it_is():
    *_, y, _, _, edges = real_table(n_categorical=0, return_edges=True)
    plain = make_blanket_problem(300, n_features=10, n_relatives=0, random_state=0, return_edges=True)
    np.testing.assert_array_equal(y, plain[1])
    assert edges == plain[-1]


def test_shuffled_groups_are_where_the_mapping_says():
    X, _, blanket, groups = real_table(n_categorical=0, missing=0.0, shuffle=True)
    plain, _, same = real_table(n_categorical=0, n_grouped=0, missing=0.0, shuffle=True)
    np.testing.assert_array_equal(blanket, same)
    starts = sorted(columns[0] for columns in groups.values())
    # The second group stands one column later for the second column of the first.
    for shift, start in enumerate(starts):
        np.testing.assert_allclose(X[:, start] + X[:, start + 1], plain[:, start - shift], rtol=0, atol=1e-12)


def test_members_with_relatives_have_no_gaps():
    edges = planted_edges(20, n_parents=2, n_children=2, n_spouses=1, n_relatives=5)
    assert harmless_gaps(_parents_of(edges, 21), 20) == set(range(4, 20))
    X, _, _ = make_blanket_problem(200, missing=0.2, shuffle=False, random_state=0)
    assert np.flatnonzero(np.isnan(X).any(axis=0)).tolist() == list(range(4, 20))


@pytest.mark.parametrize("seed", range(20))
def test_blanket_holds_where_values_are_missing(seed):
    edges = random_edges(8, edge_probability=0.3, stream=SeedTree(seed).stream(0))
    parents = _parents_of(edges, 9)
    bound = DSeparation(edges).bind(_no_values(8))
    harmless = harmless_gaps(parents, 8)
    children = {effect for cause, effect in edges if cause == 8}
    blanket = ({cause for cause, effect in edges if effect == 8 or effect in children} | children) - {8}
    outside = sorted(set(range(8)) - blanket)
    # Any of the members may be missing in a row, or all of them at once.
    for gone in [*({member} for member in blanket & harmless), blanket & harmless]:
        assert all(bound.query(x, 8, sorted(blanket - gone)).pvalue == 1 for x in outside)
    # Of the other members, each has someone behind it.
    for member in blanket - harmless:
        assert any(bound.query(x, 8, sorted(blanket - {member})).pvalue < 1 for x in outside)


def _no_values(n_features):
    names = [f"x{i}" for i in range(n_features)]
    return Table.of(np.zeros((2, n_features)), np.array([0.0, 1.0]), names, "regression")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "n_samples is 0; it must be an integer of at least 1"),
        ({"n_samples": 10.5}, "n_samples is 10.5"),
        ({"n_features": 6}, "n_features is 6, but n_parents=2, .* need 10 columns. Raise n_features"),
        ({"n_parents": -1}, "n_parents is -1"),
        ({"n_children": True}, "n_children is True"),
        ({"n_children": 0}, "n_spouses is 1 with n_children=0; a spouse is the other cause of a child"),
        ({"n_parents": 0, "n_children": 0, "n_spouses": 0}, "n_relatives is 5 without parents and children"),
        ({"task": "ranking"}, "task is 'ranking'; choose one of: regression, classification"),
        ({"mechanism": "quadratic"}, "mechanism is 'quadratic'; choose one of: linear, nonlinear, mixed"),
        ({"structure": "star"}, "structure is 'star'; choose one of: planted, random"),
        ({"n_classes": 1}, "n_classes is 1; it must be an integer of at least 2"),
        ({"noise": 0}, "noise is 0; it must be positive and finite"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"structure": "random", "edge_probability": 1.5}, "edge_probability is 1.5; it must lie between 0 and 1"),
        ({"random_state": "seed"}, "random_state is 'seed'"),
        ({"n_categorical": -1}, "n_categorical is -1"),
        ({"n_grouped": 1.5}, "n_grouped is 1.5"),
        ({"n_categorical": 21}, "n_categorical=21 and n_grouped=0 do not fit into n_features=20"),
        ({"n_categorical": 15, "n_grouped": 6}, "of which there are 5. Raise n_features"),
        ({"n_grouped": 11, "mechanism": "mixed"}, "of which there are 10"),
        ({"n_categorical": 2, "mechanism": "mixed"}, "n_categorical is 2 with mechanism='mixed'"),
        ({"missing": 1}, "missing is 1; it must be at least 0 and less than 1"),
        ({"missing": float("nan")}, "missing is nan"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named_with_their_value_and_rule(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_blanket_problem(**parameters)
