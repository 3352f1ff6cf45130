"""The disk cache of kernels: it notices edits, and no fault of it reaches a fit."""

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest

import ppfs
from ppfs._engine.boosting.column_models import _boost_columns
from ppfs._engine.boosting.scores import _fill_outcome
from ppfs._engine.jit import disk_cache
from ppfs._engine.jit.kernels import ENGINE_STAMP, allocating_kernel
from ppfs._engine.many_columns.cart import grow
from ppfs._engine.many_columns.routing import leaves_of_rows, losses_of_leaves, risks, weighted_mean
from ppfs._engine.one_column.forest_leaves import forest_leaf_losses
from ppfs._engine.one_column.forest_neighbors import forest_losses
from ppfs._engine.one_column.neighbor_inputs import fill_known_losses
from ppfs._engine.one_column.neighbor_risks import class_risks, number_risks
from ppfs._engine.one_column.neighbor_rows import neighbor_row_losses
from ppfs._engine.one_column.tree_risks import _column_risks
from ppfs._engine.one_column.tree_rows import _column_row_losses

compiles = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


@compiles
@pytest.mark.parametrize(
    "compiled",
    [
        grow,
        risks,
        leaves_of_rows,
        losses_of_leaves,
        weighted_mean,
        _column_risks,
        _column_row_losses,
        class_risks,
        fill_known_losses,
        neighbor_row_losses,
        number_risks,
        forest_losses,
        forest_leaf_losses,
        _boost_columns,
        _fill_outcome,
    ],
    ids=lambda compiled: compiled.__name__,
)
def test_kernels_carry_the_stamp_of_the_whole_engine(compiled):
    """Numba keeps the stamp of one file only; should it rename the attribute, this test says so."""
    assert compiled._cache._cache_file._source_stamp == ENGINE_STAMP


# The smallest kernel: what happens to its files happens to those of all others.
KERNEL = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from ppfs._engine.many_columns.routing import weighted_mean
    mean = weighted_mean(np.array([1.0, 5.0]), 2.0, np.zeros(2))
assert mean == 3.0, mean
print("hits", sum(weighted_mean.stats.cache_hits.values()))
for warning in told:
    print(warning.category.__name__, warning.message)
"""


def run(code: str, **environment: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(ppfs.__file__).parents[1]), **environment},
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    return finished.stdout


class Moved:
    """What kernels are compiled for, in one version of the sources."""


def _doubled(values):
    return values * 2


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Do what a new process does: compile or load a kernel and run it; return the hits and what was told."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def process() -> tuple[int, list[str]]:
        monkeypatch.setattr(disk_cache, "_told", [])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            doubled = allocating_kernel(_doubled)
            assert doubled(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
            assert doubled(np.array([1, 2])).tolist() == [2, 4]
        assert {warning.category for warning in told} <= {RuntimeWarning}
        return sum(doubled.stats.cache_hits.values()), [str(warning.message) for warning in told]

    return process


def _empty(content: bytes) -> bytes:
    return b""


def _truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flipped_in_the_middle(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0x10]) + content[middle + 1 :]


def _flipped_at_the_end(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _flipped_at_the_start(content: bytes) -> bytes:
    return bytes([content[0] ^ 0x40]) + content[1:]


@compiles
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize(
    "damaged", [_empty, _truncated, _flipped_at_the_start, _flipped_in_the_middle, _flipped_at_the_end]
)
def test_a_damaged_file_costs_a_compilation_and_is_replaced(start, tmp_path, ending, damaged):
    assert start() == (0, [])
    assert start() == (2, [])
    file = next(tmp_path.rglob(f"*{ending}"))
    file.write_bytes(damaged(file.read_bytes()))
    hits, told = start()
    assert hits < 2
    # An index that does not start as one is that of another version of Numba: nothing is damaged.
    if not (ending == ".nbi" and damaged in (_empty, _flipped_at_the_start)):
        (message,) = told
        assert "delete that folder" in message
        assert str(tmp_path) in message
    assert start() == (2, [])


@compiles
def test_machine_code_of_another_signature_is_not_run(tmp_path):
    """Two processes that save at the same time may take the same file name; the index then points at a stranger."""
    from ppfs._engine.jit.checked_cache import CheckedFiles

    files = CheckedFiles(cache_path=str(tmp_path), filename_base="kernel", source_stamp=0)
    files.save("float64", "code for float64")
    (data,) = tmp_path.glob("*.nbc")
    kept = data.read_bytes()
    files._save_index({})
    files.save("int64", "code for int64")
    data.write_bytes(kept)
    assert files.load("int64") is None
    assert files.load("float64") is None


@compiles
def test_machine_code_of_older_sources_is_not_run(tmp_path):
    """A process that is stopped, or only slow, between writing the index and the file leaves the old file there."""
    from ppfs._engine.jit.checked_cache import CheckedFiles

    old = CheckedFiles(cache_path=str(tmp_path), filename_base="kernel", source_stamp=0)
    old.save("float64", "code of yesterday")
    (data,) = tmp_path.glob("*.nbc")
    kept = data.read_bytes()
    new = CheckedFiles(cache_path=str(tmp_path), filename_base="kernel", source_stamp=1)
    new.save("float64", "code of today")
    assert new.load("float64") == "code of today"
    data.write_bytes(kept)
    assert new.load("float64") is None


@compiles
def test_files_that_name_what_is_no_longer_there_are_a_silent_miss(tmp_path, monkeypatch):
    """After an upgrade: the signature and the code of older sources name a class that has moved."""
    from ppfs._engine.jit.checked_cache import CheckedFiles

    old = CheckedFiles(cache_path=str(tmp_path), filename_base="kernel", source_stamp=0)
    old.save(Moved, Moved)
    monkeypatch.delitem(globals(), "Moved")
    new = CheckedFiles(cache_path=str(tmp_path), filename_base="kernel", source_stamp=1)
    assert new.load("float64") is None
    (data,) = tmp_path.glob("*.nbc")
    kept = data.read_bytes()
    new.save("float64", "code of today")
    assert new.load("float64") == "code of today"
    data.write_bytes(kept)
    assert new.load("float64") is None


@compiles
def test_files_that_numba_wrote_itself_are_a_silent_miss(start, tmp_path):
    """An earlier release left the choice of names and contents to Numba."""
    doubled = numba.njit(nogil=True, cache=True)(_doubled)
    doubled(np.array([1.0, 2.0]))
    assert list(tmp_path.rglob("*.nbi"))
    assert start() == (0, [])
    assert start() == (2, [])


@compiles
def test_a_full_disk_costs_a_compilation(tmp_path):
    """No file may grow beyond a kilobyte: like a full disk, without the right to mount one."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))"
    told = run(limit + KERNEL, NUMBA_CACHE_DIR=str(tmp_path))
    assert told.startswith("hits 0\n")
    assert told.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in told
    assert [path for path in tmp_path.rglob("*.nb*") if path.stat().st_size > 1024] == []


