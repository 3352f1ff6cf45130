"""What a search finds in one part of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """A blanket. A search that finds more than that returns a subclass.

    Attributes
    ----------
    blanket : sequence of int
        The features of the blanket, in any order.
    """

    blanket: Sequence[int]
