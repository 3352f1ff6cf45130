"""The CUDA kernels, simulated and on a GPU where there is one, against the engine of the CPU."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import simulator
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from simulator import simulated_device

from engine.problems import COLUMN_KINDS, draw_folds, draw_splits, problems
from ppfs._engine import (
    SortedColumns,
    Splits,
    TreeRules,
    cuda_device,
    is_exhaustive,
    make_draws,
    prepare_columns,
    prepare_forest,
    prepared_column_risks,
    prepared_column_row_losses,
    prepared_forest_risks,
    prepared_forest_row_losses,
)
from ppfs._engine.cuda.columns import refuse_bad, sort_on_device
from ppfs._engine.cuda.growth import column_risks_on
from ppfs._engine.cuda.pieces import pieces_on
from ppfs._engine.cuda.source import GROUPS, group_of_kernels, kernel_source
from ppfs._engine.cuda.tree_risks import device_column_risks
from ppfs._engine.cuda.tree_rows import device_row_losses
from ppfs._engine.cuda.trees import DeviceTrees


@pytest.fixture(scope="module", params=["forwards", "backwards", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request):
    if request.param == "gpu":
        return cuda_device()
    return simulated_device(is_backwards=request.param == "backwards")


def sorted_on(device, X):
    is_bad = device.xp.zeros(1, dtype=np.int32)
    columns = sort_on_device(device, X if device.xp is np else device.xp.asarray(X), is_bad)
    refuse_bad(is_bad)
    return columns


def on_host(device, columns):
    return type(columns)(*map(device.to_host, columns))


def risks_on(device, X, prepared):
    answers = device_column_risks(sorted_on(device, X), DeviceTrees.of(device, prepared))
    return [device.to_host(answer) for answer in answers]


def risks_on_cpu(X, prepared):
    return prepared_column_risks(SortedColumns.from_dense(X), prepared)


def assert_same(device, X, prepared):
    for found, expected in zip(risks_on(device, X, prepared), risks_on_cpu(X, prepared), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 31, 32, 33, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_sorted_as_on_the_cpu(device, n_rows, dtype, order):
    rng = np.random.default_rng(n_rows)
    X = np.column_stack([rng.normal(size=n_rows), rng.integers(-2, 3, size=n_rows), np.full(n_rows, -0.0)])
    X = np.asarray(X, dtype=dtype, order=order)
    found = on_host(device, sorted_on(device, X))
    expected = SortedColumns.from_dense(X).arrays
    np.testing.assert_array_equal(found.rows.ravel(), expected.rows)
    np.testing.assert_array_equal(found.values.ravel(), expected.values)
    assert not np.signbit(found.values[2]).any()


def test_long_columns_are_sorted_in_global_memory(device, monkeypatch):
    monkeypatch.setattr("ppfs._engine.cuda.columns._MOST_SHARED_KEYS", 16)
    X = np.random.default_rng(0).integers(-9, 9, size=(50, 3)).astype(float)
    found = on_host(device, sorted_on(device, X[:, ::2]))
    expected = SortedColumns.from_dense(X[:, ::2]).arrays
    np.testing.assert_array_equal(found.rows.ravel(), expected.rows)
    np.testing.assert_array_equal(found.values.ravel(), expected.values)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39])
@pytest.mark.parametrize("most_shared", [2**14, 2])
def test_numbers_that_are_not_finite_are_refused(device, value, most_shared, monkeypatch):
    monkeypatch.setattr("ppfs._engine.cuda.columns._MOST_SHARED_KEYS", most_shared)
    X = np.ones((10, 2))
    X[3, 1] = value
    with pytest.raises(ValueError, match="not a finite float32 number"):
        sorted_on(device, X)


@settings(max_examples=100)
@given(problem=problems(), weighted=st.booleans())
def test_risks_are_those_of_the_cpu(device, problem, weighted):
    assume(has_kernel(problem))
    weights = np.arange(1.0, problem.n_classes + 1) / 3 if weighted and problem.n_classes else None
    prepared = prepare_columns(problem.y, problem.n_classes, problem.splits, problem.rules, weights)
    assert_same(device, problem.X, prepared)


def has_kernel(problem):
    """Whether a GPU grows these trees: the last bit of a logarithm may decide between two cuts of a limited one."""
    rules = problem.rules
    return rules.criterion not in ("entropy", "log_loss") or is_exhaustive(rules.limits(len(problem.y)))


@pytest.mark.parametrize("n_splits", [1, 31, 32, 33, 64, 65, 130])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_number_of_splits(device, n_splits, n_classes):
    rng = np.random.default_rng(n_splits)
    X, y = rng.normal(size=(70, 3)), rng.integers(0, n_classes, size=70)
    prepared = prepare_columns(y, n_classes, draw_splits(rng, 70, n_splits), TreeRules())
    assert_same(device, X, prepared)


@pytest.mark.parametrize("n_classes", [16, 17, 300])
def test_any_number_of_classes(device, n_classes):
    rng = np.random.default_rng(n_classes)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 4, size=60)])
    y = rng.integers(0, n_classes, size=60)
    assert_same(device, X, prepare_columns(y, n_classes, draw_splits(rng, 60, 3), TreeRules()))


@pytest.mark.parametrize("loss", ["log-loss", "brier", "zero-one"])
def test_large_mixed_leaves(device, loss):
    """Leaves of more rows than log-losses are tabled for."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(400, 3)).astype(float), rng.integers(0, 3, size=400)
    prepared = prepare_columns(y, 3, draw_splits(rng, 400, 4), TreeRules(loss=loss))
    for found, expected in zip(risks_on(device, X, prepared), risks_on_cpu(X, prepared), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_columns_too_long_for_shared_memory():
    device = simulated_device(shared_memory=1100)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, size=100)
    assert_same(device, X, prepare_columns(y, 2, draw_splits(rng, 100, 3), TreeRules()))


