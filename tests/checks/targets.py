"""Every kind of target, for the contracts that all of them share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import GammaRegressor, LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.multioutput import MultiOutputClassifier
from sksurv.ensemble import GradientBoostingSurvivalAnalysis
from sksurv.linear_model import CoxPHSurvivalAnalysis

N = 120

Frames = tuple[pd.DataFrame, Any]


@dataclass(frozen=True, eq=False)
class TargetCase:
    """A target that depends on column b of four.

    Attributes
    ----------
    X : DataFrame of shape (N, 4)

    y : Series or DataFrame
        Its columns are named as in `flags`.

    model : estimator
        For the values themselves.

    task : str
        As in ``PPFS(task=...)``.

    rows : dict
        Further arguments of `fit`.

    flags : tuple of str, default=None
        The target on the command line. None: it has no such target.

    aside : DataFrame, default=None
        Further columns of a file, which `flags` name.

    takes_weights : bool, default=True
        Whether the model does.

    selected : tuple of str
        The columns that depend on the target.
    """

    X: pd.DataFrame
    y: Any
    model: Any
    task: str = "auto"
    rows: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] | None = None
    aside: pd.DataFrame | None = None
    takes_weights: bool = True
    selected: tuple[str, ...] = ("b",)

    @property
    def table(self) -> pd.DataFrame:
        """Columns, target and further columns, as in a file."""
        return pd.concat([self.X, self.y, self.aside], axis=1)


def _columns(seed: int) -> tuple[np.random.Generator, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    return rng, pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))


def _survival() -> TargetCase:
    rng, X = _columns(0)
    time, censored = rng.exponential(size=(2, N))
    time, censored = time * np.exp(-1.2 * X["b"]), 2 * censored
    y = pd.DataFrame({"days": np.minimum(time, censored), "died": (time <= censored).astype(int)})
    return TargetCase(
        X,
        y,
        GradientBoostingSurvivalAnalysis(n_estimators=3, learning_rate=0.5),
        "survival",
        flags=("-t", "days", "--event", "died"),
    )


def _survival_record() -> TargetCase:
    case = _survival()
    y = np.array(
        [(bool(died), days) for days, died in case.y.to_numpy()], dtype=[("died", bool), ("days", float)]
    )
    return TargetCase(case.X, y, CoxPHSurvivalAnalysis(alpha=0.1), takes_weights=False)


def _count() -> TargetCase:
    rng, X = _columns(1)
    y = pd.Series(rng.poisson(np.exp(1 + 0.8 * X["b"])), name="visits")
    return TargetCase(X, y, PoissonRegressor(), "count", flags=("-t", "visits", "--task", "count"))


def _exposure() -> TargetCase:
    rng, X = _columns(2)
    years = np.exp(0.8 * X["a"] + 0.3 * rng.normal(size=N))
    y = pd.DataFrame({"visits": rng.poisson(years * np.exp(1 + 0.8 * X["b"])), "years": years})
    return TargetCase(X, y, PoissonRegressor(), "count", flags=("-t", "visits", "--exposure", "years"))


def _positive() -> TargetCase:
    rng, X = _columns(3)
    y = pd.Series(rng.gamma(2, np.exp(X["b"])), name="cost")
    return TargetCase(X, y, GammaRegressor(), "positive", flags=("-t", "cost", "--task", "positive"))


def _ordinal() -> TargetCase:
    rng, X = _columns(4)
    y = pd.Series(np.digitize(2 * X["b"] + rng.logistic(size=N), [-1, 0.5, 2]), name="grade")
    return TargetCase(X, y, LogisticRegression(), "ordinal", flags=("-t", "grade", "--task", "ordinal"))


def _ordered_categories() -> TargetCase:
    case = _ordinal()
    y = pd.Series(
        pd.Categorical.from_codes(case.y, ["none", "some", "most", "all"], ordered=True), name="grade"
    )
    return TargetCase(case.X, y, LogisticRegression(), "ordinal")


def _labels() -> TargetCase:
    rng, X = _columns(5)
    noise = rng.normal(size=(2, N))
    y = pd.DataFrame({f"label{i}": (X["b"] + 0.5 * noise[i] > 0.3 * i).astype(int) for i in (0, 1)})
    return TargetCase(X, y, MultiOutputClassifier(LogisticRegression()))


def _outputs() -> TargetCase:
    rng, X = _columns(6)
    noise = rng.normal(size=(2, N))
    y = pd.DataFrame({f"output{i}": X["b"] + 0.5 * noise[i] for i in (0, 1)})
    return TargetCase(X, y, LinearRegression())


def _number(seed: int) -> tuple[pd.DataFrame, pd.Series]:
    rng, X = _columns(seed)
    return X, pd.Series(X["b"] + 0.5 * rng.normal(size=N), name="y")


def _in_time() -> TargetCase:
    X, y = _number(7)
    day = pd.DataFrame({"day": np.arange(N)[::-1]})
    return TargetCase(
        X, y, Ridge(), rows={"time": day["day"].to_numpy()}, flags=("-t", "y", "--time", "day"), aside=day
    )


def _lagged() -> TargetCase:
    rng, X = _columns(8)
    y = pd.Series(X["b"].shift(1).fillna(0.0) + 0.5 * rng.normal(size=N), name="y")
    day = pd.DataFrame({"day": np.arange(N)})
    return TargetCase(
        X,
        y,
        Ridge(),
        rows={"time": "index", "lags": [1]},
        flags=("-t", "y", "--time", "day", "--lags", "1"),
        aside=day,
        selected=("b", "b_lag1"),
    )


def _in_groups() -> TargetCase:
    X, y = _number(9)
    unit = pd.DataFrame({"unit": np.arange(N) // 3})
    return TargetCase(
        X,
        y,
        Ridge(),
        rows={"groups": unit["unit"].to_numpy()},
        flags=("-t", "y", "--groups", "unit"),
        aside=unit,
    )


TARGETS = {
    "survival": _survival(),
    "survival record": _survival_record(),
    "count": _count(),
    "count with exposure": _exposure(),
    "positive": _positive(),
    "ordinal": _ordinal(),
    "ordered categories": _ordered_categories(),
    "several labels": _labels(),
    "several outputs": _outputs(),
    "rows in time": _in_time(),
    "lagged rows in time": _lagged(),
    "rows in groups": _in_groups(),
}

# The tables of "survival" and "ordinal" once more, in another type, whose reading tests/data has quick tests of.
_SAME_IN_ANOTHER_TYPE = ("survival record", "ordered categories")

every_target = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=[pytest.mark.slow] * (name in _SAME_IN_ANOTHER_TYPE))
        for name, case in TARGETS.items()
    ],
)
every_target_of_a_file = pytest.mark.parametrize(
    "case",
    [case for case in TARGETS.values() if case.flags is not None],
    ids=[name for name, case in TARGETS.items() if case.flags is not None],
)
