"""Permutation importance of support vector machines: distances are changed, and the answer is the machine's own.

With a scoring of its own name the machine is asked through its interface, with shuffled copies of the rows: the slow
and obvious way.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from ppfs.wrappers import PermutationImportance
from ppfs.wrappers._shuffled_machine import ShuffledMachine


def table(seed, n_rows=90, n_columns=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * np.exp(rng.normal(size=n_columns))
    X[:, 4] = rng.random(n_rows) < 0.2
    X[:, 5] = 3.0
    level = X[:, 0] / X[:, 0].std() + X[:, 1] / X[:, 1].std() * X[:, 4] + 0.3 * rng.normal(size=n_rows)
    return X, level


MODELS = {
    "SVC": (SVC(C=2.0), "accuracy"),
    "its own gamma": (SVC(gamma=0.3), "accuracy"),
    "gamma by number of columns": (SVC(gamma="auto", class_weight="balanced"), "accuracy"),
    "NuSVC": (NuSVC(nu=0.4), "accuracy"),
    "scaled": (make_pipeline(StandardScaler(), SVC()), "accuracy"),
    "scaled twice": (make_pipeline(RobustScaler(), MinMaxScaler(), SVC(C=5)), "accuracy"),
    "SVR": (SVR(C=3.0), "r2"),
    "NuSVR, scaled": (make_pipeline(MaxAbsScaler(), NuSVR()), "r2"),
}


def both_ways(model, scoring, X, y, **more):
    fits = [
        PermutationImportance(model, scoring=name, random_state=1, **more).fit(X, y)
        for name in (None, scoring)
    ]
    np.testing.assert_allclose(fits[0].importances_, fits[1].importances_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(fits[0].support_, fits[1].support_)
    return fits[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", list(MODELS))
def test_changed_distances_tell_what_shuffled_rows_tell(kind, seed):
    model, scoring = MODELS[kind]
    X, level = table(seed)
    y = level if scoring == "r2" else np.where(level > 0, "yes", "no")
    fitted = both_ways(model, scoring, X, y, n_repeats=3)
    assert fitted.importances_.any()
    assert fitted.importances_[5] == 0.0


def test_sparse_rows_and_groups_of_columns_are_shuffled_alike():
    X, level = table(5, n_rows=120)
    X[np.abs(X) < 0.7] = 0.0
    y = (level > 0).astype(int)
    both_ways(SVC(), "accuracy", sp.csr_array(X), y)
    both_ways(SVC(), "accuracy", X, y, feature_groups={"pair": [0, 1], "three": [2, 3, 4]})


def test_a_large_offset_costs_no_digits():
    X, level = table(6)
    X[:, 2] += 1e9
    both_ways(SVC(gamma=0.2), "accuracy", X, (level > 0).astype(int), n_repeats=3)


def test_many_rows_are_taken_part_by_part(monkeypatch):
    X, level = table(7)
    whole = PermutationImportance(SVC(), random_state=0).fit(X, level > 0).importances_
    monkeypatch.setattr("ppfs.wrappers._shuffled_machine._MAX_AT_ONCE", 100)
    parts = PermutationImportance(SVC(), random_state=0).fit(X, level > 0).importances_
    np.testing.assert_array_equal(whole, parts)


def test_more_distances_than_memory_allows_are_not_kept(monkeypatch):
    X, level = table(9)
    machine = SVC(random_state=0).fit(X, level > 0)
    monkeypatch.setattr("ppfs.wrappers._shuffled_machine._MAX_DISTANCES", 90 * len(machine.support_vectors_))
    assert ShuffledMachine.of(machine, X) is not None
    assert ShuffledMachine.of(machine, np.vstack([X, X])) is None


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="linear", random_state=0),
        SVC(kernel="poly", random_state=0),
        make_pipeline(StandardScaler(), SVC(kernel="sigmoid", random_state=0)),
    ],
)
def test_other_kernels_are_left_to_their_own_interface(model):
    X, level = table(8)
    assert ShuffledMachine.of(model.fit(X, level > 0), X) is None


def test_three_classes_are_left_to_the_interface():
    X, y = load_iris(return_X_y=True)
    assert ShuffledMachine.of(SVC(random_state=0).fit(X, y), X) is None
    both_ways(SVC(), "accuracy", X, y)
