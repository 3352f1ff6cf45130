"""Without each optional library everything can be imported, and what needs the library names the extra."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Blocks libraries, imports every public module, fits a search, and tries what needs the libraries.
PROGRAM = """
import pkgutil, sys

MISSING = {missing!r}

class Hiding:
    # A finder that does not find some libraries.

    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in MISSING:
            return self.finder.find_spec(name, path, target)

sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]

import numpy as np
from sklearn.naive_bayes import GaussianNB
import ppfs
# The command line alone needs its libraries to be imported; its __main__ would run.
for module in pkgutil.walk_packages(ppfs.__path__, "ppfs."):
    if not module.name.startswith("ppfs.cli") and not module.name.endswith("__main__"):
        __import__(module.name)
import ppfs.cli
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
selector = ppfs.PPFS(GaussianNB(), n_splits=5, random_state=0).fit(X, X[:, 0] > 0)
assert selector.transform(X).shape == (60, 1)
selector.trace_.explain(0)

def plot():
    from ppfs.plotting import ImportanceDisplay
    ImportanceDisplay.from_estimator(selector)

def report():
    selector.report().html()

def parquet():
    selector.fit("table.parquet", X[:, 0] > 0)

def zarr():
    selector.fit("table.zarr", X[:, 0] > 0)

def hdf5():
    selector.fit("table.h5", X[:, 0] > 0)

def onnx():
    ppfs.export.to_onnx(selector, X)

def skops():
    ppfs.export.skops_types(b"")

def mlflow():
    ppfs.export.log_to_mlflow(selector)

def cli():
    sys.argv = ["ppfs", "--version"]
    ppfs.cli.main()

def table():
    sys.argv = ["ppfs", "select", "table.csv", "-t", "y"]
    ppfs.cli.main()

def workbook():
    sys.argv = ["ppfs", "select", "table.xlsx", "-t", "y"]
    ppfs.cli.main()

def dask():
    sys.argv = ["ppfs", "select", "table.csv", "-t", "y", "--cluster", "tcp://127.0.0.1:1"]
    ppfs.cli.main()

def ray():
    sys.argv = ["ppfs", "select", "table.csv", "-t", "y", "--cluster", "ray"]
    ppfs.cli.main()

def frame():
    selector.results_

def gpu():
    ppfs.PPFS(n_splits=5, random_state=0, device="cuda").fit(X, X[:, 0] > 0)

def boosting():
    sys.argv = ["ppfs", "select", "table.csv", "-t", "y", "--estimator", "lightgbm"]
    ppfs.cli.main()

import os, zipfile
from pathlib import Path

Path("table.csv").write_text("a,b,y\\n" + "1,2,0\\n2,1,1\\n" * 20, encoding="utf-8")
with zipfile.ZipFile("table.xlsx", "w") as book:
    for name in ("[Content_Types].xml", "xl/workbook.xml"):
        book.writestr(name, "<a/>")
np.zeros(1).tofile("table.h5")
Path("table.parquet").write_bytes(b"PAR1")
os.mkdir("table.zarr")
for name in {tries!r}:
    try:
        globals()[name]()
    except SystemExit as end:
        print(name, "ended with", end.code, file=sys.stderr)
        assert end.code in (1, 2)
    except Exception as error:
        print(name, type(error).__name__, error, file=sys.stderr)
    else:
        raise AssertionError(f"{{name}} needs none of {{MISSING}}")
"""

# Of each extra that users install: its libraries as they are imported, and what needs them.
EXTRAS = {
    "cli": (["click", "rich"], ["cli"]),
    "plots": (["matplotlib"], ["plot"]),
    "report": (["matplotlib"], ["report"]),
    "files": (["pyarrow", "zarr", "h5py"], ["parquet", "zarr", "hdf5"]),
    "onnx": (["skl2onnx", "onnxruntime", "onnx"], ["onnx"]),
    "skops": (["skops"], ["skops"]),
    "mlflow": (["mlflow"], ["mlflow"]),
    "gpu": (["cupy"], ["gpu"]),
}
# Those that the command line needs.
OF_COMMANDS = {
    "excel": (["openpyxl"], ["workbook"]),
    "dask": (["dask", "distributed"], ["dask"]),
    "ray": (["ray"], ["ray"]),
    "boosting": (["lightgbm", "xgboost", "catboost"], ["boosting"]),
}
# The caller's own models, and what only the development of this library needs.
OTHERS = {"all", "survival", "docs", "browser", "notebooks", "bench", "dev"}


def test_every_extra_is_tried():
    assert set(PROJECT["optional-dependencies"]) - OTHERS == {*EXTRAS, *OF_COMMANDS}


@pytest.mark.parametrize("extras", [EXTRAS, OF_COMMANDS], ids=["all", "of commands"])
def test_without_the_libraries_of_all_extras(tmp_path, extras):
    missing = [library for libraries, _ in extras.values() for library in libraries]
    tries = [name for _, names in extras.values() for name in names]
    needed = {re.split(r"[^\w-]", one)[0] for one in PROJECT["dependencies"]}
    assert not needed & set(missing)
    program = PROGRAM.format(missing=missing, tries=tries)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    named = {extra: done.stderr.count(f"pip install 'ppfs[{extra}]'") for extra in extras}
    assert named == {extra: len(names) for extra, (_, names) in extras.items()}, done.stderr


@pytest.mark.parametrize("extra", ["plots", "report", "mlflow"])
def test_an_extra_brings_the_data_frames_that_it_needs(extra):
    asked = PROJECT["optional-dependencies"][extra]
    within = [one for name in asked for one in PROJECT["optional-dependencies"].get(name[5:-1], [name])]
    assert any(one.startswith("pandas") for one in within)


def test_without_a_library_of_frames(tmp_path):
    program = PROGRAM.format(missing=["pandas", "polars", "pyarrow"], tries=["frame"])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Run: pip install pandas" in done.stderr
