"""What a search on some data would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ppfs.cli._failures import UsageFailure
from ppfs.cli.input import Input

if TYPE_CHECKING:
    from ppfs._planning import Rates

# Of columns that stay in their file.
_MOST_COLUMNS = 400


def rates_of(
    selector: Any,
    data: Input,
    n_columns: int | None = None,
    n_candidates: int | None = None,
    budget: float = 10.0,
) -> Rates:
    """Return what short runs of a search on parts of the data take.

    Parameters
    ----------
    n_columns, n_candidates : int, default=None
        Of the whole table, where that is not what the data show.

    budget : float, default=10.0
        CPU seconds after which the longest run is cut short.
    """
    from ppfs._planning import measure_rates

    if not hasattr(selector, "correction"):
        raise UsageFailure("ppfs plan estimates the cost of --method ppfs only. Leave --method out.")
    if selector.interactions is not None:
        raise UsageFailure("ppfs plan does not estimate the cost of --interactions. Leave it out.")
    X = _some_columns(data) if isinstance(data.y, str) else data.X
    return measure_rates(
        selector,
        X,
        data.target_values(),
        n_columns=n_columns or len(data.names),
        n_candidates=n_candidates,
        budget=budget,
    )


def _some_columns(data: Input) -> Any:
    """Return some columns of a file that does not fit in memory, from all over it."""
    import numpy as np
    import pandas as pd

    from ppfs._data import open_source

    source = open_source(data.X)
    places = np.linspace(0, len(data.names) - 1, min(_MOST_COLUMNS, len(data.names))).astype(int)
    return pd.DataFrame({data.names[place]: source.column(data.names[place]) for place in places.tolist()})
