"""The shortcut says the same as closed testing over all subsets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import closed_testing as reference

from ppfs import PPFS
from ppfs._verdicts.closed_testing import _bound, at_least, at_least_among_first, hommel_size
from ppfs.exceptions import InvalidInputError


@pytest.mark.parametrize("seed", range(12))
def test_all_sets_have_the_bound_of_closed_testing(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 8))
    pvalues = rng.uniform(size=m) ** rng.choice([1, 3, 6])
    for alpha in (0.05, 0.2):
        for size in range(1, m + 1):
            for members in combinations(range(m), size):
                assert at_least(pvalues, members, alpha) == reference.at_least(pvalues, members, alpha)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.025, 0.04, 0.05, 0.1, 1.0]), min_size=1, max_size=6)
)
def test_ties_and_p_values_on_the_bounds(pvalues):
    everything = list(range(len(pvalues)))
    assert at_least(np.array(pvalues), everything, 0.05) == reference.at_least(pvalues, everything, 0.05)


def test_the_curve_is_the_bound_of_the_first_ones():
    pvalues = np.random.default_rng(0).uniform(size=9) ** 4
    curve = at_least_among_first(pvalues, 0.05)
    assert curve.tolist() == [at_least(pvalues, range(k + 1), 0.05) for k in range(9)]
    assert (np.diff(curve) >= 0).all()


def test_a_p_value_on_its_bound_counts_and_one_above_it_does_not():
    """Of two hypotheses with one that is true, the other is false if its p-value is at most half of alpha."""
    assert at_least(np.array([0.025, 1.0]), [0, 1], 0.05) == 1
    assert at_least(np.array([0.0250001, 1.0]), [0, 1], 0.05) == 0


def test_rounding_takes_no_further_level():
    """Four values of three levels each: at least 4 - 3 + 1 are false, although 3 * 0.05 is a bit more than 0.15."""
    assert 3 * 0.05 / 0.05 > 3
    assert _bound(np.full(4, 3 * 0.05), 0.05) == 2
    assert _bound(np.full(4, 3.0001 * 0.05), 0.05) == 1


def test_no_hypotheses():
    assert hommel_size(np.empty(0), 0.05) == 0
    assert at_least(np.array([0.001]), [], 0.05) == 0


@pytest.fixture(scope="module")
def confirmed():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    y = X["a"] + X["b"] + X["c"] + rng.normal(size=400)
    return PPFS.calibrated(confirm=0.4, always_keep=["e", "f"], random_state=0).fit(X, y)


def test_a_selector_answers_for_any_set_of_columns(confirmed):
    assert confirmed.at_least(["a", "b", "c"]) == 3
    assert confirmed.at_least([0, 1]) == 2
    assert confirmed.at_least() == 3
    assert confirmed.at_least(["e", "f"]) == 0
    # Not selected, so nothing was tested.
    assert confirmed.at_least(["d"]) == 0
    assert confirmed.at_least(["a", "b", "c"], alpha=1e-300) == 0


def test_the_curve_is_in_the_results(confirmed):
    results = confirmed.results_.set_index("column")
    curve = [results.loc[name, "at_least"] for name in confirmed.confirmed_.features]
    assert curve == [confirmed.at_least(confirmed.confirmed_.features[: k + 1]) for k in range(len(curve))]
    assert np.isnan(results.loc["d", "at_least"])


def test_unknown_columns_and_levels_are_refused(confirmed):
    with pytest.raises(InvalidInputError, match="zebra"):
        confirmed.at_least(["zebra"])
    with pytest.raises(InvalidInputError, match="alpha=2"):
        confirmed.at_least(["a"], alpha=2)


def test_it_needs_rows_that_were_held_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    selector = PPFS(n_splits=5, random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(InvalidInputError, match=r"confirm=0\.3"):
        selector.at_least([0])


def test_the_report_has_a_slider_and_a_sentence(confirmed):
    pytest.importorskip("matplotlib")
    report = confirmed.report(sufficiency=False)
    n = len(confirmed.confirmed_.features)
    assert report.summary["at_least"]["bounds"][-1] == 3
    assert f'max="{n}"' in report.html()
    assert 'data-bounds="1,2,3' in report.html()
    assert f"the most important 3 columns of {n} are related" in report.markdown()
