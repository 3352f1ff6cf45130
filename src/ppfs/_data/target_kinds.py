"""Kinds of targets beside labels and plain numbers: how they are read, checked, described and scored.

Each kind turns its values into one number per row, the *response*, which the models of this package predict: under
independence it is independent of a column given others wherever the target is, and it is the score by which the usual
model of that kind finds a small effect (docs/decisions/0281-responses.md). Estimators of the caller's get the values
themselves, and the loss of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats, mean_ranks
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError

KindName = Literal["count", "positive", "ordinal", "survival"]

_EVENT_NAMES = re.compile(r"(?i)(event|status|cens|death|dead|died|observed|cens_?ind|delta|arrest|fail)")

# Of coefficients of columns in units of their deviation: next to nothing beside a dozen events, and enough where
# a column separates the events from the other rows.
_PENALTY = 0.1

# A survival target in this package: a structured array as in scikit-survival.
SURVIVAL_TYPE = np.dtype([("event", np.bool_), ("time", np.float64)])


@dataclass(frozen=True)
class TargetKind:
    """One kind of target.

    Attributes
    ----------
    name : {"count", "positive", "ordinal", "survival"}
        The value of the parameter `task`.

    task : {"classification", "regression"}
        What an estimator of the caller's has to be for.

    loss : str
        The loss of such an estimator's predictions, where `loss` is "auto".

    read : callable
        Checks the values, and returns them in the type of this kind.

    response : callable
        Returns one number per row, for the models of this package.

    model : str
        What the response is, for the trace.

    mean : callable, default=None
        Returns the means of counts from predictions of their responses, up to a factor. None: not a count.

    response_given : callable, default=None
        Returns the response given some columns: a score that the model of this kind leaves. None: the response
        itself is regressed on the columns.
    """

    name: KindName
    task: Literal["classification", "regression"]
    loss: str
    read: Callable[[NDArray[Any]], NDArray[Any]]
    response: Callable[[NDArray[Any]], Floats]
    model: str
    mean: Callable[[Floats], Floats] | None = None
    response_given: Callable[[NDArray[Any], Floats, Floats | None], Floats] | None = None


def _numbers(values: NDArray[Any], name: str) -> Floats:
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        what = "holds text" if values.dtype.kind in "OUS" else f"holds {values.dtype}"
        what = "is a structured array" if values.dtype.names is not None else what
        what = what if values.ndim == 1 else f"has {values.shape[1]} columns"
        raise InvalidInputError(f'task="{name}" needs one number per row, but y {what}.')
    return values.astype(np.float64)


def _read_counts(values: NDArray[Any]) -> Floats:
    numbers = _numbers(values, "count")
    wrong = np.flatnonzero((numbers < 0) | (numbers % 1 != 0))
    if wrong.size:
        raise InvalidInputError(
            f'task="count" needs integers from 0 on, but y[{wrong[0]}] is {numbers[wrong[0]]:g}, and {wrong.size} of '
            f'{numbers.size} rows have such values. Use task="positive" for amounts, or task="regression".'
        )
    return numbers


def split_exposure(values: NDArray[Any]) -> tuple[NDArray[Any], Floats | None]:
    """Return counts divided by their exposures, and the exposures; a target of one column is returned as it is.

    Of two columns the second, or a field named exposure, is the exposure: how long, or how many, the count is of. A
    rate weighted by its exposure has the score of Poisson's model with the logarithm of the exposure as an offset.
    """
    names = values.dtype.names
    if names is None and values.ndim == 1:
        return values, None
    columns = [values[name] for name in names] if names is not None else list(values.T)
    if len(columns) != 2:
        raise InvalidInputError(
            f'task="count" needs one count per row, or a count and its exposure, but y has {len(columns)} columns.'
        )
    if names is not None and "expos" in names[0].lower():
        columns.reverse()
    counts, exposure = _read_counts(columns[0]), columns[1].astype(np.float64)
    wrong = np.flatnonzero(~(exposure > 0))
    if wrong.size:
        raise InvalidInputError(
            f"An exposure must be above 0, but that of row {wrong[0]} is {exposure[wrong[0]]:g}, and {wrong.size} of "
            f"{exposure.size} rows have such values. Drop rows without any exposure: they show nothing."
        )
    return counts / exposure, exposure


def _read_positive(values: NDArray[Any]) -> Floats:
    numbers = _numbers(values, "positive")
    wrong = np.flatnonzero(numbers <= 0)
    if wrong.size:
        raise InvalidInputError(
            f'task="positive" needs numbers above 0, but y[{wrong[0]}] is {numbers[wrong[0]]:g}, and {wrong.size} of '
            f'{numbers.size} rows have such values. Use task="count" for integers from 0 on, or task="regression".'
        )
    return numbers


def _read_ordered(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim != 1 or values.dtype.names is not None:
        n_columns = values.shape[1] if values.ndim > 1 else len(values.dtype.names or ())
        raise InvalidInputError(f'task="ordinal" needs one class per row, but y has {n_columns} columns.')
    classes = np.unique(values)
    if values.dtype.kind == "f" and (values % 1 != 0).any():
        raise InvalidInputError(
            f'task="ordinal" needs classes, but y holds numbers with a fraction, such as {values[values % 1 != 0][0]}. '
            "Number the classes in their order."
        )
    if values.dtype.kind not in "biuf":
        raise InvalidInputError(
            f'task="ordinal" needs classes in order, but y holds text, such as {classes[0].item()!r}, whose order is '
            "unknown. Number the classes in their order, or pass an ordered categorical."
        )
    if classes.size < 3:
        raise InvalidInputError(
            f'task="ordinal" needs at least three classes, but y has {classes.size}. Use task="classification".'
        )
    return values


def _read_survival(values: NDArray[Any]) -> NDArray[Any]:
    event, time = _event_and_time(values)
    wrong = np.flatnonzero(time < 0)
    if wrong.size:
        raise InvalidInputError(
            f"Survival times must not be negative, but that of row {wrong[0]} is {time[wrong[0]]:g}, and {wrong.size} "
            f"of {time.size} rows have such values."
        )
    if not event.any():
        raise InvalidInputError(
            f"No event was observed in any of {event.size} rows: all are censored, so there is nothing to learn. The "
            "event must be true, or 1, where it was observed."
        )
    record = np.empty(event.size, dtype=SURVIVAL_TYPE)
    record["event"], record["time"] = event, time
    return record


def _event_and_time(values: NDArray[Any]) -> tuple[NDArray[np.bool_], Floats]:
    """Return the two fields of a structured array, or the two columns (time, event) of a matrix."""
    fields = values.dtype.names
    if fields is None:
        if values.ndim == 2 and values.shape[1] > 2:
            raise InvalidInputError(_too_many(f"{values.shape[1]} columns"))
        if values.ndim != 2 or values.shape[1] != 2:
            raise InvalidInputError(
                'task="survival" needs a time and whether the event was observed: a structured array as in '
                "scikit-survival, or two columns (time, event). y has one column."
            )
        columns = {"time": values[:, 0].astype(np.float64), "event": values[:, 1]}
        fields, taken = ("time", "event"), columns
    else:
        taken = {name: values[name] for name in fields}
    if len(fields) != 2:
        raise InvalidInputError(_too_many(f"the fields {listed(fields)}"))
    flags = [name for name in fields if taken[name].dtype.kind == "b"] or [
        name for name in fields if np.isin(taken[name], (0, 1)).all()
    ]
    named = [name for name in flags if _EVENT_NAMES.search(name)]
    event = (named or flags or [""])[0]
    if not event:
        raise InvalidInputError(
            f"Neither of {listed(fields)} of y holds only 0 and 1, so that none says whether the event was observed. "
            "Recode it: 1 where it was observed, and 0 where it is censored; of competing events, one is 1."
        )
    time = next(name for name in fields if name != event)
    return taken[event].astype(np.bool_), taken[time].astype(np.float64)


def _too_many(parts: str) -> str:
    return (
        f"A survival target has a time and an event, but y has {parts}. Times of entry (left truncation), strata and "
        "competing events are not supported: pass the time since entry, and one event."
    )


def is_survival(values: NDArray[Any]) -> bool:
    """Return whether a structured array has one field of booleans and one of numbers, as in scikit-survival."""
    names = values.dtype.names
    return names is not None and sorted(values.dtype[name].kind == "b" for name in names) == [False, True]


def log_rank_scores(values: NDArray[Any]) -> Floats:
    """Return the martingale residuals of a model without columns: the event minus the cumulative hazard at its time.

    A column's sum of products with them is the statistic of the log-rank test, and the score of Cox's model.
    """
    event, time = values["event"], values["time"]
    times, places = np.unique(time, return_inverse=True)
    n_events = np.bincount(places.ravel(), event, times.size)
    at_risk = np.cumsum(np.bincount(places.ravel(), minlength=times.size)[::-1])[::-1]
    return np.asarray(event - np.cumsum(n_events / at_risk)[places.ravel()])


def _cox_residuals(values: NDArray[Any], columns: Floats, weights: Floats | None) -> Floats:
    """Return the martingale residuals of Cox's regression on some columns."""
    deviations = columns.std(axis=0)
    varied = columns[:, deviations > 0]
    scaled = (varied - varied.mean(axis=0)) / deviations[deviations > 0]
    risk_sets = _engine.RiskSets(values["time"], values["event"], weights)
    return _engine.fit_cox(scaled, risk_sets, _PENALTY).residuals


