"""The seam between the predictive tests and linear models with boosted trees in the engine."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.risks.boosted_linear import most_coefficients
from ppfs.models import BoostedLinearClassifier, BoostedLinearRegressor


class FittedClassifier(BoostedLinearClassifier):
    """Same model, but of a type that the engine does not support."""


class FittedRegressor(BoostedLinearRegressor):
    """Same model, but of a type that the engine does not support."""


KINDS = {
    "numbers": (BoostedLinearRegressor, FittedRegressor),
    "two classes": (BoostedLinearClassifier, FittedClassifier),
    "three classes": (BoostedLinearClassifier, FittedClassifier),
}


def make(task, missing=0.0, n_rows=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5)) * [1, 10, 0.1, 1, 1]
    signal = X[:, 0] + np.sin(X[:, 3] * 2) + X[:, 4] ** 2 / 2 + rng.normal(size=n_rows) / 2
    X[rng.random(X.shape) < missing] = np.nan
    edges = {"numbers": None, "two classes": [0.5], "three classes": [0.0, 1.0]}[task]
    return X, signal if edges is None else np.digitize(signal, edges)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize("test", [PPI(n_splits=5), CrossFitPPI()], ids=["ppi", "cross-fit"])
def test_the_engine_answers_as_the_estimators_do(test, task, missing):
    X, y = make(task, missing)
    ours, expected = (
        [
            type(test)(
                model(), random_state=0, **({"n_splits": 5} if isinstance(test, PPI) else {})
            ).evaluate(X, y, x, given=given)
            for x, given in ((0, ()), (1, ()), (4, ()), (0, (1, 3)), (4, (0, 3)), (2, (0, 1, 3, 4)))
        ]
        for model in KINDS[task]
    )
    for one, other in zip(ours, expected, strict=True):
        # The cross-fitted test counts the coefficients of our own models, and of no others.
        if isinstance(test, PPI):
            assert one.pvalue == pytest.approx(other.pvalue, rel=1e-6, abs=1e-12)
        assert one.effect == pytest.approx(other.effect, rel=1e-6, abs=1e-9)


def test_a_fit_selects_what_the_estimators_would_select():
    X, y = make("numbers")
    ours, theirs = (
        PPFS(model(), n_splits=8, random_state=0).fit(X, y)
        for model in (BoostedLinearRegressor, FittedRegressor)
    )
    assert any("BoostedLinearRegressor is grown by the engine" in note for note in ours.trace_.notes)
    assert ours.blanket_.tolist() == theirs.blanket_.tolist()
    assert ours.n_fits_ == theirs.n_fits_
    np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-6)


def test_removing_columns_leaves_the_models_of_the_others():
    """The same questions, asked after removals and at once: not a bit may differ."""
    X, y = make("two classes", missing=0.1)
    test = CrossFitPPI(BoostedLinearClassifier(), random_state=0)
    table = read_table(X, y, task="auto", owner="test")
    by_removal, at_once = test.bind(table), test.bind(table)
    for given in ((1, 2, 3, 4), (1, 3, 4), (3, 4)):
        by_removal.query(0, table.target, given)
    assert by_removal.query(0, table.target, (3,)) == at_once.query(0, table.target, (3,))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_change_nothing(n_jobs):
    X, y = make("three classes")
    test = CrossFitPPI(BoostedLinearClassifier(), random_state=0, n_jobs=n_jobs)
    alone = CrossFitPPI(BoostedLinearClassifier(), random_state=0)
    assert test.evaluate(X, y, 0, given=(1, 3)) == alone.evaluate(X, y, 0, given=(1, 3))
    assert test.evaluate(X, y, 0) == alone.evaluate(X, y, 0)


@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize(("n_rows", "max_bins"), [(150, 255), (150, 20)])
def test_the_engine_weights_rows_as_the_estimators_do(task, n_rows, max_bins):
    """With 20 bins there are more values than bins, whose edges do not depend on the weights."""
    X, y = make(task, missing=0.05, n_rows=n_rows)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, size=n_rows)
    weights[::7] = 0.0
    ours, theirs = (
        PPFS(model(max_bins=max_bins), n_splits=8, alpha=0.3, random_state=0).fit(X, y, sample_weight=weights)
        for model in KINDS[task]
    )
    unweighted = PPFS(KINDS[task][0](max_bins=max_bins), n_splits=8, alpha=0.3, random_state=0).fit(X, y)
    assert any("is grown by the engine" in note for note in ours.trace_.notes)
    assert ours.blanket_.tolist() == theirs.blanket_.tolist()
    np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-6)
    np.testing.assert_allclose(ours.importances_, theirs.importances_, rtol=1e-6, atol=1e-9)
    assert not np.allclose(ours.importances_, unweighted.importances_, rtol=1e-3)


@pytest.mark.parametrize(("n_classes", "n_outputs"), [(0, 1), (2, 1), (3, 3)])
def test_coefficients_are_a_slope_and_all_leaves_but_one_of_each_tree(n_classes, n_outputs):
    model = BoostedLinearRegressor(n_rounds=5, max_depth=3)
    problem = SimpleNamespace(estimator=model, classes=np.arange(n_classes))
    assert most_coefficients(problem) == n_outputs * (1 + 5 * 7)


def mixed(task, n_towns=4):
    X, y = make(task)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X[:, [0, 3, 4]], columns=["a", "b", "c"])
    frame["town"] = rng.choice([f"town {i:02}" for i in range(n_towns)], len(y))
    # So rare that a train part may lack it, and linked to the target.
    frame["rare"] = np.where(np.arange(len(y)) < 3, "yes", "no")
    frame["grade"] = pd.cut(X[:, 0] + rng.normal(size=len(y)), 5, labels=list("uvwxy")).astype(str)
    return frame, y


@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize("n_towns", [4, 40])
@pytest.mark.parametrize("knockoff", ["permutation", "conditional"])
def test_the_engine_sees_categories_as_the_estimators_do(task, n_towns, knockoff):
    X, y = mixed(task, n_towns)
    bounds = [
        PPI(model(), n_splits=5, knockoff=knockoff, random_state=0).bind(
            read_table(X, y, task="auto", owner="test")
        )
        for model in KINDS[task]
    ]
    ours, theirs = (bound._risks_about(bound.table.target, is_marginal=False)[0] for bound in bounds)
    assert "is grown by the engine" in ours.note
    block = bounds[0].table.block(range(6))
    pairs = [(ours.grower().risks(block), theirs.grower().risks(block))]
    for members in (frozenset({0, 1, 3, 4, 5}), frozenset({0, 1, 5}), frozenset({0, 1})):
        xs = sorted(members)
        pairs.append((ours.of_members(xs, members), theirs.of_members(xs, members)))
    for one, other in pairs:
        np.testing.assert_allclose(one.base, other.base, rtol=1e-6)
        np.testing.assert_allclose(one.replaced, other.replaced, rtol=1e-6)
    assert ours.n_fits == theirs.n_fits
