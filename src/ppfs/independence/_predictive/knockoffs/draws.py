"""Draws that replace a feature in the test part."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._data import number_combinations
from ppfs._fitting import Design, Impute, dense
from ppfs._rows import Split
from ppfs.independence._predictive.knockoffs.conditional import ConditionalLaw, SharedColumn
from ppfs.independence._predictive.knockoffs.one_against_rest import OneAgainstRest
from ppfs.independence._predictive.knockoffs.smooth_models import ROWS_PER_COEFFICIENT, RememberedCurves

# A feature is shuffled within strata if a test part has at least this many rows per stratum on average; with fewer,
# most rows would keep their value.
_ROWS_PER_STRATUM = 4

# Of so many columns, each is likely to be asked about: their regressions are made together.
_MANY_COLUMNS = 20

# Squares of larger numbers may be infinite.
_FAR = 1e100

# Draws are kept for designs with this many values in total.
_MAX_REMEMBERED = 2**22


class Draws(Protocol):
    """What replaces one feature of one design.

    Attributes
    ----------
    is_permutation : bool
        Whether a draw is the feature's own values in the order of the split's permutations, so that
        results computed from these values can be permuted instead.
    """

    is_permutation: bool

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        ...


class PermutedValues:
    """The feature's own values, shuffled within the test part, as in the paper."""

    is_permutation = True

    def __init__(self, design: Design, feature: int) -> None:
        self._values = dense(design.X[:, design.places[feature]])

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        shuffled: Floats = self._values[split.test[split.permutations[first:end]]]
        return shuffled


class StratifiedValues:
    """The feature's own values, shuffled among the test rows that agree in all other columns.

    No model is needed, and the draws are exact: where the feature is independent of the target given the others, its
    values are exchangeable within a stratum.

    Parameters
    ----------
    strata : ndarray of int, shape (n_rows,)
        The number of the stratum that each row belongs to.
    """

    is_permutation = False

    def __init__(self, design: Design, feature: int, strata: NDArray[np.intp]) -> None:
        self._values = dense(design.X[:, design.places[feature]])
        self._strata = strata

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        strata = self._strata[split.test]
        receivers = np.argsort(strata, kind="stable")
        sources = np.empty((end - first, strata.size), dtype=np.intp)
        for draw, permutation in enumerate(split.permutations[first:end]):
            # Rows by stratum, and within it in the order of the permutation.
            sources[draw, receivers] = permutation[np.argsort(strata[permutation], kind="stable")]
        shuffled: Floats = self._values[split.test[sources]]
        return shuffled


class ConditionalValues:
    """Draws from an estimate of the feature given the other columns of the design.

    The columns of one feature are drawn one after the other, each given those before it.

    Parameters
    ----------
    model : estimator or None
        The caller's model of a column given others; see `ConditionalLaw`.

    impute : {None, "median"}
        How missing values are filled for the caller's model.

    curves : RememberedCurves, default=None
        Curves and scales of the other columns, from earlier questions.

    rest : OneAgainstRest, default=None
        Regressions of every column of the design on all others, where they were made together.
    """

    is_permutation = False

    def __init__(
        self,
        design: Design,
        feature: int,
        model: Any = None,
        impute: Impute = None,
        curves: RememberedCurves | None = None,
        rest: OneAgainstRest | None = None,
    ) -> None:
        place = design.places[feature]
        others = np.delete(np.arange(design.X.shape[1]), place)
        self._laws: list[ConditionalLaw] = []
        for column in range(place.start, place.stop):
            given = np.append(others, np.arange(place.start, column))
            self._laws.append(
                ConditionalLaw(
                    dense(design.X[:, [column]]).ravel(),
                    bool(design.categorical_mask[column]),
                    design.X[:, given],
                    design.n_levels[given],
                    model,
                    impute,
                    curves,
                    None if rest is None else SharedColumn(rest, column),
                )
            )

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        if len(self._laws) == 1:
            return self._laws[0].draws(split, first, end)[:, :, np.newaxis]
        drawn = np.empty((end - first, split.test.size, 0))
        for law in self._laws:
            column = law.draws(split, first, end, given_too=drawn)
            drawn = np.concatenate([drawn, column[:, :, np.newaxis]], axis=2)
        return drawn


class JointResidualValues:
    """Draws of several columns at once: what the others let expect, and the residuals of another row.

    The residuals of a row stay together, so that the columns keep their links with each other.
    """

    is_permutation = False

    def __init__(self, design: Design, feature: int, rest: OneAgainstRest) -> None:
        group = np.arange(design.X.shape[1])[design.places[feature]]
        self._expected = rest.expected_of(group)
        self._residuals = rest.X[:, group] - self._expected

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        shuffled: Floats = self._residuals[split.test[split.permutations[first:end]]]
        return self._expected[split.test] + shuffled


