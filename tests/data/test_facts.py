"""Properties of columns found in one pass, against a twin that looks at one column after the other."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data import facts as module
from ppfs._data.facts import facts_of, holds_in_first, in_floats, is_compact, is_whole_number

LARGEST = float(np.finfo(np.float32).max)


def plain_facts(X):
    """Return (low, high, is_constant, has_missing, has_infinite, is_too_large) of each column."""
    found = []
    for column in X.T.astype(float):
        numbers = [value for value in column if value == value]
        low, high = (min(numbers), max(numbers)) if numbers else (0.0, 0.0)
        has_missing = len(numbers) < len(column)
        is_constant = not numbers or (low == high and not has_missing)
        has_infinite = any(abs(value) == np.inf for value in numbers)
        too_large = not has_infinite and any(abs(value) > LARGEST for value in numbers)
        found.append((low, high, is_constant, has_missing, has_infinite, too_large))
    return found


def as_rows(facts):
    parts = (
        facts.low,
        facts.high,
        facts.is_constant,
        facts.has_missing,
        facts.has_infinite,
        facts.is_too_large,
    )
    return list(zip(*(part.tolist() for part in parts), strict=True))


nan, inf = np.nan, np.inf
ODD = np.array(
    [
        [1.0, 2.0, 0.0, nan, 5.0, nan, inf, -inf, nan, LARGEST, 3.5e38, -3.5e38, -1.0, 0.0, 0.0, inf, -7.0],
        [1.0, 3.0, 0.0, nan, nan, 1.0, 1.0, 0.0, inf, 1.0, 0.0, 0.0, -2.0, 4.0, -4.0, -inf, -7.0],
        [1.0, 2.5, 0.0, nan, 5.0, 2.0, 2.0, 3.0, 3.5e38, -LARGEST, 1.0, 1.0, -3.0, 0.0, 0.0, 0.0, -7.0],
    ]
)


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csc_array], ids=["C", "F", "sparse"])
def test_every_property_of_odd_columns(make):
    assert as_rows(facts_of(make(ODD))) == plain_facts(ODD)
    part = facts_of(make(ODD)).of(slice(2, 5))
    assert as_rows(part) == plain_facts(ODD[:, 2:5])
    assert as_rows(facts_of(make(ODD)).of(np.array([7, 3]))) == plain_facts(ODD[:, [7, 3]])


@pytest.mark.parametrize(
    ("columns", "is_plain"), [([0, 1, 2, 9], True), ([0, 5], False), ([0, 6], False), ([0, 10], False)]
)
def test_a_table_is_plain_if_every_number_is_finite_in_32_bits(columns, is_plain):
    assert facts_of(ODD[:, columns]).is_plain is is_plain


@pytest.mark.parametrize("shape", [(9000, 3), (16_385, 2), (5, 64), (5, 65), (4100, 150), (1, 70), (1, 2)])
def test_extremes_are_found_wherever_they_are(shape):
    X = np.random.default_rng(0).normal(size=shape)
    facts = facts_of(X)
    assert facts.low.tolist() == [min(column) for column in X.T.tolist()]
    assert facts.high.tolist() == [max(column) for column in X.T.tolist()]


def test_several_threads_find_the_same(monkeypatch):
    X = np.random.default_rng(0).normal(size=(3, 700))
    monkeypatch.setattr(module, "_VALUES_AT_ONCE", 1)
    expected = as_rows(facts_of(X))
    assert expected == plain_facts(X)
    monkeypatch.setattr(module, "_BYTES_FOR_THREADS", X.nbytes)
    for n_parts in (1, 2, 16):
        monkeypatch.setattr(module, "_PARTS_PER_TASK", n_parts)
        assert as_rows(facts_of(X)) == expected


def test_a_sparse_table_without_values_holds_zeros_and_full_columns_do_not():
    assert as_rows(facts_of(sp.csc_array((3, 2)))) == plain_facts(np.zeros((3, 2)))
    X = np.array([[2.0, 0.0, -2.0], [3.0, -1.0, -3.0]])
    assert as_rows(facts_of(sp.csc_array(X))) == plain_facts(X)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        *((dtype, True) for dtype in ("?", "i1", "u1", "i2", "u2", "f2", "i4", "u4")),
        *((dtype, False) for dtype in ("f4", "f8", "i8", "u8", "S1", "c8", "O")),
    ],
)
def test_numbers_of_fewer_bytes_than_floats_are_compact(dtype, expected):
    assert is_compact(np.dtype(dtype)) is expected
    if dtype not in ("S1", "O"):
        X = np.ones((2, 2), dtype=dtype)
        assert (in_floats(X) is X) is not expected
        assert in_floats(X).dtype == (np.float64 if expected else X.dtype)
    sparse = sp.csc_array(np.ones((2, 2), dtype=np.int8))
    assert in_floats(sparse) is sparse


@pytest.mark.parametrize("wrong", range(8))
@pytest.mark.parametrize("n_rows", [2, 4, 5, 6])
def test_a_property_holds_in_the_first_rows_or_not(wrong, n_rows):
    X = np.ones((8, 3))
    X[wrong, 1] = 0.5
    holds = holds_in_first(X, n_rows, is_whole_number)
    # The first four rows are looked at anyway.
    assert holds.tolist() == [True, wrong >= max(n_rows, 4), True]
    assert holds_in_first(X[:, [0, 2]], n_rows, is_whole_number).tolist() == [True, True]
    assert holds_in_first(X[:, [1, 1]], n_rows, is_whole_number).tolist() == [wrong >= max(n_rows, 4)] * 2


def test_missing_values_are_no_whole_numbers():
    assert is_whole_number(np.array([1.0, -2.0, 0.5, nan])).tolist() == [True, True, False, False]
