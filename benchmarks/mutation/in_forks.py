"""One pytest session that runs many faults, each in a fork of it: nothing is imported or collected twice.

    pytest -p in_forks --faults waiting.json --record mutants.jsonl tests/...       (run.py does so)

A pytest plugin. The fault is put into the functions, classes and constants that the session has already imported: other
modules hold on to the same function objects, so their code is replaced in place.
"""

from __future__ import annotations

import functools
import importlib
import json
import mmap
import os
import pkgutil
import re
import resource
import signal
import sys
import time
import types
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

_MISSED, _CAUGHT, _CANNOT_BE_PUT_IN = 0, 1, 3
_MOST_MEMORY = 6 * 2**30
_LONGEST_WAIT = 60.0

# A test of more CPU seconds, what it shares with others included, does not end. Without the fault it takes four.
_LONGEST_TEST = 25

_LONGEST_NAME = 1000
WARM_UP = "tests/checks/test_golden_answers.py"


class CannotBePutInError(Exception):
    """A fault that changes what a module is made of."""


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--faults", help="what to try: file, changed source, tests, seconds")
    parser.addoption("--record", help="where the outcomes go, one line each")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: Any) -> bool:
    """Try every fault in place of running the tests."""
    _import_everything()
    items = {item.nodeid: item for item in session.items}
    # Forks then find the kernels loaded.
    for item in _called(items, WARM_UP):
        runtestprotocol(item, nextitem=None, log=False)
    is_sound: dict[str, bool] = {}
    record = Path(session.config.getoption("--record"))
    known = _lines(record)
    for fault in json.loads(Path(session.config.getoption("--faults")).read_text()):
        if any(json.loads(line)["key"] == fault["trial"]["key"] for line in _lines(record)[len(known) :]):
            continue  # Another process has tried it meanwhile.
        chosen = [item for test in fault["tests"] for item in _called(items, test)]
        outcome, by = _noticed(fault, chosen, is_sound)
        trial = {**fault["trial"], "outcome": outcome, "n_tests": len(chosen), "by": by}
        with record.open("a") as stream:
            stream.write(json.dumps(trial) + "\n")
        print(outcome, len(chosen), trial["key"][:150], by, flush=True)
    return True


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _noticed(fault: dict[str, Any], chosen: list[Any], is_sound: dict[str, bool]) -> tuple[str, str]:
    """Return what became of a fault, and by which test: one that passes, in a fork like this, without the fault."""
    while True:
        trusted = [item for item in chosen if is_sound.get(item.nodeid, True)]
        outcome, by = _in_a_child(fault, trusted)
        culprits = [item for item in trusted if item.nodeid == by]
        if culprits and by not in is_sound:
            is_sound[by] = _in_a_child({**fault, "changed": None}, culprits)[0] == "survived"
        if is_sound.get(by, True):
            return outcome, by


def _called(items: dict[str, Any], test: str) -> list[Any]:
    """Return a test by its full name, or all cases of one, or all tests of a file."""
    if test in items:
        return [items[test]]
    return [item for name, item in items.items() if name.startswith((f"{test}[", f"{test}::"))]


