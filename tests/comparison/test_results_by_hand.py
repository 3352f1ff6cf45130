"""The results of comparisons and what other methods make of a table, with numbers given by hand."""

import time
from contextlib import nullcontext
from types import SimpleNamespace as Of

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LinearRegression

from ppfs import PPFS
from ppfs._comparison import METHODS, Comparison, MethodScores, comparing, peers, selects_for_a_model
from ppfs._comparison.comparing import _called, _divisions, _model, _Race, _Tally
from ppfs._comparison.methods import DEFAULT_METHODS, methods_of, ready
from ppfs._comparison.peers import Encoded, _filled, selected_by_peer
from ppfs._data import FitData
from ppfs.blanket import PPFSCV, StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch

NAN = float("nan")


def test_a_method_in_numbers():
    found = MethodScores("m", (0.5, 0.7, 0.9), (("a",), ("a", "b"), ("b", "c")), (1.0, 2.0, 3.0))
    assert found.score == pytest.approx(0.7)
    assert found.score_error == pytest.approx(0.2 / np.sqrt(3))
    assert found.n_columns == pytest.approx(5 / 3)
    assert found.stability == pytest.approx((1 / 2 + 0 + 1 / 3) / 3)
    assert found.note == ""
    one = MethodScores("m", (0.5,), (("a",),), (1.0,))
    assert (one.score, np.isnan(one.score_error), np.isnan(one.stability)) == (0.5, True, True)
    none = MethodScores("m", (), (), (), "failed")
    assert np.isnan([none.score, none.score_error, none.n_columns, none.stability]).all()
    two = MethodScores("m", (0.5, 0.5), ((), ("a",)), (1.0, 1.0))
    assert (two.score_error, two.stability) == (0.0, 0.0)


def compared():
    methods = (
        MethodScores("none", (), (), (), "failed: ValueError: a"),
        MethodScores("low", (0.25, 0.25), (("a",), ("b",)), (1.0, 2.0)),
        MethodScores(
            "large", (0.75, 0.25), (("a", "b"), ("a", "b")), (0.5, 0.25), "time limit: 2 of 3 folds"
        ),
        MethodScores("small", (0.25, 0.75), (("a",), ("a",)), (0.5, 0.25)),
    )
    return Comparison(methods, "r2", "regression", 10, 3, 2, "Ridge")


def test_the_best_method_comes_first_and_of_equal_ones_the_smaller():
    frame = compared().to_frame("pandas")
    assert frame["method"].tolist() == ["small", "large", "low", "none"]
    assert frame.iloc[:3].drop(columns=["method", "note"]).to_numpy().tolist() == [
        [0.5, 0.25, 1.0, 1.0, 0.375, 2],
        [0.5, 0.25, 2.0, 1.0, 0.375, 2],
        [0.25, 0.0, 1.0, 0.0, 1.5, 2],
    ]
    assert frame["note"].tolist() == ["", "time limit: 2 of 3 folds", "", "failed: ValueError: a"]
    assert frame.loc[3, ["score", "score_error", "n_columns", "stability", "seconds"]].isna().all()
    assert frame.loc[3, "n_folds"] == 0


def test_a_comparison_in_words():
    assert str(compared()).splitlines() == [
        "method                                  r2  columns  stability   seconds",
        "small                        0.500 ± 0.250      1.0       1.00      0.38",
        "large                        0.500 ± 0.250      2.0       1.00      0.38  time limit: 2 of 3 folds",
        "low                          0.250 ± 0.000      1.0       0.00      1.50",
        "none                             nan ± nan      nan        nan       nan  failed: ValueError: a",
    ]
    assert compared()["low"].name == "low"
    with pytest.raises(KeyError, match="nobody"):
        compared()["nobody"]
    assert compared()._repr_html_().startswith("<div>")


@pytest.mark.parametrize(
    ("seconds", "share", "stops"),
    [
        ([], 0.0, False),
        ([1.0], None, False),
        ([1.0], 2.0, False),
        ([1.0], 1.9, True),
        ([3.0, 1.0], 5.0, False),
        ([3.0, 1.0], 4.9, True),
    ],
)
def test_a_method_stops_where_another_fold_would_take_too_long(seconds, share, stops):
    tally = _Tally("m", None, scores=[0.5] * len(seconds), seconds=list(seconds))
    assert tally.stops_at(share, 3) == stops
    assert tally.note == (f"time limit: {len(seconds)} of 3 folds" if stops else "")
    tally.note = "failed"
    assert tally.stops_at(None, 3)


