"""Steps and outcomes in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan

from ppfs._printable import listed
from ppfs._trace.outcome import Outcome, decides, entered_at_the_turn, made_redundant_by
from ppfs._trace.steps import (
    FAVORABLE,
    FOLD_ASIDE,
    JOINT_GROWTH,
    JOINT_GROWTH_OF_PAIRS,
    REST_TOGETHER,
    Step,
)

# From a feature's number to its name in a sentence, in quotation marks.
Call = Callable[[int | None], str]

# Of more features in a sentence, this many are named.
_MOST_NAMED = 5

# Why a column was selected; with "no" before it, why it was not.
_DEPENDS = "evidence that the target depends"

#: Why a column was not selected, where a test given nothing or given the others decided.
NO_LINK = "no evidence of a link on its own"
NO_ADDITION = "no evidence that it adds to the others"
#: Why a column was selected that is not needed by itself, as far as the test can tell.
TOGETHER = "evidence that the rejected columns together add to the others; of these it comes first"
#: The same, where the rows would not have shown an effect as large as that of the weakest selected column.
UNDECIDED = "undecided: a weak effect could have been missed"


# What a feature was tested given, where the list of columns would be long.
_JOINTLY = {
    JOINT_GROWTH: " given all others but near copies, by a model of all columns",
    JOINT_GROWTH_OF_PAIRS: " given the others but near copies, by a model of the columns of the most promising pairs",
}


def sentence(step: Step, call: Call, models: Sequence[str] = (), chosen_fold: int = 0) -> str:
    """Return a question, its answer and the decision, in one line."""
    fold = f"fold {step.fold}{' (chosen)' if step.fold == chosen_fold else ''}, " if step.fold else ""
    if step.fold == FOLD_ASIDE:
        fold = "on rows set aside, "
    withheld = f" without {enumerated(step.withheld, call)}" if step.withheld else ""
    against = f" against {call(step.target)}" if step.target is not None else ""
    given = _given(step, call)
    question = f"{fold}{step.phase}{withheld}: {call(step.feature)}{against}{given}"
    return f"{question}: {_answer(step, models)}: {step.decision}"


def verdict(feature: int, outcome: Outcome, steps: Sequence[Step], call: Call) -> str:
    """Return the decision about a feature and its reason in one line, given all steps about it."""
    decided_by = next(
        (step for step in reversed(steps) if decides(step, outcome.fold, outcome.blanket)), None
    )
    redundant = (
        "" if feature in (*outcome.blanket, *outcome.selected) else _redundancy(feature, outcome, steps, call)
    )
    fate = _fate(feature, outcome, decided_by, call)
    further = f"{_doubt(feature, outcome, decided_by)}{_hidden(feature, outcome, decided_by)}"
    return f"{call(feature)} {fate}.{redundant}{further}{_folds(feature, outcome)}"


def _doubt(feature: int, outcome: Outcome, step: Step | None) -> str:
    """Return why the evidence for a selected feature may be weaker than its p-value."""
    if step is None or not step.is_doubtful or feature not in outcome.blanket:
        return ""
    return (
        " This p-value may be too small: models of the target and of this column seem to miss the same part of what "
        "the other columns explain."
    )


def _hidden(feature: int, outcome: Outcome, step: Step | None) -> str:
    """Return what the rows would have shown about a feature that was not selected."""
    told = {*outcome.selected, *outcome.condition_on, *outcome.left_out, *outcome.reasons}
    if step is None or outcome.detectable is None or feature in told:
        return ""
    smallest, weakest = outcome.detectable.of(step), outcome.detectable.weakest
    if isnan(smallest):
        return ""
    found = f" A linear effect of {smallest:.3g} would have been found with probability 0.8"
    if outcome.detectable.hides(step):
        return (
            f"{found}, but the weakest selected column has only {weakest:.3g}: undecided, as such an effect could have "
            "been missed."
        )
    return f"{found}."


def _redundancy(feature: int, outcome: Outcome, steps: Sequence[Step], call: Call) -> str:
    by = made_redundant_by(feature, steps, outcome)
    if not by:
        return ""
    # One column that turned the answer was tested; the closest of several was not.
    is_tested = len(entered_at_the_turn(steps, outcome)) == 1
    return (
        f" It is redundant given {call(by[0])}."
        if is_tested
        else f" Of these, it is closest to {call(by[0])}."
    )


def reason(feature: int, outcome: Outcome, step: Step | None) -> str:
    """Return in a few words why a feature was selected or not, given the deciding step."""
    if feature in outcome.reasons:
        return outcome.reasons[feature]
    if feature in outcome.always_keep:
        return "kept by request"
    if feature in outcome.condition_on:
        return "conditioned on by request"
    if feature in outcome.left_out:
        return "left out: it could not be tested"
    if feature in outcome.filled_up:
        return "came closest, added to reach min_features"
    is_selected = feature in outcome.blanket
    if step is None:
        return "no test was against it" if is_selected else "too few rows to tell"
    if is_selected and step.phase == REST_TOGETHER:
        return TOGETHER
    if is_selected:
        return f"evidence of a link {'given the others' if step.others else 'on its own'}"
    if outcome.detectable is not None and outcome.detectable.hides(step):
        return UNDECIDED
    return NO_ADDITION if step.others else NO_LINK


def enumerated(features: Sequence[int], call: Call) -> str:
    """Return the names of features for a sentence, the first few of many."""
    shown = ", ".join(call(feature) for feature in features[:_MOST_NAMED])
    return shown if len(features) <= _MOST_NAMED else f"{shown} and {len(features) - _MOST_NAMED} more"


def called(name: str, columns: Sequence[str]) -> str:
    """Return the name of a feature for a sentence; a group's with its columns."""
    return repr(name) if list(columns) in ([], [name]) else f"{name!r} ({listed(columns)})"


