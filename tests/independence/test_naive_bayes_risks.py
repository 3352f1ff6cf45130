"""Gaussian naive Bayes is solved for single columns: the answers are those of scikit-learn's own fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from ppfs import PPFS
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.risks.naive_bayes import class_probabilities


class OwnGaussianNB(GaussianNB):
    """A caller's class, of which nothing is known: it is fitted through scikit-learn's interface."""


def _table(n_classes=3, n_rows=90):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 5))
    X[:, 4] = X[:, 4].round()
    score = X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, np.array(["c", "a", "b", "d"])[y]


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(2, 30), st.sampled_from([1e-9, 0.1]))
def test_probabilities_are_those_of_scikit_learn(seed, n_classes, n_train, smoothing):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(2, n_train + 7)) * 10.0 ** rng.integers(-3, 4) + rng.integers(-2, 3)
    labels = rng.integers(0, n_classes, size=n_train)
    train, test = columns[:, :n_train], columns[:, n_train:]
    ours = class_probabilities(train, labels, test, n_classes, smoothing)
    for column in range(2):
        model = GaussianNB(var_smoothing=smoothing).fit(train[column, :, np.newaxis], labels)
        theirs = model.predict_proba(test[column, :, np.newaxis])
        # One train row of a class has no variance but the smoothing, which blows rounding up.
        np.testing.assert_allclose(ours[column][:, model.classes_], theirs, atol=1e-6)
        absent = np.setdiff1d(np.arange(n_classes), model.classes_)
        assert not ours[column][:, absent].any()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "test",
    [
        lambda model: PPI(model, n_splits=6, random_state=0),
        lambda model: PPI(model, n_splits=6, loss="zero-one", random_state=0),
        lambda model: PPI(model, n_splits=6, loss=lambda y, p: 1.0 - p[:, 0] * (y == "a"), random_state=0),
        lambda model: CrossFitPPI(model, n_folds=3, random_state=0),
        lambda model: CrossFitPPI(
            model, n_folds=3, significance="randomisation", n_draws=39, early_stop=True, random_state=0
        ),
    ],
    ids=["log-loss", "zero-one", "callable", "by row", "early stop"],
)
def test_growth_is_that_of_fits_one_by_one(n_classes, test):
    X, y = _table(n_classes)
    ours, theirs = ([answers(test(kind()), X, y)] for kind in (GaussianNB, OwnGaussianNB))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def answers(test, X, y):
    found = [test.evaluate(X, y, x) for x in range(X.shape[1])]
    return [(answer.pvalue, answer.statistic, answer.effect) for answer in found]


def test_a_search_says_how_it_was_answered_and_finds_the_same():
    X, y = _table()
    ours, theirs = (
        PPFS(kind(), n_splits=8, alpha=0.2, random_state=0).fit(X, y) for kind in (GaussianNB, OwnGaussianNB)
    )
    assert "all columns at once" in ours.trace_.notes[0]
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-9)


def test_threads_and_neighbours_do_not_matter():
    X, y = _table()
    alone, together = (PPFS(GaussianNB(), n_splits=8, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(alone.pvalues_, together.pvalues_)
    columns, labels = np.ascontiguousarray(X.T), np.unique(y, return_inverse=True)[1]
    both = class_probabilities(columns, labels, columns, 3, 1e-9)
    one = class_probabilities(columns[1:2], labels, columns[1:2], 3, 1e-9)
    np.testing.assert_array_equal(both[1:2], one)


@pytest.mark.parametrize("column", [["x", "y", "z"] * 30, [np.nan, *range(89)]], ids=["categories", "gaps"])
def test_what_is_no_plain_column_is_fitted_by_scikit_learn(column):
    pd = pytest.importorskip("pandas")
    X, y = _table()
    frame = pd.DataFrame(X[:, :2]).rename(columns=str).assign(other=column)
    ours, theirs = (
        PPFS(kind(), n_splits=6, alpha=0.2, impute="median", random_state=0).fit(frame, y)
        for kind in (GaussianNB, OwnGaussianNB)
    )
    np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-9)


def test_a_column_that_is_constant_in_some_train_part_tells_nothing_there():
    X, y = _table()
    X[:, 4] = np.arange(len(X)) == 0
    shares = class_probabilities(
        np.array([[2.0, 2.0, 2.0]]),
        np.array([0, 1, 1]),
        np.array([[2.0, 5.0]]),
        n_classes=2,
        var_smoothing=1e-9,
    )
    np.testing.assert_allclose(shares, [[[1 / 3, 2 / 3]] * 2])
    selector = PPFS(GaussianNB(), n_splits=8, random_state=0).fit(X, y)
    assert selector.support_[0]
    assert not selector.support_[4]
