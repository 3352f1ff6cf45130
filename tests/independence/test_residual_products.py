"""The test by products of residuals: its parts against slow twins, its level, its power, its flags."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from reference import residual_products as twin
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._data import read_table
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.residuals import regressors
from ppfs.independence._predictive.residuals import residual_products as products_module
from ppfs.independence._predictive.residuals import smoother as smoother_module
from ppfs.independence._predictive.residuals.curves import fits_of
from ppfs.independence._predictive.residuals.functions import (
    CURVES,
    PRODUCTS,
    functions_of,
    n_smoothest,
    weights_of_products,
)
from ppfs.independence._predictive.residuals.index import Features
from ppfs.independence._predictive.residuals.regressors import GivenColumn, design_of, unit
from ppfs.independence._predictive.residuals.smoother import Smoother
from ppfs.independence._predictive.residuals.statistics import (
    ProductTest,
    predicted_rest,
)


def ask(X, y, given=None, **reading):
    others = range(1, X.shape[1]) if given is None else given
    return CrossFitPPI("panel", random_state=0).evaluate(X, y, 0, given=others, **reading)


@pytest.fixture
def parts():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(40, 2))
    design = design_of([GivenColumn.of(column, False) for column in Z.T])[:, :12]
    functions = unit(
        np.column_stack([Z[:, 0] + rng.normal(size=40), rng.normal(size=40), rng.exponential(size=40)])
    )
    output = Z[:, 0] + functions[:, 1] + rng.normal(size=40)
    return design, output - output.mean(), functions


def test_products_less_their_mean_have_students_test(parts):
    design, output, functions = parts
    smoother = Smoother(design, np.ones(40))
    target, function = smoother.residuals(output[:, np.newaxis]), smoother.residuals(functions[:, 1:2])
    found = ProductTest(target, smoother, None, is_centered=True).of(function)
    products = target.values[:, 0] * function.values[:, 0]
    inflation = smoother.inflation(int(target.penalties[0]), int(function.penalties[0]))
    plain = products.sum() / np.sqrt((products**2).sum() * inflation)
    assert found.statistic == pytest.approx(abs(plain) / np.sqrt((40 - plain**2) / 39))
    assert found.pvalue < ProductTest(target, smoother, None).of(function).pvalue


@pytest.mark.parametrize("n_functions", [1, 2, 3])
def test_the_pvalue_is_that_of_hat_matrices_and_refits(parts, n_functions):
    design, output, functions = parts
    smoother = Smoother(design, np.ones(40))
    target = smoother.residuals(output[:, np.newaxis])
    ours = ProductTest(target, smoother, None).of(smoother.residuals(functions[:, :n_functions]))
    if n_functions * 10 <= smoother.freedom(int(target.penalties[0])):
        assert ours.pvalue == pytest.approx(
            twin.pvalue_of(design, output, functions[:, :n_functions]), rel=1e-6
        )
    else:
        each = [
            twin.pvalue_of(design, output, function[:, np.newaxis]) for function in functions.T[:n_functions]
        ]
        assert min(each) <= ours.pvalue <= n_functions * min(each) + 1e-12


def test_the_smoothest_curve_is_tested_by_itself_and_with_the_others(parts):
    design, output, functions = parts
    smoother = Smoother(design, np.ones(40))
    target, curves = smoother.residuals(output[:, np.newaxis]), smoother.residuals(functions)
    test = ProductTest(target, smoother, None)
    alone, every = test.of(curves.some(slice(1))), test.of(curves)
    mean = 0.8 / np.tan(np.pi * alone.pvalue) + 0.2 / np.tan(np.pi * every.pvalue)
    found = test.smoothest_first(curves, 1)
    assert found.pvalue == pytest.approx(0.5 - np.arctan(mean) / np.pi)
    assert found.statistic == (alone if alone.pvalue <= every.pvalue else every).statistic
    for n_first in (0, 3):
        assert test.smoothest_first(curves, n_first) == every


def test_products_are_tested_one_by_one(parts):
    design, output, functions = parts
    smoother = Smoother(design, np.ones(40))
    target, products = smoother.residuals(output[:, np.newaxis]), smoother.residuals(functions)
    test = ProductTest(target, smoother, None)
    singles = np.array([test.of(products.some(slice(i, i + 1))).pvalue for i in range(3)])
    weights = np.array([5.0, 1.0, 2.0])
    mean = weights @ (1.0 / np.tan(np.pi * singles)) / 8.0
    found = test.one_by_one(products, weights)
    assert found.pvalue == pytest.approx(0.5 - np.arctan(mean) / np.pi)
    every = test.of(products)
    assert (found.statistic, found.n_directions) == (every.statistic, every.n_directions)


def test_products_with_columns_that_the_target_depends_on_weigh_more():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 3))
    given = [GivenColumn.of(column, False) for column in Z.T]
    output = Z[:, 0] + 0.05 * Z[:, 1] + rng.normal(size=400)
    output = (output - output.mean())[:, np.newaxis]
    weights = weights_of_products(6, given, output, np.ones(400))
    scores = np.hstack([column.factors for column in given])
    correlations = np.corrcoef(output[:, 0], scores.T)[0, 1:]
    np.testing.assert_allclose(weights, np.tile(np.minimum(1 + 400 * correlations**2, 5.0), 2))
    assert weights[0] == 5.0 > weights[1]
    # Their places are those of the products, which stay where a column of x is constant.
    columns = [(np.ones(400), False), (Z[:, 2] + rng.normal(size=400), False)]
    assert dict(functions_of(columns, given))[PRODUCTS].shape[1] == 6


def test_curves_begin_with_the_smoothest_of_each_column():
    rng = np.random.default_rng(0)
    columns = [(rng.normal(size=50), False), (rng.integers(0, 4, size=50).astype(float), False)]
    columns += [
        (rng.integers(0, 2, size=50).astype(float), False),
        (rng.integers(0, 3, size=50).astype(float), True),
    ]
    assert n_smoothest(columns) == 2
    given = [GivenColumn.of(rng.normal(size=50), False)]
    curves = dict(functions_of(columns, given))[CURVES]
    for number in range(2):
        own = dict(functions_of([columns[number]], given))[CURVES]
        np.testing.assert_array_equal(curves[:, number], own[:, 0])
    # With four values there are two curves beside the line, and with three there is one.
    assert curves.shape[1] == 3 + 2


def test_penalties_are_those_of_left_out_rows(parts):
    design, output, functions = parts
    responses = np.column_stack([output, functions])
    residuals = Smoother(design, np.ones(40)).residuals(responses)
    chosen = [twin.penalty_of(design, response) for response in responses.T]
    np.testing.assert_allclose(twin.PENALTIES[residuals.penalties], chosen)
    for column, penalty in enumerate(chosen):
        left = responses[:, column] - twin.hat(design, penalty) @ responses[:, column]
        np.testing.assert_allclose(residuals.values[:, column], left - left.mean(), atol=1e-8)


def test_where_rows_belong_to_groups_whole_groups_are_left_out(parts):
    design, output, functions = parts
    groups = np.random.default_rng(1).permutation(np.arange(40) % 15)
    smoother = Smoother(design, np.ones(40), groups)
    responses = np.column_stack([output, functions])
    residuals = smoother.residuals(responses)
    folds = groups * 5 // 15
    for column, response in enumerate(responses.T):
        errors = [twin.left_out_error(design, response, penalty, folds) for penalty in twin.PENALTIES]
        assert residuals.penalties[column] == max(int(np.argmin(errors)) - 1, 0)
        assert residuals.explained[column] == pytest.approx(1 - min(errors) / (response @ response), abs=1e-5)
    penalty = int(residuals.penalties[0])
    for function in residuals.values[:, 1:].T:
        expected = twin.group_inflation(design, twin.PENALTIES[penalty], function, groups)
        assert smoother.group_inflation(penalty, function) == pytest.approx(expected, rel=1e-6)


def test_curves_of_tall_tables_are_made_again_and_are_the_same(monkeypatch):
    column = np.random.default_rng(0).normal(size=300)
    kept = [GivenColumn.of(column, False).curves(most) for most in (0, 1, 2, 5, 20)]
    monkeypatch.setattr(regressors, "_MOST_KEPT", 100)
    again = [GivenColumn.of(column, False).curves(most) for most in (0, 1, 2, 5, 20)]
    assert [part.shape[1] for part in again] == [0, 0, 2, 5, 9]
    for one, other in zip(kept, again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_regressors", [3, 30])
def test_every_fifth_row_is_predicted_by_the_others(parts, n_regressors):
    # Of eight rows in a block: by a matrix of the size of the design, or of the block.
    design, output, _ = parts
    wide = np.hstack([design, np.random.default_rng(0).normal(size=(40, 30))])[:, :n_regressors]
    smoother = Smoother(wide, np.ones(40))
    residuals = smoother.residuals(output[:, np.newaxis])
    left_out = smoother.left_out(residuals)
    error = twin.left_out_error(wide, output, twin.PENALTIES[residuals.penalties[0]], np.arange(40) % 5)
    assert left_out @ left_out == pytest.approx(error, rel=1e-5)


def test_more_regressors_than_rows_give_the_same_residuals_as_their_gram_matrix(parts):
    design, output, _ = parts
    rng = np.random.default_rng(0)
    wide = np.hstack([design, rng.normal(size=(40, 60))])
    residuals = Smoother(wide, np.ones(40)).residuals(output[:, np.newaxis])
    left = output - twin.hat(wide, twin.PENALTIES[residuals.penalties[0]]) @ output
    np.testing.assert_allclose(residuals.values[:, 0], left - left.mean(), atol=1e-6)


def test_whole_weights_are_repeated_rows(parts):
    design, output, _ = parts
    counts = np.arange(40) % 3 + 1
    roots = np.sqrt(counts)
    mean = counts @ output / counts.sum()
    weighted = Smoother(design, roots).residuals(((output - mean) * roots)[:, np.newaxis])
    repeated = twin.hat(np.repeat(design, counts, axis=0), twin.PENALTIES[weighted.penalties[0]])
    response = np.repeat(output - mean, counts)
    left = (response - repeated @ response)[np.append(0, np.cumsum(counts)[:-1])]
    np.testing.assert_allclose(weighted.values[:, 0] / roots, left, atol=1e-8)


def test_a_row_is_predicted_by_the_others(parts):
    _, output, functions = parts
    _, left_out = predicted_rest(output[:, np.newaxis], functions)
    others = np.arange(40) != 7
    slopes = np.linalg.lstsq(functions[others], output[others], rcond=None)[0]
    assert left_out[7, 0] == pytest.approx(functions[7] @ slopes)


def _product(rng, n):
    z = rng.normal(size=(n, 2))
    m = z[:, 0] * z[:, 1]
    return np.column_stack([m + 0.5 * rng.normal(size=n), z]), m + rng.normal(size=n)


def _spread(rng, n):
    z = rng.normal(size=(n, 2))
    return np.column_stack([np.exp(z[:, 0]) * rng.normal(size=n), z]), np.exp(0.7 * z[:, 0]) * rng.normal(
        size=n
    )


def _near_copy(rng, n):
    z = rng.normal(size=(n, 2))
    y = np.sin(3 * z[:, 0]) + z[:, 1] + 0.5 * rng.normal(size=n)
    return np.column_stack([z[:, 0] + 0.14 * rng.normal(size=n), z]), y


def _classes(rng, n):
    z = rng.normal(size=(n, 2))
    p = 1 / (1 + np.exp(-3 * z[:, 0] * z[:, 1]))
    return np.column_stack([rng.random(n) < p, z]).astype(float), rng.random(n) < p


def _sign(rng, n):
    z = rng.normal(size=(n, 2))
    m = np.sign(z[:, 0] * z[:, 1])
    return np.column_stack([m + 0.5 * rng.normal(size=n), z]), m + rng.normal(size=n)


@pytest.mark.parametrize("draw", [_product, _spread, _near_copy, _classes], ids=lambda draw: draw.__name__)
def test_columns_that_only_share_causes_are_seldom_called(draw):
    """5 % of 40 tables are called by chance, 7 or more with a probability of 0.3 %."""
    pvalues = [ask(*draw(np.random.default_rng([9, i]), 300)).pvalue for i in range(40)]
    assert sum(pvalue <= 0.05 for pvalue in pvalues) <= 6


def test_what_both_models_missed_is_marked_and_said():
    X, y = _sign(np.random.default_rng(0), 300)
    answer = ask(X, y)
    assert answer.may_be_too_small
    selector = PPFS.calibrated(random_state=0).fit(X, y)
    steps = list(selector.trace_)
    for feature in {step.feature for step in steps}:
        is_marked = any(step.is_doubtful for step in steps if step.feature == feature)
        assert is_marked == ("may be too small" in selector.trace_.explain(feature))


@pytest.mark.parametrize("draw", [_product, _near_copy], ids=lambda draw: draw.__name__)
def test_what_the_models_express_is_not_marked(draw):
    marked = [ask(*draw(np.random.default_rng([8, i]), 300)).may_be_too_small for i in range(20)]
    assert sum(marked) <= 1


def test_the_answer_says_how_much_the_others_explain():
    rng = np.random.default_rng(0)
    z = rng.normal(size=2000)
    X = np.column_stack([z + rng.normal(size=2000), z])
    target, feature = ask(X, 2 * z + rng.normal(size=2000)).explained
    assert target == pytest.approx(0.8, abs=0.03)
    assert feature == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("link", "member"),
    [
        (lambda x, z: 0.6 * x, 0),
        (lambda x, z: 0.6 * x**2, 1),
        (lambda x, z: 0.6 * x * z, 2),
    ],
    ids=["line", "curve", "product"],
)
def test_each_member_finds_what_it_is_for(link, member):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    answer = ask(X, X[:, 2] + link(X[:, 0], X[:, 1]) + rng.normal(size=300))
    assert answer.pvalue < 0.001
    assert int(np.argmin(answer.model_pvalues)) == member


def test_the_effect_is_the_rise_in_risk_of_an_exchanged_column():
    """A slope b and a residual variance v of x given the others: the squared error rises by 2 b b v."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=20_000)
    x = z + rng.normal(size=20_000)
    answer = ask(np.column_stack([x, z]), 0.5 * x + z + rng.normal(size=20_000))
    assert answer.effect == pytest.approx(2 * 0.25, rel=0.05)


