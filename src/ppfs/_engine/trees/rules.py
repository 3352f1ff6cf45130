"""The parameters of a tree, and the loss of its predictions."""

from dataclasses import dataclass
from enum import IntEnum
from math import ceil
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

#: scikit-learn's ``FEATURE_THRESHOLD``: values that differ by at most this are tied. It is added in float32.
TIE = np.float32(1e-7)


class Criterion(IntEnum):
    """Impurity of a node, as a number for kernels."""

    GINI = 0
    ENTROPY = 1
    SQUARED_ERROR = 2


class LossCode(IntEnum):
    """Loss of one test row, as a number for kernels."""

    LOG = 0
    BRIER = 1
    ZERO_ONE = 2
    SQUARED = 3
    ABSOLUTE = 4
    POISSON_DEVIANCE = 5
    GAMMA_DEVIANCE = 6


#: Impurities that a tree of classes may reduce, by scikit-learn's names, and those of a tree of numbers.
CLASS_CRITERIA = {"gini": Criterion.GINI, "entropy": Criterion.ENTROPY, "log_loss": Criterion.ENTROPY}
NUMBER_CRITERIA = {"squared_error": Criterion.SQUARED_ERROR}
_CRITERIA = {name: int(criterion) for name, criterion in (CLASS_CRITERIA | NUMBER_CRITERIA).items()}

#: Losses by the names that users give them.
LOSSES = {
    "log-loss": LossCode.LOG,
    "brier": LossCode.BRIER,
    "zero-one": LossCode.ZERO_ONE,
    "squared": LossCode.SQUARED,
    "absolute": LossCode.ABSOLUTE,
}

# scikit-learn's stand-in for "no limit".
_UNLIMITED_DEPTH = 2**31 - 1


class Limits(NamedTuple):
    """The rules resolved for one size of the train part, as plain integers for kernels."""

    criterion: int
    max_depth: int
    min_split: int
    min_leaf: int


@dataclass(frozen=True)
class TreeRules:
    """The parameters of a decision tree that the engine supports, and the loss of its predictions.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "squared_error"}
        The impurity that splits reduce.
    max_depth : int or None
        Longest path from the root; None sets no limit.
    min_samples_leaf, min_samples_split : int or float
        Counts, or fractions of the train part, with scikit-learn's meaning and rounding.
    loss : {"log-loss", "brier", "zero-one", "squared", "absolute"}
        The first three are for classes, the last two for numbers.
    """

    criterion: str = "gini"
    max_depth: int | None = None
    min_samples_leaf: int | float = 1
    min_samples_split: int | float = 2
    loss: str = "log-loss"

    def limits(self, n_train: int) -> Limits:
        """Resolve the rules for a train part of ``n_train`` rows, with scikit-learn's rounding."""
        min_leaf = _count(self.min_samples_leaf, n_train)
        min_split = max(2, _count(self.min_samples_split, n_train), 2 * min_leaf)
        max_depth = _UNLIMITED_DEPTH if self.max_depth is None else int(self.max_depth)
        return Limits(_CRITERIA[self.criterion], max_depth, min_split, min_leaf)

    @property
    def loss_code(self) -> int:
        """The loss as a number for kernels."""
        return int(LOSSES[self.loss])


def is_exhaustive(limits: Limits) -> bool:
    """Whether only purity and tied values stop the growth of a tree."""
    return limits.max_depth == _UNLIMITED_DEPTH and limits.min_split <= 2 and limits.min_leaf <= 1


def _count(amount: Any, n_train: int) -> int:
    """Return a count of rows: integers of any kind are counts, other numbers are fractions."""
    return int(amount) if isinstance(amount, Integral) else ceil(amount * n_train)
