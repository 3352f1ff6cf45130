"""What compiling a kernel leaves behind, and how its options are compared."""

import gc
from types import SimpleNamespace

import numba
import pytest
from numba.core.compiler import Flags

from ppfs._engine.jit import (
    compile_time,
    kernels,  # noqa: F401  (listens to Numba's compiler)
)
from ppfs._engine.jit.compile_time import compilation_ends, compilation_starts
from ppfs._engine.jit.compiler import KernelLibrary, PartLibrary, QuickFlags


@pytest.mark.parametrize("is_on", [True, False])
def test_garbage_is_collected_after_compiling_as_it_was_before(is_on):
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        compilation_starts()
        compilation_starts()
        assert not gc.isenabled()
        compilation_ends()
        assert not gc.isenabled()
        compilation_ends()
        assert gc.isenabled() == is_on
    finally:
        (gc.enable if was_on else gc.disable)()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_failed_compilation_switches_the_collection_back_on():
    assert gc.isenabled()
    with pytest.raises(numba.TypingError):
        numba.njit(lambda x: x.no_such_attribute)(1)
    assert gc.isenabled()


def flags_with(kind, **options):
    made = kind()
    for name, value in options.items():
        setattr(made, name, value)
    return made


OPTIONS = [
    {},
    {"nrt": True},
    {"nrt": False},
    {"error_model": "numpy"},
    {"error_model": "python"},
    {"nrt": True, "error_model": "numpy"},
    {"nrt": True, "forceinline": True},
    {"nrt": False, "forceinline": False},
]


@pytest.mark.parametrize("mine", OPTIONS)
@pytest.mark.parametrize("other", OPTIONS)
def test_options_are_compared_and_hashed_as_numba_does(mine, other):
    expected = flags_with(Flags, **mine) == flags_with(Flags, **other)
    quick = flags_with(QuickFlags, **mine)
    assert (quick == flags_with(QuickFlags, **other)) is expected
    assert (quick == flags_with(Flags, **other)) is expected
    assert (quick.copy() == flags_with(QuickFlags, **other)) is expected
    assert hash(quick) == hash(flags_with(Flags, **mine))
    assert quick != "no options"


def test_compile_time_is_that_of_the_outermost_compilation(monkeypatch):
    clock = iter([(10.0, 1.0), (13.0, 2.0), (15.0, 4.0), (20.0, 5.0), (24.0, 7.0)])
    monkeypatch.setattr(compile_time, "_now", lambda: next(clock))
    monkeypatch.setattr(compile_time, "_spent", (0.5, 0.25))
    compilation_starts()
    compilation_starts()
    assert compile_time.compile_seconds() == (3.5, 1.25)
    compilation_ends()
    compilation_ends()
    assert compile_time.compile_seconds() == (5.5, 3.25)
    compilation_starts()
    compilation_ends()
    assert compile_time.compile_seconds() == (9.5, 5.25)


def test_the_code_of_a_kernel_is_optimized_once_as_a_whole():
    ran = []
    passes = SimpleNamespace(run=lambda *arguments: ran.append(arguments))
    for kind in (PartLibrary, KernelLibrary):
        library = kind.__new__(kind)
        library._codegen = SimpleNamespace(_module_pass_manager=lambda: (passes, "options"))
        library._final_module = kind.__name__
        library._optimize_final_module()
    assert ran == [("KernelLibrary", "options")]
