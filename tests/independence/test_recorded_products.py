"""Answers by products of residuals: every kind of target, loss, feature and row, asked as a search asks."""

import numpy as np
import pandas as pd
import pytest
from checks.recorded import Record
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._data import read_table
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.residuals import residual_products
from ppfs.independence._predictive.residuals.smoother import Residuals
from ppfs.independence._predictive.residuals.statistics import Tested as Judged
from ppfs.independence._predictive.residuals.statistics import predicted_rest

RECORD = Record(__file__)
N = 48


def columns():
    rng = np.random.default_rng(21)
    X = rng.normal(size=(N, 9))
    X[:, 1] += 0.6 * X[:, 0]
    X[:, 3] = np.digitize(X[:, 3], [-0.5, 0.6])
    signal = X[:, 0] + 0.8 * X[:, 1] + 0.7 * X[:, 2] ** 2 + 0.5 * X[:, 4] * X[:, 0] + 0.4 * X[:, 3]
    return X, signal + 0.5 * rng.normal(size=N)


def frame():
    X, signal = columns()
    made = pd.DataFrame(X, columns=list("abcdefghi"))
    made["d"] = pd.Categorical(np.array(["low", "mid", "high"])[X[:, 3].astype(int)])
    made.loc[::9, "c"] = np.nan
    return made, signal


def pairwise(y, prediction):
    """Return losses that compare rows of one test part."""
    return np.abs((y - prediction) - np.roll(y - prediction, 1))


def cross_entropy(y, prediction):
    return -np.log(np.maximum(prediction[np.arange(len(y)), y], 1e-3))


def wrong_labels(y, labels):
    return (labels != y) + 0.25 * (y == "b")


def own_margin(y, margins):
    return np.maximum(0.0, 1.0 - margins[np.arange(len(y)), y])


class Labels(DecisionTreeClassifier):
    """A classifier that predicts labels only."""

    predict_proba = property()


def number(signal):
    return signal


def two(signal):
    return (signal > 1.0).astype(int)


def three(signal):
    return np.digitize(signal, [0.4, 2.0])


def survival(signal):
    record = np.zeros(N, dtype=[("event", "?"), ("time", "f8")])
    record["event"], record["time"] = np.arange(N) % 3 > 0, np.exp(-0.5 * signal) + 0.1
    return record


def both(signal):
    return np.column_stack([signal, np.roll(signal, 1) + columns()[0][:, 1]])


