"""Batched p-values equal SciPy's, row by row."""

import numpy as np
import pytest
import scipy
from scipy import stats

from ppfs._rows import Split
from ppfs.independence._predictive.significance import SIGNIFICANCES, randomisation, risk_differences
from ppfs.independence._predictive.significance.signed_rank import signed_rank
from ppfs.independence._predictive.significance.t_tests import corrected_t, paired_t

# Before 1.15 SciPy used the normal approximation for every sample with zeros or ties.
needs_new_scipy = pytest.mark.skipif(
    tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 15),
    reason="SciPy below 1.15 has other rules",
)


def rows_of(kind, n_pairs, n_rows=60):
    rng = np.random.default_rng([n_pairs, len(kind)])
    differences = rng.normal(0.3, 1.0, size=(n_rows, n_pairs))
    if kind == "tied":
        differences = np.round(differences)
        differences[differences == 0] = 1.0
    elif kind == "with zeros":
        differences[rng.random(differences.shape) < 0.3] = 0.0
    elif kind == "tied with zeros":
        differences = np.round(differences)
    elif kind == "mixed":
        differences[::2] = np.round(differences[::2], 1)
    return differences


KINDS = ["continuous", "tied", "with zeros", "tied with zeros", "mixed"]


@needs_new_scipy
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(
    ("kind", "n_pairs"),
    [
        *((kind, n_pairs) for kind in KINDS for n_pairs in (5, 6, 14, 30, 50, 51, 100)),
        ("continuous", 13),
        ("tied with zeros", 13),
    ],
)
def test_signed_rank_equals_scipy_row_by_row(kind, n_pairs):
    # SciPy goes through all signs of up to 13 pairs and takes up to a second a row: some rows show that it does, the
    # next test has more of them.
    is_enumerated = n_pairs <= 13 and kind != "continuous"
    differences = rows_of(kind, n_pairs, n_rows=60 if not is_enumerated else 1 if n_pairs == 13 else 15)
    pvalues, statistics = signed_rank(differences, [])
    for row, pvalue, statistic in zip(differences, pvalues, statistics, strict=True):
        if not row.any():
            assert pvalue == 1.0
            continue
        expected = stats.wilcoxon(row, alternative="greater", zero_method="zsplit")
        assert pvalue == pytest.approx(expected.pvalue, abs=1e-12)
        assert statistic == expected.statistic


@pytest.mark.parametrize("n_pairs", [5, 6, 7, 10, 12, 13])
@pytest.mark.parametrize("kind", KINDS)
def test_up_to_thirteen_pairs_every_pattern_of_signs_is_counted(kind, n_pairs):
    differences = rows_of(kind, n_pairs)
    pvalues, statistics = signed_rank(differences, [])
    signs = (np.arange(2**n_pairs)[:, np.newaxis] >> np.arange(n_pairs)) & 1
    for row, pvalue, statistic in zip(differences, pvalues, statistics, strict=True):
        if not row.any():
            assert pvalue == 1.0
            continue
        ranks = stats.rankdata(np.abs(row))
        # Zeros have no sign; half their ranks count either way.
        from_zeros = ranks[row == 0].sum() / 2
        observed = ranks[row > 0].sum() + from_zeros
        assert statistic == observed
        sums = signs @ np.where(row == 0, 0.0, ranks) + from_zeros
        assert pvalue == (sums >= observed).mean()


def test_signed_rank_by_hand():
    # Five rises: 1 of the 32 sign patterns. Four rises and the smallest fall: 2 of 32.
    pvalues, _ = signed_rank(np.array([[1.0, 2, 3, 4, 5], [-1.0, 2, 3, 4, 5], [-5.0, -4, -3, -2, -1]]), [])
    assert pvalues.tolist() == [1 / 32, 2 / 32, 1.0]


def test_zeros_are_split_between_the_signs():
    # Two zeros share ranks 1 and 2 and give 1.5 to either side; the rises hold ranks 3, 4, 5. Only the
    # three signs count: all up is 1 of 8 patterns.
    pvalues, statistics = signed_rank(np.array([[0.0, 0.0, 1.0, 2.0, 3.0]]), [])
    assert statistics.tolist() == [13.5]
    assert pvalues.tolist() == [1 / 8]


