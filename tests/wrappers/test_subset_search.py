"""Beam search, hill climbing and the genetic search: what they find, within how many subsets."""

import itertools

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ppfs.wrappers import Stepwise, SubsetSearch
from ppfs.wrappers._strategies import _POPULATION, Walk, genetic

every_strategy = pytest.mark.parametrize("strategy", ["beam", "hill-climbing", "genetic"])


@pytest.fixture(scope="module")
def planted():
    """Columns 1 and 4 decide together; the others are noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    return X, (X[:, 1] + X[:, 4] > 0).astype(int)


@every_strategy
def test_the_best_of_all_subsets_is_found_where_all_may_be_scored(planted, strategy):
    X, y = planted
    found = SubsetSearch(GaussianNB(), strategy=strategy, max_subsets=64, cv=3, random_state=0).fit(X, y)
    every = [
        SubsetSearch(GaussianNB(), max_subsets=1, cv=3, always_keep=list(some), random_state=0)
        .fit(X, y)
        .score_
        for n in (2, 3)
        for some in itertools.combinations(range(6), n)
    ]
    assert found.support_[[1, 4]].all()
    assert found.score_ >= max(every)
    assert found.n_subsets_ <= 64


@every_strategy
def test_no_more_subsets_are_scored_than_allowed(planted, strategy):
    X, y = planted
    found = SubsetSearch(GaussianNB(), strategy=strategy, max_subsets=7, cv=2, random_state=0).fit(X, y)
    assert found.n_subsets_ <= 7


@every_strategy
def test_the_order_of_columns_makes_no_difference(planted, strategy):
    X, y = planted
    order = np.array([3, 1, 5, 0, 4, 2])
    search = SubsetSearch(DecisionTreeClassifier(), strategy=strategy, max_subsets=20, cv=2, random_state=0)
    support = search.fit(X, y).support_.copy()
    np.testing.assert_array_equal(search.fit(X[:, order], y).support_, support[order])


@every_strategy
def test_what_is_kept_stays_and_enough_are_selected(planted, strategy):
    X, y = planted
    found = SubsetSearch(
        GaussianNB(), strategy=strategy, max_subsets=10, cv=2, always_keep=0, min_features=4, random_state=0
    ).fit(X, y)
    assert found.support_[0]
    assert found.support_.sum() >= 4


def test_two_columns_that_act_only_together_are_found_where_single_steps_find_nothing():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(120, 4)).astype(float)
    y = (X[:, 0] != X[:, 2]).astype(int)
    together = SubsetSearch(strategy="genetic", max_subsets=16, cv=3, random_state=0).fit(X, y)
    assert together.support_[[0, 2]].all()
    assert Stepwise(cv=3, random_state=0).fit(X, y).score_ <= together.score_


@every_strategy
@pytest.mark.parametrize("n", [1, 2, 5])
def test_all_subsets_that_are_allowed_are_scored(planted, strategy, n):
    X, y = planted
    assert (
        SubsetSearch(GaussianNB(), strategy=strategy, max_subsets=n, cv=2, random_state=0)
        .fit(X, y)
        .n_subsets_
        == n
    )


class FewScores:
    """Scores of few features, of which a genetic search soon knows nearly all subsets."""

    def __init__(self):
        self.n_asked = 0

    def score(self, members):
        self.n_asked += 1
        return float(len(members))


@pytest.mark.parametrize("max_subsets", [1, 20, 24, 10_000])
def test_a_genetic_search_ends_where_its_generations_bring_nothing_new(max_subsets):
    scores, generator = FewScores(), np.random.default_rng(0)
    walk = Walk(scores, range(5), frozenset(), max_subsets)
    genetic(walk, generator)
    assert walk.n_scored == scores.n_asked <= min(32, max_subsets)
    # Nothing is drawn where all that may be scored is scored.
    state = generator.bit_generator.state
    if walk.is_over:
        before = walk.n_scored
        fresh = np.random.default_rng(1)
        genetic(walk, fresh)
        drawn = np.random.default_rng(1)
        for _ in range(_POPULATION):
            drawn.random(6)
        assert fresh.bit_generator.state == drawn.bit_generator.state
        assert walk.n_scored == before
    assert generator.bit_generator.state == state
