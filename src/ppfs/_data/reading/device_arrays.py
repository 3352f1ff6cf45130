"""Arrays in the memory of a GPU: CuPy's, torch's, and any other with the CUDA array interface."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ppfs.exceptions import InvalidInputError


def is_on_device(values: Any) -> bool:
    """Return whether values are an array in the memory of a GPU."""
    return _is_cuda_tensor(values) or hasattr(values, "__cuda_array_interface__")


def _is_cuda_tensor(values: Any) -> bool:
    """Return whether values are a torch tensor on a GPU; one with gradients has no CUDA array interface."""
    return type(values).__module__ == "torch" and bool(getattr(values, "is_cuda", False))


def to_host(values: Any) -> Any:
    """Return a copy of an array of a GPU in the memory of the host; anything else as it is."""
    if not is_on_device(values):
        return values
    if _is_cuda_tensor(values):
        return values.detach().cpu().numpy()
    if hasattr(values, "get"):
        return values.get()
    return _cupy(values).asarray(values).get()


def matrix_on_device(values: Any) -> Any:
    """Return a matrix of floats in the memory of a GPU as a CuPy array, without a copy; None for anything else."""
    if not is_on_device(values) or find_spec("cupy") is None:
        return None
    matrix = import_module("cupy").asarray(values.detach() if _is_cuda_tensor(values) else values)
    return matrix if matrix.ndim == 2 and matrix.dtype in (np.float32, np.float64) else None


def _cupy(values: Any) -> Any:
    if find_spec("cupy") is None:
        raise InvalidInputError(
            f"An argument of type {type(values).__name__} is in the memory of a GPU, and CuPy, which copies it, is not "
            "installed. Install CuPy, or pass a NumPy array."
        )
    return import_module("cupy")
