"""A bound on small permutation p-values of columns and two classes: valid for any column and any number of rows.

The rows of one class are a sample without replacement from all rows. Let x be the values of a column, m the size of the
smaller class, and S the sum of x over its rows. Hoeffding (1963, section 6) showed that the moment generating function
of S is at most that of a sample with replacement, so that for every t >= 0

    P(S >= s) <= exp(-t s) (mean of exp(t x_i))^m.

Any t gives a valid bound, and the smallest of a few is used. See decision 215.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ppfs._conventions import Floats
from ppfs.independence._predictive.screening import lines_and_ranks

# The bound is used for p-values below this, over the number of columns: far below what any correction asks for.
_CERTAIN = 1e-5

# The values and the ranks of a column, each in two directions, may be large by chance.
_N_WAYS = 4

# Where the bound is evaluated, as multiples of what is best for normal columns.
_STEEPNESS = np.geomspace(0.1, 4.0, 25)


@dataclass(frozen=True)
class TailBound:
    """Bounds the chance that a rearranged column differs between two classes as much as a given arrangement does.

    Attributes
    ----------
    directions : ndarray of shape (n_columns, 2, n_rows)
        The values and the ranks of each column, centered, of length 1.

    members : ndarray of int, shape (n_members,)
        The rows of the smaller class.

    level : float
        Larger p-values are not bounded.
    """

    directions: Floats
    members: NDArray[np.intp]
    level: float

    @classmethod
    def of(cls, columns: NDArray[Any], members: NDArray[np.intp], n_features: int) -> TailBound:
        """Prepare the bounds of some columns, given as rows, of a table with `n_features` columns."""
        return cls(lines_and_ranks(columns), members, _CERTAIN / n_features)

    def pvalues(self, owners: NDArray[np.intp], sources: NDArray[np.intp]) -> Floats:
        """Return the bounds of arrangements; 1 where they exceed the level.

        Parameters
        ----------
        owners : ndarray of int, shape (n_copies,)
            The column of which each is an arrangement.

        sources : ndarray of int, shape (n_copies, n_rows)
            The row from which each row takes its value.
        """
        n_rows, n_members = self.directions.shape[2], self.members.size
        sums = self.directions[owners[:, np.newaxis], :, sources[:, self.members]].sum(axis=1)
        # Never below the bound for normal columns, so that arrangements beyond the level stand out in any screening.
        normal = -(sums**2) * n_rows / (2 * n_members)
        bounds = np.ones(len(owners))
        lowest = np.log(self.level / _N_WAYS)
        for copy in np.flatnonzero((normal <= lowest).any(axis=1)).tolist():
            own = self.directions[owners[copy]]
            logs = [
                max(of_normal, log_chance(view, n_members, total))
                for view, total, of_normal in zip(own, sums[copy], normal[copy], strict=True)
            ]
            bound = _N_WAYS * float(np.exp(min(logs)))
            bounds[copy] = bound if bound <= self.level else 1.0
        return bounds


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
