"""Tests of partial correlation: exact for jointly normal columns, sensitive to linear dependence only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from ppfs._conventions import Floats
from ppfs._data import Table, require_finite
from ppfs.exceptions import InvalidInputError
from ppfs.independence._answers import CANNOT_TELL, INDEPENDENT, IndependenceResult
from ppfs.independence._bound import Binding
from ppfs.independence._classical.batched import BatchedTest
from ppfs.independence._classical.partial import Correlations
from ppfs.independence._classical.plain_rows import require_numbers, require_plain_rows
from ppfs.independence._test import IndependenceTest

# A perfect correlation would have an infinite statistic; this bound keeps it finite, and the p-value tiny.
_LARGEST = 1.0 - 1e-15


class FisherZ(IndependenceTest):
    """Fisher's z test of the partial correlation of numeric columns.

    The correlation of x and the target after both were regressed on the given columns. Two-sided: a
    negative correlation is as significant as a positive one. All candidates are tested
    in one pass.

    See Also
    --------
    PartialCorrelationT : the same with Student's t, exact for few rows.
    LikelihoodRatio : for columns of both kinds.

    Notes
    -----
    z = sqrt(n - k - 3) atanh(r) is compared with the standard normal; k is the number of given columns.
    With n <= k + 3 the answer is "cannot tell" (``is_reliable=False``). `effect` is abs(r).

    Numbers are used as they are, so integer codes of unordered categories make no sense here, and
    columns of text with more than two categories raise an error. A target of two classes is read as 0 and 1; more
    classes are accepted only as numbers.

    A given column that the other given columns determine is left out. A column that they determine
    is independent (p = 1), and so is every column if they determine the target. A copy of
    the target has r = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.independence import FisherZ
    >>> cause = np.random.default_rng(0).normal(size=100)
    >>> noise = np.random.default_rng(1).normal(size=100)
    >>> FisherZ().evaluate(cause.reshape(-1, 1), cause - noise, 0).pvalue < 1e-6
    True
    """

    is_random = False
    reads_task = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def _bind(self, table: Table, binding: Binding) -> BoundCorrelation:
        name = type(self).__name__
        require_plain_rows(table, user=name)
        require_numbers(table, user=name)
        require_finite(table, allow_missing=False, user=name)
        correlations = Correlations(table, target_as_numbers(table, user=name))
        return BoundCorrelation(table, binding, correlations, self)

    def degrees_of_freedom(self, n_rows: int, n_given: int) -> int:
        """Return what is left of the rows; below 1 the test cannot tell."""
        return n_rows - n_given - 3

    def judge(self, correlations: Floats, free: int) -> tuple[Floats, Floats]:
        """Return the p-values and statistics of partial correlations."""
        statistics = np.sqrt(free) * np.arctanh(correlations)
        return 2.0 * ndtr(-np.abs(statistics)), statistics


class PartialCorrelationT(FisherZ):
    """Student's t test of the partial correlation of numeric columns.

    The t test of x's coefficient when the target is regressed on x and the given columns: exact
    for normal errors, however few the rows. The notes of `FisherZ` apply.

    Notes
    -----
    t = r sqrt(f / (1 - r^2)) with f = n - k - 2 degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.independence import PartialCorrelationT
    >>> x, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0.5, 2.5, 2.5, 4.5])
    >>> round(PartialCorrelationT().evaluate(x, y, 0).pvalue, 4)
    0.0513
    """

    def degrees_of_freedom(self, n_rows: int, n_given: int) -> int:
        """Return what is left of the rows; below 1 the test cannot tell."""
        return n_rows - n_given - 2

    def judge(self, correlations: Floats, free: int) -> tuple[Floats, Floats]:
        """Return the p-values and statistics of partial correlations."""
        statistics = correlations * np.sqrt(free / (1.0 - correlations**2))
        return 2.0 * stdtr(free, -np.abs(statistics)), statistics


class BoundCorrelation(BatchedTest):
    """The test of one table: its correlations."""

    def __init__(self, table: Table, binding: Binding, correlations: Correlations, test: FisherZ) -> None:
        super().__init__(table, binding)
        self._correlations = correlations
        self._test = test

    def has_rows_for(self, target: int, given: Collection[int]) -> bool:
        """Return whether there are degrees of freedom left given these columns."""
        return self._test.degrees_of_freedom(self.table.n_rows, len(given)) >= 1

    def _batch(self, xs: Sequence[int], target: int, given: tuple[int, ...]) -> list[IndependenceResult]:
        partial = self._correlations.given(xs, target, given)
        free = self._test.degrees_of_freedom(self.table.n_rows, partial.n_given)
        if free < 1:
            return [CANNOT_TELL] * len(xs)
        correlations = np.clip(partial.values, -_LARGEST, _LARGEST)
        pvalues, statistics = self._test.judge(correlations, free)
        answers = zip(pvalues.tolist(), statistics.tolist(), np.abs(partial.values).tolist(), strict=True)
        return [
            INDEPENDENT if is_determined else IndependenceResult(*answer)
            for is_determined, answer in zip(partial.determined_mask.tolist(), answers, strict=True)
        ]


def target_as_numbers(table: Table, user: str) -> NDArray[np.float64]:
    """Return the target as numbers whose correlation is meaningful."""
    if table.task == "regression" or table.classes.size <= 2:
        return table.codes
    if table.y.dtype.kind in "biuf":
        return np.asarray(table.y, dtype=np.float64)
    raise InvalidInputError(
        f"{user} needs a numeric target, but y has {table.classes.size} classes, such as {str(table.classes[0])!r}, "
        "which have no order. Use LikelihoodRatio, or GSquared if all columns are categorical."
    )
