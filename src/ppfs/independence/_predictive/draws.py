"""What replaces a feature in the test part: its own values shuffled, or draws of another kind."""

from __future__ import annotations

from typing import Protocol

from ppfs._conventions import Floats
from ppfs._fitting import Design, dense
from ppfs._rows import Split


class Draws(Protocol):
    """What replaces one feature of one design.

    Attributes
    ----------
    is_permutation : bool
        Whether a draw is the feature's own values in the order of the split's permutations, so that
        results computed from these values can be permuted instead.
    """

    is_permutation: bool

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        ...


class PermutedValues:
    """The feature's own values, shuffled within the test part, as in the paper."""

    is_permutation = True

    def __init__(self, design: Design, feature: int) -> None:
        self._values = dense(design.X[:, design.places[feature]])

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        shuffled: Floats = self._values[split.test[split.permutations[first:end]]]
        return shuffled


class Knockoff(Protocol):
    """Makes the draws that replace one feature of a design.

    Attributes
    ----------
    is_permutation : bool
        Whether all its draws are permutations; see `Draws`.
    """

    is_permutation: bool

    def __call__(self, design: Design, feature: int) -> Draws: ...


class PermutationKnockoff:
    """Shuffles features, as in the paper."""

    is_permutation = True

    def __call__(self, design: Design, feature: int) -> Draws:
        return PermutedValues(design, feature)
