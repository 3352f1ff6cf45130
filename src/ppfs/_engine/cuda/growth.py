"""Risks of trees on the columns of a matrix, wherever it is: the device's answer in the host's memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ppfs._engine.cuda.columns import refuse_bad, sort_on_device
from ppfs._engine.cuda.device import Device, DeviceArray
from ppfs._engine.cuda.pieces import pieces_on
from ppfs._engine.cuda.tree_risks import device_column_risks
from ppfs._engine.cuda.tree_rows import device_row_losses
from ppfs._engine.cuda.trees import DeviceTrees
from ppfs._engine.jit.kernels import Float64s
from ppfs._engine.trees.row_losses import DrawnRows

# Bytes of losses by row that the device holds at a time.
_BYTES_OF_ROWS = 2**31


def column_risks_on(device: Device, X: Any, draws: Sequence[DeviceTrees]) -> tuple[Float64s, Float64s]:
    """Return the risks of each column, before and after permutations.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns), float32 or float64
        In the memory of the host, or of the device.
    draws : sequence of DeviceTrees
        One for each permutation.

    Returns
    -------
    base, permuted : arrays of shape (n_columns, n_splits)
        ``permuted`` is the mean over the permutations.

    Raises
    ------
    ValueError
        If a number is missing, infinite, or too large for 32 bits.
    """
    is_bad = device.xp.zeros(1, dtype=np.int32)
    parts = list(_risks_of_pieces(device, X, draws, is_bad))
    refuse_bad(is_bad)
    return _joined(device, [part[0] for part in parts]), _joined(device, [part[1] for part in parts])


def rank_sums_on(device: Device, X: Any, draws: Sequence[DeviceTrees]) -> Float64s:
    """Return what a signed-rank test over splits needs of the risks that `column_risks_on` returns.

    Returns
    -------
    array of shape (n_columns, 5)
        The mean difference, NaN where a risk is not finite; -1 where no pair differs, else 1; and the fields of
        `SignedRanks`.
    """
    is_bad = device.xp.zeros(1, dtype=np.int32)
    parts = []
    for base, permuted in _risks_of_pieces(device, X, draws, is_bad):
        n_columns, n_pairs = base.shape
        sums = device.xp.empty((5, n_columns), dtype=np.float64)
        arguments = (base, permuted, np.int32(n_pairs), np.int64(n_columns), sums)
        device.launch_over("rank_sums", n_columns, arguments)
        parts.append(sums)
    refuse_bad(is_bad)
    return np.concatenate([device.to_host(sums).T for sums in parts])


def _risks_of_pieces(
    device: Device, X: Any, draws: Sequence[DeviceTrees], is_bad: DeviceArray
) -> Iterator[tuple[DeviceArray, DeviceArray]]:
    """Yield the risks of some columns after the other, in the device's memory."""
    for piece in pieces_on(device, X):
        columns = sort_on_device(device, piece, is_bad)
        answers = [device_column_risks(columns, trees) for trees in draws]
        permuted = answers[0][1]
        for _, more in answers[1:]:
            permuted += more
        yield answers[0][0], permuted / len(draws) if len(draws) > 1 else permuted


def row_losses_on(
    device: Device, X: Any, trees: DeviceTrees, drawn: DrawnRows
) -> tuple[Float64s, Float64s, Float64s]:
    """Return the losses of the tested rows, before and after permutations, and the totals of the draws.

    Returns
    -------
    base, replaced : arrays of shape (n_columns, n_tested)
    by_draw : array of shape (n_columns, n_draws)
    """
    is_bad = device.xp.zeros(1, dtype=np.int32)
    n_rows = X.shape[0]
    n_numbers = trees.cells_per_thread(1) * trees.n_splits + n_rows * (trees.n_outputs + 2)
    n_bytes = max(1, _BYTES_OF_ROWS // (8 * n_numbers)) * n_rows * X.itemsize
    parts = []
    for piece in pieces_on(device, X, min(n_bytes, 2**26)):
        found = device_row_losses(sort_on_device(device, piece, is_bad), trees, drawn)
        parts.append([device.to_host(array) for array in found])
    refuse_bad(is_bad)
    base, replaced, by_draw = (np.concatenate(some) for some in zip(*parts, strict=True))
    return base, replaced, by_draw


def _joined(device: Device, parts: list[DeviceArray]) -> Float64s:
    """Copy the rows of several arrays to one of the host."""
    joined = np.empty((sum(len(part) for part in parts), *parts[0].shape[1:]))
    start = 0
    for part in parts:
        device.copy_to(part, joined[start : start + len(part)])
        start += len(part)
    return joined
