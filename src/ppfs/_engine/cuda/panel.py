"""Lines, splines and boosted trees of single columns on the device: their predictions, and what tests need of these."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.boosting.problem import BoostingProblem
from ppfs._engine.boosting.rules import Kind
from ppfs._engine.cuda.device import Device, DeviceArray, on_device
from ppfs._engine.jit.kernels import Float64s
from ppfs._engine.trees.rules import LOSSES

# Bytes of memory that the threads of one launch may take, as a share of the device's.
_SHARE_OF_MEMORY = 1 / 64

# Columns of at most this many rows are ordered in shared memory, one per block.
_MOST_SHARED_KEYS = 2**14
_BYTES_PER_KEY = 12
_MOST_THREADS = 512

# Threads of a block that fits models: each of them needs many registers.
_THREADS = 128

# A boosted model of one thread has these vectors over the bins, and nodes of this many numbers.
_VECTORS_OF_BINS = 4
_NODE_FIELDS = 12

# The regressors of a column, with the intercept.
_REGRESSORS = {"line": 2, "spline": 8}

# Newton's method ends when a step would raise the mean log-likelihood by less than this; see the CPU's twins.
_TOLERANCE = 1e-14
_TOLERANCE_OF_STARTS = 1e-12


class DevicePanel(NamedTuple):
    """What all columns share, in the device's memory: the rows of the splits, labels, draws, and the loss.

    Attributes
    ----------
    slots : array of shape (n_splits, n_rows), int32
        The place of a row among all that are tested, or that it is in the train part.
    labels : array of shape (n_rows,), float64
        Numbers of classes, or numbers.
    pairs : array, int64
        The kernels' record `Pairs`, without `is_rest`.
    kept : tuple of arrays
        What the record points to.
    n_pairs : int
        Rows that are tested, or splits.
    weights : array of shape (n_rows,), float64, or None
        Weights of the rows in the fit.
    n_train : float
        The rows, or their weight, of the smallest train part.
    n_classes : int
        0 for numbers.
    """

    device: Device
    slots: DeviceArray
    labels: DeviceArray
    weights: DeviceArray | None
    pairs: tuple[int, ...]
    kept: tuple[DeviceArray, ...]
    n_tested: int
    n_pairs: int
    n_train: float
    n_classes: int

    @classmethod
    def of(
        cls,
        device: Device,
        labels: npt.ArrayLike,
        train: Sequence[npt.NDArray[np.int64]],
        test: Sequence[npt.NDArray[np.int64]],
        draws: Sequence[npt.NDArray[np.int64]],
        loss: str,
        *,
        n_classes: int,
        is_by_row: bool,
        weights: npt.ArrayLike | None = None,
        fit_weights: npt.ArrayLike | None = None,
    ) -> "DevicePanel":
        """Upload a problem.

        Parameters
        ----------
        labels : array of shape (n_rows,)
            Numbers of classes from 0, or numbers.
        draws : sequence of arrays of shape (n_draws, n_test)
            For each split, the positions in its test part from which permuted copies take their values.
        weights, fit_weights : arrays of shape (n_rows,), default=None
            Factors of the losses, and of the rows in the fit.
        """
        own = np.asarray(labels, dtype=np.float64)
        by_row = np.ones(own.size) if weights is None else np.asarray(weights, dtype=np.float64)
        ends = np.cumsum([0, *(rows.size for rows in test)])
        slots = np.full((len(train), own.size), -2, dtype=np.int32)
        for split, (learnt, tested) in enumerate(zip(train, test, strict=True)):
            slots[split, learnt] = -1
            slots[split, tested] = np.arange(ends[split], ends[split + 1])
        sources = np.concatenate(
            [places + begin for places, begin in zip(draws, ends[:-1], strict=True)], axis=1
        )
        rows = np.concatenate(list(test))
        kept = (
            on_device(device, own[rows], np.float64),
            on_device(device, by_row[rows], np.float64),
            on_device(device, [by_row[tested].sum() for tested in test], np.float64),
            on_device(device, sources, np.int32),
            on_device(device, ends, np.int32),
        )
        numbers = (rows.size, len(sources), len(test), n_classes, int(LOSSES[loss]), int(is_by_row))
        return cls(
            device,
            on_device(device, slots, np.int32),
            on_device(device, own, np.float64),
            None if fit_weights is None else on_device(device, fit_weights, np.float64),
            (*map(device.address, kept), *numbers),
            kept,
            rows.size,
            rows.size if is_by_row else len(test),
            min(
                learnt.size if fit_weights is None else float(np.sum(np.asarray(fit_weights)[learnt]))
                for learnt in train
            ),
            n_classes,
        )

    def record(self, *, is_scaled: bool, is_scaled_by_weight: bool = False) -> DeviceArray:
        """Write the kernels' record `Panel` to the device."""
        n_splits, n_rows = self.slots.shape
        addresses = (self.device.address(self.slots), self.device.address(self.labels))
        weights = 0 if self.weights is None else self.device.address(self.weights)
        scaling = 2 if is_scaled_by_weight else int(is_scaled)
        numbers = (n_rows, n_splits, self.n_tested, self.n_classes, weights, scaling)
        return on_device(self.device, [*addresses, *numbers], np.int64)

    @property
    def n_scores(self) -> int:
        """Outputs of a model: one for numbers and for two classes, else one per class."""
        return self.n_classes if self.n_classes > 2 else 1

    def empty_scores(self, n_columns: int) -> DeviceArray:
        """Allocate the outputs of the tested rows."""
        shape = (
            (self.n_tested, n_columns) if self.n_scores == 1 else (self.n_tested, self.n_scores, n_columns)
        )
        return self.device.xp.empty(shape, dtype=np.float64)

    def paired(self, scores: DeviceArray, *, is_rest: bool) -> "DevicePairs":
        """Return the risks of columns as they are, and permuted.

        Parameters
        ----------
        scores : array of shape (n_tested, n_columns), or (n_tested, n_classes, n_columns) for three and more classes
            Linear outputs: numbers, log-odds of class 1, or scores of all classes, which are overwritten.
        is_rest : bool
            Whether the probability of class 0 is computed as 1 less that of class 1, as boosted trees do.
        """
        xp, n_columns = self.device.xp, scores.shape[-1]
        base = xp.empty((self.n_pairs, n_columns), dtype=np.float64)
        replaced = xp.empty_like(base)
        record = on_device(self.device, [*self.pairs, int(is_rest)], np.int64)
        if self.n_scores > 1:
            size = self.n_tested * n_columns
            self.device.launch_over("losses_by_class", size, (record, np.int64(n_columns), scores))
        self.device.launch_over(
            "pair_risks", base.size, (record, scores, np.int64(n_columns), base, replaced)
        )
        return DevicePairs(self.device, base, replaced)


