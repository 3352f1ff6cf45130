"""Which pairs of many columns are asked about."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from reference.pair_scores import pair_score, quarter

from ppfs._data.reading import read_table
from ppfs._engine import score_pairs, whole_k_log_k
from ppfs.blanket._steps import column_values, pair_screen
from ppfs.blanket._steps.pair_screen import all_pairs, most_promising_pairs, n_pairs, quarters_of
from ppfs.exceptions import InvalidInputError
from ppfs.independence import GSquared

NONE = frozenset()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def table_of(X, y, task="classification", **given):
    return read_table(X, y, task=task, owner=GSquared(), **given)


def exclusive_or(rng, n_rows, n_columns):
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0)


def scores_of(quarters, y):
    n_levels = np.array([np.unique(column).size for column in quarters])
    scores = np.empty((len(quarters), len(quarters)))
    score_pairs(quarters, n_levels, y, int(y.max()) + 1, whole_k_log_k(y.size), 0, scores)
    return scores


@pytest.mark.parametrize("kind", ["normal", "few values", "mostly zero", "gaps"])
def test_quarters_are_those_of_the_mean_rank(kind, rng):
    values = {
        "normal": rng.normal(size=41),
        "few values": rng.integers(0, 3, size=40).astype(float),
        "mostly zero": np.maximum(rng.normal(size=40) - 1, 0),
        "gaps": np.where(rng.random(40) < 0.3, np.nan, rng.normal(size=40)),
    }[kind]
    as_last = np.where(np.isnan(values), 9.0, values).tolist()
    assert quarters_of(values).tolist() == [quarter(as_last, value) for value in as_last]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_equal_those_counted_cell_by_cell(n_classes, rng):
    y = rng.integers(0, n_classes, size=60)
    quarters = rng.integers(0, 4, size=(6, 60)).astype(np.uint8)
    quarters[2] = quarters[2] % 2
    quarters[4] = 1  # constant
    scores = scores_of(quarters, y)
    for a in range(6):
        for b in range(6):
            if b <= a or 4 in (a, b):
                assert scores[a, b] == -np.inf
            else:
                assert scores[a, b] == pytest.approx(pair_score(quarters[a], quarters[b], y), abs=1e-5)


def test_a_pair_has_the_same_score_whichever_column_comes_first(rng):
    y = rng.integers(0, 3, size=50)
    quarters = rng.integers(0, 4, size=(12, 50)).astype(np.uint8)
    forward, backward = scores_of(quarters, y), scores_of(np.ascontiguousarray(quarters[::-1]), y)
    upper = np.triu_indices(12, 1)
    assert (forward[upper] == backward[::-1, ::-1].T[upper]).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_planted_pair_is_the_most_promising(form, n_jobs, rng, monkeypatch):
    monkeypatch.setattr(pair_screen, "_SCORES_AT_ONCE", 100)  # several blocks
    X, y = exclusive_or(rng, 150, 30)
    pairs = most_promising_pairs(table_of(form(X), y), range(30), NONE, 5, n_jobs)
    assert len(pairs) == 5
    assert set(pairs[0]) == {0, 1}


def test_a_quantity_is_cut_into_quarters_too(rng):
    X = rng.normal(size=(200, 20))
    table = table_of(X, X[:, 3] * X[:, 7], task="regression")
    assert most_promising_pairs(table, range(20), NONE, 3, None)[0] == (3, 7)


def test_pairs_that_tie_at_the_edge_stay_outside_together(rng):
    X, y = exclusive_or(rng, 100, 8)
    copies = np.column_stack([X, X[:, 1], X[:, 1]])  # three pairs with the highest score
    table = table_of(copies, y)
    assert most_promising_pairs(table, range(10), NONE, 2, None) == []
    assert set(most_promising_pairs(table, range(10), NONE, 3, None)) == {(0, 1), (0, 8), (0, 9)}


def test_the_choice_does_not_depend_on_the_order_of_the_columns(rng):
    X, y = exclusive_or(rng, 80, 15)
    order = rng.permutation(15)
    chosen = most_promising_pairs(table_of(X, y), range(15), NONE, 20, None)
    among_ordered = most_promising_pairs(table_of(X[:, order], y), range(15), NONE, 20, None)
    assert {frozenset(pair) for pair in chosen} == {
        frozenset(order[list(pair)].tolist()) for pair in among_ordered
    }


def test_pairs_of_settled_features_and_columns_of_one_feature_are_left_out(rng):
    X, y = exclusive_or(rng, 150, 6)
    assert (0, 1) not in most_promising_pairs(table_of(X, y), range(6), frozenset({0, 1}), 14, None)
    (best,) = most_promising_pairs(table_of(X, y), range(6), frozenset({0}), 1, None)
    assert set(best) == {0, 1}
    assert all_pairs([0, 1, 2], frozenset({0, 1})) == [(0, 2), (1, 2)]
    assert n_pairs([0, 1, 2], frozenset({0, 1})) == 2
    groups = table_of(X, y, feature_groups={"both": [0, 1]})
    both = groups.names.index("both")
    chosen = most_promising_pairs(groups, range(5), NONE, 10, None)
    assert (both, both) not in chosen
    assert len(chosen) == len(set(chosen))


def test_a_target_of_several_columns_is_refused(rng):
    X = rng.normal(size=(40, 4))
    with pytest.raises(InvalidInputError, match="one target at a time"):
        most_promising_pairs(table_of(X, X[:, :2], task="regression"), range(4), NONE, 3, None)


def test_as_many_columns_are_read_at_once_as_have_the_allowed_number_of_values(monkeypatch, rng):
    widths = []
    table = table_of(rng.normal(size=(40, 7)), rng.integers(0, 2, size=40))
    block = table.storage.block

    def watched(columns, *others):
        widths.append(len(columns))
        return block(columns, *others)

    monkeypatch.setattr(column_values, "_ENTRIES_AT_ONCE", 3 * 40)
    monkeypatch.setattr(table.storage, "block", watched)
    most_promising_pairs(table, range(7), NONE, 5, None)
    assert max(widths) == 3


def best_pairs(X, y, settled, at_most):
    """Return the pairs with the highest scores, highest first, those that tie at the limit left out."""
    quarters = [quarters_of(column) for column in X.T]
    scores = {
        (a, b): pair_score(quarters[a].tolist(), quarters[b].tolist(), y.tolist())
        for a, b in combinations(range(X.shape[1]), 2)
        if not {a, b} <= settled
    }
    ordered = sorted(scores, key=lambda pair: -scores[pair])
    if len(ordered) <= at_most:
        return ordered
    return [pair for pair in ordered[:at_most] if scores[pair] > scores[ordered[at_most]] + 1e-9]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("at_once", [1, 40, 2**20])
@pytest.mark.parametrize("at_most", [1, 7, 30, 45, 60])
def test_the_best_pairs_are_those_of_all_scores(at_most, at_once, n_jobs, rng, monkeypatch):
    """Ten columns: 45 pairs, of which three are of settled columns."""
    monkeypatch.setattr(pair_screen, "_SCORES_AT_ONCE", at_once)
    X, y = rng.normal(size=(80, 10)), rng.integers(0, 3, size=80)
    settled = frozenset({2, 5, 8})
    found = most_promising_pairs(table_of(X, y), range(10), settled, at_most, n_jobs)
    assert found == best_pairs(X, y, settled, at_most)


def test_scores_of_a_quantity_are_those_of_its_quarters(rng):
    X, y = rng.normal(size=(80, 8)), rng.normal(size=80)
    table = table_of(X, y, task="regression")
    assert most_promising_pairs(table, range(8), NONE, 9, 1) == best_pairs(X, quarters_of(y), NONE, 9)


def test_blocks_of_scores_share_a_million_between_the_threads(monkeypatch):
    seen = []

    def run_tasks(task, firsts, n_threads):
        seen.append((list(firsts), n_threads))
        return [np.empty((0, 1100)) for _ in firsts]

    monkeypatch.setattr(pair_screen._engine, "run_tasks", run_tasks)
    quarters = np.zeros((1100, 2), dtype=np.uint8)
    labels = np.zeros(2, dtype=np.int64)
    for n_threads, expected in ((1, [[0], [953]]), (2, [[0, 476], [952]])):
        seen.clear()
        pair_screen._highest(quarters, labels, 1, np.arange(1100), NONE, 5, n_threads)
        assert seen == [(firsts, n_threads) for firsts in expected]


def test_features_of_several_columns_have_the_score_of_their_best_one(rng):
    X, y = exclusive_or(rng, 150, 6)
    table = table_of(X, y, feature_groups={"both": [1, 4], "others": [2, 3]})
    names = list(table.names)
    asked = [names.index(name) for name in ("others", "x5", "both", "x0")]
    pairs = most_promising_pairs(table, asked, NONE, 30, None)
    assert [names[x] for x in pairs[0]] == ["both", "x0"]
    assert len(pairs) == 6
    settled = frozenset(names.index(name) for name in ("both", "x0"))
    assert len(most_promising_pairs(table, asked, settled, 30, None)) == 5


def test_pairs_are_counted_as_they_are_listed():
    for features in ([], [4], [4, 2], [4, 2, 7, 1], range(9)):
        for settled in (NONE, frozenset({4}), frozenset({4, 2, 9}), frozenset({1, 2, 4, 7})):
            assert n_pairs(features, settled) == len(all_pairs(features, settled))
    assert all_pairs([4, 2, 7], NONE) == [(4, 2), (4, 7), (2, 7)]
    assert all_pairs([4, 2, 7, 1], frozenset({2, 1, 4})) == [(4, 7), (2, 7), (7, 1)]
