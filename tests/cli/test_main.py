"""How the command starts, ends and reports errors, without signals, clusters or searches."""

import atexit
import os
import signal
import sys
import warnings
from contextlib import nullcontext
from types import SimpleNamespace as Of

import click
import pytest

import ppfs.cli
from ppfs import exceptions
from ppfs.cli import _failures, _fitting, _signals, _terminal
from ppfs.cli._failures import ExitCode, InputFailure, UsageFailure, run
from ppfs.cli._terminal import CannotWriteError
from ppfs.cli.flags.cluster import on_cluster


def failing(error):
    @click.command()
    def command():
        raise error

    return command


class InvalidParameterError(ValueError):
    """As scikit-learn's."""


ASK = "\nppfs: This should not happen: run again with --debug and report it.\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "\nppfs: Interrupted.\n"),
        (click.Abort(), 130, "ppfs: Interrupted.\n"),
        (InputFailure("No file."), 1, "ppfs: No file.\n"),
        (UsageFailure("No flag."), 2, "ppfs: No flag.\n"),
        (click.UsageError("Odd."), 2, "ppfs: Odd. See: ppfs --help\n"),
        (click.UsageError("Odd. Try --help."), 2, "ppfs: Odd. Try --help.\n"),
        (
            CannotWriteError("it is full"),
            1,
            "ppfs: The result cannot be written to standard output: it is full. Write it elsewhere.\n",
        ),
        (SystemExit(3), 3, ""),
        (SystemExit("message"), 1, ""),
        (SystemExit(None), 1, ""),
        (
            MemoryError(),
            1,
            "ppfs: There is not enough memory for this: use fewer splits, columns or rows.\n",
        ),
        (MemoryError("5 GiB"), 1, "ppfs: There is not enough memory for this: 5 GiB\n"),
        (ValueError("Raise n_splits."), 1, "ppfs: Raise --splits.\n"),
        (TypeError("a"), 1, "ppfs: a\n"),
        (OSError("a"), 1, "ppfs: a\n"),
        (ImportError("a"), 1, "ppfs: a\n"),
        (exceptions.CheckpointError("a"), 1, "ppfs: a\n"),
        (exceptions.EstimatorFailedError("a"), 1, "ppfs: a\n"),
        (ValueError(), 1, "ppfs: ValueError\n"),
        (InvalidParameterError("a"), 2, "ppfs: a\n"),
        (RuntimeError("a"), 1, "ppfs: RuntimeError: a" + ASK.replace("ppfs: ", "")),
        (KeyError(), 1, "ppfs: KeyError: KeyError" + ASK.replace("ppfs: ", "")),
    ],
)
def test_how_errors_end_the_command(capsys, error, code, said):
    assert run(failing(error), []) == code
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "\nppfs: Interrupted.\n"),
        (signal.SIGTERM, 143, "\nppfs: Terminated.\n"),
    ],
)
def test_how_signals_end_the_command(capsys, monkeypatch, number, code, said):
    monkeypatch.setattr(_failures, "received", lambda: number)
    assert run(failing(KeyboardInterrupt()), []) == code
    assert capsys.readouterr().err == said
    # An error that a signal caused, in a library that turns exceptions into others.
    assert run(failing(ValueError("a")), []) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (5, 5), ("text", 0)])
def test_a_command_that_ends_well(monkeypatch, returned, code):
    settled = []
    monkeypatch.setattr(_failures, "settle", lambda: settled.append(1))
    assert run(click.command()(lambda: returned), []) == code
    assert settled == [1]


def test_errors_settle_first_and_debug_is_no_flag_of_the_command(monkeypatch, capsys):
    settled = []
    monkeypatch.setattr(_failures, "settle", lambda: settled.append(1))
    assert run(failing(InputFailure("a")), ["--debug"]) == ExitCode.input
    assert settled == [1]
    assert capsys.readouterr().err.startswith("Traceback")
    assert run(failing(InputFailure("a")), []) == ExitCode.input
    assert capsys.readouterr().err == "ppfs: a\n"


