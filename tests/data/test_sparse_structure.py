"""Sparse input whose parts contradict each other is an error, never a crash of the process."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs import PPFS
from ppfs._data.sparse import require_sound
from ppfs.compat import PPIMBC
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI
from ppfs.wrappers import PermutationImportance


def sound(form: str, n_rows: int = 30, n_columns: int = 4):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    return getattr(sp, f"{form}_array")(dense)


def target(n_rows: int = 30):
    return np.arange(n_rows) % 2


def _first_index(matrix, value):
    matrix.indices[0] = value


def _pointer_falls(matrix, value):
    matrix.indptr[1], matrix.indptr[2] = matrix.indptr[2] + 3, matrix.indptr[1]


def _pointer_beyond(matrix, value):
    matrix.indptr[-1] = 10**6


def _pointer_starts_late(matrix, value):
    matrix.indptr[0] = -5


def _pointers_too_few(matrix, value):
    matrix.indptr = matrix.indptr[:-1]


def _values_too_few(matrix, value):
    matrix.data = matrix.data[:-3]


COMPRESSED = [
    (_first_index, 10**8, "must be from 0 to"),
    (_first_index, -(10**8), "must be from 0 to"),
    (_first_index, -1, "must be from 0 to"),
    (_pointer_falls, None, "never decrease"),
    (_pointer_beyond, None, "declares 1000000 entries"),
    (_pointer_starts_late, None, "start at 0"),
    (_pointers_too_few, None, "indptr must have the shape"),
    (_values_too_few, None, "entries, but there are"),
]


def malformed(form, damage, value):
    matrix = sound(form)
    damage(matrix, value)
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(("damage", "value", "message"), COMPRESSED)
def test_fit_refuses_a_malformed_matrix(form, damage, value, message):
    with pytest.raises(InvalidInputError, match=message):
        PPFS().fit(malformed(form, damage, value), target())


def _coo_column(value):
    matrix = sound("coo")
    matrix.col[0] = value
    return matrix


def _lil_column(value):
    matrix = sound("lil")
    next(row for row in matrix.rows if row)[0] = value
    return matrix


@pytest.mark.parametrize("make", [_coo_column, _lil_column])
@pytest.mark.parametrize("value", [-7, 10**7])
def test_fit_refuses_coordinates_beyond_the_shape(make, value):
    with pytest.raises(InvalidInputError, match=f"must be from 0 to 3, but one of them is {value}"):
        PPFS().fit(make(value), target())


@pytest.mark.parametrize(
    "use",
    [
        lambda X: PPFS().fit(X, target(), sample_weight=np.arange(30)),
        lambda X: PermutationImportance().fit(X, target()),
        lambda X: PPIMBC(verbose=0, n_jobs=1).fit(X, target()),
        lambda X: PPI().evaluate(X, target(), 0),
        lambda X: fitted(PPFS(random_state=0)).transform(X),
        lambda X: fitted(PPFS(random_state=0)).inverse_transform(X),
        lambda X: fitted(PPIMBC(verbose=0, n_jobs=1, random_state=0)).transform(X),
    ],
    ids=["weights", "wrapper", "compat", "evaluate", "transform", "inverse", "compat transform"],
)
def test_every_door_is_guarded(use):
    with pytest.raises(InvalidInputError, match="is malformed"):
        use(malformed("csr", _first_index, 10**8))


def fitted(selector):
    X = sound("csr")
    return selector.fit(X, np.asarray(X.toarray()[:, 0] > 0))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_sound_matrices_pass_unchanged(form):
    X = sound(form)
    before = X.toarray()
    y = before[:, 0] > 0
    selector = PPFS(random_state=0).fit(X, y)
    assert selector.blanket_.tolist() == PPFS(random_state=0).fit(before, y).blanket_.tolist()
    np.testing.assert_array_equal(X.toarray(), before)


def test_the_index_that_is_outside_is_named_and_none_that_is_inside():
    matrix = sp.csr_array(np.eye(4)[np.arange(12) % 4])
    matrix.indices[7] = 9
    with pytest.raises(InvalidInputError, match="must be from 0 to 3, but one of them is 9"):
        PPFS(n_splits=5).fit(matrix, np.arange(12) % 2)


def csr(data, indices, indptr, shape=(3, 4)):
    """Return a CSR array whose parts are not compared with each other."""
    matrix = sp.csr_array(shape)
    matrix.data, matrix.indices, matrix.indptr = map(np.asarray, (data, indices, indptr))
    return matrix


def csc(*parts):
    matrix = sp.csc_array((4, 3))
    matrix.data, matrix.indices, matrix.indptr = map(np.asarray, parts)
    return matrix


def bsr(indices, indptr):
    matrix = sp.bsr_array(np.ones((4, 6)), blocksize=(2, 3))
    matrix.indices, matrix.indptr = np.asarray(indices), np.asarray(indptr)
    return matrix


def coo(rows, columns, n_values):
    matrix = sp.coo_array((3, 4))
    matrix.coords, matrix.data = (np.asarray(rows), np.asarray(columns)), np.ones(n_values)
    return matrix


def lil(rows, n_values):
    matrix = sp.lil_array((2, 4))
    for row, (columns, n) in enumerate(zip(rows, n_values, strict=True)):
        matrix.rows[row], matrix.data[row] = columns, [1.0] * n
    return matrix


ONES = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "X",
    [
        csr(ONES, [3, 0, 2], [0, 1, 1, 3]),
        # What lies behind the last pointer does not count.
        csr([*ONES, 9.0], [3, 0, 2, 77], [0, 1, 1, 3]),
        sp.csr_array((3, 4)),
        csc(ONES, [3, 0, 2], [0, 1, 1, 3]),
        bsr([0, 1, 0, 1], [0, 2, 4]),
        coo([0, 2], [3, 0], 2),
        lil([[0, 3], []], [2, 0]),
        sp.dok_array((2, 2)),
        sp.coo_array(np.ones(3)),
        np.eye(2),
        None,
    ],
)
def test_sound_parts_pass(X):
    assert require_sound(X) is None


@pytest.mark.parametrize(
    ("X", "problem"),
    [
        (
            csr(ONES, [3, 0, 2], [0.0, 1, 1, 3]),
            "indptr and indices must be integers, but are float64 and int64",
        ),
        (
            csr(ONES, [3.0, 0, 2], [0, 1, 1, 3]),
            "indptr and indices must be integers, but are int64 and float64",
        ),
        (csr(ONES, [3, 0, 2], [0, 1, 3]), "indptr must have the shape (4,), but has (3,)"),
        (csc(ONES, [3, 0, 2], [0, 1, 1, 2, 3]), "indptr must have the shape (4,), but has (5,)"),
        (csr(ONES, [3, 0, 2], [1, 1, 1, 3]), "indptr must start at 0 and never decrease"),
        (csr(ONES, [3, 0, 2], [0, 2, 1, 3]), "indptr must start at 0 and never decrease"),
        (
            csr(ONES, [3, 0, 2], [0, 1, 1, 4]),
            "indptr declares 4 entries, but there are 3 indices and 3 values",
        ),
        (
            csr([1.0], [3, 0, 2], [0, 1, 1, 3]),
            "indptr declares 3 entries, but there are 3 indices and 1 values",
        ),
        (
            csr(ONES, [[3], [0], [2]], [0, 1, 1, 3]),
            "indptr declares 3 entries, but there are 3 indices and 3 values",
        ),
        (csr(ONES, [4, 0, 2], [0, 1, 1, 3]), "the indices must be from 0 to 3, but one of them is 4"),
        (csr(ONES, [0, -1, 2], [0, 1, 1, 3]), "the indices must be from 0 to 3, but one of them is -1"),
        (csc(ONES, [3, 4, 2], [0, 1, 1, 3]), "the indices must be from 0 to 3, but one of them is 4"),
        (bsr([0, 2, 0, 1], [0, 2, 4]), "the indices must be from 0 to 1, but one of them is 2"),
        (bsr([0, 1], [0, 1, 1, 2]), "indptr must have the shape (3,), but has (4,)"),
        (coo([0, 3], [3, 0], 2), "the rows must be from 0 to 2, but one of them is 3"),
        (coo([0, 2], [4, 0], 2), "the columns must be from 0 to 3, but one of them is 4"),
        (coo([0, 2, 1], [3, 0, 1], 2), "it has 2 values, but 3 rows"),
        (coo([0, 2], [3, 0, 1], 2), "it has 2 values, but 3 columns"),
        (lil([[0], [0, 4]], [1, 2]), "the columns of row 1 must be from 0 to 3, but one of them is 4"),
        (lil([[0], [0, 3]], [1, 1]), "row 1 has 2 columns and 1 values"),
    ],
)
def test_parts_that_contradict_each_other_are_described(X, problem):
    with pytest.raises(
        InvalidInputError, match=f"^{re.escape(f'The sparse matrix X is malformed: {problem}. Build')}"
    ):
        require_sound(X)
