"""What a report says of the selection as a whole: what was measured after the search, or that nothing was."""

from __future__ import annotations

from html import escape
from math import isfinite
from typing import Any

from ppfs._printable import listed
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.plotting import results_of


def measure(selector: Any, X: Any = None, y: Any = None, **rows: Any) -> str:
    """Measure what the report needs and the selector has not measured yet; return why that failed, or "".

    A report is made after a search that may have taken hours, so that a failure here is said in the report and does not
    end it.
    """
    if not hasattr(selector, "measure_sufficiency") or selector._sufficiency is not None:
        return ""
    try:
        if X is not None:
            selector.measure_sufficiency(X, y, **rows)
        elif selector._at_hand is not None:
            _ = selector.sufficiency_
    except (InvalidInputError, EstimatorFailedError) as error:
        return f"whether the selected columns are enough was not measured: {error}"
    return ""


def capitalized(sentence: str) -> str:
    """Return a sentence that begins with a capital letter."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def sufficiency_of(selector: Any) -> dict[str, Any] | None:
    """Return what was measured about the selection as a whole; None where nothing was."""
    measured = getattr(selector, "_sufficiency", None)
    return None if measured is None else measured.as_plain()


def at_least_of(selector: Any) -> dict[str, Any] | None:
    """Return the bounds for the most important column, for the two most important ones, and so on; None without any."""
    confirmed = getattr(selector, "confirmed_", None)
    if confirmed is None or not confirmed.features:
        return None
    bounds = [selector.at_least(confirmed.features[: k + 1]) for k in range(len(confirmed.features))]
    return {"features": list(confirmed.features), "bounds": bounds, "alpha": float(confirmed.alpha)}


def at_least_in_words(found: dict[str, Any]) -> str:
    """Return the bounds in a sentence: for the largest part that is related completely, and for all columns."""
    bounds, n = found["bounds"], len(found["bounds"])
    if not bounds[-1]:
        which = "the selected column is" if n == 1 else f"any of the {n} selected columns is"
        return f"The rows held out do not show that {which} related to the target given the others"
    complete = max((k for k in range(1, n + 1) if bounds[k - 1] == k), default=0)
    parts = []
    if complete == n:
        parts.append("the selected column" if n == 1 else f"all {n} selected columns")
    elif complete:
        first = "column" if complete == 1 else f"{complete} columns"
        parts.append(f"the most important {first} of {n}")
    if bounds[-1] > complete:
        parts.append(f"at least {bounds[-1]} of all {n} selected columns")
    is_one = len(parts) == 1 and bounds[-1] == 1
    return (
        f"On the rows held out, {' and '.join(parts)} {'is' if is_one else 'are'} related to the target given the "
        f"others; bounds for all sets of columns hold together with probability {1 - found['alpha']:.0%} (closed "
        "testing with Simes' test)"
    )


def at_least_section(found: dict[str, Any] | None) -> str:
    """Return the bounds as a section with a slider."""
    if found is None:
        return ""
    n = len(found["bounds"])
    return (
        '<section class="confirmed" id="bounds"><h2>How many of the first columns are related?</h2>'
        f"<p>{escape(at_least_in_words(found))}.</p>"
        f'<p><label>The top <input id="top" type="range" min="1" max="{n}" value="{n}" '
        f'data-bounds="{",".join(map(str, found["bounds"]))}" aria-describedby="topsaid"></label> '
        f'<output id="topsaid" for="top">{n}: at least {found["bounds"][-1]}</output></p></section>'
    )


def detectable_of(selector: Any) -> dict[str, Any] | None:
    """Return the smallest effects that would have been found, and how many columns are undecided; None if unknown."""
    outcome = selector.trace_.outcome
    found = None if outcome is None else outcome.detectable
    if found is None or not isfinite(found.alone):
        return None
    results = results_of(selector)
    is_undecided = [reason.startswith("undecided") for reason in results.texts("reason")]
    return {
        "alone": found.alone,
        "given": found.given if isfinite(found.given) else None,
        "weakest": found.weakest if isfinite(found.weakest) else None,
        "n_undecided": sum(is_undecided),
        "n_dropped": int((~results.flags("selected")).sum()),
    }


def detectable_in_words(found: dict[str, Any]) -> str:
    """Return what the rows would have shown, in sentences."""
    is_empty = found["weakest"] is None
    given = (
        ""
        if found["given"] is None or is_empty
        else f", or of {found['given']:.3g} if it shows a link on its own,"
    )
    first = (
        f"A column with a linear effect of {found['alone']:.3g}{given} would have been selected with probability 0.8, "
        "in units of the importance; effects of other shapes have to be larger."
    )
    if is_empty or not found["n_dropped"]:
        return first
    weakest = f"The weakest selected column has {found['weakest']:.3g}."
    n, of = found["n_undecided"], found["n_dropped"]
    if not n:
        return f"{first} {weakest} So a linear effect of that size would most likely have been found."
    which = (
        "the column that was not selected is"
        if of == 1
        else f"{n:,} of {of:,} columns that were not selected {'is' if n == 1 else 'are'}"
    )
    return f"{first} {weakest} An effect of that size could have been missed: {which} undecided."


def detectable_section(found: dict[str, Any] | None) -> str:
    """Return what the rows would have shown as a section."""
    if found is None:
        return ""
    return (
        f'<section id="detectable"><h2>Could more have been seen?</h2><p>{escape(detectable_in_words(found))}'
        "</p></section>"
    )


def doubtful_of(selector: Any) -> list[str]:
    """Return the selected features whose p-values may be too small."""
    trace = selector.trace_
    decided = trace.deciding_steps()
    blanket = () if trace.outcome is None else trace.outcome.blanket
    return [trace.names[x] for x in blanket if (step := decided.get(x)) is not None and step.is_doubtful]


def doubts_in_words(names: list[str]) -> list[str]:
    """Return one sentence about p-values that may be too small; none without any."""
    if not names:
        return []
    whose = f"The p-value of {names[0]!r}" if len(names) == 1 else f"The p-values of {listed(names)}"
    return [
        f"{whose} may be too small: models of the target and of the column seem to miss the same part of what the "
        "other columns explain. Read this as weaker evidence than it looks."
    ]


def roles_of(selector: Any) -> list[dict[str, Any]]:
    """Return the roles that questions decided; empty where none did."""
    roles = getattr(selector, "roles_", ())
    if all(role.role == "undecided" for role in roles):
        return []
    return [
        {
            "feature": role.feature,
            "role": role.role,
            "arrows": [list(arrow) for arrow in role.arrows],
            "because": role.because,
        }
        for role in roles
    ]


def role_in_words(role: dict[str, Any]) -> str:
    """Return a role in a sentence."""
    arrows = "; ".join(f"{cause} → {effect}" for cause, effect in role["arrows"])
    because = f", because {role['because']}" if role["because"] else ""
    return f"{role['feature']}: {role['role']}{f' ({arrows})' if arrows else ''}{because}"


def roles_in_words(roles: list[dict[str, Any]]) -> list[str]:
    """Return one line per role that was decided, and one for all others."""
    undecided = [role["feature"] for role in roles if role["role"] == "undecided"]
    decided = [role_in_words(role) for role in roles if role["role"] != "undecided"]
    return [*decided, *([f"undecided: {', '.join(undecided)}"] if undecided else [])]


#: What every list of roles has to say of itself.
ROLES_HOLD = (
    "Roles hold if the answers behind them are right, if no effects cancel each other, if the selected columns contain "
    "all direct neighbors of the target, and if no hidden variable acts on two of the columns. Columns called parent "
    "or child are linked to the target in a direction that no question decided; a spouse shares a child with it."
)


def roles_section(roles: list[dict[str, Any]]) -> str:
    """Return the roles as a section."""
    if not roles:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in roles_in_words(roles))
    return f"<section><h2>Roles around the target</h2><p>{ROLES_HOLD}</p><ul>{items}</ul></section>"


def update_of(selector: Any) -> dict[str, Any] | None:
    """Return what new rows said so far; None where there were none."""
    watched = getattr(selector, "_watched", None)
    return None if watched is None else watched.found.as_plain()


#: The rule by which new rows suggest another selection.
UPDATE_RULE = (
    "The selection was not changed. By the rule, which leaves out columns that are no longer needed or drifting and "
    "adds those that are newly needed, it would be"
)


def update_in_words(update: dict[str, Any]) -> str:
    """Return what new rows said, and the selection by the rule."""
    return f"{update['summary']} {UPDATE_RULE}: {', '.join(update['suggested']) or 'empty'}."


def update_section(update: dict[str, Any] | None) -> str:
    """Return what new rows said as a section."""
    if update is None:
        return ""
    return f"<section><h2>New rows</h2><p>{escape(update_in_words(update))}</p></section>"
