"""A warning about a column, and how to fix it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["identifier", "dates", "numbers-as-text", "leakage", "near-constant", "copy", "repeated-unit"]


@dataclass(frozen=True)
class ColumnWarning:
    """A warning about a suspicious column.

    Attributes
    ----------
    column : str
        Its name.

    kind : {"identifier", "dates", "numbers-as-text", "leakage", "near-constant", "copy", "repeated-unit"}
        The kind of the warning.

    finding : str
        A sentence with the evidence.

    remedy : str
        How to fix it in Python.

    flag : str
        How to fix it on the command line.
    """

    column: str
    kind: Kind
    finding: str
    remedy: str
    flag: str

    @property
    def message(self) -> str:
        """The finding, and how to fix it in Python."""
        return f"{self.finding} {self.remedy}"


def summary(warnings: Sequence[ColumnWarning]) -> str:
    """Return in one line how many columns are suspicious, by kind."""
    counts = Counter(warning.kind for warning in warnings)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"columns to check: {kinds}; see warnings_"
