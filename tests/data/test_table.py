import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data.reading import read_table
from ppfs._data.storage import DenseColumns, storage_of
from ppfs._data.table import CallersRows, Table
from ppfs._data.target_task import infer_task
from ppfs._data.time_order import TimeOrder
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


def test_the_parameters_name_the_columns_of_a_table():
    grouped = Table.of(np.eye(3), np.arange(3.0), ["g", "h"], "regression", columns=[(0, 2), (1,)])
    assert grouped.column_names == ("x0", "x1", "x2")
    assert grouped.task_choice.reason == "the parameters say so"
    assert Table.of(X, Y, "abcde", "classification", column_names="pqrst").column_names == tuple("pqrst")
    assert grouped.kinds.from_values
    assert grouped.has_names
    assert grouped.frame is None


def test_a_part_of_the_rows_has_a_part_of_everything_or_nothing_of_it():
    rows = CallersRows(9)
    part = rows.of_rows(np.array([3, 1]))
    assert (part.n_callers, part.kept.tolist()) == (9, [3, 1])
    assert (part.weights, part.groups, part.time) == (None, None, None)
    full = CallersRows(
        9,
        np.array([8, 6, 4, 2]),
        np.array([1.0, 2, 3, 4]),
        np.array([0, 0, 1, 1]),
        TimeOrder(np.array([5, 6, 7, 8]), gap=2, block_length=3),
    ).of_rows(np.array([3, 1]))
    assert full.kept.tolist() == [2, 6]
    assert full.weights.tolist() == [4, 2]
    assert full.groups.tolist() == [1, 0]
    assert full.time.positions.tolist() == [8, 6]
    assert full.time.gap == 2


def test_a_lens_changes_what_models_see_and_brings_it_into_the_range_of_32_bits():
    seen = []

    def lens(matrix, n_levels):
        seen.append(n_levels.tolist())
        return matrix * 2

    large = np.column_stack([X[:, 0] * 1e300, X[:, 1]])
    table = Table.of(large, Y, "ab", "classification", n_levels=np.array([0, 3]))
    through = table.seen_through(lens)
    assert table.facts.is_too_large.tolist() == [True, False]
    assert through.facts.is_too_large.tolist() == [False, False]
    assert through.facts.high.tolist() == table.facts.high.tolist()
    np.testing.assert_array_equal(through.take([1, 0]), 2 * large[:, [1, 0]])
    assert through.take([2]).ravel().tolist() == [0, 2, 0, 4]
    assert seen == [[3, 0], [3]]
    assert through.order is table.order
    other = through.with_target(Y[::-1])
    assert other.take([1]).ravel().tolist() == [0, 2, 4, 2]
    assert through.with_response() is through
    assert through.regrouped([[0, 1]]).take([0]).tolist() == (2 * large).tolist()


def test_facts_about_missing_values_and_categories(table):
    assert not table.has_missing
    assert not table.has_missing_labels
    gaps = Table.of(
        np.array([[1.0, np.nan], [2.0, 3.0]]), [0.5, 1.5], "ab", "regression", categories={0: ("p", "q")}
    )
    assert gaps.has_missing
    assert not gaps.has_missing_labels
    labels = Table.of(
        X, Y, "abcde", "classification", categories={1: ("p", "(missing)", "q"), 2: ("u", "(missing)")}
    )
    assert labels.has_missing_labels
    assert not Table.of(
        X, Y, "abcde", "classification", categories={1: ("(missing)", "q")}
    ).has_missing_labels


def test_every_name_and_width_of_features_and_target(table):
    assert table.names_of([3, 0]) == ("e", "a")
    assert table.names_of([3, 4, 0]) == ("e", "the target", "a")
    assert table.column_names_of([4, 1]) == ("(target 0)", "b", "d")
    assert [table.is_single(variable) for variable in range(5)] == [True, False, True, True, True]
    assert not table.has_single_columns_only
    plain = Table.of(X, Y, "abcde", "classification")
    assert plain.has_single_columns_only
    assert plain.places([3, 0, 5]) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    two = Table.of(X, X[:, :2] / 3, "abcde", "regression")
    assert not two.has_single_columns_only
    assert not two.is_single(5)
    assert two.column_names_of([5, 0]) == ("(target 0)", "(target 1)", "a")
    assert two.categorical_mask([5, 1]).tolist() == [False, False, True]


