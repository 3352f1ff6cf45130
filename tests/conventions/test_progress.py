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


class Clock:
    """A clock that is moved by hand."""

    def __init__(self, monkeypatch):
        self.now = self.cpu = 100.0
        monkeypatch.setattr("ppfs._conventions.progress.time.monotonic", lambda: self.now)
        monkeypatch.setattr("ppfs._conventions.progress.time.process_time", lambda: self.cpu)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def drawn(n_filled, words):
    return f"\r{'work [' + '#' * n_filled + '-' * (30 - n_filled) + '] ' + words:<78}"


def test_a_bar_is_drawn_ten_times_a_second_at_most(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    fits = [5]
    with ProgressBar("work", 4, progress=True, n_fits=lambda: fits[0]) as bar:
        first = drawn(0, "0/4 in 0.0 s, 5 fits")
        assert screen.getvalue() == first
        clock.now += 0.1 - 1e-9
        bar.advance()
        assert screen.getvalue() == first
        clock.now += 1.9
        fits[0] = 1234
        bar.advance()
        second = drawn(15, "2/4 in 2.0 s, 2 s left, 1,234 fits")
        assert screen.getvalue() == first + second
        # A tenth of a second after the last drawing, not after the last step.
        clock.now += 0.05
        bar.advance(0)
        assert screen.getvalue() == first + second
    assert screen.getvalue() == first + second + drawn(15, "2/4 in 2.0 s, 2 s left, 1,234 fits") + "\n"


@pytest.mark.parametrize(
    ("total", "done", "n_filled", "words"),
    [
        (3, 1, 10, "1/3 in 0.0 s, 0 s left"),
        (7, 1, 4, "1/7 in 0.0 s, 0 s left"),
        (2, 2, 30, "2/2 in 0.0 s"),
        (2, 3, 30, "3/2 in 0.0 s"),
    ],
)
def test_the_filled_part_of_a_bar(monkeypatch, clock, total, done, n_filled, words):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar("work", total, progress=True) as bar:
        bar.advance(done)
    assert screen.getvalue().endswith(drawn(n_filled, words) + "\n")


def test_no_bar_for_no_steps(monkeypatch, clock):
    for screen, progress in ((Terminal(), True), (io.StringIO(), "log"), (Terminal(), "log")):
        monkeypatch.setattr(sys, "stderr", screen)
        with ProgressBar("work", 0, progress=progress):
            pass
        assert screen.getvalue() == ""


def test_lines_of_a_log_come_ten_seconds_apart_and_once_at_the_end(monkeypatch, clock):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar("work", 9, progress="log") as bar:
        clock.now += 10.0
        bar.advance()
        assert screen.getvalue() == ""
        clock.now += 0.5
        bar.advance()
        said = "work: 2/9 in 10.5 s, 37 s left\n"
        assert screen.getvalue() == said
        clock.now += 10.0
        bar.advance()
        assert screen.getvalue() == said
    assert screen.getvalue() == said + "work: 3/9 in 20.5 s, 41 s left\n"
    screen.truncate(0)
    screen.seek(0)
    with ProgressBar("work", 2, progress="log") as bar:
        clock.now += 10.5
        bar.advance(2)
    # Said already.
    assert screen.getvalue() == "work: 2/2 in 10.5 s\n"


def test_a_log_on_a_terminal_is_a_bar(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar("work", 1, progress="log") as bar:
        bar.advance()
    assert screen.getvalue() == drawn(0, "0/1 in 0.0 s") + drawn(30, "1/1 in 0.0 s") + "\n"


@pytest.mark.parametrize(
    ("compiled", "words"),
    [
        (0.9, "1/3 in 10.0 s, 18 s left"),
        (1.0, "1/3 in 10.0 s, 1 s of it to compile, once, 18 s left"),
        (12.0, "1/3 in 10.0 s, 12 s of it to compile, once, 0 s left"),
    ],
)
def test_compilation_of_a_second_is_said(monkeypatch, clock, compiled, words):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    times = [(3.0, 5.0)]
    bar = ProgressBar("work", 3, progress="log", compiling=lambda: times[-1])
    clock.now += 10.0
    times.append((3.0 + compiled, 5.0))
    with bar:
        bar.advance()
    assert screen.getvalue() == f"work: {words}\n"


def test_steps_that_remain_are_counted_from_the_total(monkeypatch, clock):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar("work", 10, progress="log") as bar:
        bar.advance(2)
        bar.advance_to_remaining(3)
        assert bar._done == 7
        bar.expect(5)
        clock.now += 7.0
    assert screen.getvalue() == "work: 7/12 in 7.0 s, 5 s left\n"


def test_phases_are_marked_with_cpu_seconds_without_compilation(clock):
    compiled, fits = [(1.0, 2.0)], [10]
    with watched_phases() as phases:
        with ProgressBar(
            "a", 2, progress=False, n_fits=lambda: fits[0], compiling=lambda: compiled[0]
        ) as bar:
            clock.cpu += 5.0
            fits[0] = 13
            bar.advance()
            compiled[0] = (1.0, 4.5)
            clock.cpu += 1.0
            bar.advance()
        with pytest.raises(KeyError), ProgressBar("b", 1, progress=False, compiling=lambda: (0.0, clock.cpu)):
            raise KeyError
    first, second = phases
    assert [tuple(mark) for mark in first.marks] == [(1, 5.0, 3), (2, 3.5, 3), (2, 3.5, 3)]
    assert (first.seconds, first.n_fits, first.is_complete, first.total) == (3.5, 3, True, 2)
    assert [tuple(mark) for mark in second.marks] == [(0, 0.0, 0)]
    assert (second.label, second.is_complete) == ("b", False)
    fresh = type(first)("c", 1)
    assert (fresh.seconds, fresh.n_fits, fresh.is_complete) == (0.0, 0, False)


def test_watched_work_may_take_its_limit_and_no_more(clock):
    with watched_phases(limit=3.0), ProgressBar("work", 9, progress=False) as bar:
        clock.cpu += 3.0
        bar.advance()
        clock.cpu += 0.001
        with pytest.raises(OutOfTimeError, match=r"^work$"):
            bar.advance()
    with ProgressBar("work", 9, progress=False) as bar:
        bar.advance()
        assert bar._phase.marks == []
