"""Screening of pairs of columns: those whose quartile classes explain most of the target together."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats, as_many_as_fit, mean_ranks
from ppfs._data import Table
from ppfs.blanket._steps.column_values import dense_blocks
from ppfs.exceptions import InvalidInputError

# The number of scores held at once: a few megabytes.
_SCORES_AT_ONCE = 2**20

Pair = tuple[int, int]


def all_pairs(features: Sequence[int], settled: frozenset[int]) -> list[Pair]:
    """Return all pairs of features except those in which both are settled."""
    return [
        (a, b)
        for i, a in enumerate(features)
        for b in features[i + 1 :]
        if not (a in settled and b in settled)
    ]


def n_pairs(features: Sequence[int], settled: frozenset[int]) -> int:
    """Return how many pairs `all_pairs` would return."""
    return comb(len(features), 2) - comb(len(settled.intersection(features)), 2)


def most_promising_pairs(
    table: Table, features: Sequence[int], settled: frozenset[int], at_most: int, n_jobs: int | None
) -> list[Pair]:
    """Return the pairs of features that explain most of the target together.

    Every column is divided into quarters of its ranks, and so is a numeric target. The score of a pair is the smaller
    of two likelihood ratios: of each column given the other. A feature of several columns has the score of its best
    one.

    Parameters
    ----------
    features : sequence of int
        The features to pair.

    settled : frozenset of int
        Features that are candidates already: pairs of two of them are left out.

    at_most : int
        The maximum number of pairs of columns. Pairs that tie at the limit are all left out, so that the choice does
        not depend on the order of the columns.
    """
    labels, n_classes = _labels(table)
    owner = np.array([feature for feature in features for _ in table.columns[feature]], dtype=np.intp)
    quarters = np.empty((owner.size, table.n_rows), dtype=np.uint8)
    columns = (column for _, values in dense_blocks(table, features) for column in values.T)
    for place, column in enumerate(columns):
        quarters[place] = quarters_of(column)
    firsts, seconds = _highest(quarters, labels, n_classes, owner, settled, at_most, effective_n_jobs(n_jobs))
    return list(dict.fromkeys(zip(owner[firsts].tolist(), owner[seconds].tolist(), strict=True)))


def _labels(table: Table) -> tuple[NDArray[np.int64], int]:
    """Return the class of each row, or the quarter of its numeric target."""
    if table.codes.ndim > 1:
        raise InvalidInputError(
            f"interactions='pairs' chooses among the pairs of many columns by a target of one column, and this one has "
            f"{table.codes.shape[1]}. Use fewer columns, so that all pairs can be asked about, or one target at a time."
        )
    levels = table.codes if table.task == "classification" else quarters_of(table.codes)
    present, labels = np.unique(levels, return_inverse=True)
    return labels.ravel().astype(np.int64), present.size


def quarters_of(values: Floats) -> NDArray[np.uint8]:
    """Return the quarter of the ranks that each value falls into, 0 to 3; equal values share their mean rank.

    Missing values come last, as equal values.
    """
    known = np.where(np.isnan(values), np.inf, values)
    quarters: NDArray[np.uint8] = ((mean_ranks(known) - 0.5) * (4.0 / values.size)).astype(np.uint8)
    return quarters


def _highest(
    quarters: NDArray[np.uint8],
    labels: NDArray[np.int64],
    n_classes: int,
    owner: NDArray[np.intp],
    settled: frozenset[int],
    at_most: int,
    n_threads: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of columns with the highest scores, highest first."""
    n_columns = len(quarters)
    n_levels = np.array([np.unique(column).size for column in quarters], dtype=np.int64)
    k_log_k = _engine.whole_k_log_k(labels.size)
    is_settled = np.isin(owner, list(settled))
    n_at_once = as_many_as_fit(_SCORES_AT_ONCE, n_columns * n_threads)

    def score(first: int) -> Floats:
        scores = np.empty((min(n_at_once, n_columns - first), n_columns))
        _engine.score_pairs(quarters, n_levels, labels, n_classes, k_log_k, first, scores)
        mine = slice(first, first + len(scores))
        scores[(owner[mine, np.newaxis] == owner) | (is_settled[mine, np.newaxis] & is_settled)] = -np.inf
        return scores

    best = np.empty(0)
    places = np.empty((0, 2), dtype=np.intp)
    edge = -np.inf
    step = n_at_once * n_threads
    for start in range(0, n_columns, step):
        firsts = list(range(start, min(start + step, n_columns), n_at_once))
        for first, scores in zip(firsts, _engine.run_tasks(score, firsts, n_threads), strict=True):
            above = np.argwhere(scores > edge)
            best = np.concatenate([best, scores[above[:, 0], above[:, 1]]])
            places = np.concatenate([places, above + np.array([first, 0])])
            if best.size > at_most:
                # The highest score outside the wanted number: what is not above it ties with it or is lower.
                edge = np.partition(best, best.size - at_most - 1)[best.size - at_most - 1]
                kept = best > edge
                best, places = best[kept], places[kept]
    order = np.argsort(-best, kind="stable")
    return places[order, 0], places[order, 1]
