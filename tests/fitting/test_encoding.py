import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeRegressor

from ppfs._fitting.encoders import MAX_DUMMIES, Dummies, Medians, NativeCodes, _median, dummy_places
from ppfs._fitting.encoding import Encoded, encoding_name, prepared, weight_arguments
from ppfs.exceptions import InvalidInputError

LEVELS = np.array([8, 0, 0])


@pytest.fixture(scope="module")
def problem():
    """Eight categories in no order, of which three mean class 1, and two columns of numbers."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 8, 400), rng.normal(3, 10, 400), rng.normal(size=400)]).astype(float)
    return X, np.isin(X[:, 0], [1, 4, 6]).astype(int)


class Spy(RegressorMixin, BaseEstimator):
    """Remembers what it was fitted on; predicts the first column it sees."""

    def fit(self, X, y, sample_weight=None):
        self.seen_, self.weights_ = X, sample_weight
        return self

    def predict(self, X):
        return X[:, 0]


# Which encoding ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (DecisionTreeClassifier(), "codes"),
        (ExtraTreeRegressor(), "codes"),
        (RandomForestClassifier(), "codes"),
        (ExtraTreesRegressor(), "codes"),
        (GradientBoostingClassifier(), "codes"),
        (BaggingClassifier(), "codes"),
        (AdaBoostClassifier(), "codes"),
        (BaggingClassifier(DecisionTreeClassifier()), "codes"),
        (BaggingClassifier(LogisticRegression()), "one-hot"),
        (BaggingClassifier(HistGradientBoostingClassifier()), "codes"),
        (HistGradientBoostingRegressor(), "native"),
        (LogisticRegression(), "one-hot"),
        (SVC(), "one-hot"),
        (KNeighborsClassifier(), "one-hot"),
        (MLPClassifier(), "one-hot"),
        (GaussianNB(), "one-hot"),
        (Spy(), "one-hot"),
        (object(), "one-hot"),
        (make_pipeline(StandardScaler(), Ridge()), "one-hot"),
        (make_pipeline(PCA(), DecisionTreeClassifier()), "codes"),
        (make_pipeline(PCA(), HistGradientBoostingClassifier()), "codes"),
        (GridSearchCV(LogisticRegression(), {}), "one-hot"),
        (GridSearchCV(HistGradientBoostingClassifier(), {}), "native"),
        (CalibratedClassifierCV(), "one-hot"),
        (CalibratedClassifierCV(DecisionTreeClassifier()), "codes"),
        (TransformedTargetRegressor(ExtraTreeRegressor()), "codes"),
        (
            VotingClassifier([("a", DecisionTreeClassifier()), ("b", HistGradientBoostingClassifier())]),
            "codes",
        ),
        (VotingClassifier([("a", DecisionTreeClassifier()), ("b", GaussianNB())]), "one-hot"),
        (VotingClassifier([("a", DecisionTreeClassifier()), ("b", "drop")]), "codes"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_encoding_follows_the_estimator(estimator, name):
    assert encoding_name(estimator) == name


def test_subclass_is_encoded_like_its_parent():
    class Stump(DecisionTreeClassifier):
        pass

    assert encoding_name(Stump()) == "codes"


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("RandomForestClassifier", "codes"),
        ("DecisionTreeRegressor", "codes"),
        ("HistGradientBoostingClassifier", "native"),
    ],
)
def test_a_class_is_known_wherever_its_package_keeps_it(known, name):
    moved = type(known, (BaseEstimator,), {"__module__": "sklearn.somewhere._else"})
    assert encoding_name(moved()) == name


@pytest.mark.parametrize(
    ("library", "parameters", "name"),
    [
        ("LGBMClassifier", {}, "native"),
        ("CatBoostClassifier", {}, "native"),
        ("XGBClassifier", {}, "native"),
        ("XGBClassifier", {"booster": "gblinear"}, "one-hot"),
        ("XGBClassifier", {"tree_method": "exact"}, "codes"),
    ],
)
def test_libraries_are_known_by_the_name_of_their_module(library, parameters, name):
    module = {"L": "lightgbm.sklearn", "C": "catboost.core", "X": "xgboost.sklearn"}[library[0]]
    fake = type(library, (BaseEstimator,), {"__module__": module, **parameters})
    assert encoding_name(fake()) == name


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), HistGradientBoostingClassifier(), DecisionTreeClassifier()]
)
def test_without_categories_the_estimator_is_its_own(estimator):
    assert prepared(estimator, np.zeros(3, dtype=int)) is estimator


def test_trees_read_codes_as_they_are():
    tree = DecisionTreeClassifier()
    assert prepared(tree, LEVELS) is tree


# What the estimator sees -------------------------------------------------------------------------------


def test_one_hot_is_what_scikit_learn_would_make_of_the_train_part(problem):
    X, _ = problem
    train, test = X[:300], X[300:]
    encoder = Dummies(LEVELS).fit(train)
    one_hot = OneHotEncoder(sparse_output=False).fit(train[:, [0]])
    scaler = StandardScaler().fit(train[:, 1:])
    expected = np.hstack([scaler.transform(test[:, 1:]), one_hot.transform(test[:, [0]])])
    np.testing.assert_allclose(encoder.transform(test), expected, rtol=0, atol=1e-12)


def test_unseen_category_has_no_dummy():
    encoder = Dummies(np.array([4])).fit(np.array([[0.0], [2], [2]]))
    assert encoder.transform(np.array([[0.0], [1], [2], [3]])).tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize("n_levels", [MAX_DUMMIES, MAX_DUMMIES + 1, 5000])
def test_rare_categories_share_a_dummy(n_levels):
    rng = np.random.default_rng(0)
    # Zipf's law: a few frequent categories and many rare ones.
    codes = np.minimum(rng.zipf(1.3, 20_000) - 1, n_levels - 1).astype(float)[:, np.newaxis]
    encoder = Dummies(np.array([n_levels])).fit(codes)
    expected = OneHotEncoder(
        max_categories=MAX_DUMMIES + 1, handle_unknown="infrequent_if_exist", sparse_output=False
    ).fit(codes)
    everything = np.arange(n_levels, dtype=float)[:, np.newaxis]
    np.testing.assert_array_equal(encoder.transform(everything), expected.transform(everything))
    assert encoder.transform(everything).shape[1] <= MAX_DUMMIES + 1


def test_equally_frequent_categories_keep_the_first():
    assert dummy_places(np.array([3, 2, 1, 0]), 5, 2).tolist() == [0, 1, 2, 2, 2]


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 50, 200), rng.normal(size=200)]).astype(float)
    X[rng.random(200) < 0.2, 1] = np.nan
    weights = rng.integers(1, 4, 200)
    levels = np.array([50, 0])
    repeated = np.repeat(X, weights, axis=0)
    for make in (lambda: Dummies(levels), lambda: NativeCodes(levels, 20), Medians):
        one = make().fit(X, weights.astype(float)).transform(X)
        other = make().fit(repeated).transform(X)
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_constant_and_empty_columns_of_numbers_are_not_blown_up():
    X = np.column_stack([[0.0, 1, 0], [0.1] * 3, [np.nan] * 3])
    encoded = Dummies(np.array([2, 0, 0])).fit(X).transform(X)
    np.testing.assert_allclose(encoded[:, 0], 0, atol=1e-12)
    assert np.isnan(encoded[:, 1]).all()


def test_native_codes_are_consecutive_and_unseen_ones_missing():
    levels = np.array([6, 0])
    train, test = np.array([[5.0, 9], [1, 9], [1, 9]]), np.array([[0.0, 7], [1, 7], [5, 7]])
    encoder = NativeCodes(levels).fit(train)
    np.testing.assert_array_equal(encoder.transform(test), [[np.nan, 7], [0, 7], [1, 7]])
    objects = NativeCodes(levels, as_objects=True).fit(train).transform(test)
    assert objects.tolist() == [[-1, 7.0], [0, 7.0], [1, 7.0]]
    assert [type(value).__name__ for value in objects[0]] == ["int", "float"]


def test_native_codes_stay_below_the_limit():
    codes = np.repeat(np.arange(10.0), np.arange(1, 11))[:, np.newaxis]
    encoder = NativeCodes(np.array([12]), limit=4).fit(codes)
    everything = np.arange(12.0)[:, np.newaxis]
    assert encoder.transform(everything).ravel().tolist() == [3] * 7 + [0, 1, 2] + [3, 3]


# Fitting -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LinearSVC(random_state=0),
        SVC(random_state=0),
        KNeighborsClassifier(),
        GaussianNB(),
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
        DecisionTreeClassifier(random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(
            HistGradientBoostingClassifier(max_iter=20, random_state=0), {"max_depth": [2, 3]}, cv=2
        ),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_model_learns_categories_in_no_order(problem, estimator):
    X, y = problem
    model = prepared(estimator, LEVELS).fit(X[:300], y[:300])
    assert (model.predict(X[300:]) == y[300:]).mean() > 0.9
    assert model.classes_.tolist() == [0, 1]
    for method in ("predict_proba", "decision_function"):
        assert hasattr(model, method) == hasattr(estimator, method)
        if hasattr(model, method):
            assert len(getattr(model, method)(X[300:])) == 100
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_unfitted_model_offers_what_the_estimator_offers():
    assert hasattr(prepared(LogisticRegression(), LEVELS), "predict_proba")
    assert not hasattr(prepared(LinearSVC(), LEVELS), "predict_proba")
    assert not hasattr(prepared(Ridge(), LEVELS), "decision_function")
    assert not hasattr(prepared(Ridge(), LEVELS), "classes_")
    assert is_classifier(prepared(LogisticRegression(), LEVELS))


def test_callers_estimator_is_left_alone(problem):
    X, y = problem
    for estimator in (LogisticRegression(), HistGradientBoostingClassifier(max_iter=2, random_state=0)):
        before = estimator.get_params()
        prepared(estimator, LEVELS).fit(X, y)
        assert estimator.get_params() == before
        assert not hasattr(estimator, "classes_")


def test_prepared_estimator_can_be_cloned_and_seeded(problem):
    X, y = problem
    model = clone(prepared(MLPClassifier(max_iter=5), LEVELS)).set_params(estimator__random_state=3)
    assert isinstance(model, Encoded)
    with pytest.warns(UserWarning, match="converge"):
        assert model.fit(X, y).estimator_.random_state == 3


def test_categories_of_hist_gradient_boosting_are_native(problem):
    X, y = problem
    stump = HistGradientBoostingClassifier(max_iter=1, max_leaf_nodes=2, learning_rate=1, random_state=0)
    # One cut tells the three categories from the five, which no cut of their codes does.
    assert (prepared(stump, LEVELS).fit(X, y).predict(X) == y).mean() > 0.99
    assert (clone(stump).fit(X, y).predict(X) == y).mean() < 0.9


def test_more_categories_than_hist_gradient_boosting_takes():
    codes = np.repeat(np.arange(300.0), 20)[:, np.newaxis]
    y = (codes[:, 0] % 2).astype(int)
    model = HistGradientBoostingClassifier(max_iter=3, learning_rate=1, random_state=0)
    # The first 254 categories are learnt, the last 46 are one.
    learnt = prepared(model, np.array([300])).fit(codes, y).predict(codes) == y
    assert learnt[: 254 * 20].all()
    assert learnt[254 * 20 :].mean() == 0.5
    with pytest.raises(ValueError, match="cardinality"):
        model.set_params(categorical_features=[0]).fit(codes, y)


def test_weights_are_passed_only_when_given(problem):
    X, y = problem
    weights = np.arange(400.0)
    assert prepared(Spy(), LEVELS).fit(X, y).estimator_.weights_ is None
    assert prepared(Spy(), LEVELS).fit(X, y, sample_weight=weights).estimator_.weights_ is weights
    prepared(KNeighborsClassifier(), LEVELS).fit(X, y)
    with pytest.raises(InvalidInputError, match="KNeighborsClassifier takes no sample_weight"):
        prepared(KNeighborsClassifier(), LEVELS).fit(X, y, sample_weight=weights)


def test_weights_reach_the_last_step_of_a_pipeline(problem):
    X, y = problem
    weights = np.arange(400.0)
    model = prepared(make_pipeline(StandardScaler(), Spy()), LEVELS).fit(X, y, weights)
    assert model.estimator_[-1].weights_ is weights
    nested = make_pipeline(make_pipeline(StandardScaler(), Spy()))
    assert list(weight_arguments(nested, weights)) == ["pipeline__spy__sample_weight"]
    assert weight_arguments(GridSearchCV(Spy(), {}), weights) == {"sample_weight": weights}
    assert weight_arguments(nested, None) == {}
    with config_context(enable_metadata_routing=True):
        assert list(weight_arguments(make_pipeline(Spy()), weights)) == ["sample_weight"]


# Libraries ---------------------------------------------------------------------------------------------


def boosted(library):
    """A small classifier of the library, with one tree of two leaves."""
    module = pytest.importorskip(library)
    return {
        "lightgbm": lambda: module.LGBMClassifier(
            n_estimators=1, num_leaves=2, verbose=-1, learning_rate=1.0, min_data_per_group=1, cat_smooth=1
        ),
        "xgboost": lambda: module.XGBClassifier(n_estimators=1, max_depth=1, max_cat_to_onehot=1, n_jobs=1),
        "catboost": lambda: module.CatBoostClassifier(
            n_estimators=30, depth=1, learning_rate=1.0, verbose=0, allow_writing_files=False, thread_count=1
        ),
    }[library]()


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_categories_of_boosting_libraries_are_native(problem, library):
    X, y = problem
    model = prepared(boosted(library), LEVELS).fit(X[:300], y[:300], np.linspace(1, 2, 300))
    # One cut of the codes leaves at least one of the classes' runs 1, 4 and 6 on the wrong side.
    assert (model.predict(X[300:]) == y[300:]).mean() > 0.99
    assert model.predict_proba(X[300:]).shape == (100, 2)
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_boosting_libraries_take_unseen_categories_and_gaps(problem, library):
    X, y = problem
    X = X.copy()
    X[::7, 1] = np.nan
    is_train = X[:, 0] < 7
    model = prepared(boosted(library), LEVELS).fit(X[is_train], y[is_train])
    assert set(model.predict(X[~is_train]).tolist()) <= {0, 1}


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
@pytest.mark.parametrize("wrap", ["search", "calibrated"])
def test_native_categories_reach_into_wrappers(problem, library, wrap):
    X, y = problem
    inner = boosted(library)
    depth = {"lightgbm": "num_leaves", "xgboost": "max_depth", "catboost": "depth"}[library]
    search, calibrated = GridSearchCV(inner, {depth: [2, 3]}, cv=2), CalibratedClassifierCV(inner, cv=2)
    estimator = {"search": search, "calibrated": calibrated}[wrap]
    assert encoding_name(estimator) == "native"
    model = prepared(estimator, LEVELS).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.99


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_boosting_libraries_predict_three_labels(problem, library):
    X, _ = problem
    y = (X[:, 0] % 3).astype(int)
    model = prepared(boosted(library).set_params(n_estimators=20), LEVELS).fit(X, y)
    assert model.predict(X).shape == (400,)
    assert (model.predict(X) == y).mean() > 0.9


# Missing values ----------------------------------------------------------------------------------------


def test_gaps_are_filled_with_the_medians_of_the_train_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X[rng.random((60, 4)) < 0.3] = np.nan
    train, test = X[:40], X[40:]
    expected = SimpleImputer(strategy="median").fit(train).transform(test)
    np.testing.assert_array_equal(Medians().fit(train).transform(test), expected)
    np.testing.assert_array_equal(Medians().fit(train, np.ones(40)).transform(test), expected)


def test_column_without_any_value_is_filled_with_zero():
    X = np.array([[np.nan, 1.0], [np.nan, 3.0]])
    assert Medians().fit(X).transform(np.array([[np.nan, np.nan]])).tolist() == [[0, 2]]


def test_gaps_of_sparse_columns_are_filled_and_zeros_are_values():
    X = np.array([[0.0, 5, 1], [0, 7, np.nan], [np.nan, 0, 3], [4, np.nan, 2]])
    for make in (sp.csr_array, sp.csc_array):
        filled = Medians().fit(make(X)).transform(make(X))
        assert sp.issparse(filled)
        np.testing.assert_array_equal(filled.toarray(), Medians().fit(X).transform(X))
    assert np.isnan(X).sum() == 3


def test_imputed_estimator_takes_gaps_without_scaling():
    X = np.array([[1.0, 10], [np.nan, 30], [3, 20], [5, np.nan]])
    model = prepared(Spy(), np.zeros(2, dtype=int), impute="median").fit(X, np.arange(4.0))
    assert model.estimator_.seen_.tolist() == [[1, 10], [3, 30], [3, 20], [5, 20]]
    assert model.predict(np.array([[np.nan, 1.0]])).tolist() == [3]


def test_imputation_comes_before_the_encoding(problem):
    X, y = problem
    gaps = X.copy()
    gaps[::3, 1] = np.nan
    median = np.nanmedian(gaps[:, 1])
    filled = np.where(np.isnan(gaps), median, gaps)
    for estimator in (
        LogisticRegression(),
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        DecisionTreeClassifier(random_state=0),
    ):
        one = prepared(estimator, LEVELS, impute="median").fit(gaps, y)
        other = prepared(estimator, LEVELS).fit(filled, y)
        np.testing.assert_array_equal(one.predict_proba(gaps), other.predict_proba(filled))


def test_sparse_data_can_be_imputed():
    X = sp.csr_array(np.array([[0.0, 5], [0, np.nan], [2, 0], [4, 1]]))
    model = prepared(LinearRegression(), np.zeros(2, dtype=int), impute="median").fit(X, np.arange(4.0))
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("weights", [[1, 1, 5], [5, 1, 1], [1, 1, 1], [1, 1, 2], [2, 1, 1]])
def test_the_median_of_weighted_rows_is_that_of_repeated_rows(weights):
    values = np.array([1.0, 2.0, 10.0])
    assert _median(values, np.array(weights, dtype=float)) == np.median(np.repeat(values, weights))


def test_a_number_is_one_regressor_and_a_category_one_for_each_of_its_values():
    X = np.column_stack([np.arange(12.0), np.arange(12) % 3, np.arange(12) % 5])
    model = prepared(Ridge(), np.array([0, 3, 0])).fit(X, X[:, 0])
    assert model.n_regressors(3).tolist() == [1, 3, 1]
    assert model.estimator_.coef_.size == 5
