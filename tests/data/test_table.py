import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data.reading import read_table
from ppfs._data.storage import DenseColumns, storage_of
from ppfs._data.table import CallersRows, Table
from ppfs._data.target_task import infer_task
from ppfs.blanket._run.circumstances import digest_of
from ppfs.exceptions import InvalidInputError

X = np.array([[1.0, 0, 5, 5, 0], [2, 1, 5, 6, 0], [3, 2, 5, 7, 0], [4, 1, 5, 8, 1]])
Y = np.array(["u", "v", "u", "w"])


@pytest.fixture
def table():
    """Five columns, the second categorical, in four features: 0, (1, 3), 2, 4."""
    return Table.of(
        X,
        Y,
        ["a", "pair", "c", "e"],
        "classification",
        columns=((0,), (1, 3), (2,), (4,)),
        column_names="abcde",
        n_levels=np.array([0, 3, 0, 0, 0]),
        categories={1: ("p", "q", "r")},
        rows=CallersRows(4, weights=np.array([1.0, 2, 3, 4]), groups=np.array([0, 1, 0, 1])),
    )


def test_four_arguments_make_a_table_of_quantities():
    plain = Table.of(X, Y, "abcde", "classification")
    assert plain.columns == ((0,), (1,), (2,), (3,), (4,))
    assert plain.column_names == plain.names
    assert plain.n_levels.tolist() == [0] * 5
    assert plain.categories == {}
    assert not plain.is_mixed
    assert not plain.has_feature_groups


def test_features_are_counted_not_columns(table):
    assert table.n_features == table.target == 4
    assert table.is_mixed
    assert table.has_feature_groups


def test_take_brings_all_columns_of_a_feature_in_order(table):
    np.testing.assert_array_equal(table.take([2, 1, 0]), X[:, [2, 1, 3, 0]])
    assert table.take([2, 1]).flags.c_contiguous
    assert table.places([2, 1, 0]) == [slice(0, 1), slice(1, 3), slice(3, 4)]
    assert table.n_levels_of([2, 1, 0]).tolist() == [0, 3, 0, 0]


def test_target_may_be_taken_too(table):
    taken = table.take([1, 4, 0])
    np.testing.assert_array_equal(taken[:, 2], [0, 1, 0, 2])
    np.testing.assert_array_equal(taken[:, [0, 1, 3]], X[:, [1, 3, 0]])
    assert table.places([1, 4, 0]) == [slice(0, 2), slice(2, 3), slice(3, 4)]
    assert table.n_levels_of([1, 4, 0]).tolist() == [3, 0, 3, 0]


def test_nothing_taken(table):
    assert table.take([]).shape == (4, 0)
    assert table.places([]) == []
    assert table.n_levels_of([]).tolist() == []


def test_every_column_stands_where_places_says(table):
    order = [3, 1, 4, 0]
    taken = table.take(order)
    for variable, place in zip(order, table.places(order), strict=True):
        np.testing.assert_array_equal(taken[:, place], table.take([variable]))


def test_sparse_features_are_taken_sparsely(table):
    sparse = Table.of(
        sp.csc_array(X), Y, table.names, table.task, columns=table.columns, n_levels=table.n_levels
    )
    taken = sparse.take([1, 3])
    assert taken.format == "csr"
    np.testing.assert_array_equal(taken.toarray(), table.take([1, 3]))
    np.testing.assert_array_equal(sparse.values(1), table.values(1))
    np.testing.assert_array_equal(sparse.constant_mask, table.constant_mask)
    assert [sparse.order.key(v) for v in range(5)] == [table.order.key(v) for v in range(5)]


def test_values_of_a_group_are_a_matrix(table):
    assert table.values(0).shape == (4,)
    np.testing.assert_array_equal(table.values(1), X[:, [1, 3]])
    assert table.values(4) is table.y


def test_task_of_each_variable():
    y = np.arange(30)
    columns = np.column_stack([y / 7, y, y % 2, y])
    table = Table.of(columns, y / 3, "abcd", "regression", n_levels=np.array([0, 0, 0, 30]))
    assert [table.task_of(v) for v in range(4)] == [
        "regression",
        "regression",
        "classification",
        "classification",
    ]
    assert table.task_of(4) == "regression"


def test_group_is_no_target(table):
    with pytest.raises(InvalidInputError, match=r"group 'pair' has 2 columns, so it cannot be a target"):
        table.task_of(1)


def test_group_is_constant_when_all_its_columns_are():
    table = Table.of(X, Y, "pqr", "classification", columns=((0, 2), (1, 3), (4,)))
    assert table.constant_mask.tolist() == [False, False, False]
    ones = Table.of(np.ones((4, 3)), Y, "pq", "classification", columns=((0, 1), (2,)))
    assert ones.constant_mask.tolist() == [True, True]


def test_codes_and_quantities_of_equal_numbers_are_no_twins():
    twice = X[:, [1, 1, 1]]
    table = Table.of(twice, Y, "abc", "classification", n_levels=np.array([3, 0, 3]))
    assert table.order.key(0) != table.order.key(1)
    assert table.order.key(0) == table.order.key(2)
    assert table.order.has_twin(0, {1, 2})
    assert not table.order.has_twin(1, {0, 2})


def test_groups_are_twins_when_their_columns_are():
    columns = X[:, [0, 1, 1, 0, 0]]
    table = Table.of(columns, Y, "pqr", "classification", columns=((0, 1), (2, 3), (4,)))
    assert table.order.has_twin(0, {1, 2})
    assert not table.order.has_twin(2, {0, 1})


def test_keys_of_quantities_do_not_depend_on_features(table):
    plain = Table.of(X, Y, "abcde", "classification")
    assert table.order.key(0) == plain.order.key(0) == storage_of(X).digest(0, 0)
    assert table.order.key(4) == plain.order.key(5)


