"""LightGBM, XGBoost and CatBoost: how many threads they take for a small fit, and LightGBM without its wrapper.

None of them is imported before a model of theirs is fitted. For a few hundred rows their threads cost more than
they bring: they wait for each other, and for the cores that the other fits use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from ppfs._block import Matrix
from ppfs._types import Floats

# What each library calls the number of its threads.
_THREADS = {"lightgbm": "n_jobs", "xgboost": "n_jobs", "catboost": "thread_count"}

# LightGBM's own names, and those that only its scikit-learn interface knows.
_KNOWN = frozenset(
    {
        "boosting_type",
        "num_leaves",
        "max_depth",
        "learning_rate",
        "subsample_for_bin",
        "min_split_gain",
        "min_child_weight",
        "min_child_samples",
        "subsample",
        "subsample_freq",
        "colsample_bytree",
        "reg_alpha",
        "reg_lambda",
        "random_state",
        "verbose",
        "verbosity",
    }
)
_OF_WRAPPER = frozenset({"n_estimators", "n_jobs", "objective", "class_weight", "importance_type"})


def has_library_model(estimator: Any) -> bool:
    """Tell whether a model of one of the libraries is fitted: the estimator itself, or one among its parameters."""
    return any(_library(part) for part in _parts(estimator))


def with_one_thread(estimator: Any) -> Any:
    """Return a clone whose models of the libraries take one thread each, wherever the caller left that open."""
    model = clone(estimator)
    for part in _parts(model):
        library = _library(part)
        if library and part.get_params(deep=False).get(_THREADS[library]) is None:
            part.set_params(**{_THREADS[library]: 1})
    return model


def _parts(estimator: Any) -> list[Any]:
    inner = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    return [estimator, *(value for value in inner if isinstance(value, BaseEstimator) or _library(value))]


def _library(model: Any) -> str | None:
    """Return the name of the library that a model comes from."""
    if isinstance(model, type) or not hasattr(model, "fit"):
        return None
    packages = (parent.__module__.partition(".")[0] for parent in type(model).__mro__)
    return next((package for package in packages if package in _THREADS), None)


def is_plain_lightgbm(estimator: Any) -> bool:
    """Tell whether a model is LightGBM's, and with parameters that `FittedLightGBM` knows."""
    if _library(estimator) != "lightgbm" or type(estimator).__name__ not in (
        "LGBMClassifier",
        "LGBMRegressor",
    ):
        return False
    parameters = estimator.get_params(deep=False)
    is_own_class = type(estimator).__module__.partition(".")[0] == "lightgbm"
    return (
        is_own_class
        and set(parameters) <= _KNOWN | _OF_WRAPPER
        and parameters["boosting_type"] == "gbdt"
        and parameters["objective"] is None
        and parameters["class_weight"] is None
        and isinstance(parameters["random_state"], int | np.integer | None)
        and parameters["n_jobs"] == 1
    )


@dataclass(frozen=True)
class FittedLightGBM:
    """LightGBM as its scikit-learn interface fits it, without that interface: half of the time of a small fit.

    Attributes
    ----------
    booster : lightgbm.Booster

    classes_ : ndarray
        The labels of the train part; empty for regression.
    """

    booster: Any
    classes_: NDArray[Any]

    @classmethod
    def fit(
        cls, model: Any, X: Matrix, y: NDArray[Any], weights: Floats | None, *, is_classifier: bool
    ) -> FittedLightGBM:
        """Fit what ``model.fit(X, y, weights)`` fits; see `is_plain_lightgbm` for which models it may be."""
        from lightgbm import Booster, Dataset

        parameters = model.get_params(deep=False)
        settings = {name: value for name, value in parameters.items() if name in _KNOWN}
        settings |= {"metric": "None", "num_threads": 1, "objective": "regression"}
        classes = np.empty(0)
        if is_classifier:
            classes, y = np.unique(y, return_inverse=True)
            settings["objective"] = "binary" if classes.size <= 2 else "multiclass"
            if classes.size > 2:
                settings["num_class"] = classes.size
        data = X if sp.issparse(X) else np.ascontiguousarray(X)
        booster = Booster(settings, Dataset(data, y, weight=weights, params=settings))
        # Without random choices a round that finds nothing to split is followed by rounds like it.
        is_settled = not parameters["subsample_freq"] and parameters["colsample_bytree"] >= 1.0
        for _ in range(parameters["n_estimators"]):
            if booster.update() and is_settled:
                break
        booster.free_dataset()
        return cls(booster, classes)

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Return values, or the most probable labels."""
        if not self.classes_.size:
            return np.asarray(self.booster.predict(X, num_threads=1))
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Matrix) -> Floats:
        """Return the probabilities of the classes."""
        answer = np.asarray(self.booster.predict(X, num_threads=1))
        return answer if answer.ndim == 2 else np.column_stack([1.0 - answer, answer])
