"""Columns of text in the predictive and the classical tests."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference.twin_tree import TwinTreeClassifier
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket import IAMB
from ppfs.exceptions import InvalidInputError
from ppfs.independence import (
    PPI,
    Automatic,
    CrossFitPPI,
    FisherZ,
    GSquared,
    LikelihoodRatio,
    PartialCorrelationT,
)

N_ROWS = 120


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", "black"], size=N_ROWS),
            "size": rng.normal(size=N_ROWS),
            "town": rng.choice(["Rome", "Oslo", "Bern"], size=N_ROWS),
            "noise": rng.normal(size=N_ROWS),
        }
    )


@pytest.fixture
def y(frame):
    return (frame["colour"].isin(["red", "blue"]) ^ (frame["size"] > 1)).astype(int).to_numpy()


@pytest.mark.parametrize(
    ("model", "sight"),
    [
        (None, "DecisionTreeClassifier sees categories as codes in their order"),
        (LogisticRegression(), "LogisticRegression sees categories one-hot encoded, and numbers scaled"),
        (
            HistGradientBoostingClassifier(max_iter=5),
            "HistGradientBoostingClassifier sees native categories",
        ),
    ],
    ids=["tree", "logistic", "boosting"],
)
def test_the_trace_says_what_the_model_sees(frame, y, model, sight):
    selector = PPFS(model, n_splits=8, random_state=0).fit(frame, y)
    assert selector.trace_.notes[1] == sight
    assert "colour" in selector.get_feature_names_out()
    numbers = frame.drop(columns=["colour", "town"])
    assert len(PPFS(model, n_splits=5, random_state=0).fit(numbers, y).trace_.notes) == 2


class CodesTwin(TwinTreeClassifier, type("ExtraTreeClassifier", (), {"__module__": "sklearn.tree"})):
    """The slow tree, which breaks ties as the engine does, taken for one of scikit-learn's: it gets codes."""


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_the_engine_grows_trees_on_codes(frame, y, make):
    some = slice(0, 60)
    settings = {"loss": "log-loss", "random_state": 0}
    engine, generic = (
        PPFS(independence=make(model, **settings), alpha=0.2, random_state=0).fit(frame[some], y[some])
        for model in (None, CodesTwin())
    )
    assert engine.trace_.notes[0] == "DecisionTreeClassifier is grown by the engine"
    assert "CodesTwin sees categories as codes in their order" in generic.trace_.notes
    np.testing.assert_array_equal(engine.support_, generic.support_)
    np.testing.assert_allclose(engine.importances_, generic.importances_, atol=1e-9)


def test_codes_are_positions_among_the_sorted_categories(frame, y):
    codes = np.unique(frame["colour"], return_inverse=True)[1].reshape(-1, 1)
    test = PPI(random_state=0)
    assert test.evaluate(frame, y, "colour") == test.evaluate(codes, y, 0)


def test_a_linear_model_sees_dummies(frame, y):
    """Compared with dummies made by hand, once for the first split."""
    test = PPI(LogisticRegression(), n_splits=5, random_state=0)
    table = read_table(frame, y, task="auto", owner=test)
    risks = test.bind(table)._risks_about(4, is_marginal=False)[0]
    found = risks.of_members([0], frozenset({0, 1}))
    split = risks.problem.splits[0]
    encoder = OneHotEncoder(sparse_output=False).fit(frame[["colour"]].iloc[split.train])
    size = frame["size"].to_numpy()
    scaled = (size - size[split.train].mean()) / size[split.train].std()

    def design(rows, colours):
        return np.column_stack([scaled[rows], encoder.transform(frame[["colour"]].iloc[colours])])

    # The engine ends at the optimum, and so does this solver.
    exact = LogisticRegression(solver="newton-cholesky", tol=1e-10)
    model = exact.fit(design(split.train, split.train), y[split.train])

    def risk(colours):
        probability = model.predict_proba(design(split.test, colours))[
            np.arange(split.test.size), y[split.test]
        ]
        return -np.log(probability).mean()

    assert found.base[0, 0] == pytest.approx(risk(split.test), rel=1e-6)
    assert found.replaced[0, 0] == pytest.approx(risk(split.test[split.permutation]), rel=1e-6)


def test_coefficients_of_a_category_are_its_dummies_but_one(frame):
    test = CrossFitPPI(Ridge(), random_state=0)
    groups = {"both": ["town", "size"]}
    table = read_table(frame, frame["noise"], task="auto", owner=test, feature_groups=groups)
    risks = test.bind(table)._risks_about(table.target, is_marginal=False)[0]
    features = frozenset(range(3))
    n_coefficients = risks.of_members([0, 1, 2], features).n_coefficients.tolist()
    assert dict(zip(table.names, n_coefficients, strict=True)) == {"colour": 3, "both": 2 + 1, "noise": 1}
    tree = CrossFitPPI(DecisionTreeClassifier(max_features=1.0), random_state=0)
    labelled = read_table(frame, frame["noise"] > 0, task="auto", owner=tree)
    assert (
        tree.bind(labelled)._risks_about(4, is_marginal=False)[0].of_members([0], features).n_coefficients
        is None
    )


