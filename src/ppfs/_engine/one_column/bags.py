"""The rows that each tree of a forest is grown from: bootstrap samples as counts, and as sets of trees.

Numbers of trees are padded to whole words, so that kernels look at 64 trees at a time.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.bit_sets import ONE, WORD, Words, n_words
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s

Counts = npt.NDArray[np.uint8]

#: How often a row may be drawn for one tree.
MOST_DRAWN = 255


class Bags(NamedTuple):
    """The samples of all trees, for every split.

    Attributes
    ----------
    counts : array of shape (n_splits, n_rows, n_slots), uint8
        How often a tree draws a row; slots beyond the trees are zero.
    members : array of shape (n_splits, n_words, n_rows), uint64
        The trees that draw a row at all.
    totals : array of shape (n_splits, n_stats, n_slots), float64
        Drawn rows of each class; or, for regression, their number and the sums of the target and of its squares.
    sizes, weights : arrays of shape (n_splits, n_trees), float64
        Number of different rows that a tree draws, and total number of its draws.
    """

    n_trees: int
    counts: Counts
    members: Words
    totals: Float64s
    sizes: Float64s
    weights: Float64s


def make_bags(
    samples: Sequence[npt.NDArray[np.integer]], splits: Splits, target: Target, n_classes: int, n_rows: int
) -> Bags:
    """Make bags from samples: for every split, an array (n_trees, n_train) of how often a tree draws a train row."""
    n_trees = len(samples[0])
    n_slots = WORD * n_words(n_trees)
    counts = np.zeros((len(samples), n_rows, n_slots), dtype=np.uint8)
    for split, drawn in enumerate(samples):
        if np.max(drawn) > MOST_DRAWN:
            raise ValueError(
                f"A tree draws a row {np.max(drawn)} times; the engine counts to {MOST_DRAWN}. Use a smaller sample."
            )
        counts[split, splits.train[split], :n_trees] = np.asarray(drawn).T
    members = np.zeros((len(samples), n_slots // WORD, n_rows), dtype=np.uint64)
    for slot in range(n_trees):
        members[:, slot // WORD] |= (counts[:, :, slot] > 0).astype(np.uint64) * (
            ONE << np.uint64(slot % WORD)
        )
    return Bags(
        n_trees,
        counts,
        members,
        _totals(counts, target, n_classes),
        (counts[:, :, :n_trees] > 0).sum(axis=1).astype(np.float64),
        counts[:, :, :n_trees].sum(axis=1, dtype=np.float64),
    )


def _totals(counts: Counts, target: Target, n_classes: int) -> Float64s:
    """Compute `Bags.totals`."""
    weights = (
        np.eye(n_classes)[target.classes]
        if n_classes
        else np.column_stack([np.ones(target.values.size), target.values, target.values**2])
    )
    return np.stack([weights.T @ drawn.astype(np.float64) for drawn in counts])
