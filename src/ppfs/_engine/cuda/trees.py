"""What trees on single columns share on the device: the problem, uploaded once, and the memory of threads."""

from typing import Any, NamedTuple

import numpy as np

from ppfs._engine.cuda.columns import DeviceColumns
from ppfs._engine.cuda.device import Device, DeviceArray, on_device
from ppfs._engine.one_column.forest_risks import PreparedForest
from ppfs._engine.one_column.neighbor_inputs import Neighbors, make_known_losses
from ppfs._engine.one_column.prepared_columns import PreparedColumns

# The kernels' record `Trees`: its fields in their order, all of them integers of 64 bits.
_FIELDS = (
    "values",
    "rows",
    "ties",
    "roles",
    "classes",
    "numbers",
    "class_weights",
    "right",
    "wrong",
    "tabled",
    "total_weights",
    "limits",
    "counts",
    "memory",
    "n_threads",
    "n_rows",
    "n_splits",
    "n_classes",
    "n_tabled",
    "loss",
    "n_trees",
    "is_counted",
)


class DeviceTrees(NamedTuple):
    """A `PreparedColumns` in the device's memory.

    Attributes
    ----------
    arrays : dict of str to array
        By the name of the field that holds their address.
    neighbors : tuple of arrays, or None
        What kernels read of `Neighbors`: train, test and receiver sets, and the number of test rows.
    max_nodes : int
        How many nodes may wait to be split.
    n_sums : int
        The number of predictions that each thread sums up over the trees of a forest; 0 for single trees.
    """

    device: Device
    arrays: dict[str, DeviceArray]
    scalars: dict[str, int]
    neighbors: tuple[DeviceArray, ...] | None
    max_nodes: int
    n_sums: int = 0

    @classmethod
    def of(cls, device: Device, prepared: PreparedColumns) -> "DeviceTrees":
        """Upload what all columns share."""
        target, scoring, plan, limits = prepared[:4]
        n_classes = plan.train_stats.shape[1] if target.classes.size else 0
        known = make_known_losses(scoring, n_classes)
        uploads: dict[str, tuple[Any, Any]] = {
            "roles": (plan.receivers.T, np.int32),
            "classes": (target.classes, np.int32),
            "numbers": (target.values, np.float64),
            "right": (known.right, np.float64),
            "wrong": (known.wrong, np.float64),
            "tabled": (known.tabled, np.float64),
            "total_weights": (prepared.total_weights, np.float64),
        }
        if scoring.class_weights is not None:
            uploads["class_weights"] = scoring.class_weights, np.float64
        if limits is not None:
            uploads["limits"] = limits, np.int64
        arrays = {name: on_device(device, array, dtype) for name, (array, dtype) in uploads.items()}
        n_splits, n_rows = plan.receivers.shape
        scalars = {
            "n_rows": n_rows,
            "n_splits": n_splits,
            "n_classes": n_classes,
            "n_tabled": known.tabled.shape[0],
            "loss": int(scoring.loss),
            "is_counted": int(prepared.neighbors is not None and n_classes > 0),
        }
        max_nodes = 0 if limits is None else int(min(limits[:, 1].max(), n_rows)) + 2
        return cls(device, arrays, scalars, _uploaded(device, prepared.neighbors, n_classes), max_nodes)

    @classmethod
    def of_forest(cls, device: Device, prepared: PreparedForest) -> "DeviceTrees":
        """Upload what all columns share, and how often each tree draws each row."""
        trees = cls.of(device, prepared.shared)
        n_trees = prepared.bags.n_trees
        counts = np.moveaxis(prepared.bags.counts[:, :, :n_trees], 0, 2).transpose(1, 0, 2)
        arrays = {**trees.arrays, "counts": on_device(device, counts, np.uint8)}
        scalars = {**trees.scalars, "n_trees": n_trees, "is_counted": 0}
        n_sums = int(prepared.shared.plan.n_test.max()) * trees.n_outputs
        return trees._replace(arrays=arrays, scalars=scalars, neighbors=None, n_sums=n_sums)

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return self.scalars["n_splits"]

    @property
    def kind(self) -> str:
        """Which kernels grow these trees."""
        return f"{'limited' if 'limits' in self.arrays else 'full'}_{'forest' if self.n_sums else 'tree'}"

    @property
    def n_outputs(self) -> int:
        """Numbers that a leaf predicts: the loss of each class, or one number."""
        return max(1, self.scalars["n_classes"])

    def cells_per_thread(self, n_own: int) -> int:
        """Return how many numbers a thread needs, beside `n_own` ones per class."""
        n_classes = self.scalars["n_classes"]
        n_stats = n_classes or 2
        n_of_nodes = 4 * n_stats + 4 * self.max_nodes if self.max_nodes else n_stats
        return n_own * n_classes + n_of_nodes + self.n_sums

    def record(self, columns: DeviceColumns, ties: DeviceArray, memory: DeviceArray | None) -> DeviceArray:
        """Write the kernels' record of some columns to the device."""
        own = {"values": columns.values, "rows": columns.rows, "ties": ties}
        arrays = {**self.arrays, **own}
        scalars = dict(self.scalars)
        if memory is not None:
            arrays["memory"], scalars["n_threads"] = memory, memory.shape[1]
        fields = [
            self.device.address(arrays[name]) if name in arrays else scalars.get(name, 0) for name in _FIELDS
        ]
        return self.device.xp.asarray(np.array(fields, dtype=np.int64))


def _uploaded(device: Device, neighbors: Neighbors | None, n_classes: int) -> tuple[DeviceArray, ...] | None:
    if neighbors is None or not n_classes:
        return None
    sets = neighbors.split_sets
    n_tested = sets.tested.sum(axis=1)
    return (
        on_device(device, sets.train, np.uint64),
        on_device(device, sets.test, np.uint64),
        on_device(device, sets.receiver_sets, np.uint64),
        on_device(device, n_tested, np.float64),
    )
