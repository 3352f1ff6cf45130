"""Regressions with second looks that find what the test says they find."""

import numpy as np
import pytest
from reference.made_columns import given_columns, numbers
from scipy import stats

from ppfs.independence._predictive.residuals import regressions
from ppfs.independence._predictive.residuals.leftovers import Found
from ppfs.independence._predictive.residuals.regressions import Regressions
from ppfs.independence._predictive.residuals.regressors import design_of, unit
from ppfs.independence._predictive.residuals.smoother import Residuals, Smoother

N = 60


class Look:
    """A second look with given answers, one after the other; it writes down what it is asked."""

    def __init__(self, pvalues=(), left_out=None, fitted=None):
        self.pvalues = list(pvalues)
        self.left_out = np.zeros((N, 2)) if left_out is None else left_out
        self.fitted = self.left_out if fitted is None else fitted
        self.asked = []

    def predicted(self, response):
        return self.left_out, self.fitted

    def find(self, residual, fitted):
        self.asked.append((residual, fitted))
        pvalue = self.pvalues.pop(0) if self.pvalues else None
        return None if pvalue is None else Found(pvalue, np.zeros(N, dtype=int), None, None)

    def regressors(self, residual, fitted, found, is_left_out):
        # The columns say what they were made for.
        return np.column_stack([residual, np.full(N, found.pvalue), np.full(N, float(is_left_out))])


def regressions_with(look, monkeypatch, outputs=None, roots=None, kinds="nn"):
    monkeypatch.setattr(regressions, "SecondLook", lambda columns, roots: look)
    outputs = numbers(N, seed=5)[:, np.newaxis] if outputs is None else outputs
    outputs = outputs - outputs.mean(axis=0)
    return Regressions(given_columns(kinds, N), outputs, np.ones(N) if roots is None else roots)


def smoother():
    return Smoother(numbers(N, seed=3)[:, np.newaxis], np.ones(N))


NUMBERS = np.column_stack([numbers(N, seed=seed) for seed in (11, 12, 13)])
CLASSES = np.eye(3)[np.arange(N) % 3] - 1.0 / 3.0


def test_of_numbers_the_clearest_residual_is_looked_at_and_of_classes_all(monkeypatch):
    own = smoother()
    for responses, is_class in ((NUMBERS, False), (CLASSES, True)):
        made = regressions_with(Look(), monkeypatch)
        made._look = Look([0.05, 0.004, None])
        residuals = own.residuals(responses)
        more, missed = made._found(responses, residuals, own)
        left = [
            own.left_out(residuals.some(slice(k, k + 1))) if is_class else residuals.values[:, k]
            for k in range(3)
        ]
        order = [1, 0] if is_class else [1]
        assert len(more) == len(order)
        for part, number in zip(more, order, strict=True):
            np.testing.assert_array_equal(part[:, 0], left[number])
            assert part[0, 1:].tolist() == [[0.05, 0.004][number], float(is_class)]
        # Beyond doubt is a level of 1 %.
        assert len(missed) == 1
        np.testing.assert_array_equal(missed[0], left[1])
        assert len(made._look.asked) == 3


def test_one_class_among_the_responses_has_all_of_them_looked_at(monkeypatch):
    own, made = smoother(), regressions_with(Look(), monkeypatch)
    responses = np.column_stack([CLASSES[:, 0], NUMBERS[:, 0]])
    made._look = Look([0.05, 0.02])
    more, missed = made._found(responses, own.residuals(responses), own)
    assert [part[0, 1:].tolist() for part in more] == [[0.02, 0.0], [0.05, 1.0]]
    assert missed == []


def test_fitted_values_are_rounded_to_a_grid(monkeypatch):
    own, made = smoother(), regressions_with(Look(), monkeypatch)
    response = 1e3 * NUMBERS[:, :1]
    residuals = own.residuals(response)
    made._found(response, residuals, own)
    ((residual, fitted),) = [(one, other) for one, other in made._look.asked[-1:]]
    step = 2.0**-30 * np.abs(response).max()
    np.testing.assert_allclose(fitted, response[:, 0] - residual, atol=0.5 * step)
    np.testing.assert_allclose(fitted / step, np.rint(fitted / step), atol=1e-6)
    made._found(0.0 * response, Residuals(0.0 * response, residuals.penalties, residuals.explained), own)
    assert made._look.asked[-1][1].tolist() == [0.0] * N


