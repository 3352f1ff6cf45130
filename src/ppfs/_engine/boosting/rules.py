"""The parameters of boosted trees, and the loss of their predictions."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from ppfs._engine.trees.rules import LOSSES, LossCode

# The smallest sum of hessians of a child; a constant of scikit-learn's HistGradientBoosting.
_MIN_HESSIAN = 1e-3

# Represents "no limit".
_UNLIMITED = 2**31 - 1


class Kind(IntEnum):
    """The kind of target that the trees of one train part predict."""

    NUMBERS = 0
    TWO_CLASSES = 1
    MORE_CLASSES = 2
    ONE_CLASS = 3
    COUNTS = 4
    AMOUNTS = 5


#: What trees of numbers predict, by scikit-learn's name of the loss that they reduce. All but numbers have a log link.
NUMBER_KINDS = {"squared_error": Kind.NUMBERS, "poisson": Kind.COUNTS, "gamma": Kind.AMOUNTS}

#: Losses of predictions by the names that users give them.
BOOSTING_LOSSES = {
    **LOSSES,
    "poisson-deviance": LossCode.POISSON_DEVIANCE,
    "gamma-deviance": LossCode.GAMMA_DEVIANCE,
}


class BoostingLimits(NamedTuple):
    """The rules in the form that kernels read."""

    learning_rate: float
    n_rounds: int
    max_leaves: int
    max_depth: int
    min_leaf: int
    min_hessian: float
    l2: float
    max_bins: int
    has_midpoints: bool
    loss: int


@dataclass(frozen=True)
class BoostingRules:
    """The parameters of scikit-learn's HistGradientBoosting that the engine supports, and the loss of its predictions.

    Parameters
    ----------
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, max_bins
        As scikit-learn defines them.
    quantiles : {"averaged_inverted_cdf", "midpoint"}
        How the edges of bins are computed for a column with more than `max_bins` values, by NumPy's name of the method.
        The method changed between versions of scikit-learn.
    has_weighted_bins : bool
        Whether such edges are weighted quantiles where rows have weights, as in scikit-learn.
    min_hessian : float
        The smallest sum of hessians of a leaf. It is a constant in scikit-learn.
    loss : {"log-loss", "brier", "zero-one", "squared", "absolute", "poisson-deviance", "gamma-deviance"}
        The first three are for classes, the others for numbers.
    reduces : {"squared_error", "poisson", "gamma"}
        The loss that trees of numbers reduce: scikit-learn's parameter `loss`.
    """

    learning_rate: float = 0.1
    max_iter: int = 100
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    max_bins: int = 255
    quantiles: str = "averaged_inverted_cdf"
    has_weighted_bins: bool = True
    min_hessian: float = _MIN_HESSIAN
    loss: str = "log-loss"
    reduces: str = "squared_error"

    @property
    def limits(self) -> BoostingLimits:
        """The rules in the form that kernels read."""
        return BoostingLimits(
            learning_rate=float(self.learning_rate),
            n_rounds=int(self.max_iter),
            max_leaves=_UNLIMITED if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            max_depth=_UNLIMITED if self.max_depth is None else int(self.max_depth),
            min_leaf=int(self.min_samples_leaf),
            min_hessian=float(self.min_hessian),
            l2=float(self.l2_regularization),
            max_bins=int(self.max_bins),
            has_midpoints=self.quantiles == "midpoint",
            loss=int(BOOSTING_LOSSES[self.loss]),
        )

    def most_leaves(self, n_train: int) -> int:
        """Return the largest possible number of leaves of a tree with this number of rows."""
        by_rows = max(1, n_train // max(1, int(self.min_samples_leaf)))
        limits = self.limits
        by_depth = 1 << min(30, limits.max_depth)
        return min(by_rows, by_depth, limits.max_leaves)
