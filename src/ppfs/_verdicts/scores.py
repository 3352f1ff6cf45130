"""Predictions of new rows in well-known scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.metrics import d2_tweedie_score as deviance_explained

from ppfs._conventions import Floats
from ppfs._data import Table, TargetKind
from ppfs.independence import Loss

#: What each score is called, the best known first.
CALLED = {
    "concordance": "concordance",
    "deviance": "share of the deviance explained",
    "r2_log": "R2 of the logarithm",
    "r2": "R2",
    "auc": "AUC",
    "accuracy": "accuracy",
}

# Pairs of rows are compared among at most this many rows.
_MOST_COMPARED = 5_000

Scores = dict[str, dict[str, float]]


def scores_of(
    table: Table,
    loss: Loss,
    rows: NDArray[np.intp],
    predictions: Mapping[str, NDArray[Any]],
    weights: Floats | None,
) -> Scores:
    """Return the scores that suit the target, by side; none where predictions cannot be scored.

    Parameters
    ----------
    rows : ndarray of int
        The rows that were predicted.

    predictions : mapping of str to ndarray
        For "nothing", "selected" and "all".
    """
    if table.task != "regression":
        return _of_classes(table, loss, rows, predictions, weights)
    if table.y.dtype.kind not in "fiu":
        return {}
    if table.origin is not None:
        return _of_kind(*table.origin, rows, predictions, weights)
    truth = table.y[rows]
    return {"r2": _by_side(predictions, 0.0, lambda one: r2_score(truth, one, sample_weight=weights))}


def _by_side(
    predictions: Mapping[str, NDArray[Any]], of_nothing: float, score: Callable[[NDArray[Any]], float]
) -> dict[str, float]:
    """Return the score of each side; constants have a known one, and differ between folds by chance only."""
    return {side: of_nothing if side == "nothing" else float(score(one)) for side, one in predictions.items()}


def _of_kind(
    kind: TargetKind,
    values: NDArray[Any],
    rows: NDArray[np.intp],
    predictions: Mapping[str, NDArray[Any]],
    weights: Floats | None,
) -> Scores:
    """Return scores of counts, amounts, ordered classes and survival times, whose responses were predicted."""
    truth = values[rows]
    if kind.name == "positive":
        logs = np.log(truth)
        return {"r2_log": _by_side(predictions, 0.0, lambda one: r2_score(logs, one, sample_weight=weights))}
    if kind.mean is not None:
        as_means = partial(_means, kind.mean, np.average(truth, weights=weights), weights)
        return {
            "deviance": _by_side(
                predictions,
                0.0,
                lambda one: deviance_explained(truth, as_means(one), sample_weight=weights, power=1),
            )
        }
    if kind.name == "survival":
        # A large response is an early event.
        later, is_event, sign = truth["time"], truth["event"], -1.0
    else:
        later, is_event, sign = truth.astype(np.float64), np.ones(len(rows), dtype=bool), 1.0
    return {"concordance": _by_side(predictions, 0.5, lambda one: concordance(later, is_event, sign * one))}


def _means(
    mean: Callable[[Floats], Floats], average: float, weights: Floats | None, responses: Floats
) -> Floats:
    """Return the means of counts from predicted responses, scaled to the average count.

    Means from roots are too small. A mean of zero has no deviance.
    """
    means = np.maximum(mean(responses), 1e-3 * average)
    return np.asarray(means * (average / np.average(means, weights=weights)))


def concordance(times: Floats, is_event: NDArray[np.bool_], predicted: Floats) -> float:
    """Return how often, of two rows, the one with the later time has the larger prediction: Harrell's index.

    Pairs count whose earlier time is that of an event. Ties of predictions count half. Of many rows, every k-th is
    compared.

    Examples
    --------
    >>> concordance(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), np.array([0.1, 0.3, 0.2]))
    1.0
    """
    some = slice(None, None, -(-len(times) // _MOST_COMPARED))
    times, is_event, predicted = times[some], is_event[some], predicted[some]
    right = pairs = 0.0
    for i in np.flatnonzero(is_event).tolist():
        later = predicted[times > times[i]]
        pairs += later.size
        right += (later > predicted[i]).sum() + 0.5 * (later == predicted[i]).sum()
    return float(right / pairs) if pairs else float("nan")


def _of_classes(
    table: Table,
    loss: Loss,
    rows: NDArray[np.intp],
    predictions: Mapping[str, NDArray[Any]],
    weights: Floats | None,
) -> Scores:
    output = loss.output
    if output == "margins":
        return {}
    truth = table.codes[rows].astype(np.intp)
    labels = {side: one if output == "labels" else one.argmax(axis=1) for side, one in predictions.items()}
    is_named = loss.wants_labels and output == "labels"
    found = {
        "accuracy": {
            side: float(accuracy_score(table.y[rows] if is_named else truth, one, sample_weight=weights))
            for side, one in labels.items()
        }
    }
    if output == "probabilities" and np.unique(truth).size == table.classes.size:
        found["auc"] = _by_side(predictions, 0.5, lambda one: _auc(truth, one, weights))
    return found


def _auc(truth: NDArray[np.intp], probabilities: Floats, weights: Floats | None) -> float:
    if probabilities.shape[1] == 2:
        return float(roc_auc_score(truth, probabilities[:, 1], sample_weight=weights))
    return float(roc_auc_score(truth, probabilities, multi_class="ovr", sample_weight=weights))
