"""Panels of models: the values that the caller may pass, and the models they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils import InputTags

from ppfs._conventions import can_predict
from ppfs._data import Table, Task
from ppfs._fitting.estimators import DefaultMember, estimator_for, input_tags, task_of_estimator
from ppfs._fitting.label_probabilities import LabelProbabilities, for_labels
from ppfs._fitting.parameters import default_parameters
from ppfs.exceptions import InvalidInputError
from ppfs.models import default_panel

# The value of `estimator` that means the models of `ppfs.models.default_panel`.
DEFAULT_PANEL = "panel"

# The parameters that may hold several models.
_PANELS = ("estimator", "marginal_estimator", "growth_estimator")


def members_of(estimator: Any, parameter: str = "estimator") -> list[Any]:
    """Return the models that an estimator, a list of them, or "panel" means; None is the paper's tree.

    Parameters
    ----------
    parameter : str, default="estimator"
        The name of the parameter, for messages.
    """
    if isinstance(estimator, str):
        return [DefaultMember(number) for number in range(len(default_panel("regression")))]
    if not isinstance(estimator, list | tuple):
        return [estimator]
    if not estimator:
        raise InvalidInputError(
            f"{parameter}={estimator!r} is a panel without a model. Name at least one, or use "
            f'{parameter}="panel" for the models that come with the package.'
        )
    for number, model in enumerate(estimator):
        if isinstance(model, type):
            raise InvalidInputError(
                f"{parameter}[{number}] is the class {model.__name__}; an instance is needed: {model.__name__}()."
            )
        if not (can_predict(model) or isinstance(model, DefaultMember)):
            raise InvalidInputError(
                f"{parameter}[{number}]={model!r} is not a model: a panel lists estimators that have fit, predict and "
                'get_params. Use None for a decision tree alone, or "panel" alone for the models that come with the '
                "package."
            )
    return list(estimator)


def task_of_members(estimator: Any, parameter: str = "estimator") -> Task | None:
    """Return the task of all models of a panel, or None if they declare none.

    Raises
    ------
    InvalidInputError
        If some are for one task and some for the other.
    """
    models = [model for model in members_of(estimator, parameter) if not isinstance(model, DefaultMember)]
    tasks = [task_of_estimator(model) for model in models]
    said = {task for task in tasks if task is not None}
    if len(said) > 1:
        classifier = models[tasks.index("classification")]
        regressor = models[tasks.index("regression")]
        raise InvalidInputError(
            f"{parameter} lists the classifier {type(classifier).__name__} and the regressor "
            f"{type(regressor).__name__}, but a target is either classes or numbers. List models of one task."
        )
    return said.pop() if said else None


def usable_members(estimator: Any, table: Table) -> list[Any]:
    """Return the models for a table: all that the caller lists, or those of the default panel that can be fitted to it.

    The linear model takes any table; the others take dense columns, and the trees one output.
    """
    models = members_of(estimator)
    if not isinstance(estimator, str):
        return [model if isinstance(model, DefaultMember) else for_labels(model, table) for model in models]
    if table.is_sparse:
        return [DefaultMember(0, is_sparse=True)]
    line, curves, products, trees = models
    return [line, curves, products, *[trees] * (table.codes.ndim == 1)]


def accepted_input(estimator: Any, task: Task) -> InputTags:
    """Return the input that all models of a panel accept; the default panel takes missing values and sparse data."""
    if isinstance(estimator, str):
        return InputTags(sparse=True, allow_nan=True)
    models = estimator if isinstance(estimator, list | tuple) else [estimator]
    accepts = [input_tags(estimator_for(None, task) if model is None else model) for model in models]
    return InputTags(
        sparse=all(one.sparse for one in accepts), allow_nan=all(one.allow_nan for one in accepts)
    )


def names_of(models: Sequence[Any], task: Task) -> tuple[str, ...]:
    """Return a unique name for each model of a panel.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import SplineTransformer
    >>> names_of([Ridge(), make_pipeline(SplineTransformer(), Ridge()), Ridge(alpha=9)], "regression")
    ('Ridge', 'SplineTransformer+Ridge', 'Ridge (2)')
    """
    names: list[str] = []
    for model in models:
        name = _name(model.of(task) if isinstance(model, DefaultMember) else model)
        n_before = sum(other == name or other.startswith(f"{name} (") for other in names)
        names.append(f"{name} ({n_before + 1})" if n_before else name)
    return tuple(names)


def _name(model: Any) -> str:
    """Return the name of a model's class; for a pipeline, those of its steps without scalers."""
    if model is None:
        return "decision tree"
    if isinstance(model, LabelProbabilities):
        return _name(model.estimator)
    steps = [step for _, step in getattr(model, "steps", []) if step is not None and step != "passthrough"]
    told = [type(step).__name__ for step in steps if not type(step).__name__.endswith("Scaler")]
    return "+".join(told) or type(model).__name__


class PanelParameters(BaseEstimator):
    """Parameters of models in a list can be read and set: ``estimator__0__alpha`` is that of the first."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, those of the models too, by their position in the list."""
        if not deep:
            # As scikit-learn's, which takes the constructor's signature apart at every call.
            return {name: getattr(self, name) for name in sorted(default_parameters(type(self)))}
        found: dict[str, Any] = super().get_params(deep)
        for name in _PANELS:
            models = found.get(name)
            for number, model in enumerate(models) if isinstance(models, list | tuple) else ():
                found[f"{name}__{number}"] = model
                inside = (
                    model.get_params() if hasattr(model, "get_params") and not isinstance(model, type) else {}
                )
                found.update({f"{name}__{number}__{inner}": value for inner, value in inside.items()})
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the models."""
        inside = {key: params.pop(key) for key in list(params) if self._is_inside(key, params)}
        super().set_params(**params)
        # Whole models before parameters of models.
        for key in sorted(inside, key=lambda key: key.count("__")):
            self._set_inside(key, inside[key])
        return self

    def _is_inside(self, key: str, params: dict[str, Any]) -> bool:
        name, _, rest = key.partition("__")
        is_listed = isinstance(params.get(name, getattr(self, name, None)), list | tuple)
        return name in _PANELS and is_listed and rest.partition("__")[0].isdigit()

    def _set_inside(self, key: str, value: Any) -> None:
        name, number, *inner = key.split("__", 2)
        models = getattr(self, name)
        if int(number) >= len(models):
            raise InvalidInputError(
                f"{key!r} names model {number}, but {name} lists {len(models)}, counted from 0."
            )
        if inner:
            models[int(number)].set_params(**{inner[0]: value})
        else:
            # A new list, so that the caller's is not changed.
            changed = list(models)
            changed[int(number)] = value
            setattr(self, name, changed)