@pytest.mark.parametrize("loss", ["log-loss", "zero-one", "brier"])
def test_the_effect_is_measured_by_the_loss_that_was_asked_for(loss):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=400) > 0
    test = CrossFitPPI("panel", loss=loss, random_state=0)
    useful, useless = (test.evaluate(X, y, x, given=given) for x, given in ((0, [1, 2]), (2, [0, 1])))
    assert useful.effect > 0.1 > abs(useless.effect)


def test_answers_do_not_depend_on_order_batches_or_units():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=150)
    test = CrossFitPPI("panel", random_state=0)
    table = PPFS.calibrated(random_state=0)
    first = test.evaluate(X, y, 0, given=[1, 2, 3, 4])
    assert test.evaluate(X[:, ::-1], y, 4, given=[3, 2, 1, 0]) == first
    scaled = test.evaluate(X * [1e6, 1e-6, 1, 1024, 1], y, 0, given=[1, 2, 3, 4])
    assert scaled.pvalue == pytest.approx(first.pvalue, rel=1e-6)
    one, two = (table.set_params(n_jobs=n).fit(X, y).pvalues_.copy() for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_the_same_question_asked_in_a_batch_has_the_same_answer():
    from ppfs._data import read_table

    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 6))
    y = X[:, :3].sum(axis=1) + rng.normal(size=120)
    test = CrossFitPPI("panel", random_state=0)
    together = test.bind(read_table(X, y, task="auto", owner="a test")).query_many(range(6), 6, range(6))
    alone = [test.evaluate(X, y, x, given=[o for o in range(6) if o != x]) for x in range(6)]
    assert together == alone


