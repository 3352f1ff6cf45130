"""A trace as plain lists and numbers, for JSON files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from ppfs._trace.batch import StepBatch
from ppfs._trace.detectable import Detectable
from ppfs._trace.outcome import Outcome
from ppfs._trace.record import Trace
from ppfs._trace.steps import Decision, Step
from ppfs.exceptions import InvalidInputError

_NUMBERS = ("pvalues", "statistics", "effects", "adjusted_pvalues")
_DECISIONS = frozenset(get_args(Decision))


def as_plain(trace: Trace) -> dict[str, Any]:
    """Return a trace as objects that JSON can represent.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> X, y = load_iris(return_X_y=True)
    >>> trace = PPFS(n_splits=5, random_state=0).fit(X, y).trace_
    >>> from_plain(as_plain(trace)).explain(0) == trace.explain(0)
    True
    """
    return {
        "names": list(trace.names),
        "column_names": list(trace.column_names),
        "columns": None if trace._columns is None else [list(group) for group in trace._columns],
        "models": list(trace.models),
        "notes": list(trace.notes),
        "method": trace.method,
        "said": [
            [topic, feature, sentence] for topic, said in trace.said.items() for feature, sentence in said
        ],
        "outcome": None if trace.outcome is None else _plain_outcome(trace.outcome),
        "parts": [_plain_part(part) for part in trace._parts],
    }


def from_plain(plain: Mapping[str, Any]) -> Trace:
    """Return the trace that `as_plain` was called with, or raise if `plain` is not one."""
    try:
        columns = plain["columns"]
        trace = Trace(
            [str(name) for name in plain["names"]],
            [str(name) for name in plain["column_names"]],
            None if columns is None else [tuple(map(int, group)) for group in columns],
        )
        trace.models = tuple(str(model) for model in plain["models"])
        trace.notes.extend(str(note) for note in plain["notes"])
        trace.method = str(plain.get("method", ""))
        # Absent in files of earlier versions.
        for topic, feature, sentence in plain.get("said", ()):
            about = None if feature is None else int(feature)
            trace.said.setdefault(str(topic), []).append((about, str(sentence)))
        for part in plain["parts"]:
            for step in _steps(part, len(trace.names)):
                trace.record(step)
        if plain["outcome"] is not None:
            trace.conclude(_outcome(plain["outcome"]))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise InvalidInputError(
            f"This is not the trace of a search: {type(error).__name__} {error}."
        ) from error
    return trace


def _plain_part(part: Step | StepBatch) -> dict[str, Any]:
    steps = [part] if isinstance(part, Step) else list(part)
    return {
        "fold": part.fold,
        "phase": part.phase,
        "given": list(part.given),
        "target": part.target,
        "withheld": list(part.withheld),
        "features": [step.feature for step in steps],
        "pvalues": [_finite(step.pvalue) for step in steps],
        "statistics": [_finite(step.statistic) for step in steps],
        "effects": [_finite(step.effect) for step in steps],
        "adjusted_pvalues": [_finite(step.adjusted_pvalue) for step in steps],
        "is_reliable": [step.is_reliable for step in steps],
        "decisions": [step.decision for step in steps],
        "model_pvalues": [[_finite(pvalue) for pvalue in step.model_pvalues] for step in steps],
        "may_be_too_small": [step.may_be_too_small for step in steps],
        "explained": [list(step.explained) for step in steps],
        "root_effects": [list(step.root_effect) for step in steps],
    }


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    # JSON keys are text.
    return {
        **asdict(outcome),
        "left_out": [[feature, why] for feature, why in outcome.left_out.items()],
        "closest": [[feature, member] for feature, member in outcome.closest.items()],
        "reasons": [[feature, why] for feature, why in outcome.reasons.items()],
        "detectable": None
        if outcome.detectable is None
        else {name: _finite(value) for name, value in asdict(outcome.detectable).items()},
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _steps(part: Mapping[str, Any], n_features: int) -> list[Step]:
    features = [int(feature) for feature in part["features"]]
    if features and not 0 <= min(features) <= max(features) <= n_features:
        raise ValueError(f"a step is about feature {max(features)}, and there are {n_features}")
    numbers = [_numbers(part[name]) for name in _NUMBERS]
    decisions: Sequence[Any] = part["decisions"]
    if not _DECISIONS.issuperset(decisions):
        raise ValueError(f"unknown decisions {sorted(set(decisions) - _DECISIONS)}")
    given, withheld = (tuple(map(int, part[name])) for name in ("given", "withheld"))
    target = None if part["target"] is None else int(part["target"])
    return [
        Step(
            int(part["fold"]),
            str(part["phase"]),
            feature,
            given,
            pvalue,
            statistic,
            effect,
            adjusted,
            decision,
            bool(is_reliable),
            target,
            withheld,
            _numbers(of_models),
            bool(rest[0]),
            _numbers(rest[1]),
            _numbers(rest[2]),
        )
        for feature, pvalue, statistic, effect, adjusted, decision, is_reliable, of_models, *rest in zip(
            features,
            *numbers,
            decisions,
            part["is_reliable"],
            part["model_pvalues"],
            # Absent in files of earlier versions.
            part.get("may_be_too_small", [False] * len(features)),
            part.get("explained", [()] * len(features)),
            part.get("root_effects", [()] * len(features)),
            strict=True,
        )
    ]


def _numbers(values: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(math.nan if value is None else float(value) for value in values)


def _outcome(plain: Mapping[str, Any]) -> Outcome:
    values = {
        name: tuple(map(int, plain[name])) for name in ("blanket", "always_keep", "condition_on", "filled_up")
    }
    return Outcome(
        **values,
        fold=int(plain["fold"]),
        blankets=tuple(tuple(map(int, blanket)) for blanket in plain["blankets"]),
        left_out={int(feature): str(why) for feature, why in plain["left_out"]},
        # Absent in files of earlier versions.
        closest={int(feature): int(member) for feature, member in plain.get("closest", ())},
        reasons={int(feature): str(why) for feature, why in plain.get("reasons", ())},
        detectable=_detectable(plain.get("detectable")),
        chosen=None if plain.get("chosen") is None else tuple(map(int, plain["chosen"])),
    )


def _detectable(plain: Mapping[str, Any] | None) -> Detectable | None:
    if plain is None:
        return None
    numbers = {name: plain[name] for name in ("alone", "given", "weakest")}
    return Detectable(
        **{name: math.nan if value is None else float(value) for name, value in numbers.items()}
    )
