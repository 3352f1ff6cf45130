"""The real files; numbers are those of the data folder's description."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ppfs.datasets import list_datasets, load_dataset
from ppfs.datasets._registry import find_dataset

pytestmark = pytest.mark.data

DENSE_CSV = ["heart", "ionosphere", "sonar", "wdbc", "credit", "ecoli", "desharnais", "maxwell"]


@pytest.mark.parametrize("name", list_datasets())
def test_every_set_loads_as_registered(name, benchmark_data):
    info, dataset = find_dataset(name), load_dataset(name, folder=benchmark_data)
    assert dataset.X.shape == (info.rows, info.features)
    assert dataset.y.shape == (info.rows,)
    assert len(dataset.feature_names) == info.features
    kinds = {"regression": "f", "classification": "iU"}
    assert dataset.y.dtype.kind in kinds[dataset.task]


@pytest.mark.parametrize("name", DENSE_CSV)
def test_values_equal_those_pandas_reads(name, benchmark_data):
    dataset = load_dataset(name, folder=benchmark_data)
    expected = pd.read_csv(benchmark_data / f"{name}.csv")
    assert tuple(expected.columns[:-1]) == dataset.feature_names
    assert (dataset.X == expected.drop(columns="target").to_numpy()).all()
    assert dataset.y.tolist() == expected["target"].tolist()


@pytest.mark.parametrize(("name", "total"), [("arcene", 70726744), ("madelon", 488083511)])
def test_challenge_sets_have_the_published_sum(name, total, benchmark_data):
    dataset = load_dataset(name, folder=benchmark_data)
    assert dataset.X.dtype == np.float64
    assert dataset.X.sum() == total


@pytest.mark.parametrize(
    ("name", "total", "nonzeros"), [("dexter", 2816528, 28218), ("dorothea", 727760, 727760)]
)
def test_sparse_sets_stay_sparse(name, total, nonzeros, benchmark_data):
    X = load_dataset(name, folder=benchmark_data).X
    assert sparse.isspmatrix_csr(X)
    assert X.dtype == np.float64
    assert (X.sum(), X.nnz) == (total, nonzeros)


def test_wdbc_from_scikit_learn_equals_the_file(benchmark_data, nowhere):
    ours, file = load_dataset("wdbc"), load_dataset("wdbc", folder=benchmark_data)
    np.testing.assert_array_equal(ours.X, file.X)
    np.testing.assert_array_equal(ours.y, file.y)
    assert ours.feature_names == file.feature_names


def test_credit_mixes_letters_and_numbers(benchmark_data):
    credit = load_dataset("credit", folder=benchmark_data)
    assert credit.X.dtype == object
    assert credit.X[0, :3].tolist() == ["b", 30.83, 0.0]
    frame = credit.to_frame()
    categorical = [name for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    assert tuple(categorical) == credit.categorical
    assert frame.drop(columns=[*credit.categorical, "class"]).dtypes.eq(np.float64).all()


def test_labels_are_the_original_ones(benchmark_data):
    assert Counter(load_dataset("heart", folder=benchmark_data).y.tolist()) == {1: 150, 2: 120}
    assert Counter(load_dataset("dorothea", folder=benchmark_data).y.tolist()) == {-1: 722, 1: 78}


@pytest.mark.parametrize(("name", "mean"), [("desharnais", 5046.3), ("maxwell", 8223.2)])
def test_effort_is_in_person_hours(name, mean, benchmark_data):
    dataset = load_dataset(name, folder=benchmark_data)
    assert dataset.target_name == "Effort"
    assert dataset.y.mean() == pytest.approx(mean, abs=0.05)


def test_environment_variable_names_the_folder(benchmark_data, nowhere, monkeypatch):
    monkeypatch.setenv("PPFS_DATA", str(benchmark_data))
    assert load_dataset("heart").X[0, 0] == 70
