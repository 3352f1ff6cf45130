"""`compare`: every method selects without seeing the rows that it is judged by."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS, compare
from ppfs.exceptions import InvalidInputError


@pytest.fixture(autouse=True)
def small_forests(small_forests, monkeypatch):
    monkeypatch.setattr("ppfs._comparison.peers._TREES", 5)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=["a", "b", "c", "d"])
    X["city"] = rng.choice(["Bern", "Rome", "Oslo"], size=120)
    X.loc[::10, "d"] = np.nan
    return X, np.where(X["a"] + 2 * (X["city"] == "Rome") + 0.3 * rng.normal(size=120) > 0.5, "yes", "no")


def test_methods_are_scored_sized_and_timed_on_the_same_folds(table):
    X, y = table
    methods = ["all", "ppfs-paper", "rfecv", "l1", "univariate", "fbed"]
    X = X.assign(d=X["d"].fillna(0))
    result = compare(X, y, methods=methods, cv=3, estimator=DecisionTreeClassifier(), random_state=0)
    frame = result.to_frame()
    assert sorted(frame["method"]) == sorted(methods)
    assert frame["note"].tolist() == [""] * len(methods)
    assert (frame["n_folds"] == 3).all()
    assert frame["score"].tolist() == sorted(frame["score"], reverse=True)
    assert result["all"].n_columns == 5
    assert result["all"].stability == 1.0
    for name in methods:
        assert "city" in result[name].selected[0]
    assert (result.scoring, result.task, result.n_rows) == ("accuracy", "classification", 120)
    assert "± " in str(result)
    assert (
        compare(X, y, methods=methods[:2], cv=3, estimator=DecisionTreeClassifier(), random_state=0)[
            "all"
        ].scores
        == result["all"].scores
    )


def test_selection_on_the_rows_that_judge_would_be_found_out():
    """Ten columns chosen among 2,000 of noise predict the rows they were chosen on; not those of another fold."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2000)), np.repeat([0, 1], 30)
    result = compare(
        X, y, methods={"best": SelectKBest(k=10)}, estimator=LogisticRegression(), random_state=0
    )
    cheat = X[:, SelectKBest(k=10).fit(X, y).get_support()]
    assert LogisticRegression().fit(cheat, y).score(cheat, y) > 0.9
    assert result["best"].score < 0.7


def test_selectors_of_ones_own_and_frames_of_any_kind(table):
    X, y = table
    numbers = pl.from_pandas(X[["a", "b", "c"]])
    own = {"mine": PPFS(DecisionTreeClassifier(max_depth=2), n_splits=5), "theirs": VarianceThreshold()}
    result = compare(numbers, y, methods=own, cv=2, estimator=DecisionTreeClassifier(), random_state=0)
    assert result["theirs"].selected == (("a", "b", "c"),) * 2
    assert "a" in result["mine"].selected[0]
    assert isinstance(result.to_frame("polars"), pl.DataFrame)


def test_quantities_gaps_weights_and_groups(table):
    X, _ = table
    y = X["a"].to_numpy() * 3 + np.arange(120) % 2
    result = compare(
        X,
        y,
        methods=["all", "ppfs-paper", "l1", "univariate", "rfecv"],
        cv=2,
        scoring="neg_mean_absolute_error",
        sample_weight=np.arange(120) % 3,
        groups=np.arange(120) // 4,
        random_state=0,
    )
    assert [method.note for method in result.methods] == [""] * 5
    assert (result.task, result.scoring, result.n_rows) == ("regression", "neg_mean_absolute_error", 80)
    assert all("a" in names for method in result.methods for names in method.selected)


def test_sparse_tables():
    rng = np.random.default_rng(0)
    X = sp.random_array((100, 30), density=0.2, format="csr", random_state=rng)
    y = (X[:, [3]].toarray().ravel() > 0).astype(int)
    result = compare(X, y, methods=["all", "ppfs-paper", "l1", "univariate", "rfecv"], cv=2, random_state=0)
    assert [method.note for method in result.methods] == [""] * 5
    assert all("x3" in names for method in result.methods for names in method.selected)


