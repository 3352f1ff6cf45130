"""Check that a release is consistent, test the built packages, and print what the conda recipe needs.

    python tools/release.py check                 # the version stands everywhere, and no change is uncommitted
    python tools/release.py check --tag v0.1.0    # and it is the version of the tag
    python tools/release.py test                  # dist/: the wheel alone, the README's example, the archive's tests
    python tools/release.py recipe                # version and checksum of the archive in dist/

`make release` runs the first, builds, and runs the second. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What works with the wheel and its dependencies alone, on arrays.
ALONE = """
import numpy as np
from sklearn.datasets import load_breast_cancer
import ppfs
X, y = load_breast_cancer(return_X_y=True)
selector = ppfs.PPFS(n_splits=10, random_state=0).fit(X, y)
assert 0 < selector.transform(X).shape[1] < 30, selector.support_
print(ppfs.__version__, "selects", selector.blanket_.tolist())
"""


class NotReady(Exception):
    """The release cannot be cut; the message says what to change."""


def version_of(root: Path) -> str:
    """Return the version in pyproject.toml, the one source."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def check(root: Path, tag: str | None = None, *, is_final: bool = True) -> str:
    """Return the version, or raise `NotReady` if something disagrees with it.

    Parameters
    ----------
    root : Path
        The project.
    tag : str or None
        A tag that must be "v" and the version.
    is_final : bool
        Whether the changelog must have a date.
    """
    version = version_of(root)
    if tag is not None and tag != f"v{version}":
        raise NotReady(
            f"The tag is {tag!r}, but pyproject.toml has the version {version}: tag it v{version}."
        )
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        raise NotReady(f"CITATION.cff has the version {cited and cited[1]}, pyproject.toml {version}.")
    entry = re.search(
        r"^## (\S+)(?: \((.+)\))?$", (root / "docs/changelog.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if entry is None or entry[1] != version:
        raise NotReady(
            f"The first entry of docs/changelog.md is {entry and entry[1]}, the version is {version}."
        )
    if is_final and not re.fullmatch(r"\d{4}-\d\d-\d\d", entry[2] or ""):
        raise NotReady(f"docs/changelog.md says {entry[2]!r} of {version}: write the date as 2027-01-31.")
    return version


def uncommitted(root: Path) -> list[str]:
    """Return the paths with changes that are not committed."""
    shown = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True, text=True
    )
    return [line[3:] for line in shown.stdout.splitlines()]


def archive_in(folder: Path) -> Path:
    """Return the one source archive in a folder."""
    return _only(folder, "*.tar.gz")


def recipe(folder: Path) -> str:
    """Return the two lines of the conda recipe that change with a release."""
    archive = archive_in(folder)
    version = archive.name.removesuffix(".tar.gz").rpartition("-")[2]
    return f"version: {version}\nsha256: {hashlib.sha256(archive.read_bytes()).hexdigest()}"


def test(folder: Path) -> None:
    """Install the wheel and the archive into empty environments and try them as users would."""
    wheel, archive = _only(folder, "*.whl"), archive_in(folder)
    if wheel.stat().st_size > 2_000_000:
        raise NotReady(
            f"{wheel.name} has {wheel.stat().st_size} bytes; more than 2 MB is not worth its download."
        )
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        with tarfile.open(archive) as opened:
            opened.extractall(place, filter="data")
        unpacked = place / archive.name.removesuffix(".tar.gz")
        for package in (wheel, archive):
            python = _environment(place / package.suffix, str(package))
            _run([python, "-c", ALONE], place)
            # The README's example needs nothing else but a library of data frames.
            _run([python, "-m", "pip", "install", "--quiet", "pandas", "pytest"], place)
            _run([python, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", unpacked,
                  "--doctest-glob=README.md", unpacked / "README.md"], place)  # fmt: skip
        _run([python, "-m", "pip", "install", "--quiet", f"{archive}[dev]"], place)
        _run([python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"], unpacked)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise NotReady(f"{folder} has {len(found)} files {pattern}, not one: run `make dist`.")
    return found[0]


def _environment(place: Path, requirement: str) -> Path:
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement], place)
    return python


def _run(command: list[object], place: Path) -> None:
    words = [str(word) for word in command]
    print("+", " ".join(words[:6]).split("\n")[0], flush=True)
    subprocess.run(words, cwd=place, check=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=["check", "test", "recipe"])
    parser.add_argument("--tag", help="a tag that must name the version")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "check":
            version = check(ROOT, asked.tag)
            if changed := uncommitted(ROOT):
                raise NotReady(f"There are uncommitted changes: {', '.join(changed[:5])}. Commit them first.")
            print(f"{version} is ready to be built.")
        elif asked.command == "test":
            test(ROOT / "dist")
        else:
            print(recipe(ROOT / "dist"))
    except NotReady as problem:
        print(f"Not ready: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
