"""The command line without the price of a process: exit code, stdout and stderr of one call."""

import io
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from ppfs.cli._app import app
from ppfs.cli._failures import run


@dataclass
class Finished:
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def ppfs(capsys, monkeypatch):
    def call(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        exit_code = run(app, [str(argument) for argument in arguments])
        captured = capsys.readouterr()
        # Whether a call compiles depends on the machine's cache and on the tests before.
        told = [
            line for line in captured.err.splitlines(keepends=True) if not line.startswith("ppfs: compiling")
        ]
        return Finished(int(exit_code), captured.out, "".join(told))

    return call


@pytest.fixture
def select(ppfs):
    """`ppfs select` with the paper's test, which needs no warm kernels for small tables."""
    return lambda *arguments, **keywords: ppfs(
        "select", *arguments, "--test", "paper", "--splits", 10, "--quiet", **keywords
    )


@pytest.fixture
def patients():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["age", "[red]dose[/red]", "bmi", "noise"])
    # A few exceptions: a column without one would be warned of.
    frame["ill"] = np.where((frame["bmi"] > 0) ^ (np.arange(120) % 30 == 7), "yes", "no")
    return frame


@pytest.fixture
def table(tmp_path, patients):
    path = tmp_path / "patients.csv"
    patients.to_csv(path, index=False)
    return path
