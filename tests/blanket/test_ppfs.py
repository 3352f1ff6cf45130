"""What PPFS promises beyond scikit-learn's contract."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.blanket._run.folds import aggregate
from ppfs.independence import PPI, DSeparation


@pytest.fixture(scope="module")
def planted():
    """Columns 2 and 5 decide the class; the rest is noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    return X, (X[:, 2] + X[:, 5] > 0).astype(int)


def quick(estimator=None, **parameters):
    return PPFS(estimator, **{"n_splits": 10, "random_state": 0, **parameters})


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        DecisionTreeClassifier(max_depth=3),
        RandomForestClassifier(10),
        LogisticRegression(),
        SVC(),
        LinearSVC(),
        RidgeClassifier(),
        GaussianNB(),
        make_pipeline(LogisticRegression()),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, cv=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_finds_the_planted_columns_with_any_classifier(planted, estimator):
    X, y = planted
    selector = quick(estimator).fit(X, y)
    assert {2, 5} <= set(selector.blanket_)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [1, 2], [-1.0, 1.0]], ids=repr)
def test_labels_of_any_kind_give_the_same_answer(planted, labels):
    X, y = planted
    expected = quick().fit(X, y)
    selector = quick().fit(X, np.array(labels)[y])
    assert selector.task_ == "classification"
    np.testing.assert_array_equal(selector.pvalues_, expected.pvalues_)


def test_estimators_see_the_callers_labels(planted):
    X, y = planted
    names = np.array(["no", "yes"])[y]
    tree = DecisionTreeClassifier(class_weight={"no": 1.0, "yes": 3.0})
    assert {2, 5} <= set(quick(tree).fit(X, names).blanket_)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    assert set(quick().fit(X, y).blanket_) == {2, 3}


def test_regression_follows_target_or_estimator():
    X, y = load_diabetes(return_X_y=True)
    assert quick().fit(X, y).task_ == "regression"
    assert quick(Ridge()).fit(X, np.round(y / 50)).task_ == "regression"
    assert quick(task="regression").fit(X, np.round(y / 50)).task_ == "regression"
    assert {2, 8} <= set(quick(Ridge(alpha=0.01)).fit(X, y).blanket_)


@pytest.mark.parametrize("loss", ["log-loss", "brier", "zero-one"])
def test_named_losses_of_classification(planted, loss):
    X, y = planted
    assert {2, 5} <= set(quick(loss=loss).fit(X, y).blanket_)


def test_absolute_loss_and_callable_loss_agree():
    X, y = load_diabetes(return_X_y=True)
    named = quick(Ridge(), loss="absolute").fit(X, y)
    own = quick(Ridge(), loss=lambda truth, value: np.abs(truth - value)).fit(X, y)
    np.testing.assert_array_equal(named.pvalues_, own.pvalues_)


def test_fitted_attributes_are_consistent(planted):
    X, y = planted
    selector = quick(alpha=0.05).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), np.sort(selector.blanket_))
    np.testing.assert_array_equal(selector.support_, selector.pvalues_ <= 0.05)
    np.testing.assert_allclose(selector.scores_, -np.log(selector.pvalues_))
    assert (np.diff(selector.importances_[selector.blanket_]) <= 0).all()
    assert selector.folds_ == ()
    assert len(selector.trace_) == 8 + sum(step.phase == "shrink" for step in selector.trace_)


def test_one_feature_blanket_is_returned_whole(planted):
    X, _ = planted
    y = (X[:, 3] > 0).astype(int)
    assert list(quick(n_splits=10).fit(X, y).blanket_) == [3]
    assert list(quick().fit(X[:, [3]], y).blanket_) == [0]


def test_importances_do_not_saturate_where_scores_do():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + 0.7 * X[:, 1] > 0).astype(int)
    selector = quick(LogisticRegression()).fit(X, y)
    assert selector.scores_[0] == selector.scores_[1]
    assert selector.importances_[0] > selector.importances_[1]
    assert list(selector.blanket_) == [0, 1]


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB()], ids=repr)
def test_shrinking_fits_once_a_removal_not_once_a_candidate(estimator):
    X, y = make_classification(150, 10, n_informative=3, n_redundant=4, random_state=2)
    selector = quick(estimator, n_splits=5, alpha=0.05).fit(X, y)
    shrink = [step for step in selector.trace_ if step.phase == "shrink"]
    n_removals = sum(step.decision == "dropped" for step in shrink)
    assert len(shrink) > n_removals + 1
    n_shrink_fits = selector.n_fits_ - 10 * 5
    # One set of B models a column set. The last removal needs none when no question follows it,
    # and a single remaining column was answered in the growth phase.
    column_sets = {frozenset(step.given) for step in shrink if len(step.given) > 1}
    assert n_shrink_fits == len(column_sets) * 5
    assert n_shrink_fits <= (n_removals + 1) * 5 < len(shrink) * 5


