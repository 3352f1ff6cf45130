"""The screening of rearranged columns agrees with shares of explained variance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reference.screening import stands_out

from ppfs._conventions.random import stream
from ppfs._data.block import Block
from ppfs._data.reading import read_table
from ppfs._rows import Exchange
from ppfs.independence import CountedRearrangements, CrossFitPPI, Rearrangements
from ppfs.independence._predictive.exact_tail import DRAWS_AT_ONCE, PermutationTail
from ppfs.independence._predictive.screening import Screening, outputs_of, rearranged


def columns(n_rows: int = 40) -> np.ndarray:
    rng = np.random.default_rng(0)
    made = [rng.normal(size=n_rows), np.exp(3 * rng.normal(size=n_rows)), rng.poisson(0.1, n_rows)]
    return np.column_stack([*made, rng.integers(5, size=n_rows), 1e12 + rng.normal(size=n_rows)])


def tail_of(X: np.ndarray, y: np.ndarray, **fit: np.ndarray) -> PermutationTail:
    task = "regression" if y.dtype == float else "classification"
    test = CrossFitPPI(task=task, random_state=0, exact_tail=True)
    table = read_table(X, y, task=task, owner=test, **fit)
    tail = test.bind(table).exact_tail(table.target)
    assert isinstance(tail, PermutationTail)
    return tail


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_stands_out_as_by_explained_variance(n_classes: int) -> None:
    X = columns()
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(40) % n_classes) if n_classes else rng.normal(size=40)
    tail = tail_of(X, y)
    sources = Exchange(40).sources(stream(7), 30, by_value=True)
    screening = Screening.of(X.T, 40)
    assert tail.outputs is not None
    found = screening.stands_out(rearranged(tail.outputs, sources), screening.bounds(0.3, len(tail.outputs)))
    expected = [
        [stands_out(column[draw], y, 0.3, is_class=n_classes > 0) for draw in sources] for column in X.T
    ]
    assert found.tolist() == expected
    assert 0.1 < found.mean() < 0.9


def test_counts_are_those_of_a_loop_over_draws() -> None:
    """Columns that stand out are ranked by the models, the others come last: written as a loop."""
    X = columns()[:, :4]
    y = np.random.default_rng(2).permutation(np.arange(40) % 2)
    X[:, 0] += 0.5 * y
    tail = tail_of(X, y)
    counts = tail.n_as_extreme([0, 1, 2, 3], DRAWS_AT_ONCE, 2 * DRAWS_AT_ONCE, 0.2)
    sources = tail.exchange.sources(stream(0, 0x7A11, tail.fold, 1, 1), DRAWS_AT_ONCE, by_value=True)
    n_levels = np.zeros(1, dtype=np.intp)
    for x in range(4):

        def rank(column: np.ndarray) -> float:
            if not stands_out(column, y, 0.2, is_class=True):
                return np.inf
            return float(tail.growth(Block(column[:, np.newaxis], n_levels, ("x",))).answers.pvalues[0])

        own = rank(X[:, x])
        assert counts[x] == sum(rank(X[draw, x]) <= own * (1 + 1e-7) for draw in sources)
    # Not all of them are easy.
    assert 0 < counts[0] < counts[1]
    assert tail.n_refitted < 4 * DRAWS_AT_ONCE
    splits = tail.growth.growers[0].problem.splits
    assert tail.n_fits == (4 + tail.n_refitted) * len(splits)


def test_an_arrangement_equal_to_the_column_is_as_extreme() -> None:
    """One row of 12 has another value: every twelfth arrangement is the column itself, and counts."""
    y = np.random.default_rng(3).normal(size=12)
    X = np.zeros((12, 1))
    X[np.argmax(y)] = 1.0
    tail = replace(tail_of(X, y), outputs=None)
    n_equal = sum(
        int((X[draw, 0] == X[:, 0]).all())
        for chunk in range(4)
        for draw in tail.exchange.sources(
            stream(0, 0x7A11, tail.fold, 1, chunk), DRAWS_AT_ONCE, by_value=True
        )
    )
    assert n_equal > 10
    assert tail.n_as_extreme([0], 0, 4 * DRAWS_AT_ONCE, share=1.0)[0] >= n_equal


def test_every_fold_of_a_search_has_arrangements_of_its_own() -> None:
    tail = tail_of(columns()[:, :2], np.arange(40) % 2)

    def counts(fold: int) -> list[int]:
        known: dict[Rearrangements, CountedRearrangements] = {}
        anew = replace(tail, fold=fold, known=known, remember=lambda one: known.update({one.draws: one}))
        return anew.n_as_extreme([0, 1], 0, 4 * DRAWS_AT_ONCE, share=1.0).tolist()

    assert counts(1) == counts(1)
    assert counts(1) != counts(2)


def test_gaps_are_a_step_of_their_own() -> None:
    """Where a value is missing may be all that a column tells."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 2
    X[y == 1, 0] = np.nan
    tail = tail_of(X, y)
    screening = Screening.of(X.T, 60)
    assert tail.outputs is not None
    found = screening.stands_out(tail.outputs[:, np.newaxis], screening.bounds(1e-6, n_outputs=1))
    assert found.ravel().tolist() == [True, False]


