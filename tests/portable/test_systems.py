"""Files, checkpoints and processes work without what only Linux has."""

import inspect
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky.backend import fork_exec

from portable.systems import PARTS, ROOT, environment

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems lack these parts by themselves"
)

LIBRARY = """
import ctypes, locale, mmap, multiprocessing, os, signal, sys
from pathlib import Path

# The parts are missing.
assert not hasattr(os, "fork") and multiprocessing.get_start_method() == "spawn"
assert not hasattr(signal, "SIGKILL") and not hasattr(mmap, "MADV_DONTNEED")
assert not hasattr(os, "sysconf")
assert locale.getpreferredencoding(False) == "ANSI_X3.4-1968", locale.getpreferredencoding(False)
with open("held", "w") as held:
    for change in (lambda: os.replace("held", "other"), Path("held").unlink):
        try:
            change()
        except PermissionError:
            continue
        raise AssertionError("an open file was removed")

import numpy as np, pandas as pd
from joblib import parallel_config
from sklearn.naive_bayes import GaussianNB
from ppfs import PPFS
from ppfs._data import available_memory
from ppfs._data.sources.text import convert_text
from ppfs._parallel.allocator import keep_freed_memory
from ppfs.blanket._run.checkpoint_folder import locked
from ppfs.exceptions import CheckpointError, InvalidInputError
from ppfs.export import from_json, to_json

# Workers of Dask set it.
os.environ["MALLOC_TRIM_THRESHOLD_"] = "65536"
keep_freed_memory()

assert available_memory() == int(sys.argv[1])

# A file of text with other letters, in columns.
folder = Path("columns")
folder.mkdir()
convert_text(Path("data.csv"), folder, progress=False)
assert [path.name for path in folder.iterdir()] == ["columns-000000000.parquet"]
read = pd.read_parquet(folder)
assert read["größe"].iloc[0] == pd.read_csv("data.csv", encoding="utf-8")["größe"].iloc[0]

# A search in a file.
flags = {"n_splits": 5, "random_state": 0}
assert PPFS(GaussianNB(), **flags).fit(folder, "y").get_feature_names_out().tolist() == ["größe"]

# An error leaves no file behind, although its frames hold the mapping.
Path("bad.csv").write_text("a,b\\n" + "1,2\\n" * 2000 + "1,x\\n", encoding="utf-8")
(bad := Path("bad")).mkdir()
try:
    convert_text(Path("bad.csv"), bad, progress=False)
except InvalidInputError as error:
    assert "'x'" in str(error)
    assert list(bad.iterdir()) == []
else:
    raise AssertionError("no error")

# Two processes, and a checkpoint that is held by one search at a time and read by a second one.
X, y = read.drop(columns="y"), read["y"].astype(int)
search = PPFS(GaussianNB(), n_splits=5, n_folds=2, random_state=0, checkpoint="run")
with parallel_config(backend="loky", n_jobs=2):
    search.fit(X, y)
written = {path.name: path.stat().st_mtime_ns for path in Path("run").glob("*.npz")}
assert written
# Names that every file system takes, and that do not depend on upper case.
assert all(name == name.lower() and not set(name) & set('<>:"/\\\\|?*') for name in written)
with locked(Path("run")):
    try:
        search.fit(X, y)
    except CheckpointError as error:
        assert "Another process" in str(error)
    else:
        raise AssertionError("the checkpoint was not locked")
again = PPFS(GaussianNB(), n_splits=5, n_folds=2, random_state=0, checkpoint="run").fit(X, y)
assert again.pvalues_.tolist() == search.pvalues_.tolist()
assert {path.name: path.stat().st_mtime_ns for path in Path("run").glob("*.npz")} == written
to_json(again, "selection.json")
to_json(again, "selection.json")
assert from_json("selection.json").selected == again.get_feature_names_out().tolist()
print("done")
"""


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["größe", "b", "c", "d"])
    frame.assign(y=(frame["größe"] > 0).astype(int)).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path


def run(folder, *command):
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment(PARTS),
        capture_output=True,
        check=False,
    )


# Processes of processes. test_missing_parts.py runs the lines that only other systems run, `make test-systems` all
# tests of files and processes.
@pytest.mark.slow
@pytest.mark.skipif(
    "os.fork" in inspect.getsource(fork_exec), reason="older versions of joblib call fork on Linux themselves"
)
def test_the_library_without_any_of_the_parts(folder):
    (folder / "program.py").write_text(LIBRARY, encoding="utf-8")
    n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    done = run(folder, "program.py", str(n_bytes))
    assert done.returncode == 0, done.stderr.decode("cp1252")
    assert done.stdout == b"done\n"


@pytest.mark.slow
def test_the_command_line_without_any_of_the_parts(folder):
    flags = ["--test", "paper", "--splits", "5", "--estimator", "sklearn.naive_bayes:GaussianNB", "--quiet"]
    files = ["--save", "s.json", "--output", "kept.csv", "--checkpoint", "run"]
    # What was there is replaced.
    (folder / "kept.csv").write_text("old", encoding="utf-8")
    done = run(folder, "-m", "ppfs", "select", "data.csv", "-t", "y", *flags, *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("cp1252").splitlines() == ["größe"]
    assert json.loads((folder / "s.json").read_text(encoding="utf-8"))["selected"] == ["größe"]
    assert (folder / "kept.csv").read_text(encoding="utf-8").startswith("größe")
    again = run(folder, "-m", "ppfs", "resume", "run", "--output", "again.csv")
    assert again.returncode == 0, again.stderr
    assert (folder / "again.csv").read_bytes() == (folder / "kept.csv").read_bytes()


RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(10))}


def test_the_names_of_all_files_fit_every_file_system():
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a checkout of the repository")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = tracked.splitlines()
    assert len({path.lower() for path in paths}) == len(paths)
    parts = {part for path in paths for part in path.split("/")}
    assert [part for part in parts if set(part) & set('<>:"\\|?*') or part[-1] in ". "] == []
    assert [part for part in parts if part.partition(".")[0].lower() in RESERVED] == []
