"""Small tables are fitted in NumPy: the same answers, and no kernel of single columns is compiled."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppfs._data import Table
from ppfs._engine.boosting import column_models, scores
from ppfs._engine.linear import logistic
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive import exact_tail
from ppfs.independence._predictive.risks import small_tables


def answers_to(y, X):
    task = "classification" if y.dtype.kind == "i" else "regression"
    table = Table.of(X, y, [f"x{number}" for number in range(X.shape[1])], task)
    bound = CrossFitPPI("panel", random_state=0).bind(table)
    return bound.query_many(range(X.shape[1]), table.target)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_answers_are_those_of_the_kernels_up_to_rounding(n_classes, monkeypatch):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(90, 5))
    y = 0.5 * X[:, 0] + X[:, 1] ** 2 / 3 + rng.normal(size=90)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    in_numpy = answers_to(y, X)
    monkeypatch.setattr(small_tables, "_MOST_VALUES", 0)
    for ours, theirs in zip(in_numpy, answers_to(y, X), strict=True):
        np.testing.assert_allclose(
            [ours.pvalue, ours.statistic, ours.effect, *ours.model_pvalues],
            [theirs.pvalue, theirs.statistic, theirs.effect, *theirs.model_pvalues],
            rtol=1e-9,
        )


@pytest.mark.parametrize("n_classes", [0, 2])
def test_they_need_no_kernel_of_single_columns(n_classes, monkeypatch):
    def fail(*_):
        raise AssertionError("a kernel of single columns was called")

    for module, name in (
        (logistic, "_fill_logistic"),
        (column_models, "_boost_columns"),
        (scores, "_fill_outcome"),
    ):
        monkeypatch.setattr(module, name, fail)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + rng.normal(size=60)
    answers_to((y > 0).astype(int) if n_classes else y, X)
    monkeypatch.setattr(small_tables, "_MOST_VALUES", 0)
    with pytest.raises(AssertionError, match="was called"):
        answers_to((y > 0).astype(int) if n_classes else y, X)


@pytest.mark.parametrize(("n_classes", "most"), [(0, 60 * 4), (2, 60 * 4), (3, 2 * 60 * 4), (5, 4 * 60 * 4)])
def test_small_is_counted_in_values_for_each_score(n_classes, most, monkeypatch):
    X = np.zeros((60, 4))
    y = np.arange(60) % max(n_classes, 20)
    table = Table.of(X, y, list("abcd"), "classification" if n_classes else "regression")
    problem = SimpleNamespace(classes=np.arange(n_classes))
    monkeypatch.setattr(small_tables, "_MOST_VALUES", most)
    assert small_tables.is_small(table, problem)
    monkeypatch.setattr(small_tables, "_MOST_VALUES", most - 1)
    assert not small_tables.is_small(table, problem)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_many_rearranged_columns_are_fitted_by_kernels_with_the_same_counts(n_classes, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    y = 0.4 * X[:, 0] + rng.normal(size=60)
    y = (y > 0).astype(int) if n_classes else y
    called = []
    original = column_models._boost_columns
    monkeypatch.setattr(column_models, "_boost_columns", lambda *some: called.append(1) or original(*some))

    def counts(most):
        monkeypatch.setattr(exact_tail, "_REFITS_IN_NUMPY", most)
        task = "classification" if n_classes else "regression"
        bound = CrossFitPPI("panel", random_state=0).bind(Table.of(X, y, list("abcd"), task))
        tail = bound.exact_tail(4)
        return [tail.n_as_extreme([0, 1], 0, 128, 1.0), tail.n_as_extreme([0, 1], 128, 256, 1.0)]

    in_numpy = counts(np.inf)
    assert not called
    np.testing.assert_array_equal(counts(256), in_numpy)  # As many as are expected at first.
    assert not called
    np.testing.assert_array_equal(counts(255), in_numpy)
    assert called
    assert np.sum(in_numpy) > 0
