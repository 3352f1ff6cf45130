"""Losses of predictions, one per row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ppfs._conventions import Floats
from ppfs._data import Matrix, TargetKind, Task
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError

Output = Literal["probabilities", "margins", "labels", "values"]
LossFunction = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]

_EPSILON = float(np.finfo(np.float64).eps)

# Squares of a target's differences, and their sums, must neither overflow nor underflow.
_LARGEST_SPREAD, _SMALLEST_SPREAD = 1e145, 1e-145

# The loss of a row whose class is not in the train part: no permutation changes it.
_UNSEEN_HINGE = 1.0


@dataclass(frozen=True)
class Loss:
    """How predictions are obtained from a fitted model, and their loss.

    Attributes
    ----------
    name : str
        The value of the parameter `loss`, or "callable".

    output : {"probabilities", "margins", "labels", "values"}
        What the model predicts. Probabilities and margins have one column per class of the
        whole table, including classes that are not in this model's train part.

    rows : callable
        ``rows(truth, prediction)`` returns one loss per row. For the named losses of
        classification `truth` holds class numbers; for a caller's own function it holds labels.

    wants_labels : bool
        Whether `truth` is passed as the caller's labels.
    """

    name: str
    output: Output
    rows: LossFunction
    wants_labels: bool = False


def _log_loss(truth: NDArray[Any], probabilities: NDArray[Any]) -> Floats:
    chosen = probabilities[np.arange(truth.size), truth]
    loss: Floats = -np.log(np.clip(chosen, _EPSILON, 1.0 - _EPSILON))
    return loss


def _brier(truth: NDArray[Any], probabilities: NDArray[Any]) -> Floats:
    error = probabilities.copy()
    error[np.arange(truth.size), truth] -= 1.0
    loss: Floats = (error**2).sum(axis=1)
    return loss


def losses_of_class(loss: Loss, number: int, predictions: NDArray[Any]) -> Floats:
    """Return the losses of rows that are all of one class, in few passes over all predictions.

    Parameters
    ----------
    predictions : ndarray of shape (..., n_classes), or (...) for labels

    Returns
    -------
    ndarray of shape (...)
        What `loss.rows` returns, bit for bit.
    """
    if loss.rows is _log_loss:
        return np.asarray(-np.log(np.clip(predictions[..., number], _EPSILON, 1.0 - _EPSILON)))
    # NumPy adds up eight numbers and more in another order.
    if loss.rows is _brier and predictions.shape[-1] < 8:
        total = np.zeros(predictions.shape[:-1])
        for place in range(predictions.shape[-1]):
            total += (predictions[..., place] - float(place == number)) ** 2
        return total
    shape = predictions.shape if loss.output == "labels" else predictions.shape[:-1]
    flat = predictions.reshape(int(np.prod(shape)), *predictions.shape[len(shape) :])
    return np.asarray(loss.rows(np.full(len(flat), number), flat).reshape(shape))


def _hinge(truth: NDArray[Any], margins: NDArray[Any]) -> Floats:
    """Compute Crammer and Singer's multi-class hinge loss, which for two classes is the usual hinge loss."""
    rows = np.arange(truth.size)
    own = margins[rows, truth]
    others = margins.copy()
    others[rows, truth] = -np.inf
    is_seen = np.isfinite(own)
    loss = np.full(truth.size, _UNSEEN_HINGE)
    loss[is_seen] = np.maximum(0.0, 1.0 - (own[is_seen] - others[is_seen].max(axis=1)))
    return loss


def _zero_one(truth: NDArray[Any], labels: NDArray[Any]) -> Floats:
    loss: Floats = np.not_equal(labels, truth).astype(np.float64)
    return loss


def _squared(truth: NDArray[Any], values: NDArray[Any]) -> Floats:
    return _over_outputs((truth - values) ** 2)


def _absolute(truth: NDArray[Any], values: NDArray[Any]) -> Floats:
    return _over_outputs(np.abs(truth - values))


def _poisson_deviance(truth: NDArray[Any], values: NDArray[Any]) -> Floats:
    means = np.maximum(values, _EPSILON)
    return np.asarray(2.0 * (special.xlogy(truth, truth / means) - truth + means))


