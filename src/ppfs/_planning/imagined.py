"""Random tables of a given shape, to estimate the cost of a search before the data exist."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import stream

# The number of columns that share a hidden cause.
_COLUMNS_PER_CAUSE = 3
_NOISE = 0.5
_LEVELS = 6


def imagined_table(
    n_rows: int,
    n_columns: int,
    n_candidates: int,
    *,
    task: Literal["classification", "regression"] = "regression",
    n_classes: int = 2,
    n_text: int = 0,
    seed: int = 0,
) -> tuple[Any, NDArray[Any]]:
    """Return columns and a target, of which some columns are candidates and the others are noise.

    Three candidates each follow one hidden cause of the target, so that a search keeps some of them and drops the
    others, as on most real tables.

    Parameters
    ----------
    n_text : int, default=0
        How many of the columns hold text: six categories each.

    Returns
    -------
    X : ndarray, or pandas.DataFrame if there is text

    y : ndarray of shape (n_rows,)
    """
    generator = stream(seed)
    n_causes = max(1, round(n_candidates / _COLUMNS_PER_CAUSE))
    causes = generator.normal(size=(n_rows, n_causes))
    X = generator.normal(size=(n_rows, n_columns))
    n_signals = min(n_candidates, n_columns)
    X[:, :n_signals] = causes[:, np.arange(n_signals) % n_causes] + _NOISE * X[:, :n_signals]
    weights = generator.normal(size=(n_causes, max(n_classes, 1)))
    scores = causes @ weights + _NOISE * np.sqrt(n_causes) * generator.normal(size=(n_rows, weights.shape[1]))
    if task == "regression":
        y: NDArray[Any] = scores[:, 0]
    elif n_classes == 2:
        y = (scores[:, 0] > 0).astype(int)
    else:
        y = np.unique(np.argmax(scores, axis=1), return_inverse=True)[1]
    order = generator.permutation(n_columns)
    X = X[:, order]
    return (_with_text(X, min(n_text, n_columns)), y) if n_text else (X, y)


def _with_text(X: NDArray[np.float64], n_text: int) -> Any:
    """Return a data frame in which some columns are cut into levels with a name."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])
    for place in np.linspace(0, X.shape[1] - 1, n_text).astype(int).tolist():
        cuts = np.quantile(X[:, place], np.linspace(0, 1, _LEVELS + 1)[1:-1])
        frame.isetitem(place, np.array(list("abcdef"))[np.searchsorted(cuts, X[:, place])])
    return frame