def test_a_tally_becomes_a_result():
    tally = _Tally("m", "all", [0.5], [("a",)], [1.0], "n")
    assert tally.result() == MethodScores("m", (0.5,), (("a",),), (1.0,), "n")


@pytest.mark.parametrize(
    ("scoring", "kind", "task", "name"),
    [
        (None, None, "classification", "accuracy"),
        (None, None, "regression", "r2"),
        (None, "count", "regression", "the model's own score"),
        ("max_error", "count", "regression", "max_error"),
        (len, None, "regression", "len"),
    ],
)
def test_scores_have_names(scoring, kind, task, name):
    assert _called(scoring, Of(target_kind=kind, task=task)) == name


@pytest.mark.parametrize(
    ("task", "kind"), [("classification", RandomForestClassifier), ("regression", RandomForestRegressor)]
)
def test_without_a_model_a_forest_is_scored(task, kind, monkeypatch):
    monkeypatch.setattr(comparing, "for_labels", lambda estimator, table: estimator)
    model = _model(None, Of(task=task), 7)
    assert (type(model), model.random_state) == (kind, 7)


@pytest.mark.parametrize("cv", [1, 6])
def test_folds_are_between_two_and_the_number_of_rows(cv):
    with pytest.raises(InvalidInputError) as raised:
        _divisions(Of(n_rows=5), cv, 0)
    assert str(raised.value) == f"cv={cv} must be between 2 and the number of rows, 5."


@pytest.mark.parametrize("cv", [2, 5])
def test_as_many_folds_as_rows_are_allowed(cv, monkeypatch):
    monkeypatch.setattr(comparing, "folds_of", lambda table, cv, seed, called: (cv, seed, called))
    assert _divisions(Of(n_rows=5), cv, 3) == (cv, 3, f"cv={cv}")


def race(**table):
    usual = {"n_features": 3, "kept_rows": None, "y": np.arange(6.0) % 2, "weights": None}
    X = np.column_stack([np.arange(6.0), np.ones(6), np.arange(6.0) ** 2])
    data = FitData(X, usual["y"], None, None, np.arange(6.0))
    return _Race(
        data, Of(**{**usual, **table}), LinearRegression(), None, "r2", 7, 2, table.pop("kind", None)
    )


class Chooser:
    """A selector that notes what it is fitted to."""

    def __init__(self):
        self.called = {}

    def fit(self, X, y, **rows):
        self.called = {"X": X, "y": y, **rows}

    def get_support(self):
        return np.array([True, False, True])


def selected_by(chooser, monkeypatch, rows=(0, 2, 4), **table):
    asked = {}
    monkeypatch.setattr(comparing, "ready", lambda method, **settings: asked.update(settings) or chooser)
    found = race(**table)._selected(chooser, np.array(rows))
    return found, asked


def test_all_columns_are_selected_by_name():
    assert race()._selected("all", np.arange(3)) == [0, 1, 2]


def test_a_selector_of_ones_own_gets_the_rows_outside_the_fold(monkeypatch):
    chooser = Chooser()
    found, asked = selected_by(chooser, monkeypatch)
    assert found == [0, 2]
    assert (asked.pop("model").__class__, asked) == (
        LinearRegression,
        {"scoring": "r2", "seed": 7, "n_jobs": 2, "kind": None},
    )
    assert list(chooser.called) == ["X", "y"]
    assert chooser.called["X"][:, 0].tolist() == [0, 2, 4]
    selected_by(chooser, monkeypatch, rows=(0, 1), kept_rows=np.array([1, 3, 5]))
    assert chooser.called["X"][:, 0].tolist() == [1, 3]


def test_a_selector_of_this_library_gets_what_belongs_to_rows(monkeypatch):
    chooser = type("Ours", (Chooser,), {"__module__": "ppfs.blanket"})()
    selected_by(chooser, monkeypatch)
    assert chooser.called["sample_weight"].tolist() == [0, 2, 4]