@pytest.mark.parametrize("estimator", [None, RandomForestClassifier(5), LogisticRegression()], ids=repr)
def test_same_answer_for_any_number_of_jobs_and_backend(planted, estimator):
    X, y = planted
    expected = quick(estimator, n_splits=5).fit(X, y)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            selector = quick(estimator, n_splits=5).fit(X, y)
        np.testing.assert_array_equal(selector.pvalues_, expected.pvalues_)
        np.testing.assert_array_equal(selector.importances_, expected.importances_)
    np.testing.assert_array_equal(
        quick(estimator, n_splits=5, n_jobs=2).fit(X, y).pvalues_, expected.pvalues_
    )


@pytest.mark.parametrize("estimator", [None, RandomForestClassifier(5), LogisticRegression()], ids=repr)
@pytest.mark.parametrize("n_folds", [0, 3])
def test_same_columns_in_another_order(estimator, n_folds):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X[::3, :12]), y[::3]
    order = np.random.default_rng(3).permutation(X.shape[1])
    expected = quick(estimator, n_splits=5, alpha=0.05, n_folds=n_folds).fit(X, y)
    shuffled = quick(estimator, n_splits=5, alpha=0.05, n_folds=n_folds).fit(X[:, order], y)
    assert set(order[shuffled.blanket_]) == set(expected.blanket_)
    np.testing.assert_array_equal(shuffled.pvalues_, expected.pvalues_[order])


@pytest.mark.parametrize(
    "seed", [7, np.random.default_rng, np.random.RandomState], ids=["int", "Generator", "RandomState"]
)
def test_random_state_of_each_kind_is_reproducible(planted, seed):
    X, y = planted
    make = (lambda: seed) if isinstance(seed, int) else (lambda: seed(7))
    first, second = (quick(n_splits=5, random_state=make()).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.pvalues_, second.pvalues_)


def test_random_state_reaches_the_splits(planted):
    X, y = planted
    first, second = (quick(random_state=seed).fit(X, y) for seed in (1, 2))
    assert not np.array_equal(first.importances_, second.importances_)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
