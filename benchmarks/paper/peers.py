"""Methods of other projects, run in a separate environment, which is created on first use."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "peers-requirements.txt"


def environment() -> Path:
    """Return the interpreter that has the other projects, installing them where the requirements are new."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ppfs" / "paper-peers"
    python, stamp = folder / "bin" / "python", folder / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == wanted):
        venv.create(folder, clear=True, with_pip=True)
        install = [python, "-m", "pip", "install", "--quiet", "--requirement", REQUIREMENTS]
        subprocess.run(install, check=True)
        stamp.write_text(wanted)
    return python


def select_by_peer(
    method: str, X: Any, y: np.ndarray, divisions: list[tuple[np.ndarray, np.ndarray]], seed: int
) -> tuple[list[list[int]], dict[str, str]]:
    """Return the columns that a method selects in the training part of every fold, and the versions it ran with."""
    is_regression = y.dtype.kind == "f"
    parts = {f"train{i}": train for i, (train, _) in enumerate(divisions)}
    target = y if is_regression else np.unique(y, return_inverse=True)[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        dense = X.toarray() if sp.issparse(X) else X
        np.savez(path, X=dense, y=target, is_regression=is_regression, n_folds=len(divisions), **parts)
        command = [environment(), "-I", HERE / "peer_worker.py", method, path, str(seed)]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode < 0:
        # Ended at the limit that it inherits: this process ends in the same way.
        os.kill(os.getpid(), -done.returncode)
    if done.returncode:
        raise RuntimeError(f"{method} failed:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["columns"], answer["versions"]
