"""The data of a fit, kept by reference until somebody asks whether the selection is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from ppfs._conventions import n_rows_of
from ppfs._data import is_path
from ppfs.exceptions import InvalidInputError

# Larger tables are not kept: they would stay in memory for as long as the selector does.
_MOST_BYTES = 64 * 2**20
_BYTES_PER_VALUE = 8


@dataclass(frozen=True)
class DataAtHand:
    """The caller's own objects, and a digest that tells whether they were changed since.

    Attributes
    ----------
    X, y, groups, sample_weight : objects
        As they were passed to ``fit``.

    digest : str
    """

    X: Any
    y: Any
    groups: Any
    sample_weight: Any
    digest: str

    @classmethod
    def of(cls, X: Any, y: Any, groups: Any, sample_weight: Any) -> DataAtHand | None:
        """Keep the data of a fit; None for files and for tables of more than 64 MiB."""
        if is_path(X) or _n_values(X) * _BYTES_PER_VALUE > _MOST_BYTES:
            return None
        parts = (X, y, groups, sample_weight)
        return cls(*parts, joblib.hash(parts))

    def require_unchanged(self) -> None:
        """Raise if an array was changed in place after the fit: its rows are not those of the selection."""
        if joblib.hash((self.X, self.y, self.groups, self.sample_weight)) != self.digest:
            raise InvalidInputError(
                "X or y was changed after fit, so the rows that the selection was made from are gone. Call "
                "measure_sufficiency(X, y) with the original data, or fit again."
            )


def _n_values(X: Any) -> int:
    if hasattr(X, "nnz"):
        return int(X.nnz)
    shape = getattr(X, "shape", None)
    n_columns = shape[1] if shape is not None and len(shape) > 1 else np.size(X[0]) if len(X) else 0
    return int(n_rows_of(X)) * int(n_columns)
