import numpy as np
import pytest
from scipy.stats import rankdata

from ppfs._conventions import mean_ranks


@pytest.mark.parametrize("decimals", [0, 1, 8])
@pytest.mark.parametrize("n", [1, 2, 17, 400])
def test_mean_ranks_are_those_of_scipy(n, decimals):
    values = np.round(np.random.default_rng(n).normal(size=n), decimals)
    assert mean_ranks(values).tolist() == rankdata(values).tolist()


def test_both_zeros_and_infinite_values_share_ranks():
    values = np.array([np.inf, 0.0, -0.0, np.inf, -np.inf])
    # SciPy 1.12 looks for NaN by a sum, and ranks infinite values of both signs as NaN.
    assert mean_ranks(values).tolist() == [4.5, 2.5, 2.5, 4.5, 1.0]
