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

from ppfs._conventions import Floats
from ppfs._data import Matrix

# What each library calls the number of its threads.
_THREADS = {"lightgbm": "n_jobs", "xgboost": "n_jobs", "catboost": "thread_count"}

# Parameters by which a caller asks CatBoost for files, or for none.
_OF_FILES = ("allow_writing_files", "train_dir", "save_snapshot", "snapshot_file")

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
    """Return a clone whose models of the libraries take one thread each, wherever the caller left that open.

    CatBoost's write no files either: each fit makes a folder in the place where Python runs, which takes longer than
    a small fit.
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
class LightGBMRecipe:
    """What a LightGBM model is fitted with, read from its scikit-learn interface once for many fits.

    Attributes
    ----------
    settings : dict
        Parameters as LightGBM's own interface takes them, but for the objective.

    n_rounds : int

    min_leaf : int
        Train rows that a leaf needs.

    is_settled : bool
        Whether nothing is drawn at random: a round that finds nothing to split is then followed by rounds like it.
    """

    settings: dict[str, Any]
    n_rounds: int
    min_leaf: int
    is_settled: bool

    @classmethod
    def of(cls, model: Any) -> LightGBMRecipe:
        """Read a model; see `is_plain_lightgbm` for which models it may be."""
        parameters = model.get_params(deep=False)
        settings = {name: value for name, value in parameters.items() if name in _KNOWN}
        return cls(
            settings | {"metric": "None", "num_threads": 1},
            parameters["n_estimators"],
            parameters["min_child_samples"],
            not parameters["subsample_freq"] and parameters["colsample_bytree"] >= 1.0,
        )

    def is_constant(self, n_rows: int) -> bool:
        """Tell whether so many train rows are too few for two leaves."""
        return n_rows < 2 * self.min_leaf

    def fit_constant(
        self, y: NDArray[Any], weights: Floats | None, *, is_classifier: bool, seed: int
    ) -> ConstantLightGBM:
        """Fit what `fit` finds on any columns, where it `is_constant`."""
        fitted = self.fit(np.zeros((len(y), 1)), y, weights, is_classifier=is_classifier, seed=seed)
        return ConstantLightGBM(fitted.booster, fitted.classes_)

    def fit(
        self, X: Matrix, y: NDArray[Any], weights: Floats | None, *, is_classifier: bool, seed: int
    ) -> FittedLightGBM:
        """Fit what ``model.fit(X, y, weights)`` fits, with a seed wherever the model leaves that open."""
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
    """LightGBM as its scikit-learn interface fits it, without that interface: half of the time of a small fit.

    Attributes
    ----------
    booster : lightgbm.Booster

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
    """LightGBM where the train rows are too few for two leaves: whatever the columns, it predicts one constant."""

    def _answer(self, X: Matrix) -> Floats:
        return np.repeat(super()._answer(np.zeros((1, 1))), X.shape[0], axis=0)
