"""`interactions="pairs"`: columns that tell about the target only together."""

import re
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket._steps import pairs
from ppfs.independence import CrossFitPPI, GSquared


@pytest.fixture
def rng():
    return np.random.default_rng(0)


TREE = DecisionTreeClassifier()

# Nothing but pairs finds columns that act only together.
ALONE = {"growth": "marginal", "second_look": False}


def noisy_exclusive_or(rng, n_rows, n_columns, flipped=0.1):
    X = rng.normal(size=(n_rows, n_columns))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)) ^ (rng.random(n_rows) < flipped)


def of_bits(rng, n_rows, n_columns):
    X = rng.integers(0, 2, size=(n_rows, n_columns))
    return X, X[:, 0] ^ X[:, 1] ^ (rng.random(n_rows) < 0.1)


def by_counting(**given):
    return PPFS(independence="g2", correction="bh", interactions="pairs", **given)


def pair_steps(selector):
    return [step for step in selector.trace_ if step.phase == "pairs"]


def test_both_sides_of_an_exclusive_or_are_found_and_no_others(rng):
    X, y = noisy_exclusive_or(rng, 300, 8)
    selector = PPFS.calibrated(TREE, **ALONE, interactions="pairs", random_state=0).fit(X, y)
    assert set(selector.blanket_) == {0, 1}
    assert PPFS.calibrated(TREE, **ALONE, random_state=0).fit(X, y).blanket_.size == 0


def test_pairs_enter_as_counted_one_by_one(rng):
    X, y = of_bits(rng, 120, 6)
    y = y | (X[:, 2] & (rng.random(120) < 0.8))
    test = GSquared().bind(read_table(X, y, task="classification", owner=GSquared()))
    alone = [test.query(x, 6).pvalue for x in range(6)]
    candidates = set(np.flatnonzero(false_discovery_control(alone) <= 0.05).tolist())
    pairs = [pair for pair in combinations(range(6), 2) if not set(pair) <= candidates]
    larger = [max(test.query(a, 6, [b]).pvalue, test.query(b, 6, [a]).pvalue) for a, b in pairs]
    passed = [pair for pair, p in zip(pairs, false_discovery_control(larger), strict=True) if p <= 0.05]

    selector = by_counting().fit(X, y)
    entered = {step.feature for step in pair_steps(selector) if step.decision == "candidate"}
    assert passed
    assert entered == {x for pair in passed for x in pair}
    assert {frozenset((step.feature, *step.others)) for step in pair_steps(selector)} == set(
        map(frozenset, pairs)
    )


def test_a_column_of_noise_does_not_enter_beside_a_strong_one(rng):
    X = rng.normal(size=(200, 5))
    selector = PPFS.calibrated(TREE, **ALONE, interactions="pairs", random_state=0).fit(X, X[:, 0] > 0)
    assert selector.blanket_.tolist() == [0]
    assert not any(step.decision == "candidate" for step in pair_steps(selector))


def test_pairs_select_noise_no_more_often_than_the_level():
    # 100 tables: a true level of 5 % gives more than 13 with probability below 0.0005.
    n_selected = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, size=(100, 8))
        n_selected += by_counting().fit(X, rng.integers(0, 2, size=100)).blanket_.size > 0
    assert n_selected <= 13


def test_pairs_are_corrected_for_their_number_also_where_columns_are_not(rng):
    X, y = of_bits(rng, 200, 10)
    selector = PPFS(independence="g2", interactions="pairs").fit(X, y)
    steps = pair_steps(selector)
    assert all(step.adjusted_pvalue > step.pvalue for step in steps if 0 < step.pvalue < 0.5)
    assert {0, 1} <= set(selector.blanket_)