def test_all_differences_zero_is_no_evidence():
    for assess in (signed_rank, paired_t):
        assert assess(np.zeros((2, 30)), [])[0].tolist() == [1.0, 1.0]


def test_paired_t_equals_scipy():
    differences = rows_of("continuous", 12)
    pvalues, statistics = paired_t(differences, [])
    expected = stats.ttest_1samp(differences, 0.0, axis=1, alternative="greater")
    np.testing.assert_allclose(pvalues, expected.pvalue, atol=1e-13)
    np.testing.assert_allclose(statistics, expected.statistic)


def test_paired_t_of_equal_rises_is_certain():
    pvalues, statistics = paired_t(np.full((1, 5), 0.25), [])
    assert pvalues.tolist() == [0.0]
    assert statistics.tolist() == [np.inf]


def test_rows_do_not_influence_each_other():
    differences = rows_of("mixed", 10)
    together, _ = signed_rank(differences, [])
    alone = [signed_rank(row[np.newaxis], [])[0][0] for row in differences]
    np.testing.assert_array_equal(together, alone)


def test_differences_that_are_only_rounding_become_zero_and_equal_ones_tie():
    base = np.array([[0.1 + 0.2, 0.7, 0.5]])
    replaced = np.array([[0.3, 0.7 + 0.1, 0.5 + 0.1]])
    differences = risk_differences(base, replaced)
    assert differences[0, 0] == 0.0
    assert differences[0, 1] == differences[0, 2]
    np.testing.assert_allclose(differences[0, 1], 0.1)


@pytest.mark.parametrize("n_splits", [5, 13, 50, 51, 100])
def test_smallest_pvalue_is_reached_when_every_split_rises(n_splits):
    smallest = SIGNIFICANCES["wilcoxon"].smallest(n_splits)
    rises = np.random.default_rng(n_splits).exponential(size=(1, n_splits))
    assert signed_rank(rises, [])[0][0] == smallest
    if n_splits <= 50:
        assert smallest == 2.0**-n_splits


def test_counting_draws_by_hand():
    # Risk 1.0. The first question's second draw as good is the fourth of all; what was drawn after it does not
    # count. The second question never has two, so all its draws count, and itself.
    by_draw = np.array([[2.0, 0.5, 2.0, 0.9, 0.1, 2.0], [2.0, 0.5, 2.0, 2.0, 2.0, 2.0]])
    pvalues, counts = randomisation(np.ones(2), by_draw, stop_after=2)
    assert pvalues.tolist() == [2 / 4, (1 + 1) / (1 + 6)]
    assert counts.tolist() == [2, 1]
    pvalues, counts = randomisation(np.ones(2), by_draw, stop_after=0)
    assert pvalues.tolist() == [(1 + 3) / (1 + 6), (1 + 1) / (1 + 6)]
    assert counts.tolist() == [3, 1]


def test_draws_that_were_not_made_are_not_as_good():
    by_draw = np.array([[0.5, 2.0, 0.5, np.nan, np.nan]])
    assert randomisation(np.ones(1), by_draw, stop_after=2)[0].tolist() == [2 / 3]


def test_a_draw_that_differs_by_rounding_is_as_good():
    by_draw = np.array([[0.3, 0.3 + 1e-6, 0.29]])
    assert randomisation(np.array([0.1 + 0.2 - 1e-13]), by_draw, stop_after=0)[1].tolist() == [2]


def test_corrected_t_adds_the_share_of_rows_that_splits_have_in_common():
    differences = rows_of("continuous", 6, n_rows=3)
    splits = [
        Split(np.arange(n_train), np.arange(10), np.zeros((1, 10), int), 0)
        for n_train in (20, 40, 40, 40, 40, 40)
    ]
    # Nadeau and Bengio's factor with the mean of the ratios, by hand: five of 10 / 40 and one of 10 / 20.
    factor = 1 / 6 + (0.5 + 5 * 0.25) / 6
    expected = differences.mean(axis=1) / np.sqrt(factor * differences.var(axis=1, ddof=1))
    pvalues, statistics = corrected_t(differences, splits)
    np.testing.assert_allclose(statistics, expected, rtol=1e-12)
    np.testing.assert_allclose(pvalues, stats.t.sf(expected, 5), rtol=1e-9)
