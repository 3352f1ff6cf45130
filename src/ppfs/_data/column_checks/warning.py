"""What is suspicious about a column, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["identifier", "dates", "numbers-as-text", "leakage", "near-constant", "copy"]


@dataclass(frozen=True)
class ColumnWarning:
    """A column to check.

    Attributes
    ----------
    column : str
        Its name.

    kind : {"identifier", "dates", "numbers-as-text", "leakage", "near-constant", "copy"}
        What is suspicious about it.

    finding : str
        The same in a sentence, with the evidence.

    remedy : str
        What to do about it in Python.

    flag : str
        What to do about it on the command line.
    """

    column: str
    kind: Kind
    finding: str
    remedy: str
    flag: str

    @property
    def message(self) -> str:
        """The finding, and what to do about it in Python."""
        return f"{self.finding} {self.remedy}"


def summary(warnings: Sequence[ColumnWarning]) -> str:
    """Return in one line how many columns of each kind there are."""
    counts = Counter(warning.kind for warning in warnings)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"columns to check: {kinds}; see warnings_"
