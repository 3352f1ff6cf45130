"""What every selector does around its search, by one that selects the columns it is told to."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ppfs import RowsInTime
from ppfs._data import FitData
from ppfs._estimator.fit_recipe import Selector
from ppfs._estimator.one_step import in_one_step
from ppfs._trace import Outcome, Trace
from ppfs._trace.data import summary_of
from ppfs.exceptions import AmbiguousTargetWarning, DependentRowsWarning, InvalidInputError

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 1] > 0).astype(int)
FRAME = pd.DataFrame({"a": X[:, 0], "t": np.where(X[:, 1] > 0, "x", "y"), "b": np.arange(40)})


class Told(Selector):
    """Selects the columns that it is told to select."""

    _parameter_constraints: dict = {}

    def __init__(
        self, columns=(), *, feature_groups=None, categorical_features="auto", checkpoint="kept", progress=True,
        splitter=None, decided_by=None, error=None,
    ):  # fmt: skip
        self.columns = columns
        self.feature_groups = feature_groups
        self.categorical_features = categorical_features
        self.checkpoint = checkpoint
        self.progress = progress
        self.splitter = splitter
        self.decided_by = decided_by
        self.error = error

    def _fit(self, data):
        self.data_ = data
        table = self._read_table(data, task="auto", decided_by=self.decided_by)
        self._set_columns(list(self.columns), table)
        self.blanket_ = np.array(self.columns, dtype=np.intp)
        self.trace_ = Trace(table.names, table.column_names)
        self.trace_.data = summary_of(table)
        self.trace_.conclude(Outcome(tuple(self.columns)))
        if self.error is not None:
            raise self.error


def test_a_fit_is_made_in_one_step():
    selector = Told([1]).fit(X, Y)
    assert selector.support_.tolist() == [False, True, False]
    assert (selector.n_features_in_, selector.task_, selector._has_missing_labels) == (
        3,
        "classification",
        False,
    )
    assert selector._column_names == ("x0", "x1", "x2")
    selector.set_params(columns=[2], error=KeyError("late"))
    kept = []
    selector._keep_from_failure = lambda draft, error: kept.append((draft.support_.tolist(), type(error)))
    with pytest.raises(KeyError, match="late"):
        selector.fit(X, Y)
    assert kept == [([False, False, True], KeyError)]
    assert selector.support_.tolist() == [False, True, False]
    with pytest.raises(TypeError, match="unexpected argument 'weights'"):
        selector.fit(X, Y, weights=[1])


def test_attributes_are_taken_over_all_at_once():
    selector = Told([1]).fit(X, Y)
    selector.other_ = 1
    before = selector.trace_
    with in_one_step(selector) as draft:
        assert not hasattr(draft, "trace_")
        assert draft.columns == [1]
        draft.new_ = 2
        draft._kept = 3
        assert not hasattr(selector, "new_")
    assert (selector.new_, selector._kept) == (2, 3)
    assert not hasattr(selector, "other_")
    assert not hasattr(selector, "trace_")
    assert before is not None


def test_the_data_of_a_fit_are_kept_where_sufficiency_may_be_wanted():
    selector = Told([1]).fit(X, Y, sample_weight=np.ones(40), time=RowsInTime(block_length=4))
    assert selector._given_with_rows == ("time", "sample_weight")
    assert selector._at_hand.data.X is X
    assert selector._data_of_fit("sufficiency_", "Ask").y is Y
    assert selector.fit(X, Y)._given_with_rows == ()
    state = selector.__getstate__()
    assert "_at_hand" not in state
    assert "_in_parts" not in state
    assert pickle.loads(pickle.dumps(selector))._at_hand is None  # noqa: S301
    selector._watched = type("Watched", (), {"without_data": lambda self: "alone"})()
    assert selector.__getstate__()["_watched"] == "alone"
    selector._sufficiency = selector._blankets = 1
    selector.fit(X, Y, sufficiency=False)
    assert (selector._sufficiency, selector._watched, selector._blankets, selector._at_hand) == (None,) * 4
    with pytest.raises(
        AttributeError, match=r"This Told holds no data to measure sufficiency_ with.*\. Ask\."
    ):
        selector._data_of_fit("sufficiency_", "Ask")
    with pytest.raises(AttributeError, match=r"blankets_ with: .*Fit again, and read blankets_ before"):
        _ = selector.blankets_


def test_what_is_computed_when_it_is_read_is_not_listed():
    selector = Told([1]).fit(X, Y)
    assert {"sufficiency_", "blankets_"}.isdisjoint(dir(selector))
    assert {"fit", "blanket_", "trace_"} <= set(dir(selector))
    assert "task_" not in dir(Told())
    selector._sufficiency = 5
    assert "sufficiency_" in dir(selector)
    assert selector.sufficiency_ == 5
    assert "blankets_" not in dir(selector)


def test_the_diagram_names_what_was_selected():
    assert Told()._sk_visual_block_().name_caption is None
    block = Told([2, 0]).fit(X, Y)._sk_visual_block_()
    assert block.name_caption == "2 of 3 columns selected, most important first: 'x2', 'x0'"
    assert (block.kind, block.names, block.dash_wrapped, block.doc_link_label) == (
        "single",
        "Told",
        True,
        None,
    )
    assert block.estimators.columns == [2, 0]
    assert Told([]).fit(X, Y)._sk_visual_block_().name_caption == "0 of 3 columns selected"


def test_a_copy_for_other_rows_writes_and_shows_nothing():
    selector = Told([1], feature_groups={"g": [0, 1]})
    copy = selector._to_repeat(task="regression", columns=[2])
    assert (copy.checkpoint, copy.progress, copy.columns, copy.feature_groups) == (
        None,
        False,
        [2],
        {"g": [0, 1]},
    )
    assert (selector.checkpoint, selector.columns) == ("kept", [1])


def heard(selector, X, y, **rows):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        selector.fit(X, y, **rows)
    return [one.category for one in found]


def test_doubts_about_target_and_rows_are_told():
    rating = np.arange(40) % 6 + 3
    assert heard(Told([1], decided_by="Say so."), X, rating) == [AmbiguousTargetWarning]
    assert heard(Told([1]), X, rating) == []
    drift = np.cumsum(np.random.default_rng(1).normal(size=40))
    assert heard(Told([1]), X, drift) == [DependentRowsWarning]
    assert heard(Told([1], splitter=5), X, drift) == []
    with pytest.raises(InvalidInputError, match="X has names of the types 'int', 'str'"):
        Told([1]).fit(pd.DataFrame(X, columns=["a", 1, "b"]), Y)


def test_data_are_read_as_those_of_the_fit():
    selector = Told([1], feature_groups={"g": ["a", "b"]}, categorical_features=["b", "t"]).fit(FRAME, Y)
    table = selector._read_again(FitData(FRAME, Y, sample_weight=1.0 + np.arange(40)))
    assert table.names == ("g", "t")
    assert table.n_levels.tolist() == [0, 2, 40]
    assert table.weights.tolist() == list(range(1, 41))
    assert selector._backend == "pandas"
    assert selector.feature_names_in_.tolist() == ["a", "t", "b"]


def test_lagged_copies_are_made_again():
    selector = Told([3], feature_groups={"g": [0, 1]}).fit(X, Y, lags=[1])
    assert selector.trace_.names == ("g", "x2")
    assert selector.data_.X.shape == (39, 6)
    assert selector._with_copies(FitData(X, Y)).X.shape == (39, 6)
    copied = selector._with_copies(FitData(X, Y))
    assert selector._with_copies(copied) is copied
    assert selector._grouped({"g": [0, 1]}) == {
        "g": ["x0", "x1", "x0_lag1", "x1_lag1"],
        "x2": ["x2", "x2_lag1"],
    }
    shown = selector.transform(X)
    assert shown.shape == (40, 1)
    np.testing.assert_array_equal(shown[1:, 0], X[:-1, 0])
    plain = Told([1]).fit(X, Y)
    data = FitData(X, Y)
    assert plain._with_copies(data) is data
    assert plain._grouped({"g": [0]}) == {"g": [0]}


# Transform ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas])
@pytest.mark.parametrize("wanted", ["default", "pandas", "polars"])
def test_columns_of_frames_keep_their_types_where_frames_are_wanted(make, wanted):
    frame = make(FRAME)
    selector = Told([1, 2]).fit(frame, Y).set_output(transform=wanted)
    found = selector.transform(frame)
    if wanted == "default":
        assert isinstance(found, np.ndarray)
        assert found[:2].tolist() == FRAME[["t", "b"]].to_numpy()[:2].tolist()
        return
    is_pandas = isinstance(found, pd.DataFrame)
    assert is_pandas == (wanted == "pandas")
    assert list(found.columns) == ["t", "b"]
    assert found["b"].to_list() == list(range(40))
    assert found["t"].to_list() == FRAME["t"].to_list()
    assert selector.get_feature_names_out().tolist() == ["t", "b"]


def test_an_empty_selection_has_no_columns_and_says_so():
    selector = Told([]).fit(X, Y)
    with pytest.warns(UserWarning, match="no columns to be fitted on.$") as found:
        assert selector.transform(X).shape == (40, 0)
    assert len(found) == 1
    selector.min_features = 0
    with pytest.warns(UserWarning, match=r"Pass min_features=1 to get the one that came closest\.$"):
        selector.transform(X)


def test_names_of_columns_without_names_are_numbered():
    selector = Told([2, 0]).fit(X, Y)
    assert selector.get_feature_names_out().tolist() == ["x0", "x2"]
    assert selector.get_feature_names_out(["p", "q", "r"]).tolist() == ["p", "r"]
    numbered = Told([1]).fit(pd.DataFrame(X, columns=[10, 20, 30]), Y)
    assert numbered.get_feature_names_out().tolist() == ["20"]
    assert selector.inverse_transform(X[:1, :2]).tolist() == [[X[0, 0], 0.0, X[0, 1]]]
    sparse = selector.inverse_transform(sp.csr_array(X[:1, :2]))
    assert sparse.toarray().tolist() == [[X[0, 0], 0.0, X[0, 1]]]


def test_selected_columns_of_a_file_are_found_by_name_or_number(tmp_path):
    selector = Told([2, 0]).fit(FRAME.assign(t=X[:, 1]), Y)
    FRAME[["b", "a"]].astype(float).to_parquet(tmp_path / "named.parquet")
    np.testing.assert_array_equal(selector.transform(tmp_path / "named.parquet"), FRAME[["a", "b"]])
    FRAME[["a"]].to_parquet(tmp_path / "few.parquet")
    with pytest.raises(InvalidInputError, match=r"few\.parquet lacks the selected columns \['b'\]"):
        selector.transform(tmp_path / "few.parquet")
    np.save(tmp_path / "X.npy", X)
    np.testing.assert_array_equal(selector.transform(tmp_path / "X.npy"), X[:, [0, 2]])
    np.save(tmp_path / "wide.npy", np.hstack([X, X]))
    with pytest.raises(InvalidInputError, match=r"wide\.npy has 6 columns, but 3 were seen in fit"):
        selector.transform(tmp_path / "wide.npy")
    assert Told([]).fit(X, Y).transform(tmp_path / "X.npy").shape == (40, 0)
    in_file = Told([1]).fit(tmp_path / "X.npy", Y)
    assert (in_file.n_features_in_, hasattr(in_file, "feature_names_in_")) == (3, False)
    FRAME[["b", "a"]].astype(float).to_parquet(tmp_path / "named.parquet")
    by_name = Told([1]).fit(tmp_path / "named.parquet", Y)
    assert by_name.feature_names_in_.tolist() == ["b", "a"]
    np.testing.assert_array_equal(by_name.transform(tmp_path / "named.parquet").ravel(), FRAME["a"])


class OnDevice:
    """An array of a GPU, as far as columns are chosen from it."""

    __cuda_array_interface__ = {"version": 3}

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __getitem__(self, places):
        return self.values[places]


def test_columns_of_an_array_on_a_device_are_chosen_where_it_is():
    selector = Told([2, 0]).fit(X, Y)
    np.testing.assert_array_equal(selector.transform(OnDevice(X)), X[:, [0, 2]])
    with pytest.raises(InvalidInputError, match="X has 2 columns, but 3 were seen in fit"):
        selector.transform(OnDevice(X[:, :2]))
