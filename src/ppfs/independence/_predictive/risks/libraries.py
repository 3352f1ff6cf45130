"""Risks of LightGBM, XGBoost and CatBoost, fitted by their own libraries with settings for many small fits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ppfs._data import Table
from ppfs._fitting import (
    Design,
    FittedLightGBM,
    LightGBMRecipe,
    has_library_model,
    is_plain_lightgbm,
    with_one_thread,
)
from ppfs._rows import Split
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ModelGrower, ModelRisks
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.source import OTHER_KIND

# Fits of designs with at most this many values use one thread, unless the caller set the number.
_FEW_VALUES = 2**20


@dataclass(frozen=True)
class LibraryProblem(Problem):
    """A problem whose models use one thread each, so that fits run in parallel."""

    prefers = "threads"

    @classmethod
    def of(cls, problem: Problem) -> LibraryProblem:
        """Return the same problem for a model of one of the libraries."""
        return cls(**{field.name: getattr(problem, field.name) for field in fields(Problem)})

    @cached_property
    def _with_one_thread(self) -> Problem:
        parts = {field.name: getattr(self, field.name) for field in fields(Problem)}
        return Problem(**parts | {"estimator": with_one_thread(self.estimator)})

    def fit(self, design: Design, split: Split) -> Any:
        """Fit a clone on the split's train part; see `Problem.fit`."""
        if design.X.shape[0] * design.X.shape[1] > _FEW_VALUES:
            return super().fit(design, split)
        if not self._is_direct or design.n_levels.any():
            return self._with_one_thread.fit(design, split)
        labels = self.y[split.train]
        if labels.size < 2 or (self.classes.size and (labels == labels[0]).all()):
            return self._with_one_thread.fit(design, split)
        if self._recipe.is_constant(labels.size):
            return self._constants[split.seed]
        weights = self.weights.fit_of(split.train)
        return self._recipe.fit(
            design.X[split.train], labels, weights, is_classifier=self.classes.size > 0, seed=split.seed
        )

    @cached_property
    def _recipe(self) -> LightGBMRecipe:
        return LightGBMRecipe.of(self._with_one_thread.estimator)

    @cached_property
    def _constants(self) -> dict[int, FittedLightGBM]:
        """The models of splits with too few train rows for any tree, by the seed of the split."""
        return {
            split.seed: self._recipe.fit_constant(
                self.y[split.train],
                self.weights.fit_of(split.train),
                is_classifier=self.classes.size > 0,
                seed=split.seed,
            )
            for split in self.splits
            if self._recipe.is_constant(split.train.size)
        }

    @cached_property
    def _is_direct(self) -> bool:
        """Whether LightGBM is fitted without its scikit-learn interface."""
        is_plain = self.impute is None and self.frame is None and self.y.ndim == 1
        return is_plain and is_plain_lightgbm(self._with_one_thread.estimator)


class LibraryRisks(ModelRisks):
    """`ModelRisks` of models with a compiled library of their own."""

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str = "") -> None:
        super().__init__(table, LibraryProblem.of(problem), n_jobs, reason)

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return `OTHER_KIND` for models without a library of their own."""
        return None if has_library_model(problem.estimator) else OTHER_KIND

    def _note(self, name: str, reason: str) -> str:
        return (
            f"{name} is fitted by its own library, with one thread per fit unless n_jobs is set or there are many "
            "values"
        )

    def grower(self) -> Grower:
        """Return what fits models of single columns, several columns per task."""
        return LibraryGrower(self.problem)


@dataclass(frozen=True)
class LibraryGrower(ModelGrower):
    """Fits models of single columns on threads: the libraries release the GIL."""

    # A fit takes a few milliseconds, and a task should take longer than its overhead.
    bytes_per_block = 2**14
    prefers = "threads"
