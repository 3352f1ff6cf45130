"""Answers are remembered for the same data only: same values, kinds, groups, weights."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket._cv.inner_scores import searched
from ppfs.blanket._run.circumstances import digest_of
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence._known_answers import fingerprint

N_ROWS = 60


@pytest.fixture
def X():
    return np.random.default_rng(0).integers(0, 3, size=(N_ROWS, 3)).astype(float)


@pytest.fixture
def y(X):
    return (X[:, 0] > 0).astype(int)


def digest(X, y, **rest):
    return digest_of(read_table(X, y, task="auto", owner="a test", **rest))


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


@pytest.mark.parametrize("is_panel", [False, True])
@pytest.mark.parametrize("changed", ["names", "labels"])
def test_frames_that_a_model_reads_by_name_and_label_are_told_apart(changed, is_panel):
    """The numbers in the table are the same."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["k", "l", "m"], 40), "b": rng.choice(["k", "l", "m"], 40)})
    y = (frame["a"] == "l") ^ (rng.random(40) < 0.1)
    other = (
        frame.set_axis(["b", "a"], axis=1)
        if changed == "names"
        else frame.replace({"k": "j", "l": "k", "m": "l"})
    )
    encoder = OneHotEncoder(categories=[["l", "m"]], handle_unknown="ignore")
    model = make_pipeline(ColumnTransformer([("a", encoder, ["a"])]), LogisticRegression())
    selector = PPFS([model, model] if is_panel else model, n_splits=6, random_state=0)
    expected = clone(selector).fit(other, y).importances_
    assert selector.fit(frame, y).importances_.tolist() != expected.tolist()
    assert selector.fit(other, y).importances_.tolist() == expected.tolist()