SEEDED = {"random_state": 5}
WEIGHTS = {"sample_weight": 0.5 + np.arange(N) % 4}
CASES = {
    "number": (CrossFitPPI("panel", **SEEDED), columns, number, {}),
    "number, absolute": (CrossFitPPI("panel", loss="absolute", **SEEDED), columns, number, {}),
    "number, absolute, weights": (CrossFitPPI("panel", loss="absolute", **SEEDED), columns, number, WEIGHTS),
    "number, pairs": (CrossFitPPI("panel", loss=pairwise, **SEEDED), columns, number, {}),
    "number, weights": (CrossFitPPI("panel", **SEEDED), columns, number, WEIGHTS),
    "number, groups": (CrossFitPPI("panel", **SEEDED), columns, number, {"groups": np.arange(N) // 2}),
    "number, mixed": (CrossFitPPI("panel", **SEEDED), frame, number, {}),
    "number, wide feature": (
        CrossFitPPI("panel", **SEEDED),
        columns,
        number,
        {"feature_groups": {"wide": [0, 2, 4, 5, 6, 7, 8]}},
    ),
    "two": (CrossFitPPI("panel", **SEEDED), columns, two, {}),
    "two, logarithms": (CrossFitPPI("panel", loss="log-loss", **SEEDED), columns, two, {}),
    "two, own logarithms": (CrossFitPPI("panel", loss=cross_entropy, **SEEDED), columns, two, {}),
    "two, weights": (CrossFitPPI("panel", class_weight="balanced", **SEEDED), columns, two, WEIGHTS),
    "three": (CrossFitPPI("panel", **SEEDED), columns, three, {}),
    "three, logarithms": (CrossFitPPI("panel", loss="log-loss", **SEEDED), columns, three, {}),
    "three, ranked": (CrossFitPPI("panel", **SEEDED), columns, three, {"task": "ordinal"}),
    "survival": (CrossFitPPI("panel", **SEEDED), columns, survival, {"task": "survival"}),
    "two outputs": (CrossFitPPI("panel", **SEEDED), columns, both, {}),
    "two outputs, absolute": (CrossFitPPI("panel", loss="absolute", **SEEDED), columns, both, {}),
    "lines": (CrossFitPPI(LinearRegression(), **SEEDED), columns, number, {}),
    "tree": (CrossFitPPI(DecisionTreeRegressor(max_depth=3), **SEEDED), columns, number, {}),
    "logistic of two": (CrossFitPPI(LogisticRegression(), **SEEDED), columns, two, {}),
    "logistic of three": (CrossFitPPI(LogisticRegression(), **SEEDED), columns, three, WEIGHTS),
    "errors of a tree": (
        CrossFitPPI(DecisionTreeClassifier(max_depth=3), loss="zero-one", **SEEDED),
        columns,
        three,
        {},
    ),
    "margins of two": (CrossFitPPI(RidgeClassifier(), **SEEDED), columns, two, {}),
    "margins of three": (CrossFitPPI(RidgeClassifier(), **SEEDED), columns, three, {}),
    "margins by a function": (CrossFitPPI(RidgeClassifier(), loss=own_margin, **SEEDED), columns, three, {}),
    "labels by a function": (
        CrossFitPPI(Labels(max_depth=2), loss=wrong_labels, **SEEDED),
        columns,
        lambda signal: np.array(["a", "b", "c"])[three(signal)],
        {},
    ),
    "two models": (
        CrossFitPPI([LinearRegression(), DecisionTreeRegressor(max_depth=2)], **SEEDED),
        columns,
        number,
        {"groups": np.arange(N) // 2},
    ),
}


def bound_of(name):
    test, data, target, said = CASES[name]
    X, signal = data()
    said = {**said, "task": said.get("task", test.declared_task() or "auto")}
    return test.bind(read_table(X, target(signal), owner=test, **said))


def shown(answers):
    return {
        "pvalues": answers.pvalues,
        "statistics": answers.statistics,
        "effects": answers.effects,
        "by model, pvalues": answers.model_pvalues,
        "too small": answers.may_be_too_small,
        "explained": answers.explained,
        "root effects": answers.root_effects,
        "inert": answers.is_inert,
    }


@pytest.mark.parametrize("name", CASES)
def test_answers_by_products_are_on_record(name):
    bound = bound_of(name)
    products = bound._products_of(bound.table.target)
    found = {}
    for xs, given in (([0], {1}), ([1], {0, 1}), ([2], {0, 3})):
        found[f"{xs} given {sorted(given)}"] = {**shown(products.answers(xs, given)), "fits": products.n_fits}
    RECORD.check(name, found)


def test_what_is_known_of_the_target_is_used_again():
    bound = bound_of("number")
    products = bound._products_of(bound.table.target)

    def n_fits(xs, given):
        before = products.n_fits
        products.answers(xs, given)
        return products.n_fits - before

    # A line, three curves, a product with the other column and five steps; the target, where it is not known.
    own = 1 + 3 + 1 + 5
    assert n_fits([0], {1}) == own + 1
    assert n_fits([0], {1}) == own
    assert n_fits([0, 1], {2}) == 2 * own + 1
    assert n_fits([0], {1}) == own + 1
    # Without a feature another model remains, and is known next time.
    assert n_fits([0], {0, 1}) == own
    assert n_fits([1], {0, 1}) > own
    assert n_fits([2], {0}) == n_fits([2], {0})


def test_threads_have_the_answers_of_one():
    bound = bound_of("number, groups")
    one = bound._products_of(bound.table.target)
    several = residual_products.ResidualProducts(
        bound.table, one.problem, one._members, one._n_models, *one._key, one._response_given, 3
    )
    for xs, given in (([0, 1, 2, 4, 5], {0, 1, 2, 4, 5}), ([6, 7], {0})):
        mine, theirs = (shown(products.answers(xs, given)) for products in (one, several))
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])
    assert one.n_fits == several.n_fits


def test_a_feature_that_no_model_uses_is_inert():
    X = np.zeros((N, 2))
    X[:, 0] = np.linspace(-1.0, 1.0, N)
    X[0, 1] = 1.0
    test = CrossFitPPI(DecisionTreeRegressor(max_depth=1, random_state=0), random_state=0)
    bound = test.bind(read_table(X, np.sign(X[:, 0]), task="regression", owner=test))
    products = bound._products_of(bound.table.target)
    answers = products.answers([1], {0})
    assert answers.is_inert.tolist() == [True]
    assert answers.pvalues.tolist() == [1.0]
    # Only the target was regressed.
    assert products.n_fits == 1


@pytest.mark.parametrize("name", ["number", "two outputs", "two", "three"])
def test_without_a_statistic_the_error_of_an_effect_is_that_of_the_target(name):
    bound = bound_of(name)
    products = bound._products_of(bound.table.target)
    rng = np.random.default_rng(0)
    target = rng.normal(size=(N, products._outputs.shape[1]))
    functions = Residuals(np.zeros((N, 2)), np.zeros(2, dtype=int), np.zeros(2))
    effect, root, error = products._effect(target, functions, Judged(1.0, 0.0))
    assert (effect, root) == (0.0, 0.0)
    share = {"number": 1.0, "two outputs": 0.5, "two": 2.0, "three": 1.0}[name]
    squares = share * (target**2).sum(axis=1)
    assert error == pytest.approx(np.sqrt(2.0 * squares.mean() / N * products.problem.loss_unit), rel=1e-12)


@pytest.mark.parametrize("name", ["number", "two outputs, absolute", "two", "three"])
def test_the_root_of_an_effect_is_less_its_mean_under_independence(name):
    bound = bound_of(name)
    products = bound._products_of(bound.table.target)
    rng = np.random.default_rng(0)
    target = rng.normal(size=(N, products._outputs.shape[1]))
    functions = Residuals(rng.normal(size=(N, 2)), np.zeros(2, dtype=int), np.zeros(2))
    fitted, _ = predicted_rest(target, functions.values)
    share = {"number": 1.0, "two outputs, absolute": 0.5, "two": 2.0, "three": 1.0}[name]
    squares = share * (fitted**2).sum(axis=1)
    noise = ((target - fitted) ** 2).sum() / (target**2).sum()
    for statistic, n_directions in ((3.0, 1), (3.0, 4), (3.0, 12), (0.5, 1), (0.5, 2)):
        effect, root, error = products._effect(target, functions, Judged(0.1, statistic, n_directions))
        rise = abs(effect) / products.problem.loss_unit if "absolute" in name else 2.0 * squares.mean()
        unit = rise / statistic**2 * products.problem.loss_unit
        without_chance = max(statistic**2 - n_directions + 1.0, 0.0)
        uneven = squares.var() / squares.mean() ** 2 / (4.0 * N)
        assert root == pytest.approx(np.sqrt(unit * without_chance), rel=1e-10)
        assert error == pytest.approx(np.sqrt(unit * (noise + uneven * without_chance)), rel=1e-10)


@pytest.mark.parametrize("pvalue", [1e-20, 1e-5, 7e-5, 1e-3, 0.3, 1.0])
def test_the_root_of_an_effect_is_at_most_as_far_from_zero_as_the_joined_p_value_says(pvalue, monkeypatch):
    bound = bound_of("number")
    products = bound._products_of(bound.table.target)
    monkeypatch.setattr(products, "_effect", lambda target, functions, found: (0.7, 5.0, 1.5))
    monkeypatch.setattr(products, "_judged", lambda fit, part, member: Judged(pvalue, 2.0))
    (root, error) = products.answers([0], {1}).root_effects[0]
    distance = stats.norm.isf(0.5 * max(pvalue, 1e-16))
    assert error == 1.5
    # Beyond four standard errors, a p-value of 6e-5, it does not matter.
    assert root == pytest.approx(5.0 if pvalue < 6e-5 else min(5.0, 1.5 * distance), rel=1e-9)
