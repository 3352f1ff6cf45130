import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS, PPFSCV
from ppfs._data.reading import read_table
from ppfs._data.reading.masked import unmasked
from ppfs.blanket import StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import Stepwise


@pytest.fixture
def y():
    return np.arange(60) % 2


@pytest.fixture
def X(y):
    """Noise beside a column that is the target beneath its mask."""
    noise = np.random.default_rng(0).normal(size=60)
    return np.ma.array(np.column_stack([noise, y]), mask=[[False, True]] * 60)


def with_nan(X):
    return X.astype(np.float64).filled(np.nan)


def test_a_fully_masked_column_is_not_selected(X, y):
    assert PPFS(n_splits=10, random_state=0).fit(X.data, y).support_.tolist() == [False, True]
    assert PPFS(n_splits=10, random_state=0).fit(X, y).support_.tolist() == [False, False]


def test_masked_entries_are_missing_values(X, y):
    X.mask = np.random.default_rng(1).random(X.shape) < 0.1
    masked, missing = (read_table(values, y, task="auto", owner="PPFS") for values in (X, with_nan(X)))
    np.testing.assert_array_equal(masked.X, missing.X)
    assert masked.has_missing


def test_masks_of_rows_in_a_list_are_kept(X, y):
    assert PPFS(n_splits=10, random_state=0).fit(list(X), y).support_.tolist() == [False, False]


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: PPFS(n_splits=10, random_state=0).fit(X, y),
        lambda X, y: PPFS.calibrated(random_state=0).fit(X, y),
        lambda X, y: Stepwise(DecisionTreeClassifier(), random_state=0).fit(X, y),
        lambda X, y: PPFSCV(DecisionTreeClassifier(), random_state=0).fit(X, y),
        lambda X, y: StabilitySelection(PPFS(n_splits=10), n_pairs=1, random_state=0).fit(X, y),
    ],
)
def test_a_masked_target_is_refused(X, y, fit):
    masked = np.ma.array(y, mask=np.arange(60) % 20 == 3)
    with pytest.raises(InvalidInputError, match="y contains NaN or other missing values"):
        fit(X.data, masked)


def test_rows_of_weight_zero_are_left_out_before_masks_are_read(X, y):
    weights = np.ones(60)
    weights[:5] = 0
    masked = np.ma.array(y, mask=np.arange(60) < 5)
    table = read_table(X, masked, task="auto", owner="PPFS", sample_weight=weights)
    assert table.y.tolist() == y[5:].tolist()
    assert np.isnan(table.X[:, 1]).all()


@pytest.mark.parametrize("argument", ["sample_weight", "groups"])
def test_masked_weights_and_groups_are_refused(X, y, argument):
    given = {argument: np.ma.array(np.ones(60), mask=np.arange(60) == 7)}
    with pytest.raises(InvalidInputError, match=rf"{argument}.*7"):
        PPFS(n_splits=10).fit(X.data, y, **given)


def test_transform_does_not_uncover_masked_entries(X, y):
    fitted = PPFS(DecisionTreeClassifier(), n_splits=10, random_state=0).fit(X.data, y)
    assert fitted.support_.tolist() == [False, True]
    assert np.isnan(fitted.transform(X)).all()


@pytest.mark.parametrize(
    ("values", "mask", "expected"),
    [
        (np.array([1, 2, 3]), [0, 1, 0], [1.0, np.nan, 3.0]),
        (np.array([True, False]), [0, 1], [1.0, np.nan]),
        (np.array(["a", "b"]), [1, 0], [None, "b"]),
        (np.array(["a", 2], dtype=object), [0, 1], ["a", None]),
        (np.array([1.5, 2.5], dtype=np.float32), [1, 0], [np.nan, 2.5]),
    ],
)
def test_every_type_has_its_missing_value(values, mask, expected):
    result = unmasked(np.ma.array(values, mask=mask))
    assert type(result) is np.ndarray
    assert [value is None or value != value for value in result] == [bool(flag) for flag in mask]
    assert [value for value in result.tolist() if value == value] == [v for v in expected if v == v]


def test_whole_numbers_beyond_floats_stay_apart(y):
    X = np.ma.array(2**60 + np.arange(60)[:, None], mask=np.arange(60)[:, None] == 5)
    read = read_table(X, y, task="auto", owner="PPFS").X.ravel()
    assert np.unique(read[~np.isnan(read)]).size == 59


def test_an_array_without_masked_entries_is_not_copied():
    values = np.ma.array(np.zeros((3, 2), dtype=np.int8))
    assert np.shares_memory(unmasked(values), values.data)
    assert unmasked(values).dtype == np.int8
