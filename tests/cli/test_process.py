"""What only a process shows: signals, pipes, tracebacks."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checks.systems import needs_signals

SELECT = [sys.executable, "-m", "ppfs", "select"]
# A model that loads no compiled kernels.
FAST = ["--test", "paper", "--splits", "5", "--estimator", "sklearn.naive_bayes:GaussianNB", "--quiet"]


@needs_signals
def test_ctrl_c_ends_with_130_and_no_traceback(tmp_path):
    pipe = tmp_path / "data.csv"
    os.mkfifo(pipe)
    command = subprocess.Popen([*SELECT, pipe, "-t", "y"], stderr=subprocess.PIPE, text=True)
    # Opening it waits for the reader: the command is at work then.
    with command as process, open(pipe, "w"):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    # The line break ends the terminal's ^C.
    assert said == "\nppfs: Interrupted.\n"


SLOW = """
import pathlib, sys, time
from sklearn.naive_bayes import GaussianNB

class Slow(GaussianNB):
    def fit(self, X, y):
        pathlib.Path("started").touch()
        for _ in range(600):
            time.sleep(0.1)
        return super().fit(X, y)

class Deaf(Slow):
    def fit(self, X, y):
        try:
            return super().fit(X, y)
        except KeyboardInterrupt:
            Slow.fit = GaussianNB.fit
            return GaussianNB.fit(self, X, y)

class Stubborn(Slow):
    def fit(self, X, y):
        try:
            return super().fit(X, y)
        except KeyboardInterrupt:
            return super().fit(X, y)

class Confused(Slow):
    def fit(self, X, y):
        try:
            super().fit(X, y)
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error
"""

# As if the signal came again while joblib ends its workers, and beside a thread that does not end.
INTERRUPTED_TWICE = """
import os, pathlib, threading, time
from joblib._parallel_backends import LokyBackend
from slow import Slow

def interrupted(self, ensure_ready=True):
    raise KeyboardInterrupt

LokyBackend.abort_everything = interrupted
threading.Thread(target=time.sleep, args=(600,)).start()

class Worker(Slow):
    def fit(self, X, y):
        pathlib.Path(f"worker-{os.getpid()}").touch()
        return super().fit(X, y)
"""


@pytest.fixture
def slow(tmp_path, table):
    """A search that is at work until it gets a signal; returns its exit code and what it said."""
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    (tmp_path / "twice.py").write_text(INTERRUPTED_TWICE, encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "TMPDIR": str(tmp_path / "temporary"),
    }

    def call(sent, *flags):
        command = [*SELECT, table, "-t", "ill", *FAST[:-3], *flags, "--quiet"]
        with subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
            # Tests that run under nohup ignore SIGHUP, and so would the command.
            preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),
        ) as process:
            while process.poll() is None and not (tmp_path / "started").exists():
                time.sleep(0.05)
            # While the search is at work there is a folder to remove.
            before = [path.name[:5] for path in (tmp_path / "temporary").iterdir()]
            process.send_signal(sent)
            try:
                _, said = process.communicate(timeout=60)
            finally:
                process.kill()
        return process.returncode, said, before

    return call


@needs_signals
@pytest.mark.parametrize(("sent", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_signal_leaves_no_temporary_folder(slow, tmp_path, sent, code):
    returned, said, before = slow(getattr(signal, sent), "--stream", "--estimator", "slow:Slow")
    assert before == ["ppfs-"]
    assert returned == code
    assert "Traceback" not in said
    assert list((tmp_path / "temporary").iterdir()) == []


@needs_signals
def test_ctrl_c_that_a_library_turns_into_another_error_ends_with_130(slow):
    returned, said, _ = slow(signal.SIGINT, "--estimator", "slow:Confused")
    assert (returned, said) == (130, "\nppfs: Interrupted.\n")


@needs_signals
@pytest.mark.parametrize("model", ["Deaf", "Stubborn"])
def test_ctrl_c_that_a_library_swallows_ends_with_130(slow, model):
    returned, said, _ = slow(signal.SIGINT, "--estimator", f"slow:{model}")
    assert (returned, said) == (130, "\nppfs: Interrupted.\n")


@needs_signals
def test_a_signal_ends_workers_and_does_not_wait_for_threads(slow, tmp_path):
    returned, said, _ = slow(signal.SIGTERM, "--stream", "--jobs", "2", "--estimator", "twice:Worker")
    assert (returned, said) == (143, "\nppfs: Terminated.\n")
    assert list((tmp_path / "temporary").iterdir()) == []
    workers = [int(path.name.partition("-")[2]) for path in tmp_path.glob("worker-*")]
    assert workers
    assert not any(is_running(worker) for worker in workers)


def is_running(number):
    """Return whether there is such a process; one that has ended and was not waited for does not count."""
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_reader_that_has_seen_enough_is_no_error(table):
    with subprocess.Popen(
        [*SELECT, table, "-t", "ill", "--format", "json", *FAST],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")


def test_standard_input_and_output(patients):
    text = patients.to_csv(index=False)
    done = subprocess.run(
        [*SELECT, "-", "-t", "ill", *FAST], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "bmi\n", "")


@pytest.mark.parametrize("flags", [[], ["--debug"]])
def test_only_debug_shows_tracebacks(flags):
    done = subprocess.run(
        [*SELECT, "missing.csv", "-t", "y", *flags], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert ("Traceback" in done.stderr) == bool(flags)
    assert done.stderr.splitlines()[-1].startswith("ppfs: There is no file 'missing.csv'.")


def test_the_first_run_says_that_it_compiles(table, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    # Trees of a few numbers compile little.
    command = [*SELECT, table, "-t", "ill", "--test", "paper", "--splits", "5"]
    said = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr
        for _ in range(2)
    ]
    assert ["ppfs: compiling, which takes up to a minute" in lines for lines in said] == [True, False]
    assert "to compile, once" not in said[1]


def test_a_closed_output_is_named_and_the_result_saved(table):
    command = " ".join([*SELECT, str(table), "-t", "ill", *FAST])
    done = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "standard output: it is closed" in done.stderr
    assert "The selection is saved as" in done.stderr
