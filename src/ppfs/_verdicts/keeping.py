"""The data of a fit, kept by reference until `sufficiency_` is read."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pickle import PickleBuffer, PicklingError
from zlib import crc32

import numpy as np

from ppfs._conventions import n_rows_of
from ppfs._data import FitData, is_path
from ppfs.exceptions import InvalidInputError

# Larger tables are not kept: they would stay in memory for as long as the selector does.
_MOST_BYTES = 64 * 2**20
_BYTES_PER_VALUE = 8


@dataclass(frozen=True)
class DataAtHand:
    """The data of a fit, and a digest that shows whether they were changed since."""

    data: FitData
    digest: int

    @classmethod
    def of(cls, data: FitData, n_columns: int) -> DataAtHand | None:
        """Keep the data of a fit; None for files, for tables of more than 64 MiB, and where no digest can be made."""
        X = data.X
        if is_path(X):
            return None
        n_values = X.nnz if hasattr(X, "nnz") else n_rows_of(X) * n_columns
        if n_values * _BYTES_PER_VALUE > _MOST_BYTES:
            return None
        digest = digest_of(data)
        return None if digest is None else cls(data, digest)

    def require_unchanged(self) -> None:
        """Raise if an array was changed in place after the fit: its rows are not those of the selection."""
        if digest_of(self.data) != self.digest:
            raise InvalidInputError(
                "X or y was changed after fit, so the rows that the selection was made from are gone. Call "
                "measure_sufficiency(X, y) with the original data, or fit again."
            )


def digest_of(data: FitData) -> int | None:
    """Return a checksum of the data, which is read once and not copied if it is contiguous."""
    pieces: list[PickleBuffer] = []
    # Memory maps are copied when they are pickled, and arrays are not.
    plain = [np.asarray(part) if isinstance(part, np.memmap) else part for part in data]
    try:
        digest = crc32(pickle.dumps(plain, protocol=5, buffer_callback=pieces.append))
    except (TypeError, AttributeError, ValueError, PicklingError):
        # Objects that cannot be pickled, such as lazy arrays of other libraries.
        return None
    for piece in pieces:
        digest = crc32(piece.raw(), digest)
    return digest
