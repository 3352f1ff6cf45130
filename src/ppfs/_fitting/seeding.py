"""Seeds for estimators that draw random numbers."""

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
    """Return a clone of an estimator that uses `seed` wherever `random_state` is None."""
    model = clone(estimator)
    _give_seed(_unseeded(model), seed)
    return model


def fitted_clone(model: Any, X: Any, y: Any, *, seed: int = 0, **arguments: Any) -> Any:
    """Fit a clone that uses `seed` wherever `random_state` is None; NumPy's global generator is not changed.

    Models without a `random_state` parameter lose the seed from `seeded` when they are cloned, so that they need it
    again.
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
    # Not set_params: some models, such as SVR, have no such parameter but draw from NumPy's global generator.
    for part in parts:
        part.random_state = seed


@contextmanager
def _global_generator_kept(model: Any, seed: int) -> Iterator[None]:
    """Restore NumPy's global generator after the fit of a model that may draw from it.

    A model that draws without a `random_state` parameter, such as SVR, loses its seed if GridSearchCV,
    MultiOutputRegressor or another wrapper clones it. The clone draws from the global generator, which is therefore
    seeded during the fit.
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
