"""Searches that are killed continue where they stopped, with the same answers."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from checks.systems import needs_signals

from ppfs import PPFS
from ppfs.blanket._run import checkpoint_folder
from ppfs.exceptions import CheckpointError, CheckpointWarning
from ppfs.independence._predictive import marginal
from ppfs.independence._predictive.risks.trees import TreeGrower

# `make test-scale` asks for the full numbers.
IN_FULL = os.environ.get("PPFS_SCALE") == "full"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(TreeGrower, "bytes_per_block", 60 * 8 * 4)


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(60, 30)), 2)
    y = X[:, 0] - X[:, 1] + X[:, 2] + 0.3 * generator.normal(size=60)
    return X, y


def _search(folder=None, **parameters):
    return PPFS(**{"n_splits": 8, "random_state": 3, "checkpoint": folder, **parameters})


def _told(fitted):
    return fitted.blanket_.tolist(), fitted.pvalues_.tolist(), fitted.trace_.to_frame().to_csv()


class Killed(BaseException):
    """A stand-in for the end of the process."""


def _kill_after(n, monkeypatch):
    calls = []

    def counted(self, block, original=marginal.Growth.__call__):
        if len(calls) == n:
            raise Killed
        calls.append(block.names)
        return original(self, block)

    monkeypatch.setattr(marginal.Growth, "__call__", counted)
    return calls


def test_a_killed_search_continues_without_asking_again(data, tmp_path, monkeypatch):
    expected = _told(_search().fit(*data))
    with monkeypatch.context() as patched:
        first = _kill_after(3, patched)
        with pytest.raises(Killed):
            _search(tmp_path / "run").fit(*data)
    with monkeypatch.context() as patched:
        second = _kill_after(1000, patched)
        assert _told(_search(tmp_path / "run").fit(*data)) == expected
    assert not {*first} & {*second}
    with monkeypatch.context() as patched:
        third = _kill_after(1000, patched)
        finished = _search(tmp_path / "run").fit(*data)
    assert _told(finished) == expected
    assert third == []
    assert finished.n_fits_ == 0


def test_folds_are_continued_too(data, tmp_path, monkeypatch):
    expected = _told(_search(n_folds=3).fit(*data))
    with monkeypatch.context() as patched:
        _kill_after(12, patched)
        with pytest.raises(Killed):
            _search(tmp_path / "run", n_folds=3).fit(*data)
    assert _told(_search(tmp_path / "run", n_folds=3).fit(*data)) == expected


def test_what_differs_is_named(data, tmp_path):
    X, y = data
    _search(tmp_path / "run").fit(X, y)
    with pytest.raises(CheckpointError, match="the data"):
        _search(tmp_path / "run").fit(X + 1.0, y)
    with pytest.raises(CheckpointError, match=r"test.n_splits: 8 there, 9 here"):
        _search(tmp_path / "run", n_splits=9).fit(X, y)
    with pytest.raises(CheckpointError, match=r"seed: 3 there, 4 here"):
        _search(tmp_path / "run", random_state=4).fit(X, y)


def test_another_alpha_grows_nothing_anew(data, tmp_path, monkeypatch):
    _search(tmp_path / "run").fit(*data)
    with monkeypatch.context() as patched:
        asked = _kill_after(1000, patched)
        _search(tmp_path / "run", alpha=0.01).fit(*data)
    assert asked == []


def test_what_cannot_be_compared_later_is_refused(data, tmp_path):
    with pytest.raises(CheckpointError, match="random_state"):
        _search(tmp_path / "run", random_state=None).fit(*data)
    rows = (row for row in range(60))
    with pytest.raises(CheckpointError, match=r"loss: .*generator"):
        _search(tmp_path / "run", loss=lambda truth, values: abs(truth - values - next(rows))).fit(*data)
    assert not (tmp_path / "run").exists()


def test_two_processes_do_not_share_a_checkpoint(data, tmp_path):
    folder = checkpoint_folder.claim_checkpoint(tmp_path)
    with checkpoint_folder.locked(folder), pytest.raises(CheckpointError, match="Another process"):
        _search(tmp_path).fit(*data)


def test_a_full_disk_leaves_what_was_there(data, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        _kill_after(3, patched)
        with pytest.raises(Killed):
            _search(tmp_path / "run").fit(*data)
    before = sorted(path.name for path in (tmp_path / "run").iterdir())

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(CheckpointError, match="No space left"):
            _search(tmp_path / "run").fit(*data)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before
    assert _told(_search(tmp_path / "run").fit(*data)) == _told(_search().fit(*data))


def _damage(folder, generator):
    """Change one file of a checkpoint at random."""
    path = generator.choice(sorted(path for path in folder.iterdir() if path.name != "lock"))
    content = bytearray(path.read_bytes())
    way = generator.choice(["truncate", "flip", "empty", "other version", "rename", "delete"])
    if way == "truncate":
        path.write_bytes(content[: generator.randrange(len(content))])
    elif way == "flip":
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(content)
    elif way == "empty":
        path.write_bytes(b"")
    elif way == "delete":
        path.unlink()
    elif way == "rename":
        path.rename(path.with_name(path.name.replace("fold-0", "fold-1")))
    elif path.suffix == ".json":
        path.write_text(json.dumps({**json.loads(content), "format": 99}), encoding="utf-8")
    else:
        path.write_bytes(content + b"more")


def test_damage_ends_in_the_right_answer_or_a_clear_error(data, tmp_path):
    """Thirty random mutations here; `make test-scale` tries two hundred."""
    X, y = data[0][:, :8], data[1]
    expected = _told(_search().fit(X, y))
    folder = tmp_path / "run"
    generator = random.Random(0)
    _search(folder).fit(X, y)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    for _ in range(200 if IN_FULL else 30):
        for path in folder.iterdir():
            path.unlink()
        for name, content in whole.items():
            (folder / name).write_bytes(content)
        _damage(folder, generator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CheckpointWarning)
            try:
                assert _told(_search(folder).fit(X, y)) == expected
            except CheckpointError:
                continue


def test_a_damaged_file_is_named(data, tmp_path):
    _search(tmp_path).fit(*data)
    damaged = next(tmp_path.glob("*growth*"))
    damaged.write_bytes(damaged.read_bytes()[:-5])
    with pytest.warns(CheckpointWarning, match=damaged.name):
        _search(tmp_path).fit(*data)


_PROGRAM = """
import sys
import numpy as np
from ppfs import PPFS
from ppfs.independence._predictive.risks import trees
trees.TreeGrower.bytes_per_block = 60 * 8 * 4
trees._ROWS_FOR_THREADS = 0
data = np.load(sys.argv[1])
print("ready", flush=True)
PPFS(n_splits=8, random_state=3, checkpoint=sys.argv[2], n_folds=4).fit(data["X"], data["y"])
print("done", flush=True)
"""


@needs_signals
@pytest.mark.parametrize("backend", ["threading", "loky"] if IN_FULL else ["threading"])
def test_an_interrupted_process_leaves_a_checkpoint_to_continue_from(data, tmp_path, backend):
    """Ctrl-C reaches every process of a terminal's group: workers too."""
    np.savez(tmp_path / "data.npz", X=data[0], y=data[1])
    program = f"import joblib; joblib.parallel_config(backend={backend!r}, n_jobs=2).__enter__()" + _PROGRAM
    command = [sys.executable, "-c", program, str(tmp_path / "data.npz"), str(tmp_path / "run")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        while process.poll() is None and not [*(tmp_path / "run").glob("fold-2-*.npz")]:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate()[1]
    assert "KeyboardInterrupt" in said
    n_written = len([*(tmp_path / "run").glob("*growth*.npz")])
    fitted = _search(tmp_path / "run", n_folds=4).fit(*data)
    assert _told(fitted) == _told(_search(n_folds=4).fit(*data))
    assert len([*(tmp_path / "run").glob("*growth*.npz")]) > n_written > 8


def _files(folder):
    """Return what tells whether a file was written again."""
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("fold-*.npz")}