@pytest.mark.parametrize("settings", [{}, {"class_weight": {0: 1.0, 1: 3.0}}], ids=str)
def test_a_second_fit_with_another_alpha_asks_nothing(X, y, settings):
    selector = PPFS(n_splits=6, random_state=0, **settings).fit(X, y)
    assert selector.n_tests_
    assert selector.set_params(alpha=0.2).fit(X, y).n_tests_ == 0
    assert selector.fit(X, y, groups=np.arange(N_ROWS) // 6).n_tests_
    assert selector.set_params(class_weight={0: 1.0, 1: 2.0}).fit(X, y).n_tests_


def test_a_splitter_that_was_changed_in_place_is_asked_again(X, y):
    selector = PPFS(splitter=KFold(6), random_state=0).fit(X, y)
    assert selector.fit(X, y).n_tests_ == 0
    selector.splitter.n_splits = 7
    assert selector.fit(X, y).n_tests_


def test_a_function_may_read_variables_that_change(X, y):
    """The loss is the same function, and its answers are others."""
    penalty = [1.0]

    def loss(truth, probabilities):
        return penalty[0] * (probabilities[:, 1] - truth) ** 2

    selector = PPFS(LogisticRegression(), loss=loss, n_splits=6, random_state=0).fit(X, y)
    penalty[0] = 5.0
    again = selector.fit(X, y).importances_
    fresh = PPFS(LogisticRegression(), loss=loss, n_splits=6, random_state=0).fit(X, y).importances_
    np.testing.assert_array_equal(again, fresh)


def test_estimators_that_keep_their_fit_are_not_compared_by_class(X, y):
    """Two frozen models have the same parameters, and other coefficients."""
    X = X[:, :1]
    selector = PPFS(FrozenEstimator(LogisticRegression().fit(X, y)), n_splits=6, random_state=0).fit(X, y)
    other = FrozenEstimator(LogisticRegression().fit(X, 1 - y))
    again = selector.set_params(estimator=other).fit(X, y)
    fresh = PPFS(other, n_splits=6, random_state=0).fit(X, y)
    assert again.pvalues_.tolist() == fresh.pvalues_.tolist()


def test_estimators_that_are_their_parameters_are_compared_by_them(X, y):
    selector = PPFS(LogisticRegression(), n_splits=6, random_state=0).fit(X, y)
    assert selector.set_params(estimator=LogisticRegression()).fit(X, y).n_tests_ == 0
    assert selector.set_params(estimator=LogisticRegression(C=2.0)).fit(X, y).n_tests_


class FailsOnce(DecisionTreeClassifier):
    """A tree whose fit fails once, after so many fits; as a subclass the engine does not support it.

    What decides about that lies outside of the program, as a full disk does: a change in the class would be a change of
    the settings, and no answer would be used again.
    """

    def fit(self, X, y, **rest):
        n_fits = int(os.environ["N_FITS"]) + 1
        os.environ["N_FITS"] = str(n_fits)
        if n_fits == int(os.environ["FAILS_AT"]):
            raise RuntimeError("no luck, just now")
        return super().fit(X, y, **rest)


@pytest.fixture
def fails_at(monkeypatch):
    """Return what counts fits from 0 again, and lets one of them fail."""

    def start(number):
        monkeypatch.setenv("N_FITS", "0")
        monkeypatch.setenv("FAILS_AT", str(number))

    start(0)
    return start


@pytest.mark.parametrize("n_folds", [0, 3])
def test_a_search_that_failed_late_continues_from_its_answers(X, y, fails_at, n_folds):
    settings = {"n_splits": 6, "n_folds": n_folds, "random_state": 0}
    whole = PPFS(FailsOnce(), **settings).fit(X, y)
    fails_at(int(os.environ["N_FITS"]) - 3)
    selector = PPFS(FailsOnce(), **settings)
    with pytest.raises(EstimatorFailedError, match="no luck") as caught:
        selector.fit(X, y)
    assert any("answers that the search had so far are kept" in note for note in caught.value.__notes__)
    fails_at(0)
    selector.fit(X, y)
    # Only the question that failed, and what came after it, is asked again.
    assert int(os.environ["N_FITS"]) <= 2 * 6
    assert 0 < selector.n_tests_ < whole.n_tests_
    assert selector.blanket_.tolist() == whole.blanket_.tolist()
    np.testing.assert_array_equal(selector.pvalues_, whole.pvalues_)
    assert [*selector.trace_] == [*whole.trace_]


def test_a_refit_that_fails_does_not_forget_what_was_known(X, y, fails_at, monkeypatch):
    selector = PPFS(FailsOnce(), n_splits=6, n_folds=2, random_state=0).fit(X, y)
    with monkeypatch.context() as patched:
        patched.setattr(PPFS, "_search", _stopped)
        with pytest.raises(RuntimeError, match="stopped"):
            selector.fit(X, y)
    assert selector.fit(X, y).n_tests_ == 0


def _stopped(*_):
    raise RuntimeError("stopped")


def test_without_a_seed_nothing_is_promised(X, y, fails_at):
    fails_at(15)
    with pytest.raises(EstimatorFailedError) as caught:
        PPFS(FailsOnce(), n_splits=6).fit(X, y)
    assert not getattr(caught.value, "__notes__", [])


def test_searches_in_other_rows_do_not_share_tests(X, y):
    """With rows set aside to confirm, a search sees fewer of them than one without."""
    table = read_table(X, y, task="auto", owner="a test")
    settings = [PPFS(n_splits=6), PPFS(n_splits=6, confirm=0.3)]
    together = searched(settings, table, seed=0)
    alone = [searched([setting], table, seed=0)[0] for setting in settings]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal(one.pvalues_, other.pvalues_)


def test_tables_of_codes_are_told_apart_as_others_are():
    X = np.random.default_rng(0).integers(0, 4, (60, 3)).astype(float)
    y = np.arange(60) % 2
    digests = [
        digest_of(read_table(table, y, task="auto", owner="a test"))
        for table in (X, X * 100, X + 0.5, np.where(X == 0, -0.0, X), X[::-1], X.astype(np.float32))
    ]
    assert len(set(digests)) == len(digests)
    assert digest_of(read_table(np.asfortranarray(X), y, task="auto", owner="a test")) == digests[0]


def test_what_stands_for_columns_in_questions_does_not_pile_up():
    assert fingerprint.cache_info().maxsize is not None
