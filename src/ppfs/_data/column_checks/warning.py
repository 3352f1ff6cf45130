"""What is odd about a column, and what settles it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["identifier", "dates", "numbers-as-text", "leakage", "near-constant", "copy"]


@dataclass(frozen=True)
class ColumnWarning:
    """A column that should make a person think.

    Attributes
    ----------
    column : str
        Its name.

    kind : {"identifier", "dates", "numbers-as-text", "leakage", "near-constant", "copy"}
        What is odd about it.

    finding : str
        The same in a sentence, with the evidence.

    remedy : str
        What settles it in Python.

    flag : str
        What settles it on the command line.
    """

    column: str
    kind: Kind
    finding: str
    remedy: str
    flag: str

    @property
    def message(self) -> str:
        """What is odd and what settles it, in Python's words."""
        return f"{self.finding} {self.remedy}"


def summary(warnings: Sequence[ColumnWarning]) -> str:
    """Say in one line how many columns are odd, and how."""
    counts = Counter(warning.kind for warning in warnings)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"columns that should make you think: {kinds}; see warnings_"
