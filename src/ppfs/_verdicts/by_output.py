"""The blanket of each column of a target: the search is repeated for one at a time."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain

# Estimators of several columns that do not take one: the model inside does.
_OF_SEVERAL = (ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain)

Blankets = dict[Any, NDArray[np.intp]]


def blankets_of(selector: Any, X: Any, y: Any, **rows: Any) -> Blankets:
    """Return what a selector selects for each column of y.

    Parameters
    ----------
    selector : fitted selector
        It is not changed: a clone is fitted for each column.

    y : array-like of shape (n_rows, n_outputs)
        The target of its fit.

    rows : array-likes
        `groups`, `time` and `sample_weight`, as in `fit`; None is as if left out.

    Returns
    -------
    dict
        By the name of the column, or its number in an array: the columns of X, most important first.
    """
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    is_frame = isinstance(frame, nw.DataFrame)
    values = frame.to_numpy() if is_frame else np.asarray(y)
    if values.ndim != 2 or selector.task_ not in ("classification", "regression"):
        raise AttributeError(
            f"y is one {selector.task_} target, whose blanket is blanket_: blankets_ needs a y of several columns."
        )
    names = list(frame.columns) if is_frame else range(values.shape[1])
    given = {name: value for name, value in rows.items() if value is not None}
    found: Blankets = {}
    for number, name in enumerate(names):
        column = values[:, number]
        one = _for_one_column(selector)
        with warnings.catch_warnings():
            # The fit to all columns has warned already.
            warnings.simplefilter("ignore", UserWarning)
            one.fit(X, column.astype(str) if column.dtype.kind == "O" else column, sufficiency=False, **given)
        found[name] = one.blanket_
    return found


def _for_one_column(selector: Any) -> Any:
    one = clone(selector)
    settings: dict[str, Any] = {
        "progress": False,
        "checkpoint": None,
        "task": selector.task_,
        "feature_groups": selector._grouped(getattr(one, "feature_groups", None)),
    }
    for name in ("estimator", "growth_estimator"):
        model = getattr(one, name, None)
        if isinstance(model, _OF_SEVERAL):
            settings[name] = model.estimator
    known = one.get_params(deep=False)
    return one.set_params(**{name: value for name, value in settings.items() if name in known})
