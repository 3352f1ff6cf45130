"""The recommended preset, and the calibrated tests in every search."""

import warnings

import numpy as np
import pytest
from checks.searches import CLASSICAL as SEARCHES
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from ppfs import PPFS
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, FisherZ
from ppfs.models import default_panel


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    X[:, 1] += X[:, 0]
    return X, X[:, 0] + X[:, 2] + 0.5 * rng.normal(size=150)


def test_the_preset_is_the_cross_fitted_test_with_a_corrected_growth(table):
    model = LinearRegression()
    preset = PPFS.calibrated(model, alpha=0.1, random_state=0, always_keep=[5])
    by_hand = PPFS(
        independence=CrossFitPPI(model), correction="bh", alpha=0.1, random_state=0, always_keep=[5]
    )
    assert preset.fit(*table).blanket_.tolist() == by_hand.fit(*table).blanket_.tolist()
    np.testing.assert_array_equal(preset.pvalues_, by_hand.pvalues_)
    assert set(preset.blanket_) == {0, 2, 5}


def test_the_preset_can_be_cloned_and_tuned(table):
    preset = PPFS.calibrated(LinearRegression(), random_state=0)
    assert clone(preset).fit(*table).blanket_.tolist() == preset.fit(*table).blanket_.tolist()
    tuned = GridSearchCV(
        make_pipeline(PPFS.calibrated(LinearRegression(), random_state=0), LinearRegression()),
        [{"ppfs__alpha": [0.01]}, {"ppfs__n_draws": [3]}],
        cv=2,
    ).fit(*table)
    assert tuned.best_score_ > 0.5


@pytest.mark.parametrize("name", ["n_splits", "significance", "independence"])
def test_the_preset_does_not_take_what_it_decides(name):
    with pytest.raises(InvalidInputError, match=f"does not take '{name}'"):
        PPFS.calibrated(**{name: None})


def test_the_trace_has_both_pvalues_and_the_attribute_stays_raw(table):
    selector = PPFS.calibrated(LinearRegression(), random_state=0).fit(*table)
    growth = selector.trace_.to_frame().query("phase == 'growth'")
    assert (growth["adjusted_pvalue"] >= growth["pvalue"]).all()
    assert (growth["adjusted_pvalue"] > growth["pvalue"]).any()
    dropped = growth[growth["decision"] != "candidate"]
    for step in dropped.itertuples():
        column = selector.trace_.names.index(step.feature)
        assert selector.pvalues_[column] == step.pvalue


def test_flat_parameters_reach_the_papers_test(table):
    flat = PPFS(
        LinearRegression(),
        n_splits=10,
        significance="corrected-t",
        knockoff="conditional",
        n_draws=3,
        conditional=LinearRegression(),
        random_state=0,
    ).fit(*table)
    ready = PPI(
        LinearRegression(),
        n_splits=10,
        significance="corrected-t",
        knockoff="conditional",
        n_draws=3,
        conditional=LinearRegression(),
    )
    np.testing.assert_array_equal(
        flat.pvalues_, PPFS(independence=ready, random_state=0).fit(*table).pvalues_
    )


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.__name__)
@pytest.mark.parametrize(
    "test",
    [
        CrossFitPPI(LogisticRegression()),
        PPI(LogisticRegression(), n_splits=10, significance="corrected-t", knockoff="conditional"),
    ],
    ids=["cross-fit", "corrected-t"],
)
def test_every_search_takes_the_calibrated_tests(search, test):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    y = (2 * X[:, 0] + rng.normal(size=200) > 0).astype(int)
    if search.__name__ in ("MMMB", "HITONMB", "IAMBnPC", "InterIAMBnPC", "TIEStar"):
        # These ask about columns as targets too, which a classifier cannot predict: the tree fits either.
        test = clone(test).set_params(estimator=None)
    selector = search(independence=test, alpha=0.01, random_state=0).fit(X, y)
    assert selector.blanket_.tolist() == [0]


