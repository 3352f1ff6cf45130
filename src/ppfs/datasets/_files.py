"""The files of the benchmark folder: one CSV file, one NumPy archive, or a pair of sparse files per data set."""

import csv
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppfs.datasets._assemble import assemble
from ppfs.datasets._dataset import Dataset, Features
from ppfs.datasets._registry import DatasetInfo

# The label column of every CSV, whatever the target is called.
LABEL = "target"


def missing_files(info: DatasetInfo, folder: Path) -> list[str]:
    """Name the files of a data set that `folder` lacks."""
    return [file for file in info.files if not (folder / file).is_file()]


def read_files(info: DatasetInfo, folder: Path, *, checksums: bool = True) -> Dataset:
    """Read a data set from a folder that holds its files.

    Parameters
    ----------
    checksums : bool
        Compare each file with its SHA-256. Copies in the cache have the same values in other bytes; only their values
        are compared.
    """
    if checksums:
        for file, expected in info.files.items():
            _verify_checksum(folder / file, expected)
    paths = [folder / file for file in info.files]
    readers = {"csv": _read_csv, "npz": _read_npz, "sparse": _read_sparse}
    X, labels = readers[info.format](info, paths)
    return assemble(info, X, labels, origin=f"The folder {str(folder)!r}")


def write_files(info: DatasetInfo, dataset: Dataset, folder: Path) -> None:
    """Write a data set in the layout that `read_files` reads."""
    paths = [folder / file for file in info.files]
    if info.format == "sparse":
        sparse.save_npz(paths[0], dataset.X)
        np.savez_compressed(paths[1], y=dataset.y)
    elif info.format == "npz":
        np.savez_compressed(paths[0], X=dataset.X, y=dataset.y)
    else:
        _write_csv(paths[0], dataset)


def _verify_checksum(path: Path, expected: str) -> None:
    with path.open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    if actual != expected:
        raise ValueError(
            f"{str(path)!r} is not the file the paper's results rest on:\n"
            f"  expected SHA-256 {expected}\n  actual   SHA-256 {actual}\n"
            "Replace it with an original copy, or read your own version with pandas or NumPy."
        )


def _read_csv(info: DatasetInfo, paths: list[Path]) -> tuple[Features, NDArray[Any]]:
    with paths[0].open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    if tuple(header) != (*info.columns, LABEL):
        raise ValueError(f"{str(paths[0])!r} has the columns {header}, expected {[*info.columns, LABEL]}.")
    text = set(info.categorical) if info.has_text else set()
    X = np.empty((len(rows), len(info.columns)), dtype=object if text else np.float64)
    for j, name in enumerate(info.columns):
        X[:, j] = [row[j] if name in text else float(row[j]) for row in rows]
    return X, np.array([row[-1] for row in rows])


def _write_csv(path: Path, dataset: Dataset) -> None:
    assert not isinstance(dataset.X, sparse.csr_matrix)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*dataset.feature_names, LABEL])
        for row, label in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True):
            writer.writerow([*row, label])


def _read_npz(info: DatasetInfo, paths: list[Path]) -> tuple[Features, NDArray[Any]]:
    with np.load(paths[0], allow_pickle=False) as archive:
        # Stored as unsigned integers, which wrap around on subtraction.
        return archive["X"].astype(np.float64), archive["y"]


def _read_sparse(info: DatasetInfo, paths: list[Path]) -> tuple[Features, NDArray[Any]]:
    with np.load(paths[1], allow_pickle=False) as archive:
        labels = archive["y"]
    return sparse.csr_matrix(sparse.load_npz(paths[0]), dtype=np.float64), labels
