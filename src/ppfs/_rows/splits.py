"""The train/test splits and the permutations of the test parts, drawn once and shared by all questions."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import integer_seed, seeded_state, stream, warn_caller
from ppfs._data import TimeOrder
from ppfs._rows.folds import divide_into_folds, every_class_has
from ppfs._rows.shuffles import divider
from ppfs.exceptions import InvalidInputError, StratificationWarning

Stratify = bool | Literal["auto"]

# Splits are stored as row numbers: a thousand splits of a million rows take 14 GiB.
MAX_SPLIT_BYTES = 2**35


@dataclass(frozen=True)
class Split:
    """One random division of the rows.

    Attributes
    ----------
    train, test : ndarray of int
        Row numbers.

    permutations : ndarray of int, shape (n_draws, n_test)
        One permutation per draw: at test position i, a permuted column has the value of test position
        ``permutations[draw, i]``. All columns share the permutations.

    seed : int
        For estimators that draw random numbers.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    permutations: NDArray[np.intp]
    seed: int

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Everything but the seed."""
        return self.train, self.test, self.permutations

    @property
    def permutation(self) -> NDArray[np.intp]:
        """The permutation of the first draw."""
        first: NDArray[np.intp] = self.permutations[0]
        return first


def draw_splits(
    n_rows: int,
    labels: NDArray[Any] | None,
    *,
    n_splits: int,
    test_size: float,
    entropy: int,
    fold: int,
    n_draws: int = 1,
    groups: NDArray[np.intp] | None = None,
    time: TimeOrder | None = None,
) -> list[Split]:
    """Draw the splits of one fold, each from the stream keyed by (fold, split).

    Parameters
    ----------
    labels : ndarray of shape (n_rows,) or None
        Classes whose proportions are kept, or None.

    n_draws : int, default=1
        Number of permutations of each test part.

    groups : ndarray of shape (n_rows,), default=None
        Rows of one group go to the same part; `labels` are then ignored.

    time : TimeOrder, default=None
        Leaves the rows around a test part out of its train part.
    """
    _require_room(n_rows, n_splits, n_draws, test_size)
    divided = divider(n_rows, labels, groups, test_size)
    splits = []
    for number in range(n_splits):
        generator = stream(entropy, fold, number)
        train, test = divided(seeded_state(integer_seed(generator)))
        train = train if time is None else time.apart(train, test)
        splits.append(with_draws(train, test, generator, n_draws))
    return splits


def _require_room(n_rows: int, n_splits: int, n_draws: int, test_size: float) -> None:
    """Raise if the splits would not fit into memory, before the first one is drawn."""
    n_bytes = 8 * n_splits * (n_rows + n_draws * ceil(n_rows * test_size))
    if n_bytes > MAX_SPLIT_BYTES:
        raise InvalidInputError(
            f"{n_splits} splits of {n_rows} rows with {n_draws} draws each take {n_bytes / 2**30:,.0f} GiB of memory, "
            f"more than the {MAX_SPLIT_BYTES // 2**30} that are allowed. Use fewer splits: 30 is usual."
        )


def draw_folds(
    n_rows: int,
    labels: NDArray[Any] | None,
    *,
    n_folds: int,
    entropy: int,
    fold: int,
    n_draws: int,
    groups: NDArray[np.intp] | None = None,
    time: TimeOrder | None = None,
) -> list[Split]:
    """Divide the rows so that each is in exactly one test part; see `draw_splits`."""
    parts = divide_into_folds(
        n_rows,
        labels,
        groups,
        n_folds,
        seed=integer_seed(stream(entropy, fold)),
        called=f"CrossFitPPI(n_folds={n_folds})",
        time=time,
    )
    return [
        with_draws(train, test, stream(entropy, fold, number), n_draws)
        for number, (train, test) in enumerate(parts)
    ]


def with_draws(
    train: NDArray[np.intp], test: NDArray[np.intp], generator: np.random.Generator, n_draws: int
) -> Split:
    """Draw the permutations and the seed of a split; the first permutation and the seed do not depend on `n_draws`."""
    first = generator.permutation(test.size)
    seed = integer_seed(generator)
    others = [generator.permutation(test.size) for _ in range(n_draws - 1)]
    return Split(train, test, np.stack([first, *others]), seed)


def require_enough_rows(n_rows: int, test_size: float) -> None:
    """Raise if a test part has too few rows to be permuted."""
    n_test = ceil(n_rows * test_size)
    if n_test < 2 or n_rows - n_test < 2:
        raise InvalidInputError(
            f"{n_rows} rows with test_size={test_size} make a train part of {n_rows - n_test} and a test part of "
            f"{n_test}; each needs at least 2 rows, or permuting a column changes nothing. "
            "Use more rows, or another test_size."
        )


def require_enough_groups(
    groups: NDArray[np.intp],
    test_size: float,
    way_out: str = "splitter=LeaveOneGroupOut() with significance='paired-t'",
) -> None:
    """Raise if a part of a split would have one group only."""
    n_groups = np.unique(groups).size
    n_test = ceil(n_groups * test_size)
    if n_test < 2 or n_groups - n_test < 2:
        raise InvalidInputError(
            f"{n_groups} groups with test_size={test_size} make a train part of {n_groups - n_test} and a test part of "
            f"{n_test}; each needs at least 2 groups, or all splits are nearly the same. Use another test_size, or "
            f"{way_out}."
        )


def is_stratifiable(labels: NDArray[Any], test_size: float) -> bool:
    """Return whether every class can be in both parts of a split."""
    n_test = ceil(labels.size * test_size)
    n_classes = np.unique(labels).size
    return every_class_has(labels, 2) and min(n_test, labels.size - n_test) >= n_classes


def labels_to_stratify(
    labels: NDArray[Any], stratify: Stratify, test_size: float, *, warn: bool = False
) -> NDArray[Any] | None:
    """Return the labels whose proportions the splits keep, or None.

    Parameters
    ----------
    warn : bool, default=False
        Whether to warn if "auto" cannot stratify.
    """
    is_possible = stratify is not False and is_stratifiable(labels, test_size)
    return _kept(labels, stratify, is_possible, f"test_size={test_size}", "enlarge test_size", warn)


def folds_to_stratify(
    labels: NDArray[Any], stratify: Stratify, n_folds: int, *, warn: bool = False
) -> NDArray[Any] | None:
    """Return the labels whose proportions the folds keep, or None; see `labels_to_stratify`."""
    is_possible = stratify is not False and every_class_has(labels, n_folds)
    return _kept(labels, stratify, is_possible, f"CrossFitPPI(n_folds={n_folds})", "use fewer folds", warn)


def _kept(
    labels: NDArray[Any], stratify: Stratify, is_possible: bool, division: str, way_out: str, warn: bool
) -> NDArray[Any] | None:
    """Return the labels if they can be stratified; raise if the caller asked for it, and warn if "auto" cannot."""
    if is_possible or stratify is False:
        return labels if is_possible else None
    classes, counts = np.unique(labels, return_counts=True)
    impossible = (
        f"with {labels.size} rows, {classes.size} classes and {division} not every class can be in both "
        f"parts of a split: the rarest, {classes[counts.argmin()].item()!r}, has {counts.min()} row(s)."
    )
    if stratify is True:
        raise InvalidInputError(
            f'stratify=True is impossible: {impossible} Use stratify="auto" or False, merge rare classes, or {way_out}.'
        )
    if warn:
        warn_caller(
            f"Splits are not stratified: {impossible} Merge or drop rare classes to have stratified splits, or pass "
            "stratify=False to silence this.",
            StratificationWarning,
        )
    return None
