"""What kernels return for small problems of every kind: trees, forests, linear models, tables."""

from itertools import product

import numpy as np
import pytest
from checks.recorded import Record, shown
from scipy import sparse

from ppfs import _engine
from ppfs._engine import ForestRules, Likelihood, SortedColumns, Splits, TreeRules

RECORD = Record(__file__)
N = 28


def table(seed=0, is_gapped=False):
    """Return columns of many values, few values, mostly zeros, near ties and two values: multiples of 1/8."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            np.round(8 * rng.normal(size=N)) / 8,
            rng.integers(-2, 3, N) * 0.5,
            np.where(rng.random(N) < 0.6, 0.0, np.round(8 * rng.normal(size=N)) / 8),
            0.25 + rng.integers(-6, 7, N) * 6e-8,
            rng.random(N) < 0.3,
        ]
    )
    if is_gapped:
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:3, 4] = 1.0
    return X


def target(n_classes, X):
    rng = np.random.default_rng(n_classes)
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + 0.5 * rng.normal(size=N)
    if n_classes:
        return np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return np.round(8 * score) / 8


def folds(n_draws=1):
    rng = np.random.default_rng(9)
    parts = np.array_split(rng.permutation(N), 3)
    train = [np.setdiff1d(np.arange(N), part) for part in parts]
    draws = [np.array([rng.permutation(part.size) for _ in range(n_draws)]) for part in parts]
    return Splits.from_sequences(train, parts, [draw[0] for draw in draws]), draws


KINDS = {
    "log": (2, TreeRules(loss="log-loss")),
    "log of three": (3, TreeRules(loss="log-loss", max_depth=3)),
    "leaves of three": (2, TreeRules(loss="log-loss", min_samples_leaf=3)),
    "brier": (3, TreeRules(loss="brier", criterion="entropy")),
    "errors": (3, TreeRules(loss="zero-one", min_samples_split=7)),
    "squares": (0, TreeRules(criterion="squared_error", loss="squared")),
    "sizes": (0, TreeRules(criterion="squared_error", loss="absolute", min_samples_leaf=0.1, max_depth=2)),
}
CLASS_WEIGHTS = np.array([0.5, 2.0, 1.0])


def in_classes(weights, n_classes):
    return weights[:n_classes] if n_classes else None


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_on_single_columns_are_on_record(kind, is_sparse):
    n_classes, rules = KINDS[kind]
    X = table()
    y = target(n_classes, X)
    splits, draws = folds(2)
    columns = SortedColumns.from_sparse(sparse.csc_array(X)) if is_sparse else SortedColumns.from_dense(X)
    found = {}
    for name, weights in {"plain": None, "class weights": in_classes(CLASS_WEIGHTS, n_classes)}.items():
        prepared = _engine.prepare_columns(y, n_classes, splits, rules, weights)
        found[f"{name}: risks"] = [shown(one) for one in _engine.prepared_column_risks(columns, prepared)]
        drawn = _engine.make_draws(splits, draws)
        by_row = _engine.prepared_column_row_losses(columns, prepared, drawn)
        found[f"{name}: rows"] = [shown(one) for one in by_row]
        if n_classes:
            few = _engine.few_column_risks(columns, y, n_classes, splits, rules, weights)
            found[f"{name}: few"] = [shown(one) for one in few]
    RECORD.check(f"single trees: {kind}, {is_sparse}", found)


@pytest.mark.parametrize("is_gapped", [False, True], ids=["", "gaps"])
@pytest.mark.parametrize("kind", KINDS)
def test_weighted_trees_on_single_columns_are_on_record(kind, is_gapped):
    n_classes, rules = KINDS[kind]
    X = table(1, is_gapped)
    y = target(n_classes, X)
    rng = np.random.default_rng(5)
    weights = rng.integers(0, 4, (2, N)) / 2.0
    weights[:, 20:] = 0.0
    weights[:, 0] = 1.0
    order = _engine.order_columns(X)
    tested = np.arange(15, N)
    predicted = _engine.tree_predictions(order, y, n_classes, weights, 20, tested, rules)
    RECORD.check(f"weighted trees: {kind}, {is_gapped}", shown(predicted))


def forest_shown(forest, splits, X):
    every = list(range(X.shape[1]))
    rng = np.random.default_rng(3)
    values = [
        np.ascontiguousarray(
            np.stack([[rng.permutation(X[test, j]) for _ in range(2)] for j in (0, 2)]).astype(np.float32)
        )
        for test in splits.test
    ]
    active = [column for column in every if forest.active[column]]
    return {
        "used": forest.used,
        "idle": forest.are_idle(slice(None)),
        "base": forest.base_risk,
        "permuted": shown(forest.permuted_risk(active)),
        "jointly": [shown(forest.jointly_permuted_risk(some)) for some in (active[:2], active)],
        "rows": [shown(one) for one in forest.row_losses()],
        "replaced": [shown(one) for one in forest.replaced_row_losses([0, 2], values)],
        "predicted": [shown(one) for one in forest.replaced_predictions([0, 2], values)],
        "ahead": forest.most_ahead,
        "fits": forest.n_fits,
    }


@pytest.mark.parametrize("way", ["dense", "sparse", "class weights", "row weights", "gaps"])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_on_several_columns_are_on_record(kind, way):
    n_classes, rules = KINDS[kind]
    X = table(2, way == "gaps")
    y = target(n_classes, X)
    splits, _ = folds()
    if way == "sparse":
        columns = SortedColumns.from_sparse(sparse.csc_array(X))
    else:
        columns = SortedColumns.from_dense(X, has_missing=way == "gaps")
    weights = in_classes(CLASS_WEIGHTS, n_classes) if way == "class weights" else None
    by_row = 0.5 * (1.0 + np.arange(N) % 4) if way == "row weights" else np.ones(N) if way == "gaps" else None
    loss_weights = by_row if way == "row weights" else None
    forest = _engine.grow_tree_per_split(
        columns, y, n_classes, splits, rules, 1, weights, by_row, loss_weights
    )
    found = {"whole": forest_shown(forest, splits, X)}
    fewer, n_refits = forest.without(1)
    found["without one"] = {**forest_shown(fewer, splits, X), "refits": n_refits}
    later = [(shown(one.base_risk), n) for one, n in forest.without_each([3, 4, 1])]
    found["without each"] = [[*part, n] for part, n in later]
    RECORD.check(f"trees: {kind}, {way}", found)


FORESTS = [
    ("log", "bags"),
    ("log of three", "bags"),
    ("brier", "bags"),
    ("errors", "drawn"),
    ("squares", "bags"),
    ("sizes", "drawn"),
    ("log", "drawn"),
    ("log", "gaps"),
    ("squares", "gaps"),
    ("log of three", "class weights"),
    ("squares", "row weights"),
]


@pytest.mark.parametrize(("kind", "way"), FORESTS)
def test_forests_are_on_record(kind, way):
    n_classes, rules = KINDS[kind]
    X = table(4, way == "gaps")
    y = target(n_classes, X)
    splits, draws = folds(2)
    rng = np.random.default_rng(6)
    samples = [
        np.array([np.bincount(rng.integers(0, part.size, part.size), minlength=part.size) for _ in range(3)])
        for part in splits.train
    ]
    keys = np.arange(9, dtype=np.uint64).reshape(3, 3) * np.uint64(977)
    is_drawn = way == "drawn"
    prepared = _engine.prepare_forest(
        y,
        n_classes,
        splits,
        rules,
        samples,
        keys if is_drawn else None,
        in_classes(CLASS_WEIGHTS, n_classes) if way == "class weights" else None,
        0.5 + np.arange(N) % 3 if way == "row weights" else None,
        np.ones(N) if way == "gaps" else None,
    )
    columns = SortedColumns.from_dense(X, has_missing=way == "gaps")
    found = {}
    if way != "gaps":
        found["risks"] = [shown(one) for one in _engine.prepared_forest_risks(columns, prepared)]
        other = Splits.from_sequences(splits.train, splits.test, [draw[1] for draw in draws])
        again = _engine.prepared_forest_risks(columns, _engine.with_permutations(prepared, other))
        found["other draws"] = [shown(one) for one in again]
        drawn = _engine.make_draws(splits, draws)
        found["rows"] = [shown(one) for one in _engine.prepared_forest_row_losses(columns, prepared, drawn)]
    for n_tried in (2, 5):
        forest = _engine.grow_forest_per_split(
            columns, prepared, ForestRules(lambda n, most=n_tried: min(n, most), keys, is_drawn), 1
        )
        found[f"{n_tried} tried"] = forest_shown(forest, splits, X)
        found[f"{n_tried} tried, fewer"] = forest_shown(forest.without(0)[0], splits, X)
        later = [(one.base_risk, n) for one, n in forest.without_each([3, 4, 1])]
        found[f"{n_tried} tried, fewer and fewer"] = [[shown(risk), n] for risk, n in later]
    RECORD.check(f"forest: {kind}, {way}", found)


def regressors(n_regressors, n_columns=3):
    rng = np.random.default_rng([n_regressors, n_columns])
    return rng.normal(size=(n_regressors, N, n_columns)) + 0.5


@pytest.mark.parametrize("n_regressors", [1, 3])
@pytest.mark.parametrize(("penalty", "has_intercept"), [*product([0.0, 2.0], [True, False])])
def test_least_squares_are_on_record(n_regressors, penalty, has_intercept):
    X = regressors(n_regressors)
    X[:, :, 1] = X[:1, :, 0]  # Columns that depend on each other.
    weights, y = np.random.default_rng(1).uniform(0.2, 2.0, N), target(0, table())
    several = _engine.ridge_columns(X, weights, y, penalty, has_intercept)
    found = {"several": [shown(np.nan_to_num(np.asarray(one, dtype=float))) for one in several]}
    X[0, :, 2] = 1.0 / 3.0
    lines = _engine.line_columns(np.ascontiguousarray(X[0]), weights, y, penalty, has_intercept)
    found["lines"] = [shown(one) for one in lines]
    design = np.ascontiguousarray(X[:, :, 0])
    gram = _engine.products(design)
    solution = np.empty(n_regressors)
    found["products"] = [shown(gram), shown(_engine.row_products(design[:, :9]))]
    found["ridge"] = [_engine.solve_ridge(design, gram, y, penalty + 0.1, solution), shown(solution)]
    found["symmetric"] = [_engine.solve_symmetric(gram, design @ y, penalty + 0.1, solution), shown(solution)]
    RECORD.check(f"least squares: {n_regressors}, {penalty}, {has_intercept}", found)


@pytest.mark.parametrize(
    ("sizes", "squares", "is_positive"), [*product([0.0, 2.0, 50.0], [0.0, 3.0], [True, False])]
)
def test_elastic_nets_are_on_record(sizes, squares, is_positive):
    X = regressors(5)[:, :, 0]
    X[3] = X[0] + 0.3 * X[3]
    X[4] = 0.0
    y = X[0] - X[1] + 0.2 * target(0, table())
    solution = np.empty(5)
    _engine.solve_elastic_net(X @ X.T, X @ y, squares, sizes, is_positive, solution)
    pull = X @ (y - X.T @ solution) - squares * solution
    for own, force in zip(solution[:4], pull[:4], strict=True):
        if own:
            assert force == pytest.approx(sizes * np.sign(own), abs=1e-6)
        else:
            assert force <= sizes + 1e-6
    RECORD.check(f"elastic net: {sizes}, {squares}, {is_positive}", solution[[1, 2, 4]])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("n_regressors", [1, 2])
def test_logistic_regressions_are_on_record(n_classes, has_intercept, n_regressors):
    X = regressors(n_regressors)
    X[0, :, 2] = 1.0
    classes = target(n_classes, table()).astype(np.int64)
    found = {}
    for name, weights in {
        "plain": np.empty(0),
        "weights": np.random.default_rng(1).uniform(0.2, 2.0, N),
    }.items():
        for penalty in (0.5, 20.0):
            arguments = (classes, weights, n_classes, penalty, has_intercept, n_classes > 2, 1e-13 * N)
            kernel = _engine.logistic_columns(X, *arguments)
            small = _engine.small_logistic_columns(X, *arguments)
            for one, other in zip(kernel, small, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-6)
            found[f"{name}, {penalty}"] = [np.round(one, 7) for one in kernel]
        own = weights if weights.size else np.ones(N)
        thin = _engine.sparse_logistic_columns(X, classes, own, n_classes, 2.0, 0.5, has_intercept, 1e-13 * N)
        found[f"{name}, sparse"] = [np.round(one, 7) for one in thin]
    RECORD.check(f"logistic: {n_classes}, {has_intercept}, {n_regressors}", found)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_fits_of_scores_are_on_record(n_classes, is_symmetric):
    design = np.vstack([regressors(3)[:, :, 0], np.ones((1, N))])
    classes = (np.arange(N) % n_classes).astype(np.int64)
    penalties = np.array([1.0, 0.0, 3.0, 0.0])
    start = np.full((n_classes - 1, 4), 0.1)
    for name, weights in {"plain": np.empty(0), "weights": np.linspace(0.5, 2.0, N)}.items():
        problem = Likelihood(design, classes, weights, penalties, n_classes, is_symmetric)
        theta, value = _engine.fit_scores(problem, start, 1e-13)
        RECORD.check(f"scores: {n_classes}, {is_symmetric}, {name}", [np.round(theta, 7), value])


def test_separable_classes_have_a_fit():
    X = np.linspace(-1.0, 1.0, N)[np.newaxis, :, np.newaxis]
    classes = (X[0, :, 0] > 0.1).astype(np.int64)
    for fit in (_engine.logistic_columns, _engine.small_logistic_columns):
        slopes, intercepts = fit(X, classes, np.empty(0), 2, 1e-6, True, False, 1e-12)
        RECORD.check("separable", [np.round(slopes, 4), np.round(intercepts, 4)])


@pytest.mark.parametrize("ticks", [0, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_regressions_of_survival_times_are_on_record(ticks, is_weighted):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 2))
    time, event = rng.exponential(size=N) * np.exp(-X[:, 0]), rng.random(N) < 0.7
    if ticks:
        time = np.ceil(ticks * time)
    sets = _engine.RiskSets(time, event, rng.uniform(0.5, 2.0, N) if is_weighted else None)
    found = {}
    for penalty in (0.0, 2.0):
        fit = _engine.fit_cox(X, sets, penalty)
        logs = X @ fit.coefficients
        found[f"{penalty}"] = [
            np.round(fit.coefficients, 7),
            shown(sets.martingale_residuals(logs)),
            shown(sets.cumulative_hazard(np.exp(logs))),
            sets.log_likelihood(np.exp(logs), logs),
        ]
    RECORD.check(f"survival: {ticks}, {is_weighted}", found)


@pytest.mark.parametrize(("n_knots", "degree"), [(2, 1), (3, 2), (5, 3)])
def test_splines_are_on_record(n_knots, degree):
    inner = np.linspace(-1.0, 2.0, n_knots)
    step = inner[1] - inner[0]
    before, after = (inner[0] - step * np.arange(degree, 0, -1), inner[-1] + step * np.arange(1, degree + 1))
    knots = np.concatenate([before, inner, after])
    X = np.column_stack([np.linspace(-2.0, 3.0, 21), np.r_[inner[[0, -1]], np.zeros(19)]])
    n_splines = knots.size - degree - 1
    made = _engine.spline_values(X, np.stack([knots, knots]), degree, n_splines)
    np.testing.assert_allclose(made.sum(axis=2), 1.0, rtol=1e-12)
    fewer = _engine.spline_values(X, np.stack([knots, knots]), degree, n_splines - 1)
    np.testing.assert_array_equal(fewer, made[:, :, :-1])
    RECORD.check(f"splines: {n_knots}, {degree}", [shown(made), shown(made[:, 1])])


def test_independent_rows_are_on_record():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(6, 3))
    design[4] = design[0] + design[1]
    design[5] = 1e-9 * design[2]
    for smallest in (1e-12, 1e-3):
        factor, pivots = _engine.independent_rows(design @ design.T, smallest)
        np.testing.assert_allclose(factor.T @ factor, design @ design.T, atol=1e-6)
        RECORD.check(f"independent: {smallest}", [shown(factor**2), pivots])


def test_tables_and_pairs_are_on_record():
    rng = np.random.default_rng(1)
    n_rows, widths = 50, np.array([2, 3, 4, 2, 5])
    codes = np.stack([rng.integers(0, width, n_rows) for width in widths]).astype(np.uint8)
    labels, strata = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    columns = np.array([4, 0, 2, 1, 3])
    levels = widths[columns].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(6 * levels)])
    cells = np.zeros(starts[-1], dtype=np.int64)
    _engine.count_cells(strata * 3 + labels, codes, columns, levels, starts, cells)
    k = np.arange(n_rows + 1)
    k_log_k = k * np.log(np.maximum(k, 1))
    statistics, freedom = np.empty((5, 2)), np.empty(5, dtype=np.int64)
    _engine.likelihood_ratios(cells, starts, levels, np.array([2, 1]), k_log_k, statistics, freedom)
    quarters = (codes % 4).astype(np.uint8)
    scores = np.empty((3, 5))
    own = np.array([np.unique(row).size for row in quarters])
    _engine.score_pairs(quarters, own, labels, 3, _engine.whole_k_log_k(n_rows), 1, scores)
    numbers = np.round(3 * rng.normal(size=(2, n_rows)))
    ranked, counts = np.zeros((4, n_rows), dtype=np.uint8), np.zeros(4, dtype=np.int64)
    _engine.rank_levels(numbers, numbers.min(axis=1), np.array([2, 1]), ranked, counts)
    ranks = _engine.signed_ranks(np.array([[1.0, -1.0, 0.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0, -1.0]]))
    RECORD.check(
        "tables",
        {
            "cells": shown(cells),
            "statistics": [shown(statistics), freedom],
            "pairs": np.nan_to_num(scores),
            "ranks": [shown(ranked), counts],
            "signed": [*ranks],
        },
    )


def test_permutations_and_rearranged_outputs_are_on_record():
    drawn = _engine.random_permutations(9, 12345, 4)
    outputs = np.random.default_rng(0).normal(size=(2, 9))
    RECORD.check("permutations", [drawn, shown(_engine.outputs_by_source(outputs, drawn))])
    for row in drawn:
        assert sorted(row) == list(range(9))


@pytest.mark.parametrize(
    ("rules", "n_train", "expected"),
    [
        (TreeRules(), 10, (0, 2**31 - 1, 2, 1)),
        (TreeRules(criterion="entropy", max_depth=4, min_samples_leaf=3), 10, (1, 4, 6, 3)),
        (
            TreeRules(criterion="squared_error", min_samples_split=0.35, loss="squared"),
            10,
            (2, 2**31 - 1, 4, 1),
        ),
        (TreeRules(min_samples_leaf=0.11, min_samples_split=9), 20, (0, 2**31 - 1, 9, 3)),
        (TreeRules(min_samples_split=1.0), 7, (0, 2**31 - 1, 7, 1)),
    ],
)
def test_limits_of_trees(rules, n_train, expected):
    limits = rules.limits(n_train)
    assert tuple(map(int, limits)) == expected
    assert _engine.is_exhaustive(limits) == (expected[1:] == (2**31 - 1, 2, 1))
