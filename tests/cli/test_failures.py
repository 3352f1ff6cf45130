"""How the command ends when something goes wrong: exit codes and messages, without another process."""

import os
import signal
import sys

import click
import pytest
from checks.systems import needs_signals

import ppfs.cli
from ppfs import __version__
from ppfs.cli import _signals, main
from ppfs.cli._failures import run


def test_a_search_that_is_interrupted(ppfs, table, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ppfs.PPFS.fit", interrupt)
    assert ppfs("select", table, "-t", "ill").exit_code == 130


def test_an_error_that_nobody_expected_asks_for_debug(ppfs, table, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr("ppfs.PPFS.fit", fail)
    result = ppfs("select", table, "-t", "ill")
    assert result.exit_code == 1
    assert "RuntimeError: boom\nppfs: " not in result.stderr
    assert "run again with --debug" in result.stderr


@pytest.mark.parametrize(("words", "said"), [((), "fewer splits, columns or rows"), (("5 GiB",), "5 GiB")])
def test_too_little_memory_says_what_helps(ppfs, table, monkeypatch, words, said):
    def fail(*_, **__):
        raise MemoryError(*words)

    monkeypatch.setattr("ppfs.PPFS.fit", fail)
    result = ppfs("select", table, "-t", "ill")
    assert result.exit_code == 1
    assert said in result.stderr


def test_progress_goes_to_stderr_in_lines_where_nobody_watches(ppfs, table):
    result = ppfs("select", table, "-t", "ill", "--test", "paper", "--splits", 5)
    assert result.stdout == "bmi\n"
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["growth", "shrink"]


def test_a_missing_library_is_named_with_the_way_to_get_it(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "ppfs.cli._app", raising=False)
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "needs click, which is not installed. Run: pip install 'ppfs[cli]'" in capsys.readouterr().err


def test_the_version_is_printed_and_nothing_else_is_done(ppfs):
    result = ppfs("--version", "select")
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"ppfs {__version__}\n", "")


@pytest.mark.parametrize(("flags", "is_shown"), [([], False), (["--debug"], True)])
def test_debug_shows_where_an_error_arose(ppfs, table, flags, is_shown):
    result = ppfs("select", table, "-t", "nobody", *flags)
    assert result.exit_code == 1
    assert ("Traceback" in result.stderr) == is_shown
    assert result.stderr.splitlines()[-1].startswith("ppfs: 'patients.csv' has no column 'nobody'.")


@pytest.mark.parametrize(("code", "exit_code"), [(3, 3), ("a message", 1)])
def test_a_library_that_ends_the_program_decides_the_exit_code(code, exit_code):
    @click.command()
    def ended():
        raise SystemExit(code)

    assert run(ended, []) == exit_code


def test_a_command_without_arguments_shows_its_help(ppfs):
    result = ppfs()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: ppfs [OPTIONS] COMMAND [ARGS]...")


def test_an_interrupt_ends_the_line_of_the_terminal(ppfs, table, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ppfs.PPFS.fit", interrupt)
    assert ppfs("select", table, "-t", "ill", "-q").stderr == "\nppfs: Interrupted.\n"


@pytest.fixture
def heard():
    """Signals are received as in the command, and all is as before afterwards."""
    names = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")]
    before = [signal.getsignal(number) for number in names]
    for number in names[:3]:
        signal.signal(number, signal.SIG_DFL)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    for number, handler in zip(names, before, strict=True):
        signal.signal(number, handler)
    _signals._received.clear()


@needs_signals
def test_the_first_signal_counts_and_is_raised_again_until_the_command_settles(heard, monkeypatch):
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    _signals.listen()
    assert _signals.received() is None
    _signals.settle()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    for number in (signal.SIGTERM, signal.SIGINT):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert _signals.received() == signal.SIGTERM
    assert signal.getitimer(signal.ITIMER_REAL)[1] == 1.0
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGALRM)
    _signals.settle()
    left, again = signal.getitimer(signal.ITIMER_REAL)
    assert 15.0 < left <= 20.0
    assert again == 0.0
    signal.raise_signal(signal.SIGALRM)
    assert ended == [143]


@needs_signals
def test_signals_that_are_ignored_stay_ignored(heard):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _signals.listen()
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) == _signals._receive


@needs_signals
def test_a_process_that_a_signal_interrupted_ends_with_its_number(heard, monkeypatch):
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(sys, "stdout", None)
    ppfs.cli._end_at_once()
    assert ended == []
    _signals._received.append(signal.SIGINT)
    ppfs.cli._end_at_once()
    assert ended == [130]
