"""What tables of every kind are read as: values, kinds, target, facts and warnings, or the error."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from checks.recorded import Record

from ppfs import RowsInTime
from ppfs._data.column_checks import check_columns
from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError

RECORD = Record(__file__)
N = 120
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 3)).round(4)
Y = (X[:, 0] + 0.5 * RNG.normal(size=N)).round(4)
LABELS = np.where(Y > 0, "ill", "well")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
CYCLE = np.arange(N)


def one(values):
    """Return a frame in which the last column is replaced."""
    return FRAME.assign(c=values)


def changed(row, column, value):
    values = X.copy()
    values[row, column] = value
    return values


def masked(values, where):
    return np.ma.array(values, mask=where)


DAYS = pd.date_range("2020-01-01", periods=N)
RECORDS = np.zeros(N, dtype=[("event", "?"), ("time", "f8")])
RECORDS["event"], RECORDS["time"] = CYCLE % 3 > 0, np.exp(Y)

COLUMNS = {
    "array": X,
    "lists": X.tolist(),
    "float32": X.astype(np.float32),
    "int8": (10 * X).astype(np.int8),
    "uint64": np.abs(1e6 * X).astype(np.uint64) + 2**63,
    "booleans": X > 0,
    "big endian": X.astype(">f8"),
    "objects": X.astype(object),
    "frame": FRAME,
    "polars": lambda: pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME),
    "csr": sp.csr_array(np.where(np.abs(X) > 0.7, X, 0)),
    "coo": sp.coo_array(np.where(np.abs(X) > 0.7, X, 0)),
    "integer names": FRAME.set_axis([10, 20, 30], axis=1),
    "text": one(np.array(["x", "y", "z"])[CYCLE % 3]),
    "text with missing": one([None if row % 5 == 0 else "ab"[row % 2] for row in CYCLE]),
    "categories": one(pd.Categorical(np.array(["x", "y"])[CYCLE % 2], ["z", "y", "x"])),
    "ordered": one(pd.Categorical(np.array(["lo", "hi"])[CYCLE % 2], ["lo", "mid", "hi"], ordered=True)),
    "text and integers": one(["x" if row % 2 else row % 4 for row in CYCLE]),
    "booleans and none": one([None if row % 7 == 0 else row % 2 == 0 for row in CYCLE]),
    "nullable": one(pd.array([None if row % 6 == 0 else row % 4 for row in CYCLE], dtype="Int64")),
    "decimals": one([Decimal(f"{value:.3f}") for value in X[:, 2]]),
    "fractions": one([Fraction(int(1000 * value), 1000) for value in X[:, 2]]),
    "integers beyond floats": one(2**53 + CYCLE % 7),
    "huge integers": one([10**30 + int(10**28 * value) for value in X[:, 2]]),
    "twenty numbers": one(CYCLE % 20),
    "twenty-one numbers": one(CYCLE % 21),
    "constant": one(1.0),
    "all missing": one(np.nan),
    "nearly constant": one(np.where(CYCLE == 7, 1.0, 0.0)),
    "missing": changed(3, 1, np.nan),
    "infinite": changed(3, 1, np.inf),
    "masked": masked(X, X > 1.5),
    "copy": one(X[:, 0]),
    "affine copy": one(3 - 2 * X[:, 0]),
    "running number": one(CYCLE + 5),
    "names": one([f"person {row}" for row in CYCLE]),
    "dates as text": one(DAYS.strftime("%d.%m.%Y")),
    "percent": one([f"{value:.1f}%" for value in X[:, 2]]),
    "prices": one([f"${value:,.2f}" for value in 5000 * np.abs(X[:, 2])]),
    "strays": one(["?" if row == 4 else str(row % 40) for row in CYCLE]),
    "leak": one(Y),
    "dates": one(DAYS),
    "durations": one(pd.to_timedelta(CYCLE, unit="h")),
    "date objects": one([datetime.date(2020, 1, 1)] * N),
    "periods": one(pd.period_range("2020", periods=N, freq="D")),
    "cells of lists": one([[1]] * N),
    "cells of bytes": one([b"x"] * N),
    "complex cells": one([1j] * N),
    "names twice": FRAME.set_axis(["a", "a", "c"], axis=1),
    "names of two types": FRAME.set_axis([1, "b", "c"], axis=1),
    "dict": {"a": X[:, 0]},
    "generator": lambda: (row for row in X),
    "matrix": np.asmatrix(X),
    "structured": np.zeros(N, dtype=[("a", "f8")]),
    "lazy": lambda: pl.from_pandas(FRAME).lazy(),
    "none": None,
    "no path": "nowhere.csv",
    "polars categories": lambda: pl.from_pandas(FRAME).with_columns(
        c=pl.Series(np.array(["x", "y"])[CYCLE % 2]).cast(pl.Enum(["y", "x"]))
    ),
}

TARGETS = {
    "labels": LABELS,
    "booleans": Y > 0,
    "codes": (Y > 0).astype(np.int8),
    "floats of classes": (Y > 0).astype(float),
    "twenty classes": CYCLE % 20,
    "many integers": CYCLE % 50,
    "integers with holes": np.array([1, 5, 90])[CYCLE % 3],
    "objects": LABELS.astype(object),
    "labels and numbers": ["ill" if value > 0 else 1 for value in Y],
    "series": pd.Series(Y, index=CYCLE[::-1]),
    "categories": pd.Series(pd.Categorical(LABELS, ["well", "ill", "dead"])),
    "decimals": [Decimal(f"{value:.3f}") for value in Y],
    "polars": lambda: pl.Series(LABELS),
    "outputs": np.stack([Y, X[:, 1]], axis=1),
    "labels of two kinds": np.stack([Y > 0, X[:, 1] > 0], axis=1).astype(int),
    "text outputs": np.stack([LABELS, LABELS], axis=1),
    "survival": RECORDS,
    "column": Y[:, None],
    "missing": np.where(CYCLE == 3, np.nan, Y),
    "missing label": [None if row == 3 else "ab"[row % 2] for row in CYCLE],
    "infinite": np.where(CYCLE == 3, np.inf, Y),
    "masked": masked(Y, CYCLE == 4),
    "class per row": [f"person {row}" for row in CYCLE],
    "numbers as text": [f"{value:.2f}" for value in Y],
    "dates": DAYS,
    "name": "c",
    "none": None,
    "dict": {"y": Y},
    "short": Y[:-1],
    "one class": ["ill"] * N,
    "bytes": LABELS.astype("S"),
    "ellipses": [...] * 3 + [1] * (N - 3),
    "infinite time": np.array([(True, np.inf)] * N, dtype=RECORDS.dtype),
    "text field": np.zeros(N, dtype=[("event", "?"), ("time", "U3")]),
}

TASKS = {
    "classification of numbers": (Y, "classification"),
    "regression of labels": (LABELS, "regression"),
    "regression of codes": (CYCLE % 3, "regression"),
    "count": (CYCLE % 4, "count"),
    "count of fractions": (np.abs(Y), "count"),
    "count below zero": (CYCLE % 4 - 1, "count"),
    "count and exposure": (np.stack([CYCLE % 4, 1 + CYCLE % 3], axis=1), "count"),
    "positive": (np.exp(Y), "positive"),
    "positive with zero": (np.maximum(Y, 0), "positive"),
    "ordinal": (CYCLE % 3, "ordinal"),
    "ordinal text": (LABELS, "ordinal"),
    "ordinal categories": (
        pd.Series(pd.Categorical(np.array(["lo", "hi"])[CYCLE % 2], ["lo", "hi"], ordered=True)),
        "ordinal",
    ),
    "survival": (RECORDS, "survival"),
    "survival of two columns": (np.stack([np.exp(Y), CYCLE % 2], axis=1), "survival"),
    "survival of numbers": (Y, "survival"),
}

ROWS = {
    "weights": {"sample_weight": CYCLE % 3},
    "weights below zero": {"sample_weight": -np.ones(N)},
    "weights of zero": {"sample_weight": np.zeros(N)},
    "weights too short": {"sample_weight": np.ones(3)},
    "weights of text": {"sample_weight": ["a"] * N},
    "huge weights": {"sample_weight": np.where(CYCLE % 2, 1e300, 1e-300)},
    "groups": {"groups": CYCLE // 4},
    "groups of text": {"groups": np.array(["u", "v", "w"])[CYCLE % 3]},
    "groups with missing": {"groups": [None, *CYCLE[1:]]},
    "groups and weights": {"groups": CYCLE // 4, "sample_weight": CYCLE % 2},
    "time": {"time": "index"},
    "time, reversed": {"time": -CYCLE},
    "time with ties": {"time": CYCLE // 2},
    "time and a gap": {"time": RowsInTime(DAYS, gap=3)},
    "time, missing": {"time": np.where(CYCLE == 2, np.nan, CYCLE)},
    "feature groups": {"feature_groups": {"both": [0, 2]}},
    "feature groups that overlap": {"feature_groups": {"one": [0, 1], "two": [1, 2]}},
    "feature groups of nobody": {"feature_groups": {"one": [0, 7]}},
    "categorical by number": {"categorical_features": [1]},
    "categorical by mask": {"categorical_features": [True, False, False]},
    "no categories": {"categorical_features": None},
    "categorical by dtype": {"categorical_features": "from_dtype"},
    "categorical, unknown": {"categorical_features": ["z"]},
}


def described(X, y, task="auto", **said):
    """Return what a table holds, or the error."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            table = read_table(X, y, task=task, owner="test", **said)
        except InvalidInputError as error:
            text = str(error)
            # scikit-learn's own words change.
            return {"error": text if "sample(s)" not in text and "dtype" not in text else ""}
    values = table.X.toarray() if table.is_sparse else np.asarray(table.X)
    return {
        "shape": values.shape,
        "names": table.column_names,
        "features": table.names_of(range(len(table.columns))),
        "first": values[:6],
        "sums": np.nansum(np.float64(values), axis=0),
        "categorical": table.categorical_mask(range(len(table.columns))),
        "levels": table.n_levels_of(range(len(table.columns))),
        "task": [table.task, table.task_name],
        "target": np.asarray(table.y[:6].tolist(), dtype=object),
        "classes": table.classes if table.task == "classification" else [],
        "constant": table.constant_mask,
        "missing": table.facts.has_missing,
        "weights": None if table.weights is None else table.weights[:6],
        "groups": None if table.groups is None else table.groups[:12],
        "warnings": [str(one) for one in check_columns(table)],
        "heard": [str(one.message) for one in heard if "ppfs" in str(one.category)],
    }


def made(given):
    """Return the data. Polars starts threads with its first table: they would be missing in copies of this process."""
    return given() if callable(given) else given


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("y", ["labels", "numbers"])
def test_columns_are_read_as_on_record(name, y):
    RECORD.check(f"X: {name}, {y}", described(made(COLUMNS[name]), LABELS if y == "labels" else Y))


@pytest.mark.parametrize("name", TARGETS)
def test_targets_are_read_as_on_record(name):
    RECORD.check(f"y: {name}", described(FRAME, made(TARGETS[name])))


@pytest.mark.parametrize("name", TASKS)
def test_tasks_are_read_as_on_record(name):
    y, task = TASKS[name]
    RECORD.check(f"task: {name}", described(FRAME, y, task))


@pytest.mark.parametrize("name", ROWS)
def test_rows_and_groups_are_read_as_on_record(name):
    RECORD.check(f"rows: {name}", described(FRAME, Y, **ROWS[name]))