def test_pandas_and_polars_give_the_same_answers(frame, y):
    for model in (None, LogisticRegression()):
        selector = PPFS(model, n_splits=6, random_state=0)
        expected = selector.fit(frame, y).pvalues_
        categories = frame.astype(
            {"colour": "category", "town": pd.CategoricalDtype(["Rome", "Oslo", "Bern"])}
        )
        np.testing.assert_array_equal(selector.fit(categories, y).pvalues_, expected)
        np.testing.assert_array_equal(selector.fit(pl.DataFrame(frame.to_dict("list")), y).pvalues_, expected)


def test_rare_and_unseen_categories_of_a_test_part(frame, y):
    frame.loc[0, "town"] = "Nowhere"
    for model in (None, LogisticRegression(), HistGradientBoostingClassifier(max_iter=5)):
        selector = PPFS(model, n_splits=6, random_state=0, always_keep=["town"]).fit(frame, y)
        assert "colour" in selector.get_feature_names_out()


def test_gaps_in_text_are_a_category_and_pass_through_transform(frame, y):
    frame.loc[frame["colour"] == "red", "colour"] = None
    for model in (None, LogisticRegression()):
        selector = PPFS(model, n_splits=8, random_state=0).fit(frame, y)
        assert "colour" in selector.get_feature_names_out()
        assert selector.transform(frame).shape == (N_ROWS, selector.support_.sum())


def test_text_is_categorical_however_many_levels(frame):
    ids = pd.DataFrame({"id": [f"p{i}" for i in range(N_ROWS)], "town": frame["town"]})
    labels = frame["colour"]
    assert isinstance(Automatic().choose(read_table(ids, labels, task="auto", owner="a test")).test, GSquared)
    with pytest.raises(
        InvalidInputError, match=r"at most max_levels categories per column, but 'id' has 120 in 120"
    ):
        GSquared().evaluate(ids, labels, "town")
    mixed = frame[["colour", "size"]]
    assert isinstance(
        Automatic().choose(read_table(mixed, frame["noise"], task="auto", owner="a test")).test,
        LikelihoodRatio,
    )


@pytest.mark.parametrize("test", [FisherZ(), PartialCorrelationT()], ids=str)
def test_correlations_refuse_categories(frame, test):
    name = type(test).__name__
    with pytest.raises(
        InvalidInputError, match=rf"{name} needs numbers, but 'colour' has 4 categories.*LikelihoodR"
    ):
        test.evaluate(frame, frame["noise"], "size")
    two = frame.assign(colour=frame["colour"].isin(["red", "blue"]).map({True: "warm", False: "cold"}))
    numbers = two.assign(colour=(two["colour"] == "warm") * 1.0).drop(columns="town")
    assert test.evaluate(two.drop(columns="town"), frame["noise"], "colour") == test.evaluate(
        numbers, frame["noise"], "colour"
    )


def test_the_likelihood_ratio_has_dummies_for_text(frame):
    """One-way analysis of variance, as SciPy computes it."""
    values = frame["size"] + 2.0 * (frame["colour"] == "red")
    by_colour = [values[frame["colour"] == colour] for colour in ("red", "green", "blue", "black")]
    expected = stats.f_oneway(*by_colour)
    answer = LikelihoodRatio().evaluate(frame, values, "colour")
    assert answer.statistic == pytest.approx(expected.statistic)
    assert answer.pvalue == pytest.approx(expected.pvalue)


def test_searches_with_auto_take_mixed_frames(frame):
    target = frame["size"] + 2.0 * (frame["colour"] == "red") + 0.1 * frame["noise"]
    assert set(IAMB().fit(frame.drop(columns="noise"), target).get_feature_names_out()) == {"colour", "size"}


def test_answers_about_features_of_different_widths_do_not_depend_on_each_other():
    """A linear model spends three coefficients on one feature and one on others: each has its own variance."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=["size", "age", "weight", "height"])
    frame.insert(2, "colour", rng.choice(list("abcd"), size=90))
    y = (frame["size"] + (frame["colour"] == "a") + rng.normal(size=90) > 0).astype(int)
    test = CrossFitPPI(LogisticRegression(), random_state=0)
    table = read_table(frame, y, task="classification", owner=test)
    for xs in ([0, 1, 2, 3, 4], [4, 2, 1, 0, 3]):
        for given in ((), (0, 1, 2, 3, 4)):
            together = test.bind(table).query_many(xs, table.target, given)
            assert together == [test.bind(table).query(x, table.target, set(given) - {x}) for x in xs]
