"""Which encoding of categories suits an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Encoding = Literal["codes", "native", "one-hot"]

# Estimators that hand their columns on as they are, so that a column's number means the same inside.
TRANSPARENT = frozenset(
    {
        "CalibratedClassifierCV",
        "FixedThresholdClassifier",
        "GridSearchCV",
        "HalvingGridSearchCV",
        "HalvingRandomSearchCV",
        "RandomizedSearchCV",
        "TunedThresholdClassifierCV",
    }
)

# Where the models inside are trees when the caller names none.
TREES_BY_DEFAULT = frozenset(
    {"AdaBoostClassifier", "AdaBoostRegressor", "BaggingClassifier", "BaggingRegressor"}
)

# By the package they come from and the name they are imported by: where a package keeps its classes is its own affair.
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
    """How an estimator wants to see categories.

    Attributes
    ----------
    encoding : {"codes", "native", "one-hot"}

    library : str
        Whose native categories they are; "" for the other encodings.

    path : str
        Prefix of the parameters of the model that takes native categories, such as "estimator__".
    """

    encoding: Encoding
    library: str = ""
    path: str = ""


def wanted_encoding(estimator: Any) -> Wanted:
    """Tell how an estimator wants to see categories.

    Trees and forests of scikit-learn cut the codes, boosted trees with native categories get them, all
    others see dummies. Classes are known by their names and packages, so none is imported.

    A Pipeline is judged by its last step, a search or another wrapper by the model inside. Where the
    wrapper may change the columns on their way (a Pipeline, Bagging), a column's
    number means nothing inside, and a model with native categories gets codes like any other tree.
    A Voting or Stacking estimator gets dummies if one of its models wants them, else codes.
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
    """Tell whether a model is a tree or an ensemble of trees that reads columns in 32 bits: not what is wrapped."""
    for parent in type(estimator).__mro__:
        package, name = _package(parent), parent.__name__
        if name in _TREES.get(package, ()) or package == "catboost":
            return True
        if package == "xgboost":
            return getattr(estimator, "booster", None) != "gblinear"
    return False


def wants_numbered_labels(estimator: Any) -> bool:
    """Tell whether an estimator takes no labels but 0, 1, ... without a gap, as XGBoost's classifiers do.

    A Pipeline is judged by its last step, a search or another wrapper by the model inside.
    """
    if hasattr(estimator, "steps"):
        return wants_numbered_labels(estimator.steps[-1][1])
    inner = getattr(estimator, "estimator", None)
    if hasattr(inner, "fit"):
        return wants_numbered_labels(inner)
    is_xgboost = any(_package(parent) == "xgboost" for parent in type(estimator).__mro__)
    return is_xgboost and hasattr(estimator, "predict_proba")


def _package(model: type) -> str:
    """Return the name of the package that a class comes from."""
    return model.__module__.partition(".")[0]


def _own_encoding(estimator: Any) -> Wanted | None:
    """Judge a model by its class and what it inherits from; None for a class that says nothing."""
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
    # XGBoost's exact search for cuts knows no categories.
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
