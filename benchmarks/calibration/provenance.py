"""Which versions and seed the results come from."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from problems import SEED

LIBRARIES = ("ppfs", "numpy", "scipy", "scikit-learn", "numba")


def describe() -> list[str]:
    """Say what the numbers of a run depend on."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return [
        f"Python {platform.python_version()}, {versions}.",
        f"Seed {SEED}; the streams of a replicate follow from the names of its cell and its number alone.",
    ]


def keep_description(folder: Path) -> None:
    """Note the run beside its results."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "lines": describe()}
    (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def kept_description(folder: Path) -> list[str]:
    """Return what `keep_description` noted about the last run."""
    path = folder / "about.json"
    if not path.exists():
        return []
    about = json.loads(path.read_text(encoding="utf-8"))
    return [f"Last run {about['date']}.", *about["lines"]]