@pytest.mark.parametrize(
    "kind", ["category", "missing", "sparse", "outputs", "weights", "groups", "feature groups"]
)
def test_every_kind_of_table_is_served(kind):
    rng = np.random.default_rng(7)
    n = 200
    z = rng.normal(size=(n, 2))
    x = z[:, 0] + rng.normal(size=n)
    X, y, extra = np.column_stack([x, z]), 2 * x + z[:, 0] + rng.normal(size=n), {}
    if kind == "category":
        X = pd.DataFrame(X, columns=["x", "a", "b"])
        X["x"] = pd.cut(X["x"], [-np.inf, -1, 0, 1, np.inf], labels=list("abcd"))
    elif kind == "missing":
        X[rng.random((n, 3)) < 0.2] = np.nan
    elif kind == "sparse":
        X = sp.csr_array(np.where(rng.random((n, 3)) < 0.5, X, 0.0))
        y = 2 * X.toarray()[:, 0] + rng.normal(size=n)
    elif kind == "outputs":
        y = np.column_stack([y, rng.normal(size=n)])
    elif kind == "weights":
        extra = {"sample_weight": rng.exponential(size=n)}
    elif kind == "groups":
        extra = {"groups": np.repeat(np.arange(50), 4)}
    if kind == "feature groups":
        selector = PPFS.calibrated(feature_groups={"x": [0, 1], "z": [2]}, random_state=0).fit(X, y)
        assert 0 in selector.blanket_
        return
    answer = ask(X, y, given=["a", "b"] if kind == "category" else None, **extra)
    assert answer.pvalue < 1e-4
    assert answer.effect > 0


