"""Kernels compiled with everything they call, and optimized once.

Numba optimizes every function by itself, makes machine code of it, and optimizes it again inside each function that
calls it, up to the kernel; and it optimizes whatever it compiles twice, with the counting of references pruned in
between. Nothing but the kernel ever runs, and it counts few references. So here the functions that a kernel calls are
translated for LLVM and left at that, and the kernel is optimized once: it compiles in two thirds of the time, and is as
fast. Passes for what kernels do not contain are left out.

The classes rest on private parts of Numba: `compiler_of` looks whether they are there.
"""

from typing import Any, ClassVar

from ppfs._engine.jit.numba_private import codegen, compiler

_LIBRARY_PARTS = (
    "_ensure_finalized",
    "_finalize_dynamic_globals",
    "_finalize_final_module",
    "_optimize_final_module",
    "_optimize_functions",
    "enable_object_caching",
)

# Numba's passes for `with` blocks, closures, inlined functions, exceptions with computed arguments, loops over tuples
# of several types, `literally` and parallel loops. Kernels contain none of these, and each pass takes time to look.
_NEEDLESS_PASSES = {
    "WithLifting",
    "InlineClosureLikes",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "RewriteDynamicRaises",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "DumpParforDiagnostics",
}

# The pass for array expressions, which kernels that allocate no arrays do not contain either.
_PASS_OF_ARRAY_EXPRESSIONS = "NopythonRewrites"


class QuickFlags(compiler.Flags):
    """Numba's options of a compilation, compared by those that are set.

    Numba looks up every operator of every function under a key that holds the options, and compares all thirty of
    them each time. Options that neither side has set have the same default.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, compiler.Flags):
            return NotImplemented
        if self._values == other._values:
            return True
        return all(getattr(self, name) == getattr(other, name) for name in self._values | other._values)

    # Numba's own value, which is the same for all options: it hashes their names.
    def __hash__(self) -> int:
        return _HASH_OF_FLAGS


_HASH_OF_FLAGS = hash(compiler.Flags())


class _Nowhere:
    """A code generator for functions that are not compiled to machine code yet: they have no environment to set."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class KernelLibrary(codegen.JITCodeLibrary):
    """The code of a kernel and of all that it calls."""

    # How far LLVM's passes go; nothing means as far as Numba's.
    passes: ClassVar[dict[str, int]] = {}

    def _optimize_final_module(self) -> None:
        try:
            passes, options = self._codegen._module_pass_manager(**self.passes)
        except TypeError:
            # An older Numba has another interface to its passes.
            super()._optimize_final_module()
        else:
            passes.run(self._final_module, options)


class BranchingLibrary(KernelLibrary):
    """The code of a kernel that branches more than it computes: LLVM's first level is enough for it."""

    passes: ClassVar[dict[str, int]] = {"opt": 1}


class PartLibrary(codegen.JITCodeLibrary):
    """The code of a part, to be linked into that of a kernel."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Set the layout only: the kernel's own library optimizes this part too."""
        ll_module.data_layout = self._codegen._data_layout

    @property
    def codegen(self) -> Any:
        """What a caller would set up for machine code."""
        return _Nowhere()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """Do nothing: the kernel's own library optimizes this part too."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class KernelCompiler(compiler.Compiler):
    """Numba's compiler, with a library of ours."""

    library: type[Any] = KernelLibrary

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.state.flags = QuickFlags(self.state.flags)

    def define_pipelines(self) -> Any:
        """Return Numba's own passes, without those that kernels do not need."""
        state = self.state
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        needless = _NEEDLESS_PASSES | (set() if state.flags.nrt else {_PASS_OF_ARRAY_EXPRESSIONS})
        return [_without(needless, passes) for passes in super().define_pipelines()]


def _without(needless: set[str], passes: Any) -> Any:
    """Return a compilation without some of its passes."""
    fewer = type(passes)(passes.pipeline_name)
    fewer.passes.extend(one for one in passes.passes if one[0].__name__ not in needless)
    fewer.finalize()
    return fewer


class BranchingCompiler(KernelCompiler):
    """The same for kernels that branch more than they compute."""

    library = BranchingLibrary


class PartCompiler(KernelCompiler):
    """The same for what kernels call."""

    library = PartLibrary


def compiler_of(kind: type[KernelCompiler]) -> dict[str, Any]:
    """Return the option that makes Numba use a compiler; none where Numba is built another way."""
    is_known = all(hasattr(codegen.JITCodeLibrary, name) for name in _LIBRARY_PARTS) and hasattr(
        codegen.CPUCodegen, "_module_pass_manager"
    )
    return {"pipeline_class": kind} if is_known else {}