def test_sparse_equals_dense(planted, make):
    X, y = planted
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    model = LogisticRegression(tol=1e-9)
    expected = quick(model).fit(X, y)
    selector = quick(model).fit(make(X), y)
    assert set(selector.blanket_) == set(expected.blanket_)
    np.testing.assert_allclose(selector.importances_, expected.importances_, atol=1e-6)
    assert sp.issparse(selector.transform(make(X)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_names_and_kind(planted, frame):
    X, y = planted
    names = [f"gene {i}" for i in range(8)]
    data = frame(dict(zip(names, X.T, strict=True)))
    kind = "pandas" if frame is pd.DataFrame else "polars"
    selector = quick().set_output(transform=kind).fit(data, y)
    assert set(selector.get_feature_names_out()) == {"gene 2", "gene 5"}
    out = selector.transform(data)
    assert isinstance(out, frame)
    assert list(out.columns) == ["gene 2", "gene 5"]
    np.testing.assert_array_equal(selector.feature_names_in_, names)


def test_targets_as_series(planted):
    X, y = planted
    expected = quick().fit(X, y).pvalues_
    for series in (pd.Series(y), pl.Series(y), y.tolist()):
        np.testing.assert_array_equal(quick().fit(X, series).pvalues_, expected)
    names = np.array(["no", "yes"])[y]
    for series in (pd.Series(names), pd.Series(names, dtype="category"), pl.Series(names)):
        np.testing.assert_array_equal(quick().fit(X, series).pvalues_, expected)


def test_works_inside_pipeline_grid_search_clone_and_pickle(planted):
    X, y = planted
    pipeline = make_pipeline(quick(GaussianNB()), LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    grid = GridSearchCV(
        pipeline, {"ppfs__alpha": [0.05, 0.1], "ppfs__estimator": [LogisticRegression(), GaussianNB()]}, cv=2
    )
    assert grid.fit(X, y).best_score_ > 0.9
    selector = quick().fit(X, y)
    copy = pickle.loads(pickle.dumps(selector))  # noqa: S301
    np.testing.assert_array_equal(copy.transform(X), selector.transform(X))
    assert copy.trace_.explain(2) == selector.trace_.explain(2)
    assert not hasattr(clone(selector), "support_")


def test_ready_test_replaces_the_flat_parameters(planted):
    X, y = planted
    flat = PPFS(GaussianNB(), n_splits=8, test_size=0.3, random_state=4).fit(X, y)
    ready = PPFS(independence=PPI(GaussianNB(), n_splits=8, test_size=0.3), random_state=4).fit(X, y)
    own_seed = PPFS(independence=PPI(GaussianNB(), n_splits=8, test_size=0.3, random_state=4)).fit(X, y)
    np.testing.assert_array_equal(ready.pvalues_, flat.pvalues_)
    np.testing.assert_array_equal(own_seed.pvalues_, flat.pvalues_)


@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
def test_correction_adjusts_growth_and_leaves_pvalues_raw(planted, correction):
    X, y = planted
    plain = quick(alpha=0.05).fit(X, y)
    corrected = quick(alpha=0.05, correction=correction).fit(X, y)
    growth = [step for step in corrected.trace_ if step.phase == "growth"]
    assert all(step.adjusted_pvalue >= step.pvalue for step in growth)
    assert [step.pvalue for step in growth] == [s.pvalue for s in plain.trace_ if s.phase == "growth"]
    assert all((step.decision == "candidate") == (step.adjusted_pvalue <= 0.05) for step in growth)


class TestWithAKnownGraph:
    """With the oracle in place of PPI only the search itself can be wrong."""

    @staticmethod
    def blanket(edges, n_columns):
        X, y = np.zeros((4, n_columns)), np.zeros(4)
        return set(PPFS(independence=DSeparation(edges)).fit(X, y).blanket_.tolist())

    def test_parents_and_children(self):
        # 0 -> T -> 1, 2 -> 0 (grandparent), 1 -> 3 (grandchild)
        assert self.blanket([(0, 4), (4, 1), (2, 0), (1, 3)], 4) == {0, 1}

    def test_sibling_is_screened_off_by_the_common_parent(self):
        assert self.blanket([(0, 2), (0, 1)], 2) == {0}

    def test_isolated_columns(self):
        assert self.blanket([(0, 1)], 2) == set()

    def test_spouse_joined_to_the_target_by_another_path_is_found(self):
        # 0 -> T, 0 -> 1, T -> 2 <- 1: the spouse 1 is marginally dependent through 0.
        assert self.blanket([(0, 3), (0, 1), (3, 2), (1, 2)], 3) == {0, 1, 2}

    def test_spouse_that_marginal_growth_cannot_find(self):
        # T -> 0 <- 1: the spouse 1 is independent of T until 0 is known. Marginal growth never
        # asks given 0, so it misses 1; conditional searches such as FBED do ask.
        assert self.blanket([(2, 0), (1, 0)], 2) == {0}


class TestAggregation:
    def test_highest_mean_frequency_wins(self):
        folds = aggregate([(0, 1), (0, 2, 3), (0,)])
        assert [fold.z_score for fold in folds] == [2.0, 5 / 3, 3.0]
        assert [fold.is_chosen for fold in folds] == [False, False, True]

    def test_empty_blanket_scores_zero(self):
        folds = aggregate([(), (1,)])
        assert [fold.z_score for fold in folds] == [0.0, 1.0]
        assert folds[1].is_chosen

    def test_all_empty(self):
        assert aggregate([(), ()])[0].is_chosen

    def test_tie_goes_to_more_support_for_each_member(self):
        # freq: 0 -> 4, 1 -> 2, 2 -> 3, 3 -> 3; z of (0, 1) and of (2, 3) is 3.
        blankets = [(0, 1), (2, 3), (0, 1), (0, 2, 3, 4), (0, 2, 3, 5)]
        folds = aggregate(blankets)
        assert folds[0].z_score == folds[1].z_score == max(fold.z_score for fold in folds)
        assert folds[1].is_chosen

    def test_tie_goes_to_the_smaller_blanket(self):
        folds = aggregate([(0, 1), (2,), (0, 1), (2,)])
        assert [fold.z_score for fold in folds] == [2.0] * 4
        assert folds[1].is_chosen

    def test_chosen_fold_supplies_the_attributes(self, planted):
        X, y = planted
        selector = quick(n_folds=3, alpha=0.05).fit(X, y)
        chosen = next(fold for fold in selector.folds_ if fold.is_chosen)
        assert tuple(selector.blanket_) == chosen.blanket
        assert {step.fold for step in selector.trace_} == {1, 2, 3}
        assert (selector.pvalues_[list(chosen.blanket)] <= 0.05).all()
