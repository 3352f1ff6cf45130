"""Benchmark scripts as modules, without running them."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="session")
def script():
    """Import a script by its path below ``benchmarks``; the import path is as before afterwards."""

    def load(path):
        before = list(sys.path)
        folder, name = str((BENCHMARKS / path).parent), Path(path).stem
        sys.path.insert(0, folder)
        known = sys.modules.get(name)
        if known is not None and Path(str(known.__file__)) != BENCHMARKS / path:
            del sys.modules[name]  # Another script of the same name.
        try:
            return importlib.import_module(name)
        finally:
            sys.path[:] = before

    return load