@pytest.mark.parametrize("is_class", [False, True], ids=["number", "class"])
def test_other_learners_enter_where_residuals_are_correlated_with_their_predictions(is_class, monkeypatch):
    own, made = smoother(), regressions_with(Look(), monkeypatch)
    response = CLASSES[:, :1] if is_class else NUMBERS[:, :1]
    residuals = own.residuals(response)
    residual = residuals.values[:, 0]
    rng = np.random.default_rng(4)
    left_out = rng.normal(size=(N, 6)) * 0.5 + np.outer(residual, [0.6, 0.0, 0.3, -0.4, 0.0, 2.0])
    left_out[:, 4] = 0.0
    made._look = Look(left_out=left_out, fitted=2.0 * left_out + rng.normal(size=(N, 6)))
    centered = left_out - left_out.mean(axis=0)
    left = own.residuals(centered).values
    products = left * residual[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        t = products.sum(axis=0) / np.sqrt((products**2).sum(axis=0))
    pvalues = np.where(np.isnan(t), 1.0, 6 * stats.norm.sf(np.nan_to_num(t)))
    assert (pvalues <= 0.01).sum() >= 1
    assert (pvalues > 0.1).sum() >= 2
    more, missed = made._predicted(response, residuals, own)
    helpful = made._look.left_out if is_class else made._look.fitted
    np.testing.assert_allclose(more[0], 6.0 * unit(helpful[:, pvalues <= 0.1]), rtol=1e-10)
    assert len(more) == len(missed) == 1
    np.testing.assert_allclose(missed[0], left[:, pvalues.argmin()], rtol=1e-10)


def test_other_learners_that_help_without_certainty_miss_nothing(monkeypatch):
    own, made = smoother(), regressions_with(Look(), monkeypatch)
    residuals = own.residuals(NUMBERS[:, :1])
    residual = residuals.values[:, 0]
    for target, n_more, n_missed in ((0.02, 1, 0), (0.2, 0, 0), (0.002, 1, 1)):
        # Products whose sum is as large as that p-value requires, of one learner.
        noise = np.random.default_rng(0).normal(size=N)

        def t_of(share, noise=noise):
            predicted = (noise + share * residual)[:, np.newaxis]
            left = own.residuals(predicted - predicted.mean()).values[:, 0] * residual
            return left.sum() / np.sqrt((left**2).sum())

        shares = np.linspace(-1.0, 2.0, 3001)
        share = shares[np.argmin([abs(t_of(one) - stats.norm.isf(target)) for one in shares[::10]]) * 10]
        made._look = Look(left_out=(noise + share * residual)[:, np.newaxis])
        more, missed = made._predicted(NUMBERS[:, :1], residuals, own)
        assert (len(more), len(missed)) == (n_more, n_missed)


def test_weights_center_what_other_learners_predict(monkeypatch):
    roots = np.sqrt(np.linspace(0.2, 2.0, N))
    own = Smoother(numbers(N, seed=3)[:, np.newaxis], roots)
    made = regressions_with(Look(), monkeypatch, roots=roots)
    response = NUMBERS[:, :1] * roots[:, np.newaxis]
    residuals = own.residuals(response)
    predicted = (residuals.values / roots[:, np.newaxis]) + 5.0
    made._look = Look(left_out=predicted)
    _, missed = made._predicted(response, residuals, own)
    expected = (predicted - np.average(predicted[:, 0], weights=roots**2)) * roots[:, np.newaxis]
    np.testing.assert_allclose(missed[0], own.residuals(expected).values[:, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("responses", "n_looks"), [(NUMBERS[:, :1], 3), (CLASSES[:, :1], 1)])
def test_numbers_are_looked_at_three_times_and_classes_once(responses, n_looks, monkeypatch):
    made = regressions_with(Look(), monkeypatch)
    made._look = look = Look([0.001] * 9)
    first = made._first.smoother.residuals(responses)
    state, missed, is_clear = made._improved(made._first, made._first, responses, first)
    assert len(look.asked) == n_looks
    assert len(state.parts) == 1 + n_looks
    assert len(missed) == 1
    assert not is_clear
    # What the first design left is looked at first, and then what the next one leaves under the same penalties.
    expected = made._first.smoother.left_out(first) if n_looks == 1 else first.values[:, 0]
    np.testing.assert_array_equal(look.asked[0][0], expected)
    if n_looks > 1:
        second = Smoother(state.parts[:2], np.ones(N)).residuals(responses, first.penalties)
        np.testing.assert_allclose(look.asked[1][0], second.values[:, 0], rtol=1e-9)


def test_looking_ends_where_nothing_is_found_and_the_last_look_says_whether_it_is_clear(monkeypatch):
    made = regressions_with(Look(), monkeypatch)
    responses = NUMBERS[:, :1]
    first = made._first.smoother.residuals(responses)
    for pvalues, n_looks, n_missed, is_clear in (
        ([], 1, 0, True),
        ([0.001], 2, 1, True),
        ([0.05], 2, 0, True),
        ([0.05, 0.001, None], 3, 0, True),
        ([0.001, 0.05, 0.05], 3, 1, True),
        ([0.05, 0.05, 0.01], 3, 0, False),
    ):
        made._look = look = Look(pvalues)
        _, missed, clear = made._improved(made._first, made._first, responses, first)
        assert (len(look.asked), len(missed), clear) == (n_looks, n_missed, is_clear)


def test_one_class_among_the_responses_is_enough_to_look_once(monkeypatch):
    made = regressions_with(Look(), monkeypatch)
    responses = np.column_stack([NUMBERS[:, 0], CLASSES[:, 0]])
    made._look = look = Look([0.001] * 9)
    made._improved(made._first, made._first, responses, made._first.smoother.residuals(responses))
    assert len(look.asked) == 2


def test_five_outputs_of_the_target_are_looked_at(monkeypatch):
    look = Look()
    regressions_with(look, monkeypatch, outputs=np.random.default_rng(0).normal(size=(N, 7)))
    assert len(look.asked) == 5


@pytest.mark.parametrize("mine", [False, True])
@pytest.mark.parametrize("other", [False, True])
def test_p_values_may_be_too_small_where_neither_side_is_clear(mine, other, monkeypatch):
    made = regressions_with(Look(), monkeypatch)
    made._is_clear = mine
    monkeypatch.setattr(made, "_improved", lambda state, base, responses, first: (state, [], other))
    assert made.fit(NUMBERS, 1).may_be_too_small == (not (mine or other))


@pytest.mark.parametrize("side", ["target", "functions"])
def test_p_values_may_be_too_small_where_one_side_is_correlated_with_what_the_other_missed(side, monkeypatch):
    made = regressions_with(Look(), monkeypatch)
    functions = NUMBERS - NUMBERS.mean(axis=0)
    left = made._first.smoother.residuals(functions).values[:, 0]
    missed = []
    if side == "functions":
        made._missed = [left]
    else:
        missed = [made._first.target.values[:, 0]]
    monkeypatch.setattr(made, "_improved", lambda state, base, responses, first: (state, missed, True))
    assert made.fit(functions, 1).may_be_too_small
    made._missed, missed[:] = [], []
    assert not made.fit(functions, 1).may_be_too_small


def test_correlation_is_two_standard_errors():
    part = np.ones(100)
    for n_up, is_correlated in ((59, False), (60, True), (40, True), (41, False)):
        # The sum of signs over the root of their number.
        residuals = np.where(np.arange(100) < n_up, 1.0, -1.0)[:, np.newaxis]
        assert regressions._any_correlated(residuals, [part]) == is_correlated
    assert not regressions._any_correlated(np.zeros((100, 1)), [part])
    assert not regressions._any_correlated(np.ones((100, 1)), [])
    both = np.column_stack([np.zeros(100), part])
    assert regressions._any_correlated(both, [np.tile([1.0, -1.0], 50), part])


def test_a_design_is_full_beyond_eight_regressors_for_ten_rows():
    for n_regressors, is_full in ((8, False), (9, True)):
        parts = [np.zeros((10, 3)), np.zeros((10, n_regressors - 3))]
        assert regressions._is_full(parts) == is_full


def test_further_regressors_enter_unless_the_design_is_full(monkeypatch):
    made = regressions_with(Look(), monkeypatch)
    functions = NUMBERS - NUMBERS.mean(axis=0)
    n_own = design_of(given_columns("nn", N)).shape[1]
    for n_more, is_used in ((3, True), (int(0.8 * N) - n_own, True), (int(0.8 * N) - n_own + 1, False)):
        more = [np.random.default_rng(0).normal(size=(N, n_more))]
        fit = made.fit(functions, 1, more)
        parts = [*made._first.parts, *(more if is_used else [])]
        expected = Smoother(parts, np.ones(N)).residuals(functions)
        np.testing.assert_allclose(fit.functions.values, expected.values, rtol=1e-8, atol=1e-10)


def test_what_was_found_of_the_target_stays_in_the_design_of_functions(monkeypatch):
    look = Look([0.001, None])
    made = regressions_with(look, monkeypatch)
    assert len(made._state.parts) == 2
    functions = NUMBERS - NUMBERS.mean(axis=0)
    more = [np.random.default_rng(0).normal(size=(N, 2))]
    for further in ([], more):
        fit = made.fit(functions, 1, further)
        base = Smoother([*made._first.parts, *further], np.ones(N))
        penalties = base.residuals(functions).penalties
        whole = Smoother([*made._state.parts, *further], np.ones(N))
        expected = whole.residuals(functions, penalties)
        np.testing.assert_allclose(fit.functions.values, expected.values, rtol=1e-8, atol=1e-10)
        target = whole.residuals(made._outputs, base.residuals(made._outputs).penalties)
        np.testing.assert_allclose(fit.target.values, target.values, rtol=1e-8, atol=1e-10)


def test_groups_have_no_second_look(monkeypatch):
    look = Look([0.001] * 9)
    monkeypatch.setattr(regressions, "SecondLook", lambda columns, roots: look)
    outputs = NUMBERS[:, :1] - NUMBERS[:, :1].mean()
    made = Regressions(given_columns("nn", N), outputs, np.ones(N), np.arange(N) // 2)
    assert not made.fit(outputs, 1).may_be_too_small
    assert look.asked == []
    assert made._state is made._first
