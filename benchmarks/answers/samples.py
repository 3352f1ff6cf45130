"""Small tables of every kind, made with NumPy alone: no change of the package can change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sample:
    """A table, its target, and what else goes to ``fit``.

    Attributes
    ----------
    X, y
        What every search takes.

    rows : dict
        Keyword arguments of ``fit``: weights and groups of rows.
    """

    X: Any
    y: Any
    rows: dict[str, Any] = field(default_factory=dict)


def _continuous(n_rows: int, seed: int) -> tuple[NDArray[np.float64], np.random.Generator]:
    """Draw eight columns: two causes, a child, its spouse, a relative, a copy, a constant, noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    X[:, 4] = 0.7 * X[:, 0] + 0.5 * rng.normal(size=n_rows)
    X[:, 5] = X[:, 1]
    X[:, 6] = 2.5
    return X, rng


def _score(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    score: NDArray[np.float64] = X[:, 0] + np.abs(X[:, 1]) + 0.6 * rng.normal(size=len(X))
    X[:, 2] = score + X[:, 3] + 0.5 * rng.normal(size=len(X))
    return score


def regression() -> Sample:
    X, rng = _continuous(110, 1)
    return Sample(X, _score(X, rng))


def binary() -> Sample:
    X, rng = _continuous(120, 2)
    score = _score(X, rng)
    return Sample(X, (score > np.median(score)).astype(int))


def three_classes() -> Sample:
    X, rng = _continuous(150, 3)
    score = _score(X, rng)
    return Sample(X, np.digitize(score, np.quantile(score, [0.3, 0.7])))


def text_labels() -> Sample:
    sample = three_classes()
    return Sample(sample.X.round(1), np.array(["low", "middle", "high"])[sample.y])


def rare_class() -> Sample:
    X, rng = _continuous(130, 4)
    score = _score(X, rng)
    return Sample(X, (score > np.quantile(score, 0.85)).astype(int))


def linear_gaussian() -> Sample:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 9))
    X[:, 1] += 0.8 * X[:, 0]
    y = X[:, 1] - 0.8 * X[:, 2] + 0.7 * rng.normal(size=200)
    X[:, 3] = y + X[:, 4] + 0.5 * rng.normal(size=200)
    X[:, 5] = X[:, 3] + 0.5 * rng.normal(size=200)
    return Sample(X, y)


def codes() -> Sample:
    """Categories as integers, for tests of contingency tables."""
    rng = np.random.default_rng(6)
    n_rows = 600
    X = np.column_stack([rng.integers(0, n_levels, size=n_rows) for n_levels in (2, 3, 2, 4, 2, 3, 2)])
    X[:, 2] = np.where(rng.random(n_rows) < 0.8, X[:, 0], X[:, 2])
    odds = 1.5 * X[:, 2] - 0.9 * X[:, 1] + rng.normal(size=n_rows)
    y = (odds > 0).astype(int)
    X[:, 4] = np.where(rng.random(n_rows) < 0.8, y ^ (X[:, 6] & (rng.random(n_rows) < 0.7)), X[:, 4])
    return Sample(X, y)


def codes_of_three_classes() -> Sample:
    sample = codes()
    return Sample(sample.X, sample.y + (sample.X[:, 5] == 2))


def categories_pandas() -> Sample:
    sample = codes()
    words = np.array(["ash", "birch", "cedar", "dogwood"])
    columns = {f"tree{i}": pd.Categorical(words[sample.X[:, i]]) for i in range(sample.X.shape[1])}
    return Sample(pd.DataFrame(columns), np.where(sample.y, "yes", "no"))


def categories_polars() -> Sample:
    frame = categories_pandas()
    columns = {name: frame.X[name].astype(str).tolist() for name in frame.X.columns}
    return Sample(pl.DataFrame(columns), frame.y)


