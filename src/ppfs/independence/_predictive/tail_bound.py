"""A bound on small permutation p-values of columns: valid for any column and any number of rows.

The rows of one class, or those with large numbers in the target, are a sample without replacement from all rows. Let x
be the values of a column, m the size of the sample, and S the sum of x over its rows. Hoeffding (1963, section 6)
showed that the moment generating function of S is at most that of a sample with replacement, so that for every t >= 0

    P(S >= s) <= exp(-t s) (mean of exp(t x_i))^m.

Any t gives a valid bound, and the smallest of a few is used. See decisions 215 and 253.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import chi2

from ppfs._conventions import Floats
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.screening import lines_and_ranks

# The bound is used for p-values below this, over the number of columns: far below what any correction asks for.
_CERTAIN = 1e-5

# The values and the ranks of a column, each in two directions, may be large by chance.
_N_WAYS = 4

# Where the bound is evaluated, as multiples of what is best for normal columns.
_STEEPNESS = np.geomspace(0.1, 4.0, 25)


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
        return cls(lines_and_ranks(columns), contrasts, outputs, _CERTAIN / n_features)

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
            normal = -(sums**2) * n_rows / (2 * n_members)
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
    away = np.sign(total) * values
    steepness = _STEEPNESS * abs(total) * len(values) / (n_members * max(float(values @ values), 1e-300))
    moments = logsumexp(steepness[:, np.newaxis] * away, axis=1) - np.log(len(values))
    return float(min(0.0, (n_members * moments - steepness * abs(total)).min()))
