"""The lines that other systems run, one by one; test_systems.py takes all parts away in a process."""

import ctypes
import mmap
import os
import signal
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from ppfs._data import available_memory
from ppfs._data.sources.text import convert_text
from ppfs.blanket._run.checkpoint_folder import locked
from ppfs.cli._signals import end_workers
from ppfs.exceptions import CheckpointError


def test_windows_tells_its_memory(monkeypatch):
    def tell(status):
        status._obj.total = 123

    monkeypatch.delattr(os, "sysconf", raising=False)
    windll = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=tell))
    monkeypatch.setattr(ctypes, "windll", windll, raising=False)
    assert available_memory() == 123


def test_text_is_converted_without_advice_about_memory(monkeypatch, tmp_path):
    monkeypatch.delattr(mmap, "MADV_DONTNEED", raising=False)
    frame = pd.DataFrame({"a": [1.0, 2.5], "b": [3.0, -4.0]})
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "columns").mkdir()
    convert_text(tmp_path / "data.csv", tmp_path / "columns", progress=False)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "columns"), frame)


@pytest.mark.parametrize("is_held", [False, True])
def test_windows_locks_a_folder(monkeypatch, tmp_path, is_held):
    asked = []

    def locking(file, mode, n_bytes):
        asked.append((mode, n_bytes))
        if is_held:
            raise PermissionError

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK="no waiting"))
    if is_held:
        with pytest.raises(CheckpointError, match="Another process"), locked(tmp_path):
            pass
    else:
        with locked(tmp_path):
            pass
    assert asked == [("no waiting", 1)]


def test_workers_are_terminated_where_they_cannot_be_killed(monkeypatch):
    sent = []
    monkeypatch.delattr(signal, "SIGKILL", raising=False)
    monkeypatch.setattr(os, "kill", lambda process, number: sent.append((process, number)))
    workers = SimpleNamespace(active_children=lambda: [SimpleNamespace(pid=5)])
    monkeypatch.setitem(sys.modules, "multiprocessing", workers)
    end_workers()
    assert sent == [(5, signal.SIGTERM)]