class DevicePairs(NamedTuple):
    """Risks in the device's memory, each of shape (n_pairs, n_columns)."""

    device: Device
    base: DeviceArray
    replaced: DeviceArray

    def on_host(self) -> tuple[Float64s, Float64s]:
        """Return the risks before and after permutations, each of shape (n_columns, n_pairs)."""
        xp = self.device.xp
        base, replaced = (
            self.device.to_host(xp.ascontiguousarray(risks.T)) for risks in (self.base, self.replaced)
        )
        return base, replaced

    def moments(self) -> Float64s:
        """Return mean, standard deviation and effective number of the differences, shape (3, n_columns).

        The deviation is -1 where no pair differs. The mean is NaN where a risk is not finite.
        """
        n_pairs, n_columns = self.base.shape
        moments = self.device.xp.empty((3, n_columns), dtype=np.float64)
        arguments = (self.base, self.replaced, np.int32(n_pairs), np.int64(n_columns), moments)
        self.device.launch_over("pair_moments", n_columns, arguments)
        answer: Float64s = self.device.to_host(moments)
        return answer


def columns_on(device: Device, X: Any) -> DeviceArray:
    """Return a matrix of floats in the device's memory, row by row."""
    return device.xp.ascontiguousarray(device.xp.asarray(X))


def line_scores(panel: DevicePanel, X: DeviceArray, penalty: float, *, is_scaled: bool) -> DeviceArray:
    """Fit a line per column and split, and return the outputs of the tested rows, shape (n_tested, n_columns).

    Parameters
    ----------
    X : array of shape (n_rows, n_columns), float32 or float64
        In the device's memory, row by row.
    is_scaled : bool
        Whether a StandardScaler is before the model.
    """
    return _linear_scores("line", panel, X, penalty, is_scaled=is_scaled)


def spline_scores(panel: DevicePanel, X: DeviceArray, penalty: float, *, is_scaled: bool) -> DeviceArray:
    """Do what `line_scores` does with a cubic spline per column; NaN where its knots coincide."""
    return _linear_scores("spline", panel, X, penalty, is_scaled=is_scaled)


def _linear_scores(
    kernel: str, panel: DevicePanel, X: DeviceArray, penalty: float, *, is_scaled: bool
) -> DeviceArray:
    device, n_columns, n_splits = panel.device, X.shape[1], len(panel.slots)
    scores = panel.empty_scores(n_columns)
    record = panel.record(is_scaled=is_scaled)
    fit = on_device(device, [penalty, _TOLERANCE * panel.n_train], np.float64)
    if panel.n_scores == 1:
        arguments = (record, X, np.int64(n_columns), fit, scores)
        device.launch_over(f"{kernel}_scores_{_kind(X)}", n_columns * n_splits, arguments, _THREADS)
        return scores
    n_cells = _softmax_cells(panel.n_classes, _REGRESSORS[kernel])
    for start, end, memory in _in_parts(device, n_columns, n_splits, n_cells):
        sizes = (np.int64(n_columns), np.int64(end - start), np.int32(kernel == "spline"))
        own = (record, X[:, start:end], *sizes, fit, memory, scores[..., start:end])
        device.launch_over(f"class_scores_{_kind(X)}", (end - start) * n_splits, own, _THREADS)
    return scores


