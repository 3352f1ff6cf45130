"""Labels that are text are numbered as NumPy would number them, whichever way is taken."""

import numpy as np
import pytest

from ppfs._data.labels import coded_labels


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
