"""Kernels compiled with everything they call, and optimized once.

Numba optimizes every function by itself, makes machine code of it, and optimizes it again inside each function that
calls it, up to the kernel; and it optimizes whatever it compiles twice, with the counting of references pruned in
between. Nothing but the kernel ever runs, and it counts few references. So here the functions that a kernel calls are
translated for LLVM and left at that, and the kernel is optimized once: it compiles sooner, and is as fast.

The classes rest on private parts of Numba: `compiler_of` looks whether they are there.
"""

from typing import Any

from numba.core import codegen, compiler

# Numba has no type hints for them.
_codegen: Any = codegen
_compiler: Any = compiler

_LIBRARY_PARTS = (
    "_ensure_finalized",
    "_finalize_dynamic_globals",
    "_finalize_final_module",
    "_optimize_final_module",
    "enable_object_caching",
)


class _Nowhere:
    """Stands for the code generator where a part is given its environment: without machine code it needs none."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class KernelLibrary(_codegen.JITCodeLibrary):
    """The code of a kernel and of all that it calls."""

    def _optimize_final_module(self) -> None:
        try:
            passes, options = self._codegen._module_pass_manager()
        except TypeError:
            # An older Numba hands out its passes in another way.
            super()._optimize_final_module()
        else:
            passes.run(self._final_module, options)


class PartLibrary(_codegen.JITCodeLibrary):
    """The code of a part, to be linked into that of a kernel."""

    @property
    def codegen(self) -> Any:
        """What a caller would set up for machine code."""
        return _Nowhere()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """Leave it to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class KernelCompiler(_compiler.Compiler):
    """Numba's compiler, with a library of ours."""

    library: type[Any] = KernelLibrary

    def define_pipelines(self) -> Any:
        """Return Numba's own passes."""
        state = self.state
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return super().define_pipelines()


class PartCompiler(KernelCompiler):
    """The same for what kernels call."""

    library = PartLibrary


def compiler_of(kind: type[KernelCompiler]) -> dict[str, Any]:
    """Return the option that makes Numba use a compiler; none where Numba is built another way."""
    is_known = all(hasattr(_codegen.JITCodeLibrary, name) for name in _LIBRARY_PARTS) and hasattr(
        _codegen.CPUCodegen, "_module_pass_manager"
    )
    return {"pipeline_class": kind} if is_known else {}
