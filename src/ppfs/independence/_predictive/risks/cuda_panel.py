"""Lines, splines and boosted trees of single columns, fitted on a GPU."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import SplineTransformer, StandardScaler

from ppfs import _engine
from ppfs._data import Block, Table
from ppfs._fitting import Medians
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.boosted_linear import BoostedLinearGrower
from ppfs.independence._predictive.risks.boosting import BoostingGrower
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.linear.least_squares import Ridge
from ppfs.independence._predictive.risks.linear.logistic import Logistic
from ppfs.independence._predictive.risks.linear.recipe import Recipe
from ppfs.independence._predictive.risks.linear.single_columns import LinearGrower
from ppfs.independence._predictive.risks.linear.steps import LARGEST_SQUARABLE
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.significance import moments_of, risk_differences

if TYPE_CHECKING:
    _Twin = Grower
else:
    _Twin = object

# The splines that have a kernel: the defaults of scikit-learn.
_SPLINES: dict[str, Any] = {
    "n_knots": 5,
    "degree": 3,
    "knots": "uniform",
    "extrapolation": "constant",
    "include_bias": True,
}


def uploaded(block: Block) -> Block:
    """Return a block whose columns are in the GPU's memory too, where several models read them."""
    if block.on_device is not None or block.n_levels.any():
        return block
    with _engine.device_in_turn() as device:
        return replace(block, on_device=_engine.columns_on(device, block.X), known_facts=block.facts)


class _OnCuda(_Twin):
    """Fits models to each column of a block on a GPU.

    The grower that it extends answers where the kernels cannot: about categories and columns with missing values, and
    where a risk is not finite.
    """

    bytes_per_block = 2**28
    takes_views = True
    is_on_device = True
    problem: Problem

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        is_number = (block.n_levels == 0) & ~block.facts.has_missing
        largest = np.maximum(np.abs(block.facts.low), np.abs(block.facts.high)).astype(np.float64)
        is_here = is_number & (largest <= LARGEST_SQUARABLE)
        if not is_here.all():
            return self._in_two(block, is_here)
        X = block.X if block.on_device is None else block.on_device
        with _engine.device_in_turn(X) as device, device.own_stream():
            pairs = self._pairs(self._panels[device.number], _engine.columns_on(device, X))
            if self._is_summed_up:
                risks = PairedRisks.summed_up(pairs.moments().T, self._coefficients(block.n_columns))
                failed = ~np.isfinite(risks.moments[:, 0])  # type: ignore[index]
            else:
                base, replaced = pairs.on_host()
                unused = np.zeros(block.n_columns, dtype=bool)
                risks = PairedRisks(
                    base, replaced, unused, n_coefficients=self._coefficients(block.n_columns)
                )
                failed = ~(np.isfinite(base).all(axis=1) & np.isfinite(replaced).all(axis=1))
        if not failed.any():
            return risks
        parts = [] if failed.all() else [risks.at_all(np.flatnonzero(~failed))]
        return self._joined_with_twin(parts, block, ~failed)

    def _in_two(self, block: Block, is_here: NDArray[np.bool_]) -> PairedRisks:
        """Answer about some columns here, and leave the others to the CPU."""
        here = np.flatnonzero(is_here)
        return self._joined_with_twin([self.risks(block.take(here))] if here.size else [], block, is_here)

    def _joined_with_twin(
        self, parts: list[PairedRisks], block: Block, is_here: NDArray[np.bool_]
    ) -> PairedRisks:
        """Return the answers about some columns, which are known, and those of the CPU about the others."""
        there = np.flatnonzero(~is_here)
        answers = PairedRisks.joined([*parts, self._of_twin(block.take(there))])
        return answers.at_all(np.argsort(np.concatenate([np.flatnonzero(is_here), there])))

    def _of_twin(self, block: Block) -> PairedRisks:
        # What the GPU has made is copied from there.
        X = block.X.get() if hasattr(block.X, "get") else block.X
        own = Block(X, block.n_levels, block.names)
        risks = super().risks(own)  # type: ignore[safe-super]
        if not self._is_summed_up:
            return replace(risks, by_draw=None)
        with np.errstate(invalid="ignore"):
            moments = moments_of(risk_differences(risks.base, risks.replaced))
        return PairedRisks.summed_up(moments, risks.n_coefficients)

    @property
    def _is_summed_up(self) -> bool:
        """Whether a test needs no more of the differences than their moments: those of independent rows."""
        return self.problem.is_by_row and self.problem.groups is None

    def prepare(self) -> None:
        """Convert the problem to arrays in the memory of the GPUs."""
        super().prepare()
        _ = self._panels

    @cached_property
    def _panels(self) -> dict[int, _engine.DevicePanel]:
        """What all columns share, by the number of the GPU."""
        panels = {}
        for device in _engine.cuda_devices():
            with device.current():
                panels[device.number] = self._panel_on(device)
        return panels

    def _panel_on(self, device: _engine.Device) -> _engine.DevicePanel:
        problem = self.problem
        return _engine.DevicePanel.of(
            device,
            problem.truth,
            [split.train for split in problem.splits],
            [split.test for split in problem.splits],
            [split.permutations for split in problem.splits],
            problem.loss.name,
            n_classes=int(problem.classes.size),
            is_by_row=problem.is_by_row,
            weights=problem.weights.loss,
            fit_weights=problem.weights.fit,
        )

    @abstractmethod
    def _pairs(self, panel: _engine.DevicePanel, X: Any) -> _engine.DevicePairs:
        """Return the risks of columns in the GPU's memory."""

    def _coefficients(self, n_columns: int) -> NDArray[Any] | None:
        """Return the number of coefficients of each column, if it is known."""
        return None


