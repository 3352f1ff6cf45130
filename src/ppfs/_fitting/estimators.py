"""Which model is fitted, and what its tags declare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import InputTags, get_tags

from ppfs._conventions import refuse_wrong_parameters
from ppfs._data import Task
from ppfs._fitting.wanted_encoding import TRANSPARENT
from ppfs.exceptions import InvalidInputError
from ppfs.models import default_panel

# Positions in the default panel.
_LINE, _PRODUCTS = 0, 2


@dataclass(frozen=True)
class DefaultMember:
    """One of the models of the default panel, for either task.

    Attributes
    ----------
    number : int
        Its position in the panel.

    is_sparse : bool, default=False
        Whether columns are sparse.
    """

    number: int
    is_sparse: bool = False

    def of(self, task: Task) -> Any:
        """Return the model for a task; with metadata routing, weights are requested for the last step."""
        model = default_panel(task, sparse=self.is_sparse)[self.number]
        if get_config()["enable_metadata_routing"] and hasattr(model, "steps"):
            for number, (_, step) in enumerate(reversed(model.steps)):
                if hasattr(step, "set_fit_request"):
                    step.set_fit_request(sample_weight=number == 0)
        return model

    @property
    def weight(self) -> float:
        """The weight of its answer: most links are nearly linear, and three other models should cost little power."""
        return 2.0 if self.number == _LINE else 1.0

    def is_asked_given(self, n_others: int) -> bool:
        """Return whether it is used for a column given `n_others` others: given nothing there are no products."""
        return self.number != _PRODUCTS or n_others > 0


# Steps that keep missing values.
_KEEPS_MISSING = frozenset(
    {
        "MaxAbsScaler",
        "MinMaxScaler",
        "OrdinalEncoder",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    }
)


def estimator_for(estimator: Any, task: Task, name: str = "the target") -> Any:
    """Return the model to fit for this task: the caller's, one of the default panel's, or the paper's decision tree."""
    if isinstance(estimator, DefaultMember):
        return estimator.of(task)
    if estimator is None:
        return DecisionTreeClassifier() if task == "classification" else DecisionTreeRegressor()
    _require_predictor(estimator)
    suits = is_classifier(estimator) if task == "classification" else is_regressor(estimator)
    other = is_regressor(estimator) if task == "classification" else is_classifier(estimator)
    if other and not suits:
        raise InvalidInputError(
            f"{type(estimator).__name__} cannot predict {name}: the task is {task}. Use a "
            f"{'classifier' if task == 'classification' else 'regressor'}, or estimator=None for a decision tree "
            "that fits either task."
        )
    return estimator


def require_valid_parameters(estimator: Any, parameter: str = "estimator") -> None:
    """Raise for parameters that the estimator's own `fit` would refuse: a fast path does not call it.

    Parameters
    ----------
    parameter : str, default="estimator"
        The caller's name for the estimator.
    """
    for model in _fitted_as_they_are(estimator):
        try:
            refuse_wrong_parameters(model)
        except (ValueError, TypeError) as error:
            raise InvalidInputError(f"{parameter}={estimator!r} cannot be fitted: {error}") from error


def _fitted_as_they_are(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and the models inside it whose parameters it does not change.

    A search replaces parameters of its model.
    """
    yield estimator
    inside = [step for _, step in getattr(estimator, "steps", [])]
    if not hasattr(estimator, "refit"):
        inside.append(getattr(estimator, "estimator", None))
    for model in inside:
        if hasattr(model, "fit"):
            yield from _fitted_as_they_are(model)


def _require_predictor(estimator: Any) -> None:
    """Raise for estimators that declare another purpose than predicting a target."""
    try:
        kind = get_tags(estimator).estimator_type
    except (AttributeError, TypeError):
        return
    if kind not in (None, "classifier", "regressor"):
        raise InvalidInputError(
            f"{type(estimator).__name__} is of the type {kind!r}, which does not predict a "
            "target. Use a classifier or a regressor, or estimator=None for a decision tree that fits either task."
        )


def task_of_estimator(estimator: Any) -> Task | None:
    """Return the task of an estimator, or None if it declares none or there is no estimator."""
    if estimator is None:
        return None
    if is_classifier(estimator):
        return "classification"
    return "regression" if is_regressor(estimator) else None


def input_tags(estimator: Any) -> Any:
    """Return the declared input tags of an estimator; one without tags is assumed to accept everything.

    A Pipeline or a search may not declare that it takes missing values although the models inside do.
    """
    try:
        # Not by `get_tags`, which in scikit-learn 1.6 finds tags of a list too.
        tags = estimator.__sklearn_tags__().input_tags
    except (AttributeError, TypeError):
        return InputTags(sparse=True, allow_nan=True)
    return tags if tags.allow_nan else replace(tags, allow_nan=_takes_missing_inside(estimator))


def _takes_missing_inside(estimator: Any) -> bool:
    """Return whether the models inside an estimator take missing values although it does not declare that."""
    if hasattr(estimator, "steps"):
        for _, step in estimator.steps:
            if step is None or step == "passthrough":
                continue
            if not input_tags(step).allow_nan:
                return False
            if type(step).__name__ not in _KEEPS_MISSING:
                return True
        return False
    if hasattr(estimator, "transformers") and hasattr(estimator, "remainder"):
        steps = [step for _, step, _ in estimator.transformers if not isinstance(step, str)]
        return bool(steps) and all(input_tags(step).allow_nan for step in steps)
    inner = getattr(estimator, "estimator", None)
    return type(estimator).__name__ in TRANSPARENT and inner is not None and bool(input_tags(inner).allow_nan)
