"""Which model is fitted, and what it says of itself."""

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

# Places in the default panel.
_LINE, _PRODUCTS = 0, 2

# Products are made of so many other columns at most: with 20 of them a model has 252 regressors.
_MOST_FOR_PRODUCTS = 20


@dataclass(frozen=True)
class DefaultMember:
    """One of the models of the default panel, whatever the task turns out to be.

    Attributes
    ----------
    number : int
        Which of them.

    is_sparse : bool, default=False
        Whether it is to see sparse columns.
    """

    number: int
    is_sparse: bool = False

    def of(self, task: Task) -> Any:
        """Return the model for a task, which tells metadata routing that weights go to the last step."""
        model = default_panel(task, sparse=self.is_sparse)[self.number]
        if get_config()["enable_metadata_routing"] and hasattr(model, "steps"):
            for number, (_, step) in enumerate(reversed(model.steps)):
                if hasattr(step, "set_fit_request"):
                    step.set_fit_request(sample_weight=number == 0)
        return model

    @property
    def weight(self) -> float:
        """How much its answer counts: most links are lines, or nearly so, and asking three others is to cost little."""
        return 2.0 if self.number == _LINE else 1.0

    def is_asked_given(self, n_others: int) -> bool:
        """Tell whether it has something to say about a column given so many others.

        A column has no product with nothing, and of many columns there are more products than rows.
        """
        return self.number != _PRODUCTS or 1 <= n_others <= _MOST_FOR_PRODUCTS


# Steps that take gaps and leave them where they are.
_HANDS_GAPS_ON = frozenset(
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
    """Refuse parameters that the estimator's own `fit` would refuse, before a fast path answers in its place.

    Parameters
    ----------
    parameter : str, default="estimator"
        What the caller calls the estimator.
    """
    for model in _fitted_as_they_are(estimator):
        try:
            refuse_wrong_parameters(model)
        except (ValueError, TypeError) as error:
            raise InvalidInputError(f"{parameter}={estimator!r} cannot be fitted: {error}") from error


def _fitted_as_they_are(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and the models inside of it whose parameters it does not change.

    A search does: what its model has may give way to what is searched over.
    """
    yield estimator
    inside = [step for _, step in getattr(estimator, "steps", [])]
    if not hasattr(estimator, "refit"):
        inside.append(getattr(estimator, "estimator", None))
    for model in inside:
        if hasattr(model, "fit"):
            yield from _fitted_as_they_are(model)


def _require_predictor(estimator: Any) -> None:
    """Refuse estimators that say they are made for something else than predicting a target.

    Those that say nothing are believed.
    """
    try:
        kind = get_tags(estimator).estimator_type
    except (AttributeError, TypeError):
        return
    if kind not in (None, "classifier", "regressor"):
        raise InvalidInputError(
            f"{type(estimator).__name__} says that it is of the type {kind!r}, which does not learn to predict a "
            "target. Use a classifier or a regressor, or estimator=None for a decision tree that fits either task."
        )


def task_of_estimator(estimator: Any) -> Task | None:
    """Tell the task that an estimator is made for, or None when it does not say, or there is none."""
    if estimator is None:
        return None
    if is_classifier(estimator):
        return "classification"
    return "regression" if is_regressor(estimator) else None


def input_tags(estimator: Any) -> Any:
    """Return what an estimator says it accepts; one that says nothing is believed to accept all.

    A Pipeline and a search do not say that they take gaps where what is inside of them does: that is asked here.
    """
    try:
        tags = get_tags(estimator).input_tags
    except (AttributeError, TypeError):
        return InputTags(sparse=True, allow_nan=True)
    return tags if tags.allow_nan else replace(tags, allow_nan=_takes_gaps_inside(estimator))


def _takes_gaps_inside(estimator: Any) -> bool:
    """Tell whether the models inside an estimator take gaps although it does not say so."""
    if hasattr(estimator, "steps"):
        for _, step in estimator.steps:
            if step is None or step == "passthrough":
                continue
            if not input_tags(step).allow_nan:
                return False
            if type(step).__name__ not in _HANDS_GAPS_ON:
                return True
        return False
    if hasattr(estimator, "transformers") and hasattr(estimator, "remainder"):
        steps = [step for _, step, _ in estimator.transformers if not isinstance(step, str)]
        return bool(steps) and all(input_tags(step).allow_nan for step in steps)
    inner = getattr(estimator, "estimator", None)
    return type(estimator).__name__ in TRANSPARENT and inner is not None and bool(input_tags(inner).allow_nan)
