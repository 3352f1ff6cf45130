"""Losses equal scikit-learn's metrics and hold still for classes a model has not seen."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import hinge_loss, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.losses import choose_loss, losses_of_class, predict, require_measurable


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


def test_losses_of_numbers_by_hand():
    loss = {
        name: choose_loss(name, "regression", LogisticRegression()).rows for name in ("squared", "absolute")
    }
    truth, values = np.array([1.0, -2.0]), np.array([3.0, -2.5])
    assert loss["squared"](truth, values).tolist() == [4.0, 0.25]
    assert loss["absolute"](truth, values).tolist() == [2.0, 0.5]
    both, other = np.array([[1.0, 2.0], [0.0, 4.0]]), np.array([[0.0, 5.0], [2.0, 4.0]])
    assert loss["squared"](both, other).tolist() == [5.0, 2.0]
    assert loss["absolute"](both, other).tolist() == [2.0, 1.0]


def test_deviances_by_hand():
    poisson, gamma = (
        choose_loss(name, "regression", LogisticRegression()).rows
        for name in ("poisson-deviance", "gamma-deviance")
    )
    found = poisson(np.array([0.0, 3.0, 2.0]), np.array([1.5, 2.0, 2.0]))
    np.testing.assert_allclose(found, [3.0, 2.0 * (3.0 * np.log(1.5) - 1.0), 0.0], rtol=1e-12)
    tiny = np.finfo(float).eps
    cut = 2.0 * (2.0 * np.log(2.0 / tiny) - 2.0 + tiny)
    np.testing.assert_allclose(
        poisson(np.array([2.0, 0.0]), np.array([-1.0, 0.0])), [cut, 2.0 * tiny], rtol=1e-12
    )
    np.testing.assert_allclose(
        gamma(np.array([3.0, 2.0]), np.array([2.0, 2.0])), [1.0 - 2.0 * np.log(1.5), 0.0]
    )
    np.testing.assert_allclose(
        gamma(np.array([1.0]), np.array([0.0])), [2.0 * (1.0 / tiny - 1.0 + np.log(tiny))]
    )


def test_ranked_probabilities_by_hand():
    rows = choose_loss("ranked-probability", "classification", LogisticRegression()).rows
    shares = np.array([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(
        rows(np.array([0, 1, 2]), shares), [0.8**2 + 0.5**2, 0.2**2 + 0.5**2, 0.2**2 + 0.5**2]
    )


def test_the_partial_likelihood_by_hand():
    """Breslow's: every row with a time at least as late is at risk."""
    survival = SimpleNamespace(name="survival", task="regression", loss="partial-likelihood")
    loss = choose_loss("auto", "regression", LogisticRegression(), fields=("event", "time"), kind=survival)
    assert (loss.name, loss.output, loss.wants_labels) == ("partial-likelihood", "values", True)
    truth = np.zeros(4, dtype=[("event", bool), ("time", float)])
    truth["event"], truth["time"] = [True, True, False, True], [2.0, 1.0, 2.0, 3.0]
    hazards = np.array([2.0, 0.5, 3.0, 1.0])
    expected = [np.log(6.0 / 2.0), np.log(6.5 / 0.5), 0.0, 0.0]
    np.testing.assert_allclose(loss.rows(truth, np.log(hazards)), expected, atol=1e-12)
    np.testing.assert_allclose(loss.rows(truth, 700.0 + np.log(hazards)), expected, atol=1e-9)
    far = loss.rows(truth, np.array([0.0, 0.0, 0.0, -2000.0]))
    assert far[3] == pytest.approx(2000.0 + np.log(np.finfo(float).tiny))


def test_probabilities_of_0_and_1_are_cut_by_the_precision():
    rows = choose_loss("log-loss", "classification", LogisticRegression()).rows
    eps = np.finfo(float).eps
    found = rows(np.array([0, 1, 1]), np.array([[0.0, 1.0], [0.0, 1.0], [0.75, 0.25]]))
    np.testing.assert_allclose(found, [-np.log(eps), -np.log(1.0 - eps), np.log(4.0)], rtol=1e-15)


def test_the_hinge_is_that_of_the_nearest_other_class():
    rows = choose_loss("hinge", "classification", LinearSVC()).rows
    margins = np.array([[2.0, 0.5, -1.0], [2.0, 0.5, -1.0], [0.2, 0.1, 5.0], [1.0, -np.inf, 0.0]])
    assert rows(np.array([0, 1, 0, 1]), margins).tolist() == [0.0, 2.5, 5.8, 1.0]


@pytest.mark.parametrize(
    ("model", "loss", "task", "chosen"),
    [
        (LogisticRegression(), "auto", "classification", "log-loss"),
        (LinearSVC(), "auto", "classification", "hinge"),
        (LinearRegression(), "auto", "regression", "squared"),
        (LogisticRegression(), "hinge", "classification", "hinge"),
        (LinearSVC(), "zero-one", "classification", "zero-one"),
        (LinearRegression(), "gamma-deviance", "regression", "gamma-deviance"),
    ],
)
def test_the_loss_follows_the_methods_of_a_model(model, loss, task, chosen):
    assert choose_loss(loss, task, model).name == chosen