def test_threads_that_do_not_fit_at_once(device, monkeypatch):
    monkeypatch.setattr("ppfs._engine.cuda.tree_risks._MOST_MEMORY", 2000)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, size=(40, 9)).astype(float), rng.integers(0, 2, size=40)
    assert_same(device, X, prepare_columns(y, 2, draw_splits(rng, 40, 3), TreeRules()))


def test_numbers_of_a_very_small_scale(device):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), 1e-9 * rng.normal(size=40)
    rules = TreeRules(criterion="squared_error", loss="squared")
    assert_same(device, X, prepare_columns(y, 0, draw_splits(rng, 40, 3), rules))


def draw_counts(rng, splits, n_trees=7):
    return [
        np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(n_trees)])
        for n in (train.size for train in splits.train)
    ]


@settings(max_examples=40)
@given(problem=problems(exact=True), weighted=st.booleans())
def test_risks_of_forests_are_those_of_the_cpu(device, problem, weighted):
    assume(has_kernel(problem))
    # A tie between two classes is decided by the last bit of a sum, which the CPU adds up in another order.
    assume(problem.rules.loss != "zero-one")
    weights = np.arange(1.0, problem.n_classes + 1) / 3 if weighted and problem.n_classes else None
    counts = draw_counts(np.random.default_rng(0), problem.splits)
    prepared = prepare_forest(*problem.arguments, counts, None, weights)
    found = device_column_risks(sorted_on(device, problem.X), DeviceTrees.of_forest(device, prepared))
    expected = prepared_forest_risks(SortedColumns.from_dense(problem.X), prepared)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(device.to_host(one), other, rtol=1e-12, atol=1e-15)


@settings(max_examples=25)
@given(problem=problems(exact=True), n_draws=st.integers(1, 3))
def test_row_losses_of_forests_are_those_of_the_cpu(device, problem, n_draws):
    assume(has_kernel(problem))
    assume(problem.rules.loss != "zero-one")
    rng = np.random.default_rng(0)
    splits = draw_folds(rng, len(problem.y), 3)
    counts = draw_counts(rng, splits)
    prepared = prepare_forest(problem.y, problem.n_classes, splits, problem.rules, counts)
    drawn = make_draws(
        splits, [np.array([rng.permutation(test.size) for _ in range(n_draws)]) for test in splits.test]
    )
    found = device_row_losses(sorted_on(device, problem.X), DeviceTrees.of_forest(device, prepared), drawn)
    base, replaced, by_draw = prepared_forest_row_losses(SortedColumns.from_dense(problem.X), prepared, drawn)
    expected = base[:, drawn.rows], replaced[:, drawn.rows], by_draw
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(device.to_host(one), other, rtol=1e-12, atol=1e-15)


