"""Variables in the order of their content: digests are computed once, and twins are found among those compared."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data.ordering import ContentOrder
from ppfs._data.storage import vector_digest
from ppfs._data.table import Table

X = np.array([[1.0, 0, 1, 0, 2], [2, 1, 2, 1, 0], [3, 0, 3, 0, 0]])
Y = np.array([0.0, 1.0, 0.0])


def table_of(make=np.asarray, **options):
    return Table.of(make(X), Y, options.pop("names", "abcde"), "regression", **options)


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("at_once", [1, 7, 2**18])
def test_digests_that_are_entered_together_are_those_of_single_variables(make, at_once, monkeypatch):
    monkeypatch.setattr("ppfs._data.ordering._ENTRIES_AT_ONCE", at_once)
    one, other = table_of(make), table_of(make)
    one.order.enter([4, 0, 2, 5])
    assert sorted(one.order._keys) == ([0, 2, 4] if make is np.asarray else [])
    for variable in range(6):
        expected = vector_digest(Y if variable == 5 else X[:, variable], 0)
        assert one.order.key(variable) == other.order.key(variable) == expected
    one.order.enter(range(6))
    assert sorted(map(sorted, one.order._alike.values())) == [[0, 2], [1, 3, 5], [4]]


def test_groups_are_entered_one_by_one_and_do_not_depend_on_the_order_of_columns():
    table = table_of(
        names=["p", "q", "r"], columns=[(0, 1), (3, 2), (4,)], n_levels=np.array([0, 2, 0, 2, 0])
    )
    table.order.enter(range(4))
    assert sorted(table.order._keys) == [2]
    assert table.order.key(0) == table.order.key(1) != table.order.key(2)
    assert table.order.has_twin(0, {1, 2})
    # As numbers the second column is another one.
    as_numbers = table_of(names=["p", "q", "r"], columns=[(0, 1), (3, 2), (4,)])
    assert as_numbers.order.key(0) != table.order.key(0)


def test_digests_are_known_to_the_order_of_another_target_except_its_own():
    table = table_of()
    table.order.enter([0, 1])
    table.order.key(5)
    order = table.order.for_target(table.with_target(X[:, 0])._target)
    assert sorted(order._keys) == [0, 1]
    assert order.key(5) == order.key(0) != table.order.key(5)


@pytest.mark.parametrize(
    "others", [{1, 3}, frozenset({1, 3}), frozenset({0, 1, 2, 3, 4}), {2, 4}, set(), {0}, {4}]
)
def test_a_twin_is_another_variable_of_the_same_content(others):
    order = table_of().order
    for variable in (0, 1, 4, 0):
        expected = any(other != variable and (X[:, other] == X[:, variable]).all() for other in others)
        assert order.has_twin(variable, others) is expected


def test_twins_are_looked_for_among_the_others_only_even_if_more_were_compared():
    order = table_of().order
    everything = frozenset(range(6))
    assert order.has_twin(0, everything)
    assert order.has_twin(1, everything)
    assert not order.has_twin(0, {1, 3})
    assert not order.has_twin(4, everything)
    assert order.has_twin(5, {3})


def test_the_canonical_order_is_that_of_the_digests_and_then_of_the_numbers():
    order = table_of().order
    expected = tuple(sorted(range(6), key=lambda variable: (order.key(variable), variable)))
    assert order.canonical(range(6)) == expected
    assert order.canonical([4, 2, 0]) == tuple(variable for variable in expected if variable in (0, 2, 4))
    assert order.canonical([2, 0, 2]) == (0, 2, 2)
    assert order.canonical(iter([3])) == (3,)
    assert order.canonical([]) == ()
    fresh = table_of().order
    assert fresh.canonical([2, 0]) == (0, 2)
    assert fresh.canonical([4, 2, 0, 1]) == tuple(
        variable for variable in expected if variable in (0, 1, 2, 4)
    )
    assert sorted(range(6), key=order.by_content) == list(expected)


def test_what_is_known_is_not_computed_again():
    table = table_of()
    order = ContentOrder(table._columns, table.features, table._target, {0: b"0", 1: b"0", 2: b"a"})
    assert order.has_twin(0, {1, 2})
    assert not order.has_twin(2, {0, 1})
    assert order.canonical([2, 1, 0]) == (0, 1, 2)
