"""How many columns are looked at together: the limits at their natural size, with arrays that take no memory."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppfs._data import facts, kinds
from ppfs._data.column_checks.blocks import column_blocks
from ppfs._data.ordering import ContentOrder


def tall(n_rows, n_columns):
    return np.broadcast_to(np.float64(0), (n_rows, n_columns))


@pytest.mark.parametrize(("n_rows", "sizes"), [(2**17, [2, 2, 1]), (2**17 + 1, [1] * 5), (2**19, [1] * 5)])
def test_whole_numbers_are_looked_for_in_a_few_columns_at_a_time(monkeypatch, n_rows, sizes):
    read = []
    monkeypatch.setattr(
        kinds, "as_rows", lambda X, columns: read.append(columns.size) or np.zeros((columns.size, 1))
    )
    assert kinds._look_at(tall(n_rows, 5)).is_whole.all()
    assert read == sizes


@pytest.mark.parametrize(("n_rows", "starts"), [(2**19, [0, 2, 4]), (2**19 + 1, [0, 1, 2, 3, 4])])
def test_a_million_values_are_checked_together(n_rows, starts):
    assert [(start, block.shape[0]) for start, block in column_blocks(tall(n_rows, 5))] == [
        (start, n_rows) for start in starts
    ]


@pytest.mark.parametrize(("n_rows", "sizes"), [(2**17, [2, 2, 1]), (2**17 + 1, [1] * 5)])
def test_columns_are_read_together_for_their_digests(n_rows, sizes):
    taken = []

    def take(columns):
        taken.append(len(columns))
        return np.zeros((1, len(columns)))

    storage = SimpleNamespace(is_sparse=False, is_in_memory=True, shape=(n_rows, 5), take=take)
    order = SimpleNamespace(
        _columns=SimpleNamespace(storage=storage, n_levels=np.zeros(5)),
        _features=SimpleNamespace(target=5, columns_of=lambda features: features),
        _keys={},
        _enter=lambda variable, digest: None,
    )
    ContentOrder.enter(order, range(6))
    assert taken == sizes


class Wide(np.ndarray):
    """A matrix that writes down how many columns are read together."""

    widths: list[int] = []

    def __getitem__(self, key):
        part = super().__getitem__(key)
        if isinstance(key, tuple):
            self.widths.append(part.shape[1])
        return part


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "widths"),
    [(2**11, 130, [128, 2]), (2**11 + 1, 130, [127, 3]), (2**12, 65, [64, 1]), (2**13, 65, [64, 1])],
)
def test_extremes_of_a_wide_matrix_are_found_for_some_columns_at_a_time(n_rows, n_columns, widths):
    X = np.zeros((n_rows, n_columns), dtype=np.float32)
    X[5, 1], X[7, n_columns - 1] = 2.0, -3.0
    wide = X.view(Wide)
    wide.widths.clear()
    low, high = facts._extremes(wide)
    assert wide.widths == widths
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
