"""Data frames without a dependency on one: pandas if it is there, else polars."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._libraries import first_installed

BACKENDS = ("pandas", "polars")


@dataclass(frozen=True)
class Coded:
    """A categorical column: ``levels[codes[i]]`` is the value in row i."""

    codes: NDArray[np.integer[Any]]
    levels: tuple[str, ...]


def choose_backend(backend: str | None) -> str:
    """Return the library to build frames with, the first installed one if none is asked for."""
    if backend is None:
        backend = first_installed(BACKENDS, "A data frame")
    if backend not in BACKENDS:
        raise ValueError(f"Unknown data frame backend {backend!r}. Choose one of: {', '.join(BACKENDS)}.")
    return backend


def build_frame(columns: Mapping[str, NDArray[Any] | Coded], backend: str | None) -> Any:
    """Build a frame; `Coded` columns become pandas' Categorical or polars' Enum."""
    if choose_backend(backend) == "pandas":
        return _pandas_frame(columns)
    return _polars_frame(columns)


def _pandas_frame(columns: Mapping[str, NDArray[Any] | Coded]) -> Any:
    import pandas as pd

    def column(values: NDArray[Any] | Coded) -> Any:
        if isinstance(values, Coded):
            return pd.Categorical.from_codes(values.codes, categories=list(values.levels))
        return values

    return pd.DataFrame({name: column(values) for name, values in columns.items()})


def _polars_frame(columns: Mapping[str, NDArray[Any] | Coded]) -> Any:
    import polars as pl

    def column(values: NDArray[Any] | Coded) -> Any:
        if isinstance(values, Coded):
            # Picking from the levels copies codes, not strings; polars 2 casts no integers to Enum.
            return pl.Series(values.levels, dtype=pl.Enum(values.levels)).gather(values.codes)
        return pl.Series(values)

    return pl.DataFrame({name: column(values) for name, values in columns.items()})
