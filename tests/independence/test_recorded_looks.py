"""Second looks at residuals, and the learners that they use, with few and many rows and columns."""

import numpy as np
import pytest
from checks.recorded import Record, shown
from reference.made_columns import given_columns

from ppfs.independence._predictive.residuals import leftovers
from ppfs.independence._predictive.residuals.curves import BY_ALL, BY_BLOCKS, fits_of
from ppfs.independence._predictive.residuals.index import Features, Index, best_steps, learned_sum
from ppfs.independence._predictive.residuals.leftovers import SecondLook, is_class
from ppfs.independence._predictive.residuals.regressions import Regressions
from ppfs.independence._predictive.residuals.regressors import GivenColumn
from ppfs.independence._predictive.residuals.stumps import Stumps

RECORD = Record(__file__)


def residuals_shown(found):
    return [shown(found.values), found.penalties, found.explained]


@pytest.mark.parametrize("n_rows", [9, 10, 14, 15, 40, 199, 200, 260])
def test_stumps_are_on_record(n_rows):
    rng = np.random.default_rng(n_rows)
    ranks = np.stack([rng.permutation(n_rows), rng.integers(0, 3, n_rows) * (n_rows // 3)], axis=1)
    places = (ranks + 0.5) / n_rows
    response = np.where(places[:, 0] > 0.6, 2.0, 0.0) + rng.normal(size=n_rows)
    RECORD.check(f"stumps: {n_rows}", [shown(part) for part in Stumps(places).of(response)])


@pytest.mark.parametrize("n_rows", [12, 60, 97, 105, 250, 375, 400])
def test_indices_are_on_record(n_rows):
    rng = np.random.default_rng(n_rows)
    values = rng.normal(size=(n_rows, 4))
    response = np.tanh(2.0 * values[:, 0] + values[:, 1]) + 0.3 * rng.normal(size=n_rows)
    features = Features(values)

    fits = fits_of(n_rows, BY_BLOCKS + BY_ALL)
    alone = Index(values[:, 0], Features(np.empty((n_rows, 0))))
    found = {}
    for name, learned in {
        "sum": learned_sum(features, response, fits),
        "alone": alone.learned(response, fits),
    }.items():
        found[name] = [
            shown(part) for part in (learned.index[-1], learned.fitted[-1], *learned.of_rows(fits))
        ]
    for name, most_changes in {"start only": 0, "one change": 1}.items():
        found[name] = shown(learned_sum(features, response, fits, most_changes).index[2])
    found["steps"] = shown(best_steps(response, values[:, 0]))
    RECORD.check(f"index: {n_rows}", found)


def test_indices_of_more_columns_than_rows_are_on_record():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 50))
    response = values[:, :5].sum(axis=1) + rng.normal(size=30)
    features = Features(values)

    fits = fits_of(30, BY_BLOCKS + BY_ALL)
    learned, slopes = learned_sum(features, response, fits), np.linspace(0.5, 2.0, 30)
    found = [shown(features.predicted(response, fits)[-1]), *map(shown, learned.of_rows(fits))]
    changes = features.changes(fits.weights * response, np.broadcast_to(slopes, fits.weights.shape), fits)
    found += [shown(changes[-1]), shown(learned.index[-1])]
    RECORD.check("index: wide", found)


@pytest.mark.parametrize("n_rows", [9, 10, 11, 12, 250, 300])
def test_steps_have_five_rows_on_either_side_or_a_fiftieth(n_rows):
    index = np.arange(n_rows, dtype=float)
    margin = max(5, n_rows // 50)
    for at in (margin - 1, margin, n_rows - margin, n_rows - margin + 1):
        response = np.where(index < at, 3.0, 0.0)
        steps = best_steps(response, index)
        n_low = steps.sum(axis=0)
        assert steps.shape == (n_rows, 3)
        if n_rows < 2 * margin:
            assert not steps.any()
        elif margin <= at <= n_rows - margin:
            assert n_low[0] == at
        else:
            assert margin <= n_low[0] <= n_rows - margin


def test_a_step_is_where_values_differ():
    index = np.repeat([0.0, 1.0, 2.0], [6, 7, 8])
    steps = best_steps(np.arange(21.0), index)
    assert [int(step.sum()) for step in steps.T] in ([13, 6, 13], [13, 6, 6], [6, 13, 6], [6, 13, 13])
    assert not best_steps(np.arange(12.0), np.ones(12)).any()


def test_curves_of_few_values_are_on_record():
    rng = np.random.default_rng(2)
    response = rng.normal(size=45)
    for n_values in (1, 2, 3, 8):
        index = (np.arange(45) % n_values).astype(float)
        learned = Index(index, Features(np.empty((45, 0)))).learned(response, fits_of(45, BY_ALL))
        error = float(((response - learned.fitted[0]) ** 2).sum())
        RECORD.check(f"curve: {n_values}", [shown(learned.index[0]), shown(learned.fitted[0]), error])


LOOKS = {
    "pair": lambda f, s: 1.2 * s[:, 1] * s[:, 2],
    "column": lambda f, s: np.abs(f[:, 0]),
    "triple": lambda f, s: s[:, 0] * s[:, 1] * s[:, 2],
    "fitted": lambda f, s: np.cos(3.0 * f[:, 0] + f[:, 1]),
    "weak": lambda f, s: 0.35 * s[:, 0] * s[:, 1],
}


@pytest.mark.parametrize("n_rows", [59, 60, 99, 149, 150, 399, 400])
def test_second_looks_are_on_record(n_rows):
    rng = np.random.default_rng(n_rows)
    factors = rng.normal(size=(n_rows, 4))
    columns = [GivenColumn.of(column, False) for column in factors.T]
    roots = np.ones(n_rows)
    look = SecondLook(columns, roots)
    fitted = 3.0 * factors[:, 0] + factors[:, 1]
    found = {}
    for name, make in LOOKS.items():
        residual = make(factors, np.sign(factors)) + 0.5 * rng.normal(size=n_rows)
        residual -= residual.mean()
        one = look.find(residual, fitted)
        found[name] = one and [one.pvalue, shown(one.cells), one.column, one.pair, one.is_clear]
        if one is not None and (name != "weak") and n_rows in (60, 150):
            found[name] += [shown(look.regressors(residual, fitted, one, left)) for left in (False, True)]
    found["predicted"] = [shown(part) for part in look.predicted(fitted + residual)]
    RECORD.check(f"look: {n_rows}", found)


@pytest.mark.parametrize("kinds", ["n", "nn", "bcn", "cc", "n" * 12, "n" * 13, "nb" * 6])
def test_second_looks_at_columns_of_all_kinds_are_on_record(kinds):
    columns = given_columns(kinds, 80)
    rng = np.random.default_rng(len(kinds))
    look = SecondLook(columns, np.ones(80))
    first, last = columns[0].places[:, 0], columns[-1].places[:, -1]
    found = {}
    for name, signal in {
        "both": np.sign((first - 0.5) * (last - 0.4)),
        "one": 2.0 * np.cos(6.0 * first),
        "sum": 2.0 * (first + last > 1.2),
    }.items():
        residual = signal - signal.mean() + 0.5 * rng.normal(size=80)
        one = look.find(residual, first + 1e-3 * last)
        found[name] = one and [one.pvalue, shown(one.cells), one.column, one.pair]
        if one is not None:
            found[name].append(shown(look.regressors(residual, first, one, False)))
    RECORD.check(f"look at kinds: {kinds}", found)


def test_a_response_of_two_values_is_a_class_whatever_the_weights():
    roots = np.sqrt(np.linspace(0.5, 2.0, 12))
    two = np.where(np.arange(12) % 3 == 0, 0.7, -0.3)
    assert is_class(two * roots, roots)
    assert not is_class(two, roots)
    assert not is_class(np.arange(12) % 3 * roots, roots)
    assert not is_class(np.ones(12) * roots, roots)
    assert is_class(two * roots + 1e-11 * np.arange(12), roots)


def test_pairs_and_triples_are_of_different_columns():
    assert leftovers._apart(np.array([0, 0, 1]), 2).tolist() == [[0, 2], [1, 2]]
    assert leftovers._apart(np.arange(3), 2).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert leftovers._apart(np.array([0, 1, 1, 2]), 3).tolist() == [[0, 1, 3], [0, 2, 3]]
    assert leftovers._apart(np.arange(4), 3).tolist() == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    assert leftovers._apart(np.array([0, 0]), 2).shape == (0, 2)


def test_the_most_correlated_products_are_looked_at():
    rng = np.random.default_rng(0)
    factors, residual = rng.normal(size=(30, 5)), rng.normal(size=30)
    for n_together in (2, 3):
        sets = leftovers._apart(np.arange(5), n_together)
        size = {tuple(some): abs(residual @ factors[:, some].prod(axis=1)) for some in sets.tolist()}
        for most in (1, 4, 9, 10, 11):
            found = leftovers._promising(sets, factors, residual, most)
            if most >= 10:
                assert found == [tuple(some) for some in sets.tolist()]
            else:
                assert found == sorted(size, key=size.get, reverse=True)[:most]


@pytest.mark.parametrize("kind", ["number", "class", "two outputs", "groups", "weights", "more", "full"])
def test_regressions_are_on_record(kind):
    n_rows = 40 if kind == "full" else 90
    rng = np.random.default_rng(11)
    columns = given_columns("nnb", n_rows)
    z, w = columns[0].scores, columns[1].scores
    signal = np.sign(z * w) + np.sin(3.0 * z)
    output = signal + 0.4 * rng.normal(size=n_rows)
    if kind == "class":
        output = (output > 0).astype(float)
    outputs = output[:, np.newaxis]
    if kind == "two outputs":
        outputs = np.column_stack([output, rng.normal(size=n_rows)])
    roots = np.sqrt(rng.exponential(size=n_rows)) if kind == "weights" else np.ones(n_rows)
    groups = np.arange(n_rows) // 3 if kind == "groups" else None
    more = [rng.normal(size=(n_rows, 2 if kind == "more" else 60))] if kind in ("more", "full") else []

    def centered(values):
        return (values - roots**2 @ values / (roots**2).sum()) * roots[:, np.newaxis]

    functions_ = centered(np.column_stack([0.8 * signal + rng.normal(size=n_rows), rng.normal(size=n_rows)]))
    regressions = Regressions(columns, centered(outputs), roots, groups)
    found = {}
    for n_own in (1, 2):
        fit = regressions.fit(functions_, n_own, more)
        found[f"{n_own}"] = [
            residuals_shown(fit.target),
            residuals_shown(fit.functions),
            fit.may_be_too_small,
            fit.smoother.freedom(5),
        ]
    RECORD.check(f"regressions: {kind}", found)
