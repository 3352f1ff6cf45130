"""Parts of predictive tests: significance, bounds, screenings, draws, losses, single models."""

from itertools import product

import numpy as np
import pytest
from checks.recorded import Record, shown
from reference.made_columns import codes, numbers
from scipy import stats
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import MinMaxScaler, SplineTransformer, StandardScaler

from ppfs._data import read_table
from ppfs._fitting import Design
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive import conditional_draws, screening, tail_bound
from ppfs.independence._predictive.conditional_draws import ConditionalKnockoff, unevenness_of
from ppfs.independence._predictive.risks.linear.categories import (
    FittedCategories,
    FittedColumns,
    n_dummies,
    n_slots,
)
from ppfs.independence._predictive.risks.linear.outputs import as_predicted
from ppfs.independence._predictive.risks.linear.scaling import fitted_scaler
from ppfs.independence._predictive.risks.log_linear import log_lines
from ppfs.independence._predictive.risks.naive_bayes import class_probabilities
from ppfs.independence._predictive.screening import Screening
from ppfs.independence._predictive.significance import cauchy_combination, risk_differences
from ppfs.independence._predictive.significance.cross_fitted import seen_by_each_other, seen_in_moments
from ppfs.independence._predictive.significance.t_tests import effective_freedom, moments_of
from ppfs.independence._predictive.tail_bound import TailBound, log_chance

RECORD = Record(__file__)


def differences():
    rng = np.random.default_rng(8)
    made = rng.normal(0.2, 1.0, size=(6, 25))
    made[1, 4:] = 0.0
    made[2] = 0.0
    made[3] = 0.5
    made[4] *= -1.0
    made[5, 0] = 1e60
    return made


@pytest.mark.parametrize("n_coefficients", [1.0, 2.0, 7.5, np.inf])
def test_p_values_of_rows_that_see_each_other_are_on_record(n_coefficients):
    made = differences()
    q = np.full(6, n_coefficients)
    freedom = effective_freedom(made)
    moments = moments_of(made)
    found = {
        "plain": seen_by_each_other(made, q),
        "effective": seen_by_each_other(made, q, freedom),
        "liberal": seen_in_moments(moments, 25, q, is_liberal=True),
        "strict": seen_in_moments(moments, 25, q, is_liberal=False),
    }
    for (mine, theirs), (other, others) in (
        (found["plain"], found["liberal"]),
        (found["effective"], found["strict"]),
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-12)
        np.testing.assert_allclose(theirs, others, rtol=1e-12)
    RECORD.check(f"each other: {n_coefficients}", found)


def test_shared_patterns_have_the_p_value_of_their_law():
    """T = (U - q) / sqrt(U) for U chi-squared with q degrees of freedom."""
    made = differences()[[0, 4]]
    plain, alone = stats.ttest_1samp(made, 0.0, axis=1, alternative="greater")
    for q in (1.0, 3.0):
        pvalues, t = seen_by_each_other(made, np.full(2, q))
        np.testing.assert_allclose(t, plain, rtol=1e-12)
        z = stats.norm.isf(alone)
        root = (z + np.sqrt(z**2 + 4.0 * q)) / 2.0
        np.testing.assert_allclose(pvalues, np.maximum(stats.chi2.sf(root**2, q), alone), rtol=1e-9)
    doubled = stats.t.sf(plain / np.sqrt(2.0), 24)
    np.testing.assert_allclose(seen_by_each_other(made, np.full(2, np.inf))[0], doubled, rtol=1e-12)


def test_moments_and_effective_numbers_are_those_of_the_formulas():
    made = differences()[[0, 1, 2, 3]]
    moments = moments_of(made)
    np.testing.assert_allclose(moments[:, 0], made.mean(axis=1), rtol=1e-14)
    np.testing.assert_allclose(
        moments[:, 1], [*made[:2].std(axis=1, ddof=1), -1.0, 0.0], rtol=1e-12, atol=1e-15
    )
    expected = (made**2).sum(axis=1)[[0, 1]] ** 2 / (made**4).sum(axis=1)[[0, 1]]
    np.testing.assert_allclose(moments[:, 2], [*expected, 1.0, 24.0], rtol=1e-12)
    assert effective_freedom(np.array([[5.0, 0.0, 0.0, 0.0]])).tolist() == [1.0]
    assert effective_freedom(np.array([[1.0, 1.0, 1.0]])).tolist() == [2.0]


