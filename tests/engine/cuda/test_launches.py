"""How many threads, blocks and bytes kernels are launched with; the device only writes down what it is asked for."""

import numpy as np
import pytest

from ppfs._engine.cuda.columns import sort_on_device
from ppfs._engine.cuda.panel import _in_parts, _ordered
from ppfs._engine.cuda.tree_risks import _bytes_of_line, threads_for


class Device:
    """A device without kernels."""

    xp = np

    def __init__(self, shared_memory=2**20, memory=0):
        self.shared_memory, self.memory, self.launched = shared_memory, memory, []

    def launch(self, name, n_blocks, n_threads, arguments, shared_bytes=0):
        self.launched.append((name, n_blocks, n_threads, shared_bytes))

    def launch_over(self, name, n_threads, arguments):
        self.launched.append((name, n_threads))


# Keys are rows, filled up to a power of two; two of them per thread.
@pytest.mark.parametrize(
    ("n_rows", "n_keys", "n_threads"),
    [
        (1, 2, 32), (2, 2, 32), (3, 4, 32), (64, 64, 32), (65, 128, 64), (1024, 1024, 512), (1025, 2048, 512),
        (2**14, 2**14, 512),
    ],
)  # fmt: skip
def test_short_columns_are_sorted_in_shared_memory(n_rows, n_keys, n_threads):
    for type_of, kind in ((np.float32, "floats"), (np.float64, "doubles")):
        X = np.zeros((n_rows, 3), dtype=type_of)
        device = Device()
        sort_on_device(device, X, np.zeros(1, dtype=np.int32))
        assert device.launched == [(f"sort_{kind}", 3, n_threads, 8 * n_keys)]
        device = Device()
        order = _ordered(device, X)
        assert (order.shape, order.dtype) == (X.shape, np.int32)
        assert device.launched == [(f"order_{kind}", 3, n_threads, 12 * n_keys)]


@pytest.mark.parametrize(
    ("n_rows", "shared_memory"), [(2**14 + 1, 2**20), (129, 8 * 255), (2**14, 8 * 2**14 - 1)]
)
def test_long_columns_are_sorted_in_global_memory(n_rows, shared_memory):
    X = np.random.default_rng(0).permutation(3 * n_rows).reshape(n_rows, 3).astype(np.float32)
    device = Device(shared_memory)
    sort_on_device(device, X, np.zeros(1, dtype=np.int32))
    assert device.launched == [("keys_of_floats", 3 * n_rows), ("unpack_keys", 3 * n_rows)]
    np.testing.assert_array_equal(_ordered(device, X), X.argsort(axis=0))
    assert len(device.launched) == 2


def test_shared_memory_is_used_up_to_its_last_byte():
    X = np.zeros((128, 2), dtype=np.float32)
    for n_bytes, is_shared in ((128 * 8, True), (128 * 8 - 1, False)):
        device = Device(n_bytes)
        sort_on_device(device, X, np.zeros(1, dtype=np.int32))
        assert (device.launched[0][0] == "sort_floats") == is_shared
    for n_bytes, is_shared in ((128 * 12, True), (128 * 12 - 1, False)):
        device = Device(n_bytes)
        _ordered(device, X)
        assert bool(device.launched) == is_shared


# Of a device's memory a 64th is taken; a model in each of five splits needs ten numbers of eight bytes.
@pytest.mark.parametrize(
    ("memory", "bounds"),
    [
        (64 * 7 * 400, [(0, 7), (7, 14), (14, 16)]),
        (64 * 7 * 400 - 64, [(0, 6), (6, 12), (12, 16)]),
        (64 * 16 * 400, [(0, 16)]),
        (0, [(column, column + 1) for column in range(16)]),
    ],
)
def test_models_are_fitted_to_as_many_columns_as_memory_allows(memory, bounds):
    parts = list(_in_parts(Device(memory=memory), 16, 5, 10))
    assert [(start, end) for start, end, _ in parts] == bounds
    assert [numbers.size for _, _, numbers in parts] == [50 * (end - start) for start, end in bounds]


@pytest.mark.parametrize(
    ("n_rows", "n_threads"),
    [(10, 128), (1279, 128), (1280, 160), (1535, 160), (1536, 192), (8192, 1024), (100_000, 1024)],
)
def test_long_columns_have_more_threads(n_rows, n_threads):
    assert threads_for(n_rows) == n_threads


def test_a_line_takes_whole_words():
    """128 counts of four bytes; a value and a word of eight bytes, and a label of one, for each row and two more."""
    assert [_bytes_of_line(n_rows) for n_rows in (14, 15, 30)] == [
        512 + 16 * 16 + 16,
        512 + 17 * 16 + 32,
        512 + 32 * 16 + 32,
    ]