def _softmax_cells(n_classes: int, n_regressors: int) -> int:
    """Return how many numbers a thread needs to fit a model of three and more classes: see the kernels' `Softmax`."""
    n_scores = n_classes - 1
    size = n_scores * n_regressors
    return 4 * size + n_scores + size * size


def _in_parts(
    device: Device, n_columns: int, n_splits: int, n_cells: int
) -> Iterator[tuple[int, int, DeviceArray]]:
    """Yield the bounds of some columns, with memory of `n_cells` numbers for each of their models."""
    at_once = max(1, int(device.memory * _SHARE_OF_MEMORY) // (8 * n_cells * n_splits))
    for start in range(0, n_columns, at_once):
        end = min(start + at_once, n_columns)
        yield start, end, device.xp.empty(n_cells * (end - start) * n_splits, dtype=np.float64)


def boosted_scores(
    panel: DevicePanel, X: DeviceArray, problem: BoostingProblem, alpha: float | None
) -> DeviceArray:
    """Boost trees per column and split, and return the outputs of the tested rows, shape (n_tested, n_columns).

    Parameters
    ----------
    X : array of shape (n_rows, n_columns), float32 or float64
        In the device's memory, row by row.
    alpha : float or None
        The penalty of the line that the first round starts from; None starts from the baseline of the labels.
    """
    device = panel.device
    n_rows, n_columns = X.shape
    n_splits, n_trees = len(panel.slots), panel.n_scores
    limits = problem.rules.limits
    rules = [float(number) for number in limits[:-1]] + [float(alpha is not None)]
    most_leaves = problem.rules.most_leaves(n_rows)
    record = panel.record(is_scaled=alpha is not None, is_scaled_by_weight=alpha is not None)
    shared = (
        on_device(device, rules, np.float64),
        on_device(device, [alpha or 0.0, _TOLERANCE_OF_STARTS * panel.n_train], np.float64),
        on_device(device, problem.baseline, np.float64),
    )
    n_vectors = n_trees + 1 + int(n_trees > 1) + int(panel.weights is not None)
    n_cells = n_vectors * n_rows + (_VECTORS_OF_BINS + n_trees) * (limits.max_bins + 2)
    n_cells += (2 * most_leaves + 1) * _NODE_FIELDS + most_leaves + 1 + 2 * n_trees
    n_cells += _softmax_cells(n_trees, _REGRESSORS["line"])
    order = _ordered(device, X)
    scores = panel.empty_scores(n_columns)
    for start, end, memory in _in_parts(device, n_columns, n_splits, n_cells):
        device.launch_over(
            f"boosted_scores_{_kind(X)}",
            (end - start) * n_splits,
            (
                record,
                X[:, start:end],
                np.int64(n_columns),
                np.int64(end - start),
                order[:, start:end],
                *shared,
                memory,
                np.int64(most_leaves),
                scores[..., start:end],
            ),
            _THREADS,
        )
    return scores


def is_boosted_on_device(problem: BoostingProblem) -> bool:
    """Return whether every train part has all classes, or numbers, and bins count rows."""
    if problem.bin_weights is not None:
        return False
    parts, n_classes = problem.train_parts, problem.test_parts.places.shape[1]
    if not n_classes:
        return bool((parts.kinds == Kind.NUMBERS).all())
    n_trees = n_classes if n_classes > 2 else 1
    return bool((parts.kinds != Kind.ONE_CLASS).all() and (parts.n_trees == n_trees).all())


def _ordered(device: Device, X: DeviceArray) -> DeviceArray:
    """Return the rows of each column by value, ties by row, shape (n_rows, n_columns)."""
    n_rows, n_columns = X.shape
    n_keys = max(2, 1 << int(n_rows - 1).bit_length())
    if n_keys > min(_MOST_SHARED_KEYS, device.shared_memory // _BYTES_PER_KEY):
        return device.xp.argsort(X, axis=0, kind="stable").astype(np.int32)
    order = device.xp.empty((n_rows, n_columns), dtype=np.int32)
    n_threads = max(32, min(_MOST_THREADS, n_keys // 2))
    arguments = (X, np.int64(n_columns), np.int32(n_rows), np.int32(n_keys), order, np.int64(n_columns))
    device.launch(f"order_{_kind(X)}", n_columns, n_threads, arguments, _BYTES_PER_KEY * n_keys)
    return order


def _kind(X: DeviceArray) -> str:
    return "floats" if X.dtype == np.float32 else "doubles"
