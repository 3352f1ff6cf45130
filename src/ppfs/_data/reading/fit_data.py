"""The data of a fit, as they are passed to ``fit``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppfs._data.reading.rows import only_rows
from ppfs._data.time_order import RowsInTime


class FitData(NamedTuple):
    """The arguments of ``fit`` that hold data: the caller's own objects."""

    X: Any
    y: Any
    groups: Any = None
    time: Any = None
    sample_weight: Any = None

    @property
    def about_rows(self) -> dict[str, Any]:
        """The arguments after X and y, those that are not None."""
        return {
            name: value for name, value in self._asdict().items() if name not in "Xy" and value is not None
        }

    def of_rows(self, rows: NDArray[np.intp]) -> FitData:
        """Return the data of some rows."""
        X, y, groups, sample_weight = (
            only_rows(part, rows) for part in (self.X, self.y, self.groups, self.sample_weight)
        )
        return FitData(X, y, groups, _time_of_rows(self.time, rows), sample_weight)


def _time_of_rows(time: Any, rows: NDArray[np.intp]) -> Any:
    """Return the argument `time` for some of the rows; names of columns stay as they are."""
    if isinstance(time, RowsInTime):
        return replace(time, order=_time_of_rows(time.order, rows))
    return time if isinstance(time, str) else only_rows(time, rows)
