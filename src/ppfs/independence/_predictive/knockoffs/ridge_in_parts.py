"""Ridge regression with the penalty of the smallest leave-one-out error, from products of the regressors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ppfs._conventions import Floats

# Values of a design that are made at once.
_AT_ONCE = 2**21


@dataclass(frozen=True)
class RidgeFit:
    """A fitted model.

    Attributes
    ----------
    error : float
        The mean squared leave-one-out error.

    fitted : ndarray of shape (n_rows,)
        Predictions for the rows it was fitted to.
    """

    error: float
    fitted: Floats
    basis: Callable[[Floats], Floats]
    centers: Floats
    slopes: Floats
    center: float

    def predict(self, Z: Floats) -> Floats:
        """Return predictions, shape (n_rows,)."""
        parts = [(part - self.centers) @ self.slopes for part in _parts(self.basis, Z, self.slopes.size)]
        return self.center + np.concatenate(parts)


def fit_ridge(
    basis: Callable[[Floats], Floats], width: int, Z: Floats, x: Floats, penalties: Floats
) -> RidgeFit:
    """Fit x to regressors made of Z, in parts of the rows.

    The result is that of scikit-learn's ``RidgeCV(penalties)``, which decomposes the whole design: with a million rows
    and 20 columns with a curve each, the design alone takes 4 GiB. The products of the regressors, summed in a first
    pass, give the coefficients for all penalties; a second pass gives every row's leverage h, and with it the
    leave-one-out error e / (1 - h).

    Parameters
    ----------
    basis : callable
        From rows of Z to regressors, shape (n_rows, width).

    width : int
        The number of regressors.
    """
    n_rows = x.size
    center = float(x.mean())
    values = x - center
    gram, right, centers = _products(basis, width, Z, values)
    sizes, directions = eigh(gram)
    shrinkage = 1.0 / (np.maximum(sizes, 0.0)[:, np.newaxis] + penalties)
    slopes = directions @ (shrinkage * (directions.T @ right)[:, np.newaxis])
    errors = np.zeros(penalties.size)
    fitted = np.empty((n_rows, penalties.size))
    first = 0
    for part in _parts(basis, Z, width):
        end = first + len(part)
        part = part - centers
        fitted[first:end] = part @ slopes
        leverages = 1.0 / n_rows + (part @ directions) ** 2 @ shrinkage
        left_out = (values[first:end, np.newaxis] - fitted[first:end]) / (1.0 - leverages)
        errors += (left_out**2).sum(axis=0)
        first = end
    best = int(errors.argmin())
    return RidgeFit(
        float(errors[best]) / n_rows, center + fitted[:, best], basis, centers, slopes[:, best], center
    )


def _products(
    basis: Callable[[Floats], Floats], width: int, Z: Floats, values: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the products of the centered regressors with each other and with the values, and their means."""
    gram, right, sums = np.zeros((width, width)), np.zeros(width), np.zeros(width)
    near = None
    first = 0
    for part in _parts(basis, Z, width):
        # Subtracting approximate means first avoids cancellation when the true means are subtracted.
        near = part.mean(axis=0) if near is None else near
        part = part - near
        gram += part.T @ part
        right += part.T @ values[first : first + len(part)]
        sums += part.sum(axis=0)
        first += len(part)
    off = sums / len(Z)
    assert near is not None
    return gram - len(Z) * np.outer(off, off), right, near + off


def _parts(basis: Callable[[Floats], Floats], Z: Floats, width: int) -> Iterator[Floats]:
    """Yield the regressors, a part of the rows at a time."""
    at_once = max(1, _AT_ONCE // width)
    for first in range(0, len(Z), at_once):
        yield basis(Z[first : first + at_once])