def test_a_method_that_fails_is_noted_with_its_error():
    tally = _Tally("m", None)
    race().run(tally, np.arange(3), np.arange(3, 6))
    assert tally.note.startswith("failed: TypeError: ")
    assert (tally.scores, tally.selected, tally.seconds) == ([], [], [])


def test_a_method_is_timed_without_the_model(monkeypatch):
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(comparing, "time", Of(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(comparing, "seen_by", lambda model, table, features: ("X", model))
    monkeypatch.setattr(comparing, "naming_the_model", lambda *_: nullcontext())
    monkeypatch.setattr(comparing, "fold_score", lambda *arguments: 0.75)
    tally = _Tally("m", "all")
    race(column_names=list("abc")).run(tally, np.arange(3), np.arange(3, 6))
    assert (tally.scores, tally.selected, tally.seconds, tally.note) == ([0.75], [("a", "b", "c")], [2.5], "")
    assert time.perf_counter() > 0


def test_methods_by_name():
    assert (
        list(methods_of(None))
        == list(DEFAULT_METHODS)
        == ["all", "ppfs", "ppfs-cv", "rfecv", "l1", "univariate"]
    )
    assert methods_of("all") == {"all": "all"}
    own = VarianceThreshold()
    assert methods_of({"mine": own, "l1": "l1"}) == {"mine": own, "l1": "l1"}
    assert type(methods_of(["ppfs-paper"])["ppfs-paper"]) is PPFS
    assert methods_of(["ppfs"])["ppfs"].independence is not None
    assert METHODS[:4] == ("all", "rfecv", "l1", "univariate")
    with pytest.raises(InvalidInputError) as raised:
        methods_of([])
    assert (
        str(raised.value) == "methods is empty. Name some, such as all, ppfs, ppfs-cv, rfecv, l1, univariate."
    )
    with pytest.raises(InvalidInputError, match="There is no method 'l2'"):
        methods_of(["l2"])


@pytest.mark.parametrize(
    ("selector", "is_one"),
    [
        *((kind(), True) for kind in (PPFSCV, Stepwise, SubsetSearch, PermutationImportance)),
        (PPFS(), False),
        (StabilitySelection(PPFS()), False),
    ],
)
def test_selectors_that_select_for_a_model(selector, is_one):
    assert selects_for_a_model(selector) == is_one


SETTINGS = {"model": LinearRegression(), "scoring": "r2", "seed": 7, "n_jobs": 2}


def test_open_parameters_are_set_on_a_copy():
    own = PPFS(random_state=3)
    found = ready(own, **SETTINGS, kind="count")
    assert (found.random_state, found.n_jobs, found.task, found.estimator) == (3, 2, "count", None)
    assert (own.n_jobs, own.task) == (None, "auto")
    assert ready(PPFS(task="regression"), **SETTINGS, kind="count").task == "regression"
    assert ready(PPFS(), **SETTINGS).task == "auto"
    wrapper = ready(Stepwise(), **SETTINGS, kind="count")
    assert (wrapper.random_state, wrapper.n_jobs, wrapper.scoring) == (7, 2, "r2")
    assert type(wrapper.estimator) is LinearRegression
    assert ready(Stepwise(scoring="max_error"), **SETTINGS).scoring == "max_error"
    assert type(ready(VarianceThreshold(), **SETTINGS)) is VarianceThreshold


def test_missing_values_are_filled_with_medians():
    X = np.array([[1.0, NAN, 1.0], [NAN, NAN, np.inf], [5.0, NAN, 2.0]])
    np.testing.assert_array_equal(_filled(X), [[1, 0, 1], [3, 0, 1.5], [5, 0, 2]])
    whole = np.ones((2, 2))
    assert _filled(whole) is whole
    assert np.isnan(X[0, 1])


def test_a_table_is_encoded_on_one_scale():
    codes = np.array([0.0, 1.0, 2.0, 2.0])
    table = Of(
        is_sparse=False, n_levels=np.array([0, 3, 0]), X=np.column_stack([[1.0, 1, 3, 3], codes, [5.0] * 4])
    )
    found = Encoded.of(table)
    assert found.owner.tolist() == [0, 2, 1, 1, 1]
    assert found.matrix[:, :2].tolist() == [[-1, 0], [-1, 0], [1, 0], [1, 0]]
    third = 1 / np.sqrt(3)
    np.testing.assert_allclose(found.matrix[:, 2], [3 * third, -third, -third, -third])
    np.testing.assert_allclose(found.matrix[:, 4], [-1, -1, 1, 1])


@pytest.mark.parametrize(("n_levels", "n_encoded"), [(30, 30), (31, 30)])
def test_thirty_categories_have_a_column_of_their_own(n_levels, n_encoded):
    codes = np.concatenate([np.arange(float(n_levels)), np.arange(1.0, n_levels)])
    table = Of(is_sparse=False, n_levels=np.array([n_levels]), X=codes[:, None])
    found = Encoded.of(table)
    assert found.owner.tolist() == [0] * n_encoded
    # Category 0 is the rarest.
    assert np.allclose(found.matrix[0], found.matrix[0, 0]) == (n_levels > 30)


def test_sparse_columns_are_divided_by_their_largest_value():
    X = sp.csr_array(np.array([[0.0, 2.0, 0.0], [-4.0, 1.0, 0.0]]))
    found = Encoded.of(Of(is_sparse=True, X=X, n_features=3))
    assert found.matrix.toarray().tolist() == [[0, 1, 0], [-1, 0.5, 0]]
    assert (found.matrix.format, found.owner.tolist()) == ("csr", [0, 1, 2])


def test_a_peer_selects_features_by_their_columns(monkeypatch):
    encoded = Of(matrix="M", owner=np.array([0, 2, 2, 1]))
    monkeypatch.setattr(Encoded, "of", classmethod(lambda cls, table: encoded))
    monkeypatch.setitem(
        peers.PEERS, "l1", lambda table, matrix, seed: np.array([False, True, True, seed == 3])
    )
    assert selected_by_peer("l1", "table", 3) == [1, 2]
    assert selected_by_peer("l1", "table", 4) == [2]


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(60, 6))
    return matrix, matrix[:, 0] + matrix[:, 1] + 0.5 * rng.normal(size=60)


def test_peers_are_as_scikit_learn_has_them(noisy, monkeypatch):
    made = []

    class Fitted:
        def __init__(self, *arguments, **settings):
            made.append((arguments, settings))

        def fit(self, matrix, y):
            self.support_ = self.coef_ = np.array([1, 0])
            self.best_estimator_ = Of(coef_=np.array([[1, 0, 0], [0, 0, 2]]))
            return self

        def get_support(self):
            return [True, False]

    for name in ("RFECV", "LassoCV", "GridSearchCV", "SelectFdr"):
        monkeypatch.setattr(peers, name, Fitted)
    labels, numbers = (Of(task=task, y=None) for task in ("classification", "regression"))
    assert peers.rfecv(labels, None, 3).tolist() == [1, 0]
    (forest,), settings = made.pop()
    assert (type(forest), forest.n_estimators, forest.random_state) == (RandomForestClassifier, 50, 3)
    assert settings == {"step": 0.1, "cv": 3}
    peers.rfecv(numbers, None, 3)
    assert type(made.pop()[0][0]) is RandomForestRegressor
    assert peers.l1(numbers, None, 3).tolist() == [True, False]
    assert made.pop() == ((), {"cv": 3, "random_state": 3})
    assert peers.l1(labels, None, 3).tolist() == [True, False, True]
    (machine, grid), settings = made.pop()
    assert (
        machine.get_params() | {"penalty": "l1", "dual": False, "random_state": 3, "max_iter": 2000}
        == machine.get_params()
    )
    np.testing.assert_allclose(grid["C"], 10.0 ** np.arange(-3, 1.1, 0.5))
    assert settings == {"cv": 3}
    assert peers.univariate(labels, None, 3).tolist() == [True, False]
    assert [test.__name__ for test in made[-1][0]] == ["f_classif"]
    peers.univariate(numbers, None, 3)
    assert made[-1][1] == {"alpha": 0.05}
    assert [test.__name__ for test in made[-1][0]] == ["f_regression"]