def test_without_screening_models_are_fitted_to_every_draw() -> None:
    X = columns()[:, :2]
    tail = tail_of(X, np.arange(40) % 2)
    everything = tail.n_as_extreme([0, 1], 0, 2 * DRAWS_AT_ONCE, share=1.0)
    blind = replace(tail, outputs=None, n_refitted=0)
    assert blind.n_as_extreme([0, 1], 0, 2 * DRAWS_AT_ONCE, share=0.01).tolist() == everything.tolist()
    assert blind.n_refitted == 4 * DRAWS_AT_ONCE


def test_weights_stay_with_the_target() -> None:
    y = np.arange(12) % 2
    weights = np.arange(1.0, 13)
    outputs = tail_of(columns(12), y, sample_weight=weights).outputs
    assert outputs is not None
    expected = weights * (y - np.average(y, weights=weights))
    np.testing.assert_allclose(np.abs(outputs[0]), np.abs(expected) / np.linalg.norm(expected), atol=1e-12)
    assert outputs.shape == (1, 12)


def test_a_target_without_numbers_has_no_outputs() -> None:
    class Problem:
        y = np.zeros(4, dtype=[("time", float), ("event", bool)])

    assert outputs_of(Problem()) is None  # type: ignore[arg-type]


def test_columns_are_rearranged_where_enough_rows_have_groups_to_trade_with() -> None:
    """Groups of two to six rows, no two of them alike, trade values that all their rows share, and nothing else."""
    groups = np.repeat(np.arange(5), [2, 3, 4, 5, 6])
    X = np.column_stack([np.arange(20.0), groups])
    y = np.arange(20) % 2
    assert tail_of(X, y).can_refine([0, 1]).tolist() == [True, True]
    assert tail_of(X, y, groups=groups).can_refine([0, 1]).tolist() == [False, True]


def test_a_constant_column_never_stands_out() -> None:
    outputs = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 1)) - 0.5)[0].T
    screening = Screening.of(np.ones((1, 20)), 20)
    assert not screening.stands_out(
        (outputs - outputs.mean())[:, np.newaxis], screening.bounds(0.5, n_outputs=1)
    ).any()


@pytest.mark.parametrize("n_categories", [24, 48])
def test_every_frequent_category_is_a_step(n_categories):
    """Three neighbors each cancel out: intervals of codes show nothing, categories do."""
    codes = np.repeat(np.arange(n_categories), 20)
    if n_categories > 30:
        codes = np.where(codes >= 24, 24 + codes % 24, codes)
    effect = np.where(codes < 24, np.array([1.0, -2.0, 1.0])[codes % 3], 0.0)
    target = (effect / np.linalg.norm(effect))[np.newaxis, np.newaxis]
    numbers, categories = (
        Screening.of(codes[np.newaxis].astype(float), codes.size, n_levels)
        for n_levels in (None, np.array([n_categories]))
    )
    assert not numbers.stands_out(target, numbers.bounds(0.01, 1))[0, 0]
    assert categories.stands_out(target, categories.bounds(0.01, 1))[0, 0]


def test_outputs_in_different_units_count_alike() -> None:
    y = np.random.default_rng(3).normal(size=(40, 2))
    near, far = (tail_of(columns(), y * [1.0, scale]).outputs for scale in (1.0, 2.0**-40))
    assert near is not None
    assert near.shape == (2, 40)
    np.testing.assert_array_equal(near, far)
