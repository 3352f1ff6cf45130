import numpy as np
import pytest
from reference import logistic

from ppfs._engine import add_directions, fit_extensions
from ppfs.independence._classical.partial import DETERMINED, standardized
from ppfs.independence._classical.regressors import added_directions

N_ROWS = 60


def sample():
    """A basis of three directions, and blocks of one, two and three regressors, partly redundant."""
    rng = np.random.default_rng(0)
    rows = standardized(rng.normal(size=(6, N_ROWS)))
    basis = np.full((1, N_ROWS), 1 / np.sqrt(N_ROWS))
    for row in rows[:2]:
        basis = np.vstack([basis, added_directions(row[:, None], basis.T).T])
    redundant = standardized(rows[:1] + rows[1:2])
    blocks = [rows[2:3], np.vstack([rows[3:4], redundant]), redundant, rows[3:6]]
    starts = np.cumsum([0, *map(len, blocks)])
    return basis, blocks, np.concatenate(blocks), starts


def test_directions_are_those_of_the_slow_twin():
    basis, blocks, regressors, starts = sample()
    added, n_added = np.empty_like(regressors), np.empty(len(blocks), dtype=np.int64)
    add_directions(regressors, starts, basis, DETERMINED, added, n_added)
    assert n_added.tolist() == [1, 1, 0, 3]
    for block, start, n in zip(blocks, starts, n_added, strict=False):
        expected = added_directions(block.T, basis.T).T
        np.testing.assert_allclose(added[start : start + n], expected, atol=1e-13)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_likelihoods_are_those_of_the_slow_twin(n_classes):
    basis, blocks, regressors, starts = sample()
    added, n_added = np.empty_like(regressors), np.empty(len(blocks), dtype=np.int64)
    add_directions(regressors, starts, basis, DETERMINED, added, n_added)
    classes = np.random.default_rng(1).integers(0, n_classes, N_ROWS)
    found = np.zeros(len(blocks))
    zero = np.zeros((n_classes - 1, len(basis)))
    fit_extensions(basis, added, starts, n_added, classes, zero, 1e-9, found)
    assert found[2] == 0.0
    for number in (0, 1, 3):
        own = added[starts[number] : starts[number] + n_added[number]]
        design = np.vstack([basis, own]).T
        _, expected = logistic.fit(design, classes, n_classes, np.zeros(design.shape[1]))
        assert found[number] == pytest.approx(-expected, abs=1e-7)


def test_directions_are_at_right_angles_to_the_whole_basis_and_to_each_other():
    """Also to its first row: these regressors are not centered."""
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.normal(size=(N_ROWS, 3)))[0].T.copy()
    regressors = 1.0 + rng.normal(size=(4, N_ROWS))
    regressors /= np.linalg.norm(regressors, axis=1, keepdims=True)
    added, n_added = np.empty_like(regressors), np.empty(2, dtype=np.int64)
    add_directions(regressors, np.array([0, 1, 4]), basis, DETERMINED, added, n_added)
    assert n_added.tolist() == [1, 3]
    np.testing.assert_allclose(added @ basis.T, np.zeros((4, 3)), atol=1e-14)
    np.testing.assert_allclose(added[1:] @ added[1:].T, np.eye(3), atol=1e-14)
