"""Targets of several labels, with classifiers of one's own, and the blanket of each label."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS, PPFSCV
from ppfs._fitting import LabelProbabilities
from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import Stepwise


def songs(n=200, seed=0):
    """Two labels, each with a column of its own, and a third one that nothing predicts."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["tempo", "pitch", "length", "year"])
    noise = 0.3 * rng.normal(size=(n, 2))
    labels = {
        "dance": X["tempo"] + noise[:, 0] > 0,
        "opera": X["pitch"] + noise[:, 1] > 0.5,
        "live": rng.random(n) < 0.3,
    }
    return X, pd.DataFrame(labels).astype(int)


CLASSIFIERS = [
    DecisionTreeClassifier(max_depth=3),
    RandomForestClassifier(10),
    KNeighborsClassifier(),
    MultiOutputClassifier(LogisticRegression()),
    ClassifierChain(LogisticRegression()),
    OneVsRestClassifier(LogisticRegression()),
    RidgeClassifier(),
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_any_classifier_of_several_labels_is_taken(classifier):
    X, Y = songs()
    selector = PPFS(classifier, n_splits=6, random_state=0).fit(X, Y)
    assert sorted(selector.get_feature_names_out()) == ["pitch", "tempo"]
    assert selector.task_ == "classification"
    assert type(classifier).__name__ in selector.trace_.notes[0]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_probabilities_are_those_of_the_classifier(classifier):
    X, Y = songs()
    if hasattr(classifier, "random_state"):
        classifier.set_params(random_state=0)
    made = LabelProbabilities(classifier, (2, 2, 2)).fit(X, Y.to_numpy(dtype=float)).predict(X)
    own = classifier.fit(X, Y.to_numpy())
    answer = own.predict_proba(X) if hasattr(own, "predict_proba") else own.predict(X)
    expected = np.column_stack([part[:, 1] for part in answer]) if isinstance(answer, list) else answer
    np.testing.assert_allclose(made, expected)


def test_labels_of_more_than_two_classes_have_an_indicator_each():
    X, Y = songs()
    mood = np.digitize(X["tempo"], [-0.5, 0.5])
    text = pd.DataFrame(
        {"mood": np.array(["sad", "calm", "gay"])[mood], "opera": Y["opera"].map({0: "no", 1: "yes"})}
    )
    for model in (RandomForestClassifier(10), "panel"):
        selector = PPFS(model, n_splits=6, random_state=0).fit(X, text)
        assert sorted(selector.get_feature_names_out()) == ["pitch", "tempo"]
    indicators = np.column_stack([np.eye(3)[mood], Y["opera"]])
    model = LabelProbabilities(RandomForestClassifier(10, random_state=0), (3, 2)).fit(X, indicators)
    own = RandomForestClassifier(10, random_state=0).fit(X, np.column_stack([mood, Y["opera"]]))
    of_mood, of_opera = own.predict_proba(X)
    np.testing.assert_allclose(model.predict(X), np.column_stack([of_mood, of_opera[:, 1]]))


def test_a_label_with_one_class_in_a_part_of_the_rows_is_predicted_as_it_is():
    X, Y = songs()
    Y["live"] = 0
    for model in (MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(5, random_state=0)):
        predicted = LabelProbabilities(model, (2, 2, 2)).fit(X, Y.to_numpy(dtype=float)).predict(X)
        assert (predicted[:, 2] == 0).all()
        assert predicted[:, 0][Y["dance"] == 1].mean() > 0.7
    only = LabelProbabilities(MultiOutputClassifier(LogisticRegression()), (2, 2))
    assert only.fit(X, Y[["dance", "live"]].to_numpy(dtype=float)).predict(X).shape == (200, 2)


def test_each_label_has_a_blanket_on_request():
    X, Y = songs()
    selector = PPFS.calibrated(random_state=0).fit(X, Y)
    assert sorted(selector.get_feature_names_out()) == ["pitch", "tempo"]
    assert {name: found.tolist() for name, found in selector.blankets_.items()} == {
        "dance": [0],
        "opera": [1],
        "live": [],
    }
    own = PPFS(MultiOutputClassifier(LogisticRegression()), n_splits=6, random_state=0).fit(X, Y.to_numpy())
    assert own.blankets_[0].tolist() == [0]
    numbers = PPFS.calibrated(random_state=0).fit(X, X[["year", "tempo"]].to_numpy() ** 3)
    # Most important first; at the level of 5 % another column may follow.
    assert [found[0] for found in numbers.blankets_.values()] == [3, 0]
    with pytest.raises(AttributeError, match="blankets_ needs a y of several columns"):
        _ = PPFS.calibrated(random_state=0).fit(X, Y["dance"]).blankets_


def test_regressors_of_several_outputs_are_taken():
    X, _ = songs()
    numbers = np.column_stack([X["year"] + 1, -X["tempo"]])
    for model in (RandomForestRegressor(10), MultiOutputRegressor(SVR())):
        selector = PPFS(model, n_splits=6, random_state=0).fit(X, numbers)
        assert sorted(selector.get_feature_names_out()) == ["tempo", "year"]


def test_other_selectors_take_labels():
    X, Y = songs()
    forest = RandomForestClassifier(10, random_state=0)
    chosen = PPFSCV(forest, selector=PPFS(n_splits=6), cv=3, random_state=0).fit(X, Y)
    assert {"tempo", "pitch"} <= set(chosen.get_feature_names_out())
    assert set(np.unique(chosen.predict(X))) <= {0, 1}
    assert chosen.score(X, Y) > 0.5
    wrapped = Stepwise(KNeighborsClassifier(15), cv=3, random_state=0).fit(X, Y[["dance", "opera"]])
    assert {"tempo", "pitch"} <= set(wrapped.get_feature_names_out())


def test_a_classifier_of_one_label_names_the_way_out():
    X, Y = songs()
    with pytest.raises(InvalidInputError, match=r"MultiOutputClassifier\(LogisticRegression\(\)\)"):
        PPFS(LogisticRegression()).fit(X, Y)
    several = Y.assign(dance=np.arange(200) % 3)
    with pytest.raises(InvalidInputError, match="RidgeClassifier failed with them"):
        PPFS(RidgeClassifier()).fit(X, several)
