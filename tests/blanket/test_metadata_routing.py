"""Weights and groups on their way through pipelines and searches of scikit-learn."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ppfs import PPFS
from ppfs.blanket import FBED
from ppfs.wrappers import PermutationImportance, Stepwise

N_ROWS = 120


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=N_ROWS) > 0).astype(int)
    weights = rng.integers(0, 2, size=N_ROWS).astype(float)
    return X, y, {"sample_weight": weights, "groups": np.arange(N_ROWS) // 5}


def accuracy():
    return make_scorer(accuracy_score).set_score_request(sample_weight=False)


def quick():
    return PPFS(n_splits=6, random_state=0).set_fit_request(sample_weight=True, groups=True)


def test_a_pipeline_hands_them_on(data):
    X, y, rows = data
    model = LogisticRegression().set_fit_request(sample_weight=True)
    fitted = make_pipeline(quick(), model).fit(X, y, **rows)
    alone = quick().fit(X, y, **rows)
    np.testing.assert_array_equal(fitted[0].pvalues_, alone.pvalues_)
    assert not np.array_equal(alone.pvalues_, quick().fit(X, y).pvalues_)


@pytest.mark.parametrize("request_weights", [True, False])
def test_what_is_not_requested_does_not_arrive(data, request_weights):
    X, y, rows = data
    selector = PPFS(n_splits=6, random_state=0).set_fit_request(sample_weight=request_weights, groups=False)
    model = LogisticRegression().set_fit_request(sample_weight=True)
    fitted = make_pipeline(selector, model).fit(X, y, sample_weight=rows["sample_weight"])
    expected = selector.fit(X, y, sample_weight=rows["sample_weight"] if request_weights else None)
    np.testing.assert_array_equal(fitted[0].pvalues_, expected.pvalues_)


def test_cross_validation_passes_the_rows_of_each_fold(data):
    X, y, rows = data
    seen = []

    class Watching(PPFS):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.append((len(y), sample_weight.shape, set(groups)))
            return super().fit(X, y, sample_weight=sample_weight, groups=groups)

    watching = Watching(n_splits=6, random_state=0).set_fit_request(sample_weight=True, groups=True)
    model = make_pipeline(watching, LogisticRegression().set_fit_request(sample_weight=True))
    scores = cross_validate(
        model, X, y, params=rows, cv=GroupKFold(3), scoring=accuracy(), error_score="raise"
    )["test_score"]
    assert scores.min() > 0.7
    assert [n_rows for n_rows, _, _ in seen] == [80, 80, 80]
    assert all(shape == (80,) and len(groups) == 16 for _, shape, groups in seen)


def test_grid_search(data):
    X, y, rows = data
    model = make_pipeline(quick(), LogisticRegression().set_fit_request(sample_weight=True))
    grid = GridSearchCV(
        model, {"ppfs__alpha": [0.05, 0.1]}, cv=GroupKFold(3), scoring=accuracy(), error_score="raise"
    )
    assert grid.fit(X, y, **rows).best_estimator_[0].support_[0]


@pytest.mark.parametrize(
    "selector",
    [
        FBED(independence="cross-fit-ppi", random_state=0),
        Stepwise(cv=3, random_state=0),
        PermutationImportance(random_state=0),
    ],
    ids=str,
)
def test_every_selector_can_be_asked_to_take_them(data, selector):
    X, y, rows = data
    selector.set_fit_request(sample_weight=True, groups=True)
    fitted = make_pipeline(selector, LogisticRegression().set_fit_request(sample_weight=False)).fit(
        X, y, **rows
    )
    assert fitted[0].support_[0]


def test_an_unknown_argument_of_fit_is_named():
    with pytest.raises(
        TypeError,
        match=r"PPFS.fit\(\) got an unexpected argument 'weight'.*sample_weight, groups, time and sufficiency",
    ):
        PPFS().fit(np.ones((5, 2)), np.arange(5), weight=np.ones(5))


def test_the_default_panel_gets_weights_as_without_routing(data):
    X, y, _ = data
    weights = np.random.default_rng(1).random(N_ROWS)
    preset = PPFS.calibrated(growth="marginal", second_look=False, random_state=0)
    routed = clone(preset).fit(X[:, :2], y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=False):
        plain = clone(preset).fit(X[:, :2], y, sample_weight=weights)
    np.testing.assert_array_equal(routed.pvalues_, plain.pvalues_)


@pytest.mark.parametrize("weighs_scaler", [False, True])
def test_linear_models_follow_what_steps_ask_for(data, weighs_scaler):
    X, y, _ = data
    weights = np.random.default_rng(1).random(N_ROWS)
    scaler = StandardScaler().set_fit_request(sample_weight=weighs_scaler)
    model = make_pipeline(scaler, LogisticRegression().set_fit_request(sample_weight=True))
    notes = PPFS.calibrated(model, random_state=0).fit(X, y, sample_weight=weights).trace_.notes
    assert any("fitted by the engine" in note for note in notes) != weighs_scaler
