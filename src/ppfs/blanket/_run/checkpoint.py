"""Answers on disk, so that a search that was killed continues where it stopped."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import RandomStateLike, warn_caller
from ppfs._data import Table
from ppfs.blanket._run.checkpoint_folder import (
    claim_checkpoint,
    contents_of,
    locked,
    naming_the_folder,
    read_manifest,
    write_manifest,
    write_safely,
)
from ppfs.blanket._run.circumstances import Circumstances, digest_of
from ppfs.exceptions import CheckpointError, CheckpointWarning
from ppfs.independence import (
    Answers,
    CountedRearrangements,
    IndependenceResult,
    KnownAnswers,
    Question,
    Rearrangements,
)

_OWN_NAME = re.compile(r"fold-\d+-[a-z]+-\d+-[0-9a-f]{32}\.npz")
_LIBRARIES = ("ppfs", "numpy", "scipy", "scikit-learn", "numba")

# Answers of the shrink phase come by the thousand: they are collected and written at these intervals.
_SECONDS_BETWEEN_WRITES = 1.0


class Checkpoint:
    """A directory of finished answers.

    Every file is written beside its place and renamed, with its own digest in its name: a file that is damaged is
    noticed, named and ignored, and what it held is computed again. Arrays and JSON only. No file that is there already
    is removed or replaced, the manifest aside.

    ::

        run.ppfs/
            manifest.json                     what was asked of which data, by which versions
            lock                              held by the process that works on it
            fold-0-growth-0-<digest>.npz      the answers about a block of columns
            fold-0-count-0-<digest>.npz       how many rearrangements of columns were as extreme
            fold-0-answers-0-<digest>.npz     answers given other columns

    Parameters
    ----------
    circumstances : dict of str to str
        What the answers depend on.
    """

    def __init__(self, folder: Path, circumstances: dict[str, str]) -> None:
        self._folder = folder
        self._identity = blake2b(
            json.dumps(circumstances, sort_keys=True).encode(), digest_size=16
        ).hexdigest()
        self._fold = 0
        self._waiting: list[tuple[Question, IndependenceResult]] = []
        self._written = time.monotonic()

    def recall(self, known: KnownAnswers, fold: int, rows: bytes) -> Checkpoint:
        """Add the answers of an earlier run; new ones are to be passed to the checkpoint."""
        self.flush()
        self._fold = fold
        with naming_the_folder(self._folder):
            own = sorted(path for path in self._folder.iterdir() if _OWN_NAME.fullmatch(path.name))
        for path in own:
            arrays = self._read(path) if path.name.startswith(f"fold-{fold}-") else None
            if arrays is not None:
                _learn(known, arrays)
        return self

    def block(self, target: int, variables: NDArray[np.intp], answers: Answers) -> None:
        """Write the answers about a block of columns."""
        self._write("growth", {"target": np.array(target), "variables": variables, **answers.arrays()})

    def counted(self, counted: CountedRearrangements) -> None:
        """Write how many draws were as extreme as some columns."""
        arrays = {name: np.array(value) for name, value in asdict(counted.draws).items()}
        self._write("count", {**arrays, "counts": counted.counts, "n_asked": np.array(counted.n_refitted)})

    def answer(self, question: Question, result: IndependenceResult) -> None:
        """Collect an answer given other columns, to be written soon."""
        self._waiting.append((question, result))
        if time.monotonic() - self._written > _SECONDS_BETWEEN_WRITES:
            self.flush()

    def flush(self) -> None:
        """Write the collected answers."""
        self._written = time.monotonic()
        if not self._waiting:
            return
        by_n_models: dict[int, list[tuple[Question, IndependenceResult]]] = {}
        for one in self._waiting:
            by_n_models.setdefault(len(one[1].model_pvalues), []).append(one)
        for n_models, waiting in by_n_models.items():
            questions, results = zip(*waiting, strict=True)
            self._write(
                "answers",
                {
                    "targets": np.array([target for target, _, _ in questions]),
                    "keys": np.array([f"{key:x}" for _, key, _ in questions]),
                    "xs": np.array([x for _, _, x in questions]),
                    **Answers.of(results, n_models).arrays(),
                },
            )
        self._waiting = []

    def _write(self, kind: str, arrays: dict[str, NDArray[Any]]) -> None:
        content = io.BytesIO()
        named: dict[str, Any] = {"identity": np.array(self._identity), **arrays}
        np.savez(content, **named)
        data = content.getvalue()
        digest = _digest(data)
        with naming_the_folder(self._folder):
            for number in itertools.count():
                place = self._folder / f"fold-{self._fold}-{kind}-{number}-{digest}.npz"
                if not place.exists():
                    write_safely(place, data)
                elif contents_of(place) != data:
                    # A damaged file, or one of another program's.
                    continue
                return

    def _read(self, path: Path) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of a file, or None, with a warning, where it is damaged."""
        with naming_the_folder(self._folder):
            data = contents_of(path)
        try:
            if _digest(data) != path.stem.rsplit("-", 1)[-1]:
                raise ValueError("its content does not match its name")
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = dict(file)
            if str(arrays.pop("identity")) != self._identity:
                raise ValueError("it belongs to another run")
        except Exception as error:
            warn_caller(
                f"The file {str(path)!r} of the checkpoint cannot be used: {error}. What it held is computed again; "
                "the file is left as it is, and may be deleted.",
                CheckpointWarning,
            )
            return None
        return arrays


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