def test_a_command_without_arguments_prints_its_help(capsys):
    group = click.Group("ppfs", no_args_is_help=True, help="What it does.")
    assert run(group, []) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()[:3]) == (
        "",
        ["Usage: ppfs [OPTIONS] COMMAND [ARGS]...", "", "  What it does."],
    )


def test_warnings_of_this_package_are_said_once(capsys):
    converging = type("ConvergenceWarning", (UserWarning,), {})

    @click.command()
    def warned():
        for message, category in (
            ("Raise n_splits.", exceptions.DependentRowsWarning),
            ("Raise n_splits.", exceptions.DependentRowsWarning),
            ("Other.", exceptions.DependentRowsWarning),
            ("No convergence.", converging),
            ("Not ours.", UserWarning),
        ):
            warnings.warn(message, category, stacklevel=1)

    shown = warnings.showwarning
    assert run(warned, []) == 0
    assert capsys.readouterr().err == (
        "ppfs: warning: Raise --splits.\nppfs: warning: Other.\nppfs: warning: No convergence.\n"
    )
    assert warnings.showwarning is shown


@pytest.fixture
def started(monkeypatch):
    """Run `main` with a command that returns or raises something; return the exit code and what was called."""

    def call(outcome, number=None):
        called = []

        def note(name):
            return lambda *arguments: called.append((name, *arguments))

        def command(_, arguments):
            called.append(("run", *arguments))
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        for name in ("listen", "settle", "end_workers"):
            monkeypatch.setattr(_signals, name, note(name))
        monkeypatch.setattr(_signals, "received", lambda: number)
        monkeypatch.setattr(
            atexit, "register", lambda function: called.append(("register", function.__name__))
        )
        monkeypatch.setattr(atexit, "_run_exitfuncs", note("exit functions"))
        monkeypatch.setattr(_failures, "run", command)
        monkeypatch.setattr(sys, "argv", ["ppfs", "select"])
        with pytest.raises(SystemExit) as ended:
            ppfs.cli.main()
        return ended.value.code, called

    return call


BEGIN = [("listen",), ("register", "_end_at_once"), ("run", "select")]


@pytest.mark.parametrize(
    ("outcome", "number", "code", "more"),
    [
        (0, None, 0, []),
        (2, None, 2, []),
        (143, 15, 143, [("end_workers",), ("exit functions",)]),
        (KeyboardInterrupt(), None, 130, [("settle",)]),
        (KeyboardInterrupt(), 15, 143, [("settle",), ("end_workers",), ("exit functions",)]),
        (ModuleNotFoundError(name="rich"), None, 1, []),
        (ModuleNotFoundError(name="click"), None, 1, []),
    ],
)
def test_the_command_from_start_to_end(started, outcome, number, code, more):
    assert started(outcome, number) == (code, BEGIN + more)


def test_a_library_that_is_missing_is_named_and_another_one_is_an_error(started, capsys):
    started(ModuleNotFoundError(name="rich"))
    assert capsys.readouterr().err == (
        "ppfs: The command needs rich, which is not installed. Run: pip install 'ppfs[cli]'\n"
    )
    with pytest.raises(ModuleNotFoundError):
        started(ModuleNotFoundError(name="numpy"))


@pytest.mark.parametrize("number", [None, 15])
def test_the_process_ends_at_once_only_after_a_signal(monkeypatch, number):
    called = []
    stream = Of(flush=lambda: called.append("flush"))
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(os, "_exit", lambda code: called.append(code))
    monkeypatch.setattr(_signals, "received", lambda: number)
    ppfs.cli._end_at_once()
    assert called == ([] if number is None else ["flush", "flush", 143])


@pytest.fixture
def signals(monkeypatch):
    """Note what is asked of the system in place of doing it."""
    called = []
    monkeypatch.setattr(_signals, "_received", [])
    fake = Of(
        SIGINT=2,
        SIGTERM=15,
        SIGALRM=14,
        SIG_IGN="ignored",
        ITIMER_REAL="real",
        getsignal=lambda number: "ignored" if number == 15 else "default",
        signal=lambda number, handler: called.append((number, handler.__name__)),
        setitimer=lambda *arguments: called.append(arguments),
    )
    monkeypatch.setattr(_signals, "signal", fake)
    return called


