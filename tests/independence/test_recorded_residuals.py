"""Ridge regressions and tests of products of residuals: few and many rows and functions, groups, weights."""

from types import SimpleNamespace

import numpy as np
import pytest
from checks.recorded import Record, shown
from reference.made_columns import numbers

from ppfs.independence._predictive.residuals.smoother import Residuals, Smoother
from ppfs.independence._predictive.residuals.statistics import ProductTest, predicted_rest

RECORD = Record(__file__)


def problem_of(n_rows, n_columns, n_responses, seed=0):
    """Return a design and centered responses that depend on it more and more."""
    rng = np.random.default_rng([n_rows, n_columns, seed])
    design = rng.normal(size=(n_rows, n_columns)) * np.geomspace(1.0, 30.0, n_columns)
    strength = np.linspace(0.0, 2.0, n_responses)
    responses = np.sin(design[:, :1]) * strength + rng.normal(size=(n_rows, n_responses))
    return design, responses - responses.mean(axis=0)


def residuals_shown(found):
    return [shown(found.values), found.penalties, found.explained]


SMOOTHERS = {
    "few rows": (12, 3),
    "as many columns as rows": (20, 20),
    "more columns than rows": (20, 30),
    "one column less than rows": (21, 20),
    "249 rows": (249, 4),
    "250 rows": (250, 4),
}


@pytest.mark.parametrize("name", SMOOTHERS)
def test_smoothers_are_on_record(name):
    n_rows, n_columns = SMOOTHERS[name]
    design, responses = problem_of(n_rows, n_columns, 4)
    rng = np.random.default_rng(1)
    roots = np.sqrt(rng.exponential(size=n_rows))
    found = {}
    for kind, some in {"plain": np.ones(n_rows), "weights": roots}.items():
        smoother = Smoother(design, some)
        chosen = smoother.residuals(responses)
        given = smoother.residuals(responses, np.array([0, 3, 3, 14]))
        found[kind] = {
            "chosen": residuals_shown(chosen),
            "given": residuals_shown(given),
            "freedom": [smoother.freedom(penalty) for penalty in (0, 6, 14)],
            # Where hardly anything is left of the rows, the quotient depends on the processor.
            "inflation": [min(1e6, smoother.inflation(*pair)) for pair in [(0, 0), (0, 9), (6, 3), (14, 14)]],
            "left out": [shown(smoother.left_out(given.some(slice(k, k + 1)))) for k in (0, 3)],
            "may agree": smoother.may_agree(responses, given.values[:, 0]),
        }
    groups = np.arange(n_rows) // 2 % max(5, n_rows // 3)
    grouped = Smoother([design[:, :2], design[:, 2:]], np.ones(n_rows), groups)
    chosen = grouped.residuals(responses)
    found["groups"] = {
        "chosen": residuals_shown(chosen),
        "inflation": [grouped.group_inflation(penalty, chosen.values[:, 1]) for penalty in (3, 5, 14)],
    }
    RECORD.check(f"smoother: {name}", found)


def test_few_groups_count_as_few_rows():
    design, responses = problem_of(498, 3, 3)
    found = [
        Smoother(design, np.ones(498), np.arange(498) % n_groups).residuals(responses).penalties
        for n_groups in (249, 250)
    ]
    RECORD.check("smoother: groups", found)


def test_a_design_without_variance_leaves_the_responses():
    smoother = Smoother(np.ones((20, 2)), np.ones(20))
    responses = numbers(20)[:, np.newaxis]
    responses -= responses.mean()
    np.testing.assert_allclose(smoother.residuals(responses).values, responses, atol=1e-12)
    assert smoother.residuals(np.zeros((20, 1))).explained.tolist() == [1.0]


@pytest.mark.parametrize("n_rows", [5000, 5001])
def test_with_many_rows_no_rows_are_left_out(n_rows):
    smoother = Smoother(numbers(n_rows)[:, np.newaxis], np.ones(n_rows))
    residuals = smoother.residuals(numbers(n_rows, seed=1)[:, np.newaxis])
    is_same = bool((smoother.left_out(residuals) == residuals.values[:, 0]).all())
    assert is_same == (n_rows > 5000)


def test_rows_in_blocks_have_the_same_smoother(monkeypatch):
    from ppfs.independence._predictive.residuals import smoother as module

    design, responses = problem_of(70, 4, 3)
    whole = Smoother([design[:, :1], design[:, 1:]], np.ones(70))
    expected = residuals_shown(whole.residuals(responses))
    for at_once, values in ((32, 2**18), (70, 64), (69, 7), (7, 1)):
        monkeypatch.setattr(module, "_ROWS_AT_ONCE", at_once)
        monkeypatch.setattr(module, "_VALUES_AT_ONCE", values)
        blocks = Smoother([design[:, :1], design[:, 1:]], np.ones(70))
        for mine, theirs in zip(residuals_shown(blocks.residuals(responses)), expected, strict=True):
            np.testing.assert_allclose(np.hstack(mine), np.hstack(theirs), rtol=1e-9)


TESTS = {
    "one function": (90, 1, 1),
    "three functions": (90, 1, 3),
    "three functions, two outputs": (90, 2, 3),
    "too many functions": (40, 1, 5),
    "too many outputs and functions": (60, 3, 3),
}