@pytest.mark.parametrize("weights", [None, (1.0, 3.0, 0.5)])
def test_combined_p_values_are_means_of_cauchy_variables(weights):
    pvalues = np.array(
        [[0.3, 0.2, 0.8], [1.0, 0.95, 0.9], [1e-30, 0.5, 0.5], [0.5, 0.7, 0.6], [0.0, 0.5, 1.0]]
    )
    combined, statistics = cauchy_combination(pvalues, weights)
    own = np.ones(3) if weights is None else np.array(weights)
    with np.errstate(divide="ignore"):
        cauchy = 1.0 / np.tan(np.pi * np.minimum(pvalues, 0.9))
    np.testing.assert_allclose(statistics, cauchy @ own / own.sum(), rtol=1e-12)
    # As `cauchy.sf`, which loses small p-values in older versions of SciPy.
    expected = np.maximum(np.arctan2(1.0, statistics) / np.pi, pvalues.min(axis=1))
    np.testing.assert_allclose(combined, expected, rtol=1e-9)


def test_differences_are_rounded_to_a_share_of_the_largest_risk():
    base = np.array([[1.0, 1.0, 4.0], [0.0, 0.0, 0.0], [-3.0, 1.0, 1.0]])
    replaced = base + np.array([[1e-9, 3e-10, 2e-9], [0.0, 1e-300, 0.0], [1e-9, 1e-10, 0.5]])
    found = risk_differences(base, replaced)
    for row, scale in ((0, 8.0), (2, 4.0)):
        step = scale * 2.0**-33
        assert found[row].tolist() == (np.rint((replaced - base)[row] / step) * step).tolist()
    assert found[1].tolist() == pytest.approx([0.0, 1e-300, 0.0], rel=1e-9)


@pytest.mark.parametrize(
    ("power", "has_intercept", "is_weighted"), [*product([1.0, 1.3, 1.7, 2.0], [True, False], [True, False])]
)
def test_regressions_with_a_log_link_are_on_record(power, has_intercept, is_weighted):
    rng = np.random.default_rng(4)
    columns = np.stack(
        [
            rng.normal(size=30),
            1e3 * rng.normal(size=30) + 500.0,
            np.full(30, 2.0),
            rng.exponential(size=30) ** 4,
        ]
    )
    y = rng.gamma(1.5, np.exp(0.8 * columns[0]))
    weights = rng.integers(1, 5, 30).astype(float) if is_weighted else None
    found = {
        f"{alpha}": log_lines(columns, y, weights, power, alpha, has_intercept)
        for alpha in (0.0, 1e-3, 1.0, 30.0)
    }
    slopes, intercepts = found["0.001"]
    shares = np.full(30, 1.0 / 30.0) if weights is None else weights / weights.sum()
    logs = slopes[:, np.newaxis] * columns + intercepts[:, np.newaxis]
    slack = (np.exp((2.0 - power) * logs) - y * np.exp((1.0 - power) * logs)) * shares
    # The derivatives vanish.
    size = np.abs(columns).max(axis=1)
    np.testing.assert_allclose(((slack * columns).sum(axis=1) + 1e-3 * slopes) / size, 0.0, atol=1e-9)
    if has_intercept:
        np.testing.assert_allclose(slack.sum(axis=1), 0.0, atol=1e-10)
    RECORD.check(f"log link: {power}, {has_intercept}, {is_weighted}", found)


def test_log_links_of_extreme_targets_end():
    columns = np.array([[0.0, 1.0, 2.0, 3.0]])
    for y in ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1e12], [1e-12, 1e3, 1e-12, 1e9]):
        slopes, intercepts = log_lines(columns, np.array(y), None, 1.0, 1e-2, True)
        RECORD.check(f"extreme: {y}", [slopes, intercepts])


def test_class_probabilities_are_on_record():
    rng = np.random.default_rng(6)
    train, test = rng.normal(size=(3, 20)), rng.normal(size=(3, 6))
    train[1] = 2.0
    for n_classes in (2, 3, 4):
        labels = np.arange(20) ** 2 % n_classes
        found = [class_probabilities(train, labels, test, n_classes, smoothing) for smoothing in (1e-9, 0.3)]
        RECORD.check(f"probabilities: {n_classes}", found)


