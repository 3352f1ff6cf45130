"""The caller's models: tasks, names, encodings, weights, seeds, scores and parameters, rule by rule."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._data import Table, read_table
from ppfs._fitting import (
    DefaultMember,
    LabelProbabilities,
    drawn_counts,
    fitted_clone,
    seeded,
    tree_seeds,
    usable_members,
)
from ppfs._fitting.boosting_libraries import (
    LightGBMRecipe,
    has_library_model,
    is_plain_lightgbm,
    with_one_thread,
)
from ppfs._fitting.column_transformers import narrow, reads_frames
from ppfs._fitting.encoding import Encoded, _native_settings, prepared, require_suits, weight_arguments
from ppfs._fitting.estimators import estimator_for, input_tags, require_valid_parameters, task_of_estimator
from ppfs._fitting.label_probabilities import _codes_of, called, for_labels
from ppfs._fitting.panel_members import PanelParameters, accepted_input, members_of, names_of, task_of_members
from ppfs._fitting.parameters import KnownParameters, _is_same, changed_parameters, default_parameters
from ppfs._fitting.scoring import (
    CrossValidated,
    SameHazard,
    constant_model,
    fold_score,
    naming_the_model,
    scorer_for,
    seen_by,
    weighted_score,
)
from ppfs._fitting.wanted_encoding import Wanted, wanted_encoding, wants_numbered_labels
from ppfs.exceptions import EstimatorFailedError, InvalidInputError

lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
catboost = pytest.importorskip("catboost")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=40)
LABELS = np.where(Y > 0, "yes", "no")
TABLE = Table.of(X, Y, "abc", "regression")
CLASSES = Table.of(X, LABELS, "abc", "classification")


def refused(text, error=InvalidInputError):
    return pytest.raises(error, match=re.escape(text))


# Which model, and for which task -----------------------------------------------------------------------


def test_the_model_of_a_task():
    assert type(estimator_for(None, "classification")) is DecisionTreeClassifier
    assert type(estimator_for(None, "regression")) is DecisionTreeRegressor
    ridge, labels = Ridge(), LogisticRegression()
    assert estimator_for(ridge, "regression") is ridge
    assert estimator_for(labels, "classification") is labels
    with refused("Ridge cannot predict the target: the task is classification. Use a classifier, or"):
        estimator_for(ridge, "classification")
    with refused("LogisticRegression cannot predict 'a': the task is regression. Use a regressor, or"):
        estimator_for(labels, "regression", "'a'")
    with refused("KMeans is of the type 'clusterer', which does not predict a target."):
        estimator_for(KMeans(), "regression")
    both = type("Both", (BaseEstimator,), {"fit": lambda self, X, y: self})()
    assert estimator_for(both, "regression") is both
    assert [task_of_estimator(one) for one in (None, ridge, labels, both)] == [
        None,
        "regression",
        "classification",
        None,
    ]


def test_members_of_the_default_panel():
    assert [DefaultMember(number).weight for number in range(4)] == [2.0, 1.0, 1.0, 1.0]
    assert [DefaultMember(number).is_asked_given(0) for number in range(4)] == [True, True, False, True]
    assert all(DefaultMember(number).is_asked_given(1) for number in range(4))
    line = DefaultMember(0).of("regression")
    assert line[0].with_mean
    assert not DefaultMember(0, is_sparse=True).of("regression")[0].with_mean
    with config_context(enable_metadata_routing=True):
        routed = DefaultMember(1).of("classification")
        asked = [
            step.get_metadata_routing().fit.requests["sample_weight"]
            for _, step in routed.steps
            if hasattr(step, "set_fit_request")
        ]
        assert asked == [False] * (len(asked) - 1) + [True]
        assert len(asked) >= 2


def test_a_panel_is_a_list_of_models():
    assert members_of("panel") == [DefaultMember(number) for number in range(4)]
    ridge = Ridge()
    assert members_of(ridge) == [ridge]
    assert members_of(None) == [None]
    assert members_of((ridge, DefaultMember(1))) == [ridge, DefaultMember(1)]
    for wrong, said in (
        ([], 'growth=[] is a panel without a model. Name at least one, or use growth="panel"'),
        ([ridge, Ridge], "growth[1] is the class Ridge; an instance is needed: Ridge()."),
        ([ridge, None], "growth[1]=None is not a model"),
        (["panel"], "growth[0]='panel' is not a model"),
    ):
        with refused(said):
            members_of(wrong, "growth")
    with refused("estimator=[] is a panel"):
        members_of([])


def test_the_task_of_a_panel_is_that_of_its_models():
    assert task_of_members("panel") is None
    assert task_of_members(None) is None
    assert task_of_members([DefaultMember(0), Ridge()]) == "regression"
    assert task_of_members([GaussianNB(), DecisionTreeClassifier()]) == "classification"
    with refused("growth lists the classifier GaussianNB and the regressor SVR, but a target is either"):
        task_of_members([DefaultMember(0), SVR(), GaussianNB(), Ridge()], "growth")


def test_models_that_suit_a_table():
    assert usable_members("panel", TABLE) == [DefaultMember(number) for number in range(4)]
    two = Table.of(X, X[:, :2], "abc", "regression")
    assert usable_members("panel", two) == [DefaultMember(number) for number in range(3)]
    sparse = read_table(sp.csr_array(X), Y, task="regression", owner="a test")
    assert usable_members("panel", sparse) == [DefaultMember(0, is_sparse=True)]
    ridge = Ridge()
    assert usable_members([ridge, DefaultMember(2)], TABLE) == [ridge, DefaultMember(2)]


@pytest.mark.parametrize(
    ("estimator", "sparse", "missing"),
    [
        ("panel", True, True),
        (Ridge(), True, False),
        (None, True, True),
        ([Ridge(), DecisionTreeRegressor()], True, False),
        ([HistGradientBoostingClassifier(), DecisionTreeClassifier()], False, True),
        (make_pipeline(StandardScaler(), DecisionTreeRegressor()), None, True),
        (make_pipeline(StandardScaler(), Ridge()), None, False),
        (make_pipeline(None, "passthrough", SimpleImputer(), Ridge()), None, True),
        (make_pipeline(PolynomialFeatures(), DecisionTreeRegressor()), None, False),
        (GridSearchCV(DecisionTreeRegressor(), {}), None, True),
        (GridSearchCV(Ridge(), {}), None, False),
        (ColumnTransformer([("a", SimpleImputer(), [0]), ("b", "drop", [1])]), None, True),
        (ColumnTransformer([("a", SimpleImputer(), [0]), ("b", PolynomialFeatures(), [1])]), None, False),
        (ColumnTransformer([("b", "drop", [1])]), None, False),
        (SimpleNamespace(), True, True),
    ],
)
def test_the_input_that_all_models_accept(estimator, sparse, missing):
    tags = accepted_input(estimator, "regression")
    assert tags.allow_nan is missing
    assert sparse is None or tags.sparse is sparse
    if not isinstance(estimator, str | list) and estimator is not None:
        assert input_tags(estimator).allow_nan is missing


def test_every_model_has_a_name_of_its_own():
    models = [
        Ridge(), make_pipeline(StandardScaler(), Ridge()), None, DefaultMember(1), Ridge(), None,
        make_pipeline(StandardScaler()), make_pipeline("passthrough", None, SplineTransformer(), Ridge()),
        LabelProbabilities(GaussianNB(), (2,)),
    ]  # fmt: skip
    assert names_of(models, "regression") == (
        "Ridge", "Ridge (2)", "decision tree", "SplineTransformer+Ridge", "Ridge (3)", "decision tree (2)",
        "Pipeline", "SplineTransformer+Ridge (2)", "GaussianNB",
    )  # fmt: skip
    assert called(LabelProbabilities(GaussianNB(), (2,))) == "GaussianNB"
    assert called(Ridge()) == "Ridge"


class Holder(PanelParameters):
    def __init__(self, estimator=None, alpha=0.1, marginal_estimator=None):
        self.estimator = estimator
        self.alpha = alpha
        self.marginal_estimator = marginal_estimator


def test_parameters_of_models_in_a_list_are_read_and_set():
    listed = [Ridge(alpha=2.0), None, make_pipeline(StandardScaler(), Ridge())]
    holder = Holder(listed, marginal_estimator=SVR())
    assert holder.get_params(deep=False) == {
        "alpha": 0.1,
        "estimator": listed,
        "marginal_estimator": holder.marginal_estimator,
    }
    found = holder.get_params()
    assert found["estimator__0__alpha"] == 2.0
    assert found["estimator__1"] is None
    assert found["estimator__2__ridge__alpha"] == 1.0
    assert found["marginal_estimator__C"] == 1.0
    assert "estimator__1__alpha" not in found
    assert holder.set_params(estimator__0__alpha=5.0, alpha=0.2, marginal_estimator__C=3.0) is holder
    assert (listed[0].alpha, holder.alpha, holder.marginal_estimator.C) == (5.0, 0.2, 3.0)
    holder.set_params(estimator__1__alpha=7.0, estimator__1=Ridge())
    assert holder.estimator[1].alpha == 7.0
    assert listed[1] is None
    holder.set_params(estimator=[Ridge()], estimator__0__alpha=9.0)
    assert holder.estimator[0].alpha == 9.0
    with refused("'estimator__1__alpha' names model 1, but estimator lists 1, counted from 0."):
        holder.set_params(estimator__1__alpha=1.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        holder.set_params(other__0=1)


# Encodings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "wanted"),
    [
        (DecisionTreeClassifier(), Wanted("codes")),
        (Ridge(), Wanted("one-hot")),
        (HistGradientBoostingClassifier(), Wanted("native", "scikit-learn")),
        (lightgbm.LGBMRegressor(), Wanted("native", "lightgbm")),
        (catboost.CatBoostRegressor(), Wanted("native", "catboost")),
        (xgboost.XGBRegressor(), Wanted("native", "xgboost")),
        (xgboost.XGBRegressor(booster="gblinear"), Wanted("one-hot")),
        (xgboost.XGBRegressor(tree_method="exact"), Wanted("codes")),
        (make_pipeline(StandardScaler(), HistGradientBoostingClassifier()), Wanted("codes")),
        (make_pipeline(StandardScaler(), Ridge()), Wanted("one-hot")),
        (GridSearchCV(HistGradientBoostingClassifier(), {}), Wanted("native", "scikit-learn", "estimator__")),
        (GridSearchCV(GridSearchCV(lightgbm.LGBMRegressor(), {}), {}),
         Wanted("native", "lightgbm", "estimator__estimator__")),
        (GridSearchCV(Ridge(), {}), Wanted("one-hot", "", "estimator__")),
        (BaggingRegressor(HistGradientBoostingClassifier()), Wanted("codes")),
        (BaggingRegressor(Ridge()), Wanted("one-hot")),
        (BaggingRegressor(), Wanted("codes")),
        (AdaBoostClassifier(), Wanted("codes")),
        (TransformedTargetRegressor(DecisionTreeRegressor()), Wanted("codes")),
        (VotingRegressor([("a", DecisionTreeRegressor()), ("b", "drop")]), Wanted("codes")),
        (VotingRegressor([("a", DecisionTreeRegressor()), ("b", Ridge())]), Wanted("one-hot")),
        (StackingRegressor([("a", DecisionTreeRegressor())]), Wanted("codes")),
        (VotingRegressor([("b", "drop")]), Wanted("one-hot")),
        (KNeighborsRegressor(), Wanted("one-hot")),
    ],
)  # fmt: skip
def test_the_encoding_that_a_model_wants(estimator, wanted):
    assert wanted_encoding(estimator) == wanted


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (xgboost.XGBClassifier(), True),
        (xgboost.XGBRegressor(), False),
        (GridSearchCV(xgboost.XGBClassifier(), {}), True),
        (make_pipeline(StandardScaler(), xgboost.XGBClassifier()), True),
        (LabelProbabilities(xgboost.XGBClassifier(), (2,)), False),
        (RandomForestClassifier(), False),
    ],
)
def test_only_classifiers_of_xgboost_want_numbered_labels(estimator, expected):
    assert wants_numbered_labels(estimator) is expected


N_LEVELS = np.array([0, 3, 4])


def test_settings_that_declare_categories():
    hist = HistGradientBoostingClassifier()
    settings, arguments = _native_settings(hist, Wanted("native", "scikit-learn", "estimator__"), N_LEVELS)
    assert settings["estimator__categorical_features"].tolist() == [False, True, True]
    assert arguments == {}
    assert _native_settings(hist, Wanted("codes"), N_LEVELS) == ({}, {})
    for method, tree_method in (
        (None, {"tree_method": "hist"}),
        ("auto", {"tree_method": "hist"}),
        ("approx", {}),
    ):
        found = _native_settings(
            xgboost.XGBRegressor(tree_method=method), Wanted("native", "xgboost"), N_LEVELS
        )
        assert found == ({"enable_categorical": True, "feature_types": ["q", "c", "c"], **tree_method}, {})
    for library, argument in (("lightgbm", "categorical_feature"), ("catboost", "cat_features")):
        assert _native_settings(None, Wanted("native", library), N_LEVELS) == ({}, {argument: [1, 2]})


def test_models_that_take_the_matrix_as_it_is_are_left_alone():
    tree, ridge = DecisionTreeRegressor(), Ridge()
    assert prepared(tree, N_LEVELS) is tree
    assert prepared(ridge, np.zeros(3, dtype=int)) is ridge
    for estimator, n_levels, impute in (
        (ridge, N_LEVELS, None),
        (tree, N_LEVELS, "median"),
        (xgboost.XGBClassifier(), np.zeros(3, dtype=int), None),
    ):
        found = prepared(estimator, n_levels, impute)
        assert (type(found), found.estimator, found.impute) == (Encoded, estimator, impute)


def test_an_encoded_model_is_that_of_the_encoded_matrix():
    codes = np.column_stack([X[:, 0], np.arange(40) % 3])
    codes[3, 0] = np.nan
    weights = 0.5 + RNG.random(40)
    model = Encoded(LogisticRegression(), np.array([0, 3]), "median")
    assert hasattr(model, "predict_proba")
    assert not hasattr(Encoded(Ridge(), np.array([0, 3])), "predict_proba")
    model.fit(codes, LABELS, weights)
    filled = codes[:, 0].copy()
    order = np.argsort(np.delete(filled, 3))
    totals = np.cumsum(np.delete(weights, 3)[order])
    filled[3] = np.delete(filled, 3)[order][np.searchsorted(totals, totals[-1] / 2)]
    center = np.average(filled, weights=weights)
    scale = np.sqrt(np.average((filled - center) ** 2, weights=weights))
    dummies = np.column_stack([(filled - center) / scale, np.eye(3)[np.arange(40) % 3]])
    plain = LogisticRegression().fit(dummies, LABELS, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(codes), plain.predict_proba(dummies))
    np.testing.assert_allclose(model.decision_function(codes), plain.decision_function(dummies))
    assert model.predict(codes).tolist() == plain.predict(dummies).tolist()
    assert model.score(codes, LABELS) == plain.score(dummies, LABELS)
    assert model.score(codes, LABELS, sample_weight=weights) == pytest.approx(
        plain.score(dummies, LABELS, sample_weight=weights)
    )
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_regressors(2).tolist() == [1, 3]
    assert model.__sklearn_is_fitted__()
    assert not Encoded(Ridge(), N_LEVELS).__sklearn_is_fitted__()
    merged = Encoded(HistGradientBoostingClassifier(max_bins=3, random_state=0), np.array([0, 5]))
    merged.fit(np.column_stack([X[:, 0], np.arange(40) % 5]), LABELS)
    assert merged.encoders_[0].limit == 3
    assert merged.estimator_.categorical_features.tolist() == [False, True]


class Numbers(ClassifierMixin, BaseEstimator):
    """A classifier that accepts numbered labels only and answers in one column, as two libraries do."""

    __module__ = "xgboost.sklearn"

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        assert self.classes_.tolist() == [0, 1]
        return self

    def predict(self, X):
        return np.arange(len(X))[:, None] % 2

    def predict_proba(self, X):
        return np.tile([0.4, 0.6], (len(X), 1))


def test_labels_are_numbered_for_models_that_want_numbers():
    model = Encoded(Numbers(), np.zeros(3, dtype=int)).fit(X, LABELS)
    assert model.predict(X[:4]).tolist() == ["no", "yes", "no", "yes"]
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X[:4], np.array(["no", "yes", "never", "yes"])) == 0.75


# Weights -----------------------------------------------------------------------------------------------


def test_weights_are_passed_to_the_last_step_or_refused():
    weights = np.ones(3)
    assert weight_arguments(KNeighborsRegressor(), None) == {}
    assert weight_arguments(Ridge(), weights) == {"sample_weight": weights}
    assert list(weight_arguments(make_pipeline(StandardScaler(), Ridge()), weights)) == [
        "ridge__sample_weight"
    ]
    with config_context(enable_metadata_routing=True):
        assert list(weight_arguments(make_pipeline(StandardScaler(), Ridge()), weights)) == ["sample_weight"]
    assert list(weight_arguments(GridSearchCV(Ridge(), {}), weights)) == ["sample_weight"]
    for model in (KNeighborsRegressor(), make_pipeline(StandardScaler(), KNeighborsRegressor()),
                  GridSearchCV(KNeighborsRegressor(), {})):  # fmt: skip
        with refused("KNeighborsRegressor takes no sample_weight."):
            weight_arguments(model, weights)


def test_models_that_do_not_suit_a_table_are_refused():
    holes = X.copy()
    holes[0, 1] = np.nan
    table = Table.of(holes, Y, "abc", "regression")
    require_suits(DecisionTreeRegressor(), table, None)
    require_suits(Ridge(), table, "median")
    require_suits(Ridge(), TABLE, None)
    with refused("X contains NaN in 'b', and Ridge does not accept missing values. Pass impute="):
        require_suits(Ridge(), table, None)
    with refused("X contains inf in 'b'."):
        require_suits(
            Ridge(), Table.of(np.where(np.isnan(holes), np.inf, holes), Y, "abc", "regression"), "median"
        )
    weighted = read_table(X, Y, task="regression", owner="a test", sample_weight=1 + np.arange(40))
    with refused("KNeighborsRegressor takes no sample_weight."):
        require_suits(KNeighborsRegressor(), weighted, None)
    record = np.zeros(40, dtype=[("event", bool), ("time", float)])
    with refused("Ridge cannot predict survival times."):
        require_suits(Ridge(), Table.of(X, record, "abc", "regression"), None)
    require_suits(GaussianNB(), Table.of(X, record, "abc", "regression"), None)


# Seeds -------------------------------------------------------------------------------------------------


def test_seeds_are_given_where_there_is_none():
    tree = DecisionTreeRegressor()
    assert seeded(tree, 7).random_state == 7
    assert tree.random_state is None
    assert seeded(DecisionTreeRegressor(random_state=3), 7).random_state == 3
    inside = seeded(make_pipeline(StandardScaler(), tree), 7)
    assert inside[-1].random_state == 7
    assert not hasattr(
        seeded(Ridge(random_state=0), 7)[0] if False else KNeighborsRegressor(), "random_state"
    )
    fitted = fitted_clone(tree, X, Y, seed=5)
    assert (fitted.random_state, fitted.get_n_leaves() > 1) == (5, True)
    assert fitted_clone(tree, X, Y).random_state == 0
    weights = np.where(np.arange(40) < 20, 1.0, 0.0)
    found = fitted_clone(LinearRegression(), X, Y, sample_weight=weights)
    np.testing.assert_allclose(found.coef_, LinearRegression().fit(X[:20], Y[:20]).coef_)


class Drawing(RegressorMixin, BaseEstimator):
    """A model that draws from the global generator unless it has a seed, without a parameter for one."""

    def __init__(self):
        self.random_state = None

    def fit(self, X, y):
        from sklearn.utils import check_random_state

        self.drawn_ = check_random_state(self.random_state).randint(10**9)
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_models_without_a_parameter_draw_the_same_and_leave_the_generator_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for inside in (Drawing(), make_pipeline(StandardScaler(), Drawing())):
        search = GridSearchCV(inside, {}, cv=2)
        found = [fitted_clone(search, X, Y, seed=seed).best_estimator_ for seed in (1, 1, 2)]
        one, same, other = (getattr(model, "steps", [("", model)])[-1][1].drawn_ for model in found)
        assert one == same != other
    assert fitted_clone(Drawing(), X, Y, seed=3).drawn_ == np.random.RandomState(3).randint(10**9)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# Scores ------------------------------------------------------------------------------------------------


def test_scores_are_means_over_folds_and_computed_once():
    scores = CrossValidated(TABLE, LinearRegression(), cv=4, entropy=0)
    assert len(scores._folds) == 4
    expected = [
        LinearRegression().fit(X[train][:, [0, 2]], Y[train]).score(X[test][:, [0, 2]], Y[test])
        for train, test in scores._folds
    ]
    assert scores.score([2, 0]) == pytest.approx(np.mean(expected))
    scores._table = None
    assert scores.score([0, 2, 0]) == pytest.approx(np.mean(expected))
    with refused("cv=41 is more than the 40 rows. Use fewer folds."):
        CrossValidated(TABLE, Ridge(), cv=41, entropy=0)
    by_error = CrossValidated(TABLE, LinearRegression(), cv=2, entropy=0, scoring="neg_mean_squared_error")
    constant = [-np.mean((Y[test] - Y[train].mean()) ** 2) for train, test in by_error._folds]
    assert by_error.score([]) == pytest.approx(np.mean(constant))


def test_a_weighted_score_of_a_fold():
    weights = 0.1 + RNG.random(40)
    train, test = np.arange(30), np.arange(30, 40)
    scorer = scorer_for(LinearRegression(), None, is_weighted=True)
    own = LinearRegression().fit(X[train], Y[train], weights[train])
    assert fold_score(LinearRegression(), X, Y, weights, scorer, train, test) == pytest.approx(
        own.score(X[test], Y[test], weights[test])
    )
    plain = LinearRegression().fit(X[train], Y[train])
    assert fold_score(LinearRegression(), X, Y, None, scorer, train, test) == pytest.approx(
        plain.score(X[test], Y[test])
    )
    for wrong in (np.nan, np.inf):
        with pytest.raises(FloatingPointError, match=f"the score of 2 rows is {wrong}"):
            weighted_score(lambda *_, wrong=wrong: wrong, plain, X[:2], Y[:2], None)


def test_a_function_that_scores_takes_weights_if_there_are_any():
    def plain(model, X, y):
        return 1.0

    scorer_for(Ridge(), plain, is_weighted=False)
    scorer_for(Ridge(), lambda model, X, y, **rest: 1.0, is_weighted=True)
    scorer_for(Ridge(), lambda model, X, y, sample_weight=None: 1.0, is_weighted=True)
    with refused("takes no sample_weight. Give the function such an argument"):
        scorer_for(Ridge(), plain, is_weighted=True)


def test_errors_of_a_fit_name_the_model_and_the_columns():
    said = "Ridge() failed on 'a', 'c' in cross-validation: KeyError: 'z'"
    with refused(said, EstimatorFailedError), naming_the_model(Ridge(), TABLE, [2, 0]):
        raise KeyError("z")
    with refused("failed on no column in", EstimatorFailedError), naming_the_model(Ridge(), TABLE, []):
        raise ValueError
    for error in (InvalidInputError("as it is"), UserWarning("as it is")):
        with pytest.raises(type(error), match=r"^as it is$"), naming_the_model(Ridge(), TABLE, [0]):
            raise error


def test_a_model_without_columns_is_constant():
    matrix, model = seen_by(Ridge(), TABLE, [])
    assert matrix.tolist() == [[0.0]] * 40
    assert type(model) is DummyRegressor
    matrix, model = seen_by(Ridge(), TABLE, [2, 0])
    assert model.alpha == 1.0
    assert sorted(matrix[0].tolist()) == sorted(X[0, [0, 2]].tolist())
    constant = constant_model("classification")
    assert (type(constant), constant.strategy) == (DummyClassifier, "prior")
    same = constant_model("regression", "survival").fit(X, Y)
    assert type(same) is SameHazard
    assert (same.predict(X[:2]).tolist(), same.score(X, Y)) == ([0.0, 0.0], 0.5)


# Several labels ----------------------------------------------------------------------------------------

CODES = np.column_stack([np.arange(40) % 2, np.arange(40) % 3, np.zeros(40, dtype=int)])
INDICATORS = np.column_stack([CODES[:, 0], np.eye(3)[CODES[:, 1]], np.ones(40)])


def test_indicators_and_codes_of_several_labels():
    assert _codes_of(INDICATORS, (2, 3, 1)).tolist() == CODES.tolist()
    for estimator in (
        DecisionTreeClassifier(random_state=0),
        MultiOutputClassifier(GaussianNB()),
        KNeighborsClassifier(),
    ):
        model = LabelProbabilities(estimator, (2, 3, 1)).fit(X, INDICATORS)
        found = model.predict(X)
        own = type(estimator)(**estimator.get_params(False)).fit(X, CODES[:, :2])
        first, second = own.predict_proba(X)
        np.testing.assert_allclose(found, np.column_stack([first[:, 1], second, np.ones(40)]))
    constant = LabelProbabilities(DecisionTreeClassifier(), (2, 1)).fit(X, np.ones((40, 2)))
    assert constant.predict(X[:2]).tolist() == [[1.0, 1.0]] * 2
    single = LabelProbabilities(DecisionTreeClassifier(random_state=0), (2, 1)).fit(X, INDICATORS[:, [0, 4]])
    np.testing.assert_array_equal(single.predict(X)[:, 0], CODES[:, 0])
    with refused("y has 3 columns of labels, and GaussianNB failed with them: ValueError: "):
        LabelProbabilities(GaussianNB(), (2, 3, 1)).fit(X, INDICATORS)


def test_classifiers_of_several_labels_are_used_like_regressors():
    labels = read_table(X, CODES[:, :2], task="classification", owner="a test")
    wrapped = for_labels(DecisionTreeClassifier(), labels)
    assert (type(wrapped), wrapped.n_classes) == (LabelProbabilities, (2, 3))
    ridge = Ridge()
    assert for_labels(ridge, labels) is ridge
    assert for_labels(None, labels) is None
    tree = DecisionTreeClassifier()
    assert for_labels(tree, CLASSES) is tree
    with refused("y has 2 columns of labels, and LogisticRegression predicts one."):
        for_labels(LogisticRegression(), labels)
    tags = wrapped.__sklearn_tags__()
    assert tags.target_tags.multi_output
    assert tags.input_tags.allow_nan


# Column transformers -----------------------------------------------------------------------------------


def narrowed(columns, frame=None, own=("a", "b", 7), remainder="drop", step="passthrough"):
    """Return whether columns are left, and which."""
    frame = pd.DataFrame(np.zeros((2, 2)), columns=["b", 7]) if frame is None else frame
    model = make_pipeline(ColumnTransformer([("t", step, columns)], remainder=remainder), Ridge())
    has_columns = narrow(model, frame, dict(zip(map(str, own), own, strict=True)))
    return bool(has_columns), [one[-1] for one in model[0].transformers]


@pytest.mark.parametrize(
    ("columns", "left"),
    [
        (["a", "b"], ["b"]),
        (["a"], []),
        ("b", "b"),
        ([1, 2], ["b", 1]),
        ([0], []),
        (2, 1),
        (-1, 1),
        ([True, True, False], ["b"]),
        (slice(0, 2), ["b"]),
        (slice("a", "b"), ["b"]),
        (slice(1, None), ["b", 1]),
        (slice(None, None, 2), [1]),
        (slice(None, -1), ["b"]),
    ],
)
def test_column_transformers_are_limited_to_the_columns_that_are_there(columns, left):
    has_columns, (found,) = narrowed(columns)
    assert found == left
    assert has_columns is (np.size(left) > 0)


def test_a_column_that_is_not_there_leaves_nothing():
    assert narrowed("a") == (False, [])
    assert narrowed(0) == (False, [])
    assert narrowed("a", remainder="passthrough") == (True, [])
    assert narrowed(["b"], step="drop") == (False, [["b"]])
    chosen = lambda frame: [name for name in frame.columns if name == "b"]  # noqa: E731
    assert narrowed(chosen) == (True, [chosen])
    none = lambda frame: []  # noqa: E731
    assert narrowed(none) == (False, [none])
    assert reads_frames(make_pipeline(ColumnTransformer([]), Ridge()))
    assert not reads_frames(make_pipeline(StandardScaler(), Ridge()))
    assert not reads_frames(None)


# Parameters --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "known", "expected"),
    [
        (1, 1.0, True),
        (1, True, False),
        (True, True, True),
        (None, None, True),
        (None, 0, False),
        ("a", "a", True),
        ((1, 2), (1, 2), True),
        (np.float64(1), (1,), False),
        ((1,), 1, False),
        ([1], [1], False),
        ("1", 1, False),
    ],
)
def test_plain_values_are_compared(value, known, expected):
    assert _is_same(value, known) is expected


def test_parameters_that_differ_from_the_defaults_or_a_preset():
    assert changed_parameters(Ridge(alpha=2, tol=1e-3)) == changed_parameters(Ridge(alpha=2.0), None) | (
        {} if default_parameters(Ridge)["tol"] == 1e-3 else {"tol": 1e-3}
    )
    assert changed_parameters(Ridge(alpha=2.0), Ridge(alpha=2.0, positive=True)) == {"positive": False}
    known = KnownParameters(read=("alpha",), only={"solver": ("auto", "svd")}, without_effect=("copy_X",))
    assert known.first_unknown(Ridge(alpha=3.0, copy_X=False, solver="svd")) is None
    assert known.first_unknown(Ridge(solver="lsqr")) == "solver='lsqr'"
    assert known.first_unknown(Ridge(positive=True)) == "positive=True"
    with refused("growth=Ridge(alpha=-1.0) cannot be fitted: "):
        require_valid_parameters(Ridge(alpha=-1.0), "growth")
    inside = make_pipeline(StandardScaler(), Ridge(alpha=-1.0))
    with refused("cannot be fitted: "):
        require_valid_parameters(inside)
    with refused("cannot be fitted: "):
        require_valid_parameters(AdaBoostClassifier(DecisionTreeClassifier(max_depth=-3)))
    require_valid_parameters(GridSearchCV(Ridge(alpha=-1.0), {"alpha": [1.0]}))


# Libraries of boosted trees ----------------------------------------------------------------------------


def test_models_of_the_libraries_get_one_thread_unless_the_caller_said_another_number():
    for kind, name in ((lightgbm.LGBMRegressor, "n_jobs"), (xgboost.XGBRegressor, "n_jobs"),
                       (catboost.CatBoostRegressor, "thread_count")):  # fmt: skip
        given = kind()
        assert with_one_thread(given).get_params()[name] == 1
        assert given.get_params().get(name) is None
        assert with_one_thread(kind(**{name: 3})).get_params()[name] == 3
        assert with_one_thread(make_pipeline(StandardScaler(), kind()))[-1].get_params()[name] == 1
        assert has_library_model(GridSearchCV(kind(), {}))
    assert not has_library_model(make_pipeline(StandardScaler(), Ridge()))
    assert with_one_thread(catboost.CatBoostRegressor()).get_params()["allow_writing_files"] is False
    kept = with_one_thread(catboost.CatBoostRegressor(train_dir="x")).get_params()
    assert "allow_writing_files" not in kept


@pytest.mark.parametrize(
    ("changed", "is_plain"),
    [
        ({}, True),
        ({"num_leaves": 3, "random_state": 1}, True),
        ({"n_jobs": 2}, False),
        ({"boosting_type": "dart"}, False),
        ({"objective": "poisson"}, False),
        ({"class_weight": "balanced"}, False),
        ({"random_state": np.random.RandomState(0)}, False),
        ({"max_bin": 9}, False),
    ],
)
def test_plain_models_of_lightgbm(changed, is_plain):
    assert is_plain_lightgbm(lightgbm.LGBMClassifier(**{"n_jobs": 1, **changed})) is is_plain
    own = type("LGBMClassifier", (lightgbm.LGBMClassifier,), {"__module__": "mine"})
    assert not is_plain_lightgbm(own(n_jobs=1))
    assert not is_plain_lightgbm(Ridge())


@pytest.mark.parametrize("labels", [None, 2, 3])
@pytest.mark.parametrize(
    "changed", [{}, {"subsample_freq": 1, "subsample": 0.5}, {"random_state": 4, "colsample_bytree": 0.4}]
)
def test_a_recipe_fits_what_the_model_fits(labels, changed):
    kind = lightgbm.LGBMRegressor if labels is None else lightgbm.LGBMClassifier
    model = kind(n_estimators=4, min_child_samples=5, n_jobs=1, verbose=-1, **changed)
    y = Y if labels is None else np.array(["no", "some", "yes"])[np.arange(40) % labels]
    weights = 0.5 + np.arange(40) % 3
    recipe = LightGBMRecipe.of(model)
    assert (recipe.n_rounds, recipe.min_leaf, recipe.is_settled) == (4, 5, not changed)
    assert [recipe.is_constant(n) for n in (9, 10)] == [True, False]
    fitted = recipe.fit(X, y, weights, is_classifier=labels is not None, seed=7)
    expected = model.set_params(random_state=changed.get("random_state", 7)).fit(X, y, sample_weight=weights)
    assert fitted.predict(X).tolist() == expected.predict(X).tolist()
    if labels is not None:
        np.testing.assert_array_equal(fitted.predict_proba(X), expected.predict_proba(X))
    few = slice(0, 8)
    constant = recipe.fit_constant(y[few], weights[few], is_classifier=labels is not None, seed=7)
    own = kind(**model.get_params()).fit(X[few], y[few], sample_weight=weights[few])
    assert constant.predict(X).tolist() == own.predict(X).tolist()


def test_categories_of_the_libraries_are_ordinal_codes_for_the_rest():
    frame = np.column_stack([np.arange(40) % 3, X[:, 0]])
    encoded = Encoded(
        make_pipeline(OrdinalEncoder(), DecisionTreeRegressor(random_state=0)), np.array([3, 0])
    )
    assert wanted_encoding(encoded.estimator).encoding == "codes"
    assert encoded.fit(frame, Y).predict(frame).shape == (40,)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(3, random_state=4),
        RandomForestClassifier(3, random_state=np.int64(4), max_samples=0.5),
        RandomForestClassifier(3, random_state=np.random.RandomState(4)),
        RandomForestClassifier(3, bootstrap=False, random_state=4),
        BaggingRegressor(DecisionTreeRegressor(), 3, random_state=4),
    ],
)
def test_bootstrap_samples_are_those_of_scikit_learn(forest):
    kept = forest.random_state
    state = kept.get_state()[1].copy() if hasattr(kept, "get_state") else None
    fitted = clone(forest).fit(X, LABELS if isinstance(forest, RandomForestClassifier) else Y)
    seeds = tree_seeds(forest)
    if isinstance(forest, RandomForestClassifier):
        assert seeds.tolist() == [tree.random_state for tree in fitted.estimators_]
    counts = drawn_counts(forest, 40)
    if getattr(forest, "bootstrap", True):
        expected = [np.bincount(rows, minlength=40).tolist() for rows in fitted.estimators_samples_]
    else:
        expected = [[1] * 40] * 3
    assert counts.tolist() == expected
    if state is not None:
        np.testing.assert_array_equal(kept.get_state()[1], state)