def _fate(feature: int, outcome: Outcome, step: Step | None, call: Call) -> str:
    if feature in outcome.reasons:
        evidence = "" if step is None else f" ({_evidence(step)})"
        return f"was {'' if feature in outcome.selected else 'not '}selected: {outcome.reasons[feature]}{evidence}"
    if feature in outcome.always_keep:
        return "was kept by request (always_keep), without a test"
    if feature in outcome.condition_on:
        return "was conditioned on by request (condition_on), so it could not be selected"
    if feature in outcome.left_out:
        return f"was left out (on_error='drop'): {outcome.left_out[feature]}"
    is_selected = feature in outcome.blanket
    if feature in outcome.filled_up:
        why = f" ({_evidence(step)})" if step is not None else ""
        return f"was added to reach min_features: of the columns not selected it came closest to significance{why}"
    if step is None:
        reason = "no test was against it" if is_selected else "there were too few rows to tell; see the notes"
        return f"was {'selected' if is_selected else 'not selected'}: {reason}"
    if is_selected:
        return f"was selected: {_DEPENDS} on it{_circumstances(step, call)} ({_evidence(step)})"
    if step.decision == "dropped" and step.others:
        return f"was dropped: no evidence that it adds to {enumerated(step.others, call)} ({_evidence(step)})"
    return f"was not selected: no {_DEPENDS} on it{_circumstances(step, call)} ({_evidence(step)})"


def _circumstances(step: Step, call: Call) -> str:
    return _given(step, call) or " on its own"


def _given(step: Step, call: Call) -> str:
    """Return what a feature was tested given; "" for nothing."""
    if not step.others:
        return ""
    given = f" given {enumerated(step.others, call)}"
    if step.phase == REST_TOGETHER:
        return f" together with the other rejected columns{given}"
    return _JOINTLY.get(step.phase, given)


def _evidence(step: Step) -> str:
    return f"{step.phase}, {_numbers(step)}"


def _answer(step: Step, models: Sequence[str]) -> str:
    doubt = " (may be too small)" if step.is_doubtful else ""
    return f"{_numbers(step, doubt)}{_by_model(step, models) if step.is_reliable else ''}"


def _numbers(step: Step, doubt: str = "") -> str:
    if not step.is_reliable:
        return "too few rows to tell"
    adjusted = "" if step.adjusted_pvalue == step.pvalue else f", adjusted {step.adjusted_pvalue:.3g}"
    return f"p = {step.pvalue:.3g}{doubt}{adjusted}, effect {step.effect:.3g}"


def _by_model(step: Step, models: Sequence[str]) -> str:
    """Return the p-value of each model of a panel, and which model found a link most clearly."""
    clearest = step.clearest_model
    if clearest is None:
        return ""
    by_model = ", ".join(
        f"{name} {pvalue:.3g}"
        for name, pvalue in zip(models, step.model_pvalues, strict=True)
        if not isnan(pvalue)
    )
    found = step.decision in FAVORABLE
    return f", clearest for {models[clearest]} ({by_model})" if found else f", by model: {by_model}"


def _folds(feature: int, outcome: Outcome) -> str:
    if not outcome.blankets:
        return ""
    n_folds = len(outcome.blankets)
    n_with = sum(feature in blanket for blanket in outcome.blankets)
    return (
        f" Fold {outcome.fold} of {n_folds} was chosen; {n_with} of the {n_folds} folds selected this column."
    )