def test_categories_are_marked_by_column(table):
    values = np.column_stack([np.arange(30) / 7, np.arange(30) % 3, np.arange(30), np.arange(30) % 2])
    mixed = Table.of(
        values, np.arange(30) % 2, ["g", "b"], "classification", columns=[(0, 2), (1,)],
        n_levels=np.array([0, 0, 30, 0]),
    )  # fmt: skip
    assert mixed.categorical_mask([0, 1]).tolist() == [False, True, True]
    assert mixed.categorical_mask([1, 2, 0]).tolist() == [True, True, False, True]
    assert mixed.n_levels_of([2, 0]).tolist() == [2, 0, 30]
    assert Table.of(values, np.arange(30) / 7, "abcd", "regression").n_levels_of([4, 1]).tolist() == [0, 0]


def test_a_block_of_features_and_one_with_the_target(table):
    plain = Table.of(np.asfortranarray(X), Y, "abcde", "classification", n_levels=np.array([0, 3, 0, 0, 0]))
    copied, viewed = plain.block([1, 2]), plain.block([1, 2], as_view=True)
    for block in (copied, viewed):
        np.testing.assert_array_equal(block.X, X[:, 1:3])
        assert (block.names, block.n_levels.tolist()) == (("b", "c"), [3, 0])
    assert not np.shares_memory(copied.X, plain.X)
    assert np.shares_memory(viewed.X, plain.X)
    beside = plain.block([5, 0], as_view=True)
    assert (beside.names, beside.n_levels.tolist()) == (("the target", "a"), [3, 0])
    np.testing.assert_array_equal(beside.X, np.column_stack([[0, 1, 0, 2], X[:, 0]]))
    sparse = Table.of(sp.csc_array(X), Y, "abcde", "classification")
    assert sp.issparse(sparse.block([1, 2], as_view=True).X)
    assert sparse.is_sparse
    assert sparse.is_in_memory


def test_a_table_of_a_kind_of_target_has_a_response():
    counts = np.array([0.0, 3.0, 1.0, 8.0])
    table = read_table(X, counts, task="count", owner="a test")
    assert (table.task, table.task_name, table.origin, table.response_given) == (
        "regression",
        "count",
        None,
        None,
    )
    response = table.with_response()
    np.testing.assert_allclose(response.y, 2 * np.sqrt(counts + 0.375))
    assert response.task_name == "regression"
    assert response.origin[0].name == "count"
    assert response.origin[1].tolist() == counts.tolist()
    assert response.response_given is None
    assert response.order.key(5) != table.order.key(5)
    assert response.rows(np.array([1, 2])).origin[1].tolist() == [3.0, 1.0]
    ordinal = read_table(X, [0, 1, 2, 1], task="ordinal", owner="a test")
    assert (ordinal.task, ordinal.with_response().task) == ("classification", "regression")
    record = np.array(
        [(True, 1.0), (False, 2.0), (True, 3.0), (True, 4.0)], dtype=[("event", "?"), ("time", "f8")]
    )
    survival = read_table(X, record, task="auto", owner="a test").with_response()
    np.testing.assert_allclose(survival.y, np.array([1, 0, 1, 1]) - np.cumsum([1 / 4, 0, 1 / 2, 1]))
    assert survival.response_given(np.ones((4, 0))).shape == (4,)
    plain = Table.of(X, Y, "abcde", "classification")
    assert plain.with_response() is plain
    assert plain.task_name == "classification"
    labels = read_table(X, [["a", "b"], ["c", "b"], ["a", "d"], ["c", "d"]], task="auto", owner="a test")
    assert (labels.task, labels.task_name) == ("regression", "classification")


def test_features_are_put_together_under_the_name_of_the_first(table):
    together = table.regrouped([[2, 0], [1], [3]])
    assert together.names == ("c", "pair", "e")
    assert together.columns == ((2, 0), (1, 3), (4,))
    assert together.weights is table.weights
    assert together.column_names == table.column_names


def test_the_target_by_its_task(table):
    assert table.values(table.target) is table.y
    assert table.task_of(table.target) == "classification"
    assert table.known_labels.tolist() == ["u", "v", "w"]
    part = table.rows(np.array([0, 1]))
    assert (part.classes.tolist(), part.known_labels.tolist()) == (["u", "v"], ["u", "v", "w"])
    numbers = Table.of(X, np.array([3, 1, 1, 9]), "abcde", "classification")
    assert numbers.classes.tolist() == [1, 3, 9]
    assert numbers.codes.tolist() == [1, 0, 0, 2]
    quantities = Table.of(X, np.array([3, 1, 1, 9]), "abcde", "regression")
    assert quantities.classes.tolist() == [1, 3, 9]
    assert quantities.codes.tolist() == [3, 1, 1, 9]
    assert quantities.known_labels.tolist() == []