def _mixed_columns(n_rows: int, seed: int) -> tuple[dict[str, Any], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    colour = np.array(["red", "green", "blue"])[rng.integers(0, 3, n_rows)]
    size = rng.normal(size=n_rows)
    is_old = rng.random(n_rows) < 0.4
    score = size + 1.2 * (colour == "red") - 0.9 * is_old + 0.5 * rng.normal(size=n_rows)
    columns = {
        "colour": colour,
        "size": size,
        "is_old": is_old,
        "rooms": rng.integers(0, 5, n_rows),
        "after": score + 0.6 * rng.normal(size=n_rows),
        "shade": np.where(rng.random(n_rows) < 0.85, colour, "grey"),
        "noise": rng.normal(size=n_rows),
    }
    return columns, score


def mixed_pandas() -> Sample:
    columns, score = _mixed_columns(160, 7)
    return Sample(pd.DataFrame(columns), score)


def mixed_pandas_labels() -> Sample:
    columns, score = _mixed_columns(160, 8)
    frame = pd.DataFrame(columns)
    frame["colour"] = frame["colour"].astype("category")
    return Sample(frame, (score > 0).astype(int))


def mixed_polars() -> Sample:
    columns, score = _mixed_columns(160, 7)
    return Sample(pl.DataFrame(columns), score)


def mixed_polars_labels() -> Sample:
    columns, score = _mixed_columns(160, 8)
    frame = pl.DataFrame(columns).with_columns(pl.col("shade").cast(pl.Categorical))
    return Sample(frame, np.where(score > 0, "up", "down"))


def gaps() -> Sample:
    X, rng = _continuous(130, 9)
    y = (_score(X, rng) > 0.8).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    return Sample(X, y)


def gaps_regression() -> Sample:
    X, rng = _continuous(130, 10)
    y = _score(X, rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    return Sample(X, y)


def gaps_in_text() -> Sample:
    columns, score = _mixed_columns(160, 11)
    frame = pd.DataFrame(columns)
    rng = np.random.default_rng(12)
    frame.loc[rng.random(160) < 0.15, "colour"] = None
    frame.loc[rng.random(160) < 0.1, "size"] = np.nan
    return Sample(frame, score)


def named() -> Sample:
    sample = binary()
    return Sample(pd.DataFrame(sample.X, columns=list("abcdefgh")), sample.y)


def named_regression() -> Sample:
    sample = regression()
    return Sample(pd.DataFrame(sample.X, columns=list("abcdefgh")), sample.y)


def ties() -> Sample:
    sample = binary()
    return Sample(sample.X.round(0), sample.y)


def single_precision() -> Sample:
    sample = regression()
    return Sample(np.asfortranarray(sample.X.astype(np.float32)), sample.y)


def truth_values() -> Sample:
    rng = np.random.default_rng(13)
    X = rng.random((140, 7)) < 0.5
    y = np.where(rng.random(140) < 0.85, X[:, 1] & X[:, 3], rng.random(140) < 0.5)
    return Sample(X, y)


def _sparse(seed: int) -> tuple[sp.csr_matrix, NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    X = sp.random(140, 14, density=0.3, random_state=rng, format="csr", data_rvs=rng.standard_normal)
    dense = X.toarray()
    return X, dense[:, 0] * 2 - dense[:, 3] + (dense[:, 5] > 0) + 0.3 * rng.normal(size=140)


def sparse_regression() -> Sample:
    return Sample(*_sparse(14))


def sparse_binary() -> Sample:
    X, score = _sparse(15)
    return Sample(X.tocsc(), (score > 0.2).astype(int))


def sparse_codes() -> Sample:
    rng = np.random.default_rng(16)
    X = sp.csr_matrix((rng.random((400, 8)) < 0.3).astype(float))
    dense = X.toarray()
    return Sample(X, ((dense[:, 1] + dense[:, 4] + 0.6 * rng.normal(size=400)) > 0.7).astype(int))


def wide() -> Sample:
    rng = np.random.default_rng(17)
    X = rng.normal(size=(70, 250))
    y = (X[:, 10] + X[:, 200] + 0.4 * rng.normal(size=70) > 0).astype(int)
    return Sample(X, y)


def wide_regression() -> Sample:
    rng = np.random.default_rng(18)
    X = rng.normal(size=(70, 250))
    return Sample(X, X[:, 10] - X[:, 200] + 0.4 * rng.normal(size=70))


def wide_three_classes() -> Sample:
    rng = np.random.default_rng(19)
    X = rng.normal(size=(90, 60))
    score = X[:, 10] + X[:, 50] + 0.4 * rng.normal(size=90)
    return Sample(X, np.digitize(score, [-0.7, 0.7]))


def two_outputs() -> Sample:
    rng = np.random.default_rng(20)
    X = rng.normal(size=(100, 5))
    y = np.column_stack([X[:, 0], X[:, 1] - X[:, 0]]) + 0.3 * rng.normal(size=(100, 2))
    return Sample(X, y)


def survival() -> Sample:
    rng = np.random.default_rng(21)
    X = rng.normal(size=(100, 4))
    records = np.empty(100, dtype=[("event", bool), ("time", float)])
    records["event"] = rng.random(100) < 0.7
    records["time"] = np.exp(X[:, 0] + 0.5 * rng.normal(size=100))
    return Sample(X, records)


def weighted(make: Callable[[], Sample]) -> Sample:
    sample = make()
    weights = np.random.default_rng(22).integers(0, 4, size=len(sample.y)) / 2
    return Sample(sample.X, sample.y, {"sample_weight": weights})


def grouped(make: Callable[[], Sample]) -> Sample:
    sample = make()
    return Sample(sample.X, sample.y, {"groups": np.arange(len(sample.y)) // 4})


def grouped_and_weighted(make: Callable[[], Sample]) -> Sample:
    return Sample(make().X, make().y, weighted(make).rows | grouped(make).rows)
