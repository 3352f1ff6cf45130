"""What a report says of the selection as a whole: what was measured after the search, or that nothing was."""

from __future__ import annotations

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
