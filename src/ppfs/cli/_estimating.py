"""What a search on some data would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ppfs.cli._failures import UsageFailure
from ppfs.cli._terminal import say
from ppfs.cli.input import Input

if TYPE_CHECKING:
    from ppfs._planning import Rates

# Limits for columns that stay in their file: their number, and their bytes.
_MOST_COLUMNS, _MOST_BYTES = 2000, 2**28

# With more classes than this a search may take long, and a note says so beforehand.
_MANY_CLASSES = 20
# Seconds that need no word, and that the estimate itself may take.
_PATIENCE, _BUDGET = 60.0, 3.0


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

    unknown = _unknown_cost(selector)
    if unknown:
        raise UsageFailure(f"ppfs plan does not estimate the cost of {unknown}. Leave it out.")
    X = _some_columns(data) if data.is_streamed else data.X
    return measure_rates(
        selector,
        X,
        data.target_values(),
        n_columns=n_columns or len(data.names),
        n_candidates=n_candidates,
        budget=budget,
    )


def warn_of_many_classes(selector: Any, data: Input, task: str | None) -> None:
    """Report how long the search is expected to take, if the target has many classes and it takes long."""
    import numpy as np

    from ppfs._planning import duration, predict_cost

    if _unknown_cost(selector):
        return
    y = np.asarray(data.target_values())
    n_classes = len(set(y.tolist())) if y.ndim == 1 else 0
    if n_classes <= _MANY_CLASSES or data.task(task) == "regression":
        return
    cost = predict_cost(rates_of(selector, data, budget=_BUDGET), len(y), len(data.names))
    if cost.seconds > _PATIENCE:
        is_numeric = y.dtype.kind in "iuf"
        advice = (
            " If it is numeric, use --task regression." if is_numeric else " Merge rare classes if you can."
        )
        say(
            f"warning: {data.target!r} has {n_classes} classes: the search is expected to take about "
            f"{duration(cost.seconds)}.{advice}"
        )


def refuse_a_class_per_row(data: Input, task: str | None) -> None:
    """Refuse numbers that are declared labels where most occur once, with one of them as the file has it."""
    import numpy as np

    from ppfs._data import require_repeated_labels

    if task == "classification" and data.rows is not None:
        cells = data.rows.written([data.target], has_types=False)[data.target]
        require_repeated_labels(np.asarray(data.y), [str(cell) for cell in cells])


def _unknown_cost(selector: Any) -> str:
    """Return the flag whose cost cannot be estimated; "" where there is none."""
    if not hasattr(selector, "second_look"):
        return "other methods than ppfs: --method"
    return "--interactions" if selector.interactions is not None else ""


def _some_columns(data: Input) -> Any:
    """Return some columns of a file that does not fit in memory, from all over it."""
    import numpy as np
    import pandas as pd

    from ppfs._data import open_source

    source = open_source(data.X)
    affordable = max(50, _MOST_BYTES // (8 * len(data.target_values())))
    n = min(_MOST_COLUMNS, affordable, len(data.names))
    names = [data.names[place] for place in np.linspace(0, len(data.names) - 1, n).astype(int).tolist()]
    values = source.take([source.names.index(name) for name in names])
    return pd.DataFrame(values.toarray() if source.is_sparse else values, columns=names)