def test_a_kind_of_target_has_a_loss_of_its_own():
    count = SimpleNamespace(name="count", task="regression", loss="poisson-deviance")
    ordinal = SimpleNamespace(name="ordinal", task="classification", loss="ranked-probability")
    assert choose_loss("auto", "regression", LinearRegression(), kind=count).name == "poisson-deviance"
    assert choose_loss("absolute", "regression", LinearRegression(), kind=count).name == "absolute"
    assert (
        choose_loss("auto", "classification", LogisticRegression(), kind=ordinal).name == "ranked-probability"
    )
    assert choose_loss("auto", "classification", LinearSVC(), kind=ordinal).name == "hinge"
    assert choose_loss("auto", "classification", LogisticRegression(), "brier").name == "brier"


def test_a_function_is_passed_labels_and_the_first_of_what_a_model_predicts():
    def own(truth, prediction):
        return truth

    for model, task, output in (
        (LogisticRegression(), "classification", "probabilities"),
        (LinearSVC(), "classification", "margins"),
        (LinearRegression(), "classification", "labels"),
        (LinearRegression(), "regression", "values"),
    ):
        chosen = choose_loss(own, task, model)
        assert (chosen.name, chosen.output, chosen.rows, chosen.wants_labels) == (
            "callable",
            output,
            own,
            True,
        )


@pytest.mark.parametrize(
    ("loss", "task", "model", "fields", "said"),
    [
        (
            "squared",
            "classification",
            LogisticRegression(),
            None,
            r"loss='squared' is not a loss for classification",
        ),
        ("partial-likelihood", "regression", LinearRegression(), None, r"is not a loss for regression"),
        (
            "log-loss",
            "classification",
            LinearSVC(),
            None,
            r"needs an estimator with predict_proba, which LinearSVC",
        ),
        ("hinge", "classification", GaussianNB(), None, r"needs an estimator with decision_function"),
        (
            "auto",
            "regression",
            LinearRegression(),
            ("a", "b"),
            r"structured array with the fields 'a'.*loss='auto'",
        ),
    ],
)
def test_losses_that_a_model_cannot_have_are_refused(loss, task, model, fields, said):
    with pytest.raises(InvalidInputError, match=said):
        choose_loss(loss, task, model, fields=fields)


@pytest.mark.parametrize(
    ("spread", "is_refused"),
    [
        (0.0, False),
        (0.9e-145, True),
        (1.1e-145, False),
        (1.0, False),
        (0.9e145, False),
        (1.1e145, True),
        (1.7e308, True),
    ],
)
def test_squares_of_a_target_must_be_numbers(spread, is_refused):
    squared = choose_loss("squared", "regression", LinearRegression())
    for y in (np.array([0.0, spread, 0.5 * spread]), np.array([[0.0, 1.0], [spread, 2.0]])):
        if is_refused:
            with pytest.raises(
                InvalidInputError, match=rf"values of 'y' differ by up to {spread:.3g}".replace("+", r"\+")
            ):
                require_measurable(y, squared, "'y'")
        else:
            require_measurable(y, squared, "'y'")
    require_measurable(
        np.array([0.0, spread]), choose_loss("absolute", "regression", LinearRegression()), "y"
    )


class Fixed:
    """A fitted model with given answers."""

    def __init__(self, answer, classes=None):
        self._answer = np.asarray(answer)
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def predict(self, X):
        return self._answer

    predict_proba = decision_function = predict


def test_predictions_have_a_place_for_every_class_of_the_table():
    X, classes = np.zeros((2, 1)), np.array(["a", "b", "c"])
    shares = [[0.3, 0.7], [0.4, 0.6]]
    found = predict(Fixed(shares, ["a", "c"]), X, "probabilities", classes)
    assert found.tolist() == [[0.3, 0.0, 0.7], [0.4, 0.0, 0.6]]
    found = predict(Fixed([4.0, -2.0], ["a", "b"]), X, "margins", classes)
    assert found.tolist() == [[-2.0, 2.0, -np.inf], [1.0, -1.0, -np.inf]]
    assert (
        predict(Fixed([[1.0, 2.0, 3.0]] * 2, classes), X, "margins", classes).tolist()
        == [[1.0, 2.0, 3.0]] * 2
    )
    assert predict(Fixed(["c", "a"]), X, "labels", classes).tolist() == [2, 0]
    assert predict(Fixed([["c"], ["a"]]), X, "labels", classes).tolist() == [2, 0]
    assert predict(Fixed([[1.0], [2.0]]), X, "values", np.empty(0)).tolist() == [1.0, 2.0]
    assert predict(Fixed([[1.0, 2.0]] * 2), X, "values", np.empty(0)).shape == (2, 2)
    assert predict(Fixed([[0.5, 0.5, 0.0]] * 2), X, "probabilities", classes).shape == (2, 3)


@pytest.mark.parametrize("output", ["values", "probabilities", "margins"])
def test_predictions_that_are_not_finite_say_how_many(output):
    answer = np.array([[1.0, 1.0], [1.0, np.nan], [np.inf, 1.0], [1.0, 1.0]])
    method = {"values": "predict", "probabilities": "predict_proba", "margins": "decision_function"}[output]
    with pytest.raises(
        FloatingPointError,
        match=f"^{method} returned NaN or infinite values for 2 of 4 rows, the first for row 1$",
    ):
        predict(Fixed(answer), np.zeros((4, 1)), output, np.arange(2))