def _ridits(values: NDArray[Any]) -> Floats:
    return np.asarray(2.0 * (mean_ranks(values) - 0.5) / values.size - 1.0)


KINDS: dict[str, TargetKind] = {
    kind.name: kind
    for kind in (
        TargetKind(
            "count",
            "regression",
            "poisson-deviance",
            _read_counts,
            lambda values: 2.0 * np.sqrt(values + 0.375),
            "twice the root of y + 3/8, whose variance hardly depends on the mean of a count",
            mean=lambda response: (response / 2.0) ** 2 - 0.375,
        ),
        TargetKind("positive", "regression", "gamma-deviance", _read_positive, np.log, "the logarithm of y"),
        TargetKind(
            "ordinal",
            "classification",
            "ranked-probability",
            _read_ordered,
            _ridits,
            "the mean rank of each class, the score of the proportional odds model",
        ),
        TargetKind(
            "survival",
            "regression",
            "partial-likelihood",
            _read_survival,
            log_rank_scores,
            "the log-rank score of each row, the score of Cox's model",
            response_given=_cox_residuals,
        ),
    )
}

#: Counts that were divided by their exposures; these are the weights of the rows.
RATES = replace(
    KINDS["count"],
    read=lambda values: values,
    response=lambda values: values,
    model="the count divided by its exposure, which is its weight: the score of Poisson's model",
    mean=lambda response: response,
)
