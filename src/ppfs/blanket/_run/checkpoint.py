"""Answers on disk, so that a search that was killed continues where it stopped."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import warn_caller
from ppfs.blanket._run.answers_between_fits import digest_of
from ppfs.exceptions import CheckpointError, CheckpointWarning
from ppfs.independence import (
    Answers,
    BoundTest,
    CountedRearrangements,
    IndependenceResult,
    IndependenceTest,
    Question,
    Rearrangements,
)

_FORMAT = 2
_MANIFEST = "manifest.json"
_LOCK = "lock"
_LIBRARIES = ("ppfs", "numpy", "scipy", "scikit-learn", "numba")

# Answers of the shrink phase come by the thousand: they are written together, at least so often.
_SECONDS_BETWEEN_WRITES = 1.0


class Checkpoint:
    """A directory of finished answers.

    Every file is written beside its place and renamed, with its own digest in its name: a file that was torn or
    damaged is noticed, named and ignored, and what it held is computed again. Arrays and JSON only.

    ::

        run.ppfs/
            manifest.json                     what was asked of which data, by which versions
            lock                              held by the process that works on it
            fold-0-growth-<digest>.npz        the answers about a block of columns
            fold-0-count-<digest>.npz         how many rearrangements of columns were as extreme
            fold-0-answers-<digest>.npz       answers given other columns

    Parameters
    ----------
    folder : Path

    circumstances : dict of str to str
        What must be the same for answers to be used again.
    """

    def __init__(self, folder: Path, circumstances: dict[str, str]) -> None:
        self._folder = folder
        self._identity = blake2b(
            json.dumps(circumstances, sort_keys=True).encode(), digest_size=16
        ).hexdigest()
        self._circumstances = circumstances
        self._fold = 0
        self._waiting: list[tuple[Question, IndependenceResult]] = []
        self._written = time.monotonic()

    def recall(self, bound: BoundTest, fold: int) -> None:
        """Give a bound test the answers of an earlier run, and listen to those it finds itself."""
        self.flush()
        self._fold = fold
        for path in sorted(self._folder.glob(f"fold-{fold}-*.npz")):
            arrays = self._read(path)
            if arrays is not None:
                _learn(bound, arrays)
        bound.listener = self

    def block(self, target: int, variables: NDArray[np.intp], answers: Answers) -> None:
        """Write the answers about a block of columns."""
        self._write("growth", {"target": np.array(target), "variables": variables, **answers.arrays()})

    def counted(self, counted: CountedRearrangements) -> None:
        """Write how many draws were as extreme as some columns."""
        arrays = {name: np.array(value) for name, value in asdict(counted.draws).items()}
        self._write("count", {**arrays, "counts": counted.counts, "n_asked": np.array(counted.n_asked)})

    def answer(self, question: Question, result: IndependenceResult) -> None:
        """Take down an answer given other columns; it is written soon."""
        self._waiting.append((question, result))
        if time.monotonic() - self._written > _SECONDS_BETWEEN_WRITES:
            self.flush()

    def flush(self) -> None:
        """Write what waits to be written."""
        self._written = time.monotonic()
        if not self._waiting:
            return
        questions, results = zip(*self._waiting, strict=True)
        self._write(
            "answers",
            {
                "targets": np.array([target for target, _, _ in questions]),
                "keys": np.array([f"{key:x}" for _, key, _ in questions]),
                "xs": np.array([x for _, _, x in questions]),
                **Answers.of(results, max(len(result.model_pvalues) for result in results)).arrays(),
            },
        )
        self._waiting = []

    def _write(self, kind: str, arrays: dict[str, NDArray[Any]]) -> None:
        content = io.BytesIO()
        named: dict[str, Any] = {"identity": np.array(self._identity), **arrays}
        np.savez(content, **named)
        data = content.getvalue()
        place = self._folder / f"fold-{self._fold}-{kind}-{blake2b(data, digest_size=16).hexdigest()}.npz"
        try:
            write_safely(place, data)
        except OSError as error:
            raise CheckpointError(
                f"The checkpoint {str(self._folder)!r} cannot be written: {error}. What it holds is intact: make "
                "room, and fit again with the same checkpoint to continue."
            ) from error

    def _read(self, path: Path) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of a file, or None, with a warning, where it is damaged."""
        try:
            data = path.read_bytes()
            if blake2b(data, digest_size=16).hexdigest() != path.stem.rsplit("-", 1)[-1]:
                raise ValueError("its content does not fit its name")
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = dict(file)
            if str(arrays.pop("identity")) != self._identity:
                raise ValueError("it belongs to another run")
        except Exception as error:
            warn_caller(
                f"The file {str(path)!r} of the checkpoint cannot be used: {error}. What it held is computed again.",
                CheckpointWarning,
            )
            path.unlink(missing_ok=True)
            return None
        return arrays

    def begin(self) -> None:
        """Check that the directory is about this run, or make it so if it is new."""
        manifest = self._folder / _MANIFEST
        found = _manifest(manifest)
        if found is not None:
            _require_same(found, self._circumstances, self._folder)
            return
        content = {"format": _FORMAT, "circumstances": self._circumstances}
        write_safely(manifest, json.dumps(content, indent=1, sort_keys=True).encode())


