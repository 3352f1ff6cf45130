"""Private parts of Numba, in one place.

No other module imports them, so a new version of Numba can break only what comes from here. They were checked with
Numba 0.60.0 and 0.68.1, the oldest version that is allowed and the newest one. Each part has a fallback, and the tests
of the engine pass without it (decision 240):

- the compiler of kernels, `ppfs._engine.jit.compiler`, from `codegen` and `compiler`; without it, Numba's own compiler;
- the cache of kernels, `ppfs._engine.jit.checked_cache`, from `caching`; without it, every process compiles kernels;
- kernels that do not count references, from the option `_nrt`; without it, they count;
- the time of compilation, `ppfs._engine.jit.compile_listener`, from `event`; without it, progress bars leave it out.
"""

from typing import Any

from numba.core import caching as _caching
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import event as _event

# Numba has no type hints for them.
caching: Any = _caching
codegen: Any = _codegen
compiler: Any = _compiler
event: Any = _event

#: Options of functions that allocate no arrays, and of those that do. Numba counts references to arrays in every
#: function with array arguments, by atomic instructions that take a sixth of the time of short loops. Functions that
#: allocate no arrays have nothing to free, so they need not count. Both options must be explicit: without one, a
#: function inherits that of its first caller.
UNCOUNTED, COUNTED = {"_nrt": False}, {"_nrt": True}
