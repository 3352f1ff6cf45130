"""Which tests run which lines, and how long they take: so that a mutant meets only the tests that could see it.

    pytest -p coverage_map --map map.json tests/...       (run.py does so)

A pytest plugin. Lines are those of ``src/ppfs``; times are seconds of the processor, whatever else runs on the machine.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

_seconds: dict[str, float] = {}
_broken: set[str] = set()
_coverage: Coverage | None = None
_written = [0.0]
_SECONDS_BETWEEN = 30.0


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--map", help="where the map goes")


def pytest_configure(config: Any) -> None:
    global _coverage
    _coverage = Coverage(data_file=None, source=["ppfs"], branch=False)
    _coverage.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Iterator[None]:
    assert _coverage is not None
    _coverage.switch_context(item.nodeid)
    start = time.process_time()
    outcome = yield
    _seconds[item.nodeid] = round(time.process_time() - start, 3)
    _coverage.switch_context("")
    if time.process_time() - _written[-1] > _SECONDS_BETWEEN:
        # What is there so far counts if the run is cut short.
        _write(item.config.getoption("--map"))
        _written.append(time.process_time())
    return outcome


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed:
        _broken.add(report.nodeid)


def pytest_unconfigure(config: Any) -> None:
    assert _coverage is not None
    _coverage.stop()
    _write(config.getoption("--map"))


def _write(path: str) -> None:
    assert _coverage is not None
    data = _coverage.get_data()
    numbers = {test: number for number, test in enumerate(_seconds)}
    lines: dict[str, dict[int, list[int]]] = {}
    for source in data.measured_files():
        file = source.split("/ppfs/", 1)[-1]
        by_line = data.contexts_by_lineno(source)
        lines[file] = {
            line: sorted(numbers[test] for test in tests if test in numbers and test not in _broken)
            for line, tests in by_line.items()
        }
    written = {"tests": [[test, _seconds[test]] for test in numbers], "lines": _shared(lines)}
    Path(path).write_text(json.dumps(written))


def _shared(lines: dict[str, dict[int, list[int]]]) -> dict[str, list[list[Any]]]:
    """Write each set of tests once, with the lines that have it."""
    packed = {}
    for file, by_line in lines.items():
        same = defaultdict(list)
        for line, tests in by_line.items():
            same[tuple(tests)].append(line)
        packed[file] = [[where, tests] for tests, where in same.items()]
    return packed