class CudaLinearGrower(_OnCuda, LinearGrower):
    """Fits a line or a spline to each column of a block, in every split, on a GPU."""

    bytes_per_block = _OnCuda.bytes_per_block

    def _pairs(self, panel: _engine.DevicePanel, X: Any) -> _engine.DevicePairs:
        steps = self.recipe.steps
        scaler = next((step for step in steps if isinstance(step, StandardScaler)), None)
        has_splines = any(isinstance(step, SplineTransformer) for step in steps)
        fit = _engine.spline_scores if has_splines else _engine.line_scores
        scores = fit(
            panel,
            X,
            self.recipe.solver.penalty,  # type: ignore[attr-defined]
            is_scaled=scaler is not None,
        )
        return panel.paired(scores, is_rest=False)

    def _coefficients(self, n_columns: int) -> NDArray[Any] | None:
        n_scores = max(1, self.problem.classes.size - 1)
        return np.full(n_columns, n_scores * self.recipe.n_coefficients, dtype=np.intp)


class CudaBoostingGrower(_OnCuda, BoostingGrower):
    """Boosts trees on each column of a block, in every split, on a GPU."""

    def _pairs(self, panel: _engine.DevicePanel, X: Any) -> _engine.DevicePairs:
        return panel.paired(_engine.boosted_scores(panel, X, self.prepared, None), is_rest=True)


class CudaBoostedLinearGrower(_OnCuda, BoostedLinearGrower):
    """Fits a line to each column of a block and boosts trees on the residuals, on a GPU."""

    def _pairs(self, panel: _engine.DevicePanel, X: Any) -> _engine.DevicePairs:
        alpha = self.problem.estimator.alpha
        return panel.paired(_engine.boosted_scores(panel, X, self.prepared, alpha), is_rest=True)


def panel_grower(grower: Grower) -> Grower | None:
    """Return what fits the same models on a GPU, or None for other models; see `refusal_of_panel`."""
    if type(grower) is LinearGrower:
        return CudaLinearGrower(grower.problem, grower.recipe)
    if type(grower) is BoostedLinearGrower:
        return CudaBoostedLinearGrower(grower.problem, grower.is_mixed)
    return CudaBoostingGrower(grower.problem) if type(grower) is BoostingGrower else None


def refusal_of_panel(grower: Grower, table: Table, counts_draws: bool) -> str | None:
    """Return why these models cannot be fitted on a GPU, or None if they can."""
    assert isinstance(grower, LinearGrower | BoostingGrower)
    problem = grower.problem
    if table.is_sparse:
        return "there are kernels for dense columns only"
    if counts_draws:
        return "there are no kernels that count draws"
    if problem.y.ndim > 1:
        return "there are kernels for one output only"
    if any(np.unique(problem.truth[split.train]).size < problem.classes.size for split in problem.splits):
        return "a train part lacks a class"
    if problem.loss.name not in _engine.LOSSES:
        return f"there is no kernel for loss={problem.loss.name!r}"
    if isinstance(grower, LinearGrower):
        return _refusal_of_recipe(grower.recipe)
    return (
        None if _engine.is_boosted_on_device(grower.prepared) else "there are no kernels for bins by weight"
    )


def _refusal_of_recipe(recipe: Recipe) -> str | None:
    solver, steps = recipe.solver, list(recipe.steps)
    if not isinstance(solver, Logistic | Ridge) or getattr(solver, "class_weight", None) is not None:
        return f"there is no kernel for {type(solver).__name__} with these parameters"
    if not (solver.has_intercept and solver.penalty > 0.0):
        return "there are kernels for models with an intercept and a penalty only"
    if steps and isinstance(steps[0], Medians):
        steps.pop(0)  # They fill missing values, and columns without any stay as they are.
    if steps and isinstance(steps[0], StandardScaler):
        scaler = steps.pop(0)
        if not (scaler.with_mean and scaler.with_std):
            return f"there is no kernel for {scaler!r}"
    if steps and isinstance(steps[0], SplineTransformer):
        step = steps.pop(0)
        if any(getattr(step, name) != value for name, value in _SPLINES.items()):
            return f"there is a kernel for splines with {_SPLINES} only"
    if steps:
        return f"there is no kernel for {type(steps[0]).__name__}"
    return None
