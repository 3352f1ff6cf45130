"""Compiled permutations: equal to their reference implementation, uniform, and independent of each other."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from reference.permutations import random_permutation
from scipy.stats import chisquare

from ppfs._engine.inputs.permutations import outputs_by_source, random_permutations


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 300])
@pytest.mark.parametrize("seed", [0, 12345, 2**64 - 1])
def test_permutations_are_those_of_the_twin(n: int, seed: int) -> None:
    found = random_permutations(n, seed, 5)
    assert found.tolist() == [random_permutation(n, seed, draw) for draw in range(5)]


def test_every_permutation_is_as_likely() -> None:
    drawn = Counter(map(tuple, random_permutations(5, 7, 24_000).tolist()))
    assert chisquare([drawn[order] for order in permutations(range(5))]).pvalue > 0.01


def test_seeds_that_follow_each_other_share_no_permutation() -> None:
    drawn = np.concatenate([random_permutations(20, seed, 50) for seed in range(50)])
    assert len(np.unique(drawn, axis=0)) == len(drawn)


def test_outputs_are_added_where_values_come_from() -> None:
    rng = np.random.default_rng(0)
    outputs, sources = rng.normal(size=(2, 6)), rng.integers(6, size=(4, 6))
    expected = np.zeros((2, 4, 6))
    for (output, draw, row), _ in np.ndenumerate(expected):
        expected[output, draw, row] = sum(outputs[output, i] for i in range(6) if sources[draw, i] == row)
    assert np.allclose(outputs_by_source(outputs, sources), expected, rtol=1e-14)
