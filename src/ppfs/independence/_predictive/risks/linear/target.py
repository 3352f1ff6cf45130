"""The target of the models of one split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._rows import Split
from ppfs.independence._predictive.problem import Problem


@dataclass(frozen=True)
class TrainTarget:
    """The target in the train part of a split.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, or class numbers.

    classes : ndarray
        The sorted labels of the whole table; empty for numbers.

    weights : ndarray of shape (n_rows,) or None
        The weight of each row; None where all are equal.
    """

    values: NDArray[Any]
    classes: NDArray[Any]
    weights: Floats | None

    @classmethod
    def of(cls, problem: Problem, split: Split) -> TrainTarget:
        """Take the train part of a split."""
        weights = problem.weights.fit
        values = problem.truth[split.train]
        return cls(
            values if problem.classes.size else values.astype(np.float64),
            problem.classes,
            None if weights is None else np.asarray(weights[split.train], dtype=np.float64),
        )