def _import_everything() -> None:
    import ppfs

    for module in pkgutil.walk_packages(ppfs.__path__, "ppfs."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _in_a_child(fault: dict[str, Any], chosen: list[Any]) -> tuple[str, str]:
    """Return what became of a fault, and the test that failed or did not end."""
    board = mmap.mmap(-1, _LONGEST_NAME)
    child = os.fork()
    if child == 0:
        _try(fault, chosen, board)
    status = _status(child)
    by = board[:].rstrip(b"\0").decode(errors="replace")
    if os.WIFSIGNALED(status):
        return "hung", by
    names = {_MISSED: "survived", _CAUGHT: "caught"}
    return names.get(os.WEXITSTATUS(status), f"exit {os.WEXITSTATUS(status)}"), by


def _write(board: mmap.mmap, text: str) -> None:
    board[:] = text.encode()[:_LONGEST_NAME].ljust(_LONGEST_NAME, b"\0")


def _status(child: int) -> int:
    """Wait for a fork; end one that waits for something itself.

    Such as for a thread of Polars that this process has and the fork does not.
    """
    spent, since = _spent(child), time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if _spent(child) != spent:
            spent, since = _spent(child), time.monotonic()
        if time.monotonic() > since + _LONGEST_WAIT:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def _spent(process: int) -> int:
    """Return what a process and those that it started have used of the processor, in ticks."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12]) + sum(_spent(int(one)) for one in children)


def _try(fault: dict[str, Any], chosen: list[Any], board: mmap.mmap) -> None:
    """Put the fault in, run the tests until one fails or the time is up, and end the process."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    code = _CANNOT_BE_PUT_IN
    try:
        if fault["changed"] is not None:
            put_in(fault["file"], fault["changed"])
        _forget()
        code = _MISSED
    except CannotBePutInError as error:
        _write(board, str(error))
    except BaseException as error:
        # The module cannot even be loaded any more.
        _write(board, f"import: {error!r}")
        code = _CAUGHT
    if code == _MISSED:
        for item, following in zip_longest(chosen, chosen[1:]):
            if time.process_time() > fault["seconds"]:
                break
            _write(board, item.nodeid)
            limit = int(time.process_time()) + _LONGEST_TEST
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            reports = runtestprotocol(item, nextitem=following, log=False)
            if any(report.failed for report in reports):
                code = _CAUGHT
                break
            _write(board, "")
    _end_workers()
    os._exit(code)


def _end_workers() -> None:
    """End the processes that tests have started through joblib: no one else would."""
    executor = getattr(sys.modules.get("joblib.externals.loky.reusable_executor"), "_executor", None)
    if executor is not None:
        executor.shutdown(wait=False, kill_workers=True)


def _forget() -> None:
    """Empty what functions of the package remember: it was found without the fault."""
    for module in [module for name, module in sys.modules.items() if name.startswith("ppfs")]:
        for value in list(vars(module).values()):
            for one in (value, *(vars(value).values() if isinstance(value, type) else ())):
                if isinstance(one, functools._lru_cache_wrapper):
                    one.cache_clear()


def put_in(file: str, changed: str) -> None:
    """Make the imported module behave as its changed source says."""
    name = ".".join(["ppfs", *Path(file).with_suffix("").parts]).removesuffix(".__init__")
    old = sys.modules[name]
    new = types.ModuleType(name)
    new.__dict__.update(
        __file__=old.__file__, __package__=old.__package__, __path__=getattr(old, "__path__", None)
    )
    # Data classes look their module up by name while they are made.
    sys.modules[name] = new
    try:
        exec(compile(changed, str(old.__file__), "exec"), new.__dict__)
    finally:
        sys.modules[name] = old
    for key, value in list(vars(new).items()):
        if not key.startswith("__"):
            _replace(old, key, value)


def _replace(owner: Any, name: str, new: Any) -> None:
    """Give an attribute of a module or a class what its namesake has."""
    old = vars(owner).get(name)
    if isinstance(new, type):
        if getattr(new, "__module__", None) == getattr(old, "__module__", None) and isinstance(old, type):
            for key, value in list(vars(new).items()):
                if key not in (
                    "__dict__",
                    "__weakref__",
                    "__module__",
                    "__doc__",
                    "__annotations__",
                    "__slots__",
                ):
                    _replace(old, key, value)
        return
    pairs = list(zip(_functions_in(old), _functions_in(new), strict=False))
    for mine, theirs in pairs:
        if mine.__module__ != theirs.__module__:
            continue
        if mine is old and mine.__code__.co_freevars != theirs.__code__.co_freevars:
            setattr(owner, name, _with_cells_of(mine, theirs))
        else:
            _take_over(mine, theirs)
    is_data = not pairs or isinstance(old, functools.partial)
    if is_data and not isinstance(new, types.ModuleType) and not _same(old, new):
        home = owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__
        if _is_made_in(home, new):
            raise CannotBePutInError(f"{name} holds objects of a class of {home}, which is made again")
        if isinstance(owner, types.ModuleType):
            _set_everywhere(name, old, new)
        else:
            setattr(owner, name, new)


def _functions_in(value: Any) -> Iterator[types.FunctionType]:
    """Yield the functions that an attribute wraps: methods, properties, caches, commands, decorated functions."""
    if isinstance(value, types.FunctionType):
        yield value
    for part in ("__func__", "fget", "fset", "func", "callback", "__wrapped__"):
        inner = getattr(value, part, None)
        if inner is not None and not isinstance(value, type | types.MethodType):
            yield from _functions_in(inner)
            if not isinstance(value, property):
                break


def _take_over(mine: types.FunctionType, theirs: types.FunctionType) -> None:
    if mine.__code__.co_freevars != theirs.__code__.co_freevars:
        raise CannotBePutInError(f"{mine.__qualname__} closes over other variables")
    mine.__code__ = theirs.__code__
    mine.__defaults__ = theirs.__defaults__
    mine.__kwdefaults__ = theirs.__kwdefaults__


def _with_cells_of(mine: types.FunctionType, theirs: types.FunctionType) -> types.FunctionType:
    """Return a new function that closes over fewer variables, as one that does not call `super` any more."""
    cells = dict(zip(mine.__code__.co_freevars, mine.__closure__ or (), strict=True))
    if not cells.keys() >= set(theirs.__code__.co_freevars):
        raise CannotBePutInError(f"{mine.__qualname__} closes over other variables")
    closure = tuple(cells[name] for name in theirs.__code__.co_freevars)
    made = types.FunctionType(
        theirs.__code__, mine.__globals__, mine.__name__, theirs.__defaults__, closure or None
    )
    made.__kwdefaults__ = theirs.__kwdefaults__
    return made


def _same(old: Any, new: Any) -> bool:
    """Return whether two values say the same: plain ones, arrays, and what shows its content."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return old.dtype == new.dtype and np.array_equal(old, new)
    return _shown(old) == _shown(new)


def _shown(value: Any) -> tuple[str, str]:
    return type(value).__qualname__, re.sub("0x[0-9a-f]+", "", repr(value))


def _is_made_in(module: str, value: Any) -> bool:
    """Return whether a value is, or contains, an object of a class of a module."""
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    is_collection = isinstance(value, dict | list | tuple | set | frozenset)
    return type(value).__module__ == module or (
        is_collection and any(_is_made_in(module, part) for part in parts)
    )


def _set_everywhere(name: str, old: Any, new: Any) -> None:
    """Change a constant in every module that imported it, tests too."""
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", {})
        is_test = "/tests/" in str(space.get("__file__"))
        is_ours = str(getattr(module, "__name__", "")).startswith("ppfs") or is_test
        if is_ours and name in space and space[name] is old:
            space[name] = new
