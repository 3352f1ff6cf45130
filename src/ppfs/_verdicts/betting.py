"""E-values by betting: evidence that grows with every row and may be read at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ppfs._conventions import Floats

# The bet is at most this share of the winnings, so that no row can lose more than half of them.
_LARGEST = 0.5

# The initial guess of mean and variance counts as this many rows.
_WEIGHT_OF_THE_GUESS = 20.0


@dataclass(frozen=True)
class Wagers:
    """Bets against several hypotheses of the form "the mean of g is at most 0", for numbers g of at least -1.

    Each row multiplies the e-value by ``1 + share * g``, with a share that was fixed before the row was seen. If the
    hypothesis is true, the product is a supermartingale: by Ville's inequality it ever exceeds 1 / alpha with
    probability alpha at most. The share follows the mean and the variance of the rows so far (Waudby-Smith and Ramdas,
    2024).

    Attributes
    ----------
    log_e : ndarray of shape (n_hypotheses,)
        Logarithms of the e-values.

    highest : ndarray of shape (n_hypotheses,)
        The largest that they have been.

    mean, square : ndarray of shape (n_hypotheses,)
        Weighted means of g and of its square, the guess included.

    weight : float
        The number of rows in these, the guess included.
    """

    log_e: Floats
    highest: Floats
    mean: Floats
    square: Floats
    weight: float

    @classmethod
    def guessing(cls, mean: Floats, variance: Floats) -> Wagers:
        """Begin with a guess of mean and variance of g where the hypothesis is false."""
        nothing = np.zeros(len(mean))
        return cls(nothing, nothing.copy(), mean, variance + mean**2, _WEIGHT_OF_THE_GUESS)

    @property
    def shares(self) -> Floats:
        """What is bet on the next rows."""
        best = np.divide(self.mean, self.square, out=np.zeros_like(self.mean), where=self.square > 0)
        shares: Floats = np.clip(best, 0.0, _LARGEST)
        return shares

    def after(self, g: Floats) -> Wagers:
        """Return the wagers after rows that were not known when the shares were fixed, shape (n_rows, n_hypotheses)."""
        n = len(g)
        log_e = self.log_e + np.log1p(self.shares * np.maximum(g, -1.0)).sum(axis=0)
        weight = self.weight + n
        return Wagers(
            log_e,
            np.maximum(self.highest, log_e),
            (self.weight * self.mean + g.sum(axis=0)) / weight,
            (self.weight * self.square + (g**2).sum(axis=0)) / weight,
            weight,
        )

    def as_plain(self) -> dict[str, Any]:
        """Return the wagers as lists, for JSON."""
        names = ("log_e", "highest", "mean", "square")
        return {**{name: getattr(self, name).tolist() for name in names}, "weight": self.weight}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Wagers:
        """Return the wagers that `as_plain` was called with."""
        log_e, highest, mean, square = (
            np.array(plain[name], dtype=np.float64) for name in ("log_e", "highest", "mean", "square")
        )
        return cls(log_e, highest, mean, square, float(plain["weight"]))