@pytest.mark.parametrize("is_centered", [False, True], ids=["", "centered"])
@pytest.mark.parametrize("is_grouped", [False, True], ids=["", "groups"])
@pytest.mark.parametrize("name", TESTS)
def test_tests_of_products_are_on_record(name, is_grouped, is_centered):
    n_rows, n_outputs, n_functions = TESTS[name]
    design, responses = problem_of(n_rows, 3, n_outputs + n_functions, seed=4)
    groups = np.arange(n_rows) // 2 if is_grouped else None
    smoother = Smoother(design, np.ones(n_rows), groups)
    responses[:, -1] += 0.4 * responses[:, 0]
    target = smoother.residuals(responses[:, :n_outputs], np.arange(n_outputs) + 4)
    asked = smoother.residuals(responses[:, n_outputs:], np.arange(n_functions) + 6)
    test = ProductTest(target, smoother, groups, is_centered)
    predicted = asked.some(slice(n_outputs)) if n_functions >= n_outputs else asked
    found = {
        "of": vars(test.of(asked)),
        "smoothest": [vars(test.smoothest_first(asked, n)) for n in range(n_functions + 2)],
        "one by one": vars(test.one_by_one(asked, np.arange(1.0, n_functions + 1))),
        "predictions": vars(test.of_predictions(predicted)),
    }
    RECORD.check(f"test: {name}, {is_grouped}, {is_centered}", found)


def residuals(values, penalty=5):
    values = np.asarray(values, dtype=float)
    return Residuals(values, np.full(values.shape[1], penalty), np.zeros(values.shape[1]))


def test_functions_that_say_the_same_are_one_direction():
    rng = np.random.default_rng(0)
    target, function, other = rng.normal(size=(3, 200, 1))
    smoother = Smoother(rng.normal(size=(200, 2)), np.ones(200))
    test = ProductTest(residuals(target), smoother, None)
    assert test.of(residuals(np.hstack([function, function]))).n_directions == 1
    assert test.of(residuals(np.hstack([function, function + 0.1 * other]))).n_directions == 1
    assert test.of(residuals(np.hstack([function, function + 0.25 * other]))).n_directions == 2
    # A function without values is left out.
    alone, padded = test.of(residuals(function)), test.of(residuals(np.hstack([function, 0.0 * function])))
    assert vars(padded) == pytest.approx(vars(alone))
    assert test.of(residuals(0.0 * function)) == type(alone)(1.0, 0.0)
    assert test.of(residuals(np.hstack([function, 1e-11 * function]))).statistic == pytest.approx(
        alone.statistic
    )
    assert test.of_predictions(residuals(0.0 * function)) == type(alone)(1.0, 0.0)
    assert test.of_predictions(residuals(function)).statistic == pytest.approx(
        float(
            (target * function).sum()
            / np.sqrt(1.5 * smoother.inflation(5, 5) * ((target * function) ** 2).sum())
        )
    )


def test_a_rare_class_does_not_lose_the_spread_of_a_function():
    """Where the function is small in all rows with a large residual, squares of products alone would be too small."""
    target = np.concatenate([np.full(4, 10.0), np.full(36, -1.0)])[:, np.newaxis]
    function = np.concatenate([[0.1, 0.1, 0.1, 0.05], np.tile([2.0, -2.0], 18)])[:, np.newaxis]
    smoother = Smoother(numbers(40)[:, np.newaxis], np.ones(40))
    found = ProductTest(residuals(target), smoother, None).of(residuals(function))
    even = 0.8 * (target**2).sum() * (function**2).mean()
    assert even > ((target * function) ** 2).sum()
    t = (target * function).sum() / np.sqrt(even * smoother.inflation(5, 5))
    assert found.statistic == pytest.approx(t, rel=1e-12)


def test_products_with_functions_are_tested_together_with_ten_rows_for_each():
    rng = np.random.default_rng(5)
    target, functions_ = rng.normal(size=(80, 1)), rng.normal(size=(80, 3))
    smoother = Smoother(1e-9 * rng.normal(size=(80, 1)), np.ones(80))

    def n_directions(n_functions, freedom):
        bound = SimpleNamespace(
            n_rows=80, inflation=lambda one, other: 1.0, freedom=lambda penalty: freedom, residuals=None
        )
        test = ProductTest(residuals(target), bound, None)
        return test.of(residuals(functions_[:, :n_functions])).n_directions

    assert smoother.n_rows == 80
    assert n_directions(3, 29.9) == 1
    assert n_directions(3, 30.0) == 3
    assert n_directions(2, 20.0) == 2


def test_nothing_is_predicted_from_functions_without_values():
    target = numbers(20)[:, np.newaxis]
    fitted, left_out = predicted_rest(target, np.zeros((20, 2)))
    assert not fitted.any()
    assert not left_out.any()
    # A row that determines a function by itself is predicted by what is left of 1 - 1e-6.
    alone = np.zeros((20, 1))
    alone[3] = 2.0
    fitted, left_out = predicted_rest(target, alone)
    assert fitted[3] == pytest.approx(target[3])
    assert left_out[3] == pytest.approx((fitted[3] - (1 - 1e-6) * target[3]) / 1e-6)
    # Directions are rounding error below 1e-8 of the largest.
    for size, rank in ((1e-7, 2), (2e-9, 1)):
        design = np.column_stack([numbers(20), size * numbers(20, seed=1)])
        fitted, _ = predicted_rest(target, design)
        expected = design[:, :rank] @ np.linalg.lstsq(design[:, :rank], target, rcond=None)[0]
        np.testing.assert_allclose(fitted, expected, atol=1e-6)
