"""Settings compared by content, in this process and in later ones.

Two values have the same digest only if a fit with one gives the same answers as a fit with the other, as far as that
can be seen from outside: arrays by their bytes, functions by their code, defaults, closure and the global variables
that they read, classes by all of that for each of their methods, other objects by their class and their state.
What belongs to an installed library is compared by its name and the version of the library.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import site
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    NotImplementedType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np
from scipy import special

_PLAIN = (str, int, float, complex, bool, bytes, type(None), type(...), NotImplementedType)

# What belongs to a class that was not written in Python.
_DESCRIPTORS = (
    ClassMethodDescriptorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)

# What is about a class rather than what it does.
_NOT_OF_A_CLASS = {
    "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__", "__dict__",
    "__doc__", "__firstlineno__", "__module__", "__orig_bases__", "__parameters__", "__slotnames__",
    "__static_attributes__", "__type_params__", "__weakref__", "_abc_impl",
}  # fmt: skip


class NotComparableError(Exception):
    """A value, or something inside it, whose content cannot be read."""


def content_of(value: Any) -> bytes:
    """Return a digest that no other content has.

    Raises
    ------
    NotComparableError
        When something inside cannot be compared, such as an open file, a lock or a generator.

    Examples
    --------
    >>> import numpy as np
    >>> def shifted(by):
    ...     return lambda values: values + by
    >>> content_of(shifted(np.arange(3))) == content_of(shifted(np.arange(3)))
    True
    >>> content_of(shifted(np.arange(3))) == content_of(shifted(np.arange(4)))
    False
    """
    try:
        return _Walk().digest(value)
    except NotComparableError:
        raise
    except RecursionError as error:
        raise NotComparableError("it is nested too deeply") from error
    except Exception as error:
        # Classes of the caller's may do anything when they are looked at.
        raise NotComparableError(f"its content cannot be read: {error}") from error


class _Walk:
    """One way through a value and all that it refers to."""

    def __init__(self) -> None:
        self._digests: dict[int, bytes] = {}
        # What the walk is inside of: values may refer to themselves.
        self._depths: dict[int, int] = {}
        # Values are kept alive, so that no temporary value gets the address of another one.
        self._alive: list[Any] = []

    def digest(self, value: Any) -> bytes:
        if isinstance(value, _PLAIN) and type(value) in _PLAIN:
            # With the type: to some estimators 1 is a count and 1.0 a share.
            return _joined(type(value).__name__, _spelled(value))
        key = id(value)
        if key in self._depths:
            return _joined("again", str(self._depths[key]).encode())
        if key not in self._digests:
            self._alive.append(value)
            self._depths[key] = len(self._depths)
            self._digests[key] = _joined(type(value).__name__, *self._parts(value))
            del self._depths[key]
        return self._digests[key]

    def _parts(self, value: Any) -> Iterator[bytes]:
        """Yield the digests of what a value is made of."""
        for kinds, parts in self._known_kinds():
            if isinstance(value, kinds):
                return parts(value)
        exact = self._exact_kinds().get(type(value))
        return self._object(value) if exact is None else exact(value)

    def _known_kinds(self) -> Iterable[tuple[Any, Callable[[Any], Iterator[bytes]]]]:
        return (
            (type, self._class),
            (FunctionType, self._function),
            (CodeType, self._code),
            (ModuleType, self._module),
            (BuiltinFunctionType, self._builtin),
            (MethodType, lambda value: self._all(value.__self__, value.__func__)),
            (property, lambda value: self._all(value.fget, value.fset, value.fdel)),
            ((staticmethod, classmethod), lambda value: self._all(value.__func__)),
            (functools.cached_property, lambda value: self._all(value.func, value.attrname)),
            (_DESCRIPTORS, lambda value: self._all(value.__objclass__, value.__name__)),
            (np.ufunc, self._ufunc),
            (np.dtype, lambda value: self._all(repr(value.descr if value.fields else value.str))),
            (np.generic, lambda value: self._array(np.asarray(value))),
        )

    def _exact_kinds(self) -> Mapping[type, Callable[[Any], Iterator[bytes]]]:
        """Return how values of these types are read; an instance of a subclass is an object like others."""
        return {
            tuple: lambda value: self._all(*value),
            list: lambda value: self._all(*value),
            dict: self._mapping,
            MappingProxyType: self._mapping,
            set: lambda value: iter(sorted(self._all(*value))),
            frozenset: lambda value: iter(sorted(self._all(*value))),
            np.ndarray: self._array,
            np.memmap: self._array,
        }

    def _all(self, *values: Any) -> Iterator[bytes]:
        return map(self.digest, values)

    def _mapping(self, value: Mapping[Any, Any]) -> Iterator[bytes]:
        for key, part in value.items():
            yield from self._all(key, part)

    def _array(self, value: np.ndarray[Any, Any]) -> Iterator[bytes]:
        yield from self._all(value.dtype, value.shape)
        if value.dtype.hasobject:
            yield from self._all(*value.ravel().tolist())
        else:
            yield blake2b(np.ascontiguousarray(value).view(np.uint8).data if value.nbytes else b"").digest()

    def _ufunc(self, value: np.ufunc) -> Iterator[bytes]:
        if not any(getattr(library, value.__name__, None) is value for library in (np, special)):
            raise NotComparableError(f"{value!r} does not show its function")
        return self._all(value.__name__)

    def _module(self, value: ModuleType) -> Iterator[bytes]:
        """Read a module that something holds: which of its names are used is not known."""
        return self._named_in(value, {name for name in vars(value) if not name.startswith("__")})

    def _named_in(
        self, module: ModuleType, names: Collection[str], above: tuple[ModuleType, ...] = ()
    ) -> Iterator[bytes]:
        """Read what a module of the caller's has under some names, and modules in it likewise."""
        yield from self._all(module.__name__, _version(module.__name__))
        if _version(module.__name__) is not None or module in above:
            return
        for name in sorted(names):
            if name in vars(module):
                yield self.digest(name)
                yield from self._read(vars(module)[name], names, (*above, module))

    def _read(
        self, value: Any, names: Collection[str], above: tuple[ModuleType, ...] = ()
    ) -> Iterator[bytes]:
        """Read a value of which a function uses these names."""
        if isinstance(value, ModuleType):
            return self._named_in(value, names, above)
        return self._all(value)

    def _builtin(self, value: Any) -> Iterator[bytes]:
        owner = value.__self__
        of_a_module = owner is None or isinstance(owner, ModuleType)
        return self._all(value.__qualname__, value.__module__ if of_a_module else owner)

    def _function(self, value: FunctionType) -> Iterator[bytes]:
        names = _names_read(value.__code__)
        held = [
            *(value.__defaults__ or ()),
            *(one for cell in value.__closure__ or () for one in _inside(cell)),
        ]
        for one in held:
            yield from self._read(one, names)
        yield from self._all(len(held), len(value.__defaults__ or ()), value.__kwdefaults__, vars(value))
        home = str(value.__globals__.get("__name__"))
        if _version(home) is not None:
            yield from self._all(home, value.__code__.co_qualname, _version(home))
            return
        yield from self._all(value.__module__, value.__qualname__, value.__code__)
        for name in sorted(names):
            if name in value.__globals__:
                yield self.digest(name)
                yield from self._read(value.__globals__[name], names)
        for module in _imported_by(value.__code__, value.__globals__):
            yield from self._named_in(module, names)

    def _code(self, value: CodeType) -> Iterator[bytes]:
        return self._all(
            value.co_code,
            value.co_consts,
            value.co_names,
            value.co_varnames,
            value.co_freevars,
            value.co_cellvars,
            value.co_flags,
            (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount),
            value.co_exceptiontable,
        )

    def _class(self, value: type) -> Iterator[bytes]:
        yield from self._all(value.__module__, value.__qualname__)
        if _is_in_library(value):
            yield from self._all(_version(value.__module__))
            return
        yield from self._all(type(value), value.__bases__)
        yield from self._mapping(
            {name: part for name, part in sorted(vars(value).items()) if name not in _NOT_OF_A_CLASS}
        )

    def _object(self, value: Any) -> Iterator[bytes]:
        """Read an object by how it would be copied; one of the caller's classes by its attributes too."""
        kind = type(value)
        if _is_in_library(value):
            # Functions that were written in Cython and the like.
            yield from self._all(value.__module__, value.__qualname__, _version(value.__module__))
            return
        yield self.digest(kind)
        if kind.__module__.partition(".")[0] == "numba" and isinstance(
            getattr(value, "py_func", None), FunctionType
        ):
            # A compiled function is copied with a number that is another one in every process.
            yield from self._all(value.py_func, value.targetoptions)
            return
        if not _is_in_library(kind):
            yield self.digest(object.__getstate__(value))
        reduce: Any = copyreg.dispatch_table.get(kind)
        reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        if isinstance(reduced, str):
            if not hasattr(value, "__wrapped__"):
                raise NotComparableError(f"the content of {value!r} cannot be read")
            reduced = (value.__wrapped__, vars(value))
        for part in reduced:
            # The items of lists and dictionaries come as iterators.
            yield self.digest([*part] if isinstance(part, Iterator) else part)


