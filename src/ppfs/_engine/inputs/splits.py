"""The train and test parts that every question shares."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ppfs._engine.jit.kernels import Int32s, Int64s

#: Values of `Splits.receivers` for rows that are not in the test part.
TRAIN, UNUSED = -1, -2


@dataclass(frozen=True)
class Splits:
    """B splits of the rows, each with a permutation of its test part.

    The permuted copy of a column has, at test position ``i``, the value of row ``test[permutation[i]]``.

    Attributes
    ----------
    train, test : tuple of B arrays of row numbers
        Disjoint within a split; together they need not cover all rows.
    permutations : tuple of B arrays
        ``permutations[b]`` orders the positions of ``test[b]``.
    """

    train: tuple[Int64s, ...]
    test: tuple[Int64s, ...]
    permutations: tuple[Int64s, ...]

    @classmethod
    def from_sequences(
        cls,
        train: Sequence[npt.ArrayLike],
        test: Sequence[npt.ArrayLike],
        permutations: Sequence[npt.ArrayLike],
    ) -> Self:
        """Build splits from any sequences of row numbers."""
        return cls(_index_arrays(train), _index_arrays(test), _index_arrays(permutations))

    @property
    def n_splits(self) -> int:
        """The paper's B."""
        return len(self.train)

    def receivers(self, n_rows: int) -> Int32s:
        """Return which row receives the value of each row in the permuted copy.

        Returns
        -------
        array of shape (n_splits, n_rows), int32
            For a test row, the test row that receives its value; `TRAIN` for train rows, `UNUSED` for rows
            in neither part.
        """
        receivers = np.full((self.n_splits, n_rows), UNUSED, dtype=np.int32)
        for row_roles, train, test, permutation in zip(
            receivers, self.train, self.test, self.permutations, strict=True
        ):
            row_roles[train] = TRAIN
            row_roles[test[permutation]] = test
        return receivers


def _index_arrays(sequences: Sequence[Any]) -> tuple[Int64s, ...]:
    return tuple(np.array(rows, dtype=np.int64) for rows in sequences)
