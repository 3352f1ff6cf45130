"""Random divisions of the rows against scikit-learn's own, seed by seed."""

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from ppfs._rows.shuffles import divider


def _expected(splitter, n_rows, labels, groups, test_size, seed):
    shuffle = splitter(n_splits=1, test_size=test_size, random_state=np.random.RandomState(seed))
    return next(shuffle.split(np.empty((n_rows, 0)), labels, groups))


@pytest.mark.parametrize("test_size", [0.2, 0.25, 0.5, 0.37])
@pytest.mark.parametrize("n_classes", [None, 1, 2, 3, 10])
def test_divisions_are_those_of_scikit_learn(n_classes, test_size):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(55, 99))
        labels = None
        if n_classes is not None:
            # Classes of equal size have equal remainders, of which one is chosen at random.
            labels = (
                np.arange(n_rows) % n_classes if seed % 2 else rng.permutation(np.arange(n_rows) % n_classes)
            )
            labels = np.array(["b", "a", "d", "c", "f", "e", "h", "g", "j", "i"])[labels]
        found = divider(n_rows, labels, None, test_size)(np.random.RandomState(seed))
        splitter = ShuffleSplit if labels is None else StratifiedShuffleSplit
        for part, expected in zip(
            found, _expected(splitter, n_rows, labels, None, test_size, seed), strict=True
        ):
            assert part.dtype == np.intp
            np.testing.assert_array_equal(part, expected)


def test_classes_of_different_sizes_are_divided_as_by_scikit_learn():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(4), rng.integers(2, 30, size=4))
        rng.shuffle(labels)
        if min(np.ceil(0.2 * labels.size), labels.size) < 4:
            continue
        found = divider(labels.size, labels, None, 0.2)(np.random.RandomState(seed))
        expected = _expected(StratifiedShuffleSplit, labels.size, labels, None, 0.2, seed)
        for part, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(part, other)


def test_one_division_does_not_change_the_next():
    labels = np.arange(50) % 3
    divided = divider(50, labels, None, 0.2)
    first = divided(np.random.RandomState(1))
    divided(np.random.RandomState(2))
    again = divided(np.random.RandomState(1))
    np.testing.assert_array_equal(np.concatenate(first), np.concatenate(again))


def test_groups_are_divided_by_scikit_learn():
    groups, labels = np.arange(60) // 4, np.arange(60) % 2
    found = divider(60, labels, groups, 0.3)(np.random.RandomState(3))
    for part, other in zip(found, _expected(GroupShuffleSplit, 60, labels, groups, 0.3, 3), strict=True):
        np.testing.assert_array_equal(part, other)


@pytest.mark.parametrize(
    ("labels", "said"),
    [([0, 0, 0, 1], "only 1 member"), ([0, 0, 1, 1], "should be greater or equal to the number of classes")],
)
def test_scikit_learn_says_why_classes_cannot_be_divided(labels, said):
    with pytest.raises(ValueError, match=said):
        divider(4, np.array(labels), None, 0.2)(np.random.RandomState(0))
