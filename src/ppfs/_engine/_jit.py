"""How kernels are compiled, and the array types they are written with."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit

Float32s: TypeAlias = npt.NDArray[np.float32]
Float64s: TypeAlias = npt.NDArray[np.float64]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def kernel(function: AnyFunction) -> AnyFunction:
    """Compile a function of arrays that Python calls: it runs without the GIL and is kept on disk.

    The cache knows only the file a kernel stands in. After an edit of a `kernel_part` in another file, delete
    ``__pycache__``.
    """
    return cast(AnyFunction, njit(nogil=True, cache=True, error_model="numpy")(function))


def kernel_part(function: AnyFunction) -> AnyFunction:
    """Compile a short function that several kernels or loops call; never called from Python.

    It always becomes part of its caller: a call would pass every field of every tuple of arrays on the stack,
    which costs more than the work of such a function.
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    return cast(AnyFunction, njit(nogil=True, error_model="numpy", **options)(function))


def kernel_function(function: AnyFunction) -> AnyFunction:
    """Compile a function that kernels call now and then, to be compiled once and not at every place."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(AnyFunction, njit(nogil=True, error_model="numpy", **options)(function))


def kernel_stage(function: AnyFunction) -> AnyFunction:
    """Compile a long function that one kernel calls in one place, together with that kernel.

    Numba then optimises it once; a function of its own is optimised again with each caller above it.
    """
    return cast(AnyFunction, njit(inline="always")(function))
