"""The likelihood-ratio test: whether x improves a regression of the target on the given columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

from ppfs._conventions import Floats
from ppfs._data import Table, require_finite
from ppfs.independence._answers import CANNOT_TELL, INDEPENDENT, IndependenceResult
from ppfs.independence._bound import Binding
from ppfs.independence._classical.batched import BatchedTest
from ppfs.independence._classical.logistic import LogisticFit, fit_extended, fit_logistic
from ppfs.independence._classical.partial import DETERMINED
from ppfs.independence._classical.plain_rows import require_plain_rows
from ppfs.independence._classical.regressors import Designs, Extensions, added_directions
from ppfs.independence._test import IndependenceTest

# Rows per coefficient of a logistic model. With fewer rows the ratio is far from chi-squared,
# and with as many coefficients as rows every target is fitted perfectly.
_ROWS_PER_COEFFICIENT = 5


class LikelihoodRatio(IndependenceTest):
    """The likelihood-ratio test for columns of any kind, the test of Mixed-MB.

    Fits the target on the given columns, without x and with it, by least squares when the target
    is numeric and by (multinomial) logistic regression when it is categorical. Categorical
    columns enter as dummy variables.

    Parameters
    ----------
    symmetric : bool, default=False
        Test both directions, that is also whether the target improves a regression of x, and combine:
        p = min(2 min(p1, p2), max(p1, p2)).

    See Also
    --------
    GSquared : faster when all columns are categorical.
    FisherZ : faster when all are continuous.

    Notes
    -----
    Twice the gain in log-likelihood is compared with chi-squared; its degrees of freedom are the
    coefficients that x adds. A numeric target has the exact F test instead. `effect` is the statistic per
    degree of freedom.

    Which columns are categorical is set by `categorical_features`: by default columns of text or categories, and of
    integers with at most 20 distinct values. A group of columns enters with all its columns.

    Columns that the given columns determine are left out or independent, as in `FisherZ`. Where the columns
    separate the classes, the coefficients are infinite but the likelihood has a limit, which is used.
    The answer is "cannot tell" (``is_reliable=False``) when least squares has no degree of freedom left, or
    logistic regression has fewer than 5 rows per coefficient.

    References
    ----------
    Lee et al., "Markov blanket discovery for mixed data" (Mixed-MB), 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs.independence import LikelihoodRatio
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> LikelihoodRatio().evaluate(X, y, "sepal width (cm)", given=["petal width (cm)"]).pvalue < 0.05
    True
    """

    is_random = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {"symmetric": ["boolean"]}

    def __init__(self, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric

    def _bind(self, table: Table, binding: Binding) -> BoundLikelihoodRatio:
        require_plain_rows(table, user=type(self).__name__)
        require_finite(table, allow_missing=False, user=type(self).__name__)
        return BoundLikelihoodRatio(table, binding, self.symmetric)


class BoundLikelihoodRatio(BatchedTest):
    """The test of one table: its regressors, and the models without x."""

    def __init__(self, table: Table, binding: Binding, symmetric: bool) -> None:
        super().__init__(table, binding)
        self._symmetric = symmetric
        self._designs = Designs(table)
        self._n_fits = 0
        # Searches ask many consecutive questions with the same target and conditioning set.
        self._basis = lru_cache(maxsize=4)(self._designs.basis)
        self._block = lru_cache(maxsize=256)(self._designs.block)
        self._codes = lru_cache(maxsize=4)(self._designs.codes)
        self._without = lru_cache(maxsize=4)(self._fit_without)

    @property
    def n_fits(self) -> int:  # type: ignore[override]
        """Logistic regressions fitted so far."""
        return self._n_fits

    def has_rows_for(self, target: int, given: Collection[int]) -> bool:
        """Return whether there are enough rows for a regression of the target on these columns."""
        n_regressors = 1 + sum(int(self._block(variable).shape[1]) for variable in given)
        if self._designs.kind(target) == "regression":
            return self.table.n_rows > n_regressors
        return self.table.n_rows >= _rows_for(self._codes(target), n_regressors)

    def _batch(self, xs: Sequence[int], target: int, given: tuple[int, ...]) -> list[IndependenceResult]:
        given = self.table.order.canonical(given)
        forth = self._improve(target, xs, given)
        if not self._symmetric:
            return forth
        return [
            _combined(result, self._improve(x, [target], given)[0])
            for x, result in zip(xs, forth, strict=True)
        ]

    def _improve(self, target: int, xs: Sequence[int], given: tuple[int, ...]) -> list[IndependenceResult]:
        """Test whether each x improves a regression of `target` on `given`."""
        basis = self._basis(given)
        if basis.shape[1] >= self.table.n_rows - 1:
            # With as many regressors as rows the fit is perfect whatever the data.
            return [CANNOT_TELL] * len(xs)
        if self._designs.kind(target) == "classification":
            return self._ratio_tests(target, given, Extensions.of(self._designs.blocks(xs), basis))
        values = self._designs.values(target)
        additions = (added_directions(self._block(x), basis) for x in xs)
        return [_f_test(values, basis, added) if added.shape[1] else INDEPENDENT for added in additions]

    def _ratio_tests(
        self, target: int, given: tuple[int, ...], extensions: Extensions
    ) -> list[IndependenceResult]:
        labels = self._codes(target)
        n_scores = int(labels.max())
        if n_scores < 1:
            return [INDEPENDENT] * extensions.n_added.size
        rank = extensions.basis.shape[0]
        can_tell = len(labels) >= np.array([_rows_for(labels, rank + n) for n in extensions.n_added.tolist()])
        fitted = (extensions.n_added > 0) & can_tell
        statistics = np.zeros(fitted.size)
        if fitted.any():
            without = self._without(target, given)
            self._n_fits += int(fitted.sum())
            with_x = fit_extended(extensions, fitted, labels, without)
            statistics = np.where(fitted, np.maximum(0.0, 2.0 * (with_x - without.log_likelihood)), 0.0)
        free = n_scores * np.maximum(extensions.n_added, 1)
        answers = np.column_stack([chdtrc(free, statistics), statistics, statistics / free]).tolist()
        return [
            IndependenceResult(*answer) if is_fitted else CANNOT_TELL if n_added else INDEPENDENT
            for answer, is_fitted, n_added in zip(answers, fitted, extensions.n_added, strict=True)
        ]

    def _fit_without(self, target: int, given: tuple[int, ...]) -> LogisticFit:
        self._n_fits += 1
        return fit_logistic(self._basis(given), self._codes(target))


def _rows_for(labels: NDArray[np.intp], n_regressors: int) -> int:
    """Return how many rows a logistic regression needs for the likelihood ratio to be near chi-squared."""
    return _ROWS_PER_COEFFICIENT * int(labels.max()) * n_regressors


def _f_test(values: Floats, basis: Floats, added: Floats) -> IndependenceResult:
    """Compare the residual sums of squares of least squares without and with the added directions."""
    free = len(values) - basis.shape[1] - added.shape[1]
    if free < 1:
        return CANNOT_TELL
    residual = values - basis @ (basis.T @ values)
    before = float(residual @ residual)
    if before <= DETERMINED:
        return INDEPENDENT
    gain = float(np.sum((added.T @ residual) ** 2))
    # The lower bound keeps the statistic of a perfect fit finite.
    after = max(before - gain, 1e-15 * before)
    statistic = (gain / added.shape[1]) / (after / free)
    return IndependenceResult(float(fdtrc(added.shape[1], free, statistic)), statistic, statistic)


def _combined(forth: IndependenceResult, back: IndependenceResult) -> IndependenceResult:
    """Combine the answers of both directions; where one is not reliable, return the other."""
    if not (forth.is_reliable and back.is_reliable):
        return forth if forth.is_reliable else back
    smaller, larger = sorted((forth.pvalue, back.pvalue))
    return IndependenceResult(min(2.0 * smaller, larger), forth.statistic, forth.effect)