def test_a_search_takes_the_cross_fitted_test_by_name(table):
    search = next(search for search in SEARCHES if search.__name__ == "FBED")
    found = search(independence="cross-fit-ppi", random_state=0).fit(*table)
    assert isinstance(found.independence_, CrossFitPPI)
    assert 2 in found.blanket_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"estimator": LinearRegression(), "independence": CrossFitPPI()},
            r"estimator=LinearRegression\(\) would have no effect.*CrossFitPPI\(estimator=...\), or "
            "independence='cross-fit-ppi'",
        ),
        (
            {"n_splits": 7, "independence": PPI()},
            r"n_splits=7 .* Write independence=PPI\(n_splits=\.\.\.\)\.$",
        ),
        ({"growth_estimator": LinearRegression(), "independence": PPI()}, "marginal_estimator=..."),
        ({"impute": "median", "independence": FisherZ()}, "impute='median' .* Leave it out"),
        ({"n_splits": 7, "independence": "cross-fit-ppi"}, "n_splits=7 would have no effect"),
        ({"knockoff": "conditional", "independence": "cross-fit-ppi"}, r"CrossFitPPI\(...\)"),
        (
            {"estimator": LinearRegression(), "independence": "fisher-z"},
            r"would have no effect.*FisherZ\(...\)",
        ),
    ],
    ids=str,
)
def test_a_parameter_without_effect_is_refused(table, parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        PPFS(**parameters).fit(*table)


def test_the_estimator_of_the_preset_can_be_set(table):
    """A panel and a line see different things."""
    panel = PPFS.calibrated(random_state=0)
    line = clone(panel).set_params(estimator=LinearRegression()).fit(*table)
    np.testing.assert_array_equal(
        line.pvalues_, PPFS.calibrated(LinearRegression(), random_state=0).fit(*table).pvalues_
    )
    assert line.pvalues_.tolist() != panel.fit(*table).pvalues_.tolist()


def test_the_preset_asks_a_panel(table):
    selector = PPFS.calibrated(random_state=0).fit(*table)
    assert selector.trace_.models == (
        "Ridge",
        "SplineTransformer+Ridge",
        "PolynomialFeatures+Ridge",
        "BoostedLinearRegressor",
    )
    assert len(default_panel("regression")) == 4


def test_the_preset_finds_weak_effects_among_other_columns():
    """Three equal effects among twenty columns, which a full tree nearly always misses."""
    n_found = 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 20))
        y = X[:, :3].sum(axis=1) + 2.0 * rng.normal(size=200)
        n_found += PPFS.calibrated(random_state=0).fit(X, y).support_[:3].sum()
    assert n_found >= 5


def test_a_grid_search_over_the_estimator_of_the_preset_compares_models(table):
    X, y = table
    steps = make_pipeline(PPFS.calibrated(Ridge(), random_state=0), LinearRegression())
    hopeless = DummyRegressor()  # Predicts the mean, so no column helps and none is selected.
    search = GridSearchCV(steps, {"ppfs__estimator": [hopeless, Ridge()]}, cv=2, error_score=-1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert isinstance(search.fit(X, y).best_params_["ppfs__estimator"], Ridge)
    nested = clone(steps).set_params(ppfs__estimator__alpha=1e12)[0]
    assert nested.fit(X, y).independence_.estimator.alpha == 1e12


def test_flat_parameters_reach_a_test_by_name(table):
    flat = PPFS(
        Ridge(),
        independence="cross-fit-ppi",
        growth_estimator=LinearRegression(),
        n_draws=3,
        conditional=LinearRegression(),
        loss="absolute",
        splitter=KFold(4),
        random_state=0,
    ).fit(*table)
    ready = CrossFitPPI(
        Ridge(),
        marginal_estimator=LinearRegression(),
        n_draws=3,
        conditional=LinearRegression(),
        loss="absolute",
        splitter=KFold(4),
    )
    np.testing.assert_array_equal(
        flat.pvalues_, PPFS(independence=ready, random_state=0).fit(*table).pvalues_
    )


@pytest.mark.parametrize(("name", "kind"), [("fisher-z", FisherZ), ("ppi", PPI), ("auto", FisherZ)])
def test_every_name_of_a_test_is_taken(table, name, kind):
    assert isinstance(PPFS(independence=name, random_state=0).fit(*table).independence_, kind)