@pytest.mark.parametrize("wanted", ["values", "labels", "margins", "probabilities"])
def test_outputs_become_predictions(wanted):
    one, three = (
        np.array([[-2.0], [0.0], [0.5]]),
        np.array([[1.0, 3.0, 2.0], [0.0, 0.0, -1.0], [710.0, -710.0, 0.0]]),
    )
    found = as_predicted(one, wanted)
    expected = {
        "values": one[:, 0],
        "labels": np.array([0, 0, 1]),
        "margins": np.array([[1.0, -1.0], [0.0, 0.0], [-0.25, 0.25]]),
        "probabilities": np.column_stack([1.0 / (1.0 + np.exp(one[:, 0])), 1.0 / (1.0 + np.exp(-one[:, 0]))]),
    }[wanted]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if wanted == "values":
        return
    several = as_predicted(three, wanted)
    if wanted == "labels":
        assert several.tolist() == [1, 0, 0]
    elif wanted == "margins":
        assert several is three
    else:
        np.testing.assert_allclose(
            several[:2], np.exp(three[:2]) / np.exp(three[:2]).sum(axis=1, keepdims=True)
        )
        np.testing.assert_allclose(several[2], [1.0, 0.0, 0.0], atol=1e-300)


@pytest.mark.parametrize("n_levels", [2, 3, 30, 31, 32, 45])
def test_regressors_of_categories_are_on_record(n_levels):
    rng = np.random.default_rng(n_levels)
    column = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 60)]).astype(float)[:, np.newaxis]
    levels, train = np.array([n_levels]), column[10:]
    weights = np.linspace(1.0, 3.0, len(train))
    found = {
        "slots": n_slots(levels),
        "dummies": n_dummies(column[:, 0], [np.arange(20), np.arange(n_levels)]),
    }
    for name, steps in {"": (), "scaled": (StandardScaler(),), "splines": (SplineTransformer(),)}.items():
        for own in (None, weights):
            made = FittedCategories.of(steps, levels, train, own)
            found[f"{name}, {own is None}"] = [
                shown(made.regressors(column)),
                made.places[:, 0],
                shown(made.lengths),
            ]
    RECORD.check(f"categories: {n_levels}", found)


def test_columns_of_numbers_and_categories_are_on_record():
    X = np.column_stack([numbers(40), codes(40, 4), numbers(40, 5), codes(40, 3)])
    levels = np.array([0, 4, 0, 3])
    for name, steps in {
        "": (),
        "scaled": (StandardScaler(), MinMaxScaler()),
        "splines": (SplineTransformer(),),
    }.items():
        for own in (None, np.linspace(1.0, 3.0, 30)):
            made = FittedColumns.of(steps, levels, X[:30], own)
            scales = made.scales()
            RECORD.check(
                f"columns: {name}, {own is None}",
                [shown(made.transform(X)), None if scales is None else np.nan_to_num(scales)],
            )
    only = FittedColumns.of((), levels[[1, 3]], X[:30, [1, 3]], None)
    RECORD.check(
        "columns: categories only", [shown(only.transform(X[:, [1, 3]])), np.nan_to_num(only.scales())]
    )


def test_scalers_are_scikit_learns_bit_for_bit():
    X = np.column_stack([numbers(30), 1e9 + numbers(30), np.full(30, 1.0 / 3.0), 1e-200 * numbers(30)])
    for parameters in product([True, False], repeat=2):
        step = StandardScaler(with_mean=parameters[0], with_std=parameters[1])
        for some in (X, X.astype(np.float32)):
            np.testing.assert_array_equal(fitted_scaler(step, some).transform(some), step.fit_transform(some))


