"""Labels that are text are numbered as NumPy would number them, whichever way is taken."""

import numpy as np
import pytest

from ppfs._data.labels import SeveralLabels, _compared, _looked_up, coded_labels


@pytest.mark.parametrize("n_labels", [1, 2, 4, 5, 40])
@pytest.mark.parametrize("prefix", ["", "long" * 10])
@pytest.mark.parametrize("kind", ["U", "S"])
def test_codes_are_positions_among_the_sorted_labels(n_labels, prefix, kind):
    numbers = np.random.default_rng(0).integers(n_labels, size=300)
    y = np.array([f"{prefix}{number * 7 % n_labels}" for number in numbers]).astype(kind)
    labels, codes = coded_labels(y)
    expected, places = np.unique(y, return_inverse=True)
    assert labels.dtype == y.dtype
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(codes, places)
    assert codes.dtype == np.float64


def test_several_labels_have_an_indicator_per_class_and_two_classes_one():
    values = np.array([["a", "p", "u"], ["b", "p", "v"], ["c", "p", "v"], ["a", "p", "u"]])
    labels = SeveralLabels.of(values)
    assert [classes.tolist() for classes in labels.classes] == [["a", "b", "c"], ["p"], ["u", "v"]]
    assert labels.n_classes == (3, 1, 2)
    assert labels.indicators.tolist() == [[1, 0, 0, 1, 0], [0, 1, 0, 1, 1], [0, 0, 1, 1, 1], [1, 0, 0, 1, 0]]
    assert labels.indicators.dtype == np.float64
    part = labels.of_rows(np.array([1]))
    assert part.values.tolist() == [["b", "p", "v"]]
    assert part.indicators.tolist() == [[0, 1, 0, 1, 1]]


@pytest.mark.parametrize(
    ("n_labels", "length", "is_compared"), [(4, 16, True), (5, 16, False), (2, 17, False)]
)
def test_few_short_labels_are_compared_and_others_looked_up(n_labels, length, is_compared):
    y = np.array([f"{number:0{length}}" for number in range(n_labels)])[::-1]
    assert (_compared(y) is not None) is is_compared
    for way in (coded_labels, _looked_up):
        labels, codes = way(y)
        assert labels.tolist() == sorted(y.tolist())
        assert codes.tolist() == list(range(n_labels))[::-1]
        assert labels.dtype == y.dtype
