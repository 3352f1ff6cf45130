"""Estimators that draw random numbers, made repeatable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import RLock
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ppfs._parallel import small_fits

_GLOBAL_GENERATOR = RLock()


def seeded(estimator: Any, seed: int) -> Any:
    """Return a clone of an estimator that takes its random numbers from `seed` wherever the caller left that open."""
    model = clone(estimator)
    _give_seed(_unseeded(model), seed)
    return model


def fitted_clone(model: Any, X: Any, y: Any, *, seed: int = 0, **arguments: Any) -> Any:
    """Fit a clone that takes its random numbers from `seed` wherever that is open; NumPy's global generator is kept.

    Something is open in a model that was `seeded` too: what has no `random_state` parameter loses its seed when it is
    cloned.
    """
    copy = clone(model)
    parts = _unseeded(copy)
    _give_seed(parts, seed)
    kept = _global_generator_kept(copy, seed) if parts else nullcontext()
    with kept, small_fits(len(y)):
        return copy.fit(X, y, **arguments)


def _unseeded(model: Any) -> list[Any]:
    """Return the parts of a model that would draw from NumPy's global generator."""
    return [part for part in (model, *_inner(model)) if getattr(part, "random_state", 0) is None]


def _give_seed(parts: list[Any], seed: int) -> None:
    # Not set_params: some, such as SVR, have no such parameter and draw from NumPy's global generator all the same.
    for part in parts:
        part.random_state = seed


@contextmanager
def _global_generator_kept(model: Any, seed: int) -> Iterator[None]:
    """Leave NumPy's global generator as it is while a model is fitted that may draw from it.

    A model that has no `random_state` parameter but draws all the same, such as SVR, keeps the seed that `seeded` gave
    it unless an estimator around it makes a copy: GridSearchCV does, and MultiOutputRegressor. Their copies draw from
    the global generator, which therefore gets a seed for the time of the fit.
    """
    if not any(
        hasattr(part, "random_state") and "random_state" not in part.get_params(False)
        for part in _inner(model)
    ):
        yield
        return
    with _GLOBAL_GENERATOR:
        before = np.random.get_state()  # noqa: NPY002
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(before)  # noqa: NPY002


def _inner(model: Any) -> list[Any]:
    """Return the estimators among a model's parameters, at any depth."""
    return [value for value in model.get_params(deep=True).values() if isinstance(value, BaseEstimator)]
