"""Progress goes to stderr, and only where someone looks."""

import io
import re
import sys

import numpy as np
import pytest

from ppfs import PPFS
from ppfs._conventions.progress import OutOfTimeError, ProgressBar, watched_phases
from ppfs.blanket import GrowShrink


class Terminal(io.StringIO):
    def isatty(self):
        return True


class NotebookStream(io.StringIO):
    """Like the stream with which Jupyter's kernel replaces stderr."""


NotebookStream.__module__ = "ipykernel.iostream"


@pytest.mark.parametrize("stream", [Terminal, NotebookStream])
def test_one_bar_for_growth_and_one_for_shrink(monkeypatch, capsys, stream):
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    X = np.random.default_rng(0).normal(size=(60, 3))
    PPFS(n_splits=5, progress=True, random_state=0).fit(X, X[:, 0] > 0)
    lines = screen.getvalue().splitlines()
    last = [line.split("\r")[-1] for line in screen.getvalue().split("\n") if line]
    assert [line.split()[0] for line in last] == ["growth", "shrink"]
    assert "3/3" in last[0]
    assert lines
    assert capsys.readouterr().out == ""


def test_a_search_that_starts_over_ends_at_its_total(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    X = np.random.default_rng(0).normal(size=(100, 4))
    X[:, 2:] += X[:, :2]
    GrowShrink(alpha=0.2, progress="log").fit(
        X, X[:, 0] + X[:, 1] + np.random.default_rng(1).normal(size=100)
    )
    counts = re.findall(r"shrink: (\d+)/(\d+) in", screen.getvalue())
    assert [done == total for done, total in counts] == [True]


def test_silent_in_files_and_without_progress(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    for screen, progress in ((io.StringIO(), True), (Terminal(), False)):
        monkeypatch.setattr(sys, "stderr", screen)
        PPFS(n_splits=5, progress=progress, random_state=0).fit(X, X[:, 0] > 0)
        assert screen.getvalue() == ""


def test_a_log_gets_a_line_a_phase_and_one_every_ten_seconds(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    X = np.random.default_rng(0).normal(size=(60, 3))
    PPFS(n_splits=5, progress="log", random_state=0).fit(X, X[:, 0] > 0)
    assert [line.split(" in ")[0] for line in screen.getvalue().splitlines()] == [
        "growth: 3/3",
        "shrink: 1/1",
    ]
    assert all(line.endswith(" fits") for line in screen.getvalue().splitlines())
    seconds = iter(range(0, 1000, 3))
    monkeypatch.setattr("ppfs._conventions.progress.time.monotonic", lambda: next(seconds))
    screen.truncate(0)
    with ProgressBar("work", total=10, progress="log") as bar:
        for _ in range(10):
            bar.advance()
    lines = screen.getvalue().strip("\0").splitlines()
    assert [line.split(" in ")[0] for line in lines] == [
        "work: 4/10",
        "work: 7/10",
        "work: 10/10",
    ]
    assert "\r" not in screen.getvalue()


def test_folds_are_named(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    X = np.random.default_rng(0).normal(size=(60, 3))
    PPFS(n_splits=5, n_folds=2, progress=True, random_state=0).fit(X, X[:, 0] > 0)
    assert "fold 2 growth" in screen.getvalue()


def test_bar_tells_time_left(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    clock = iter(range(100))
    monkeypatch.setattr("ppfs._conventions.progress.time.monotonic", lambda: next(clock))
    with ProgressBar("work", total=4, progress=True) as bar:
        bar.advance()
    assert "1/4" in screen.getvalue()
    assert "s left" in screen.getvalue()


def test_compilation_is_left_out_of_the_time_that_is_left(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    clock = iter([0.0, 62.0, 62.0, 62.0])
    monkeypatch.setattr("ppfs._conventions.progress.time.monotonic", lambda: next(clock))
    compiled = iter([(0.0, 0.0), (52.0, 52.0)])
    bar = ProgressBar("growth", 10, "log", compiling=lambda: next(compiled))
    bar.advance()
    assert screen.getvalue() == "growth: 1/10 in 62.0 s, 52 s of it to compile, once, 90 s left\n"


def test_phases_are_watched_with_their_fits():
    X = np.random.default_rng(0).normal(size=(60, 3))
    with watched_phases() as phases:
        selector = PPFS(n_splits=5, random_state=0).fit(X, X[:, 0] > 0)
    assert [phase.label for phase in phases] == ["growth", "shrink"]
    assert sum(phase.n_fits for phase in phases) == selector.n_fits_
    assert all(phase.seconds >= 0 and phase.is_complete for phase in phases)


def test_work_that_is_watched_can_be_cut_short():
    X = np.random.default_rng(0).normal(size=(60, 3))
    selector = PPFS(n_splits=5, random_state=0)
    with watched_phases(limit=0.0) as phases, pytest.raises(OutOfTimeError):
        selector.fit(X, X[:, 0] > 0)
    assert [(phase.label, phase.is_complete) for phase in phases] == [("growth", False)]
    assert not hasattr(selector, "support_")
