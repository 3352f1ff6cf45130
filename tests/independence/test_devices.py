"""`device`: growth on a GPU, here a simulated one, against growth on the CPU."""

import pickle
from time import sleep
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from simulator import simulated_device
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS, PPFSCV, _engine
from ppfs._conventions import separates_missing_from_one_value
from ppfs.blanket import FBED
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, FisherZ
from ppfs.models import BoostedLinearClassifier


@pytest.fixture(params=["simulated", pytest.param("real", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    """Put a simulated GPU in the place of a real one, or take that."""
    if request.param == "real":
        return _engine.cuda_device()
    device = simulated_device()
    monkeypatch.setattr(_engine, "missing_for_cuda", lambda: None)
    monkeypatch.setattr("ppfs._engine.cuda.device.cuda_devices", lambda: (device,))
    monkeypatch.setattr(_engine, "cuda_devices", lambda: (device,))
    return device


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(_engine, "missing_for_cuda", lambda: "CuPy is not installed: install it")


def classes():
    X, y = make_classification(120, 8, n_informative=3, n_classes=3, n_clusters_per_class=1, random_state=0)
    X[:, 3] = np.round(X[:, 3])
    X[:, 5] = X[:, 5] > 0
    X[:, 6] = 2.5
    return X, y


def numbers():
    X, _ = classes()
    return X, X[:, 0] + np.random.default_rng(0).normal(size=len(X))


MODELS = {
    "the paper's": (PPFS(n_splits=12), classes),
    "numbers": (PPFS(n_splits=12), numbers),
    "absolute": (PPFS(n_splits=12, loss="absolute"), numbers),
    "limits": (PPFS(DecisionTreeClassifier(max_depth=2, min_samples_leaf=4), n_splits=12), classes),
    "limits, numbers": (PPFS(DecisionTreeRegressor(max_depth=3), n_splits=12), numbers),
    "entropy": (PPFS(DecisionTreeClassifier(criterion="entropy"), n_splits=12), classes),
    "brier, balanced": (PPFS(loss="brier", class_weight="balanced", n_splits=12), classes),
    "several draws": (PPFS(n_splits=12, n_draws=3), classes),
    "sums of ranks": (PPFS(n_splits=20), classes),
    "sums of ranks, several draws": (PPFS(n_splits=14, n_draws=2), numbers),
    "t-test": (PPFS(n_splits=20, significance="corrected-t"), classes),
    "growth alone": (
        PPFS(LogisticRegression(), growth_estimator=DecisionTreeClassifier(), n_splits=12),
        classes,
    ),
    "cross-fit": (PPFS(independence="cross-fit-ppi"), classes),
    "cross-fit, numbers": (PPFS(independence="cross-fit-ppi", correction="bh"), numbers),
    "forest": (PPFS(RandomForestClassifier(9, random_state=0), n_splits=12), classes),
    "forest with limits": (
        PPFS(RandomForestClassifier(9, max_depth=2, min_samples_leaf=3), n_splits=12),
        classes,
    ),
    "forest, numbers": (PPFS(RandomForestRegressor(9), n_splits=12, n_draws=2), numbers),
    "forest, cross-fit": (PPFS(RandomForestClassifier(9), independence="cross-fit-ppi"), classes),
    "bag": (PPFS(BaggingRegressor(n_estimators=5, max_samples=0.5), n_splits=12), numbers),
    "two trees": (
        PPFS([DecisionTreeClassifier(), DecisionTreeClassifier(max_depth=1)], n_splits=12),
        classes,
    ),
    "folds": (PPFS(n_splits=12, n_folds=3), classes),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_answers_are_those_of_the_cpu(gpu, name):
    selector, make = MODELS[name]
    X, y = make()
    on_cpu = selector.set_params(random_state=0, device="cpu").fit(X, y)
    expected = on_cpu.blanket_, on_cpu.pvalues_, on_cpu.importances_, on_cpu.n_fits_
    on_gpu = selector.set_params(device="cuda").fit(X, y)
    assert on_gpu.blanket_.tolist() == expected[0].tolist()
    np.testing.assert_allclose(on_gpu.pvalues_, expected[1], rtol=1e-9)
    np.testing.assert_allclose(on_gpu.importances_, expected[2], rtol=1e-12, atol=1e-15)
    assert on_gpu.n_fits_ == expected[3]


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_any_layout_and_number_of_workers(gpu, dtype, order, n_jobs):
    X, y = classes()
    X = np.asarray(np.round(4 * X), dtype=dtype, order=order)
    on_cpu = PPFS(n_splits=12, random_state=0).fit(X, y)
    on_gpu = PPFS(n_splits=12, random_state=0, device="cuda", n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(on_gpu.pvalues_, on_cpu.pvalues_)


def test_columns_that_need_more_than_32_bits(gpu):
    X, y = classes()
    X[:, 0] += 1e9
    on_cpu = PPFS(n_splits=12, random_state=0).fit(X, y)
    on_gpu = PPFS(n_splits=12, random_state=0, device="cuda").fit(X, y)
    np.testing.assert_array_equal(on_gpu.pvalues_, on_cpu.pvalues_)


def test_some_columns_of_a_table(gpu):
    """Columns that are not neighbors are copied."""
    X, y = classes()
    test = PPI(n_splits=12, random_state=0, device="cuda")
    on_cpu = PPI(n_splits=12, random_state=0)
    kept = {"always_keep": [1, 4]}
    found = PPFS(independence=test, **kept).fit(X, y)
    expected = PPFS(independence=on_cpu, **kept).fit(X, y)
    np.testing.assert_array_equal(found.pvalues_, expected.pvalues_)
    assert test.evaluate(X, y, 0).pvalue == on_cpu.evaluate(X, y, 0).pvalue


def test_the_exact_tail(gpu):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = (X[:, 0] > 0).astype(int)
    tree = DecisionTreeClassifier(max_depth=1)
    found = [PPFS.calibrated(tree, random_state=0, device=device).fit(X, y) for device in ("cpu", "cuda")]
    np.testing.assert_array_equal(found[0].pvalues_, found[1].pvalues_)
    assert "exact growth" in " ".join(found[1].trace_.notes)


def test_cross_validation_uses_the_device_of_its_selector(gpu):
    X, y = classes()
    found = [
        PPFSCV(selector=PPFS(n_splits=12, device=device), random_state=0, cv=3).fit(X, y)
        for device in ("cpu", "cuda")
    ]
    assert found[0].blanket_.tolist() == found[1].blanket_.tolist()
    assert gpu.name in " ".join(found[1].selector_.trace_.notes)


@pytest.mark.parametrize("selector", [None, PPFS(independence=PPI(n_splits=12))])
def test_cross_validation_has_a_device_of_its_own(gpu, selector):
    X, y = classes()
    settings = {"selector": selector, "random_state": 0, "cv": 3, "candidates": {"alpha": [0.01, 0.05]}}
    found = [PPFSCV(device=device, **settings).fit(X, y) for device in (None, "cuda")]
    assert found[0].blanket_.tolist() == found[1].blanket_.tolist()
    assert gpu.name in " ".join(found[1].selector_.trace_.notes)
    assert not any("device" in note for note in found[0].selector_.trace_.notes)


def test_searches_without_models_have_no_device():
    with pytest.raises(InvalidInputError, match="but FBED has no such models"):
        PPFSCV(selector=FBED(independence=FisherZ()), device="cuda").fit(*classes())


def test_several_devices_take_blocks_in_turn(monkeypatch):
    devices = tuple(simulated_device() for _ in range(2))
    for number, device in enumerate(devices):
        device.number = number
        device.n_launches = 0
        device.launch = counted(device, device.launch)
    monkeypatch.setattr(_engine, "missing_for_cuda", lambda: None)
    for place in ("ppfs._engine.cuda.device.cuda_devices", "ppfs._engine.cuda_devices"):
        monkeypatch.setattr(place, lambda: devices)
    X, y = classes()
    X, y = np.tile(X[:, :6], 10), (y > 0).astype(int)
    for selector in (PPFS(n_splits=12), PPFS(BoostedLinearClassifier(), independence="cross-fit-ppi")):
        expected = selector.set_params(random_state=0, device="cpu", n_jobs=1).fit(X, y).pvalues_
        found = selector.set_params(device="cuda", n_jobs=4).fit(X, y)
        np.testing.assert_allclose(found.pvalues_, expected, rtol=1e-7, atol=1e-9)
        assert min(device.n_launches for device in devices) > 0
        assert "2 devices" in " ".join(found.trace_.notes)


def counted(device, launch):
    def launched(*arguments, **keywords):
        device.n_launches += 1
        # Long enough for the other threads to find this device in use.
        sleep(0.002)
        return launch(*arguments, **keywords)

    return launched


def test_a_device_that_holds_the_array_is_taken(monkeypatch):
    devices = tuple(simulated_device() for _ in range(3))
    for number, device in enumerate(devices):
        device.number = number
    monkeypatch.setattr("ppfs._engine.cuda.device.cuda_devices", lambda: devices)
    there = SimpleNamespace(device=SimpleNamespace(id=1))
    with _engine.device_in_turn(there) as one, _engine.device_in_turn(there) as same:
        assert one is same is devices[1]
        with _engine.device_in_turn(np.zeros(3)) as other, _engine.device_in_turn() as third:
            assert {other.number, third.number} == {0, 2}


@pytest.mark.parametrize("test", [PPI(device="cuda"), CrossFitPPI(device="cuda")])
def test_cuda_without_a_gpu_says_what_is_missing(no_gpu, test):
    with pytest.raises(InvalidInputError, match=r"needs an NVIDIA GPU and CuPy, but CuPy is not installed"):
        PPFS(independence=test).fit(*load_iris(return_X_y=True))


def test_a_machine_without_cupy_says_so(monkeypatch):
    monkeypatch.setattr("ppfs._engine.cuda.device.find_spec", lambda name: None)
    assert "CuPy is not installed" in _engine.missing_for_cuda()


def test_a_machine_without_a_driver_says_so(monkeypatch):
    def no_driver(name):
        raise RuntimeError("CUDA driver version is insufficient")

    monkeypatch.setattr("ppfs._engine.cuda.device.find_spec", lambda name: "found")
    monkeypatch.setattr("ppfs._engine.cuda.device.import_module", no_driver)
    assert "finds no NVIDIA GPU (RuntimeError: CUDA driver" in _engine.missing_for_cuda()


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (GaussianNB(), "the model is GaussianNB: there are kernels for decision trees"),
        (ExtraTreesClassifier(5), "the model is ExtraTreesClassifier: there are no kernels for random cuts"),
        (DecisionTreeClassifier(criterion="entropy", max_depth=2), "no kernel for criterion='entropy'"),
        ([DecisionTreeClassifier(), GaussianNB()], "the model is GaussianNB"),
    ],
)
def test_models_without_kernels_are_refused_by_name(gpu, model, why):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInputError, match=why):
        PPFS(model, device="cuda").fit(X, y)
    on_cpu = PPFS(model, n_splits=10, device="auto", random_state=0).fit(X, y)
    note = next(note for note in on_cpu.trace_.notes if "auto" in note)
    assert note.startswith("device='auto' took the CPU for growth")
    assert why.split(":")[0] in note


def test_weights_of_rows_are_refused(gpu):
    X, y = load_iris(return_X_y=True)
    weights = np.linspace(1, 2, len(y))
    with pytest.raises(InvalidInputError, match="no kernels for trees of rows with weights"):
        PPFS(RandomForestClassifier(5), device="cuda").fit(X, y, sample_weight=weights)


@pytest.mark.skipif(
    not separates_missing_from_one_value(), reason="the engine grows no such trees with this scikit-learn"
)
def test_missing_values_of_trees_are_refused(gpu):
    X, y = load_iris(return_X_y=True)
    X[3, 2] = np.nan
    with pytest.raises(InvalidInputError, match=r"no kernels for trees .* with missing values"):
        PPFS(device="cuda", n_splits=12).fit(X, y)


def test_sparse_columns_are_refused(gpu):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInputError, match="kernels for dense columns only"):
        PPFS(device="cuda").fit(sparse.csc_array(X), y)


def test_auto_says_what_it_took_and_why(gpu, monkeypatch):
    X, y = load_iris(return_X_y=True)
    small = PPFS(n_splits=10, device="auto", random_state=0).fit(X, y)
    assert any("too little work for a GPU" in note for note in small.trace_.notes)
    monkeypatch.setattr("ppfs.independence._predictive.devices._ENOUGH_WORK", 1)
    large = PPFS(n_splits=10, device="auto", random_state=0).fit(X, y)
    assert f"device='auto': growth ran on {gpu.name}" in large.trace_.notes
    np.testing.assert_array_equal(small.pvalues_, large.pvalues_)


def test_auto_without_a_gpu_takes_the_cpu(no_gpu):
    X, y = load_iris(return_X_y=True)
    found = PPFS(n_splits=10, device="auto", random_state=0).fit(X, y)
    assert any("took the CPU for growth: CuPy is not installed" in note for note in found.trace_.notes)


def test_the_cpu_needs_no_note():
    X, y = load_iris(return_X_y=True)
    assert not any("device" in note for note in PPFS(n_splits=10, random_state=0).fit(X, y).trace_.notes)


def test_a_wrong_device_is_refused():
    with pytest.raises(ValueError, match="'device' parameter of PPFS must be a str among"):
        PPFS(device="gpu").fit(*load_iris(return_X_y=True))


def test_a_test_without_models_takes_no_device():
    with pytest.raises(InvalidInputError, match="device='auto' would have no effect"):
        PPFS(independence="g2", device="auto").fit(*load_iris(return_X_y=True))


def test_a_grower_can_be_sent_to_another_process(gpu):
    from ppfs.independence._predictive.risks.cuda_trees import CudaTreeGrower

    grower = CudaTreeGrower(None, _engine.TreeRules())
    grower.__dict__["_trees"] = simulated_device
    assert "_trees" not in pickle.loads(pickle.dumps(grower)).__dict__  # noqa: S301


class OnDevice:
    """An array as CuPy has it, as far as reading asks."""

    def __init__(self, values):
        self._values = values
        self.shape = values.shape

    @property
    def __cuda_array_interface__(self):
        return self._values.__array_interface__

    def __array__(self, *_):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __getitem__(self, where):
        return OnDevice(self._values[where])

    def __len__(self):
        return len(self._values)

    def get(self):
        return self._values.copy()


@pytest.fixture
def cupy(monkeypatch):
    """CuPy as far as reading asks: its arrays are those of NumPy here."""

    class Module:
        @staticmethod
        def asarray(values):
            return values.get()

    target = "ppfs._data.reading.device_arrays"
    monkeypatch.setattr(f"{target}.find_spec", lambda name: name)
    monkeypatch.setattr(f"{target}.import_module", lambda name: Module)


def test_arrays_of_a_gpu_stay_there_for_growth(gpu, cupy, monkeypatch):
    X, y = classes()
    seen = []
    grow = _engine.column_risks_on
    monkeypatch.setattr(
        _engine, "column_risks_on", lambda device, X, trees: seen.append(X) or grow(device, X, trees)
    )
    expected = PPFS(n_splits=12, random_state=0).fit(X, y)
    found = PPFS(n_splits=12, random_state=0, device="cuda").fit(OnDevice(X), OnDevice(y))
    np.testing.assert_array_equal(found.pvalues_, expected.pvalues_)
    assert seen
    assert all(not np.shares_memory(one, X) for one in seen)
    chosen = found.transform(OnDevice(X))
    assert isinstance(chosen, OnDevice)
    np.testing.assert_array_equal(chosen.get(), expected.transform(X))


def test_rows_of_weight_zero_are_left_out_on_the_gpu_too(gpu, cupy):
    X, y = classes()
    weights = np.ones(len(y))
    weights[:20] = 0
    expected = PPFS(n_splits=12, random_state=0).fit(X, y, sample_weight=weights)
    found = PPFS(n_splits=12, random_state=0, device="cuda").fit(OnDevice(X), y, sample_weight=weights)
    np.testing.assert_array_equal(found.pvalues_, expected.pvalues_)


def test_arrays_of_a_gpu_are_copied_for_growth_on_the_cpu(cupy):
    X, y = load_iris(return_X_y=True)
    expected = PPFS(n_splits=10, random_state=0).fit(X, y)
    found = PPFS(n_splits=10, random_state=0).fit(OnDevice(X), y)
    np.testing.assert_array_equal(found.pvalues_, expected.pvalues_)


def test_new_rows_of_a_gpu_need_the_columns_of_the_fit(cupy):
    X, y = load_iris(return_X_y=True)
    selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    with pytest.raises(InvalidInputError, match="has 3 columns, but 4 were seen in fit"):
        selector.transform(OnDevice(X[:, :3]))
