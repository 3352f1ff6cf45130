"""Missing and infinite values, for those who cannot take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ppfs._table import Table, listed
from ppfs.exceptions import InvalidInputError

# For those who cannot fill gaps themselves.
_IMPUTE_FIRST = (
    "Impute them first (sklearn.impute.SimpleImputer), or use a test that does so in each train part: "
    'PPI(impute="median").'
)


def require_finite(table: Table, *, allow_missing: bool, user: str, way_out: str = _IMPUTE_FIRST) -> None:
    """Refuse infinite values, and missing ones unless `user` can take them; `way_out` ends the message."""
    entries = table.X.data if table.is_sparse else table.X
    if np.isfinite(entries).all():
        return
    infinite = _columns_with(table, np.isinf)
    if infinite:
        raise InvalidInputError(
            f"X contains inf in {listed(infinite)}. Every value must be finite: replace infinite values, "
            "for example by the largest finite value of the column."
        )
    if not allow_missing:
        raise InvalidInputError(
            f"X contains NaN in {listed(_columns_with(table, np.isnan))}, and {user} does not accept missing values. "
            f"{way_out}"
        )


def _columns_with(table: Table, wrong: Any) -> list[str]:
    if table.is_sparse:
        entries = np.flatnonzero(wrong(table.X.data))
        columns = np.unique(np.searchsorted(table.X.indptr, entries, side="right") - 1)
    else:
        columns = np.flatnonzero(wrong(table.X).any(axis=0))
    return [table.column_names[column] for column in columns]