@settings(max_examples=100)
@given(problem=problems(), n_draws=st.integers(1, 4), n_folds=st.integers(2, 5), weighted=st.booleans())
def test_row_losses_are_those_of_the_cpu(device, problem, n_draws, n_folds, weighted):
    assume(has_kernel(problem))
    rng = np.random.default_rng(0)
    splits = draw_folds(rng, len(problem.y), n_folds)
    weights = np.arange(1.0, problem.n_classes + 1) / 3 if weighted and problem.n_classes else None
    assert_same_rows(device, replace(problem, splits=splits), n_draws, weights, rng)


def assert_same_rows(device, problem, n_draws, weights, rng):
    splits = problem.splits
    prepared = prepare_columns(problem.y, problem.n_classes, splits, problem.rules, weights)
    draws = [np.array([rng.permutation(test.size) for _ in range(n_draws)]) for test in splits.test]
    drawn = make_draws(splits, draws)
    trees = DeviceTrees.of(device, prepared)
    found = [device.to_host(one) for one in device_row_losses(sorted_on(device, problem.X), trees, drawn)]
    base, replaced, by_draw = prepared_column_row_losses(SortedColumns.from_dense(problem.X), prepared, drawn)
    np.testing.assert_array_equal(found[0], base[:, drawn.rows])
    np.testing.assert_array_equal(found[1], replaced[:, drawn.rows])
    np.testing.assert_array_equal(found[2], by_draw)


def test_row_losses_of_more_folds_than_a_word(device):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=70), rng.integers(0, 3, size=70)])
    folds = draw_folds(rng, 70, 70)
    splits = Splits(folds.train, folds.test, folds.permutations)
    prepared = prepare_columns(rng.integers(0, 2, size=70), 2, splits, TreeRules(loss="brier"))
    drawn = make_draws(splits, [np.zeros((2, 1), dtype=np.int64)] * 70)
    trees = DeviceTrees.of(device, prepared)
    found = [device.to_host(one) for one in device_row_losses(sorted_on(device, X), trees, drawn)]
    base, replaced, by_draw = prepared_column_row_losses(SortedColumns.from_dense(X), prepared, drawn)
    np.testing.assert_array_equal(found[0], base[:, drawn.rows])
    np.testing.assert_array_equal(found[1], replaced[:, drawn.rows])
    np.testing.assert_array_equal(found[2], by_draw)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_in_pieces(device, dtype, order, monkeypatch):
    """Pieces of the host's memory: the next is copied while the device works on this one."""
    monkeypatch.setattr(
        "ppfs._engine.cuda.growth.pieces_on", lambda device, X, *_: pieces_on(device, X, 5000)
    )
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(90, 60)), dtype=dtype, order=order)
    splits = draw_splits(rng, 90, 7)
    draws = [prepare_columns(rng.integers(0, 3, size=90), 3, splits, TreeRules())] * 2
    found = column_risks_on(device, X, [DeviceTrees.of(device, one) for one in draws])
    for one, other in zip(found, risks_on_cpu(X, draws[0]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_near_ties_are_among_the_problems():
    """The kernels' rarest path, entangled ties, is tried above only where scikit-learn knows near ties."""
    assert len(COLUMN_KINDS) >= 5


def test_every_kernel_is_in_a_group_that_compiles_by_itself(tmp_path):
    compiler = next((path for path in map(shutil.which, ("g++", "clang++", "c++")) if path), None)
    if compiler is None:
        pytest.skip("no C++ compiler is here")
    named = set(re.findall(r"^KERNEL (\w+)\(", kernel_source(), flags=re.MULTILINE))
    assert named == set(group_of_kernels())
    for group in GROUPS:
        path = tmp_path / f"{group}.cpp"
        path.write_text(kernel_source(group))
        command = [compiler, "-std=c++17", "-fsyntax-only", f"-I{Path(simulator.__file__).parent}", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
