"""Python without its lock is refused, with the way out."""

import importlib.util
import sys

import pytest

import ppfs


def test_python_without_its_lock_is_refused(monkeypatch):
    spec = importlib.util.spec_from_file_location("ppfs_again", ppfs.__file__)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False)
    with pytest.raises(ImportError, match="PYTHON_GIL=1"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
