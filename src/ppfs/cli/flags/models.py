"""Models and splitters by name: ``forest``, or ``module:Class``, with parameters as JSON; no code is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal

from ppfs._printable import did_you_mean
from ppfs.cli._failures import UsageFailure
from ppfs.cli._json import parsed_object
from ppfs.cli.flags.parameters import NAMED_MODELS

Task = Literal["classification", "regression", "survival"]

# Classifier and regressor.
_CLASSES = {
    "tree": ("sklearn.tree:DecisionTreeClassifier", "sklearn.tree:DecisionTreeRegressor"),
    "forest": ("sklearn.ensemble:RandomForestClassifier", "sklearn.ensemble:RandomForestRegressor"),
    "boosting": (
        "sklearn.ensemble:HistGradientBoostingClassifier",
        "sklearn.ensemble:HistGradientBoostingRegressor",
    ),
    "linear": ("sklearn.linear_model:LogisticRegression", "sklearn.linear_model:Ridge"),
    "svm": ("sklearn.svm:SVC", "sklearn.svm:SVR"),
    "lightgbm": ("lightgbm:LGBMClassifier", "lightgbm:LGBMRegressor"),
    "xgboost": ("xgboost:XGBClassifier", "xgboost:XGBRegressor"),
}
_OF_SURVIVAL = {
    "tree": "sksurv.tree:SurvivalTree",
    "forest": "sksurv.ensemble:RandomSurvivalForest",
    "boosting": "sksurv.ensemble:GradientBoostingSurvivalAnalysis",
    "linear": "sksurv.linear_model:CoxPHSurvivalAnalysis",
    "svm": "sksurv.svm:FastSurvivalSVM",
}
# The extra that installs a package.
_EXTRAS = {"lightgbm": "boosting", "xgboost": "boosting", "sksurv": "survival"}
# Fitted to scaled columns: otherwise the units of the columns decide.
_SCALED = {"linear", "svm"}
# Small fits would spend most of their time starting threads.
_DEFAULTS: dict[str, dict[str, Any]] = {"lightgbm": {"n_jobs": 1, "verbose": -1}, "xgboost": {"n_jobs": 1}}


def model(text: str, flag: str, task: Task, parameters: Mapping[str, Any] | None = None) -> Any:
    """Return the model that a flag names.

    Parameters
    ----------
    text : str
        One of the short names or ``module:Class``; parameters may follow as JSON: ``forest{"max_depth": 5}``.

    flag : str
        The flag, for messages.

    task : {"classification", "regression", "survival"}
        Decides what a short name means; for survival times, a model of scikit-survival.

    parameters : mapping, default=None
        Parameters that were given by another flag.
    """
    name, own = _taken_apart(text, flag)
    wanted = {**own, **(parameters or {})}
    if ":" in name:
        return made(name, wanted, flag)
    if name not in _CLASSES:
        raise UsageFailure(
            f"{flag}: there is no model {name!r}.{did_you_mean(name, NAMED_MODELS)} Use {', '.join(_CLASSES)}, "
            "or a class as module:Class, such as sklearn.naive_bayes:GaussianNB."
        )
    if task == "survival" and name not in _OF_SURVIVAL:
        raise UsageFailure(
            f"{flag}: {name!r} does not predict survival times. Use {', '.join(_OF_SURVIVAL)}, or a class of "
            "scikit-survival as module:Class, such as sksurv.linear_model:CoxnetSurvivalAnalysis."
        )
    path = _OF_SURVIVAL[name] if task == "survival" else _CLASSES[name][0 if task == "classification" else 1]
    # Indicators of all categories determine each other: Cox's model then needs a penalty.
    usual = {"alpha": 0.01} if path == _OF_SURVIVAL["linear"] else _DEFAULTS.get(name, {})
    ready = made(path, {**usual, **wanted}, flag)
    if name not in _SCALED:
        return ready
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), ready)


def splitter(text: str) -> Any:
    """Return the splitter that ``--splitter`` names, such as ``sklearn.model_selection:KFold{"n_splits": 5}``."""
    name, parameters = _taken_apart(text, "--splitter")
    if ":" not in name:
        name = f"sklearn.model_selection:{name}"
    return made(name, parameters, "--splitter", "split")


def made(path: str, parameters: Mapping[str, Any], flag: str, method: str = "fit") -> Any:
    """Import ``module:Class`` and call it with parameters, or report what is wrong.

    A class without the method that is needed of it is not called: the text may come from a file.
    """
    module, _, name = path.partition(":")
    try:
        kind = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        package = _EXTRAS.get(module.partition(".")[0])
        extra = f" Run: pip install 'ppfs[{package}]'" if package else ""
        raise UsageFailure(
            f"{flag} {path}: there is no module {error.name!r}.{extra or ' Is it installed?'}"
        ) from error
    except (AttributeError, ValueError) as error:
        raise UsageFailure(
            f"{flag} {path}: the module {module!r} has no {name!r}. Check the name."
        ) from error
    if not isinstance(kind, type):
        raise UsageFailure(f"{flag} {path} is not a class. Name a class, such as sklearn.svm:SVC.")
    if not callable(getattr(kind, method, None)):
        what = {"fit": "model", "split": "splitter"}[method]
        raise UsageFailure(f"{flag} {path} is not a {what}: it has no {method} method. Name another class.")
    try:
        return kind(**parameters)
    except TypeError as error:
        raise UsageFailure(f"{flag} {path} does not take these parameters: {error}. Check them.") from error


def _taken_apart(text: str, flag: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters behind it."""
    name, brace, rest = text.partition("{")
    if not brace:
        return text.strip(), {}
    try:
        return name.strip(), parsed_object(brace + rest)
    except ValueError as error:
        raise UsageFailure(f"{flag}: {error}") from error