def test_a_method_that_fails_is_noted_and_the_others_go_on(table):
    X, y = table
    result = compare(X, y, methods={"theirs": VarianceThreshold(), "all": "all"}, cv=2, random_state=0)
    assert result["theirs"].note.startswith("failed: ValueError: could not convert string")
    assert np.isnan(result["theirs"].score)
    assert len(result["all"].scores) == 2


def test_a_time_limit_stops_a_slow_method_and_says_so(table, monkeypatch):
    X, y = table
    clock = [0.0]

    def slowly(*_):
        clock[0] += 50
        return [0]

    monkeypatch.setattr("ppfs._comparison.comparing.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("ppfs._comparison.comparing.selected_by_peer", slowly)
    result = compare(X[["a"]], y, methods=["all", "univariate"], cv=4, time_limit=100, random_state=0)
    assert len(result["all"].scores) == 4
    assert result["univariate"].note == "time limit: 1 of 4 folds"


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"methods": ["ppsf"]}, "Did you mean 'ppfs'?"),
        ({"methods": []}, "methods is empty"),
        ({"methods": {"x": 3}}, "is not a selector"),
        ({"cv": 1}, "cv=1 must be between 2"),
        ({"time_limit": 0}, "time_limit=0 must be"),
        ({"estimator": LinearRegression(), "task": "classification"}, "cannot predict"),
    ],
)
def test_wrong_requests(table, keywords, message):
    X, y = table
    with pytest.raises(InvalidInputError) as caught:
        compare(X, y, **keywords)
    assert message in str(caught.value)


def test_stability_of_disjoint_and_empty_selections():
    from ppfs._comparison import MethodScores

    assert MethodScores("m", (1, 1), (("a",), ("b",)), (0, 0)).stability == 0
    assert MethodScores("m", (1, 1), ((), ()), (0, 0)).stability == 1
    assert MethodScores("m", (1, 1, 1), (("a", "b"), ("a",), ("a",)), (0, 0, 0)).stability == pytest.approx(
        2 / 3
    )
    assert np.isnan(MethodScores("m", (1,), (("a",),), (0,)).stability)


@pytest.fixture
def followed():
    """Columns, and a time and an event that depend on the first of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=["dose", "age", "shoe"])
    time, censored = rng.exponential(size=(2, 150))
    time, censored = time * np.exp(-1.5 * X["dose"]), 2 * censored
    y = pd.DataFrame({"days": np.minimum(time, censored), "died": (time <= censored).astype(int)})
    return X, y


def test_methods_select_for_survival_times_and_a_model_of_them_is_scored_by_itself(followed):
    linear_model = pytest.importorskip("sksurv.linear_model")
    X, y = followed
    result = compare(
        *(X, y),
        methods=["all", "ppfs", "ppfs-cv", "univariate", "l1"],
        estimator=linear_model.CoxPHSurvivalAnalysis(),
        task="survival",
        cv=3,
        random_state=0,
    )
    assert [method.note for method in result.methods] == [""] * 5
    assert result.scoring == "the model's own score"
    assert all("dose" in selected for selected in result["ppfs"].selected)
    assert result["ppfs"].score > 0.7


def test_without_a_model_the_response_of_a_count_is_scored(followed):
    X, _ = followed
    rng = np.random.default_rng(1)
    y = pd.DataFrame({"visits": rng.poisson(2 * np.exp(X["dose"])), "years": np.full(150, 2.0)})
    result = compare(X, y, methods=["all", "ppfs", "ppfs-cv", "l1"], task="count", cv=2, random_state=0)
    assert [method.note for method in result.methods] == [""] * 4
    assert result.scoring == "r2"
    assert all(selected == ("dose",) for selected in result["ppfs"].selected)


def test_where_nothing_is_selected_all_rows_have_the_same_hazard(followed):
    linear_model = pytest.importorskip("sksurv.linear_model")
    X, y = followed
    result = compare(
        X[["shoe"]],
        y,
        methods=["ppfs"],
        estimator=linear_model.CoxPHSurvivalAnalysis(),
        task="survival",
        cv=3,
        random_state=0,
    )
    assert result["ppfs"].note == ""
    assert [
        score for score, one in zip(result["ppfs"].scores, result["ppfs"].selected, strict=True) if not one
    ] == [0.5] * sum(not one for one in result["ppfs"].selected)
    assert not all(result["ppfs"].selected)
