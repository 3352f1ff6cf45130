"""Columns that look like identifiers of units with several rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ppfs import PPFS


def kinds(frame: pd.DataFrame, **rows: object) -> dict[str, str]:
    y = np.random.default_rng(5).normal(size=len(frame))
    fitted = PPFS(n_splits=5, random_state=0).fit(frame, y, **rows)
    return {warning.column: warning.kind for warning in fitted.warnings_}


@pytest.mark.parametrize("name", ["patient", "customer_id", "Subject", "userId", "device_no"])
def test_a_column_with_the_name_of_a_unit_is_reported(name: str) -> None:
    rng = np.random.default_rng(0)
    unit = rng.integers(1, 40, size=200)
    assert kinds(pd.DataFrame({name: unit, "a": rng.normal(size=200)})) == {name: "repeated-unit"}
    assert kinds(pd.DataFrame({name: unit, "a": rng.normal(size=200)}), groups=unit) == {}


def test_sorted_units_of_one_size_are_reported_whatever_their_name() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"k": np.repeat(rng.permutation(40), 5), "a": rng.normal(size=200)})
    assert kinds(frame) == {"k": "repeated-unit"}


def test_ordinary_integers_are_not_reported() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.sort(rng.integers(18, 80, size=200)),
            "rooms": rng.integers(1, 30, size=200),
            "site": np.repeat(np.arange(4), 50),
            "grid": rng.integers(0, 50, size=200),
            "paid": rng.integers(0, 50, size=200),
        }
    )
    assert kinds(frame) == {}
