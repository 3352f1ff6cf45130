"""The B train/test splits, drawn once and shared by every question."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from ppfs._random import integer_seed, stream
from ppfs.exceptions import InvalidInputError, StratificationWarning

Stratify = bool | Literal["auto"]


@dataclass(frozen=True)
class Split:
    """One random division of the rows.

    Attributes
    ----------
    train, test : ndarray of int
        Row numbers.

    permutation : ndarray of int, shape (n_test,)
        A shuffled column takes, at test position i, the value at test position
        ``permutation[i]``. The same shuffle serves every column.

    seed : int
        For estimators that draw random numbers.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    permutation: NDArray[np.intp]
    seed: int


def draw_splits(
    n_rows: int,
    labels: NDArray[Any] | None,
    *,
    n_splits: int,
    test_size: float,
    entropy: int,
    fold: int,
) -> list[Split]:
    """Draw the splits of one fold, each from the stream keyed by (fold, split).

    Parameters
    ----------
    labels : ndarray of shape (n_rows,) or None
        Classes to keep in proportion, or None for plain shuffling.
    """
    splits = []
    for number in range(n_splits):
        generator = stream(entropy, fold, number)
        shuffle = ShuffleSplit if labels is None else StratifiedShuffleSplit
        divider = shuffle(n_splits=1, test_size=test_size, random_state=integer_seed(generator))
        train, test = next(divider.split(np.empty((n_rows, 0)), labels))
        splits.append(Split(train, test, generator.permutation(test.size), integer_seed(generator)))
    return splits


def require_enough_rows(n_rows: int, test_size: float) -> None:
    """Refuse tables so short that a test part cannot be shuffled."""
    n_test = ceil(n_rows * test_size)
    if n_test < 2 or n_rows - n_test < 2:
        raise InvalidInputError(
            f"{n_rows} rows with test_size={test_size} make a train part of {n_rows - n_test} and a test part of "
            f"{n_test}; each needs at least 2 rows, or shuffling a column changes nothing. "
            "Use more rows, or another test_size."
        )


def is_stratifiable(labels: NDArray[Any], test_size: float) -> bool:
    """Tell whether every class can be represented in both parts of a split."""
    _, counts = np.unique(labels, return_counts=True)
    n_test = ceil(labels.size * test_size)
    return bool(counts.min() >= 2 and min(n_test, labels.size - n_test) >= counts.size)


def labels_to_stratify(
    labels: NDArray[Any], stratify: Stratify, test_size: float, *, warn: bool = False
) -> NDArray[Any] | None:
    """Return the labels whose proportions the splits keep, or None.

    Parameters
    ----------
    warn : bool, default=False
        Whether to tell the caller when "auto" has to give up.
    """
    if stratify is False:
        return None
    if is_stratifiable(labels, test_size):
        return labels
    classes, counts = np.unique(labels, return_counts=True)
    impossible = (
        f"with {labels.size} rows, {classes.size} classes and test_size={test_size} not every class can be in both "
        f"parts of a split: the rarest, {classes[counts.argmin()].item()!r}, has {counts.min()} row(s)."
    )
    if stratify is True:
        raise InvalidInputError(
            f'stratify=True is impossible: {impossible} Use stratify="auto" or False, merge rare classes, or enlarge '
            "test_size."
        )
    if warn:
        warnings.warn(
            f"Splits are not stratified: {impossible} Merge or drop rare classes to have stratified splits, or pass "
            "stratify=False to silence this.",
            StratificationWarning,
            stacklevel=2,
        )
    return None
