"""Sparse columns: every format and type gives the same answer, and nothing wide is made dense."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.risks.linear import risks as linear_risks
from ppfs.independence._predictive.risks.linear.single_columns import LinearGrower

N_ROWS, N_COLUMNS = 80, 30

# One column at a time may be dense, and a feature of a few columns.
MOST_DENSE = 3


@pytest.fixture
def never_wide(monkeypatch):
    """Fail whenever more than a few columns of a sparse matrix are made dense."""
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, _watched(getattr(kind, name)))
    # Linear models make blocks of columns and small sets of members dense; here both are as small as can be.
    monkeypatch.setattr(LinearGrower, "bytes_per_block", 1)
    monkeypatch.setattr(linear_risks, "_MAX_DENSE", 0)


def _watched(make_dense):
    def watched(self, *arguments, **settings):
        # Sums, extremes and the like are matrices of one row; distances between rows are wider than the table.
        is_narrow = self.ndim == 1 or self.shape[1] <= MOST_DENSE or self.shape[0] == 1
        assert is_narrow or self.shape[1] > N_COLUMNS, f"shape {self.shape} made dense"
        return make_dense(self, *arguments, **settings)

    return watched


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.poisson(0.4, size=(N_ROWS, N_COLUMNS)).astype(float)


@pytest.fixture
def y(X):
    return (X[:, 3] + 0.3 * np.random.default_rng(1).normal(size=N_ROWS) > 0.3).astype(int)


MODELS = {
    "engine": None,
    "tree": DecisionTreeClassifier(max_features=1.0),
    "forest": RandomForestClassifier(5),
    "logistic": LogisticRegression(),
    "svm": LinearSVC(),
    "neighbours": KNeighborsClassifier(),
}
FORMATS = [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_formats_and_types_give_the_same_answer(X, y, never_wide, model, make):
    test = make(MODELS[model], random_state=0)
    # The draws of a counted p-value are a small dense block of their own.
    test.set_params(**({"n_splits": 5} if make is PPI else {"exact_tail": False}))
    selector = PPFS(independence=test, random_state=0)
    found = [
        selector.fit(one, y).pvalues_
        for one in (*(to_sparse(X) for to_sparse in FORMATS), sp.csr_array(X).astype(np.int32))
    ]
    assert selector.support_[3]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize(
    "settings", [{"class_weight": "balanced"}, {"n_draws": 3}, {"knockoff": "conditional"}], ids=str
)
def test_options_make_nothing_wide_dense(X, y, never_wide, settings):
    for model in (None, LogisticRegression()):
        selector = PPFS(model, n_splits=5, random_state=0, **settings)
        assert selector.fit(sp.csr_array(X), y).support_[3]


def test_weights_groups_and_imputation_make_nothing_wide_dense(X, y, never_wide):
    rng = np.random.default_rng(2)
    rows = {"sample_weight": rng.integers(0, 3, size=N_ROWS), "groups": rng.integers(0, 12, size=N_ROWS)}
    groups = {"pair": [3, 4]}
    with_gaps = sp.csr_array(X)
    with_gaps.data[0] = np.nan
    for model in (None, LogisticRegression()):
        selector = PPFS(model, n_splits=8, feature_groups=groups, impute="median", random_state=0)
        assert selector.fit(with_gaps, y, **rows).support_[[3, 4]].all()


@pytest.mark.parametrize(
    "model",
    [
        None,
        MODELS["tree"],
        LogisticRegression(tol=1e-10, max_iter=10_000),
        LinearSVC(tol=1e-8, max_iter=100_000),
    ],
    ids=str,
)
def test_sparse_answers_are_those_of_dense_columns(X, y, model):
    """In growth, where trees have no ties to break. Forests draw otherwise from sparse columns, neighbours tie."""
    selector = PPFS(model, n_splits=5, random_state=0)
    dense, sparse = (
        {step.feature: step.effect for step in selector.fit(table, y).trace_ if step.phase == "growth"}
        for table in (X, sp.csr_array(X))
    )
    assert sparse == pytest.approx(dense, rel=1e-5, abs=1e-7)