@contextmanager
def opened(
    folder: str | os.PathLike[str] | None,
    random_state: RandomStateLike,
    circumstances: Circumstances,
    table: Table,
) -> Iterator[tuple[Checkpoint, ...]]:
    """Hold a checkpoint for the time of a search, if the caller wants one.

    Raises
    ------
    CheckpointError
        When the folder is not a checkpoint, belongs to another run or is in use, or when a later run could not have the
        same settings and random numbers.
    """
    if folder is None:
        yield ()
        return
    _require_repeatable(folder, random_state, circumstances)
    wanted = {
        "data": digest_of(table).hex(),
        **circumstances.described,
        **{f"version of {name}": version(name) for name in _LIBRARIES},
        "version of Python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    path = claim_checkpoint(folder)
    with locked(path):
        found = read_manifest(path)
        if found is None:
            with naming_the_folder(path):
                write_manifest(path, wanted)
        else:
            _require_same(found, wanted, path)
        checkpoint = Checkpoint(path, wanted)
        try:
            yield (checkpoint,)
        finally:
            checkpoint.flush()


def _require_repeatable(
    folder: str | os.PathLike[str], random_state: RandomStateLike, circumstances: Circumstances
) -> None:
    if circumstances.not_comparable:
        raise CheckpointError(
            "A checkpoint needs parameters that can be compared in another process, but one cannot: "
            f"{circumstances.not_comparable}. Use another value, or fit without checkpoint."
        )
    if not circumstances.is_repeatable(random_state):
        raise CheckpointError(
            f"checkpoint={str(folder)!r} needs an integer as random_state, so that a later run draws the same numbers, "
            f"but it is {random_state!r}. Pass random_state=0."
        )


def _learn(known: KnownAnswers, arrays: dict[str, NDArray[Any]]) -> None:
    if "counts" in arrays:
        target, first, end, n_asked = (int(arrays[name]) for name in ("target", "first", "end", "n_asked"))
        draws = Rearrangements(target, tuple(arrays["xs"].tolist()), first, end, float(arrays["share"]))
        known.counts[draws] = CountedRearrangements(draws, arrays["counts"], n_asked)
        return
    answers = Answers.from_arrays(arrays)
    if "variables" in arrays:
        known.add_marginal(int(arrays["target"]), arrays["variables"], answers)
        return
    keys = [int(key, 16) for key in arrays["keys"].tolist()]
    questions = zip(arrays["targets"].tolist(), keys, arrays["xs"].tolist(), strict=True)
    for question, result in zip(questions, answers, strict=True):
        # Answers of a single model are written beside those of a panel, in a file with as many models as that has.
        is_of_panel = not np.isnan(result.model_pvalues).all()
        known[question] = result if is_of_panel else replace(result, model_pvalues=())


def _require_same(found: dict[str, str], wanted: dict[str, str], folder: Path) -> None:
    names = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    # Of an estimator, the parameters that differ are enough.
    names = [name for name in names if not any(other.startswith(f"{name}__") for other in names)]
    if names:
        told = "; ".join(_difference(name, found.get(name), wanted.get(name)) for name in names[:5])
        raise CheckpointError(
            f"The checkpoint {str(folder)!r} belongs to another run. What differs: {told}. Use another folder, or "
            "delete this one."
        )


def _difference(name: str, there: str | None, here: str | None) -> str:
    if name == "data":
        return "the data (X, y, weights, groups or time)"
    return f"{name}: {there} there, {here} here"