@contextmanager
def opened(folder: str | os.PathLike[str], circumstances: dict[str, str]) -> Iterator[Checkpoint]:
    """Hold a checkpoint directory for the time of a search; what waits to be written is written at the end."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"checkpoint={str(path)!r} cannot be made a directory: {error}.") from error
    with _locked(path):
        checkpoint = Checkpoint(path, circumstances)
        checkpoint.begin()
        try:
            yield checkpoint
        finally:
            checkpoint.flush()


def circumstances_of(
    test: IndependenceTest, table: Any, search: dict[str, str], entropy: int
) -> dict[str, str]:
    """Describe what answers depend on: data, test, parameters, seed and versions.

    Raises
    ------
    CheckpointError
        When a parameter, such as a function, cannot be told from another one in a later process.
    """
    parameters = {}
    for name, value in test.get_params(deep=True).items():
        if callable(value) and not isinstance(value, type):
            raise CheckpointError(
                f"A checkpoint needs parameters that can be compared in another process, but {name} is a function "
                f"({value!r}). Use a named loss, or fit without checkpoint."
            )
        is_estimator = hasattr(value, "get_params")
        parameters[name] = type(value).__qualname__ if is_estimator else repr(value)
    return {
        "data": digest_of(table).hex(),
        "test": type(test).__qualname__,
        "seed": str(entropy),
        **{f"test.{name}": value for name, value in sorted(parameters.items())},
        **{f"search.{name}": value for name, value in sorted(search.items())},
        **{f"version of {name}": version(name) for name in _LIBRARIES},
    }


def _learn(bound: BoundTest, arrays: dict[str, NDArray[Any]]) -> None:
    if "counts" in arrays:
        target, first, end, n_asked = (int(arrays[name]) for name in ("target", "first", "end", "n_asked"))
        draws = Rearrangements(target, tuple(arrays["xs"].tolist()), first, end, float(arrays["share"]))
        bound.known.counts[draws] = CountedRearrangements(draws, arrays["counts"], n_asked)
        return
    answers = Answers.from_arrays(arrays)
    if "variables" in arrays:
        is_known, known = bound.known.marginal(int(arrays["target"]))
        is_known[arrays["variables"]] = True
        known.put(arrays["variables"], answers)
        return
    keys = [int(key, 16) for key in arrays["keys"].tolist()]
    questions = zip(arrays["targets"].tolist(), keys, arrays["xs"].tolist(), strict=True)
    for question, result in zip(questions, answers, strict=True):
        bound.known[question] = result


def _manifest(path: Path) -> dict[str, str] | None:
    """Return what a checkpoint is about; None where that is not known."""
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != _FORMAT:
            raise CheckpointError(
                f"{str(path.parent)!r} was written in format {content['format']}, and this version reads format "
                f"{_FORMAT}. Use another directory, or the version that wrote it."
            )
        found = content["circumstances"]
        if not isinstance(found, dict):
            raise TypeError("it does not list circumstances")
    except FileNotFoundError:
        return None
    except CheckpointError:
        raise
    except Exception as error:
        warn_caller(
            f"The file {str(path)!r} of the checkpoint cannot be read: {error}. It is written anew, and files of other "
            "runs are ignored.",
            CheckpointWarning,
        )
        return None
    return {str(name): str(value) for name, value in found.items()}


def _require_same(found: dict[str, str], wanted: dict[str, str], folder: Path) -> None:
    names = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    if not names:
        return
    told = [
        "the data (X, y, weights or groups)"
        if name == "data"
        else f"{name}: {found.get(name)} there, {wanted.get(name)} here"
        for name in names[:5]
    ]
    raise CheckpointError(
        f"The checkpoint {str(folder)!r} belongs to another run. What differs: {'; '.join(told)}. Use another "
        "directory, or delete this one."
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Refuse a directory that another process works on; the lock of a process that died is gone."""
    with (folder / _LOCK).open("a+b") as file:
        if not _lock(file):
            raise CheckpointError(
                f"Another process works on the checkpoint {str(folder)!r}. Wait for it, or use another directory."
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


def write_safely(place: Path, data: bytes) -> None:
    """Write a file so that whoever looks sees all of it or nothing, even after a crash."""
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