def _spelled(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    # Not in tens: Python refuses to write more than some thousand digits.
    return (hex(value) if type(value) is int else repr(value)).encode()


def _joined(kind: str, *parts: bytes) -> bytes:
    """Return the digest of a value of some kind from those of its parts."""
    digest = blake2b(f"{kind} {len(parts)}".encode(), digest_size=16)
    for part in parts:
        digest.update(f"{len(part)} ".encode())
        digest.update(part)
    return digest.digest()


def _inside(cell: Any) -> Any:
    """Return what a cell of a closure holds, in a list; an empty list if it is not set yet."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _names_read(code: CodeType) -> set[str]:
    """Return the names of globals and attributes that some code, and code inside it, refers to."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_names, *(name for one in inner for name in _names_read(one))}


def _imported_by(code: CodeType, namespace: dict[str, Any]) -> Iterator[ModuleType]:
    """Import and yield the modules of the caller's that some code, and code inside it, imports when it runs."""
    steps = [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
    for place, step in enumerate(steps):
        if step.opname != "IMPORT_NAME":
            continue
        level, names = (one.argval for one in steps[place - 2 : place])
        if level or _is_callers(step.argval.partition(".")[0]):
            # The code may be prepared for a module that is missing or fails.
            with suppress(Exception):
                yield __import__(step.argval, namespace, None, names, level)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imported_by(constant, namespace)


def _is_callers(top: str) -> bool:
    """Return whether a module that may not be imported yet belongs to no installed library."""
    if top in sys.modules:
        return _version(top) is None
    found = find_spec(top)
    places = [] if found is None else [found.origin, *(found.submodule_search_locations or ())]
    libraries = _standard_library() | _site_packages()
    return bool(places) and not any(
        one == "built-in" or _lies_in(one, libraries) for one in places if one is not None
    )


def _is_in_library(value: Any) -> bool:
    """Return whether an installed library has this class or function under its name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or _version(module) is None:
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    # Python has types, such as that of generators, that are in no module.
    is_built_in = isinstance(value, type) and not value.__flags__ & _MADE_IN_PYTHON
    return found is value or is_built_in


# The flag of classes that are made when Python runs.
_MADE_IN_PYTHON = 1 << 9


@functools.cache
def _version(module: str) -> str | None:
    """Return the version of the installed library that a module belongs to; None if it belongs to none."""
    top = module.partition(".")[0]
    if top == "__main__":
        # Its file may be that of a library which runs the caller's program.
        return None
    loaded = sys.modules.get(top)
    file = getattr(loaded, "__file__", None) or next(iter(getattr(loaded, "__path__", [])), None)
    if top in sys.stdlib_module_names and (file is None or _lies_in(file, _standard_library())):
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if top != "ppfs" and (file is None or not _lies_in(file, _site_packages())):
        return None
    try:
        return str(getattr(loaded, "__version__", None) or version(top))
    except PackageNotFoundError:
        return None


def _lies_in(file: str, folders: Iterable[str]) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders)


def _standard_library() -> set[str]:
    return {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}


def _site_packages() -> set[str]:
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return {*own, *site.getsitepackages(), site.getusersitepackages()}
