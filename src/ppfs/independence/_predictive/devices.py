"""Where the growth phase runs: on the CPU, or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppfs import _engine
from ppfs._data import Table
from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.risks.cuda_panel import panel_grower, refusal_of_panel
from ppfs.independence._predictive.risks.cuda_trees import SERVED, cuda_grower, refusal_on_cuda
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.source import RiskSource

# With less work than this, the numbers of the table times the splits, "auto" takes the CPU, which is done before a GPU
# has its kernels loaded. See docs/gpu.md.
_ENOUGH_WORK = 10**8


@dataclass(frozen=True)
class DeviceChoice:
    """What grows the models of single columns, and why.

    Attributes
    ----------
    note : str
        A sentence for the trace; empty for ``device="cpu"``.
    """

    is_cuda: bool
    note: str

    def grower(self, source: RiskSource) -> Grower:
        """Return what grows the models of a source on this device."""
        grower = source.grower()
        if not self.is_cuda:
            return grower
        return panel_grower(grower) or cuda_grower(grower)


def choose_device(
    device: str, sources: Sequence[RiskSource], table: Table, *, counts_draws: bool = False
) -> DeviceChoice:
    """Return where the models of some sources are grown.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"}

    sources : sequence of RiskSource
        The models that answer questions given nothing.

    counts_draws : bool, default=False
        Whether the test counts draws, and needs the risk of each.

    Raises
    ------
    InvalidInputError
        If ``device="cuda"`` cannot be had.
    """
    if device == "cpu":
        return DeviceChoice(False, "")
    missing = _engine.missing_for_cuda()
    if device == "cuda" and missing is not None:
        raise InvalidInputError(
            f"device='cuda' needs an NVIDIA GPU and CuPy, but {missing}. Use device='cpu', or device='auto', which "
            "takes a GPU where there is one."
        )
    refusal = missing or _refusal(sources, table, counts_draws)
    if device == "cuda" and refusal is not None:
        raise InvalidInputError(
            f"device='cuda' grows {SERVED}, but {refusal}. Use device='cpu', or device='auto', which takes the GPU "
            "where it can; growth_estimator=DecisionTreeClassifier() is another model for the growth phase alone."
        )
    if device == "auto":
        refusal = refusal or _refusal_of_size(sources, table)
    if refusal is not None:
        return DeviceChoice(False, f"device='auto' took the CPU for growth: {refusal}")
    devices = _engine.cuda_devices()
    several = f"{len(devices)} devices, the first of them " if len(devices) > 1 else ""
    missing_too = "; columns with missing values are fitted by the CPU" if table.has_missing else ""
    return DeviceChoice(True, f"device={device!r}: growth ran on {several}{devices[0].name}{missing_too}")


def _refusal(sources: Sequence[RiskSource], table: Table, counts_draws: bool) -> str | None:
    for source in sources:
        grower = source.grower()
        if panel_grower(grower) is None:
            refusal = refusal_on_cuda(grower, table)
        else:
            refusal = refusal_of_panel(grower, table, counts_draws)
        if refusal is not None:
            return f"the model is {type(source.problem.estimator).__name__}: {refusal}"
    return None


def _refusal_of_size(sources: Sequence[RiskSource], table: Table) -> str | None:
    n_splits = sum(len(source.problem.splits) for source in sources)
    if table.n_rows * table.n_features * n_splits >= _ENOUGH_WORK:
        return None
    return f"{table.n_rows} rows of {table.n_features} columns in {n_splits} splits are too little work for a GPU"