@pytest.mark.parametrize("n_rows", [16, 17, 24, 40])
def test_screenings_are_on_record(n_rows):
    rng = np.random.default_rng(n_rows)
    made = np.stack(
        [numbers(n_rows), codes(n_rows, 4), np.where(np.arange(n_rows) % 5, numbers(n_rows, seed=1), np.nan)]
    )
    levels = np.array([0, 4, 0])
    outputs = np.linalg.qr(rng.normal(size=(n_rows, 2)))[0].T
    found = {}
    for name, own in {"none": None, "levels": levels}.items():
        screened = Screening.of(made, n_rows - 3, own)
        bounds = {share: screened.bounds(share, 2) for share in (0.3, 0.01)}
        found[name] = {
            "directions": shown(screened.directions),
            "starts": screened.starts,
            "free": screened.n_free,
            "bounds": [bounds[share] for share in bounds],
        }
        draws = np.stack([outputs[:, rng.permutation(n_rows)] for _ in range(8)], axis=1)
        found[name]["stands out"] = [screened.stands_out(draws, one) for one in bounds.values()]
    found["lines"] = shown(screening.lines_and_ranks(made))
    RECORD.check(f"screening: {n_rows}", found)


def test_steps_are_values_up_to_sixteen_and_eighths_beyond():
    for n_values, n_steps in ((15, 15), (16, 16), (17, 8), (40, 8)):
        column = np.arange(80.0) % n_values
        free = Screening.of(column[np.newaxis], 80).n_free
        assert free.tolist() == [1, 1, n_steps - 1]
    constant = Screening.of(np.ones((1, 9)), 9)
    assert constant.n_free.tolist() == [1, 1, 1]
    with_missing = np.where(np.arange(80) < 10, np.nan, np.arange(80.0) % 3)
    assert Screening.of(with_missing[np.newaxis], 80).n_free.tolist() == [1, 1, 3]


@pytest.mark.parametrize(("n_rows", "n_members"), [(8, 2), (12, 6), (20, 5), (60, 30), (61, 3)])
def test_bounds_of_chances_are_on_record(n_rows, n_members):
    values = tail_bound.lines_and_ranks(np.stack([numbers(n_rows), numbers(n_rows, 3)])).reshape(-1, n_rows)
    found = []
    for one in values:
        order = np.sort(one)
        totals = [order[-n_members:].sum(), order[:n_members].sum(), 0.5 * order[-n_members:].sum(), 1e-12]
        found += [log_chance(one, n_members, total) for total in totals]
    RECORD.check(f"chance: {n_rows}, {n_members}", found)


def test_the_first_rows_of_a_column_have_a_bound_and_other_orders_have_none():
    n_rows, n_members = 60, 25
    made = np.stack([np.arange(float(n_rows)), numbers(n_rows)])
    target = (np.arange(n_rows) < n_members).astype(float)
    outputs = ((target - target.mean()) / np.linalg.norm(target - target.mean()))[np.newaxis]
    contrasts = (np.arange(n_members), np.arange(n_members, n_members + 20))
    found = []
    for level in (1e-4, 1e-9):
        bound = TailBound(tail_bound.lines_and_ranks(made), contrasts, outputs, level)
        owners = np.array([0, 0, 1, 1])
        sources = np.stack(
            [np.arange(n_rows), np.arange(n_rows)[::-1], np.argsort(made[1]), np.arange(n_rows)]
        )
        found += [bound.pvalues(owners, sources), bound.least_squares]
    RECORD.check("tail bound", found)
    alone = TailBound(tail_bound.lines_and_ranks(made), contrasts[:1], outputs, 1e-4)
    (pvalue,) = alone.pvalues(owners[:1], sources[:1])
    # Two directions of values and of ranks.
    views = alone.directions[0]
    logs = [log_chance(view, n_members, view[:n_members].sum()) for view in views]
    normal = [-(view[:n_members].sum() ** 2) / (2 * n_members * 35 / (60 * 59)) for view in views]
    assert pvalue == pytest.approx(4.0 * np.exp(min(map(max, zip(logs, normal, strict=True)))), rel=1e-9)


def design_of(X, levels):
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    places = {j: slice(j, j + 1) for j in range(X.shape[1])}
    return Design(X, places, levels, levels > 0, names, names)


def splits_of(n_rows):
    test = CrossFitPPI(Ridge(), n_folds=3, n_draws=4, random_state=1)
    table = read_table(
        np.arange(2.0 * n_rows).reshape(-1, 2) % 7, numbers(n_rows), task="regression", owner=test
    )
    bound = test.bind(table)
    return bound._risks_about(table.target, is_marginal=True)[0].problem.splits


