"""`load_dataset`: try one place after another, and list the places in the error if all fail."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import sklearn.datasets

from ppfs.datasets import _openml
from ppfs.datasets._assemble import assemble
from ppfs.datasets._dataset import Dataset
from ppfs.datasets._files import missing_files, read_files, write_files
from ppfs.datasets._registry import DatasetInfo, find_dataset

VARIABLE = "PPFS_DATA"

# A place returns the data, or appends the reason why it cannot to the list.
Place = Callable[[DatasetInfo, list[str]], Dataset | None]


def load_dataset(
    name: str, *, folder: str | os.PathLike[str] | None = None, download: bool = True
) -> Dataset:
    """Load one of the paper's twelve data sets.

    The data come from the first place that has them: `folder`; the folder named by the environment
    variable ``PPFS_DATA``; scikit-learn itself (WDBC only); the copy cached by an earlier download;
    OpenML. Wherever they come from, rows, columns, classes and values are compared with the registry.
    Files of a folder must also match their checksums.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    folder : path-like, optional
        Folder that holds the files. When given, no other place is tried.
    download : bool, default=True
        Whether to download from OpenML. The result is cached in scikit-learn's data home, so the next call works
        offline.

    Returns
    -------
    Dataset
        Features, target, names and kinds of columns.

    Raises
    ------
    ValueError
        If the name is unknown, or the data found are not the paper's.
    FileNotFoundError
        If no place has the data; the message lists the places and the ways out.

    Examples
    --------
    >>> from ppfs.datasets import load_dataset
    >>> wdbc = load_dataset("wdbc")
    >>> wdbc
    Dataset('wdbc', 569 x 30, classification)
    >>> wdbc.feature_names[:2], wdbc.y[:3].tolist()
    (('mean_radius', 'mean_texture'), ['M', 'M', 'M'])
    """
    info = find_dataset(name)
    looked: list[str] = []
    if folder is not None:
        places: list[Place] = [lambda info, looked: _from_folder(info, folder, "folder=", looked)]
    else:
        places = [
            _from_environment,
            _from_sklearn,
            _from_cache,
            _from_openml if download else _refuse_download,
        ]
    for place in places:
        dataset = place(info, looked)
        if dataset is not None:
            return dataset
    raise FileNotFoundError(_not_found(info, looked))


def _from_folder(
    info: DatasetInfo, folder: str | os.PathLike[str], what: str, looked: list[str]
) -> Dataset | None:
    path = Path(folder).expanduser()
    missing = missing_files(info, path)
    if missing:
        looked.append(
            f"{what} {str(path)!r}: " + (f"no {', '.join(missing)}" if path.is_dir() else "no folder")
        )
        return None
    return read_files(info, path)


def _from_environment(info: DatasetInfo, looked: list[str]) -> Dataset | None:
    folder = os.environ.get(VARIABLE)
    if not folder:
        looked.append(f"environment variable {VARIABLE}: not set")
        return None
    return _from_folder(info, folder, VARIABLE, looked)


def _from_sklearn(info: DatasetInfo, looked: list[str]) -> Dataset | None:
    if not info.sklearn:
        return None
    bunch = sklearn.datasets.load_breast_cancer()
    # scikit-learn codes malignant as 0 and benign as 1.
    labels = np.array(["M", "B"])[bunch.target]
    return assemble(info, bunch.data.astype(np.float64), labels, origin="scikit-learn's load_breast_cancer")


def _from_cache(info: DatasetInfo, looked: list[str]) -> Dataset | None:
    try:
        folder = _cache_folder()
    except OSError as error:
        looked.append(f"cache: {error}")
        return None
    if missing_files(info, folder):
        looked.append(f"cache {str(folder)!r}: not downloaded before")
        return None
    try:
        return read_files(info, folder, checksums=False)
    except (ValueError, KeyError, OSError) as error:
        files = ", ".join(info.files)
        raise ValueError(f"The cached {files} in {str(folder)!r} is damaged: delete it. ({error})") from error


def _from_openml(info: DatasetInfo, looked: list[str]) -> Dataset | None:
    if info.openml is None:
        looked.append("OpenML: no copy known to hold the paper's data")
        return None
    try:
        bunch = _openml.download(info.openml)
    except (OSError, ValueError) as error:
        looked.append(f"OpenML, data set {info.openml.id}: {str(error) or type(error).__name__}")
        return None
    dataset = _openml.translate(info, info.openml, bunch)
    _keep(info, dataset)
    return dataset


def _refuse_download(info: DatasetInfo, looked: list[str]) -> Dataset | None:
    looked.append("OpenML: not asked, because download=False")
    return None


def _cache_folder() -> Path:
    return Path(sklearn.datasets.get_data_home()) / "ppfs"


def _keep(info: DatasetInfo, dataset: Dataset) -> None:
    # The cache is optional: a full or read-only disk must not prevent the download.
    with suppress(OSError):
        folder = _cache_folder()
        folder.mkdir(exist_ok=True)
        # Written to a temporary file and moved, so that another process never reads an incomplete file.
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            write_files(info, dataset, Path(aside))
            for file in info.files:
                (Path(aside) / file).replace(folder / file)


def _not_found(info: DatasetInfo, looked: list[str]) -> str:
    places = "\n".join(f"  - {place}" for place in looked)
    files = " and ".join(info.files)
    online = "" if info.openml is None else f", or go online for OpenML's data set {info.openml.id}"
    return (
        f"The data set {info.name!r} was not found. Looked at:\n{places}\n"
        f"Put {files} into a folder and pass folder= or set {VARIABLE}{online}.\n"
        f"Source of the original: {info.source}."
    )
