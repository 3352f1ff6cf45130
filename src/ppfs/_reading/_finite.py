"""Missing and infinite values, for those who cannot take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ppfs._table import Table, listed
from ppfs.exceptions import InvalidInputError


def require_finite(table: Table, *, allow_missing: bool, user: str) -> None:
    """Refuse infinite values, and missing ones unless `user` can take them."""
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
            "Impute them first (sklearn.impute.SimpleImputer), or use an estimator that takes NaN, "
            "such as DecisionTreeClassifier or HistGradientBoostingClassifier."
        )


def _columns_with(table: Table, wrong: Any) -> list[str]:
    if table.is_sparse:
        entries = np.flatnonzero(wrong(table.X.data))
        columns = np.unique(np.searchsorted(table.X.indptr, entries, side="right") - 1)
    else:
        columns = np.flatnonzero(wrong(table.X).any(axis=0))
    return [table.column_names[column] for column in columns]
