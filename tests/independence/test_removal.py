"""What a search removed from a set of columns: the same as the difference of the sets."""

import numpy as np
import pytest

from ppfs._data.reading import read_table
from ppfs.independence import FisherZ
from ppfs.independence._known_answers import fingerprint
from ppfs.independence._removal import gone_from


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ((1, 2, 3, 4), (1, 2, 3), (4,)),
        ((1, 2, 3, 4), (2, 3, 4), (1,)),
        ((1, 2, 3, 4), (1, 4), (2, 3)),
        ((1, 2), (), (1, 2)),
        ((1, 2, 3, 4), (1, 3), None),
        ((1, 2, 3), (3, 2), None),
        ((1, 2), (1, 2), None),
        ((1, 2), (1, 2, 3), None),
        ((1, 2, 3), (1, 5), None),
    ],
)
def test_only_neighbors_that_are_missing_count_as_removed(before, after, gone):
    assert gone_from(before, after) == gone


def test_the_fingerprint_of_a_set_is_the_sum_over_its_members_whatever_was_asked_before():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = X[:, 0] + rng.normal(size=60)
    bound = FisherZ().bind(read_table(X, y, task="regression", owner="FisherZ"))
    given = tuple(range(12))
    for _ in range(200):
        inside, total = bound._with_fingerprint(given)
        assert inside == set(given)
        assert total == sum(map(fingerprint, set(given)))
        first, stop = sorted(rng.integers(0, len(given) + 1, size=2))
        kind = rng.integers(4)
        # A few neighbors go, as in the shrink phase; or any other change, with repeated columns too.
        given = given[:first] + given[stop:] if kind < 3 else tuple(rng.integers(0, 12, size=8).tolist())
