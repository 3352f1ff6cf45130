"""What all boosted models of one target share: splits, labels, draws and weights in the form that kernels need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.boosting.rules import NUMBER_KINDS, BoostingRules, Kind
from ppfs._engine.inputs.splits import TRAIN, UNUSED
from ppfs._engine.inputs.target import Target, make_target
from ppfs._engine.jit.kernels import Float64s, Int32s, Int64s

_EPSILON = float(np.finfo(np.float64).eps)


class TrainParts(NamedTuple):
    """The train parts of all splits, in the form that kernels need.

    Attributes
    ----------
    kinds : array of shape (n_splits,), int64
        See `Kind`. Only classes that are in a train part are learned there.
    n_trees : array of shape (n_splits,), int64
        Trees per round.
    labels : array of shape (n_splits, n_rows), float64
        The number, or the index of a row's class among the classes of the train part; -1 if it is not among them.
    roles : array of shape (n_splits, n_rows), int32
        Place of a row in the test part, `TRAIN` or `UNUSED`.
    ends : array of shape (n_splits + 1,), int64
        The test part of a split has the places ``ends[split]`` to ``ends[split + 1] - 1`` among all tested rows.
    weights : array of shape (n_rows,), float64, or None
        Weights of the train rows. None means equal weights; Numba has a separate type for it and does not compile the
        code for weights.
    """

    kinds: Int64s
    n_trees: Int64s
    labels: Float64s
    roles: Int32s
    ends: Int64s
    weights: Float64s | None = None


class TestParts(NamedTuple):
    """The test parts of all splits and how their predictions are scored, in the form that kernels need.

    Attributes
    ----------
    kinds, n_trees, ends
        As in `TrainParts`.
    places : array of shape (n_splits, n_classes), int64
        Index of each class among those of the train part, or -1.
    tested : array of shape (n_tested,), int64
        The test rows of a split are ``tested[ends[split]:ends[split + 1]]``.
    splits : array of shape (n_tested,), int64
        The split of each of them.
    weights : array of shape (n_rows,), float64
        Factors of the losses of the rows.
    totals : array of shape (n_splits,), float64
        Divisors of the sums of the losses of the test parts.
    """

    kinds: Int64s
    n_trees: Int64s
    ends: Int64s
    places: Int64s
    tested: Int64s
    splits: Int64s
    truth: Target
    weights: Float64s
    totals: Float64s


@dataclass(frozen=True)
class BoostingProblem:
    """What all boosted models of one target share.

    Attributes
    ----------
    train, test : tuples of arrays of row numbers
        One of each per split.
    is_by_row : bool
        Whether losses are asked for row by row, or as means over test parts.
    baseline : array of shape (n_splits, n_trees), float64
        Raw prediction before the first round. ``n_trees`` is the largest number of trees per round of any split.
    sources : array of shape (n_draws, n_tested), int64
        Index of the tested row from which a permuted copy takes its value.
    """

    train: tuple[npt.NDArray[np.int64], ...]
    test: tuple[npt.NDArray[np.int64], ...]
    rules: BoostingRules
    is_by_row: bool
    baseline: Float64s
    sources: Int64s
    train_parts: TrainParts
    test_parts: TestParts

    @property
    def n_splits(self) -> int:
        """The paper's B."""
        return len(self.train)

    @property
    def n_tested(self) -> int:
        """Rows of all test parts."""
        return int(self.test_parts.tested.size)

    @property
    def n_trees(self) -> int:
        """Largest number of trees per round."""
        return int(self.baseline.shape[1])

    @property
    def bin_weights(self) -> Float64s | None:
        """Weights of the rows where bins are made, shape (n_rows,), or None."""
        return self.train_parts.weights if self.rules.has_weighted_bins else None

    def weights_of(self, split: int) -> Float64s | None:
        """Weights of the rows of a train part, shape (n_train,)."""
        weights = self.train_parts.weights
        return None if weights is None else weights[self.train[split]]