def test_rows_of_a_group_count_as_one():
    rng = np.random.default_rng(8)
    n_groups, calls = 40, {"alone": 0, "groups": 0}
    for _ in range(30):
        groups = np.repeat(np.arange(n_groups), 5)
        shared = rng.normal(size=(2, n_groups))[:, groups]
        X = np.column_stack([shared[0] + 0.3 * rng.normal(size=200), rng.normal(size=200)])
        y = shared[1] + 0.3 * rng.normal(size=200)
        calls["alone"] += ask(X, y).pvalue <= 0.05
        calls["groups"] += ask(X, y, groups=groups).pvalue <= 0.05
    assert calls["groups"] <= 5 < calls["alone"]


def test_columns_that_are_the_same_in_all_rows_of_a_group_hold_the_level():
    """100 patients with five rows each: curves and products of three columns could fit what a patient's rows share."""
    n_calls, groups = 0, np.repeat(np.arange(100), 5)
    for seed in range(20):
        rng = np.random.default_rng([seed, 7])
        z = rng.normal(size=(100, 3))
        x, y = 0.6 * z[:, 0] + 0.8 * rng.normal(size=100), 0.7 * z[:, 0] + rng.normal(size=100)
        X, y = np.column_stack([x, z])[groups], y[groups] + 0.5 * rng.normal(size=500)
        n_calls += ask(X, y, groups=groups).pvalue <= 0.05
    # 18 of these 20 tables had p <= .05 when rows were left out one by one.
    assert n_calls <= 4