DRAWS = {
    "numbers": (lambda: np.column_stack([numbers(48), numbers(48, seed=1)]), [0, 0]),
    "missing": (
        lambda: np.column_stack([numbers(48, n_missing=6), numbers(48, n_missing=4, seed=1)]),
        [0, 0],
    ),
    "uneven": (
        lambda: np.column_stack([np.exp(2.0 * numbers(48) + numbers(48, seed=1)), numbers(48)]),
        [0, 0],
    ),
    "uneven, missing": (
        lambda: np.column_stack([np.exp(2.0 * numbers(48) + numbers(48, 0, 5, seed=1)), numbers(48)]),
        [0, 0],
    ),
    "few values": (lambda: np.column_stack([numbers(48, 10), numbers(48)]), [0, 0]),
    "large numbers": (lambda: np.column_stack([1e150 * numbers(48), numbers(48)]), [0, 0]),
    "categories": (lambda: np.column_stack([codes(48, 4), numbers(48)]), [4, 0]),
    "given categories": (lambda: np.column_stack([numbers(48), codes(48, 3)]), [0, 3]),
    "given many categories": (lambda: np.column_stack([numbers(48), codes(48, 5)]), [0, 5]),
    "given two columns of categories": (
        lambda: np.column_stack([numbers(48), codes(48, 2), codes(48, 2)[::-1]]),
        [0, 2, 2],
    ),
    "nothing": (lambda: numbers(48)[:, np.newaxis], [0]),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_of_a_column_given_others_are_on_record(name):
    make, levels = DRAWS[name]
    design, splits = design_of(make(), np.array(levels)), splits_of(48)
    found = {}
    for n_test in (16, 8):
        draws = ConditionalKnockoff(None, n_test)(design, 0)
        found[f"{n_test}"] = [type(draws).__name__, draws.is_permutation]
        found[f"{n_test}"] += [shown(np.nan_to_num(draws.values(split, 1, 4))) for split in splits]
    RECORD.check(f"draws: {name}", found)


@pytest.mark.parametrize("name", ["numbers", "missing", "categories"])
def test_draws_of_a_callers_model_are_on_record(name):
    make, levels = DRAWS[name]
    design, splits = design_of(make(), np.array(levels)), splits_of(48)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10) if name == "categories" else Ridge()
    draws = ConditionalKnockoff(model, 16, "median" if name == "missing" else None)(design, 0)
    found = [shown(np.nan_to_num(draws.values(split, 0, 2))) for split in splits for _ in range(2)]
    RECORD.check(f"draws of a model: {name}", found)


def test_several_columns_of_a_feature_are_drawn_together():
    X = np.column_stack([numbers(48), codes(48, 3), codes(48, 2), numbers(48, seed=1)])
    names = ("both", "other")
    levels = np.array([0, 3, 2, 0])
    design = Design(X, {0: slice(0, 3), 1: slice(3, 4)}, levels, levels > 0, names, tuple("abcd"))
    draws = ConditionalKnockoff(None, 16)(design, 0)
    drawn = [draws.values(split, 0, 3) for split in splits_of(48)]
    RECORD.check("draws of several columns", [shown(one) for one in drawn])
    pairs = {tuple(pair) for pair in X[:, 1:3].tolist()}
    assert all(tuple(pair) in pairs for one in drawn for pair in one[:, :, 1:].reshape(-1, 2).tolist())


def test_residuals_are_uneven_where_their_size_follows_the_prediction():
    rng = np.random.default_rng(3)
    expected, noise = rng.normal(size=80), rng.normal(size=80)
    even, uneven = (
        unevenness_of(expected + noise * size, expected) for size in (np.ones(80), np.exp(expected))
    )
    assert even < conditional_draws._UNEVEN < uneven
    RECORD.check("unevenness", [even, uneven])
    level = stats.norm.ppf((stats.rankdata(expected) - 0.5) / 80)
    spread = stats.norm.ppf((stats.rankdata(np.abs(noise)) - 0.5) / 80)
    fitted = np.polyval(np.polyfit(level, spread, 2), level)
    explained = 1.0 - ((spread - fitted) ** 2).sum() / ((spread - spread.mean()) ** 2).sum()
    assert even == pytest.approx(80 * explained, rel=1e-9)