def test_signals_that_are_not_ignored_are_received(signals):
    _signals.listen()
    assert signals == [(2, "_receive")]


def test_the_first_signal_is_remembered_and_raised_every_second(signals):
    assert _signals.received() is None
    _signals.settle()
    assert signals == []
    for number in (15, 2):
        with pytest.raises(KeyboardInterrupt):
            _signals._receive(number, None)
    assert _signals.received() == 15
    assert signals == [(14, "_raise_again"), ("real", 1.0, 1.0)] * 2
    with pytest.raises(KeyboardInterrupt):
        _signals._raise_again(14, None)
    signals.clear()
    _signals.settle()
    assert signals == [(14, "_end"), ("real", 20.0)]


def test_the_end_has_the_number_of_the_first_signal(signals, monkeypatch):
    codes = []
    monkeypatch.setattr(os, "_exit", codes.append)
    _signals._received.extend([15, 2])
    _signals._end(14, None)
    assert codes == [143]


def test_systems_without_timers_raise_once(signals):
    del _signals.signal.setitimer
    with pytest.raises(KeyboardInterrupt):
        _signals._receive(2, None)
    _signals.settle()
    assert signals == []


@pytest.mark.parametrize(("has_kill", "number"), [(True, 9), (False, 15)])
def test_workers_are_ended(monkeypatch, signals, has_kill, number):
    if has_kill:
        _signals.signal.SIGKILL = 9
    ended = []

    def kill(process, how):
        ended.append((process, how))
        if process == 1:
            raise ProcessLookupError

    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setitem(sys.modules, "multiprocessing", Of(active_children=lambda: [Of(pid=1), Of(pid=7)]))
    _signals.end_workers()
    assert ended == [(1, number), (7, number)]
    monkeypatch.delitem(sys.modules, "multiprocessing")
    _signals.end_workers()
    assert len(ended) == 2


def test_what_is_left_in_a_closed_pipe_goes_nowhere(monkeypatch):
    called = []
    fake = Of(
        O_WRONLY=1,
        devnull="nowhere",
        open=lambda *arguments: called.append(("open", *arguments)) or 7,
        dup2=lambda *arguments: called.append(("dup2", *arguments)),
        close=lambda *arguments: called.append(("close", *arguments)),
    )
    monkeypatch.setattr(_terminal, "os", fake)

    def flush():
        raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Of(fileno=lambda: 5, flush=flush))
    with _terminal.writing():
        pass
    assert called == [("open", "nowhere", 1), ("dup2", 7, 5), ("close", 7)]


@pytest.mark.parametrize(("quiet", "said"), [(True, ""), (False, "ppfs: a note\nppfs: another\n")])
def test_notes_about_the_data_are_said(monkeypatch, capsys, quiet, said):
    asked = []

    def read(request, *, quiet):
        asked.append((request, quiet))
        return Of(notes=("a note", "another"))

    monkeypatch.setattr(_fitting, "read", read)
    _fitting.read_and_say("request", Of(quiet=quiet))
    assert (capsys.readouterr().err, asked) == (said, [("request", quiet)])


@pytest.fixture
def searching(monkeypatch):
    """Search with a selector that notes what it gets."""
    called = []

    def cluster(address):
        called.append(("cluster", address))
        return nullcontext()

    def fit(X, y, **rows):
        called.append(("fit", X, y, rows))

    selector = Of(fit=fit)
    monkeypatch.setattr(_fitting, "selector_for", lambda search, data: selector)
    monkeypatch.setattr(
        _fitting, "refuse_a_class_per_row", lambda data, task: called.append(("classes", task))
    )
    monkeypatch.setattr(
        _fitting, "warn_of_many_classes", lambda one, data, task: called.append(("warn", one, task))
    )
    monkeypatch.setattr(_fitting, "on_cluster", cluster)
    data = Of(X="X", y="y", fit_arguments=lambda: {"groups": "g"})
    return selector, data, Of(quiet=False, task="t", cluster="c"), called


