"""From residuals of the target and of functions of x to p-values and effects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.smoother import Residuals, Smoother
from ppfs.independence._predictive.significance import cauchy_combination

# Functions are tested together, by Hotelling's statistic, where there are this many rows for each; else one by one.
_ROWS_PER_FUNCTION = 10.0

# Directions of the standardized functions below this share carry no information of their own.
_SMALLEST_DIRECTION = 0.01

# The weight of the smoothest curves by themselves, beside all curves together.
_SMOOTHEST = 4.0

# The variance of sums over rows that were predicted by models of each other (docs/decisions/0320-models-as-members.md).
_SEEN_BY_EACH_OTHER = 1.5

# The squares of products are at least this share of what they would be if both spreads were independent.
_LEAST_SPREAD = 0.8

# Sums of squares below this share of the largest are rounding error.
_ROUNDING = 1e-20


@dataclass(frozen=True)
class Tested:
    """The test of one member.

    Attributes
    ----------
    statistic : float
        Student's t, or Hotelling's T: the root of a quadratic form.

    n_directions : int
        The number of its directions, which is its mean without any dependence.
    """

    pvalue: float
    statistic: float
    n_directions: int = 1


@dataclass(frozen=True)
class ProductTest:
    """Tests residuals of the target by their products with those of functions of x.

    Attributes
    ----------
    target : Residuals
        Of one or more outputs.

    smoother : Smoother
        The regressions that left them.

    groups : ndarray of int, shape (n_rows,), or None
        Rows of a group are not independent, and their products are added up.

    is_centered : bool, default=False
        Whether the squares are those of products less their mean, as in Student's test: an effect is then no part of
        its own error (docs/decisions/0400-survival-products-less-their-mean.md).
    """

    target: Residuals
    smoother: Smoother
    groups: NDArray[np.intp] | None
    is_centered: bool = False

    def of(self, functions: Residuals) -> Tested:
        """Test whether residuals of the target and of functions of x are uncorrelated.

        Each output is multiplied with each function. The sum of the products is divided by the root of the sum of their
        squares: by what these rows show, whether or not they are spread evenly. One product has a t-test; several have
        Hotelling's T squared with its F distribution.
        """
        target, groups = self.target, self.groups
        products = (target.values[:, :, np.newaxis] * functions.values[:, np.newaxis]).reshape(
            self.smoother.n_rows, -1
        )
        freedom = self._freedom
        both = [(int(one), int(other)) for one in target.penalties for other in functions.penalties]
        inflation = np.array([self.smoother.inflation(*pair) for pair in both])
        if groups is not None:
            products = np.stack([np.bincount(groups, column) for column in products.T], axis=1)
            of_groups = [
                self.smoother.group_inflation(int(penalty), function)
                for penalty in target.penalties
                for function in functions.values.T
            ]
            inflation = np.maximum(inflation, of_groups)
            freedom = max(2.0, min(freedom, len(products) / float(inflation.max()) - 1.0))
        squares = np.einsum("ij,ij->j", products, products)
        if groups is None:
            # The few rows of a rare class may by chance have only small values of a function, and almost no spread.
            even = np.outer((target.values**2).sum(axis=0), (functions.values**2).mean(axis=0))
            squares = np.maximum(squares, _LEAST_SPREAD * even.ravel())
        kept = squares > _ROUNDING * max(float(squares.max(initial=0.0)), 1e-200)
        if not kept.any():
            return Tested(1.0, 0.0)
        inflation = inflation[kept]
        products = products[:, kept] / np.sqrt(squares[kept])
        t = products.sum(axis=0) / np.sqrt(inflation)
        if self.is_centered:
            t *= np.sqrt((len(products) - 1.0) / np.maximum(len(products) - t**2, 1.0))
            freedom = max(2.0, freedom - 1.0)
        if t.size == 1:
            return Tested(float(2.0 * special.stdtr(freedom, -abs(t[0]))), float(abs(t[0])))
        if t.size * _ROWS_PER_FUNCTION > freedom:
            pvalues = 2.0 * special.stdtr(freedom, -np.abs(t))
            return Tested(float(cauchy_combination(pvalues[np.newaxis])[0][0]), float(np.abs(t).max()))
        gram = products.T @ products
        np.fill_diagonal(gram, 1.0)
        sizes, directions = np.linalg.eigh(gram)
        chosen = sizes > _SMALLEST_DIRECTION
        k = int(chosen.sum())
        squared = float(((directions.T @ t)[chosen] ** 2 / sizes[chosen]).sum())
        left = freedom - k + 1.0
        return Tested(float(special.fdtrc(k, left, squared / k * left / freedom)), float(np.sqrt(squared)), k)

    def smoothest_first(self, functions: Residuals, n_smoothest: int) -> Tested:
        """Test curves in the order of their smoothness: the first ones by themselves, and all together.

        Most curves are nearly the smoothest one, and a test of three directions sees it with less power than a test of
        one. The p-values are combined by Cauchy's method.
        """
        every = self.of(functions)
        if not 0 < n_smoothest < functions.values.shape[1]:
            return every
        first = self.of(functions.some(slice(n_smoothest)))
        both = np.array([[first.pvalue, every.pvalue]])
        combined = float(cauchy_combination(both, (_SMOOTHEST, 1.0))[0][0])
        return replace(first if first.pvalue <= every.pvalue else every, pvalue=combined)

    def one_by_one(self, functions: Residuals, weights: Floats) -> Tested:
        """Test functions each by itself, and combine their p-values by Cauchy's method.

        Of the products with other columns one or two matter. Where there are many, a test of all directions has
        little power.
        """
        singles = [
            self.of(functions.some(slice(number, number + 1))).pvalue for number in range(weights.size)
        ]
        pvalue = float(cauchy_combination(np.array([singles]), weights.tolist())[0][0])
        return replace(self.of(functions), pvalue=pvalue)

    def of_predictions(self, predicted: Residuals) -> Tested:
        """Test whether residuals of the target grow with those of what models predict of it from x, per output.

        One-sided: predictions that go the wrong way are no evidence. Each row is predicted by models of other rows, and
        a chance pattern that two rows share counts twice, which makes the variance of the sum larger than that of
        independent rows: at most twice as large, and at most 1.5 times where it was measured.
        """
        target, groups = self.target, self.groups
        products = np.einsum("ij,ij->i", target.values, predicted.values)
        freedom = self._freedom
        both = list(zip(target.penalties.tolist(), predicted.penalties.tolist(), strict=True))
        inflation = float(np.mean([self.smoother.inflation(*pair) for pair in both]))
        if groups is not None:
            products = np.bincount(groups, products)
            of_groups = [
                self.smoother.group_inflation(penalty, function)
                for penalty, function in zip(target.penalties.tolist(), predicted.values.T, strict=True)
            ]
            inflation = max(inflation, float(np.mean(of_groups)))
            freedom = max(2.0, min(freedom, len(products) / inflation - 1.0))
        squares = float((products**2).sum())
        if (
            squares <= _ROUNDING * float((target.values**2).sum() * (predicted.values**2).sum())
            or not squares
        ):
            return Tested(1.0, 0.0)
        t = float(products.sum() / np.sqrt(squares * inflation * _SEEN_BY_EACH_OTHER))
        return Tested(float(special.stdtr(freedom, -t)), t)

    @property
    def _freedom(self) -> float:
        return min(self.smoother.freedom(int(penalty)) for penalty in self.target.penalties)


def predicted_rest(target: Floats, functions: Floats) -> tuple[Floats, Floats]:
    """Regress residuals of the target on residuals of functions of x.

    Parameters
    ----------
    target : ndarray of shape (n_rows, n_outputs)

    functions : ndarray of shape (n_rows, n_functions)

    Returns
    -------
    fitted, left_out : ndarray of shape (n_rows, n_outputs)
        The predictions, and those of each row by the other rows.
    """
    U, sizes, _ = np.linalg.svd(functions, full_matrices=False)
    U = U[:, sizes > 1e-8 * max(float(sizes.max(initial=0.0)), 1e-300)]
    fitted = U @ (U.T @ target)
    leverage = np.minimum((U**2).sum(axis=1, keepdims=True), 1.0 - 1e-6)
    return fitted, (fitted - leverage * target) / (1.0 - leverage)
