"""What a report says of the selection as a whole: what was measured after the search, or that nothing was."""

from __future__ import annotations

from html import escape
from typing import Any

from ppfs.exceptions import EstimatorFailedError, InvalidInputError


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
    complete = max((k for k in range(1, n + 1) if bounds[k - 1] == k), default=0)
    parts = []
    if 1 < complete < n:
        parts.append(f"all of the {complete} most important columns")
    elif complete == 1 < n:
        parts.append("the most important column")
    parts.append(f"at least {bounds[-1]} of {'all ' * (n > 1)}{n} selected column{'s' * (n > 1)}")
    return (
        f"On the rows held out, {' and '.join(parts)} {'is' if n == 1 else 'are'} related to the target given the "
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
