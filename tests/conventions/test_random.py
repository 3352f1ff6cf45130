"""What seeds all random streams, and what a stream depends on."""

import numpy as np
import pytest

from ppfs._conventions.random import integer_seed, root_entropy, seeded_state, stream


@pytest.mark.parametrize(
    ("make", "n_values"),
    [(np.random.default_rng, 2**32), (np.random.RandomState, 2**31), (lambda seed: None, 2**32)],
)
def test_seeds_come_from_the_whole_range(make, n_values):
    seeds = np.array([root_entropy(make(seed)) for seed in range(200)])
    assert np.unique(seeds).size == 200
    assert 0 <= seeds.min() < 0.1 * n_values < 0.9 * n_values < seeds.max() < n_values


def test_one_number_is_drawn_as_estimators_of_scikit_learn_do():
    assert root_entropy(np.random.RandomState(3)) == np.random.RandomState(3).randint(2**31 - 1)
    assert root_entropy(np.random.default_rng(3)) == np.random.default_rng(3).integers(2**32)
    assert root_entropy(7) == root_entropy(np.int64(7)) == 7


def test_a_stream_depends_on_its_key_alone():
    first, again, other, longer = (stream(5, *key).random(4) for key in [(1, 2), (1, 2), (2, 1), (1, 2, 0)])
    np.testing.assert_array_equal(first, again)
    assert np.unique([*first, *other, *longer]).size == 12


def test_seeds_for_scikit_learn_are_below_2_to_the_31():
    seeds = [integer_seed(stream(0, key)) for key in range(200)]
    assert 0 <= min(seeds) < 0.1 * 2**31 < 0.9 * 2**31 < max(seeds) < 2**31 - 1


def test_reseeded_generator_draws_what_a_new_one_draws():
    seeded_state(3).standard_normal()  # A second normal number is kept for later; a new seed has to drop it.
    for seed in (0, 3, 2**31 - 2):
        state, new = seeded_state(seed), np.random.RandomState(seed)
        assert state.standard_normal() == new.standard_normal()
        np.testing.assert_array_equal(state.permutation(50), new.permutation(50))
        np.testing.assert_array_equal(state.randint(1000, size=50), new.randint(1000, size=50))
