"""From the features of a search back to the caller's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs._data.table import Table


@dataclass(frozen=True)
class CallersColumns:
    """Which of the caller's columns each feature consists of.

    Attributes
    ----------
    n_columns : int
        The number of columns that the caller passed.

    of_feature : tuple of tuple of int, or None
        The columns of each feature in ascending order; None if feature j is column j.
    """

    n_columns: int
    of_feature: tuple[tuple[int, ...], ...] | None

    @classmethod
    def of(cls, table: Table) -> CallersColumns:
        """Return the columns of the features of a table."""
        of_feature = (
            tuple(tuple(sorted(group)) for group in table.columns) if table.has_feature_groups else None
        )
        return cls(len(table.column_names), of_feature)

    def numbers(self, features: Sequence[int]) -> list[int]:
        """Return the columns of some features, those of one feature together, each column once."""
        if self.of_feature is None:
            return list(features)
        return list(dict.fromkeys(column for feature in features for column in self.of_feature[feature]))

    def spread(self, values: NDArray[np.float64], selected: Sequence[int] = ()) -> NDArray[np.float64]:
        """Return the value of each column's feature; of a column in several, that of the first selected one, if any."""
        if self.of_feature is None:
            return values
        spread = np.empty(self.n_columns)
        for feature in (*reversed(range(len(self.of_feature))), *reversed(selected)):
            spread[list(self.of_feature[feature])] = values[feature]
        return spread
