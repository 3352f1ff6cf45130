"""What the caller's table costs in memory: it is read where it lies, and converted a few columns at a time."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ppfs import PPFS
from ppfs._data.facts import facts_of, in_floats, is_compact
from ppfs._data.reading import read_table
from ppfs.blanket import IAMB
from ppfs.blanket._run.circumstances import digest_of

N_ROWS = 200
MEGABYTE = 10**6


def peak(call):
    """Return the bytes that a call had in use at once, over those in use before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def looked_at(X, y):
    """Do what every fit does with the whole table: read it, hash it, look at its columns."""
    table = read_table(X, y, task="auto", owner=None)
    return digest_of(table), table.facts, table.kinds.categorical_mask


def labels(n_rows=N_ROWS):
    return np.random.default_rng(1).integers(0, 2, size=n_rows)


def genotypes(n_columns, n_rows=N_ROWS):
    return np.random.default_rng(0).integers(0, 3, size=(n_rows, n_columns), dtype=np.int8)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_table_is_not_copied_to_be_hashed_and_looked_at(order):
    X = np.asarray(np.random.default_rng(0).normal(size=(N_ROWS, 25_000)), order=order)
    assert X.nbytes == 40 * MEGABYTE
    assert peak(lambda: looked_at(X, labels())) < 20 * MEGABYTE


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_orders_of_a_table_have_one_digest(order):
    X = np.random.default_rng(0).normal(size=(N_ROWS, 30))
    assert looked_at(np.asarray(X, order=order), labels())[0] == looked_at(X, labels())[0]


def test_the_digest_does_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("ppfs.blanket._run.circumstances._BYTES_AT_ONCE", 1000)
    X = np.random.default_rng(0).normal(size=(40, 30))
    table = read_table(X, np.arange(40) % 2, task="auto", owner=None)
    one, three = (digest_of(table, n_jobs) for n_jobs in (1, 3))
    assert one == three
    X[-1, -1] += 1
    assert digest_of(table, 3) != one


def test_numbers_of_eight_bits_stay_in_eight_bits():
    X = genotypes(40_000)
    assert X.nbytes == 8 * MEGABYTE
    table = read_table(X, labels(), task="auto", owner=None)
    assert np.shares_memory(table.X, X)
    # 64 MB as floats.
    assert peak(lambda: looked_at(X, labels())) < 20 * MEGABYTE


def test_growth_over_eight_bits_converts_a_block_at_a_time():
    X, y = genotypes(5_000, 800), labels(800)
    # With all columns, because few need other kernels. Compiling takes 20 MB.
    PPFS(n_splits=5, random_state=0).fit(X, y)
    # 32 MB as floats. The answers take a kilobyte per column: 5 MB of the 10 to 16, by when garbage is collected.
    assert peak(lambda: PPFS(n_splits=5, random_state=0).fit(X, y)) < 20 * MEGABYTE


def test_a_memory_mapped_table_is_not_copied(tmp_path):
    path, y = tmp_path / "X.npy", labels()
    np.save(path, np.random.default_rng(0).normal(size=(N_ROWS, 12_500)))
    X = np.load(path, mmap_mode="r")
    assert X.nbytes == 20 * MEGABYTE
    table = read_table(X, y, task="auto", owner=None)
    assert np.shares_memory(table.X, X)
    PPFS(n_splits=5, random_state=0).fit(X, y)
    assert peak(lambda: PPFS(n_splits=5, random_state=0).fit(X, y)) < X.nbytes


COMPACT = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.bool_, np.float16, ">i2"]


def in_type(dtype):
    """Return a few columns that a type can hold, its extremes among them."""
    X = np.random.default_rng(0).integers(0, 2 if dtype == np.bool_ else 60, size=(80, 4)).astype(dtype)
    if X.dtype.kind in "iu":
        X[:2, 3] = np.iinfo(dtype).min, np.iinfo(dtype).max
    return X


@pytest.mark.parametrize("dtype", COMPACT)
def test_every_type_is_read_as_the_floats_it_stands_for(dtype):
    X = in_type(dtype)
    floats, y = X.astype(np.float64), labels()[:80]
    assert is_compact(X.dtype)
    compact, plain = (read_table(table, y, task="auto", owner=None) for table in (X, floats))
    for name, values in vars(plain.facts).items():
        np.testing.assert_array_equal(getattr(facts_of(X), name), values, err_msg=name)
    np.testing.assert_array_equal(compact.kinds.categorical_mask, plain.kinds.categorical_mask)
    np.testing.assert_array_equal(compact.kinds.whole_columns.spans, plain.kinds.whole_columns.spans)
    assert digest_of(compact) == digest_of(plain)
    assert compact.order.key(3) == plain.order.key(3)
    assert compact.storage.bytes_per_column == 8 * 80
    for values in (compact.take([3, 1]), compact.values(3), compact.block([0, 3]).X, in_floats(X)):
        assert values.dtype == np.float64
    np.testing.assert_array_equal(compact.take([3, 1]), plain.take([3, 1]))
    np.testing.assert_array_equal(compact.rows(np.arange(9)).values(3), floats[:9, 3])


@pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.int32])
@pytest.mark.parametrize(
    "make", [lambda: PPFS(n_splits=8, random_state=0), lambda: IAMB(independence="fisher-z")]
)
def test_answers_do_not_depend_on_the_type_of_the_numbers(dtype, make):
    X = in_type(dtype)
    y = X[:, 1] + np.random.default_rng(2).normal(size=80)
    compact, plain = make().fit(X, y), make().fit(X.astype(np.float64), y)
    assert compact.blanket_.tolist() == plain.blanket_.tolist()
    np.testing.assert_array_equal(compact.pvalues_, plain.pvalues_)


def test_a_frame_of_one_small_type_is_read_where_it_lies():
    X = genotypes(30)
    frame = pd.DataFrame(X)
    table = read_table(frame, labels(), task="auto", owner=None)
    assert table.X.dtype == np.int8
    named = read_table(frame, labels(), task="auto", owner=None, categorical_features=[0])
    np.testing.assert_array_equal(named.values(1), X[:, 1].astype(np.float64))
    mixed = read_table(frame.assign(other=0.5), labels(), task="auto", owner=None)
    assert mixed.X.dtype == np.float64


def test_nullable_small_numbers_keep_their_gaps():
    frame = pd.DataFrame(
        {"a": pd.array([1, None, 3, 4], dtype="Int8"), "b": pd.array([1, 2, 3, 4], dtype="Int8")}
    )
    table = read_table(frame, [0, 1, 0, 1], task="auto", owner=None)
    assert np.isnan(table.values(0)[1])


@pytest.mark.parametrize("store", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_extremes_are_those_of_the_numbers_beside_missing_values(store):
    facts = facts_of(store(np.array([[3.0, -1.0], [np.nan, 4.0], [-2.0, 0.5]])))
    assert facts.low.tolist() == [-2.0, -1.0]
    assert facts.high.tolist() == [3.0, 4.0]
    assert facts.has_missing.tolist() == [True, False]
