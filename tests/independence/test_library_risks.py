"""LightGBM, XGBoost and CatBoost are fitted by their own libraries: the same answers as through their interfaces."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ppfs import PPFS
from ppfs._fitting import LightGBMRecipe, has_library_model, is_plain_lightgbm, with_one_thread
from ppfs.independence import CrossFitPPI

lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
catboost = pytest.importorskip("catboost")


class OwnClassifier(lightgbm.LGBMClassifier):
    """A caller's class, of which nothing is known."""


def _table(n_classes: int, n_rows: int = 120):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 4))
    score = X[:, 0] + 0.5 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)) if n_classes else score
    return X, y


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num_leaves": 4, "min_child_samples": 5, "reg_lambda": 1.0},
        {"subsample": 0.5, "subsample_freq": 1},
        {"max_depth": 1, "min_child_samples": 70},
    ],
)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_lightgbm_without_its_wrapper_predicts_the_same(n_classes, settings, is_weighted):
    X, y = _table(n_classes)
    kind = lightgbm.LGBMClassifier if n_classes else lightgbm.LGBMRegressor
    model = kind(n_estimators=8, random_state=3, n_jobs=1, verbose=-1, **settings)
    weights = np.linspace(0.5, 2.0, len(y)) if is_weighted else None
    assert is_plain_lightgbm(model)
    recipe = LightGBMRecipe.of(model)
    fitted = [recipe.fit(X, y, weights, is_classifier=n_classes > 0, seed=0)]
    if recipe.is_constant(len(y)):
        fitted.append(recipe.fit_constant(y, weights, is_classifier=n_classes > 0, seed=0))
    theirs = clone(model).fit(X, y, sample_weight=weights)
    method = "predict_proba" if n_classes else "predict"
    for ours in fitted:
        np.testing.assert_array_equal(getattr(ours, method)(X), getattr(theirs, method)(X))
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        lightgbm.LGBMClassifier(n_jobs=1, class_weight="balanced"),
        lightgbm.LGBMClassifier(n_jobs=1, objective="binary"),
        lightgbm.LGBMClassifier(n_jobs=1, boosting_type="dart"),
        lightgbm.LGBMClassifier(n_jobs=1, num_iterations=5),
        lightgbm.LGBMClassifier(n_jobs=2),
        OwnClassifier(n_jobs=1),
        xgboost.XGBClassifier(n_jobs=1),
    ],
)
def test_what_lightgbm_is_asked_for_beyond_the_known_is_left_to_its_wrapper(model):
    assert not is_plain_lightgbm(model)


def test_rows_that_are_too_few_for_two_leaves_are_fitted_once_for_all_columns(monkeypatch):
    n_fits = 0
    fit = LightGBMRecipe.fit

    def counted(*args, **kwargs):
        nonlocal n_fits
        n_fits += 1
        return fit(*args, **kwargs)

    monkeypatch.setattr(LightGBMRecipe, "fit", counted)
    X, y = np.random.default_rng(0).normal(size=(40, 30)), np.arange(40) % 2
    selector = PPFS.calibrated(
        lightgbm.LGBMClassifier(n_estimators=5, verbose=-1), growth="marginal", random_state=0
    ).fit(X, y)
    assert selector.blanket_.size == 0
    assert n_fits == 5


def test_one_thread_is_taken_where_the_caller_left_it_open():
    models = [lightgbm.LGBMClassifier(), xgboost.XGBRegressor(), catboost.CatBoostClassifier(verbose=0)]
    names = ["n_jobs", "n_jobs", "thread_count"]
    for model, name in zip(models, names, strict=True):
        assert has_library_model(model)
        assert with_one_thread(model).get_params()[name] == 1
        assert model.get_params().get(name) is None
        assert with_one_thread(clone(model).set_params(**{name: 2})).get_params()[name] == 2
    piped = make_pipeline(StandardScaler(), lightgbm.LGBMClassifier())
    assert with_one_thread(piped)[-1].n_jobs == 1
    assert not has_library_model(StandardScaler())


def _fitted(model, X, y, **settings):
    selector = PPFS(model, n_splits=5, alpha=0.2, random_state=0, **settings)
    return selector.fit(X, y)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_answers_are_those_of_the_wrapper_and_of_any_number_of_threads(n_classes):
    X, y = _table(n_classes)
    kind = lightgbm.LGBMClassifier if n_classes else lightgbm.LGBMRegressor
    model = kind(n_estimators=5, min_child_samples=5, verbose=-1)
    # A pipeline is fitted through its own interface.
    generic = _fitted(make_pipeline(model), X, y)
    alone, together = (_fitted(model, X, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert "fitted by its own library" in alone.trace_.notes[0]
    for other in (generic, together):
        np.testing.assert_array_equal(alone.pvalues_, other.pvalues_)
        np.testing.assert_array_equal(alone.importances_, other.importances_)


@pytest.mark.parametrize(
    "model",
    [
        xgboost.XGBClassifier(n_estimators=3, max_depth=2),
        catboost.CatBoostClassifier(n_estimators=3, depth=2, verbose=0, allow_writing_files=False),
    ],
    ids=["xgboost", "catboost"],
)
def test_other_libraries_find_the_column_that_decides(model):
    X, y = _table(2)
    selector = _fitted(model, X, y)
    assert 0 in selector.blanket_
    assert "fitted by its own library" in selector.trace_.notes[0]


def test_catboost_leaves_no_files_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = catboost.CatBoostClassifier(n_estimators=2, depth=2, verbose=0)
    CrossFitPPI(model, random_state=0).evaluate(X, X[:, 0] > 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_twice_the_rows_of_a_leaf_are_enough_for_two():
    recipe = LightGBMRecipe.of(lightgbm.LGBMRegressor(n_estimators=2, min_child_samples=5, verbose=-1))
    for n_rows, is_constant in [(9, True), (10, False)]:
        assert recipe.is_constant(n_rows) == is_constant
        X = (np.arange(n_rows) < 5).astype(float)[:, None]
        fitted = recipe.fit(X, X[:, 0], None, is_classifier=False, seed=0)
        assert (np.unique(fitted.booster.predict(X)).size == 1) == is_constant