def _gamma_deviance(truth: NDArray[Any], values: NDArray[Any]) -> Floats:
    ratios = truth / np.maximum(values, _EPSILON)
    return np.asarray(2.0 * (ratios - 1.0 - np.log(ratios)))


def _ranked_probability(truth: NDArray[Any], probabilities: NDArray[Any]) -> Floats:
    """Compute the squared differences of the cumulative probabilities of classes in order."""
    reached = np.arange(probabilities.shape[1] - 1) >= truth[:, np.newaxis]
    cumulative = np.cumsum(probabilities, axis=1)[:, :-1]
    return np.asarray(((cumulative - reached) ** 2).sum(axis=1))


def _partial_likelihood(truth: NDArray[Any], log_hazards: NDArray[Any]) -> Floats:
    """Compute minus the logarithm of the probability that an event hits its row, of all rows at risk; 0 if censored.

    Ties are treated as by Breslow: every tied row is at risk of each of the events.
    """
    event, time = truth["event"], truth["time"]
    shifted = log_hazards - log_hazards.max()
    times, places = np.unique(time, return_inverse=True)
    sums = np.bincount(places.ravel(), np.exp(shifted), times.size)
    at_risk = np.maximum(np.cumsum(sums[::-1])[::-1], np.finfo(np.float64).tiny)
    return np.asarray(np.where(event, np.log(at_risk)[places.ravel()] - shifted, 0.0))


def _over_outputs(errors: Floats) -> Floats:
    """Return one loss per row: the mean over the outputs, where the target has several."""
    loss: Floats = errors if errors.ndim == 1 else errors.mean(axis=1)
    return loss


_BY_TASK: dict[Task, dict[str, Loss]] = {
    "classification": {
        "log-loss": Loss("log-loss", "probabilities", _log_loss),
        "brier": Loss("brier", "probabilities", _brier),
        "hinge": Loss("hinge", "margins", _hinge),
        "zero-one": Loss("zero-one", "labels", _zero_one),
        "ranked-probability": Loss("ranked-probability", "probabilities", _ranked_probability),
    },
    "regression": {
        "squared": Loss("squared", "values", _squared),
        "absolute": Loss("absolute", "values", _absolute),
        "poisson-deviance": Loss("poisson-deviance", "values", _poisson_deviance),
        "gamma-deviance": Loss("gamma-deviance", "values", _gamma_deviance),
    },
}

_OF_SURVIVAL = Loss("partial-likelihood", "values", _partial_likelihood, wants_labels=True)

# The power of the target's unit in which a loss is measured.
LOSS_POWERS = {"absolute": 1, "squared": 2}

LOSS_NAMES = frozenset({"auto", _OF_SURVIVAL.name}.union(*_BY_TASK.values()))

_METHOD: dict[Output, str] = {"probabilities": "predict_proba", "margins": "decision_function"}


def choose_loss(
    loss: str | LossFunction,
    task: Task,
    estimator: Any,
    of_probabilities: str = "log-loss",
    *,
    fields: tuple[str, ...] | None = None,
    kind: TargetKind | None = None,
) -> Loss:
    """Return the loss for this task and estimator; raise if there is none.

    Parameters
    ----------
    of_probabilities : str, default="log-loss"
        What "auto" means for classifiers with probabilities.

    fields : tuple of str, default=None
        The names of the target's fields, where it is a structured array.

    kind : TargetKind, default=None
        What "auto" means follows from it.
    """
    if callable(loss):
        output = _natural_output(task, estimator)
        return Loss("callable", output, loss, wants_labels=True)
    if (
        loss == "auto"
        and kind is not None
        and (kind.task == "regression" or hasattr(estimator, "predict_proba"))
    ):
        loss = kind.loss
    if loss == _OF_SURVIVAL.name and kind is not None and kind.name == "survival":
        return _OF_SURVIVAL
    if fields is not None:
        raise InvalidInputError(
            f"y is a structured array with the fields {listed(fields)}, for which loss={loss!r} is undefined. Pass a "
            "function as loss: loss(y, prediction) is passed the records and returns one loss per row."
        )
    if loss == "auto":
        natural: dict[Output, str] = {
            "probabilities": of_probabilities,
            "margins": "hinge",
            "labels": "zero-one",
            "values": "squared",
        }
        return _BY_TASK[task][natural[_natural_output(task, estimator)]]
    if loss not in _BY_TASK[task]:
        raise InvalidInputError(
            f"loss={loss!r} is not a loss for {task}. Choose one of {sorted(_BY_TASK[task])}, 'auto', or a function "
            "that returns one loss per row."
        )
    chosen = _BY_TASK[task][loss]
    method = _METHOD.get(chosen.output, "predict")
    if not hasattr(estimator, method):
        raise InvalidInputError(
            f"loss={loss!r} needs an estimator with {method}, which {type(estimator).__name__} lacks. "
            'Use loss="auto", which follows the methods of the estimator.'
        )
    return chosen


