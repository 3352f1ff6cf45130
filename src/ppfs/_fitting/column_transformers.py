"""Models with a ColumnTransformer inside, which chooses columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def reads_frames(estimator: Any) -> bool:
    """Return whether there is a ColumnTransformer inside an estimator."""
    return next(_column_transformers(estimator), None) is not None


def narrow(model: Any, frame: Any, own_names: Mapping[str, Any]) -> bool:
    """Limit the ColumnTransformers inside a model to the columns of a frame.

    A search fits models on some of the columns, and a ColumnTransformer that names another one would fail.

    Parameters
    ----------
    model : estimator
        Changed in place.

    frame : data frame
        The columns that the model is fitted on.

    own_names : mapping
        Its values are the names of all columns of the caller's frame, in order.

    Returns
    -------
    bool
        Whether every ColumnTransformer still returns columns.
    """
    everything = list(own_names.values())
    # A ColumnTransformer takes names that are text, and positions.
    present = {
        name: name if isinstance(name, str) else position for position, name in enumerate(frame.columns)
    }
    has_columns = True
    for transformer in _column_transformers(model):
        chosen = [
            (*rest, _present(columns, everything, present)) for *rest, columns in transformer.transformers
        ]
        transformer.transformers = [one for one in chosen if one[-1] is not None]
        has_columns &= transformer.remainder != "drop" or any(
            step != "drop" and np.size(columns(frame) if callable(columns) else columns)
            for _, step, columns in transformer.transformers
        )
    return has_columns


def _column_transformers(estimator: Any) -> Iterator[Any]:
    """Yield the ColumnTransformers inside an estimator, identified by their attributes, without an import."""
    if not hasattr(estimator, "get_params"):
        return
    for part in estimator.get_params(deep=True).values():
        if hasattr(part, "transformers") and hasattr(part, "remainder"):
            yield part


def _present(columns: Any, everything: list[Any], present: dict[Any, int | str]) -> Any:
    """Return the chosen columns that are present; None for a single column that is not.

    Positions, slices and masks refer to the caller's columns.
    """
    if callable(columns):
        return columns
    if isinstance(columns, str):
        return present.get(columns)
    if isinstance(columns, slice):
        start, stop = (
            everything.index(bound) if isinstance(bound, str) else bound
            for bound in (columns.start, columns.stop)
        )
        # As in pandas, a slice of names includes the last one.
        named = everything[start : stop + 1 if isinstance(columns.stop, str) else stop : columns.step]
    elif np.ndim(columns) == 0:
        return present.get(everything[columns])
    elif all(isinstance(column, str) for column in columns):
        named = list(columns)
    else:
        named = [everything[position] for position in np.arange(len(everything))[np.asarray(columns)]]
    return [present[name] for name in named if name in present]
