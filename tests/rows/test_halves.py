"""Two halves of the rows: of every class, or of the groups."""

import numpy as np
import pytest

from ppfs._rows.halves import complementary_halves


@pytest.mark.parametrize("n_groups", [2, 7, 8])
def test_groups_stay_together_and_each_may_be_in_either_half(n_groups):
    groups = np.repeat(np.arange(n_groups), 3)
    seen = set()
    for seed in range(60):
        first, second = complementary_halves(3 * n_groups, None, groups, np.random.default_rng(seed))
        assert sorted([*first, *second]) == list(range(3 * n_groups))
        assert set(groups[first]).isdisjoint(groups[second])
        assert len(set(groups[first])) == n_groups // 2
        seen |= set(groups[first].tolist())
    assert seen == set(range(n_groups))
