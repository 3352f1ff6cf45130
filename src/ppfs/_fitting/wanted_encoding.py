"""The encoding of categories for an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Encoding = Literal["codes", "native", "one-hot"]

# Wrappers that pass columns on unchanged, so that column numbers stay the same inside.
TRANSPARENT = frozenset(
    {
        "CalibratedClassifierCV",
        "FixedThresholdClassifier",
        "GridSearchCV",
        "HalvingGridSearchCV",
        "HalvingRandomSearchCV",
        "LabelProbabilities",
        "MultiOutputClassifier",
        "MultiOutputRegressor",
        "RandomizedSearchCV",
        "TunedThresholdClassifierCV",
    }
)

# Ensembles whose default model is a tree.
TREES_BY_DEFAULT = frozenset(
    {"AdaBoostClassifier", "AdaBoostRegressor", "BaggingClassifier", "BaggingRegressor"}
)

# By package and class name; the module inside a package may change.
_TREES = {
    "sklearn": {
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreeClassifier",
        "ExtraTreeRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    },
    "sksurv": {
        "ExtraSurvivalTree",
        "ExtraSurvivalTrees",
        "GradientBoostingSurvivalAnalysis",
        "RandomSurvivalForest",
        "SurvivalTree",
    },
}
_NATIVE = {"sklearn": {"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"}}

# All models of these packages are boosted trees with native categories.
_BOOSTING_PACKAGES = frozenset({"lightgbm", "xgboost", "catboost"})


@dataclass(frozen=True)
class Wanted:
    """The encoding of categories that an estimator needs.

    Attributes
    ----------
    encoding : {"codes", "native", "one-hot"}

    library : str
        The library of native categories; "" for other encodings.

    path : str
        The prefix of the parameters of the model that takes native categories, such as "estimator__".
    """

    encoding: Encoding
    library: str = ""
    path: str = ""


def wanted_encoding(estimator: Any) -> Wanted:
    """Return the encoding of categories that an estimator needs.

    Trees and forests of scikit-learn split the codes, boosted trees take native categories, and all
    others take dummies. Classes are identified by name and package, without an import.

    The last step of a Pipeline decides, or the model inside a search or another wrapper. If the
    wrapper may change the columns (a Pipeline, Bagging), column numbers differ inside, and a model with
    native categories gets codes like any other tree. A Voting or Stacking estimator gets dummies if one
    of its models needs them, else codes.
    """
    if hasattr(estimator, "steps"):
        return _numbered(wanted_encoding(estimator.steps[-1][1]))
    own = _own_encoding(estimator)
    if own is not None:
        return own
    if hasattr(estimator, "estimators"):
        models = [model for _, model in estimator.estimators if not isinstance(model, str)]
        all_trees = models and all(wanted_encoding(model).encoding != "one-hot" for model in models)
        return Wanted("codes" if all_trees else "one-hot")
    return _wrapped_encoding(estimator)


def is_tree_itself(estimator: Any) -> bool:
    """Return whether a model itself, not a model inside it, is a tree or an ensemble of trees that reads 32 bits."""
    for parent in type(estimator).__mro__:
        package, name = _package(parent), parent.__name__
        if name in _TREES.get(package, ()) or package == "catboost":
            return True
        if package == "xgboost":
            return getattr(estimator, "booster", None) != "gblinear"
    return False


def wants_numbered_labels(estimator: Any) -> bool:
    """Return whether an estimator takes only consecutive labels 0, 1, ..., as XGBoost's classifiers do.

    The last step of a Pipeline decides, or the model inside a search or another wrapper.
    """
    if hasattr(estimator, "steps"):
        return wants_numbered_labels(estimator.steps[-1][1])
    inner = getattr(estimator, "estimator", None)
    if hasattr(inner, "fit"):
        return type(estimator).__name__ != "LabelProbabilities" and wants_numbered_labels(inner)
    is_xgboost = any(_package(parent) == "xgboost" for parent in type(estimator).__mro__)
    return is_xgboost and hasattr(estimator, "predict_proba")


def _package(model: type) -> str:
    """Return the name of the package of a class."""
    return model.__module__.partition(".")[0]


def _own_encoding(estimator: Any) -> Wanted | None:
    """Return the encoding for the class of a model or its base classes; None if they are unknown."""
    for parent in type(estimator).__mro__:
        package, name = _package(parent), parent.__name__
        if name in _TREES.get(package, ()):
            return Wanted("codes")
        if name in _NATIVE.get(package, ()):
            return Wanted("native", "scikit-learn")
        if package in _BOOSTING_PACKAGES:
            return _boosted(estimator, package)
    return None


def _boosted(estimator: Any, library: str) -> Wanted:
    if library != "xgboost":
        return Wanted("native", library)
    if getattr(estimator, "booster", None) == "gblinear":
        return Wanted("one-hot")
    # XGBoost's exact split search does not support categories.
    is_exact = getattr(estimator, "tree_method", None) == "exact"
    return Wanted("codes") if is_exact else Wanted("native", library)


def _wrapped_encoding(estimator: Any) -> Wanted:
    for name in ("estimator", "regressor", "classifier"):
        model = getattr(estimator, name, None)
        if hasattr(model, "fit"):
            inner = wanted_encoding(model)
            if type(estimator).__name__ not in TRANSPARENT:
                return _numbered(inner)
            return Wanted(inner.encoding, inner.library, f"{name}__{inner.path}")
    return Wanted("codes" if type(estimator).__name__ in TREES_BY_DEFAULT else "one-hot")


def _numbered(inner: Wanted) -> Wanted:
    """Return codes in place of native categories."""
    return Wanted("one-hot" if inner.encoding == "one-hot" else "codes")
