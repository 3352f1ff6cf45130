"""Draws that a GPU makes and screens, here a simulated one, against those of the CPU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator import simulated_device

from ppfs._engine import DeviceDraws, cuda_device, random_permutations
from ppfs.independence._predictive.screening import Screening, rearranged
from ppfs.independence._predictive.tail_bound import TailBound

N_PER_SEED = 8


@pytest.fixture(scope="module", params=["forwards", "backwards", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request):
    if request.param == "gpu":
        return cuda_device()
    return simulated_device(is_backwards=request.param == "backwards")


def drawn(device, columns, outputs, contrasts, share, level, seeds):
    """Return what stands out on the device, and on the CPU."""
    screening = Screening.of(columns, columns.shape[1])
    bounds = screening.bounds(share, len(outputs))
    tail_bound = TailBound.of(columns, contrasts, outputs, 1)
    object.__setattr__(tail_bound, "level", level)
    members = np.zeros((len(contrasts), columns.shape[1]))
    for row, own in zip(members, contrasts, strict=True):
        row[own] = 1.0
    draws = DeviceDraws.of(
        device,
        columns,
        screening.directions,
        screening.starts,
        bounds,
        outputs,
        members,
        tail_bound.least_squares * (1 - 1e-7),
    )
    found = draws.standing_out(np.array(seeds, dtype=np.uint64), N_PER_SEED)
    sources = np.concatenate([random_permutations(columns.shape[1], seed, N_PER_SEED) for seed in seeds])
    owners, places = np.nonzero(screening.stands_out(rearranged(outputs, sources), bounds))
    return found, owners, sources[places], tail_bound


def problem(seed, n_rows, n_columns, n_outputs):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_columns, n_rows))
    columns[0] = np.round(columns[0])
    outputs = np.linalg.qr(np.column_stack([np.ones(n_rows), rng.normal(size=(n_rows, n_outputs))]))[0].T[1:]
    contrasts = [rng.permutation(n_rows)[: n_rows // 3] for _ in range(n_outputs)]
    return columns, np.ascontiguousarray(outputs), contrasts


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_rows=st.integers(4, 70),
    n_columns=st.integers(1, 4),
    n_outputs=st.integers(1, 2),
    share=st.sampled_from([0.02, 0.3, 1.0]),
    seeds=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5),
)
def test_the_device_makes_and_screens_the_draws_of_the_cpu(
    device, seed, n_rows, n_columns, n_outputs, share, seeds
):
    columns, outputs, contrasts = problem(seed, n_rows, n_columns, n_outputs)
    found, owners, sources, _ = drawn(device, columns, outputs, contrasts, share, 1e-3, seeds)
    np.testing.assert_array_equal(found.owners, owners)
    np.testing.assert_array_equal(device.to_host(found.X), columns[owners[:, np.newaxis], sources].T)


def test_no_bound_is_missed(device):
    columns, outputs, contrasts = problem(0, 40, 3, 1)
    # A lenient level, so that bounds occur among a few hundred draws.
    found, owners, sources, bound = drawn(device, columns, outputs, contrasts, 1.0, 0.5, list(range(40)))
    is_bounded = bound.pvalues(owners, sources) < 1.0
    assert 0 < is_bounded.sum()
    assert set(np.flatnonzero(is_bounded)) <= set(found.may_be_bounded.tolist())
    assert found.may_be_bounded.size < owners.size
    np.testing.assert_array_equal(found.sources, sources[found.may_be_bounded])


def test_columns_of_infinite_bounds_never_stand_out(device):
    columns, outputs, _ = problem(1, 30, 2, 1)
    screening = Screening.of(columns, 30)
    nothing = np.zeros((0, 30)), np.empty(0)
    bounds = np.repeat([np.inf, 0.0], 3)
    draws = DeviceDraws.of(device, columns, screening.directions, screening.starts, bounds, outputs, *nothing)
    found = draws.standing_out(np.array([3], dtype=np.uint64), 5)
    assert found.owners.tolist() == [1] * 5
    assert found.may_be_bounded.size == 0
