"""Estimators that draw random numbers, made repeatable."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, clone


def seeded(estimator: Any, seed: int) -> Any:
    """Return a clone of an estimator that takes its random numbers from `seed` wherever the caller left that open."""
    model = clone(estimator)
    inner = (value for value in model.get_params(deep=True).values() if isinstance(value, BaseEstimator))
    for part in (model, *inner):
        # Not set_params: some, such as SVR, have no such parameter and draw from NumPy's global generator all the same.
        if getattr(part, "random_state", seed) is None:
            part.random_state = seed
    return model
