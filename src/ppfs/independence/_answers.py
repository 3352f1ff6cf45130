"""Answers to "is x independent of the target given these columns?": one as an object, many as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class IndependenceResult:
    """The answer to one question "is x independent of the target given these columns?".

    Attributes
    ----------
    pvalue : float
        Small values are evidence against independence.

    statistic : float
        The value from which the p-value was computed, for example Wilcoxon's rank sum.

    effect : float
        How strong the dependence is, on a scale that does not saturate when the p-value does:
        for predictive tests the mean rise in risk when x is replaced by its knockoff.

    is_reliable : bool
        False when there are too few rows for an answer. The p-value is then 1, and is evidence
        neither for dependence nor for independence.

    is_inert : bool
        True when no model of x and its conditioning columns uses x, and nothing is drawn given x. The models are then
        the same without x, and so is every answer about the other columns.

    model_pvalues : tuple of float
        For a panel of models, the p-value of each; NaN for models that do not answer this question.

    may_be_too_small : bool
        True when the models of x and of the target given the other columns missed a part of their dependence on these,
        so that the p-value may be too small.

    explained : tuple of float
        The shares of the target and of x that the other columns explain in left-out rows; empty where they were not
        measured.

    root_effect : tuple of float
        The root of the effect, less what chance adds to it, and its standard error: effects grow with the square of a
        slope, so that their roots are nearly normal. Empty where they were not measured.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs.independence import FisherZ
    >>> X, y = load_iris(return_X_y=True)
    >>> answer = FisherZ().evaluate(X, X[:, 3], 2, given=[0, 1])
    >>> answer.is_dependent(alpha=0.05), answer.is_reliable
    (True, True)
    """

    pvalue: float
    statistic: float
    effect: float
    is_reliable: bool = True
    is_inert: bool = False
    model_pvalues: tuple[float, ...] = ()
    may_be_too_small: bool = False
    explained: tuple[float, ...] = ()
    root_effect: tuple[float, ...] = ()

    def is_dependent(self, alpha: float) -> bool:
        """Return whether independence is rejected at level `alpha`."""
        return self.pvalue <= alpha

    def is_independent(self, alpha: float) -> bool:
        """Return whether independence is not rejected at level `alpha`; False where there are too few rows."""
        return self.is_reliable and self.pvalue > alpha


# The answer where x can add nothing by definition (a constant column, for example), and where there are too few rows.
INDEPENDENT = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0)
CANNOT_TELL = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0, is_reliable=False)


@dataclass(frozen=True)
class Answers:
    """The answers to many questions, as arrays of shape (n_questions,); see `IndependenceResult`.

    `model_pvalues` has the shape (n_questions, n_models), with n_models = 0 where there is no panel, and the shape of
    `explained` and `root_effects` is (n_questions, 2).

    A search asks about a million columns while it grows, and one object per answer would take more memory than
    the numbers in it.
    """

    pvalues: NDArray[np.float64]
    statistics: NDArray[np.float64]
    effects: NDArray[np.float64]
    is_reliable: NDArray[np.bool_]
    is_inert: NDArray[np.bool_]
    model_pvalues: NDArray[np.float64]
    may_be_too_small: NDArray[np.bool_]
    explained: NDArray[np.float64]
    root_effects: NDArray[np.float64]

    @classmethod
    def independent(cls, n: int, n_models: int = 0) -> Answers:
        """Return `n` answers with p-value 1, to be overwritten."""
        return cls(
            np.ones(n),
            np.zeros(n),
            np.zeros(n),
            np.ones(n, dtype=bool),
            np.zeros(n, dtype=bool),
            np.full((n, n_models), np.nan),
            np.zeros(n, dtype=bool),
            np.full((n, 2), np.nan),
            np.full((n, 2), np.nan),
        )

    @classmethod
    def of(cls, results: Sequence[IndependenceResult], n_models: int = 0) -> Answers:
        """Collect single answers."""
        answers = cls.independent(len(results), n_models)
        for i, result in enumerate(results):
            answers[i] = result
        return answers

    def __len__(self) -> int:
        return len(self.pvalues)

    def __getitem__(self, i: int) -> IndependenceResult:
        return IndependenceResult(
            float(self.pvalues[i]),
            float(self.statistics[i]),
            float(self.effects[i]),
            bool(self.is_reliable[i]),
            bool(self.is_inert[i]),
            tuple(self.model_pvalues[i].tolist()) if self.model_pvalues.shape[1] else (),
            bool(self.may_be_too_small[i]),
            () if np.isnan(self.explained[i, 0]) else tuple(self.explained[i].tolist()),
            () if np.isnan(self.root_effects[i, 0]) else tuple(self.root_effects[i].tolist()),
        )

    def __setitem__(self, i: int, result: IndependenceResult) -> None:
        self.pvalues[i] = result.pvalue
        self.statistics[i] = result.statistic
        self.effects[i] = result.effect
        self.is_reliable[i] = result.is_reliable
        self.is_inert[i] = result.is_inert
        self.model_pvalues[i] = result.model_pvalues or np.nan
        self.may_be_too_small[i] = result.may_be_too_small
        self.explained[i] = result.explained or np.nan
        self.root_effects[i] = result.root_effect or np.nan

    def __iter__(self) -> Iterator[IndependenceResult]:
        return (self[i] for i in range(len(self)))

    def put(self, places: NDArray[np.intp], others: Answers) -> None:
        """Overwrite the answers at `places` with `others`."""
        where = _as_run(places)
        for mine, theirs in zip(self._arrays(), others._arrays(), strict=True):
            mine[where] = theirs

    def take(self, places: NDArray[np.intp]) -> Answers:
        """Return copies of the answers at `places`."""
        where = _as_run(places)
        return Answers(*(np.array(array[where]) for array in self._arrays()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Answers:
        """Make answers of arrays by name; other names are ignored."""
        return cls(*(arrays[field.name] for field in fields(cls)))

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return tuple(self.arrays().values())


def _as_run(places: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """Return a slice where places follow each other: a million of them are copied several times as fast."""
    is_run = places.size > 0 and bool((np.diff(places) == 1).all())
    return slice(int(places[0]), int(places[0]) + places.size) if is_run else places
