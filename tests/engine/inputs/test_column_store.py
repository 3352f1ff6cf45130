"""Single values of columns that are stored in two ways."""

import numpy as np
import pytest
from scipy import sparse

from ppfs._engine import SortedColumns
from ppfs._engine.inputs.column_store import make_store, value_of


@pytest.mark.parametrize("share", [0.0, 0.05, 0.4, 1.0])
def test_every_value_is_found(share):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 5)) < share, rng.normal(size=(30, 5)).round(1), 0.0).astype(np.float32)
    store = make_store(SortedColumns.from_sparse(sparse.csc_matrix(X)))
    look_up = getattr(value_of, "py_func", value_of)  # Its compiled form is for kernels alone.
    found = [[look_up(column, row, store) for column in range(5)] for row in range(30)]
    np.testing.assert_array_equal(found, X)
