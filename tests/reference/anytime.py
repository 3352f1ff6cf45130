"""Slow twin of the p-values that hold whenever the draws end: search the level at which the bet has paid off."""

from __future__ import annotations

from scipy.stats import binom


def anytime_pvalue(n_as_extreme: int, n_draws: int, sharpness: float) -> float:
    """Find, by halving, the smallest level u at which the wealth of the bet on (0, sharpness * u) is 1/u."""
    low, high = 0.0, 1.0
    for _ in range(60):
        level = (low + high) / 2
        bet = sharpness * level
        wealth = binom.sf(n_as_extreme, n_draws + 1, bet) / bet
        low, high = (low, level) if wealth >= 1 / level else (level, high)
    return high