def prepare_boosting(
    y: npt.ArrayLike,
    n_classes: int,
    train: Sequence[npt.NDArray[np.int64]],
    test: Sequence[npt.NDArray[np.int64]],
    draws: Sequence[npt.NDArray[np.int64]],
    rules: BoostingRules,
    weights: npt.ArrayLike | None = None,
    *,
    is_by_row: bool = False,
    fit_weights: npt.ArrayLike | None = None,
) -> BoostingProblem:
    """Prepare the splits of a table, once for all its columns.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Class codes from 0, or numbers.
    n_classes : int
        Number of classes of the whole table; 0 for regression.
    train, test : sequences of arrays of row numbers
        Disjoint within a split; together they need not cover all rows.
    draws : sequence of arrays of shape (n_draws, n_test)
        For each split, the positions in its test part from which permuted copies take their values.
    weights : array of shape (n_rows,) or None
        Factors of the losses of test rows; models are fitted without them.
    is_by_row : bool
        Whether losses are asked for row by row, or as means over test parts.
    fit_weights : array of shape (n_rows,) or None
        Positive weights of train rows, used for the bins and the trees.
    """
    own = None if fit_weights is None else np.array(fit_weights, dtype=np.float64)
    target = make_target(y, n_classes)
    n_rows = target.classes.size + target.values.size
    loss_weights = np.ones(n_rows) if weights is None else np.array(weights, dtype=np.float64)
    of_numbers = NUMBER_KINDS[rules.reduces]
    learnt = [
        _learnt(target, n_classes, of_numbers, rows, None if own is None else own[rows]) for rows in train
    ]
    kinds = np.array([kind for kind, _, _, _ in learnt], dtype=np.int64)
    n_trees = np.array([baseline.size for _, _, _, baseline in learnt], dtype=np.int64)
    ends = np.cumsum([0, *(rows.size for rows in test)], dtype=np.int64)
    roles = np.full((len(train), n_rows), UNUSED, dtype=np.int32)
    for of_split, train_rows, test_rows in zip(roles, train, test, strict=True):
        of_split[train_rows] = TRAIN
        of_split[test_rows] = np.arange(test_rows.size)
    sources = [np.atleast_2d(places) + begin for places, begin in zip(draws, ends[:-1], strict=True)]
    test_parts = TestParts(
        kinds=kinds,
        n_trees=n_trees,
        ends=ends,
        places=np.array([places for _, _, places, _ in learnt]).reshape(len(train), n_classes),
        tested=np.concatenate(list(test)).astype(np.int64),
        splits=np.repeat(np.arange(len(test)), np.diff(ends)),
        truth=target,
        weights=loss_weights,
        totals=np.array([loss_weights[rows].sum() for rows in test]),
    )
    return BoostingProblem(
        train=tuple(train),
        test=tuple(test),
        rules=rules,
        is_by_row=is_by_row,
        baseline=np.array([np.resize(baseline, n_trees.max()) for _, _, _, baseline in learnt]),
        sources=np.concatenate(sources, axis=1).astype(np.int64),
        train_parts=TrainParts(
            kinds, n_trees, np.array([labels for _, labels, _, _ in learnt]), roles, ends, own
        ),
        test_parts=test_parts,
    )


def _learnt(
    target: Target, n_classes: int, of_numbers: Kind, rows: npt.NDArray[np.int64], weights: Float64s | None
) -> tuple[Kind, Float64s, Int64s, Float64s]:
    """Return the kind of a train part, the labels of all rows, the indices of the classes, and the baseline."""
    if not n_classes:
        mean = np.average(target.values[rows], weights=weights)
        baseline = mean if of_numbers == Kind.NUMBERS else np.log(max(mean, 10 * _EPSILON))
        return of_numbers, target.values, np.empty(0, dtype=np.int64), np.array([baseline])
    seen = np.unique(target.classes[rows])
    places = np.full(n_classes, -1, dtype=np.int64)
    places[seen] = np.arange(seen.size)
    labels = places[target.classes].astype(np.float64)
    if seen.size == 1:
        return Kind.ONE_CLASS, labels, places, np.zeros(1)
    if seen.size == 2:
        # Clipped as in scikit-learn, although the bound is not reached by any train part with two classes.
        share = np.clip(np.average(labels[rows], weights=weights), 10 * _EPSILON, 1.0 - 10 * _EPSILON)
        return Kind.TWO_CLASSES, labels, places, np.array([np.log(share / (1.0 - share))])
    shares = np.array([np.average(labels[rows] == place, weights=weights) for place in range(seen.size)])
    geometric_mean = np.exp(np.log(shares).mean())
    return Kind.MORE_CLASSES, labels, places, np.log(shares / geometric_mean)
