"""What boosting returns for small problems of every kind: on single columns and on several, from lines or constants."""

from dataclasses import replace

import numpy as np
import pytest
from checks.recorded import Record, shown

from engine.boosting_problems import make_problem
from ppfs import _engine
from ppfs._engine import BoostingRules, bin_columns, boosted_column_losses, grow_models
from ppfs._engine.boosting.rules import Kind

RECORD = Record(__file__)
N = 40

# Number of classes, what is reduced, loss, parameters.
KINDS = {
    "numbers": (0, "squared_error", "squared", {}),
    "sizes": (0, "squared_error", "absolute", {"max_leaf_nodes": 3, "l2_regularization": 1.5}),
    "counts": (0, "poisson", "poisson-deviance", {"max_depth": 2}),
    "amounts": (0, "gamma", "gamma-deviance", {"max_bins": 5}),
    "two": (2, "squared_error", "log-loss", {"max_leaf_nodes": None}),
    "two, few bins": (2, "squared_error", "brier", {"max_bins": 3, "max_depth": 1}),
    "three": (3, "squared_error", "log-loss", {}),
    "three, errors": (3, "squared_error", "zero-one", {"max_depth": 2, "learning_rate": 0.9}),
}


def problem_of(kind, *, missing=0.0, is_weighted=False, is_by_row=False, weights=None, quantiles=None):
    n_classes, reduces, loss, parameters = KINDS[kind]
    made = make_problem(
        3,
        N,
        n_classes,
        missing=missing,
        is_weighted=is_weighted,
        reduces=reduces,
        **{"max_iter": 4, "min_samples_leaf": 4, "learning_rate": 0.3, **parameters},
    )
    # Processors differ in the last bit of exp.
    made = replace(made, X=np.round(made.X, 6), y=made.y if n_classes else np.round(made.y, 6))
    rules = BoostingRules(
        **made.parameters, quantiles=quantiles or "averaged_inverted_cdf", loss=loss, reduces=reduces
    )
    prepared = _engine.prepare_boosting(
        made.y,
        n_classes,
        made.train,
        made.test,
        made.draws,
        rules,
        weights,
        is_by_row=is_by_row,
        fit_weights=made.weights,
    )
    return made, prepared


def outcome_shown(outcome):
    return [shown(one) for one in outcome]


WAYS = {
    "plain": {},
    "rows": {"is_by_row": True},
    "missing": {"missing": 0.2},
    "weights": {"is_weighted": True, "weights": 0.5 + np.arange(N) % 3},
    "missing rows with weights": {"missing": 0.2, "is_weighted": True, "is_by_row": True},
    "midpoints": {"quantiles": "linear"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_boosting_on_single_columns_is_on_record(kind, way):
    made, prepared = problem_of(kind, **WAYS[way])
    found = {"constant": outcome_shown(boosted_column_losses(made.X, prepared))}
    if KINDS[kind][1] != "squared_error":
        RECORD.check(f"single: {kind}, {way}", found)
        return
    lines = _engine.fit_lines(made.X, prepared, 2.0)
    found["lines"] = shown(lines)
    found["from lines"] = outcome_shown(boosted_column_losses(made.X, prepared, lines))
    if KINDS[kind][0] < 3 and way in ("plain", "rows"):
        small = _engine.fit_lines(made.X, prepared, 2.0, is_small=True)
        np.testing.assert_allclose(small, lines, rtol=1e-6, atol=1e-9)
        if made.parameters.get("max_leaf_nodes", 31) is None:
            found["small"] = outcome_shown(boosted_column_losses(made.X, prepared, small, is_small=True))
    RECORD.check(f"single: {kind}, {way}", found)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_boosting_on_several_columns_is_on_record(kind, way):
    made, prepared = problem_of(kind, **WAYS[way])
    X = made.X.copy()
    # The second column holds categories.
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, np.rint(2.0 * X[:, 1]) % 3.0)
    models = grow_models(bin_columns(X, prepared, [False, True, False]), prepared)
    values = [X[test[draws]].transpose(2, 0, 1) for test, draws in zip(made.test, made.draws, strict=True)]
    fewer, n_grown = models.without([2])
    found = {
        "used": models.used,
        "base": outcome_shown(models.base()),
        "replaced": outcome_shown(models.replaced([0], [one[:1] for one in values])),
        "both": outcome_shown(models.replaced([0, 1], [one[:2] for one in values])),
        "draws": shown(models.replaced_by_draw([1], [one[1:2] for one in values])),
        "predicted": shown(models.predictions([1], [one[1:2] for one in values])),
        "fewer": [fewer.used, n_grown, outcome_shown(fewer.base())],
    }
    RECORD.check(f"several: {kind}, {way}", found)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kind", [Kind.NUMBERS, Kind.TWO_CLASSES, Kind.MORE_CLASSES])
@pytest.mark.parametrize("n_columns", [2, 45])
def test_linear_starts_are_on_record(kind, is_weighted, n_columns):
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(N, n_columns)) * 3.0 + 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, -1] = 7.0
    n_trees = 3 if kind == Kind.MORE_CLASSES else 1
    labels = (
        rng.normal(size=N)
        if kind == Kind.NUMBERS
        else (np.arange(N) % (2 if n_trees == 1 else 3)).astype(float)
    )
    weights = rng.integers(1, 4, N).astype(float) if is_weighted else None
    start = _engine.fit_linear(X, labels, int(kind), n_trees, 2.0, weights)
    found = [
        shown(start.center),
        shown(np.round(start.slopes, 7)),
        np.round(start.intercepts, 7),
        shown(start.raw(X)),
    ]
    RECORD.check(f"start: {int(kind)}, {is_weighted}, {n_columns}", found)


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_models_of_all_rows_are_on_record(kind, is_weighted):
    made, of_folds = problem_of(kind)
    rows, nothing = np.arange(N), np.empty(0, dtype=np.int64)
    prepared = _engine.prepare_boosting(
        made.y, KINDS[kind][0], [rows], [nothing], [nothing[np.newaxis]], of_folds.rules
    )
    parts = prepared.train_parts
    weights = 0.5 + np.arange(N) % 3 if is_weighted else None
    start = _engine.fit_linear(
        made.X, parts.labels[0], int(parts.kinds[0]), int(parts.n_trees[0]), 3.0, weights
    )
    starts = [start.raw(made.X).T]
    models = grow_models(bin_columns(made.X, prepared), prepared, starts=starts, weights=weights)
    raw = models.added(made.X, start.raw(made.X))
    RECORD.check(f"all rows: {kind}, {is_weighted}", [shown(raw), models.used])


def test_limits_of_boosting():
    for parameters, n_train, leaves in (
        ({}, 100, 5),
        ({"min_samples_leaf": 7}, 100, 14),
        ({"min_samples_leaf": 1}, 100, 31),
        ({"min_samples_leaf": 1, "max_leaf_nodes": None}, 100, 100),
        ({"min_samples_leaf": 1, "max_depth": 3}, 100, 8),
        ({"min_samples_leaf": 60}, 100, 1),
    ):
        assert BoostingRules(**parameters).most_leaves(n_train) == leaves
    limits = [
        BoostingRules(max_depth=depth, max_leaf_nodes=n).limits for depth in (None, 2) for n in (None, 5)
    ]
    RECORD.check("limits", [list(one) for one in limits])
