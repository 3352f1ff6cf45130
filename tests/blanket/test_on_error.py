"""A column that the estimator fails on ends the search, or is left out."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from ppfs import PPFS
from ppfs.exceptions import EstimatorFailedError, InvalidInputError, UnusableColumnError
from ppfs.independence import FisherZ
from ppfs.independence._predictive.risks.trees import TreeGrower


class Squeamish(LinearRegression):
    """Refuses columns with values beyond 100."""

    def fit(self, X, y):
        if np.abs(X).max() > 100:
            raise RuntimeError("too much")
        return super().fit(X, y)


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 8))
    y = X[:, 0] - X[:, 1] + 0.3 * generator.normal(size=60)
    X[:, [2, 5]] *= 1000
    return X, y


def _search(**parameters):
    return PPFS(**{"estimator": Squeamish(), "n_splits": 5, "random_state": 0, **parameters})


def test_an_estimator_that_fails_names_the_column(data):
    with pytest.raises(EstimatorFailedError, match=r"failed on 'x2'.*too much"):
        _search().fit(*data)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_columns_that_fail_can_be_left_out(data, n_jobs):
    X, y = data
    # Threads: a process could not import what this file defines.
    with parallel_config("threading"):
        fitted = _search(on_error="drop", n_jobs=n_jobs).fit(X, y)
    without = _search(correction=None).fit(np.delete(X, [2, 5], axis=1), y)
    kept = np.setdiff1d(np.arange(8), [2, 5])
    assert fitted.blanket_.tolist() == kept[without.blanket_].tolist()
    np.testing.assert_array_equal(fitted.pvalues_[kept], without.pvalues_)
    assert np.isnan(fitted.pvalues_[[2, 5]]).all()
    assert {"x2", "x5"}.isdisjoint(fitted.trace_.to_frame()["feature"])
    (note,) = [note for note in fitted.trace_.notes if "left out" in note]
    assert "'x2', 'x5'" in note
    assert "too much" in note
    assert fitted.trace_.explain("x5").startswith("'x5' was left out (on_error='drop'): EstimatorFailedError")


def test_columns_that_fail_are_left_out_given_others_too(data):
    fitted = _search(on_error="drop", condition_on=[1]).fit(*data)
    assert fitted.blanket_.tolist() == [0]
    assert set(fitted.trace_.outcome.left_out) == {2, 5}


def test_columns_that_fail_are_not_filled_up_with(data):
    assert {2, 5}.isdisjoint(_search(on_error="drop", min_features=6).fit(*data).blanket_.tolist())


def test_what_failed_is_no_answer(data, tmp_path):
    search = _search(on_error="drop", checkpoint=tmp_path).fit(*data)
    with pytest.raises(EstimatorFailedError, match="'x2'"):
        search.set_params(on_error="raise").fit(*data)
    with pytest.raises(EstimatorFailedError, match="'x2'"):
        _search(checkpoint=tmp_path).fit(*data)
    again = _search(on_error="drop", checkpoint=tmp_path).fit(*data)
    assert again.n_fits_ == 0
    assert set(again.trace_.outcome.left_out) == {2, 5}


def test_an_estimator_that_fails_on_all_columns_is_an_error(data):
    with pytest.raises(EstimatorFailedError, match=r"No column could be tested.*'x0'"):
        _search(on_error="drop", estimator=Failing()).fit(*data)


class Failing(DummyRegressor):
    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("never")


def test_a_column_of_a_file_that_holds_gaps_can_be_left_out(data, tmp_path, monkeypatch):
    monkeypatch.setattr(TreeGrower, "bytes_per_block", 60 * 8 * 5)
    X, y = data[0].copy(), data[1]
    expected = _search(estimator=DecisionTreeRegressor(random_state=0)).fit(np.delete(X, 6, axis=1), y)
    X[3, 6] = np.nan
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(UnusableColumnError, match="'x6'"):
        _search(estimator=None).fit(tmp_path / "X.npy", y)
    fitted = _search(estimator=None, on_error="drop").fit(tmp_path / "X.npy", y)
    np.testing.assert_array_equal(np.delete(fitted.pvalues_, 6), expected.pvalues_)
    assert list(fitted.trace_.outcome.left_out) == [6]


def test_text_in_a_file_can_be_left_out(data, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X = pandas.DataFrame(data[0]).add_prefix("c").assign(word="a", y=data[1])
    X.to_parquet(tmp_path / "X.parquet")
    fitted = _search(estimator=None, on_error="drop").fit(tmp_path / "X.parquet", "y")
    assert "'word'" in "".join(fitted.trace_.notes)


def test_a_test_without_estimator_has_nothing_to_drop(data):
    with pytest.raises(InvalidInputError, match="on_error='drop' would have no effect"):
        PPFS(independence=FisherZ(), on_error="drop").fit(*data)
