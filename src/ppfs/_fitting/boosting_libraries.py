"""LightGBM, XGBoost and CatBoost: one thread for small fits, and LightGBM without its scikit-learn interface.

None of them is imported before one of its models is fitted. For a few hundred rows, several threads are slower than
one: they wait for each other, and for the cores that other fits use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from ppfs._conventions import Floats
from ppfs._data import Matrix

# The parameter for the number of threads.
_THREADS = {"lightgbm": "n_jobs", "xgboost": "n_jobs", "catboost": "thread_count"}

# Parameters of CatBoost that decide about files.
_OF_FILES = ("allow_writing_files", "train_dir", "save_snapshot", "snapshot_file")

# Parameters of LightGBM, and those of its scikit-learn interface only.
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
    """Return whether the estimator, or one among its parameters, is a model of one of the libraries."""
    return any(_library(part) for part in _parts(estimator))


def with_one_thread(estimator: Any) -> Any:
    """Return a clone whose models of the libraries use one thread each, unless the caller set the number.

    Models of CatBoost write no files either: creating a folder in the working directory takes longer than a small fit.
    """
    model = clone(estimator)
    for part in _parts(model):
        library = _library(part)
        if not library:
            continue
        said = part.get_params(deep=False)
        if said.get(_THREADS[library]) is None:
            part.set_params(**{_THREADS[library]: 1})
        if library == "catboost" and not any(said.get(name) is not None for name in _OF_FILES):
            part.set_params(allow_writing_files=False)
    return model


def _parts(estimator: Any) -> list[Any]:
    inner = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    return [estimator, *(value for value in inner if isinstance(value, BaseEstimator) or _library(value))]


def _library(model: Any) -> str | None:
    """Return the library that a model belongs to."""
    if isinstance(model, type) or not hasattr(model, "fit"):
        return None
    packages = (parent.__module__.partition(".")[0] for parent in type(model).__mro__)
    return next((package for package in packages if package in _THREADS), None)


def is_plain_lightgbm(estimator: Any) -> bool:
    """Return whether a model is LightGBM's, with parameters that `LightGBMRecipe` supports."""
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
class LightGBMRecipe:
    """The settings of a LightGBM model, read once from its scikit-learn interface for many fits.

    Attributes
    ----------
    settings : dict
        Parameters of LightGBM's own interface, without the objective.

    min_leaf : int
        Minimum number of train rows in a leaf.

    is_settled : bool
        Whether nothing is random: after a round without a split, all later rounds have none either.
    """

    settings: dict[str, Any]
    n_rounds: int
    min_leaf: int
    is_settled: bool

    @classmethod
    def of(cls, model: Any) -> LightGBMRecipe:
        """Read the settings of a model; see `is_plain_lightgbm`."""
        parameters = model.get_params(deep=False)
        settings = {name: value for name, value in parameters.items() if name in _KNOWN}
        return cls(
            settings | {"metric": "None", "num_threads": 1},
            parameters["n_estimators"],
            parameters["min_child_samples"],
            not parameters["subsample_freq"] and parameters["colsample_bytree"] >= 1.0,
        )

    def is_constant(self, n_rows: int) -> bool:
        """Return whether `n_rows` train rows are too few for two leaves."""
        return n_rows < 2 * self.min_leaf

    def fit_constant(
        self, y: NDArray[Any], weights: Floats | None, *, is_classifier: bool, seed: int
    ) -> ConstantLightGBM:
        """Fit the model of any columns, if it `is_constant`."""
        fitted = self.fit(np.zeros((len(y), 1)), y, weights, is_classifier=is_classifier, seed=seed)
        return ConstantLightGBM(fitted.booster, fitted.classes_)

    def fit(
        self, X: Matrix, y: NDArray[Any], weights: Floats | None, *, is_classifier: bool, seed: int
    ) -> FittedLightGBM:
        """Fit the same model as ``model.fit(X, y, weights)``, with `seed` unless the model has one."""
        from lightgbm import Booster, Dataset

        settings = self.settings | {"objective": "regression"}
        if settings["random_state"] is None:
            settings["random_state"] = seed
        classes = np.empty(0)
        if is_classifier:
            classes, y = np.unique(y, return_inverse=True)
            settings["objective"] = "binary" if classes.size <= 2 else "multiclass"
            if classes.size > 2:
                settings["num_class"] = classes.size
        data = X if sp.issparse(X) else np.ascontiguousarray(X)
        booster = Booster(settings, Dataset(data, y, weight=weights, params=settings))
        for _ in range(self.n_rounds):
            if booster.update() and self.is_settled:
                break
        booster.free_dataset()
        return FittedLightGBM(booster, classes)


@dataclass(frozen=True)
class FittedLightGBM:
    """A LightGBM model fitted without the scikit-learn interface, which takes half of the time of a small fit.

    Attributes
    ----------
    classes_ : ndarray
        The labels of the train part; empty for regression.
    """

    booster: Any
    classes_: NDArray[Any]

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Return values, or the most probable labels."""
        if not self.classes_.size:
            return self._answer(X)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Matrix) -> Floats:
        """Return the probabilities of the classes."""
        answer = self._answer(X)
        return answer if answer.ndim == 2 else np.column_stack([1.0 - answer, answer])

    def _answer(self, X: Matrix) -> Floats:
        return np.asarray(self.booster.predict(X, num_threads=1))


@dataclass(frozen=True)
class ConstantLightGBM(FittedLightGBM):
    """A LightGBM model with too few train rows for two leaves: it predicts one constant."""

    def _answer(self, X: Matrix) -> Floats:
        return np.repeat(super()._answer(np.zeros((1, 1))), X.shape[0], axis=0)
