"""The seam between PPI and the engine: who answers, and that both answer alike."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference.twin_tree import TwinTreeClassifier, TwinTreeRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from ppfs import PPFS, _engine
from ppfs.datasets import list_datasets, load_dataset

# scikit-learn's tree through its public interface: 1.0 means all features, as None does, but the engine
# does not support it.
VIA_SKLEARN = {"max_features": 1.0}


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :12], y


def numbers_of(data):
    """Return columns and target; letters become ordinal codes."""
    if data.name != "credit":
        return data.X, data.y
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in data.X.T]).astype(
        float
    ), data.y


def note(estimator, X, y, **parameters):
    notes = PPFS(estimator, n_splits=5, random_state=0, **parameters).fit(X, y).trace_.notes
    return [note for note in notes if not note.startswith(("task:", "kinds"))]


def test_default_and_known_parameters_go_to_the_engine(wdbc):
    for tree in (
        None,
        DecisionTreeClassifier(),
        DecisionTreeClassifier(criterion="entropy", max_depth=3, min_samples_leaf=2, min_samples_split=0.1),
        DecisionTreeClassifier(criterion="log_loss", random_state=3),
    ):
        assert note(tree, *wdbc) == ["DecisionTreeClassifier is grown by the engine"]
    assert note(None, *load_diabetes(return_X_y=True)) == ["DecisionTreeRegressor is grown by the engine"]


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (BernoulliNB(), "the engine has no faster way for this kind of model"),
        (ExtraTreeClassifier(), "the engine has no faster way for this kind of model"),
        (DecisionTreeClassifier(splitter="random"), "the engine does not support splitter='random'"),
        (DecisionTreeClassifier(max_features=2), "the engine does not support max_features=2"),
        (
            DecisionTreeClassifier(class_weight="balanced"),
            "the engine does not support class_weight='balanced'",
        ),
        (DecisionTreeClassifier(ccp_alpha=0.1), "the engine does not support ccp_alpha=0.1"),
    ],
    ids=repr,
)
def test_anything_else_takes_the_generic_path_and_says_why(wdbc, estimator, reason):
    (text,) = note(estimator, *wdbc)
    assert text == f"{type(estimator).__name__} is fitted through scikit-learn's interface: {reason}"


def test_other_reasons_for_the_generic_path(wdbc):
    X, y = wdbc
    (text,) = note(None, X, y, loss=lambda truth, probability: -np.log(probability[:, 1] + 0.01))
    assert "does not support the loss 'callable'" in text
    target = load_diabetes(return_X_y=True)
    assert "criterion='absolute_error'" in note(DecisionTreeRegressor(criterion="absolute_error"), *target)[0]


@pytest.mark.parametrize("loss", ["log-loss", "brier", "zero-one"])
@pytest.mark.parametrize("tree", [{}, {"max_depth": 2}, {"criterion": "entropy", "min_samples_leaf": 5}])
def test_growth_equals_scikit_learns_trees(wdbc, loss, tree):
    """A single column leaves no ties between columns, so all growth answers agree."""
    X, y = wdbc
    engine, sklearn = (
        PPFS(DecisionTreeClassifier(**tree, **extra), n_splits=6, loss=loss, random_state=1).fit(X, y)
        for extra in ({}, VIA_SKLEARN)
    )
    for ours, theirs in zip(engine.trace_, sklearn.trace_, strict=False):
        if ours.phase != "growth":
            break
        assert ours.pvalue == theirs.pvalue
        assert ours.effect == pytest.approx(theirs.effect, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_regression_equals_scikit_learns_trees(loss):
    """Large leaves: in a node of a few rows several columns make the same cut, and scikit-learn chooses at random."""
    X, y = load_diabetes(return_X_y=True)
    engine, sklearn = (
        PPFS(
            DecisionTreeRegressor(max_depth=4, min_samples_leaf=25, **extra),
            n_splits=8,
            loss=loss,
            random_state=1,
        ).fit(X, y)
        for extra in ({}, VIA_SKLEARN)
    )
    np.testing.assert_allclose(engine.pvalues_, sklearn.pvalues_, atol=1e-12)
    np.testing.assert_array_equal(engine.support_, sklearn.support_)


def test_sparse_equals_dense(wdbc):
    X, y = wdbc
    X = np.where(X > np.median(X, axis=0), X, 0.0)
    dense = PPFS(n_splits=8, random_state=0).fit(X, y)
    sparse = PPFS(n_splits=8, random_state=0).fit(sp.csr_array(X), y)
    growth = [(a, b) for a, b in zip(dense.trace_, sparse.trace_, strict=False) if a.phase == "growth"]
    assert all(a.pvalue == b.pvalue for a, b in growth)
    assert set(dense.blanket_) == set(sparse.blanket_)


def test_engine_refits_only_trees_that_used_the_removed_column(wdbc):
    X, y = wdbc
    selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    n_removals = sum(step.decision == "dropped" for step in selector.trace_)
    n_shrink_fits = selector.n_fits_ - 12 * 10
    assert n_removals
    assert 10 <= n_shrink_fits <= (n_removals + 1) * 10


def test_a_column_that_no_tree_uses_costs_no_fit():
    # x0 separates the classes; x1 does so less well, so that no tree that has x0 needs it.
    x0 = np.repeat([0.0, 1.0], 50)
    x1 = x0.copy()
    x1[[0, 99]] = [1.0, 0.0]
    selector = PPFS(n_splits=5, random_state=0).fit(np.column_stack([x0, x1]), x0.astype(int))
    assert [step.feature for step in selector.trace_ if step.decision == "dropped"] == [1]
    assert selector.n_fits_ == 2 * 5 + 5
    assert list(selector.blanket_) == [0]


@pytest.mark.parametrize("n_folds", [0, 2])
def test_growth_estimator_is_used_in_growth_only(wdbc, n_folds):
    X, y = wdbc
    both = PPFS(
        RandomForestClassifier(5),
        growth_estimator=DecisionTreeClassifier(),
        n_splits=5,
        random_state=0,
        n_folds=n_folds,
    ).fit(X, y)
    tree = PPFS(n_splits=5, random_state=0, n_folds=n_folds).fit(X, y)
    forest = PPFS(RandomForestClassifier(5), n_splits=5, random_state=0, n_folds=n_folds).fit(X, y)

    def growth(selector):
        return [step.pvalue for step in selector.trace_ if step.phase == "growth"]

    assert growth(both) == growth(tree) != growth(forest)
    assert len(both.trace_.notes) == 3
    assert {type(note) for note in both.trace_.notes} == {str}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_answer_on_one_and_two_threads(wdbc, n_jobs, monkeypatch):
    monkeypatch.setattr("ppfs._engine.many_columns.tree_per_split._ENTRIES_FOR_THREADS", 0)
    monkeypatch.setattr("ppfs.independence._predictive.risks.trees._ROWS_FOR_THREADS", 0)
    X, y = wdbc
    expected = PPFS(n_splits=10, random_state=0).fit(X, y)
    selector = PPFS(n_splits=10, random_state=0, n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(selector.pvalues_, expected.pvalues_)
    np.testing.assert_array_equal(selector.importances_, expected.importances_)


# Neighboring rows of Credit have similar targets.
@pytest.mark.filterwarnings("ignore::ppfs.exceptions.DependentRowsWarning")
@pytest.mark.data
@pytest.mark.parametrize("name", list_datasets())
def test_growth_of_engine_and_scikit_learn_agree_on_the_papers_sets(name):
    """Growth has no ties between columns; the shrink phase breaks them in another way than scikit-learn."""
    data = load_dataset(name)
    X, y = numbers_of(data)
    columns = np.random.default_rng(0).permutation(X.shape[1])[:30]
    tree = DecisionTreeClassifier if data.task == "classification" else DecisionTreeRegressor
    engine, sklearn = (
        PPFS(tree(**extra), n_splits=5, random_state=0, task=data.task).fit(X[:, columns], y)
        for extra in ({}, VIA_SKLEARN)
    )
    for ours, theirs in zip(engine.trace_, sklearn.trace_, strict=False):
        if ours.phase != "growth":
            break
        assert ours.pvalue == theirs.pvalue, data.feature_names[columns[ours.feature]]


# Neighboring rows of Credit have similar targets.
@pytest.mark.filterwarnings("ignore::ppfs.exceptions.DependentRowsWarning")
@pytest.mark.data
@pytest.mark.parametrize("name", list_datasets())
def test_whole_search_of_engine_and_generic_path_agree_on_the_papers_sets(name):
    """The generic path fits a slow tree that breaks ties as the engine does, so the blankets must be equal.

    With scikit-learn's tree they need not be: it breaks ties at random, and two of its seeds disagree just as much.
    The slow tree allows 60 rows and the eight strongest columns of each set.
    """
    data = load_dataset(name)
    X, y = numbers_of(data)
    rows = np.random.default_rng(0).permutation(len(y))
    if name == "dorothea":
        rows = np.concatenate([rows[y[rows] == label][:30] for label in (-1, 1)])
    rows = rows[:60]
    strongest = PPFS(n_splits=5, random_state=0, task=data.task).fit(X, y)
    columns = np.sort(np.argsort(-strongest.importances_, kind="stable")[:8])
    X, y = X[rows][:, columns], y[rows]
    X = X.toarray() if sp.issparse(X) else X
    twin = TwinTreeClassifier() if data.task == "classification" else TwinTreeRegressor()
    settings = {"n_splits": 6, "random_state": 0, "alpha": 0.2, "task": data.task, "stratify": False}
    engine, generic = PPFS(**settings).fit(X, y), PPFS(twin, **settings).fit(X, y)
    assert "engine" in engine.trace_.notes[0]
    assert "scikit-learn's interface" in generic.trace_.notes[0]
    assert [step.phase for step in engine.trace_].count("shrink") > 0
    np.testing.assert_array_equal(engine.support_, generic.support_)
    np.testing.assert_allclose(engine.pvalues_, generic.pvalues_, atol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (
            make_pipeline(StandardScaler(), LogisticRegression(dual=True, solver="liblinear")),
            "the engine does not support dual=True",
        ),
        (make_pipeline(PCA(), LogisticRegression()), "the engine does not support the step PCA()"),
        (GaussianNB(priors=[0.5, 0.5]), "the engine does not support priors=[0.5, 0.5]"),
        (
            HistGradientBoostingClassifier(max_iter=3, l2_regularization=1.0, class_weight="balanced"),
            "the engine does not support class_weight='balanced'",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_source_made_for_a_kind_of_model_says_what_it_refuses(wdbc, estimator, reason):
    X, y = wdbc
    (text,) = note(estimator, X[:, :3], y)
    assert text == f"{type(estimator).__name__} is fitted through scikit-learn's interface: {reason}"


@pytest.mark.parametrize("is_sooner", [True, False])
def test_a_fit_before_the_kernels_of_single_columns_are_compiled_has_the_same_trace(monkeypatch, is_sooner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12)).round(1)
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    asked = []
    compiled = PPFS(n_splits=6, random_state=0).fit(X, y)
    monkeypatch.setattr(_engine, "is_sooner_grown", lambda n_rows: asked.append(n_rows) or is_sooner)
    fitted = PPFS(n_splits=6, random_state=0).fit(X, y)
    assert max(asked) == 12 * 6 * 64
    assert fitted.trace_.to_frame().equals(compiled.trace_.to_frame())
    assert fitted.n_fits_ == compiled.n_fits_
