"""Weights, groups, text and several outputs in the wrappers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from ppfs._conventions.random import integer_seed, stream
from ppfs._data.reading import read_table
from ppfs._fitting.scoring import CrossValidated
from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch
from ppfs.wrappers._importances import ShuffledScores

N_ROWS = 120


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], size=N_ROWS)
    return pd.DataFrame(
        {"colour": colours, "size": rng.normal(size=N_ROWS), "noise": rng.normal(size=N_ROWS)}
    )


@pytest.fixture
def y(frame):
    return ((frame["colour"] == "green") ^ (frame["size"] > 1.2)).astype(int).to_numpy()


@pytest.fixture
def weights():
    return np.random.default_rng(1).uniform(0.2, 2.0, size=N_ROWS)


@pytest.mark.parametrize("model", [None, LogisticRegression()], ids=["tree", "logistic"])
def test_text_columns_are_encoded_for_the_model(frame, y, model):
    assert Stepwise(model, random_state=0).fit(frame, y).support_[0]
    importance = PermutationImportance(model, random_state=0).fit(frame, y)
    assert importance.ranking_[0] == 0
    assert importance.transform(frame).shape[1] == importance.support_.sum()


def test_gaps_in_text_pass_through(frame, y):
    frame.loc[:5, "colour"] = None
    stepwise = Stepwise(LogisticRegression(), random_state=0).fit(frame, y)
    assert stepwise.transform(frame).shape[1] == stepwise.support_.sum()


def test_scores_are_weighted_in_fit_and_metric(frame, y, weights):
    table = read_table(frame[["size", "noise"]], y, task="auto", owner="a test", sample_weight=weights)
    scores = CrossValidated(table, LogisticRegression(), cv=4, entropy=0)
    X = table.take(table.order.canonical({0, 1}))
    expected = []
    for train, test in scores._folds:
        model = LogisticRegression().fit(X[train], y[train], weights[train])
        expected.append(accuracy_score(y[test], model.predict(X[test]), sample_weight=weights[test]))
    assert scores.score({0, 1}) == pytest.approx(np.mean(expected))


def test_weights_of_zero_are_rows_left_out(frame, y):
    kept = np.arange(N_ROWS) % 4 > 0
    for selector in (Stepwise(cv=3, random_state=0), PermutationImportance(random_state=0)):
        weighted = selector.fit(frame, y, sample_weight=kept * 2.0).support_
        np.testing.assert_array_equal(selector.fit(frame[kept], y[kept]).support_, weighted)


def test_no_division_separates_groups(frame, y):
    groups = np.arange(N_ROWS) // 6
    table = read_table(frame, y, task="auto", owner="a test", groups=groups)
    for train, test in CrossValidated(table, DecisionTreeClassifier(), cv=4, entropy=0)._folds:
        assert not set(groups[train]) & set(groups[test])
    shuffled = ShuffledScores(
        table, DecisionTreeClassifier(), scoring=None, n_repeats=2, test_size=0.25, entropy=0
    )
    assert not set(groups[shuffled._train]) & set(groups[shuffled._test])
    assert Stepwise(random_state=0).fit(frame, y, groups=groups).support_[0]
    with pytest.raises(InvalidInputError, match=r"cv=5 needs at least 5 groups"):
        Stepwise(random_state=0).fit(frame, y, groups=np.arange(N_ROWS) % 3)


def test_plain_folds_are_what_they_were(frame, y):
    """The folds of a table without groups come from the second number of the stream."""
    from sklearn.model_selection import StratifiedKFold

    table = read_table(frame, y, task="auto", owner="a test")
    generator = stream(5)
    integer_seed(generator)
    expected = StratifiedKFold(3, shuffle=True, random_state=integer_seed(generator)).split(y, y)
    found = CrossValidated(table, DecisionTreeClassifier(), cv=3, entropy=5)._folds
    for (_, ours), (_, theirs) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_takes_no_weights_is_named(frame, y, weights):
    with pytest.raises(InvalidInputError, match="KNeighborsClassifier takes no sample_weight"):
        Stepwise(KNeighborsClassifier()).fit(frame, y, sample_weight=weights)

    def plain(model, X, y):
        return model.score(X, y)

    with pytest.raises(InvalidInputError, match=r"scoring=<function .*plain.*takes no sample_weight"):
        Stepwise(scoring=plain).fit(frame, y, sample_weight=weights)
    assert Stepwise(scoring=plain, random_state=0).fit(frame, y).support_[0]
    importance = PermutationImportance(scoring=plain, n_repeats=3, random_state=0)
    with pytest.raises(InvalidInputError, match=r"scoring=<function .*plain.*takes no sample_weight"):
        importance.fit(frame, y, sample_weight=weights)
    assert importance.fit(frame, y).support_[0]


@pytest.mark.parametrize("wrapper", [Stepwise, PermutationImportance])
def test_a_structured_target_is_refused(frame, wrapper):
    records = np.ones(N_ROWS, dtype=[("event", bool), ("time", float)])
    with pytest.raises(
        InvalidInputError, match=f"fields 'event', 'time', and {wrapper.__name__} has no score"
    ):
        wrapper().fit(frame, records)


def test_too_few_groups_name_a_way_out_that_the_wrapper_has(frame, y):
    with pytest.raises(InvalidInputError, match="finer groups"):
        PermutationImportance().fit(frame, y, groups=np.zeros(N_ROWS))


@pytest.mark.parametrize("selector", [Stepwise(), SubsetSearch(), PermutationImportance()], ids=repr)
def test_labels_that_are_all_the_same_are_refused(selector):
    with pytest.raises(InvalidInputError, match="y has one class only, 'a': there is nothing to predict"):
        selector.fit(np.eye(10), ["a"] * 10)
