"""Knockoffs: what replaces a feature in the test part, permuted or drawn given the other features."""

from ppfs.independence._predictive.knockoffs.draws import (
    KNOCKOFF_NAMES,
    Draws,
    Knockoff,
    PermutedValues,
    SharedKnockoff,
    choose_knockoff,
)

__all__ = ["KNOCKOFF_NAMES", "Draws", "Knockoff", "PermutedValues", "SharedKnockoff", "choose_knockoff"]