class Knockoff(Protocol):
    """Makes the draws that replace one feature of a design.

    Attributes
    ----------
    is_permutation : bool
        Whether all its draws are permutations; see `Draws`.
    """

    is_permutation: bool

    def __call__(self, design: Design, feature: int) -> Draws: ...


KNOCKOFF_NAMES = ("permutation", "conditional")


class PermutationKnockoff:
    """Shuffles features, as in the paper."""

    is_permutation = True

    def __call__(self, design: Design, feature: int) -> Draws:
        return PermutedValues(design, feature)


class ConditionalKnockoff:
    """Makes conditional draws.

    Where there is nothing to condition on, the feature is shuffled; where the other columns have few values, it is
    shuffled among the rows that share them; else it is drawn from a model.

    Parameters
    ----------
    model : estimator or None
        The caller's model of a column given others. None is the package's own.

    n_test : int
        Rows of a test part.

    impute : {None, "median"}
        How missing values are filled for the caller's model.
    """

    is_permutation = False

    def __init__(self, model: Any, n_test: int, impute: Impute = None) -> None:
        self.model = model
        self.n_test = n_test
        self.impute = impute
        self._curves = RememberedCurves()
        # The design of the last question, and the regressions among its columns.
        self._last: tuple[Design, OneAgainstRest | None] | None = None

    def __call__(self, design: Design, feature: int) -> Draws:
        place = design.places[feature]
        if place.stop - place.start == design.X.shape[1]:
            return PermutedValues(design, feature)
        if self.model is None:
            others = np.delete(np.arange(design.X.shape[1]), place)
            strata = _strata(others, design, most=self.n_test // _ROWS_PER_STRATUM)
            if strata is not None:
                return StratifiedValues(design, feature, strata)
        rest = self._rest_of(design, place) if self.model is None else None
        if rest is not None and place.stop - place.start > 1:
            return JointResidualValues(design, feature, rest)
        return ConditionalValues(design, feature, self.model, self.impute, self._curves, rest)

    def _rest_of(self, design: Design, place: slice) -> OneAgainstRest | None:
        """Return the regressions of all columns of a design, where there are many: on lines or curves.

        Columns of few values are drawn by classifiers where there are rows enough.
        """
        n_rows, n_columns = design.X.shape
        if (n_columns - 1) * ROWS_PER_COEFFICIENT <= n_rows and (
            n_columns < _MANY_COLUMNS or design.categorical_mask[place].any()
        ):
            return None
        if self._last is None or self._last[0] is not design:
            is_plain = not (sp.issparse(design.X) or design.n_levels.any() or np.isnan(design.X).any())
            is_near = is_plain and np.abs(design.X).max(initial=0.0) < _FAR
            self._last = design, OneAgainstRest(design.X.astype(np.float64)) if is_near else None
        return self._last[1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what another process can compute again."""
        return {**self.__dict__, "_last": None}


class SharedKnockoff:
    """Makes the draws of a question once for all models of a panel, which have the same columns.

    Parameters
    ----------
    knockoff : Knockoff
        Makes the draws.
    """

    # The models of a panel read the draws that they share.
    is_permutation = False

    def __init__(self, knockoff: Knockoff) -> None:
        self._knockoff = knockoff
        self._made: dict[tuple[bytes, int, int], Draws] = {}
        self._n_numbers = 0

    def __call__(self, design: Design, feature: int) -> Draws:
        if sp.issparse(design.X):
            return self._knockoff(design, feature)
        place = design.places[feature]
        # By content: trees may see columns in other units.
        content = blake2b(np.ascontiguousarray(design.X).tobytes(), digest_size=16).digest()
        key = content, place.start, place.stop
        if key not in self._made:
            self._n_numbers += design.X.size
            if self._n_numbers > _MAX_REMEMBERED:
                self._made, self._n_numbers = {}, design.X.size
            self._made[key] = self._knockoff(design, feature)
        return self._made[key]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the draws, which another process makes again."""
        return {"_knockoff": self._knockoff, "_made": {}, "_n_numbers": 0}


def _strata(columns: NDArray[np.intp], design: Design, most: int) -> NDArray[np.intp] | None:
    """Return the stratum of each row by its values in some columns; None if there are more than `most` strata.

    None too where a column is not categorical.
    """
    strata, n_strata = np.zeros(design.X.shape[0], dtype=np.intp), 1
    for column in columns:
        if not design.categorical_mask[column]:
            return None
        values, codes = np.unique(dense(design.X[:, [column]]).ravel(), return_inverse=True)
        both = [(strata, n_strata), (codes.ravel(), values.size)]
        strata, n_strata = number_combinations(both, strata.size, at_most=n_strata)
        if n_strata > most:
            return None
    return strata


def choose_knockoff(name: str, model: Any, n_test: int, impute: Impute = None) -> Knockoff:
    """Return the knockoff for the parameter value `name`, for test parts of about `n_test` rows."""
    return PermutationKnockoff() if name == "permutation" else ConditionalKnockoff(model, n_test, impute)