@compiles
def test_a_small_full_file_system_costs_a_compilation(tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(tmp_path)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a file system needs more rights")
    try:
        told = run(KERNEL, NUMBA_CACHE_DIR=str(tmp_path))
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert told.startswith("hits 0\n")
    assert told.count("RuntimeWarning") == 1
    assert "No space left" in told


@compiles
@pytest.mark.parametrize("renamed", ["_source_stamp", "_version"])
def test_a_numba_with_other_private_parts_means_no_disk_cache(tmp_path, renamed):
    """Without the stamp a kernel made of several files could not notice an edit in one of them."""
    hide = f"""
from numba.core import caching
known = caching.IndexDataCacheFile.__init__
def without(self, *args, **kwargs):
    known(self, *args, **kwargs)
    self.__dict__.pop({renamed!r}, None)
caching.IndexDataCacheFile.__init__ = without
"""
    told = run(hide + KERNEL, NUMBA_CACHE_DIR=str(tmp_path))
    assert told.startswith("hits 0\n")
    assert told.count("RuntimeWarning") == 1
    assert renamed in told
    assert list(tmp_path.rglob("*.nb*")) == []


@compiles
@pytest.mark.skipif(not hasattr(os, "setuid"), reason="this system cannot become another user")
def test_a_user_without_a_writable_home_gets_the_answer():
    """The package and the home are read-only, as in a locked-down container; root becomes another user for it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        home = folder / "home"
        home.mkdir(mode=0o555)
        shutil.copytree(
            Path(ppfs.__file__).parent, folder / "src" / "ppfs", ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in [*folder.rglob("*"), home]:
            path.chmod(0o555)
        other_user = """
import os, numba, numba.misc.appdirs, numpy as np
import ppfs._engine
if os.getuid() == 0:
    # The interpreter may be where only root can read: what compiling imports is imported first.
    numba.njit(lambda x: x + 1)(np.ones(3))
    os.setuid(65534)
"""
        told = run(
            other_user + KERNEL,
            PYTHONPATH=str(folder / "src"),
            HOME=str(home),
            XDG_CACHE_HOME=str(home / "cache"),
            NUMBA_CACHE_DIR="",
            PYTHONDONTWRITEBYTECODE="1",
        )
        for path in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
            path.chmod(0o755)
    assert told.startswith("hits 0\n")
    assert told.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in told
