"""The result of a search in one part of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """A blanket. A search with more results returns a subclass.

    Attributes
    ----------
    blanket : sequence of int
        The features of the blanket, in any order.
    """

    blanket: Sequence[int]
