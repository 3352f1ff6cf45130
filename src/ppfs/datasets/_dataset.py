"""What :func:`ppfs.datasets.load_dataset` returns."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppfs.datasets._frames import Coded, build_frame

Features: TypeAlias = NDArray[np.float64] | NDArray[np.object_] | sparse.csr_matrix


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set with its names and kinds of columns.

    Attributes
    ----------
    name : str
        Name in the registry, such as "heart".
    X : ndarray or csr_matrix of shape (n_samples, n_features)
        float64 for numeric sets; a float64 CSR matrix for the sparse ones (Dexter, Dorothea); an object
        array of floats and strings where categories are letters (Credit). The type depends on the set
        alone, never on what is installed; `to_frame` gives typed columns.
    y : ndarray of shape (n_samples,)
        Integer or string class labels, or floats for regression.
    feature_names : tuple of str
        One name for each column of `X`.
    categorical : tuple of str
        Names of the columns whose values are categories: letters, or numbers that only name a group.
    target_name : str
        What `y` is called.
    task : {"classification", "regression"}
    title, source, description : str
        Full name, origin to cite, and what to know before modeling.

    Examples
    --------
    >>> from ppfs.datasets import load_dataset
    >>> data = load_dataset("wdbc")
    >>> data
    Dataset('wdbc', 569 x 30, classification)
    >>> data.X.shape, len(data.feature_names), data.target_name
    ((569, 30), 30, 'class')
    """

    name: str
    X: Features
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    categorical: tuple[str, ...]
    target_name: str
    task: Literal["classification", "regression"]
    title: str
    source: str
    description: str

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        return f"Dataset({self.name!r}, {n_samples} x {n_features}, {self.task})"

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Put features and target, in this order, into a data frame.

        Columns of letters become pandas' Categorical or polars' Enum; numeric codes stay numbers.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Library of the frame. By default pandas if installed, else polars.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame

        Examples
        --------
        >>> from ppfs.datasets import load_dataset
        >>> frame = load_dataset("wdbc").to_frame()
        >>> frame.shape
        (569, 31)
        """
        if isinstance(self.X, sparse.csr_matrix):
            raise ValueError(
                f"{self.name!r} is sparse ({self.X.shape[0]} x {self.X.shape[1]}); a data frame would store "
                "every zero. Use `X`, or build a frame of the columns you need from X[:, columns].toarray()."
            )
        columns = {name: _column(self.X[:, j]) for j, name in enumerate(self.feature_names)}
        return build_frame({**columns, self.target_name: self.y}, backend)


def _column(values: NDArray[Any]) -> NDArray[Any] | Coded:
    if not isinstance(values[0], str):
        return values.astype(np.float64)
    levels, codes = np.unique(values.astype(str), return_inverse=True)
    return Coded(codes, tuple(levels.tolist()))
