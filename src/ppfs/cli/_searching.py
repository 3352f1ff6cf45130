"""From the flags to a selector."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib import import_module
from inspect import signature
from typing import Any

from ppfs.cli._failures import UsageFailure
from ppfs.cli._json import parsed_object
from ppfs.cli.flags.models import Task, model, splitter
from ppfs.cli.flags.parameters import METHODS, SHORT_NAMES, TESTS, SearchRequest, flag_of
from ppfs.cli.input import Input, with_text_columns

# Parameters of the paper's test that the calibrated test does not have.
_OF_THE_PAPERS_TEST = ("n_splits", "test_size", "knockoff", "significance")
_OF_A_TEST = (
    "estimator",
    "growth_estimator",
    "stratify",
    "n_draws",
    "conditional",
    "loss",
    "class_weight",
    "impute",
    "splitter",
    "device",
    *_OF_THE_PAPERS_TEST,
)
# Parameters that flags set, by the names of the request and of the library.
_OF_FLAGS = {one.name for one in fields(SearchRequest)} | {*SHORT_NAMES}
# Parameters that say how the data are read.
_OF_THE_DATA = ("task", "feature_groups", "categorical_features")


def selector_for(request: SearchRequest, data: Input) -> Any:
    """Return the selector that the flags describe, for these data."""
    kind = _class_of(request)
    if request.method == "stability":
        return _stable(kind, request, data)
    given = _given(request, data)
    _refuse_the_papers(request, given)
    own = request.method_params or {}
    _refuse_those_with_flags(own)
    takes = {*signature(kind.__init__).parameters} - {"self"}
    if "independence" in takes and request.method != "ppfs":
        given = _with_a_test(request, given, takes)
    if request.method == "ppfs-cv":
        given = _with_a_search(given)
    useless = [parameter for parameter in given if parameter not in takes]
    if useless:
        raise UsageFailure(_no_effect(useless[0], request))
    unknown = [parameter for parameter in own if parameter not in takes]
    if unknown:
        raise UsageFailure(
            f"--method-params: {request.method} has no parameter {unknown[0]!r}. It takes "
            f"{', '.join(sorted(takes - _OF_FLAGS)) or 'none'}."
        )
    common = {"random_state": request.random_state, "progress": False if request.quiet else "log"}
    settings = {parameter: value for parameter, value in common.items() if parameter in takes}
    if request.method == "ppfs" and request.test in (None, "calibrated"):
        return kind.calibrated(**{**settings, **given, **own})
    if request.method == "ppfs":
        given["independence"] = TESTS[request.test or "paper"]
    return kind(**{**settings, **given, **own})


def refuse_useless_checkpoint(request: SearchRequest) -> None:
    """Refuse a checkpoint of a method that keeps none, before its folder is made."""
    if request.checkpoint is not None and "checkpoint" not in signature(_class_of(request)).parameters:
        raise UsageFailure(_no_effect("checkpoint", request))


def _class_of(request: SearchRequest) -> Any:
    module, _, name = METHODS[request.method].partition(":")
    return getattr(import_module(module), name)


def _no_effect(parameter: str, request: SearchRequest) -> str:
    return f"{flag_of(parameter)} has no effect with --method {request.method}. Leave it out, or use another method."


def _refuse_those_with_flags(own: dict[str, Any]) -> None:
    """Refuse parameters that a flag sets: the flag would have no effect."""
    for name in own:
        if name in _OF_FLAGS:
            raise UsageFailure(f"--method-params: {name!r} has a flag. Use {flag_of(name)}.")


def _stable(kind: Any, request: SearchRequest, data: Input) -> Any:
    """Return stability selection around the PPFS that the other flags describe."""
    inner = selector_for(replace(request, method="ppfs", method_params=None, n_jobs=None, quiet=True), data)
    own = request.method_params or {}
    unknown = [name for name in own if name not in ("n_pairs", "threshold", "max_false")]
    if unknown:
        raise UsageFailure(
            f"--method-params: stability has no parameter {unknown[0]!r}. It takes n_pairs, threshold and max_false."
        )
    progress = False if request.quiet else "log"
    return kind(inner, random_state=request.random_state, n_jobs=request.n_jobs, progress=progress, **own)


def _given(request: SearchRequest, data: Input) -> dict[str, Any]:
    """Return the parameters that were given, in the form that the library takes."""
    plain = (
        "alpha",
        "n_folds",
        "min_features",
        "n_splits",
        "test_size",
        "knockoff",
        "significance",
        "n_draws",
        "loss",
        "impute",
        "n_jobs",
        "device",
        "interactions",
        "growth",
        "second_look",
        "confirm",
        "memory_limit",
        "checkpoint",
        "on_error",
    )
    given = {name: value for name in plain if (value := getattr(request, name)) is not None}
    if request.correction is not None:
        given["correction"] = None if request.correction == "none" else request.correction
    if (task := data.said_task(request.task)) != "auto":
        given["task"] = task
    if request.stratify is not None:
        given["stratify"] = {"auto": "auto", "yes": True, "no": False}[request.stratify]
    if request.class_weight is not None:
        given["class_weight"] = _class_weight(request.class_weight, data)
    if request.splitter is not None:
        given["splitter"] = splitter(request.splitter)
    given |= _models(request, data)
    if request.keep:
        given["always_keep"] = data.columns(request.keep, "--keep")
    if request.condition_on:
        given["condition_on"] = data.columns(request.condition_on, "--condition-on")
    if request.categorical:
        categorical = data.columns(request.categorical, "--categorical")
        given["categorical_features"] = with_text_columns(data.X, categorical)
    if request.feature_group:
        given["feature_groups"] = dict(_group(text, data) for text in request.feature_group)
    if data.lags is not None:
        given["feature_groups"] = data.lags.groups(given.get("feature_groups"))
    return given


def _models(request: SearchRequest, data: Input) -> dict[str, Any]:
    """Return the models that were named; several estimators are a list."""
    if request.estimator_params and (len(request.estimator) != 1 or request.estimator[0] == "panel"):
        raise UsageFailure(
            "--estimator-params needs one model: add --estimator, such as forest. With several models, give each "
            "its own parameters: --estimator 'forest{\"max_depth\": 5}'."
        )
    names = {
        "estimator": request.estimator,
        "growth_estimator": (request.growth_estimator,) if request.growth_estimator else (),
        "conditional": (request.conditional,) if request.conditional else (),
    }
    task: Task = "classification"
    if any(names.values()):
        task = data.task(request.task) if data.event is None else "survival"
    found = {
        parameter: [
            "panel"
            if text == "panel"
            else model(
                text, flag_of(parameter), task, request.estimator_params if parameter == "estimator" else None
            )
            for text in texts
        ]
        for parameter, texts in names.items()
        if texts
    }
    return {parameter: models[0] if len(models) == 1 else models for parameter, models in found.items()}


def _refuse_the_papers(request: SearchRequest, given: dict[str, Any]) -> None:
    papers = [name for name in _OF_THE_PAPERS_TEST if name in given]
    if papers and request.test in (None, "calibrated") and request.method == "ppfs":
        raise UsageFailure(
            f"{flag_of(papers[0])} is a parameter of the paper's test, but the test is the calibrated one. Leave it "
            "out, or add --test paper."
        )


def _with_a_search(given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of `PPFSCV`; those that say how the data are read are of its search."""
    from ppfs import PPFS

    of_the_search = {name: given.pop(name) for name in _OF_THE_DATA if name in given}
    return {**given, "selector": PPFS(**of_the_search)} if of_the_search else given


