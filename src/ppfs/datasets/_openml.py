"""OpenML's copies, translated to the paper's rows, names and labels."""

from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from scipy import sparse

from ppfs.datasets._assemble import assemble
from ppfs.datasets._dataset import Dataset, Features
from ppfs.datasets._registry import DatasetInfo, OpenMLCopy


def download(copy: OpenMLCopy) -> Any:
    """Fetch a copy through scikit-learn, which keeps the raw file in its own data home.

    The "liac-arff" parser is slower than pandas', but needs no pandas and reads sparse files.
    """
    return sklearn.datasets.fetch_openml(data_id=copy.id, as_frame=False, parser="liac-arff")


def translate(info: DatasetInfo, copy: OpenMLCopy, bunch: Any) -> Dataset:
    """Turn OpenML's table into the data set of the registry, or say how it differs.

    Three things differ by intention: rows with missing values are kept there and dropped here
    (Credit), the validation part of the 2003 challenge follows the training part there, and classes
    may have other names. Everything else is an error of `assemble`.

    Parameters
    ----------
    bunch : sklearn.utils.Bunch
        With ``data``, ``target``, ``feature_names`` and ``categories``.
    """
    origin = f"OpenML's data set {copy.id}"
    if bunch.data.shape[0] != copy.rows:
        raise ValueError(
            f"{origin} has {bunch.data.shape[0]} rows, but had {copy.rows} when {info.name!r} was registered. "
            f"Pass folder= (or set PPFS_DATA) with an original copy; source: {info.source}."
        )
    labels = np.array([_original_label(copy, label) for label in bunch.target])
    if sparse.issparse(bunch.data):
        X: Features = sparse.csr_matrix(bunch.data, dtype=np.float64)
    else:
        complete = ~np.isnan(bunch.data).any(axis=1)
        X, labels = _decode_text(info, bunch)[complete], labels[complete]
    return assemble(info, X[: info.rows], labels[: info.rows], origin=origin)


def _original_label(copy: OpenMLCopy, label: Any) -> str:
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    text = str(label).strip()
    return copy.labels.get(text, text)


def _decode_text(info: DatasetInfo, bunch: Any) -> NDArray[Any]:
    values = np.asarray(bunch.data, dtype=np.float64)
    if not info.has_text:
        return values
    decoded = values.astype(object)
    for j, name in enumerate(bunch.feature_names):
        categories = bunch.categories.get(name)
        if categories is not None:
            # A missing value has no code; its row is dropped by the caller.
            decoded[:, j] = [None if np.isnan(code) else categories[int(code)] for code in values[:, j]]
    return decoded
