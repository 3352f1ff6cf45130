import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from ppfs.datasets import load_dataset


@pytest.fixture
def mixed():
    X = np.array([["b", 1.0], ["a", 2.0], ["b", 3.0]], dtype=object)
    wdbc = load_dataset("wdbc")
    return dataclasses.replace(
        wdbc, X=X, y=np.array(["+", "-", "+"]), feature_names=("letter", "number"), categorical=("letter",)
    )


def test_pandas_frame_has_typed_columns_and_the_target_last(mixed):
    frame = mixed.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["letter", "number", "class"]
    assert isinstance(frame["letter"].dtype, pd.CategoricalDtype)
    assert frame["letter"].tolist() == ["b", "a", "b"]
    assert frame["number"].dtype == np.float64
    assert frame["class"].tolist() == ["+", "-", "+"]


def test_polars_frame_holds_the_same(mixed):
    frame = mixed.to_frame(backend="polars")
    assert frame.schema["letter"] == pl.Enum(["a", "b"])
    assert frame.rows() == [("b", 1.0, "+"), ("a", 2.0, "-"), ("b", 3.0, "+")]


def test_polars_serves_where_pandas_is_not_installed(mixed, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda package: package if package == "polars" else None)
    assert isinstance(mixed.to_frame(), pl.DataFrame)


def test_no_frame_library_is_an_error_with_the_remedy(mixed, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    with pytest.raises(ImportError, match="pandas or polars"):
        mixed.to_frame()


def test_unknown_backend_lists_the_choices(mixed):
    with pytest.raises(ValueError, match=r"'dask'\. Choose one of: pandas, polars"):
        mixed.to_frame(backend="dask")


def test_sparse_set_refuses_a_frame(mixed):
    dataset = dataclasses.replace(mixed, name="dexter", X=sparse.csr_matrix(np.eye(3)))
    with pytest.raises(ValueError, match=r"'dexter' is sparse \(3 x 3\).*Use `X`"):
        dataset.to_frame()


def test_integer_labels_stay_integers(mixed):
    dataset = dataclasses.replace(mixed, y=np.array([-1, 1, 1]))
    assert dataset.to_frame()["class"].dtype == np.int64