def _with_a_test(request: SearchRequest, given: dict[str, Any], takes: set[str]) -> dict[str, Any]:
    """Return the parameters of a search that takes a test; parameters of the test are passed to the test."""
    from ppfs.independence import TESTS_BY_NAME

    if request.test is None and not any(name in given for name in _OF_A_TEST):
        return given
    name = request.test or "calibrated"
    make = TESTS_BY_NAME[TESTS[name]]
    called = {parameter: parameter for parameter in _OF_A_TEST} | {"growth_estimator": "marginal_estimator"}
    of_the_test = {parameter: given.pop(parameter) for parameter in _OF_A_TEST if parameter in given}
    known = signature(make).parameters
    useless = [parameter for parameter in of_the_test if called[parameter] not in known]
    if useless:
        raise UsageFailure(
            f"{flag_of(useless[0])} has no effect with --test {name}. Leave it out, or use another test."
        )
    test = make(**{called[parameter]: value for parameter, value in of_the_test.items()})
    return {**given, "independence": test}


def _class_weight(text: str, data: Input) -> Any:
    if text == "balanced":
        return text
    try:
        weights = parsed_object(text)
    except ValueError as error:
        raise UsageFailure(f"--class-weight: {error} Or write --class-weight balanced.") from error
    labels = {str(label): label for label in data.labels()}
    return {labels.get(label, label): weight for label, weight in weights.items()}


def _group(text: str, data: Input) -> tuple[str, list[str]]:
    name, equals, columns = text.partition("=")
    if not equals or not name:
        raise UsageFailure(f"--feature-group {text!r}: write it like address=street,city.")
    return name, data.columns((columns,), "--feature-group")
