"""Linear models of mixed tables: the engine answers as scikit-learn's models behind their encoding do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, SplineTransformer, StandardScaler

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.risks.any_model import ModelRisks
from ppfs.independence._predictive.risks.linear import LinearRisks

EXACT = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}
N_ROWS = 120


def table(task="regression", n_towns=5):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(20, 3, N_ROWS),
            "color": rng.choice(["red", "green", "blue"], N_ROWS),
            "town": rng.choice([f"town {i:02}" for i in range(n_towns)], N_ROWS),
            "noise": rng.normal(size=N_ROWS),
            # So rare that some train part lacks it.
            "rare": np.where(np.arange(N_ROWS) < 2, "yes", "no"),
        }
    )
    signal = 0.2 * frame["size"] + (frame["color"] == "red") + rng.normal(size=N_ROWS)
    n_classes = {"regression": 0, "classification": 2, "three classes": 3}[task]
    if not n_classes:
        return frame, signal.to_numpy()
    return frame, np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


def both(test, X, y, **reading):
    """Return what answers: the engine, and scikit-learn."""
    bound = test.bind(read_table(X, y, task="auto", owner="test", **reading))
    ours = bound._risks_about(bound.table.target, is_marginal=True)[0]
    assert isinstance(ours, LinearRisks), ours.note
    return ours, ModelRisks(bound.table, ours.problem, None, "a comparison")


def assert_same(ours, theirs, rtol):
    for name in ("base", "replaced", "by_draw"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=1e-3 * rtol, err_msg=name)


def grown(source):
    return source.grower().risks(source._table.block(list(range(source._table.n_features))))


def line(task):
    return Ridge() if task == "regression" else LogisticRegression(**EXACT)


STEPS = [(), (StandardScaler(),), (MinMaxScaler(),), (StandardScaler(), SplineTransformer())]


@pytest.mark.parametrize("steps", STEPS, ids=repr)
@pytest.mark.parametrize("task", ["regression", "classification", "three classes"])
@pytest.mark.parametrize("n_towns", [5, 40])
def test_growth_equals_scikit_learns_models(task, steps, n_towns):
    test = PPI(make_pipeline(*steps, line(task)), n_splits=5, random_state=0)
    ours, theirs = both(test, *table(task, n_towns))
    assert_same(grown(ours), grown(theirs), rtol=1e-5)


@pytest.mark.parametrize("steps", STEPS, ids=repr)
@pytest.mark.parametrize("task", ["regression", "classification", "three classes"])
@pytest.mark.parametrize("knockoff", ["permutation", "conditional"])
def test_shrinkage_equals_scikit_learns_models(task, steps, knockoff):
    test = CrossFitPPI(
        make_pipeline(*steps, line(task)), knockoff=knockoff, n_draws=2, n_folds=3, random_state=0
    )
    ours, theirs = both(test, *table(task, 40 if knockoff == "conditional" else 5))
    # The larger set first, whose regressors are used again; the last has no categories.
    for members in (frozenset(range(5)), frozenset({0, 1, 3}), frozenset({0, 3})):
        xs = sorted(members)
        assert_same(ours.of_members(xs, members), theirs.of_members(xs, members), rtol=1e-4)
    assert_same(ours.of_added([1, 2], {0, 3}), theirs.of_added([1, 2], {0, 3}), rtol=1e-4)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_weights_and_missing_numbers_equal_scikit_learns(task):
    X, y = table(task)
    weights = np.random.default_rng(1).integers(1, 4, N_ROWS).astype(float)
    test = PPI(line(task), n_splits=5, random_state=0)
    ours, theirs = both(test, X, y, sample_weight=weights)
    assert_same(grown(ours), grown(theirs), rtol=1e-5)
    members = frozenset(range(5))
    assert_same(ours.of_members([0, 1], members), theirs.of_members([0, 1], members), rtol=1e-5)
    X.loc[::7, "size"] = np.nan
    ours, theirs = both(PPI(line(task), n_splits=5, impute="median", random_state=0), X, y)
    assert_same(grown(ours), grown(theirs), rtol=1e-5)
    assert_same(ours.of_members([0, 1], members), theirs.of_members([0, 1], members), rtol=1e-5)


def test_groups_of_numbers_and_categories_equal_scikit_learns():
    test = CrossFitPPI(Ridge(), n_draws=2, n_folds=3, random_state=0)
    ours, theirs = both(test, *table(), feature_groups={"both": ["town", "size"]})
    members = frozenset(range(4))
    assert_same(ours.of_members([0, 1, 2], members), theirs.of_members([0, 1, 2], members), rtol=1e-6)
    expected = theirs.of_members([0, 1, 2], members).n_coefficients.tolist()
    assert ours.of_members([0, 1, 2], members).n_coefficients.tolist() == expected


def test_least_squares_have_the_shortest_solution():
    ours, theirs = both(PPI(LinearRegression(), n_splits=5, random_state=0), *table())
    members = frozenset({0, 1, 2, 3})
    assert_same(grown(ours), grown(theirs), rtol=1e-7)
    assert_same(ours.of_members([0, 1], members), theirs.of_members([0, 1], members), rtol=1e-7)


def test_coefficients_of_a_category_are_its_dummies_but_one():
    ours, theirs = both(CrossFitPPI(Ridge(), random_state=0), *table(n_towns=40))
    members = frozenset(range(5))
    expected = theirs.of_members([0, 1, 2], members).n_coefficients.tolist()
    assert ours.of_members([0, 1, 2], members).n_coefficients.tolist() == expected == [1, 2, 30]
    assert grown(ours).n_coefficients.tolist() == [1, 2, 30, 1, 1]


def test_coefficients_of_categories_behind_splines_are_not_counted():
    model = make_pipeline(StandardScaler(), SplineTransformer(), Ridge())
    ours, _ = both(CrossFitPPI(model, random_state=0), *table())
    members = frozenset(range(5))
    assert ours.of_members([0, 1], members).n_coefficients.tolist() == [6, np.inf]
    assert grown(ours).n_coefficients.tolist() == [6, np.inf, np.inf, 6, np.inf]


def test_a_columns_answer_does_not_depend_on_its_neighbors():
    ours, _ = both(CrossFitPPI(make_pipeline(StandardScaler(), Ridge()), random_state=0), *table())
    together = grown(ours)
    for column in range(5):
        alone = ours.grower().risks(ours._table.block([column]))
        np.testing.assert_array_equal(together.at(column).replaced, alone.replaced)


@pytest.mark.parametrize(
    "model",
    [
        Lasso(),
        Ridge(fit_intercept=False),
        make_pipeline(PolynomialFeatures(2), Ridge()),
    ],
    ids=repr,
)
def test_other_penalties_and_products_are_left_to_scikit_learn(model):
    X, y = table()
    bound = PPI(model, n_splits=5, random_state=0).bind(read_table(X, y, task="auto", owner="test"))
    assert type(bound._risks_about(bound.table.target, is_marginal=True)[0]) is ModelRisks


def test_logistic_regression_without_a_penalty_is_left_to_scikit_learn():
    X, y = table("classification")
    model = LogisticRegression(C=np.inf)
    bound = PPI(model, n_splits=5, random_state=0).bind(read_table(X, y, task="auto", owner="test"))
    assert type(bound._risks_about(bound.table.target, is_marginal=True)[0]) is ModelRisks


@pytest.mark.parametrize("task", ["regression", "classification", "three classes"])
def test_the_preset_treats_mixed_tables_as_it_treats_numbers(task):
    """All models are fitted by the engine, and small p-values are counted."""
    X, y = table(task)
    selector = PPFS.calibrated(random_state=0).fit(X, y)
    assert selector.support_.tolist() == [True, True, False, False, False]
    notes = "; ".join(selector.trace_.notes)
    assert "scikit-learn's interface" not in notes
    assert "approximate" not in notes
    assert "exact growth: " in notes
