"""The bootstrap samples of scikit-learn's forests, drawn with the same random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.utils import check_random_state

from ppfs._conventions import Floats, bagged_rows, bootstrapped_rows, seeded_state

_MAX_SEED = np.iinfo(np.int32).max


def tree_seeds(forest: Any) -> NDArray[np.integer[Any]]:
    """Return the seed of each tree of a forest.

    Parameters
    ----------
    forest : estimator
        An unfitted forest, or bagged trees, of scikit-learn. Its `random_state` is not changed.
    """
    state = clone(forest).random_state
    is_seed = isinstance(state, int | np.integer)
    generator = seeded_state(int(state)) if is_seed else check_random_state(state)
    # Forests draw the numbers one by one and bagging all at once, with the same result.
    seeds: NDArray[np.integer[Any]] = generator.randint(_MAX_SEED, size=forest.n_estimators)
    return seeds


def drawn_counts(forest: Any, n_rows: int, weights: Floats | None = None) -> NDArray[np.integer[Any]]:
    """Return how often each tree draws each of `n_rows` rows, if there is one column.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,) or None
        For forests and bagging that draw rows by weight; see `draw_by_weight` and `bags_draw_by_weight`.

    Returns
    -------
    ndarray of shape (n_trees, n_rows)
        All ones without bootstrap samples.
    """
    is_bag = isinstance(forest, BaggingClassifier | BaggingRegressor)
    if not is_bag and not forest.bootstrap:
        return np.ones((forest.n_estimators, n_rows), dtype=np.intp)
    seeds = tree_seeds(forest)
    draw = bagged_rows if is_bag else bootstrapped_rows
    drawn = draw(forest, seeds, n_rows, weights)
    return np.stack([np.bincount(rows, minlength=n_rows) for rows in drawn])