def test_a_process_that_is_killed_at_any_moment_is_continued(data, tmp_path, monkeypatch):
    """`make test-scale` kills at ten moments; each time a new process starts from nothing and is continued here."""
    np.savez(tmp_path / "data.npz", X=data[0], y=data[1])
    expected = _told(_search(tmp_path / "whole", n_folds=4).fit(*data))
    n_blocks = len([*(tmp_path / "whole").glob("*growth*.npz")])
    generator = random.Random(1)
    for moment in range(10 if IN_FULL else 2):
        folder = tmp_path / f"run-{moment}"
        command = [sys.executable, "-c", _PROGRAM, str(tmp_path / "data.npz"), str(folder)]
        n_files = generator.randrange(len(_files(tmp_path / "whole")))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            while process.poll() is None and len(_files(folder)) < n_files:
                time.sleep(0.001)
            time.sleep(generator.uniform(0.0, 0.01))
            process.kill()
        before = _files(folder)
        n_finished = len([*folder.glob("*growth*.npz")])
        with monkeypatch.context() as patched:
            asked = _kill_after(1000, patched)
            assert _told(_search(folder, n_folds=4).fit(*data)) == expected
        assert len(asked) == n_blocks - n_finished
        assert {name: when for name, when in _files(folder).items() if name in before} == before
