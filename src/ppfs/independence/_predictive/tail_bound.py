"""A bound on small permutation p-values of columns: valid for any column and any number of rows.

The rows of one class, or those with large numbers in the target, are a sample without replacement from all rows. Let x
be the values of a column, m the size of the sample out of n rows, and S the sum of x over its rows. With w_i =
exp(t x_i), the mean of exp(t S) over all samples is e_m(w) / C(n, m), where e_m is the elementary symmetric polynomial:
the sum of the products of m of the w_i. For every r > 0, r^m e_m(w) / prod(1 + r w_i) is the probability that
independent events of probabilities p_i = r w_i / (1 + r w_i) happen exactly m times. With V = sum p_i (1 - p_i), it is
below 0.4689 / sqrt(V) (Baillon, Cominetti and Vaisman, 2016) and at most 1, so that for every t >= 0

    P(S >= s) <= exp(-t s) r^-m prod(1 + r w_i) min(1, 0.4689 / sqrt(V)) / C(n, m).

Any t and r give a valid bound, and the smallest of a few is used. See decisions 215, 253 and 254.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln
from scipy.stats import chi2

from ppfs._conventions import Floats
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.screening import lines_and_ranks

#: The bound is used for p-values below this, over the number of columns: far below what any correction asks for.
LARGEST_BOUND = 1e-4

# The values and the ranks of a column, each in two directions, may be large by chance.
_N_WAYS = 4

# Where the bound is evaluated: t as multiples of what is best for normal columns, and steps of Newton's method for r.
_STEEPNESS = np.geomspace(0.2, 4.0, 16)
_N_STEPS = 8
_LONGEST_STEP = 3.0

# Independent events of variance V happen exactly m times with a probability below this, divided by the root of V.
_MOST_AT_ONE_NUMBER = 0.4689


@dataclass(frozen=True)
class TailBound:
    """Bounds the chance that a rearranged column differs between groups of rows as much as a given arrangement does.

    Attributes
    ----------
    directions : ndarray of shape (n_columns, 2, n_rows)
        The values and the ranks of each column, centered, of length 1.

    contrasts : sequence of ndarray of int
        Sets of rows, each compared with all other rows: see `contrasts_of`.

    outputs : ndarray of shape (n_outputs, n_rows)
        The target, as in `Screening`.

    level : float
        Larger p-values are not bounded.
    """

    directions: Floats
    contrasts: Sequence[NDArray[np.intp]]
    outputs: Floats
    level: float

    @classmethod
    def of(
        cls, columns: NDArray[Any], contrasts: Sequence[NDArray[np.intp]], outputs: Floats, n_features: int
    ) -> TailBound:
        """Prepare the bounds of some columns, given as rows, of a table with `n_features` columns."""
        return cls(lines_and_ranks(columns), contrasts, outputs, LARGEST_BOUND / n_features)

    def pvalues(self, owners: NDArray[np.intp], sources: NDArray[np.intp]) -> Floats:
        """Return the bounds of arrangements; 1 where they exceed the level.

        Parameters
        ----------
        owners : ndarray of int, shape (n_copies,)
            The column of which each is an arrangement.

        sources : ndarray of int, shape (n_copies, n_rows)
            The row from which each row takes its value.
        """
        n_rows, n_ways = self.directions.shape[2], _N_WAYS * len(self.contrasts)
        bounds = np.ones(len(owners))
        lowest = np.log(self.level / n_ways)
        for members in self.contrasts:
            n_members = members.size
            sums = self.directions[owners[:, np.newaxis], :, sources[:, members]].sum(axis=1)
            # Never below the bound for normal columns.
            normal = -(sums**2) / (2 * _variance(n_rows, n_members))
            for copy in np.flatnonzero((normal <= lowest).any(axis=1)).tolist():
                own = self.directions[owners[copy]]
                logs = [
                    max(of_normal, log_chance(view, n_members, total))
                    for view, total, of_normal, stands_out in zip(
                        own, sums[copy], normal[copy], self._stand_out(own[:, sources[copy]]), strict=True
                    )
                    if stands_out
                ]
                bound = n_ways * float(np.exp(min(logs, default=np.inf)))
                if bound <= self.level:
                    bounds[copy] = min(bounds[copy], bound)
        return bounds

    @property
    def least_squares(self) -> Floats:
        """For each contrast, the squared sum of a view over its rows from which a p-value may be bounded."""
        n_rows, lowest = self.directions.shape[2], np.log(self.level / (_N_WAYS * len(self.contrasts)))
        return np.array([-2 * lowest * _variance(n_rows, members.size) for members in self.contrasts])

    def _stand_out(self, views: Floats) -> NDArray[np.bool_]:
        """Return which views of an arrangement, shape (2, n_rows), stand out in any screening.

        Draws that do not stand out are not looked at, so only arrangements that do can rank first. With two classes
        all with a small bound do.
        """
        n_outputs, n_rows = self.outputs.shape
        lengths = ((views @ self.outputs.T) ** 2).sum(axis=1)
        stand_out: NDArray[np.bool_] = lengths >= chi2.isf(self.level, n_outputs) / max(1, n_rows - 1)
        return stand_out


def contrasts_of(problem: Problem) -> tuple[NDArray[np.intp], ...]:
    """Return the sets of rows whose values of a column are compared with those of all other rows.

    These are the smaller of two classes, each of several classes (or all rows outside it, if these are fewer), or the
    rows above the median of a number. Rows with weights, and targets with several outputs, have none.
    """
    weights = problem.weights
    if weights.loss is not None or weights.fit is not None or problem.y.ndim > 1 or problem.y.dtype.names:
        return ()
    if problem.classes.size:
        first = problem.classes[:1] if problem.classes.size == 2 else problem.classes
        masks = [problem.y == label for label in first]
    else:
        masks = [problem.y > np.median(problem.y)]
    sides = [min(np.flatnonzero(mask), np.flatnonzero(~mask), key=len) for mask in masks]
    return tuple(side for side in sides if side.size)


def log_chance(values: Floats, n_members: int, total: float) -> float:
    """Bound the log of the chance that `n_members` of `values` have so large a sum, or so small if it is negative.

    Examples
    --------
    The ten largest of twenty ranks are one choice of 184,756:

    >>> ranks = np.arange(20) - 9.5
    >>> bool(log_chance(ranks, 10, ranks[10:].sum()) >= -np.log(184_756))
    True
    """
    n_rows = len(values)
    away = np.sign(total) * values
    spread = _variance(n_rows, n_members) * max(float(values @ values), 1e-300)
    steepness = _STEEPNESS * abs(total) / spread
    logs = steepness[:, np.newaxis] * away
    # The best r makes the expected number of events m.
    log_r = np.log(n_members / (n_rows - n_members)) - logs.mean(axis=1)
    for _ in range(_N_STEPS):
        chances = expit(log_r[:, np.newaxis] + logs)
        step = (n_members - chances.sum(axis=1)) / np.maximum((chances * (1 - chances)).sum(axis=1), 1e-300)
        log_r += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    chances = expit(log_r[:, np.newaxis] + logs)
    variance = (chances * (1 - chances)).sum(axis=1)
    log_products = np.logaddexp(0.0, log_r[:, np.newaxis] + logs).sum(axis=1) - n_members * log_r
    log_m_of_n = np.minimum(0.0, np.log(_MOST_AT_ONE_NUMBER) - 0.5 * np.log(np.maximum(variance, 1e-300)))
    n_samples = gammaln(n_rows + 1) - gammaln(n_members + 1) - gammaln(n_rows - n_members + 1)
    bounds = log_products + log_m_of_n - n_samples - steepness * abs(total)
    return float(min(0.0, bounds.min()))


def _variance(n_rows: int, n_members: int) -> float:
    """Return the variance of the sum of a sample, if the sum of squares of all rows is 1 and their mean 0."""
    return n_members * (n_rows - n_members) / (n_rows * (n_rows - 1))
