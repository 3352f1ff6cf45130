"""Lines, splines and boosted trees of single columns on a GPU, here a simulated one, against the CPU."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator import simulated_device
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from ppfs import PPFS, _engine
from ppfs._data import Table
from ppfs.exceptions import InvalidInputError, UnusableColumnError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.models import BoostedLinearClassifier, BoostedLinearRegressor

SMALL_BOOSTING = {"max_iter": 8, "min_samples_leaf": 5}


# Threads of a block in the other order run the same lines; the kernels by themselves are run in both in engine/cuda.
BACKWARDS = pytest.param("backwards", marks=pytest.mark.slow)


@pytest.fixture(params=["forwards", BACKWARDS, pytest.param("real", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    if request.param == "real":
        return _engine.cuda_device()
    device = simulated_device(is_backwards=request.param == "backwards")
    put(device, monkeypatch)
    return device


def put(device, monkeypatch):
    monkeypatch.setattr(_engine, "missing_for_cuda", lambda: None)
    monkeypatch.setattr("ppfs._engine.cuda.device.cuda_devices", lambda: (device,))
    monkeypatch.setattr(_engine, "cuda_devices", lambda: (device,))


def columns(n_rows=90, seed=0):
    """Normal, whole, binary, skewed, shifted, tied and rare numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 9))
    X[:, 2] = np.round(2 * X[:, 2])
    X[:, 3] = X[:, 3] > 0
    X[:, 4] = np.exp(2 * X[:, 4])
    X[:, 5] += 1e6
    X[:, 6] = np.round(X[:, 6], 1)
    X[:, 7] = rng.permutation(n_rows) == 0
    X[:, 8] = 3.5
    return X


def target(X, kind):
    noise = np.random.default_rng(1).normal(size=len(X))
    signal = X[:, 0] + X[:, 1] ** 2 + noise
    if kind == "three":
        return np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
    return (signal > 1).astype(int) if kind == "classes" else signal


def answers(X, y, test):
    task = "classification" if y.dtype.kind == "i" else "regression"
    table = Table.of(X, y, [f"x{column}" for column in range(X.shape[1])], task)
    *_, (_, found) = test.bind(table, random_state=0).marginal_answers(range(X.shape[1]), table.target)
    return found.take(np.arange(X.shape[1]))


def assert_same(X, y, test):
    on_cpu = answers(X, y, test.set_params(device="cpu"))
    on_gpu = answers(X, y, test.set_params(device="cuda"))
    np.testing.assert_allclose(on_gpu.pvalues, on_cpu.pvalues, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(on_gpu.model_pvalues, on_cpu.model_pvalues, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(on_gpu.effects, on_cpu.effects, rtol=1e-7, atol=1e-10)


def both(classifier, regressor, make=CrossFitPPI, **parameters):
    """Return a test of classes and one of numbers; a tuple is the value for each of them."""
    return {
        kind: make(
            model,
            **{
                name: value[place] if isinstance(value, tuple) else value
                for name, value in parameters.items()
            },
        )
        for place, (kind, model) in enumerate([("classes", classifier), ("numbers", regressor)])
    }


BOOSTED = BoostedLinearClassifier(), BoostedLinearRegressor()
LINES = LogisticRegression(), Ridge()


def histograms(**limits):
    return [
        make(**SMALL_BOOSTING, **limits)
        for make in (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    ]


MODELS = {
    "panel": both("panel", "panel"),
    "line": both(*LINES),
    "strong penalty": both(LogisticRegression(C=0.01), Ridge(50.0)),
    "another loss": both(*LINES, loss=("brier", "absolute")),
    "labels": both(*BOOSTED, loss=("zero-one", "squared")),
    "splits": both(*LINES, make=PPI, n_splits=8, n_draws=2),
    "splits, boosted": both(*histograms(), make=PPI, n_splits=6),
    "few bins": both(BoostedLinearClassifier(max_bins=8, max_depth=3), BoostedLinearRegressor(max_bins=8)),
    "few leaves": both(*histograms(max_leaf_nodes=3)),
    "class weights": both(*BOOSTED, class_weight=({0: 1.0, 1: 3.0}, None)),
}


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("name", MODELS)
def test_the_answers_are_those_of_the_cpu(gpu, name, kind):
    X = columns()
    assert_same(X, target(X, kind), MODELS[name][kind])


@pytest.mark.parametrize("name", MODELS)
def test_three_classes(gpu, name):
    test = MODELS[name]["classes"]
    if test.class_weight is not None:
        test = clone(test).set_params(class_weight={0: 1.0, 1: 3.0, 2: 0.5})
    X = columns()
    assert_same(X, target(X, "three"), test)


def test_many_classes_on_few_columns_at_a_time(gpu, monkeypatch):
    monkeypatch.setattr("ppfs._engine.cuda.panel._SHARE_OF_MEMORY", 1e-12)
    X = columns(140)[:, :4]
    y = np.random.default_rng(2).permutation(140) % 5
    assert_same(X, y, CrossFitPPI("panel"))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_columns_of_32_bits_in_any_layout(gpu, kind):
    X = columns()
    y = target(X, kind)
    assert_same(np.asfortranarray(X.astype(np.float32)), y, CrossFitPPI("panel"))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(24, 60), n_values=st.integers(2, 30))
def test_any_few_values(seed, n_rows, n_values):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n_rows, 3)) * rng.choice([1.0, 1e-3, 1e5])
    labels = rng.permutation(n_rows) % rng.integers(2, 4)
    with pytest.MonkeyPatch.context() as monkeypatch:
        put(simulated_device(), monkeypatch)
        for y in (labels, np.round(rng.normal(size=n_rows), 1)):
            assert_same(X, y, CrossFitPPI("panel"))


