"""Losses equal scikit-learn's metrics and hold still for classes a model has not seen."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import hinge_loss, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.losses import choose_loss, losses_of_class, predict


def data(n_classes):
    return make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=0
    )


def losses(name, model, X, y, classes):
    loss = choose_loss(name, "classification", model)
    return loss.rows(np.searchsorted(classes, y), predict(model, X, loss.output, classes))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_log_loss_is_scikit_learns(n_classes):
    X, y = data(n_classes)
    model = LogisticRegression().fit(X, y)
    ours = losses("auto", model, X, y, np.unique(y))
    assert ours.mean() == pytest.approx(log_loss(y, model.predict_proba(X)), rel=1e-12)


@pytest.mark.parametrize(
    "model", [SVC(random_state=0), LinearSVC(random_state=0), RidgeClassifier()], ids=repr
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_hinge_is_scikit_learns_for_classifiers_with_margins_only(model, n_classes):
    X, y = data(n_classes)
    model.fit(X, y)
    ours = losses("auto", model, X, y, np.unique(y))
    assert choose_loss("auto", "classification", model).name == "hinge"
    assert ours.mean() == pytest.approx(hinge_loss(y, model.decision_function(X)), rel=1e-12)


def test_brier_sums_over_classes():
    X, y = data(3)
    model = GaussianNB().fit(X, y)
    expected = ((model.predict_proba(X) - np.eye(3)[y]) ** 2).sum(axis=1)
    np.testing.assert_allclose(losses("brier", model, X, y, np.unique(y)), expected)


def test_zero_one_counts_errors():
    X, y = data(3)
    names = np.array(["low", "mid", "up"])[y]
    model = GaussianNB().fit(X, names)
    np.testing.assert_array_equal(
        losses("zero-one", model, X, names, np.unique(names)), model.predict(X) != names
    )


@pytest.mark.parametrize("model", [GaussianNB(), LinearSVC(random_state=0)], ids=repr)
def test_rows_of_a_class_the_model_has_not_seen_cost_the_same_whatever_is_shuffled(model):
    X, y = data(4)
    seen = y != 1
    model.fit(X[seen], y[seen])
    before = losses("auto", model, X, y, np.arange(4))
    after = losses("auto", model, X[:, ::-1].copy(), y, np.arange(4))
    assert np.ptp(before[~seen]) == 0.0
    np.testing.assert_array_equal(before[~seen], after[~seen])
    # The other rows' losses are what a model of three classes gives.
    own = model.fit(X[seen], y[seen])
    np.testing.assert_allclose(before[seen], losses("auto", own, X[seen], y[seen], np.array([0, 2, 3])))


def test_one_against_one_margins_say_what_to_change():
    X, y = data(4)
    model = SVC(decision_function_shape="ovo", random_state=0).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"6 columns for 4 classes.*decision_function_shape=\"ovr\""):
        predict(model, X, "margins", np.arange(4))


def test_classifier_with_labels_only_gets_zero_one():
    class LabelsOnly:
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(len(X))

    assert choose_loss("auto", "classification", LabelsOnly()).name == "zero-one"
    assert choose_loss("auto", "regression", LabelsOnly()).name == "squared"


@pytest.mark.parametrize("n_classes", [2, 3, 7, 8, 10])
@pytest.mark.parametrize("name", ["log-loss", "brier", "hinge", "zero-one"])
def test_losses_of_one_class_are_those_of_rows_bit_for_bit(name, n_classes):
    loss = choose_loss(name, "classification", LogisticRegression())
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.ones(n_classes), (5, 40))
    predictions = rng.integers(n_classes, size=(5, 40)) if loss.output == "labels" else shares
    for number in range(n_classes):
        rows = [loss.rows(np.full(40, number), own) for own in predictions]
        assert losses_of_class(loss, number, predictions).tobytes() == np.array(rows).tobytes()
