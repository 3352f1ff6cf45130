"""Rearranged columns on the device: rows are shuffled, and columns that do not stand out are dropped, there."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.cuda.device import Device, DeviceArray, on_device
from ppfs._engine.inputs.permutations import random_permutations
from ppfs._engine.jit.kernels import Float64s, Int64s


class StandingOut(NamedTuple):
    """Rearranged columns that stand out.

    Attributes
    ----------
    owners : ndarray of int, shape (n_copies,)
        The column of which each is a rearrangement.
    X : array of shape (n_rows, n_copies)
        In the device's memory.
    may_be_bounded : ndarray of int
        Positions of copies whose p-value may have a tiny bound.
    sources : ndarray of int, shape (n_bounded, n_rows)
        The rows that the values of these come from.
    """

    owners: npt.NDArray[np.intp]
    X: DeviceArray
    may_be_bounded: npt.NDArray[np.intp]
    sources: Int64s


class DeviceDraws(NamedTuple):
    """Columns, and what their rearrangements are compared with, in the device's memory.

    Attributes
    ----------
    columns : array of shape (n_columns, n_rows)
    kept : tuple of arrays
        What the kernels' record `Screened` points to.
    record : array, int64
    """

    device: Device
    columns: DeviceArray
    kept: tuple[DeviceArray, ...]
    record: DeviceArray

    @classmethod
    def of(
        cls,
        device: Device,
        columns: npt.NDArray[np.generic],
        directions: Float64s,
        starts: npt.NDArray[np.intp],
        bounds: Float64s,
        outputs: Float64s,
        members: Float64s,
        least: Float64s,
    ) -> "DeviceDraws":
        """Upload columns, given as rows.

        Parameters
        ----------
        directions, starts, bounds, outputs
            See `Screening`.
        members : ndarray of shape (n_contrasts, n_rows)
            1 for the rows of a contrast; see `TailBound`.
        least : ndarray of shape (n_contrasts,)
            The squared sums of a direction over these rows from which a p-value may have a tiny bound.
        """
        kept = (
            on_device(device, directions, np.float64),
            on_device(device, [*starts, len(directions)], np.int64),
            on_device(device, bounds, np.float64),
            on_device(device, outputs, np.float64),
            on_device(device, members, np.float64),
            on_device(device, least, np.float64),
        )
        numbers = columns.shape[1], len(outputs), len(members)
        record = on_device(device, [*map(device.address, kept), *numbers], np.int64)
        return cls(device, on_device(device, columns, columns.dtype), kept, record)

    def standing_out(self, seeds: npt.NDArray[np.uint64], n_per_seed: int) -> StandingOut:
        """Make draws, and return the rearranged columns that stand out, in the order of columns and draws.

        Parameters
        ----------
        seeds : ndarray of shape (n_seeds,)
            As those of `random_permutations`; each makes `n_per_seed` draws.
        """
        device, xp = self.device, self.device.xp
        n_columns, n_rows = self.columns.shape
        n_draws = len(seeds) * n_per_seed
        orders = xp.empty((n_rows, n_draws), dtype=np.int32)
        flags = xp.empty((n_columns, n_draws), dtype=np.uint8)
        own = on_device(device, seeds, np.uint64)
        device.launch_over(
            "draw_orders", n_draws, (own, np.int64(n_per_seed), np.int32(n_rows), np.int64(n_draws), orders)
        )
        sizes = np.int64(n_draws), np.int64(n_columns)
        device.launch_over("screen_draws", flags.size, (self.record, orders, *sizes, flags))
        # The flags are few bytes; CuPy's functions would be compiled by every thread that calls them first.
        found = device.to_host(flags)
        owners, draws = np.nonzero(found)
        may_be_bounded = np.flatnonzero(found[owners, draws] > 1)
        X = xp.empty((n_rows, owners.size), dtype=self.columns.dtype)
        places = on_device(device, np.stack([owners, draws]), np.int32)
        kind = "floats" if X.dtype == np.float32 else "doubles"
        arguments = (
            self.columns,
            orders,
            places,
            np.int32(n_rows),
            np.int64(n_draws),
            np.int64(owners.size),
            X,
        )
        device.launch_over(f"gather_{kind}", X.size, arguments)
        sources = [
            random_permutations(n_rows, int(seeds[draw // n_per_seed]), n_per_seed)[draw % n_per_seed]
            for draw in draws[may_be_bounded].tolist()
        ]
        return StandingOut(owners, X, may_be_bounded, np.array(sources, dtype=np.int64).reshape(-1, n_rows))
