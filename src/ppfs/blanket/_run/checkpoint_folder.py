"""The folder of a checkpoint: which one may be used, who holds it, and how files are written in it.

A folder belongs to ppfs if its manifest says so. Nothing else in it is ever changed: a folder is used only if it is
new, empty or marked, a file is created under a name that is free, and the manifest is the only file that is replaced.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from ppfs._printable import listed
from ppfs.exceptions import CheckpointError

_FORMAT = 3
_MANIFEST = "manifest.json"
_LOCK = "lock"
_MARK = {"ppfs": "checkpoint", "format": _FORMAT}


def claim_checkpoint(folder: str | os.PathLike[str]) -> Path:
    """Return a folder that is marked as a checkpoint; a new or empty one gets the mark.

    Raises
    ------
    CheckpointError
        When the folder holds files but no mark, or cannot be made or read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     _ = Path(parent, "notes.txt").write_text("mine")
    ...     try:
    ...         claim_checkpoint(parent)
    ...     except CheckpointError as error:
    ...         print("notes.txt" in str(error))
    True
    """
    if not os.fspath(folder):
        raise CheckpointError("checkpoint='' does not name a folder. Pass the path of a new or empty folder.")
    path = Path(folder)
    with naming_the_folder(path):
        if path.exists() and not path.is_dir():
            raise CheckpointError(
                f"checkpoint={str(path)!r} is a file. Pass the path of a new or empty folder."
            )
        path.mkdir(parents=True, exist_ok=True)
        found = sorted(entry.name for entry in path.iterdir())
        if not found:
            _mark(path)
        elif _MANIFEST not in found:
            raise _foreign(path, f"it holds {listed(found)}")
        else:
            read_manifest(path)
    return path


def read_manifest(folder: Path) -> dict[str, str] | None:
    """Return what the answers in a marked folder depend on; None where no search has begun."""
    try:
        content = json.loads(contents_of(folder / _MANIFEST))
        found = content["circumstances"]
        if content["format"] != _FORMAT:
            raise CheckpointError(
                f"The checkpoint {str(folder)!r} has format {content['format']}, and this version of ppfs reads format "
                f"{_FORMAT}. Use another folder, or the version of ppfs that wrote it."
            )
        if content["ppfs"] != _MARK["ppfs"] or not isinstance(found, dict | None):
            raise ValueError("it does not describe a checkpoint")
    except CheckpointError:
        raise
    except OSError as error:
        raise _unusable(folder, error) from error
    except Exception as error:
        raise _foreign(folder, f"its {_MANIFEST} was not written by ppfs, or is damaged") from error
    return found and {str(name): str(value) for name, value in found.items()}


def write_manifest(folder: Path, circumstances: dict[str, str]) -> None:
    """Write what the answers in a folder depend on. The manifest that marks the folder is replaced."""
    write_safely(folder / _MANIFEST, _manifest(circumstances))


def _mark(folder: Path) -> None:
    """Create the manifest of an empty folder, unless another process has just done so."""
    place = folder / _MANIFEST
    file = place.open("xb", buffering=0)
    try:
        with file:
            # In one call, so that a process that is killed leaves all of it or an empty folder in all but name.
            file.write(_manifest(None))
            os.fsync(file.fileno())
    except BaseException:
        place.unlink()
        raise


def _manifest(circumstances: dict[str, str] | None) -> bytes:
    return json.dumps({**_MARK, "circumstances": circumstances}, indent=1, sort_keys=True).encode()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder, or raise if another process does; the lock of a process that died is gone."""
    with naming_the_folder(folder):
        if (folder / _LOCK).is_symlink():
            # Opening it would create what it names.
            raise OSError(f"{_LOCK!r} is a link to another place")
        file = (folder / _LOCK).open("a+b")
    with file:
        if not _lock(file):
            raise CheckpointError(
                f"Another process works on the checkpoint {str(folder)!r}. Wait for it, or use another folder."
            )
        yield


def _lock(file: BinaryIO) -> bool:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def contents_of(place: Path) -> bytes:
    """Return what a file holds. Pipes and devices are refused: reading one may never end."""
    if place.exists() and not place.is_file():
        raise OSError(f"{place.name!r} is not a file")
    return place.read_bytes()


def write_safely(place: Path, data: bytes) -> None:
    """Write a file so that readers see all of it or nothing, even after a crash."""
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def naming_the_folder(folder: Path) -> Iterator[None]:
    """Raise what goes wrong with files as an error that names the folder and the way out."""
    try:
        yield
    except (OSError, ValueError) as error:
        # ValueError: a path with a null character.
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: Any) -> CheckpointError:
    return CheckpointError(
        f"The checkpoint {str(folder)!r} cannot be read or written: {error}. The answers in it are intact. Make it "
        "writable or free space on the disk and fit again to continue, or use another folder."
    )


def _foreign(folder: Path, found: str) -> CheckpointError:
    return CheckpointError(
        f"{str(folder)!r} is not a checkpoint of ppfs: {found}. Nothing in it was changed. Pass the path of a new or "
        "empty folder."
    )