def test_canonical_order_does_not_depend_on_the_callers():
    moved = [3, 1, 0, 2]
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 4))
    one = Table.of(values, Y, "abcd", "classification").order.canonical(range(4))
    other = Table.of(values[:, moved], Y, "abcd", "classification").order.canonical(range(4))
    assert one == tuple(moved[j] for j in other)


def test_rows_carry_everything_along(table):
    part = table.rows(np.array([3, 0]))
    np.testing.assert_array_equal(part.X, X[[3, 0]])
    assert part.y.tolist() == ["w", "u"]
    assert part.columns == table.columns
    assert part.names == table.names
    assert part.column_names == table.column_names
    # Of three categories only two occur, but codes and their number are those of the whole table.
    assert part.n_levels_of([1]).tolist() == [3, 0]
    assert part.categories == table.categories
    assert part.weights.tolist() == [4, 1]
    assert part.groups.tolist() == [1, 0]
    assert part.kept_rows.tolist() == [3, 0]
    assert part.rows(np.array([1])).kept_rows.tolist() == [0]


def test_rows_know_their_place_among_the_callers():
    table = read_table(X, Y, task="auto", owner="PPFS", sample_weight=[0, 1, 1, 2])
    assert table.rows(np.array([0, 2])).kept_rows.tolist() == [1, 3]


@pytest.mark.parametrize("structured", [False, True])
def test_target_of_two_columns(structured):
    two = np.array([[1, 2.5], [0, 1.0], [1, 3.0], [1, 4.0]])
    y = two
    if structured:
        y = np.array([(bool(event), time) for event, time in two], dtype=[("event", bool), ("time", float)])
    table = Table.of(X, y, "abcde", "regression")
    np.testing.assert_array_equal(table.codes, two)
    np.testing.assert_array_equal(table.classes, np.unique(two))
    assert table.take([0, 5]).shape == (4, 3)
    assert table.places([5, 0]) == [slice(0, 2), slice(2, 3)]
    assert table.n_levels_of([5, 0]).tolist() == [0, 0, 0]
    assert table.rows(np.array([1])).codes.tolist() == [[0, 1.0]]
    assert len(digest_of(table)) == 16
    assert table.order.key(5) != Table.of(X, y[::-1], "abcde", "regression").order.key(5)


def test_a_column_of_gaps_is_constant():
    gaps = np.column_stack([np.full(4, np.nan), [np.nan, 1, 1, 1], [2.0, 2, 2, 2]])
    assert Table.of(gaps, Y, "abc", "classification").constant_mask.tolist() == [True, False, True]


@pytest.mark.parametrize("column", [True, np.False_, 1.0, np.float64(0), None])
def test_only_names_and_whole_numbers_call_a_column(table, column):
    """A mask would otherwise be read as columns 1 and 0."""
    with pytest.raises(InvalidInputError, match="neither the name nor the number of a column"):
        table.features.index(column)
    assert table.features.index(np.int64(3)) == 1


@pytest.mark.parametrize("dtype", [int, float, np.uint8])
def test_whole_numbers_are_labels_up_to_twenty_different_ones(dtype):
    assert infer_task(np.arange(20, dtype=dtype)) == "classification"
    assert infer_task(np.arange(21, dtype=dtype)) == "regression"
    assert infer_task(np.repeat(np.arange(20, dtype=dtype), 3)) == "classification"


def test_columns_of_groups_without_names_are_numbered():
    table = Table.of(np.eye(3), np.arange(3.0), ["both", "alone"], "regression", columns=[(0, 2), (1,)])
    assert table.column_names_of([1, 2, 0]) == ("x1", "(target 0)", "x0", "x2")


@pytest.mark.parametrize("as_rows", [False, True])
def test_another_target_leaves_nothing_of_the_first_behind(table, as_rows):
    if as_rows:
        table = table.rows(np.arange(4))
    assert table.codes.tolist() == [0, 1, 0, 2]
    key = table.order.key(4)
    other = table.with_target(np.array(["w", "w", "u", "u"]))
    assert other.classes.tolist() == ["u", "w"]
    assert other.codes.tolist() == [1, 1, 0, 0]
    assert other.order.key(4) != key
    assert other.take([4]).ravel().tolist() == [1, 1, 0, 0]
    assert table.codes.tolist() == [0, 1, 0, 2]
    assert table.order.key(4) == key


def test_the_target_that_was_replaced_is_no_twin():
    values = np.array([0.0, 1, 0, 1])
    table = Table.of(values[:, None], values, "a", "regression")
    assert table.order.has_twin(1, {0})
    assert not table.with_target(values[::-1]).order.has_twin(1, {0})


def test_a_part_of_the_rows_knows_the_labels_of_all():
    X = np.arange(6.0)[:, np.newaxis]
    table = read_table(X, np.array(["a", "b", "c"] * 2), task="classification", owner="PPFS")
    assert table.rows(np.array([0, 1])).known_labels.tolist() == ["a", "b", "c"]
    assert read_table(X, X[:, 0] / 3, task="regression", owner="PPFS").known_labels.size == 0


def test_neighboring_columns_are_a_view_of_the_table_and_others_are_copies():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(9, 6)))
    columns = DenseColumns(X)
    for wanted, is_view in [
        ([2, 3, 4], True),
        ([5], True),
        ([0, 2], False),
        ([3, 2], False),
        ([1, 3, 2, 4], False),
    ]:
        block = columns.view(wanted, np.zeros(len(wanted), dtype=np.intp), ("a",) * len(wanted))
        np.testing.assert_array_equal(block.X, X[:, wanted])
        assert np.shares_memory(block.X, X) == is_view