def require_measurable(y: Floats, loss: Loss, name: str) -> None:
    """Raise if squared errors of the target would overflow or underflow in 64 bits.

    Parameters
    ----------
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)

    name : str
        The name of the target.
    """
    if loss.name != "squared":
        return
    with np.errstate(over="ignore"):
        spread = np.ptp(y, axis=0)
    wrong = [one for one in np.atleast_1d(spread) if one > _LARGEST_SPREAD or 0 < one < _SMALLEST_SPREAD]
    if wrong:
        raise InvalidInputError(
            f"The values of {name} differ by up to {wrong[0]:.3g}, and squares of that are out of the range of 64-bit "
            'floats. Rescale the target, for example by its standard deviation, or use loss="absolute".'
        )


def _natural_output(task: Task, estimator: Any) -> Output:
    if task == "regression":
        return "values"
    if hasattr(estimator, "predict_proba"):
        return "probabilities"
    return "margins" if hasattr(estimator, "decision_function") else "labels"


def predict(model: Any, X: Matrix, output: Output, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the predictions of a fitted model that a loss needs.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        All classes of the table, sorted. Classes that are not in the train part of the model
        have probability 0 and margin minus infinity.

    Returns
    -------
    ndarray of shape (n_rows, n_classes), (n_rows, n_outputs) or (n_rows,)
        Labels are returned as class numbers.
    """
    if output == "values":
        values = _finite(np.asarray(model.predict(X), dtype=np.float64), "predict")
        # Some regressors return one column for one output.
        return values.reshape(X.shape[0]) if values.size == X.shape[0] else values
    if output == "labels":
        return np.searchsorted(classes, np.asarray(model.predict(X)).reshape(X.shape[0]))
    if output == "probabilities":
        answer, absent = _finite(np.asarray(model.predict_proba(X), dtype=np.float64), "predict_proba"), 0.0
    else:
        decision = _finite(np.asarray(model.decision_function(X), dtype=np.float64), "decision_function")
        answer, absent = _margin_columns(decision), -np.inf
    seen = np.searchsorted(classes, getattr(model, "classes_", classes))
    if answer.shape[1] != seen.size:
        raise InvalidInputError(
            f"{type(model).__name__} returned {answer.shape[1]} columns for {seen.size} classes. One column per class "
            'is needed: for SVC set decision_function_shape="ovr", or use loss="zero-one".'
        )
    if seen.size == classes.size:
        return answer
    aligned = np.full((answer.shape[0], classes.size), absent)
    aligned[:, seen] = answer
    return aligned


def _finite(answer: Floats, method: str) -> Floats:
    """Raise if a prediction is NaN or infinite: a risk made of it would be meaningless."""
    if np.isfinite(answer).all():
        return answer
    wrong = np.flatnonzero(~np.isfinite(answer).reshape(len(answer), -1).all(axis=1))
    raise FloatingPointError(
        f"{method} returned NaN or infinite values for {wrong.size} of {len(answer)} rows, the first for row {wrong[0]}"
    )


def _margin_columns(decision: Floats) -> Floats:
    """Return two columns, one per class, whose difference is the decision value."""
    if decision.ndim == 2:
        return decision
    return np.column_stack([-decision / 2.0, decision / 2.0])
