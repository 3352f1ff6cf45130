"""Answers are remembered for the same data only: same values, kinds, groups, weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from ppfs import PPFS
from ppfs._reading import read_table
from ppfs.blanket._memory import _digest

N_ROWS = 60


@pytest.fixture
def X():
    return np.random.default_rng(0).integers(0, 3, size=(N_ROWS, 3)).astype(float)


@pytest.fixture
def y(X):
    return (X[:, 0] > 0).astype(int)


def digest(X, y, **rest):
    return _digest(read_table(X, y, task="auto", owner="a test", **rest))


def test_the_digest_covers_all_that_changes_answers(X, y):
    frame = pd.DataFrame(X, columns=list("abc"))
    text = frame.assign(c=frame["c"].astype(int).astype(str))
    weights = np.random.default_rng(1).uniform(1, 2, size=N_ROWS)
    digests = [
        digest(frame, y),
        digest(text, y),
        digest(frame, y, feature_groups={"ab": ["a", "b"]}),
        digest(frame, y, feature_groups={"bc": ["b", "c"]}),
        digest(frame, y, sample_weight=weights),
        digest(frame, y, sample_weight=weights[::-1]),
        digest(frame, y, groups=np.arange(N_ROWS) % 10),
        digest(frame, y, groups=np.arange(N_ROWS) // 6),
    ]
    assert len(set(digests)) == len(digests)
    assert digest(frame, y) == digest(X, y) == digest(frame, y, sample_weight=np.full(N_ROWS, 2.0))


@pytest.mark.parametrize("settings", [{}, {"class_weight": {0: 1.0, 1: 3.0}}], ids=str)
def test_a_second_fit_with_another_alpha_asks_nothing(X, y, settings):
    selector = PPFS(n_splits=6, random_state=0, **settings).fit(X, y)
    assert selector.n_tests_
    assert selector.set_params(alpha=0.2).fit(X, y).n_tests_ == 0
    assert selector.fit(X, y, groups=np.arange(N_ROWS) // 6).n_tests_
    assert selector.set_params(class_weight={0: 1.0, 1: 2.0}).fit(X, y).n_tests_


def test_splitters_may_change_without_a_trace(X, y):
    selector = PPFS(splitter=KFold(6), random_state=0).fit(X, y)
    assert selector.fit(X, y).n_tests_
