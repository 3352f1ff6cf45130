"""Checks for missing and infinite values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ppfs._data.table import Table
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError

# Advice for models and tests that do not fill missing values.
_IMPUTE_FIRST = (
    "Impute them first (sklearn.impute.SimpleImputer), or use a test that does so in each train part: "
    'PPI(impute="median").'
)


def require_finite(table: Table, *, allow_missing: bool, user: str, way_out: str = _IMPUTE_FIRST) -> None:
    """Raise for infinite values, and for missing ones unless `user` accepts them; `way_out` ends the message."""
    facts = table.facts
    if facts.has_infinite.any():
        infinite = _names_of(table, facts.has_infinite)
        raise InvalidInputError(
            f"X contains inf in {listed(infinite)}. Every value must be finite: replace infinite values, "
            "for example by the largest finite value of the column."
        )
    if facts.has_missing.any() and not allow_missing:
        raise InvalidInputError(
            f"X contains NaN in {listed(_names_of(table, facts.has_missing))}, and {user} does not accept missing "
            f"values. {way_out}"
        )


def _names_of(table: Table, mask: NDArray[np.bool_]) -> list[str]:
    return [table.column_names[column] for column in np.flatnonzero(mask)]
