"""Columns that are kept or dropped together."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from checks.searches import every_search
from reference.twin_tree import TwinTreeClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs.blanket import IAMB, SGAI, TIEStar
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, FisherZ, GSquared, LikelihoodRatio
from ppfs.wrappers import PermutationImportance, Stepwise

N_ROWS = 400
GROUPS = {"place": ["lat", "lon"], "shape": ["width", "height"]}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    columns = ["lat", "age", "width", "lon", "height", "noise"]
    return pd.DataFrame(rng.normal(size=(N_ROWS, 6)), columns=columns)


@pytest.fixture
def y(frame):
    """Depends on one member of the place only, and on the age."""
    return (2 * frame["lon"] + frame["age"] > 0).astype(int).to_numpy()


@pytest.mark.parametrize(
    "model", [DecisionTreeRegressor(max_depth=3), LinearRegression()], ids=["tree", "linear"]
)
@pytest.mark.parametrize("n_folds", [0, 2])
def test_members_share_everything_but_their_numbers(frame, model, n_folds):
    values = 1.3 * frame["lon"] + frame["age"]
    selector = PPFS(model, n_splits=10, n_folds=n_folds, feature_groups=GROUPS, random_state=0)
    selector.fit(frame, values)
    assert selector.get_feature_names_out().tolist() == ["lat", "age", "lon"]
    assert selector.support_.tolist() == [True, True, False, True, False, False]
    # The place is the stronger feature; its members stand together, in the caller's order.
    assert selector.blanket_.tolist() == [0, 3, 1]
    for values in (selector.pvalues_, selector.importances_, selector.scores_):
        assert values.shape == (6,)
        assert values[0] == values[3]
        assert values[2] == values[4]
    assert [fold.blanket for fold in selector.folds_ if fold.is_chosen] == [(0, 3, 1)] * bool(n_folds)
    assert selector.transform(frame).shape == (N_ROWS, 3)


def test_the_trace_speaks_of_groups_and_knows_their_members(frame, y):
    trace = PPFS(n_splits=10, feature_groups=GROUPS, random_state=0).fit(frame, y).trace_
    assert trace.names == ("place", "age", "shape", "noise")
    assert "growth: 'place' ('lat', 'lon'): p = " in trace.explain("place")
    assert trace.explain("lon") == trace.explain("lat") == trace.explain("place")
    # Numbers are those of the caller's columns: 3 is lon, though the fourth feature is the noise.
    assert trace.explain(3) == trace.explain("lon") != trace.explain("noise") == trace.explain(5)
    assert set(trace.to_frame()["feature"]) <= set(trace.names)
    with pytest.raises(InvalidInputError, match="no column 'depth'"):
        trace.explain("depth")


@pytest.mark.parametrize("name", ["shape", "width", "height", 2, 4])
def test_special_columns_mean_their_group(frame, y, name):
    settings = {"n_splits": 10, "feature_groups": GROUPS, "random_state": 0}
    kept = PPFS(**settings, always_keep=[name]).fit(frame, y)
    assert kept.support_[[2, 4]].all()
    conditioned = PPFS(**settings, condition_on=[name]).fit(frame, y)
    assert not conditioned.support_[[2, 4]].any()
    assert all("shape" in line for line in conditioned.trace_.explain("age").splitlines())
    with pytest.raises(InvalidInputError, match="both contain 'shape'"):
        PPFS(**settings, always_keep=["width"], condition_on=["height"]).fit(frame, y)
    with pytest.raises(InvalidInputError, match="no column or group 'depth'"):
        PPFS(**settings, always_keep=["depth"]).fit(frame, y)


@every_search
def test_every_search_takes_groups(frame, y, search):
    selector = search(independence=LikelihoodRatio(), feature_groups=GROUPS)
    if search.__name__ in {"MMMB", "HITONMB", "IAMBnPC", "InterIAMBnPC"}:
        # These ask about the neighbours of features, too; a group has no kind.
        with pytest.raises(InvalidInputError, match="group 'place' has 2 columns"):
            selector.fit(frame, y)
        return
    selector.fit(frame, y)
    assert {0, 1, 3} <= set(selector.blanket_)
    assert selector.support_.shape == (6,)


def test_what_searches_find_beside_the_blanket_are_the_callers_columns(frame, y):
    twin = frame.assign(lat2=frame["lat"], lon2=-frame["lon"])
    groups = {"place": ["lat", "lon"], "mirror": ["lat2", "lon2"]}
    found = TIEStar(independence=LikelihoodRatio(), feature_groups=groups).fit(twin, y)
    assert sorted(blanket.tolist() for blanket in found.blankets_) == [[0, 1, 3], [1, 6, 7]]
    sgai = SGAI(independence=LikelihoodRatio(), feature_groups=groups).fit(twin, y)
    assert [0, 3, 6, 7] in [sorted(group) for group in sgai.groups_] or [0, 3] in sgai.groups_


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
@pytest.mark.parametrize("n_draws", [1, 2])
@pytest.mark.parametrize("knockoff", ["permutation", "conditional"])
def test_engine_and_generic_path_agree_about_groups(frame, y, make, n_draws, knockoff):
    """The slow tree breaks ties as the engine does."""
    # With 40 rows no model uses the noise, but the other columns are drawn given it.
    some = slice(0, 60 if knockoff == "permutation" else 40)
    X, target = frame[some].round(1), y[some]
    settings = {"n_draws": n_draws, "knockoff": knockoff, "loss": "log-loss", "random_state": 0}
    if make is CrossFitPPI:
        # Only the engine's models are refitted often enough to count.
        settings["exact_tail"] = False
    engine, generic = (
        PPFS(independence=make(model, **settings), alpha=0.2, feature_groups=GROUPS, random_state=0).fit(
            X, target
        )
        for model in (None, TwinTreeClassifier())
    )
    assert "engine" in engine.trace_.notes[0].split(":")[0]
    assert "scikit-learn" in generic.trace_.notes[0]
    np.testing.assert_array_equal(engine.support_, generic.support_)
    np.testing.assert_allclose(engine.pvalues_, generic.pvalues_, atol=1e-9)
    np.testing.assert_allclose(engine.importances_, generic.importances_, atol=1e-9)


def test_members_are_permuted_together():
    """Equal columns as one feature: shuffled apart they would disagree, and the model would notice."""
    rng = np.random.default_rng(4)
    column = rng.integers(0, 2, size=200)
    X = np.column_stack([column, column])

    class Disagreement(DecisionTreeClassifier):
        def predict_proba(self, X):
            assert (X[:, 0] == X[:, 1]).all()
            return super().predict_proba(X)

    PPI(Disagreement(), n_splits=5, random_state=0).evaluate(X, column, 0, feature_groups={"both": [0, 1]})


def test_the_callers_order_does_not_matter(frame, y):
    selector = PPFS(n_splits=10, feature_groups=GROUPS, random_state=0)
    expected = selector.fit(frame, y)
    by_name = dict(zip(frame.columns, expected.pvalues_, strict=True))
    shuffled = frame[["noise", "lon", "height", "lat", "width", "age"]]
    found = selector.fit(shuffled, y)
    assert dict(zip(shuffled.columns, found.pvalues_, strict=True)) == by_name


def test_sparse_groups_equal_dense_ones(frame, y):
    X = np.where(frame > 0.3, frame, 0.0)
    groups = {"place": [0, 3], "shape": [2, 4]}
    for model in (None, LogisticRegression()):
        selector = PPFS(model, n_splits=8, feature_groups=groups, random_state=0)
        dense = selector.fit(X, y).pvalues_
        for make in (sp.csr_array, sp.csc_array):
            np.testing.assert_allclose(selector.fit(make(X), y).pvalues_, dense, atol=1e-9)


def test_a_group_is_one_question_for_the_classical_tests(frame, y):
    answer = LikelihoodRatio().evaluate(frame, y, "place", ["age"], feature_groups=GROUPS)
    assert answer.pvalue < 1e-6
    codes = (frame > 0).astype(int)
    place = codes["lat"] * 2 + codes["lon"]
    grouped = GSquared().evaluate(codes, y, "place", feature_groups=GROUPS)
    assert grouped == GSquared().evaluate(place.to_numpy().reshape(-1, 1), y, 0)
    with pytest.raises(
        InvalidInputError, match=r"FisherZ needs single columns, but the group 'place' has 2.*PPI"
    ):
        FisherZ().evaluate(frame, y, "age", feature_groups=GROUPS)


def test_auto_takes_groups(frame, y):
    assert "LikelihoodRatio" in IAMB(feature_groups=GROUPS).fit(frame, frame["lat"]).trace_.notes[0]
    codes = (frame > 0).astype(int)
    assert "GSquared" in IAMB(feature_groups=GROUPS).fit(codes, y).trace_.notes[0]


def test_wrappers_take_groups(frame, y):
    stepwise = Stepwise(LogisticRegression(), feature_groups=GROUPS, random_state=0).fit(frame, y)
    assert stepwise.support_[[0, 1, 3]].all()
    assert stepwise.selected_.tolist()[:2] == [0, 3]
    assert stepwise.moves_[0].feature == 0
    for select in ("threshold", "pvalue", "cv"):
        importance = PermutationImportance(
            LogisticRegression(), select=select, n_nulls=20, feature_groups=GROUPS, random_state=0
        ).fit(frame, y)
        assert importance.importances_[0] == importance.importances_[3] > 0
        assert sorted(importance.ranking_) == list(range(6))
        assert importance.ranking_.tolist()[:2] == [0, 3]
        assert importance.support_[[0, 3]].all()