def _centers(seed, n_given, adds):
    """Return columns around the centers of three classes; x adds to the others, or follows two of them."""
    rng = np.random.default_rng([seed, 200, 77])
    y = rng.permutation(np.arange(200) % 3)
    X = rng.normal(size=(3, n_given + 1))[y] * 5 / np.sqrt(10) + rng.normal(size=(200, n_given + 1))
    if not adds:
        X[:, 0] = X[:, 1] + np.sin(X[:, 2]) + rng.normal(size=200)
    return X, y


def test_a_column_adds_to_others_that_nearly_separate_the_classes():
    """Fits to the rows themselves would equal the classes, and nothing would be left to explain."""
    pvalues = [ask(*_centers(seed, 3, True)).pvalue for seed in range(20)]
    assert sum(pvalue <= 0.05 for pvalue in pvalues) >= 10


def test_columns_that_follow_others_that_separate_the_classes_are_seldom_called():
    """5 % of 20 tables are called by chance, 5 or more with a probability of 0.3 %."""
    pvalues = [ask(*_centers(seed, 10, False)).pvalue for seed in range(20)]
    assert sum(pvalue <= 0.05 for pvalue in pvalues) <= 4


@pytest.mark.parametrize("model", ["panel", DecisionTreeClassifier(max_depth=3)], ids=["panel", "tree"])
def test_threads_change_neither_answers_nor_the_number_of_fits(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 9))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=90) > 0).astype(int)
    table = read_table(X, y, task="classification", owner=PPFS())
    found = []
    for n_jobs in (1, 2, 5):
        bound = CrossFitPPI(model, random_state=0, n_jobs=n_jobs).bind(table)
        n_fits, answers = [], []
        # Columns outside of the given ones, these themselves, and again outside of what is left.
        for xs, given in ((range(3, 9), range(3)), (range(4), range(4)), ((5, 6), range(3))):
            answers += bound.query_many(xs, table.target, given)
            n_fits.append(bound.n_fits)
        found.append((answers, n_fits))
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_questions_have_no_more_threads_than_are_of_use(monkeypatch):
    """They are small steps of NumPy, which hold the interpreter's lock."""
    used = []

    def noted(function, tasks, n_jobs, on_threads, *, are_forked):
        used.append((n_jobs, are_forked))
        return [function(task) for task in tasks]

    monkeypatch.setattr(products_module, "run_python_tasks", noted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    table = read_table(X, (X[:, 0] > 0).astype(int), task="classification", owner=PPFS())
    for n_jobs, may_be_copied in ((3, False), (30, False), (30, True)):
        monkeypatch.setattr(products_module, "can_fork", lambda *_, may=may_be_copied: may)
        CrossFitPPI("panel", random_state=0, n_jobs=n_jobs).bind(table).query_many([0], table.target, [1, 2])
    loss = lambda truth, probabilities: (truth != 0).astype(float)  # noqa: E731
    test = CrossFitPPI("panel", random_state=0, n_jobs=30, loss=loss)
    test.bind(table).query_many([0], table.target, [1, 2])
    assert used == [(3, False), (8, False), (30, True), (8, False)]


def test_regressions_that_a_copy_of_the_process_made_are_made_again_and_counted_once(monkeypatch):
    def sent(function, tasks, n_jobs, on_threads, *, are_forked):
        # A copy has what another process would get.
        return [copy(function(task)) for task in tasks]

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    table = read_table(X, (X[:, 0] > 0).astype(int), task="classification", owner=PPFS())
    found = []
    for run in (products_module.run_python_tasks, sent):
        monkeypatch.setattr(products_module, "run_python_tasks", run)
        bound = CrossFitPPI("panel", random_state=0).bind(table)
        asked = [([2], [0, 1, 2]), ([3], [0, 1]), ([2, 3], [0, 1]), ([0], [0, 1, 2])]
        found.append([(bound.query_many(xs, table.target, given), bound.n_fits) for xs, given in asked])
    assert found[0] == found[1]


def test_rows_in_blocks_give_the_same_regressions(parts, monkeypatch):
    design, output, functions = parts
    whole = Smoother(design, np.ones(40))
    monkeypatch.setattr(smoother_module, "_ROWS_AT_ONCE", 9)
    # A design in parts is not put together then.
    blocks = Smoother([design[:, :2], design[:, 2:]], np.ones(40))
    for responses in (output[:, np.newaxis], functions):
        one, other = whole.residuals(responses), blocks.residuals(responses)
        np.testing.assert_allclose(other.values, one.values, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(other.penalties, one.penalties)
        np.testing.assert_allclose(other.explained, one.explained, atol=1e-10)
        given = np.arange(responses.shape[1]) % 3 + 4
        one, other = whole.residuals(responses, given), blocks.residuals(responses, given)
        np.testing.assert_allclose(other.values, one.values, rtol=0, atol=1e-10)
        np.testing.assert_allclose(other.explained, one.explained, atol=1e-10)
    assert blocks.inflation(3, 5) == pytest.approx(whole.inflation(3, 5), rel=1e-9)


def test_a_design_without_directions_leaves_the_response_as_it_is():
    responses = np.random.default_rng(0).normal(size=(40, 2))
    responses -= responses.mean(axis=0)
    residuals = Smoother(np.zeros((40, 1)), np.ones(40)).residuals(responses)
    np.testing.assert_array_equal(residuals.values, responses)


@pytest.mark.parametrize("n_columns", [5, 24, 90])
@pytest.mark.parametrize("block", [None, 2])
def test_both_systems_of_ridge_regression_agree(n_columns, block):
    rng = np.random.default_rng(0)
    values, response = rng.normal(size=(30, n_columns)), rng.normal(size=30)
    seen = np.arange(30) % 5 != (5 if block is None else block)
    slopes = rng.normal(size=30)
    slopes[:3] = 0.0
    features, fits = Features(values), fits_of(30, (block,))
    for of_rows, penalty in ((None, 0.03 * seen.sum()), (slopes, None)):
        design = values[seen] * (1.0 if of_rows is None else of_rows[seen, np.newaxis])
        penalty = penalty or 0.03 * (design**2).sum() / n_columns
        normal = design.T @ design + penalty * np.eye(n_columns)
        expected = values @ np.linalg.solve(normal, design.T @ response[seen])
        for _ in range(2):
            if of_rows is None:
                [found] = features.predicted(response, fits)
            else:
                [found] = features.changes(
                    np.where(seen, response, 0.0)[np.newaxis], of_rows[np.newaxis], fits
                )
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
