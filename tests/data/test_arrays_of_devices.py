"""Arrays in the memory of a GPU, played by objects that say where they are."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from ppfs._data.reading import device_arrays, is_on_device
from ppfs._data.reading.device_arrays import matrix_on_device, to_host
from ppfs.exceptions import InvalidInputError

VALUES = np.array([[1.0, 2.0], [3.0, 4.0]])


class Tensor:
    """A tensor of torch, which may have gradients."""

    __module__ = "torch"

    def __init__(self, is_cuda=True):
        self.is_cuda = is_cuda

    def detach(self):
        return Array(VALUES, "detached")

    def cpu(self):
        raise AssertionError("a tensor with gradients is detached first")


class Array:
    """An array of another library, with or without a way to the host."""

    __cuda_array_interface__ = {"version": 3}

    def __init__(self, values, name="array"):
        self.values, self.name = values, name

    def cpu(self):
        return SimpleNamespace(numpy=lambda: self.values)


class CupyArray(Array):
    def get(self):
        return self.values


@pytest.fixture
def cupy(monkeypatch):
    asked = []

    def asarray(values):
        asked.append(values)
        return SimpleNamespace(
            ndim=values.values.ndim, dtype=values.values.dtype, get=lambda: values.values, of=values
        )

    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=asarray))
    monkeypatch.setattr(device_arrays, "find_spec", lambda name: name)
    return asked


def test_what_is_on_a_device():
    assert [is_on_device(one) for one in (Tensor(), Array(VALUES), VALUES, None, Tensor(False))] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_arrays_are_copied_to_the_host(cupy):
    assert to_host(VALUES) is VALUES
    assert to_host(Tensor(False)).is_cuda is False
    for given in (Tensor(), CupyArray(VALUES), Array(VALUES)):
        assert to_host(given) is VALUES
    assert len(cupy) == 1


@pytest.mark.parametrize(
    ("values", "is_matrix"),
    [(VALUES, True), (VALUES.astype(np.float32), True), (VALUES.astype(int), False), (VALUES[0], False)],
)
def test_only_a_matrix_of_floats_stays_on_the_device(values, is_matrix, cupy):
    array = Array(values)
    found = matrix_on_device(array)
    assert (found is not None) is is_matrix
    assert found is None or found.of is array
    assert matrix_on_device(values) is None
    assert matrix_on_device(Tensor()).of.name == "detached"


def test_without_cupy_nothing_stays_and_its_name_is_told(monkeypatch):
    monkeypatch.setattr(device_arrays, "find_spec", lambda name: None)
    assert matrix_on_device(Array(VALUES)) is None
    assert to_host(CupyArray(VALUES)) is VALUES
    with pytest.raises(
        InvalidInputError, match="An argument of type Array is in the memory of a GPU, and CuPy"
    ):
        to_host(Array(VALUES))
