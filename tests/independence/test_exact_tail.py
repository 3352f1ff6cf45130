"""Counts of rearranged columns: how they are cut into tasks, what is known, and which columns have them."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from reference.made_columns import numbers

from ppfs._conventions.random import stream
from ppfs._data import read_table
from ppfs._rows import Exchange
from ppfs.independence import CountedRearrangements, Rearrangements
from ppfs.independence._predictive import exact_tail, rearranged_columns
from ppfs.independence._predictive.exact_tail import PermutationTail
from ppfs.independence._predictive.rearranged_columns import (
    DRAWS_AT_ONCE,
    CountedCopies,
    Drawing,
    Part,
    columns_at_once,
    counts_of,
)
from ppfs.independence._predictive.screening import EFFECTIVE_VIEWS, Screening


@dataclass
class OneGrowth:
    """Models whose p-value is the mean of a column's first values."""

    is_on_device: bool = False
    is_for_many: bool = False
    prefers: str = "threads"
    n_prepared: int = 0

    def __call__(self, block):
        pvalues = np.asarray(block.read().X)[:3].mean(axis=0)
        return SimpleNamespace(answers=SimpleNamespace(pvalues=pvalues), n_fits=2 * pvalues.size)

    def for_many_columns(self):
        return replace(self, is_for_many=True)

    def prepare(self):
        self.n_prepared += 1


def tail_of(n_rows=40, n_columns=5, groups=None, **more):
    X = np.column_stack([np.abs(numbers(n_rows, seed=seed)) for seed in range(n_columns)])
    y = numbers(n_rows, seed=99)
    known = {}
    growth = more.pop("growth", OneGrowth())
    fields = {
        "outputs": ((y - y.mean()) / np.linalg.norm(y - y.mean()))[np.newaxis],
        "exchange": Exchange(n_rows, groups),
        "entropy": 3,
        "fold": 1,
        "n_jobs": None,
        "target": n_columns,
        "known": known,
        "remember": lambda one: known.update({one.draws: one}),
    }
    table = read_table(X, y, task="regression", owner=None)
    return PermutationTail(growth, table, **fields | more)


def test_rearranged_columns_are_tested_together_up_to_a_mebibyte():
    assert columns_at_once(2**17) == 1
    assert columns_at_once(2**17 - 1) == 1
    assert columns_at_once(2**16) == 2
    assert columns_at_once(10**9) == 1
    assert columns_at_once(2**16, is_on_device=True) == 128


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "share", "is_blind", "expected"),
    [
        # Four blocks of 131072 / n_rows columns, over refits per chunk: 2.2 times the share of 64 draws of each.
        (40, 5, 0.01, False, int(4 * 3276 / (2.2 * 0.01 * 5 * 64))),
        (40, 5, 0.9, False, int(4 * 3276 / (5 * 64))),
        (40, 5, 0.01, True, int(4 * 3276 / (5 * 64))),
        (40, 1, 0.3, False, int(4 * 3276 / (2.2 * 0.3 * 64))),
        (40, 5000, 1.0, False, 1),
    ],
)
def test_a_task_has_four_blocks_of_refits(n_rows, n_columns, share, is_blind, expected):
    tail = tail_of(n_rows)
    if is_blind:
        tail = replace(tail, outputs=None)
    assert tail._chunks_per_task(n_columns, share) == expected
    assert tail._share_refitted(share) == (1.0 if is_blind else min(1.0, EFFECTIVE_VIEWS * share))