def test_a_column_that_varies_in_one_row_only(gpu):
    """Its knots coincide in the train part without that row, so the CPU fits that spline."""
    X = columns()[:, [7, 0]]
    test = CrossFitPPI(make_pipeline(StandardScaler(), SplineTransformer(), Ridge()))
    assert_same(X, target(columns(), "numbers"), test)


@pytest.mark.parametrize("kind", ["classes", "three", "numbers"])
@pytest.mark.parametrize("model", ["panel", "boosted", "splines"])
def test_weights_of_rows(gpu, kind, model):
    X = columns()
    y, weights = target(X, kind), np.random.default_rng(3).uniform(0.5, 3.0, size=len(X))
    last = Ridge() if kind == "numbers" else LogisticRegression()
    estimator = {
        "panel": "panel",
        "boosted": BOOSTED[int(kind == "numbers")],
        "splines": make_pipeline(StandardScaler(), SplineTransformer(), last),
    }[model]
    found = [
        PPFS(estimator, independence="cross-fit-ppi", random_state=0, correction="bonferroni", device=device)
        .fit(X, y, sample_weight=weights)
        .results_["pvalue"]
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-7, atol=1e-9)


def test_weights_of_rows_that_make_bins_are_refused(monkeypatch):
    put(simulated_device(), monkeypatch)
    X = columns()
    monkeypatch.setattr("ppfs.independence._predictive.risks.boosting.are_bins_weighted", lambda: True)
    selector = PPFS(HistGradientBoostingRegressor(**SMALL_BOOSTING), device="cuda")
    with pytest.raises(InvalidInputError, match="no kernels for bins by weight"):
        selector.fit(X, target(X, "numbers"), sample_weight=np.linspace(1, 2, len(X)))


def test_groups_of_rows_are_added_up(gpu):
    X = columns()
    y, groups = target(X, "classes"), np.arange(len(X)) // 3
    found = [
        PPFS.calibrated(random_state=0, growth="marginal", device=device).fit(X, y, groups=groups).pvalues_
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-7, atol=1e-9)


