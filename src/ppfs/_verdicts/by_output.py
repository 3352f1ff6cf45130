"""The blanket of each column of a target: the search is repeated for one at a time."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain

from ppfs._data import FitData

# Estimators of several columns that do not take one: the model inside does.
_OF_SEVERAL = (ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain)

Blankets = dict[Any, NDArray[np.intp]]


def blankets_of(selector: Any, data: FitData) -> Blankets:
    """Return what a selector selects for each column of y.

    Parameters
    ----------
    selector : fitted selector
        It is not changed: a clone is fitted for each column.

    data : FitData
        The data of its fit, with y of shape (n_rows, n_outputs).

    Returns
    -------
    dict
        By the name of the column, or its number in an array: the columns of X, most important first.
    """
    frame = nw.from_native(data.y, eager_only=True, pass_through=True)
    is_frame = isinstance(frame, nw.DataFrame)
    values = frame.to_numpy() if is_frame else np.asarray(data.y)
    if values.ndim != 2 or selector.task_ not in ("classification", "regression"):
        raise AttributeError(
            f"y is one {selector.task_} target, whose blanket is blanket_: blankets_ needs a y of several columns."
        )
    names = list(frame.columns) if is_frame else range(values.shape[1])
    found: Blankets = {}
    for number, name in enumerate(names):
        column = values[:, number]
        one = _for_one_column(selector)
        with warnings.catch_warnings():
            # The fit to all columns has warned already.
            warnings.simplefilter("ignore", UserWarning)
            target = column.astype(str) if column.dtype.kind == "O" else column
            one.fit(data.X, target, sufficiency=False, **data.about_rows)
        found[name] = one.blanket_
    return found


def _for_one_column(selector: Any) -> Any:
    models = {name: getattr(selector, name, None) for name in ("estimator", "growth_estimator")}
    inside = {name: model.estimator for name, model in models.items() if isinstance(model, _OF_SEVERAL)}
    return selector._to_repeat(task=selector.task_, **inside)
