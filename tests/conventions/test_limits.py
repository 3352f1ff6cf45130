"""How many things fit into a limit."""

import pytest

from ppfs._conventions import as_many_as_fit


@pytest.mark.parametrize(
    ("limit", "size", "number"), [(10, 3, 3), (10, 5, 2), (10, 10, 1), (10, 11, 1), (10, 0, 10), (0, 5, 1)]
)
def test_as_many_as_fit_and_at_least_one(limit, size, number):
    assert as_many_as_fit(limit, size) == number