def test_a_search_is_checked_and_fitted(searching, monkeypatch):
    selector, data, search, called = searching
    assert _fitting.searched(data, search) is selector
    assert called == [
        ("classes", "t"),
        ("warn", selector, "t"),
        ("cluster", "c"),
        ("fit", "X", "y", {"groups": "g"}),
    ]
    monkeypatch.setattr(_fitting, "received", lambda: 2)
    with pytest.raises(KeyboardInterrupt):
        _fitting.searched(data, search)


def test_the_time_of_a_search_is_without_compilation(searching, monkeypatch):
    selector, data, search, _ = searching
    times, compiled = iter([100.0, 107.0]), iter([(1.0, 0), (3.0, 0)])
    monkeypatch.setattr(_fitting, "time", Of(monotonic=lambda: next(times)))
    monkeypatch.setattr("ppfs._engine.compile_seconds", lambda: next(compiled))
    assert _fitting.timed_search(data, search) == (selector, 5.0)


@pytest.mark.parametrize(
    ("quiet", "said"),
    [
        (True, ""),
        (False, "ppfs: compiling, which takes up to a minute; later runs on this machine start at once\n"),
    ],
)
def test_compilation_is_announced(monkeypatch, capsys, quiet, said):
    def before_compiling(announce):
        announce()
        return nullcontext()

    monkeypatch.setattr("ppfs._engine.before_compiling", before_compiling)
    with _fitting.announced_compilation(quiet):
        pass
    assert capsys.readouterr().err == said


class Context:
    """A context that notes its end."""

    def __init__(self, called):
        self.called = called

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.called.append("closed")


@pytest.fixture
def cluster(monkeypatch):
    """Fake the libraries of clusters; return what is called."""
    called = []

    def client(address, timeout):
        called.append((address, timeout))
        if "wrong" in address:
            raise OSError("no answer")
        return Context(called)

    def init(**settings):
        called.append(settings)
        if "wrong" in str(settings["address"]):
            raise ConnectionError("no answer")

    modules = {
        "distributed": Of(Client=client),
        "ray": Of(init=init, shutdown=lambda: called.append("shutdown")),
        "ray.util.joblib": Of(register_ray=lambda: called.append("registered")),
    }

    def imported(module, purpose, extra):
        called.append((purpose, extra))
        return modules[module]

    monkeypatch.setattr("ppfs.cli.flags.cluster.imported", imported)
    monkeypatch.setattr("joblib.parallel_config", lambda backend: called.append(backend) or nullcontext())
    return called


def test_no_cluster(cluster):
    with on_cluster(None):
        pass
    assert cluster == []


def test_a_cluster_of_dask(cluster):
    with on_cluster("tcp://a:1"):
        cluster.append("inside")
    assert cluster == [("--cluster tcp://a:1", "dask"), ("tcp://a:1", "20s"), "dask", "inside", "closed"]
    with pytest.raises(InputFailure) as raised, on_cluster("tcp://wrong:1"):
        pass
    assert raised.value.message == (
        "--cluster tcp://wrong:1: no scheduler answers there (no answer). Start one with: dask scheduler"
    )


@pytest.mark.parametrize(("address", "given"), [("ray", None), ("ray://a:1", "ray://a:1")])
def test_a_cluster_of_ray(cluster, address, given):
    with on_cluster(address):
        cluster.append("inside")
    settings = {"address": given, "include_dashboard": False, "log_to_driver": False}
    needs = (f"--cluster {address}", "ray")
    assert cluster == [needs, needs, settings, "registered", "ray", "inside", "shutdown"]


def test_a_cluster_that_does_not_answer_or_is_none(cluster):
    with pytest.raises(InputFailure) as raised, on_cluster("ray://wrong:1"):
        pass
    assert raised.value.message == (
        "--cluster ray://wrong:1: no Ray answers there (no answer). Start one with: ray start --head"
    )
    with pytest.raises(UsageFailure) as raised, on_cluster("rayon"):
        pass
    assert raised.value.message == (
        "--cluster 'rayon' is not an address. Write tcp://scheduler:8786 for Dask, ray://head:10001 for Ray, or ray "
        "for Ray on this machine."
    )
