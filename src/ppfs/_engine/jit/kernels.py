"""How kernels are compiled, and the array types they are written with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast, get_origin, get_type_hints

import numba
import numpy as np
import numpy.typing as npt

from ppfs._engine.jit.compile_listener import take_the_time
from ppfs._engine.jit.compiler import KernelCompiler, PartCompiler, compiler_of
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

#: Makes an integer that kernels pass on. To Numba a literal is a type of its own, and a function that is called
#: with one is compiled once more for it.
int64 = cast(Callable[[Any], int], np.int64)

#: Makes an index that cannot be negative, so that no one has to check.
uint64 = cast(Callable[[int], int], np.uint64)

# Numba's options for functions that only kernels call are not in its type hints.
_njit: Any = numba.njit
_INTERNAL = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **compiler_of(PartCompiler)}

# Numba counts who holds an array, in every function that is handed one, with an instruction that waits for the memory:
# in short loops a sixth of the time. What makes no arrays has nothing to free, so it need not count.
# Both have to be said: a function that says nothing takes over what its first caller has.
_UNCOUNTED, _COUNTED = {"_nrt": False}, {"_nrt": True}


take_the_time()


def _engine_stamp() -> tuple[float, int]:
    """Return the newest time and the total size of the engine's source files."""
    stats = [path.stat() for path in Path(__file__).parents[1].rglob("*.py")]
    return max((stat.st_mtime for stat in stats), default=0.0), sum(stat.st_size for stat in stats)


ENGINE_STAMP = _engine_stamp()


def kernel(function: AnyFunction) -> AnyFunction:
    """Compile a function of arrays that Python calls and that makes none: it runs without the GIL and is kept on disk.

    Numba compiles a kept kernel again when the file it stands in has changed. Ours are made of functions from
    several files, so the stamp of the whole engine is used instead of that of one file. Where nothing can be kept
    the kernel is compiled in every process, see `ppfs._engine.jit.disk_cache`. ``error_model="numpy"``
    drops the zero checks of divisions, which keep loops from being vectorised; no kernel divides by an empty
    count.
    """
    return _compiled_kernel(function, _UNCOUNTED)


def allocating_kernel(function: AnyFunction) -> AnyFunction:
    """Compile a kernel that makes arrays, by itself or through an `allocating_function`."""
    return _compiled_kernel(function, _COUNTED)


def _compiled_kernel(function: AnyFunction, more: dict[str, Any]) -> AnyFunction:
    if get_origin(get_type_hints(function).get("return")) is tuple:
        # Numba does not notice a Ctrl-C that arrives while it wraps the first array: the call ends in a SystemError.
        raise TypeError(
            f"{function.__name__} returns several arrays. Fill arrays that the caller passes instead."
        )
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **compiler_of(KernelCompiler)}
    compiled = _njit(**options, **more)(function)
    if hasattr(compiled, "enable_caching"):
        keep_on_disk(compiled, ENGINE_STAMP)
    return cast(AnyFunction, compiled)


def kernel_part(function: AnyFunction) -> AnyFunction:
    """Compile a short function that kernels call in their loops; never called from Python.

    It always becomes part of its caller: a call would pass every field of every tuple of arrays on the stack,
    which costs more than the work of such a function.
    """
    return cast(
        AnyFunction, _njit(error_model="numpy", forceinline=True, **_UNCOUNTED, **_INTERNAL)(function)
    )


def kernel_function(function: AnyFunction) -> AnyFunction:
    """Compile a longer function that kernels call, or one that is called in several places.

    It makes no arrays, and returns none: no one would count them.
    """
    return cast(AnyFunction, _njit(error_model="numpy", **_UNCOUNTED, **_INTERNAL)(function))


def allocating_function(function: AnyFunction) -> AnyFunction:
    """Compile a function that makes arrays, and that only an `allocating_kernel` calls."""
    return cast(AnyFunction, _njit(error_model="numpy", **_COUNTED, **_INTERNAL)(function))


def summing_part(function: AnyFunction) -> AnyFunction:
    """Compile a short sum that may be added up in another order, several terms at a time.

    Nothing else is relaxed: missing values and infinities stay what they are.
    """
    return cast(
        AnyFunction,
        _njit(error_model="numpy", fastmath={"reassoc", "contract"}, **_UNCOUNTED, **_INTERNAL)(function),
    )
