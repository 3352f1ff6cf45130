"""Targets beyond one column: several outputs, and records with a loss of the caller's."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket import MMMB
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, FisherZ
from ppfs.independence._predictive.target_problem import TargetProblems
from ppfs.wrappers import Stepwise

N_ROWS = 100


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N_ROWS, 3))


@pytest.fixture
def outputs(X):
    noise = np.random.default_rng(1).normal(size=(N_ROWS, 2))
    return np.column_stack([X[:, 0], X[:, 1] - X[:, 0]]) + 0.2 * noise


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_the_loss_is_the_mean_over_outputs(X, outputs, loss):
    test = PPI(LinearRegression(), n_splits=5, loss=loss, random_state=0)
    table = read_table(X, outputs, task="auto", owner=test)
    risks = test.bind(table)._risks_about(3, is_marginal=False)[0]
    found = risks.of_members([0], frozenset({0, 1}))
    columns = list(table.order.canonical({0, 1}))
    for number, split in enumerate(risks.problem.splits):
        model = LinearRegression().fit(X[split.train][:, columns], outputs[split.train])
        errors = np.abs(model.predict(X[split.test][:, columns]) - outputs[split.test])
        expected = (errors**2 if loss == "squared" else errors).mean()
        assert found.base[0, number] == pytest.approx(expected)


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
@pytest.mark.parametrize(
    "model", [None, DecisionTreeRegressor(), LinearRegression(), MultiOutputRegressor(SVR())], ids=str
)
def test_several_outputs_are_predicted_together(X, outputs, make, model):
    # The paper's test rejects true nulls too often; both of these hold their level.
    test = make(model, random_state=0, **({"significance": "corrected-t"} if make is PPI else {}))
    assert test.evaluate(X, outputs, 1).pvalue < 0.01
    assert test.evaluate(X, outputs, 1, given=[0]).pvalue < 0.01
    assert test.evaluate(X, outputs, 2, given=[0, 1]).pvalue > 0.05


def test_the_engine_leaves_several_outputs_to_scikit_learn(X, outputs):
    selector = PPFS(n_splits=8, random_state=0).fit(X, outputs)
    assert "the engine predicts one output, and the target has 2" in selector.trace_.notes[0]
    assert sorted(selector.blanket_) == [0, 1]
    assert selector.task_ == "regression"
    assert Stepwise(LinearRegression(), random_state=0).fit(X, outputs).support_.tolist() == [
        True,
        True,
        False,
    ]


def test_one_output_models_say_what_to_do(X, outputs):
    with pytest.raises(
        InvalidInputError, match=r"y has 2 columns, and SVR failed.*MultiOutputRegressor\(SVR"
    ):
        PPI(SVR()).evaluate(X, outputs, 0)
    with pytest.raises(InvalidInputError, match=r"FisherZ needs a target of one column, but y is 2 columns"):
        FisherZ().evaluate(X, outputs, 0)


@pytest.fixture
def records(X):
    times = np.exp(X[:, 0] + 0.1 * np.random.default_rng(2).normal(size=N_ROWS))
    event = np.random.default_rng(3).random(N_ROWS) < 0.8
    return np.array(list(zip(event, times, strict=True)), dtype=[("event", bool), ("time", float)])


class LogTime(BaseEstimator):
    """A model of records that is neither a classifier nor a regressor by its tags."""

    def fit(self, X, y):
        assert y.dtype.names == ("event", "time")
        self.model_ = LinearRegression().fit(X[y["event"]], np.log(y["time"][y["event"]]))
        return self

    def predict(self, X):
        return self.model_.predict(X)


def error_of_events(y, prediction):
    return np.where(y["event"], (np.log(y["time"]) - prediction) ** 2, 0.0)


def test_records_with_a_loss_of_the_callers(X, records):
    for make, significance in ((PPI, "corrected-t"), (CrossFitPPI, "paired-t")):
        test = make(LogTime(), loss=error_of_events, significance=significance, random_state=0)
        assert test.evaluate(X, records, 0).pvalue < 0.001
        assert test.evaluate(X, records, 2, given=[0]).pvalue > 0.05
    selector = PPFS(LogTime(), loss=error_of_events, n_splits=10, task="regression", random_state=0)
    selector.set_params(significance="corrected-t")
    assert selector.fit(X, records).blanket_.tolist() == [0]


@pytest.mark.parametrize("loss", ["auto", "squared"])
def test_built_in_losses_refuse_records_that_are_no_survival_times(X, records, loss):
    spans = records.astype([("start", float), ("stop", float)])
    with pytest.raises(InvalidInputError, match=r"fields 'start', 'stop'.*Pass a function as loss"):
        PPFS(LogTime(), loss=loss).fit(X, spans)
    with pytest.raises(InvalidInputError, match=r"a decision tree cannot predict.*scikit-survival"):
        PPFS(loss=loss).fit(X, spans)
    with pytest.raises(InvalidInputError, match=r"y is a structured array"):
        FisherZ().evaluate(X, spans, 0)


def test_predictions_of_any_shape_reach_the_callers_loss(X, outputs):
    def first_output(y, prediction):
        assert prediction.shape == y.shape == (len(y), 2)
        return (y[:, 0] - prediction[:, 0]) ** 2

    assert PPI(LinearRegression(), loss=first_output, random_state=0).evaluate(X, outputs, 0).pvalue < 0.01
    assert PPI(DummyRegressor(), loss=first_output, random_state=0).evaluate(X, outputs, 0).pvalue == 1.0


def test_the_callers_loss_gets_one_test_part_at_a_time(X):
    """So that it may compare rows, as likelihoods of survival do."""
    sizes = set()

    def ranks_wrongly(y, prediction):
        sizes.add(len(y))
        is_wrong = np.sign(y[:, None] - y) != np.sign(prediction[:, None] - prediction)
        return is_wrong.mean(axis=1)

    test = CrossFitPPI(LinearRegression(), loss=ranks_wrongly, n_folds=5, n_draws=4, random_state=0)
    assert test.evaluate(X, X[:, 0], 0, given=[1]).pvalue < 0.001
    assert sizes == {N_ROWS // 5}


@pytest.mark.parametrize("model", [None, LinearRegression()], ids=["tree", "linear"])
@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_several_outputs_are_one_variable_where_a_column_is_predicted(X, outputs, make, model):
    """A search for neighbours asks whether the outputs, as columns, help to predict a feature."""
    found = MMMB(independence=make(model, random_state=0), random_state=0).fit(X, outputs)
    assert sorted(found.blanket_) == [0, 1]


def test_a_column_with_gaps_is_no_target(X):
    y = X[:, 0] + 0.2 * np.random.default_rng(1).normal(size=N_ROWS)
    X[::7, 0] = np.nan
    with pytest.raises(InvalidInputError, match=r"which columns 'x0' depends on, but the column has missing"):
        MMMB(independence=CrossFitPPI(), random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("class_weight", "target", "classes", "by_class"),
    [
        ({"a": 3.0}, 2, ["a", "b"], [1.5, 0.5]),
        ("balanced", 2, ["a", "b"], [1.0, 1.0]),
        (None, 2, ["a", "b"], None),
        # Of another variable, classes can be balanced; labels of the target do not apply to it.
        ({"a": 3.0}, 1, ["a", "b"], None),
        ("balanced", 1, ["a", "b"], [1.0, 1.0]),
        ("balanced", 1, [], None),
        (None, 1, [], None),
    ],
)
def test_class_weights_are_those_of_the_target(class_weight, target, classes, by_class):
    problems = SimpleNamespace(
        test=SimpleNamespace(class_weight=class_weight),
        table=SimpleNamespace(target=2, known_labels=np.array(["a", "b"]), weights=None),
    )
    y = np.array(["a", "b", "a", "b"]) if classes else np.arange(4.0)
    found = TargetProblems._weights(problems, target, y, np.array(classes))
    assert (None if found.by_class is None else found.by_class.tolist()) == by_class
    assert (found.fit, found.loss is None) == (None, by_class is None)