def test_pairs_that_were_left_out_count_in_the_correction(rng, monkeypatch):
    X, y = noisy_exclusive_or(rng, 300, 12, flipped=0.2)
    everything = PPFS.calibrated(
        TREE, **ALONE, interactions="pairs", random_state=0, correction="bonferroni"
    ).fit(X, y)
    monkeypatch.setattr(pairs, "MOST_PAIRS", 3)
    screened = PPFS.calibrated(
        TREE, **ALONE, interactions="pairs", random_state=0, correction="bonferroni"
    ).fit(X, y)
    of_pair = [
        {
            step.feature: step.adjusted_pvalue
            for step in pair_steps(one)
            if {step.feature, *step.others} == {0, 1}
        }
        for one in (everything, screened)
    ]
    assert of_pair[0] == of_pair[1]
    assert len({frozenset((step.feature, *step.others)) for step in pair_steps(screened)}) == 3
    assert any("3 of 66 were tested" in note for note in screened.trace_.notes)
    assert set(screened.blanket_) == {0, 1}


@pytest.mark.parametrize("most", [2, 1000])
def test_answers_do_not_depend_on_order_or_jobs(most, rng, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_PAIRS", most)
    X, y = noisy_exclusive_or(rng, 200, 6)
    order = rng.permutation(6)
    selector = PPFS.calibrated(TREE, **ALONE, interactions="pairs", random_state=0).fit(X, y)
    reordered = PPFS.calibrated(TREE, **ALONE, interactions="pairs", random_state=0, n_jobs=2).fit(
        X[:, order], y
    )
    assert set(selector.blanket_) == {0, 1} == set(order[reordered.blanket_])
    assert (selector.pvalues_[order] == reordered.pvalues_).all()


def test_the_trace_shows_pairs_and_a_rejected_pair_decides_nothing(rng):
    X, y = noisy_exclusive_or(rng, 200, 5)
    selector = PPFS.calibrated(TREE, **ALONE, interactions="pairs", random_state=0).fit(X, y)
    plain = PPFS.calibrated(TREE, **ALONE, random_state=0).fit(X, y)
    assert "pairs: 'x0' given 'x1'" in selector.trace_.explain(0)
    assert (selector.pvalues_[2:] == plain.pvalues_[2:]).all()
    assert selector.trace_.deciding_step(3).phase == "growth"
    # The effect that the rows would have shown depends on the number of questions.
    verdicts = [
        re.sub(r"an effect of [\d.e-]+ ", "", each.trace_.explain(3).splitlines()[0])
        for each in (selector, plain)
    ]
    assert verdicts[0] == verdicts[1]
    assert "pairs" in set(selector.trace_.to_frame()["phase"])


def test_groups_of_columns_pair_as_one(rng):
    X, y = of_bits(rng, 200, 6)
    selector = PPFS.calibrated(
        TREE, **ALONE, interactions="pairs", feature_groups={"side": [1, 2]}, random_state=0
    ).fit(X, y)
    assert {0, 1, 2} <= set(selector.blanket_)


def test_columns_of_a_file_are_paired(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_PAIRS", 4)
    X, y = noisy_exclusive_or(rng, 200, 8)
    np.save(tmp_path / "X.npy", X)
    selector = PPFS.calibrated(TREE, **ALONE, interactions="pairs", random_state=0)
    in_memory = selector.fit(X, y).pvalues_
    from_file = selector.fit(tmp_path / "X.npy", y)
    assert set(from_file.blanket_) == {0, 1}
    assert (from_file.pvalues_ == in_memory).all()


def test_conditioning_columns_are_in_every_pair(rng):
    X, y = of_bits(rng, 300, 5)
    selector = by_counting(condition_on=[4]).fit(X, y)
    assert all(4 in step.others for step in pair_steps(selector))
    assert set(selector.blanket_) == {0, 1}


def test_a_ready_test_is_asked_too(rng):
    X, y = noisy_exclusive_or(rng, 300, 5)
    selector = PPFS(independence=CrossFitPPI(), interactions="pairs", random_state=0).fit(X, y)
    assert {0, 1} <= set(selector.blanket_)


def test_one_column_has_no_pair(rng):
    X, y = of_bits(rng, 100, 2)
    assert by_counting().fit(X[:, :1], y).blanket_.size == 0


def test_an_unknown_interaction_is_refused(rng):
    X, y = of_bits(rng, 50, 3)
    with pytest.raises(ValueError, match="'interactions' parameter of PPFS"):
        PPFS(interactions="triples").fit(X, y)