def test_categories_are_answered_by_the_cpu(gpu):
    X = columns()
    X[:, 2] -= X[:, 2].min()
    y = target(X, "numbers")
    found = [
        PPFS.calibrated(random_state=0, growth="marginal", categorical_features=[2, 3], device=device)
        .fit(X, y)
        .pvalues_
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", ["classes", "three", "numbers"])
def test_the_exact_tail_counts_the_same_draws(gpu, kind):
    X = columns(60)
    y = target(X, kind)
    found = [
        PPFS.calibrated(random_state=0, growth="marginal", device=device).fit(X, y)
        for device in ("cpu", "cuda")
    ]
    assert found[0].blanket_.tolist() == found[1].blanket_.tolist()
    np.testing.assert_allclose(found[1].pvalues_, found[0].pvalues_, rtol=1e-7, atol=1e-9)
    assert "exact growth" in " ".join(found[1].trace_.notes)
    assert found[0].n_fits_ == found[1].n_fits_


def test_few_columns_at_a_time(gpu, monkeypatch):
    monkeypatch.setattr("ppfs._engine.cuda.panel._SHARE_OF_MEMORY", 1e-12)
    X = columns()
    assert_same(X, target(X, "classes"), CrossFitPPI(BoostedLinearClassifier()))


def test_long_columns_are_ordered_in_global_memory(monkeypatch):
    put(simulated_device(shared_memory=100), monkeypatch)
    X = columns()
    assert_same(X, target(X, "numbers"), CrossFitPPI(BoostedLinearRegressor()))


def test_numbers_too_large_for_squares_raise_as_on_the_cpu(gpu):
    X = columns()
    X[0, 1] = 1e150
    for device in ("cpu", "cuda"):
        with pytest.raises((InvalidInputError, UnusableColumnError), match="x1"):
            answers(X, target(columns(), "numbers"), CrossFitPPI(Ridge(), device=device))


@pytest.mark.parametrize("which", [0, 1])
def test_a_column_whose_risks_overflow_in_one_split_is_answered_by_the_cpu(monkeypatch, which):
    put(simulated_device(), monkeypatch)
    on_host = _engine.DevicePairs.on_host

    def spoiled(self):
        risks = on_host(self)
        risks[which].reshape(len(risks[which]), -1)[1, -1] = np.inf
        return risks

    monkeypatch.setattr(_engine.DevicePairs, "on_host", spoiled)
    X = columns()
    assert_same(X, target(X, "numbers"), PPI(Ridge(), n_splits=6))


def test_a_grower_can_be_sent_to_another_process(gpu):
    X = columns()
    y = target(X, "classes")
    table = Table.of(X, y, [f"x{column}" for column in range(X.shape[1])], "classification")
    growth = CrossFitPPI("panel", device="cuda").bind(table, random_state=0)._growth(table.target)
    block = table.block(range(8))
    expected = growth(block).answers.pvalues
    sent = pickle.loads(pickle.dumps(growth))  # noqa: S301
    np.testing.assert_array_equal(sent(block).answers.pvalues, expected)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        (CrossFitPPI("panel", significance="randomisation", n_draws=39), "no kernels that count draws"),
        (CrossFitPPI(LogisticRegression(class_weight="balanced")), "no kernel for Logistic with these"),
        (CrossFitPPI(LogisticRegression(fit_intercept=False)), "models with an intercept and a penalty"),
        (CrossFitPPI(make_pipeline(PolynomialFeatures(), LogisticRegression())), "PolynomialFeatures"),
        (CrossFitPPI(make_pipeline(SplineTransformer(n_knots=4), LogisticRegression())), "splines with"),
        (CrossFitPPI(LogisticRegression(), loss="hinge"), "no kernel for loss='hinge'"),
    ],
)
def test_what_has_no_kernel_is_refused_by_name(monkeypatch, test, why):
    put(simulated_device(), monkeypatch)
    X = columns()
    with pytest.raises(InvalidInputError, match=why):
        answers(X, target(X, "classes"), test.set_params(device="cuda"))


def test_least_squares_without_a_penalty_is_refused(monkeypatch):
    put(simulated_device(), monkeypatch)
    X = columns()
    with pytest.raises(InvalidInputError, match="an intercept and a penalty"):
        answers(X, target(X, "numbers"), CrossFitPPI(LinearRegression(), device="cuda"))


def test_a_class_that_a_train_part_lacks_is_refused(monkeypatch):
    put(simulated_device(), monkeypatch)
    X = columns()
    y = np.arange(len(X)) % 2
    y[0] = 2
    with pytest.raises(InvalidInputError, match="a train part lacks a class"):
        PPFS.calibrated(device="cuda", stratify=False).fit(X, y)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_columns_with_missing_values_are_answered_by_the_cpu(gpu, kind):
    X = columns()
    y = target(X, kind)
    X[::7, [0, 4]] = np.nan
    found = [
        PPFS.calibrated(random_state=0, growth="marginal", device=device).fit(X, y)
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_allclose(found[1].pvalues_, found[0].pvalues_, rtol=1e-7, atol=1e-9)
    assert any("missing values are fitted by the CPU" in note for note in found[1].trace_.notes)


def test_a_real_table(monkeypatch):
    put(simulated_device(), monkeypatch)
    X, y = load_breast_cancer(return_X_y=True)
    assert_same(X[:120], y[:120], CrossFitPPI("panel"))


def test_a_gpu_makes_the_draws_of_independent_rows(monkeypatch):
    device = simulated_device()
    launched = []
    launch = device.launch
    device.launch = lambda kernel, *arguments: launched.append(kernel) or launch(kernel, *arguments)
    put(device, monkeypatch)
    X = columns(60)[:, :2]
    y = target(columns(60), "numbers")
    selector = PPFS.calibrated(random_state=0, growth="marginal", device="cuda")
    selector.fit(X, y)
    assert "screen_draws" in launched
    launched.clear()
    selector.fit(X, y, groups=np.arange(60) // 2)
    assert "screen_draws" not in launched
