"""Trees and forests on single columns, grown on a GPU."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ppfs import _engine
from ppfs._data import Block, Table
from ppfs.independence._predictive.risks.column_trees import ColumnTreeGrower
from ppfs.independence._predictive.risks.engine import EngineGrower
from ppfs.independence._predictive.risks.forests import ForestGrower, cuts_at_random, forest_rules
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.trees import TreeGrower

if TYPE_CHECKING:
    _Twin = EngineGrower
else:
    _Twin = object

#: The models whose growth has kernels, for messages.
SERVED = "decision trees, random forests and bags of trees, lines, splines, boosted trees, on dense columns"


class _OnCuda(_Twin):
    """Grows models on each column of a block on a GPU, with the answers of the engine's own grower."""

    bytes_per_block = 2**28
    takes_views = True
    is_on_device = True

    def is_worth_threads(self, n_columns: int) -> bool:
        """Return True: each thread may use another GPU."""
        return True

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        X = block.X if block.on_device is None else block.on_device
        unused = np.zeros(block.n_columns, dtype=bool)
        with _engine.device_in_turn(X) as device:
            trees = self._trees[device.number]
            if self.problem.is_ranked:
                return PairedRisks.summed_up(_engine.rank_sums_on(device, X, trees))
            if not self.problem.is_by_row:
                base, replaced = _engine.column_risks_on(device, X, trees)
                return PairedRisks(base, replaced, unused)
            base, replaced, totals = _engine.row_losses_on(device, X, trees[0], self._draws)
        return PairedRisks(base, replaced, unused, totals / base.shape[1])

    def prepare(self) -> None:
        """Convert the problem to arrays in the memory of the GPUs."""
        super().prepare()
        _ = self._trees

    @cached_property
    def _trees(self) -> dict[int, list[_engine.DeviceTrees]]:
        """What all columns share, by the number of the GPU."""
        upload = _engine.DeviceTrees.of_forest if isinstance(self, ForestGrower) else _engine.DeviceTrees.of
        trees = {}
        for device in _engine.cuda_devices():
            with device.current():
                trees[device.number] = [upload(device, prepared) for prepared in self._prepared]
        return trees


class CudaTreeGrower(_OnCuda, TreeGrower):
    """Grows a tree on each column of a block, in every split, on a GPU."""


class CudaForestGrower(_OnCuda, ForestGrower):
    """Grows a forest on each column of a block, in every split, on a GPU."""


def cuda_grower(grower: Grower) -> Grower:
    """Return what grows the same models on a GPU; see `refusal_on_cuda`."""
    if isinstance(grower, TreeGrower):
        return CudaTreeGrower(grower.problem, grower.rules)
    assert isinstance(grower, ForestGrower)
    return CudaForestGrower(grower.problem)


def refusal_on_cuda(grower: Grower, table: Table) -> str | None:
    """Return why these models cannot be grown on a GPU, or None if they can."""
    weighted = "there are no kernels for trees of rows with weights, or of columns with missing values"
    if isinstance(grower, ColumnTreeGrower):
        return weighted
    if not isinstance(grower, TreeGrower | ForestGrower):
        return f"there are kernels for {SERVED} only"
    if grower.problem.weights.fit is not None:
        return weighted
    if table.is_sparse:
        return "there are kernels for dense columns only"
    problem = grower.problem
    if cuts_at_random(problem.estimator):
        return "there are no kernels for random cuts"
    rules = grower.rules if isinstance(grower, TreeGrower) else forest_rules(problem)
    if rules.criterion in ("entropy", "log_loss") and not _engine.is_exhaustive(rules.limits(table.n_rows)):
        # The logarithm of a GPU differs in its last bit, which may decide between two cuts.
        return f"limited trees have no kernel for criterion={rules.criterion!r}"
    return None
