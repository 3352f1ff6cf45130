"""The slow, obvious twin of curves of an index: one fit at a time, with matrices in full."""

import numpy as np

FEWEST_KNOTS, MOST_KNOTS, ROWS_PER_KNOT, BENDS = 6, 24, 15, 0.03
GAIN, MOST_CHANGES, CHANGES, PENALTY = 0.005, 8, 0.03, 0.03


class Curve:
    """A piecewise linear curve, fitted to a response by penalized least squares."""

    def __init__(self, index, response):
        self.unit = 2.0 ** (np.frexp(np.ptp(index))[1] - 36)
        index = np.rint(index / self.unit) * self.unit
        n_knots = min(max(index.size // ROWS_PER_KNOT, FEWEST_KNOTS), MOST_KNOTS)
        knots = np.unique(np.sort(index)[np.linspace(0, index.size - 1, n_knots).astype(int)])
        self.knots = knots if knots.size > 1 else np.array([knots[0], knots[0] + 1.0])
        hats = self.hats(index)
        bends = np.diff(np.eye(self.knots.size), 2, axis=0)
        penalty = BENDS * index.size / self.knots.size * bends.T @ bends + 1e-6 * np.eye(self.knots.size)
        self.heights = np.linalg.solve(hats.T @ hats + penalty, hats.T @ response)
        self.left = response - hats @ self.heights
        self.error = float((self.left**2).sum())

    def hats(self, index):
        """Return the hat functions at some values, which are those of the outer knots beyond these."""
        return np.stack([np.interp(index, self.knots, one) for one in np.eye(self.knots.size)], axis=1)

    def __call__(self, index):
        return self.hats(np.rint(index / self.unit) * self.unit) @ self.heights

    def slopes(self, index):
        """Return the slope at each value: above a knot, that of the interval which begins there."""
        index = np.rint(index / self.unit) * self.unit
        place = np.clip(np.searchsorted(self.knots, index, side="right") - 1, 0, self.knots.size - 2)
        return (np.diff(self.heights) / np.diff(self.knots))[place]


def ridge(design, response, penalty):
    """Return the coefficients of ridge regression."""
    return np.linalg.solve(design.T @ design + penalty * np.eye(design.shape[1]), design.T @ response)


def standardized(index, seen):
    """Return an index with mean 0 and variance 1 over some rows."""
    deviation = index[seen].std()
    return (index - index[seen].mean()) / (deviation if deviation > 0.0 else 1.0)


def learned(start, values, response, seen, most_changes=MOST_CHANGES):
    """Change an index by sums of columns until a curve of it fits a response best; return it and its curve.

    `start` None begins with the sum that predicts the response best; `seen` are the rows to learn from.
    """
    known = response[seen]
    if start is None:
        start = values @ ridge(values[seen], known, PENALTY * known.size)
    index = standardized(start, seen)
    curve, share, change = Curve(index[seen], known), 1.0, None
    for _ in range(most_changes if values.shape[1] else 0):
        if change is None:
            scaled = curve.slopes(index[seen])[:, np.newaxis] * values[seen]
            penalty = CHANGES * (scaled**2).sum() / values.shape[1] + 1e-12
            change = values @ ridge(scaled, curve.left, penalty)
        other = standardized(index + share * change, seen)
        tried = Curve(other[seen], known)
        gain = curve.error - tried.error
        if gain > 0.0:
            index, curve, change = other, tried, None
        if gain < GAIN * curve.error:
            if share < 1.0:
                break
            share = 0.4
    return index, curve(index)
