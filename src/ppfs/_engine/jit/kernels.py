"""How kernels are compiled, and the array types they are written with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast, get_origin, get_type_hints

import numba
import numpy as np
import numpy.typing as npt

from ppfs._engine.jit import numba_private
from ppfs._engine.jit.compile_listener import take_the_time
from ppfs._engine.jit.compiler import BranchingCompiler, KernelCompiler, PartCompiler, compiler_of
from ppfs._engine.jit.disk_cache import keep_on_disk

Float32s: TypeAlias = npt.NDArray[np.float32]
Float64s: TypeAlias = npt.NDArray[np.float64]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
Uint8s: TypeAlias = npt.NDArray[np.uint8]
Uint32s: TypeAlias = npt.NDArray[np.uint32]
Bools: TypeAlias = npt.NDArray[np.bool_]
Records: TypeAlias = npt.NDArray[np.void]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

#: Makes an integer that kernels pass to functions. Numba has a separate type for literals, and compiles a function that
#: is called with one again for that type.
int64 = cast(Callable[[Any], int], np.int64)

#: Makes an index that cannot be negative, so that no check is compiled.
uint64 = cast(Callable[[int], int], np.uint64)

# Numba's options for functions that only kernels call are not in its type hints.
_njit: Any = numba.njit
_INTERNAL = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **compiler_of(PartCompiler)}

take_the_time()


def _engine_stamp() -> tuple[float, int]:
    """Return the newest time and the total size of the engine's source files."""
    stats = [path.stat() for path in Path(__file__).parents[1].rglob("*.py")]
    return max((stat.st_mtime for stat in stats), default=0.0), sum(stat.st_size for stat in stats)


ENGINE_STAMP = _engine_stamp()


def kernel(function: AnyFunction) -> AnyFunction:
    """Compile a function that Python calls and that allocates no arrays; it runs without the GIL and is cached on disk.

    Numba compiles a cached kernel again if its file has changed. Our kernels call functions from several files, so the
    stamp of the whole engine is used instead. If the cache cannot be used, the kernel is compiled in every process, see
    `ppfs._engine.jit.disk_cache`. ``error_model="numpy"`` omits the checks for division by zero, which prevent loops
    from being vectorized; no kernel divides by an empty count.
    """
    return _compiled_kernel(function, numba_private.UNCOUNTED)


def branching_kernel(function: AnyFunction) -> AnyFunction:
    """Compile a kernel that branches more than it computes, with fewer of LLVM's passes: it is as fast without them."""
    return _compiled_kernel(function, numba_private.UNCOUNTED, BranchingCompiler)


def allocating_kernel(function: AnyFunction) -> AnyFunction:
    """Compile a kernel that allocates arrays, itself or through an `allocating_function`."""
    return _compiled_kernel(function, numba_private.COUNTED)


def _compiled_kernel(
    function: AnyFunction, more: dict[str, Any], kind: type[KernelCompiler] = KernelCompiler
) -> AnyFunction:
    if get_origin(get_type_hints(function).get("return")) is tuple:
        # If Ctrl-C arrives while Numba wraps the first array, it does not notice, and the call ends in a SystemError.
        raise TypeError(
            f"{function.__name__} returns several arrays. Fill arrays that the caller passes instead."
        )
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **compiler_of(kind)}
    compiled = _njit(**options, **more)(function)
    if hasattr(compiled, "enable_caching"):
        keep_on_disk(compiled, ENGINE_STAMP)
    return cast(AnyFunction, compiled)


def kernel_part(function: AnyFunction) -> AnyFunction:
    """Compile a short function that kernels call in their loops; never called from Python.

    It is always inlined: a call would pass every field of every tuple of arrays on the stack, which costs more than the
    function itself.
    """
    return cast(
        AnyFunction,
        _njit(error_model="numpy", forceinline=True, **numba_private.UNCOUNTED, **_INTERNAL)(function),
    )


def kernel_function(function: AnyFunction) -> AnyFunction:
    """Compile a longer function that kernels call, or one that is called in several places.

    It neither allocates nor returns arrays, because their references would not be counted.
    """
    return cast(AnyFunction, _njit(error_model="numpy", **numba_private.UNCOUNTED, **_INTERNAL)(function))


def allocating_function(function: AnyFunction) -> AnyFunction:
    """Compile a function that allocates arrays, and that only an `allocating_kernel` calls."""
    return cast(AnyFunction, _njit(error_model="numpy", **numba_private.COUNTED, **_INTERNAL)(function))


def summing_part(function: AnyFunction) -> AnyFunction:
    """Compile a short sum whose terms may be added in another order, several at a time.

    Nothing else is relaxed: NaN and infinity are handled as usual.
    """
    return cast(
        AnyFunction,
        _njit(error_model="numpy", fastmath={"reassoc", "contract"}, **numba_private.UNCOUNTED, **_INTERNAL)(
            function
        ),
    )