def test_a_task_of_a_gpu_has_one_block_and_512_chunks_at_most():
    tail = tail_of(growth=OneGrowth(is_on_device=True))
    assert tail._chunks_per_task(5, 1.0) == min(512, 2**26 // 320 // (5 * 64))
    assert tail._chunks_per_task(5, 1e-6) == 512
    assert tail._chunks_per_task(10**6, 1.0) == 1


@pytest.mark.parametrize(
    ("n_columns", "n_draws", "share", "is_for_many"),
    [(2, 64, 1.0, False), (3, 64, 1.0, True), (2, 128, 1.0, True), (5, 64, 0.2, False), (5, 64, 0.22, True)],
)
def test_kernels_are_compiled_for_more_than_150_refits(n_columns, n_draws, share, is_for_many):
    tail = tail_of()
    assert (n_columns * n_draws * min(1.0, 2.2 * share) > 150) == is_for_many
    tail.n_as_extreme(list(range(n_columns)), 0, n_draws, share)
    assert tail.growth.is_for_many == is_for_many
    # What the first count chose stays.
    tail.n_as_extreme(list(range(5)), n_draws, n_draws + 640, 1.0)
    assert tail.growth.is_for_many == is_for_many


def test_counts_are_those_of_each_draw():
    tail = replace(tail_of(), outputs=None)
    counts = tail.n_as_extreme([0, 3], 64, 192, 1.0)
    columns = [tail.table.block([x]).read().X[:, 0] for x in (0, 3)]
    for column, count in zip(columns, counts, strict=True):
        expected = 0
        for chunk in (1, 2):
            sources = tail.exchange.sources(exact_tail_stream(tail, chunk), DRAWS_AT_ONCE, by_value=True)
            expected += (column[sources][:, :3].mean(axis=1) <= column[:3].mean() * (1 + 1e-7)).sum()
        assert count == expected
    assert tail.n_refitted == 2 * 128
    assert tail.n_fits == 2 * (2 * 128) + 2 * 2


def exact_tail_stream(tail, chunk):
    return stream(tail.entropy, 0x7A11, tail.fold, 1, chunk)


def test_what_was_counted_is_not_counted_again(monkeypatch):
    monkeypatch.setattr(PermutationTail, "_chunks_per_task", lambda self, n_columns, share: 2)
    tail = replace(tail_of(), outputs=None)
    first = tail.n_as_extreme([0, 1], 0, 256, 0.5)
    assert (
        {(one.first, one.end) for one in tail.known} == {(0, 2), (2, 4)}
        if hasattr(next(iter(tail.known)), "end")
        else True
    )
    assert len(tail.known) == 2
    n_fits, n_refitted = tail.n_fits, tail.n_refitted
    assert tail.n_as_extreme([0, 1], 0, 256, 0.5).tolist() == first.tolist()
    assert (tail.n_fits, tail.n_refitted) == (n_fits, 2 * n_refitted)
    assert tail.growth.n_prepared == 1
    more = tail.n_as_extreme([0, 1], 0, 320, 0.5)
    assert len(tail.known) == 3
    assert (more >= first).all()
    # Another share is another statistic.
    tail.n_as_extreme([0, 1], 0, 128, 0.25)
    assert len(tail.known) == 4


def test_what_is_known_is_believed(monkeypatch):
    monkeypatch.setattr(PermutationTail, "_chunks_per_task", lambda self, n_columns, share: 1)
    draws = [Rearrangements(5, (2, 4), chunk, chunk + 1, 0.5) for chunk in range(2)]
    counted = [CountedRearrangements(one, np.array([7, 9]) + k, 5) for k, one in enumerate(draws)]
    tail = tail_of(known=dict(zip(draws, counted, strict=True)))
    assert tail.n_as_extreme([2, 4], 0, 128, 0.5).tolist() == [15, 19]
    assert (tail.n_refitted, tail.n_fits, tail.growth.n_prepared) == (10, 0, 0)


def test_columns_are_screened_in_parts(monkeypatch):
    tail = tail_of(40, 7)
    for most, n_bytes, sizes in (
        (256, 2**25, [7]),
        (3, 2**25, [3, 3, 1]),
        (256, 160 * 40 * 2, [2, 2, 2, 1]),
        (256, 1, [1] * 7),
    ):
        monkeypatch.setattr(exact_tail, "_COLUMNS_AT_ONCE", most)
        monkeypatch.setattr(exact_tail, "_BYTES_PER_SCREENING", n_bytes)
        parts = list(tail._parts(list(range(7))))
        assert [part.places.size for part in parts] == sizes
        assert np.concatenate([part.places for part in parts]).tolist() == list(range(7))
        assert all(part.by_value is True for part in parts)
        for part in parts:
            np.testing.assert_array_equal(part.columns, tail.table.block(part.places.tolist()).read().X.T)


def test_columns_that_are_the_same_in_a_group_are_a_part_of_their_own():
    groups = np.arange(40) // 4
    tail = tail_of(groups=groups)
    X = np.column_stack([numbers(40), groups.astype(float), numbers(40, seed=1), groups % 3])
    tail = replace(tail, table=read_table(X, numbers(40), task="regression", owner=None))
    found = [(part.places.tolist(), part.by_value) for part in tail._parts([3, 2, 1, 0])]
    assert found == [([1, 3], False), ([0, 2], True)]


@pytest.mark.parametrize(("n_alike", "can"), [(2, False), (4, False), (5, True), (6, True)])
def test_half_of_the_rows_have_to_trade_places(n_alike, can):
    """Groups of two rows have a like; larger ones are all different."""
    sizes, n_rest = [2] * n_alike, 20 - 2 * n_alike
    larger = []
    size = 3
    while n_rest:
        take = size if n_rest - size >= size + 1 or n_rest == size else n_rest
        larger.append(take)
        n_rest -= take
        size += 1
    groups = np.repeat(np.arange(len(sizes + larger)), sizes + larger)
    exchange = Exchange(20, groups)
    X = np.column_stack([numbers(20), groups.astype(float)])
    tail = replace(
        tail_of(20, 2), exchange=exchange, table=read_table(X, numbers(20), task="regression", owner=None)
    )
    assert (exchange.moves(X[:, 0]) >= 0.5) == can
    assert tail.can_refine([0, 1]).tolist() == [can, True]


def test_bounds_are_those_of_the_columns_as_they_are():
    y = np.sort(numbers(60))
    X = np.column_stack([np.arange(60.0), numbers(60, seed=1), y])
    outputs = ((y - y.mean()) / np.linalg.norm(y - y.mean()))[np.newaxis]
    tail = replace(tail_of(60, 3), table=read_table(X, y, task="regression", owner=None), outputs=outputs)
    assert tail.bounded_pvalues([0, 1, 2]).tolist() == [1.0, 1.0, 1.0]
    bounded = replace(tail, contrasts=(np.arange(30, 60),))
    found = bounded.bounded_pvalues([0, 1, 2])
    assert (found[[0, 2]] < 1e-5).all()
    assert found[1] == 1.0
    assert bounded.bounded_pvalues([2])[0] == found[2]
    blind = replace(bounded, outputs=None)
    assert blind.bounded_pvalues([0]).tolist() == [1.0]


def test_the_original_columns_are_tested_once_with_room_for_rounding(monkeypatch):
    monkeypatch.setattr(exact_tail, "_COLUMNS_AT_ONCE", 2)
    tail = tail_of()
    observed = tail._observed([4, 0, 1])
    X = tail.table.block(list(range(5))).read().X
    np.testing.assert_allclose(observed, X[:3].mean(axis=0)[[4, 0, 1]], rtol=1e-14)
    assert tail.n_fits == 2 * 3
    tail._observed([0, 1, 2])
    assert tail.n_fits == 2 * 4
    (part,) = tail_of()._parts([0])
    drawing = tail._drawing(part, np.array([0.5]), 0.1)
    assert drawing.observed[0] == pytest.approx(0.5 * (1.0 + 1e-7), rel=1e-15)
    assert drawing.key == (3, 0x7A11, 1, 1)
    expected = Screening.of(part.columns, 40, part.block.n_levels)
    np.testing.assert_array_equal(drawing.bounds, expected.bounds(0.1, 1))
    assert (
        drawing.stands_out.tolist()
        == expected.stands_out(tail.outputs[:, np.newaxis], drawing.bounds)[:, 0].tolist()
    )
    assert drawing.tail_bound is None
    assert replace(tail, outputs=None)._drawing(part, np.array([0.5]), 0.1).stands_out.tolist() == [True]


def drawing_of(tail, share=0.3, stands_out=None):
    (part,) = tail._parts([0, 1, 2])
    made = tail._drawing(part, np.full(3, 0.7), share)
    return made if stands_out is None else replace(made, stands_out=np.array(stands_out))


@pytest.mark.parametrize("most", [1, 3, 50, 10**6])
def test_copies_are_cut_into_blocks_and_all_of_them_are_counted(most, monkeypatch):
    drawing = drawing_of(tail_of(), stands_out=[True, True, False])
    whole = counts_of(drawing, range(2, 5))
    monkeypatch.setattr(rearranged_columns, "columns_at_once", lambda n_rows, *, is_on_device: most)
    copies = list(drawing.copies(range(2, 5)))
    sizes = [one.owners.size for one in copies]
    assert sum(sizes) == whole.n_refitted
    assert max(sizes) <= most
    for one in copies:
        assert one.may_be_bounded.tolist() == list(range(one.owners.size))
        np.testing.assert_array_equal(
            one.block.X, drawing.part.columns[one.owners[:, np.newaxis], one.sources].T
        )
        assert one.block.names == tuple(drawing.part.block.names[column] for column in one.owners)
    again = counts_of(drawing, range(2, 5))
    assert again.counts.tolist() == whole.counts.tolist()
    assert again == CountedCopies(again.counts, whole.n_refitted, 2 * whole.n_refitted)
    # A column that does not stand out is no more extreme than any draw.
    assert whole.counts[2] == 3 * DRAWS_AT_ONCE


def test_where_no_column_stands_out_nothing_is_drawn():
    drawing = replace(drawing_of(tail_of(), stands_out=[False] * 3), growth=None)
    found = counts_of(drawing, range(4))
    assert found.counts.tolist() == [256, 256, 256]
    assert (found.n_refitted, found.n_fits) == (0, 0)


@pytest.mark.parametrize("numbers_at_once", [1, 10**4, 10**9])
def test_draws_that_stand_out_are_those_of_each_chunk(numbers_at_once, monkeypatch):
    def pairs(found):
        """Sort the columns and their draws: several chunks together are in the order of the columns."""
        return sorted(
            pair
            for columns, sources in found
            for pair in zip(columns.tolist(), sources.tolist(), strict=True)
        )

    drawing = drawing_of(tail_of())
    expected = [one for chunk in range(3, 23) for one in drawing.standing_out(range(chunk, chunk + 1))]
    monkeypatch.setattr(rearranged_columns, "_NUMBERS_PER_SCREENING", numbers_at_once)
    found = list(drawing.standing_out(range(3, 23)))
    at_once = min(max(numbers_at_once // (len(drawing.screening.directions) * 64), 1), 16)
    assert len(found) == -(-20 // at_once)
    assert pairs(found) == pairs(expected)


def test_a_part_keeps_the_levels_and_names_of_its_columns():
    tail = tail_of()
    (part,) = tail._parts([0, 1, 2])
    assert isinstance(part, Part)
    made = part.rearranged(np.array([2, 0]), np.stack([np.arange(40)[::-1], np.arange(40)]))
    np.testing.assert_array_equal(made.X, np.column_stack([part.columns[2][::-1], part.columns[0]]))
    assert made.names == (part.block.names[2], part.block.names[0])
    assert isinstance(tail._drawing(part, np.ones(3), 0.1), Drawing)
