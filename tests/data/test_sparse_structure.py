"""Sparse input whose parts contradict each other is an error, never a crash of the process."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs import PPFS
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
