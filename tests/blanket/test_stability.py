"""Selection by how often a column is found in halves of the rows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from ppfs import PPFS, RowsInTime
from ppfs._rows import complementary_halves
from ppfs.blanket import IAMB, StabilitySelection, _stability
from ppfs.exceptions import InvalidInputError


def table(n_rows: int = 120, n_columns: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] + X[:, 1] + rng.normal(size=n_rows)


def test_columns_that_matter_are_found_in_most_halves() -> None:
    X, y = table()
    stable = StabilitySelection(PPFS.calibrated(Ridge()), n_pairs=4, random_state=0).fit(X, y)
    assert np.flatnonzero(stable.support_).tolist() == [0, 1]
    assert stable.stability_[:2].min() >= 0.75 > stable.stability_[2:].max()
    assert stable.n_found_ == pytest.approx(stable.stability_.sum())
    assert stable.expected_false_ == pytest.approx(stable.n_found_**2 / (0.5 * 20))
    assert stable.transform(X).shape == (120, 2)


def test_a_selector_with_a_checkpoint_is_refused_before_its_folder_is_made(tmp_path) -> None:
    stable = StabilitySelection(PPFS(checkpoint=tmp_path / "run", random_state=0), n_pairs=2)
    with pytest.raises(InvalidInputError, match=r"searches in 4 halves\. Leave checkpoint out"):
        stable.fit(*table())
    assert not (tmp_path / "run").exists()


def test_a_class_in_place_of_a_selector_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'selector' parameter of StabilitySelection must be .*class"):
        StabilitySelection(PPFS).fit(*table())


def test_stability_is_the_share_of_halves() -> None:
    """A selector that always takes the same number of columns: the shares add up to it."""
    X, y = table()
    stable = StabilitySelection(SelectKBest(k=3), n_pairs=5, random_state=0).fit(X, (y > 0).astype(int))
    assert stable.n_found_ == pytest.approx(3)
    assert set((stable.stability_ * 10).round(9) % 1) == {0.0}


def test_halves_are_complementary_and_keep_classes_and_groups() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], [20, 7, 5])
    first, second = complementary_halves(32, labels, None, rng)
    assert sorted([*first, *second]) == list(range(32))
    for label, n in (("a", 20), ("b", 7), ("c", 5)):
        assert abs((labels[first] == label).sum() - n / 2) <= 0.5
    groups = np.repeat(np.arange(9), 3)
    first, second = complementary_halves(27, None, groups, rng)
    assert not set(groups[first]) & set(groups[second])
    assert {len(first), len(second)} == {12, 15}


def test_the_threshold_follows_from_the_false_columns_that_are_allowed() -> None:
    X, y = table()
    selector = StabilitySelection(SelectKBest(k=3), n_pairs=5, max_false=1.0, random_state=0)
    labels = (y > 0).astype(int)
    selector.fit(X, labels)
    assert selector.threshold_ == pytest.approx((1 + 9 / 20) / 2)
    assert selector.expected_false_ == pytest.approx(1.0)
    with pytest.raises(
        InvalidInputError, match=r"max_false=0.1 cannot be reached: the selector finds 3.0 of 20"
    ):
        selector.set_params(max_false=0.1).fit(X, labels)


def test_false_columns_stay_below_the_bound() -> None:
    """Noise only: a selector that takes 4 of 40 columns in each half."""
    n_false = []
    bounds = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 40)), rng.permutation(np.arange(60) % 2)
        stable = StabilitySelection(SelectKBest(k=4), threshold=0.7, n_pairs=15, random_state=seed).fit(X, y)
        n_false.append(stable.support_.sum())
        bounds.append(stable.expected_false_)
    assert np.mean(bounds) == pytest.approx(1.0)
    assert np.mean(n_false) <= 1.0


def test_same_answer_for_any_number_of_workers() -> None:
    X, y = table(n_columns=4)
    one = StabilitySelection(PPFS(n_splits=5), n_pairs=2, random_state=4).fit(X, y)
    with parallel_config("threading"):
        two = StabilitySelection(PPFS(n_splits=5), n_pairs=2, random_state=4, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.stability_, two.stability_)


def test_frames_groups_and_weights_are_passed_on() -> None:
    X, y = table(n_columns=5)
    frame = pd.DataFrame(X, columns=list("abcde"))
    stable = StabilitySelection(PPFS.calibrated(Ridge()), n_pairs=3, random_state=0)
    stable.fit(frame, pd.Series(y), groups=np.arange(120) // 2, sample_weight=np.ones(120))
    assert stable.get_feature_names_out().tolist() == ["a", "b"]


def test_a_path_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="X is a path"):
        StabilitySelection().fit("table.parquet", "y")


def test_searches_with_folds_tell_their_stability() -> None:
    X, y = table()
    folded = IAMB(n_folds=4, random_state=0).fit(X, y)
    expected = [np.mean([x in fold.blanket for fold in folded.folds_]) for x in range(20)]
    assert folded.stability_.tolist() == expected
    assert np.isnan(IAMB().fit(X, y).stability_).all()


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([StabilitySelection(IAMB(), n_pairs=1, random_state=0)])
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


class Recorder(SelectorMixin, BaseEstimator):
    """A selector that takes all columns and remembers the targets that it saw."""

    seen: ClassVar[list[np.ndarray]] = []

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
        self.seen.append(y)
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self) -> np.ndarray:
        return np.ones(self.n_features_in_, dtype=bool)


@pytest.mark.parametrize(
    ("y", "is_proportional"),
    [
        (np.repeat([0, 1], [20, 4]), True),
        (np.repeat([0, 1], [20, 3]), False),
        (np.repeat([0.5, 1.5], [12, 12]), False),
    ],
    ids=["four rows per class", "three rows of a class", "a numeric target of two values"],
)
def test_halves_keep_the_proportions_of_classes_of_four_rows_and_more(
    y: np.ndarray, is_proportional: bool
) -> None:
    Recorder.seen.clear()
    StabilitySelection(Recorder(), n_pairs=20, random_state=0).fit(np.zeros((y.size, 2)), y)
    counts = {int((half == y[-1]).sum()) for half in Recorder.seen}
    assert (len(counts) == 1) == is_proportional


class Drawn(SelectorMixin, BaseEstimator):
    """A selector that takes columns at random, by its seed alone."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Drawn:
        self.support_ = np.random.default_rng(self.random_state).random(X.shape[1]) < 0.6
        return self

    def _get_support_mask(self) -> np.ndarray:
        return self.support_


def test_a_column_that_is_found_exactly_often_enough_is_selected() -> None:
    X, y = table()
    shares = StabilitySelection(Drawn(), n_pairs=8, random_state=0).fit(X, y).stability_
    threshold = float(np.sort(shares[shares > 0.5])[0])
    assert 0.5 < threshold < shares.max()
    stable = StabilitySelection(Drawn(), n_pairs=8, threshold=threshold, random_state=0).fit(X, y)
    assert stable.support_.tolist() == (shares >= threshold).tolist()
    assert stable.support_[shares == threshold].all()


def test_every_half_has_a_seed_of_its_own() -> None:
    X, y = table()
    Seeds.seen.clear()
    StabilitySelection(Seeds(), n_pairs=4, random_state=0).fit(X, y)
    assert len(set(Seeds.seen)) == len(Seeds.seen) == 8


class Seeds(Drawn):
    """Remembers the seeds that it was given."""

    seen: ClassVar[list[int | None]] = []

    def fit(self, X: np.ndarray, y: np.ndarray) -> Seeds:
        self.seen.append(self.random_state)
        super().fit(X, y)
        return self


def test_wrong_parameters_are_named_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="The 'n_pairs' parameter of StabilitySelection"):
        StabilitySelection(n_pairs=0).fit("table.parquet", None)


def test_odd_columns_are_recorded() -> None:
    X, y = table(n_columns=3)
    X[:, 2] = np.arange(len(X))
    stable = StabilitySelection(SelectKBest(k=1), n_pairs=1, random_state=0).fit(X, y > 0)
    assert [(warning.column, warning.kind) for warning in stable.warnings_] == [("x2", "identifier")]


def test_progress_counts_the_halves(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = table()
    StabilitySelection(SelectKBest(k=1), n_pairs=2, random_state=0, progress="log").fit(X, y > 0)
    assert "halves: 4/4" in capsys.readouterr().err


def test_of_two_near_copies_one_is_selected():
    rng = np.random.default_rng(0)
    useful = rng.normal(size=200)
    X = np.column_stack([*(useful + 0.1 * rng.normal(size=200) for _ in range(2)), rng.normal(size=(200, 3))])
    y = 2 * useful + rng.normal(size=200)
    stable = StabilitySelection(PPFS.calibrated(), n_pairs=5, random_state=0).fit(X, y)
    assert stable.support_[:2].sum() >= 1
    assert not stable.support_[2:].any()


class _OneByTurns(BaseEstimator):
    """Selects column 0 or column 1, by the parity of the first row's number."""

    def fit(self, X, y):
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[int(X[:, 2].sum()) % 2] = True
        return self

    def get_support(self):
        return self.support_


def test_votes_for_near_copies_are_counted_together():
    rng = np.random.default_rng(1)
    column = rng.normal(size=100)
    X = np.column_stack(
        [column, column + 1e-3 * rng.normal(size=100), rng.integers(0, 100, 100), rng.normal(size=100)]
    )
    stable = StabilitySelection(_OneByTurns(), n_pairs=10, random_state=0).fit(X, rng.normal(size=100))
    assert stable.stability_[:2].max() < 0.75
    assert stable.support_.sum() == 1
    assert stable.blanket_[0] == int(np.argmax(stable.stability_))
    assert "near copy in 100%" in stable.results_["reason"][stable.blanket_[0]]


class Told(SelectorMixin, BaseEstimator):
    """Selects what it is told, half by half, and remembers the rows that it was given."""

    told: ClassVar[list[str]] = []
    seen: ClassVar[list[tuple]] = []

    def fit(self, X, y, **about):
        self.support_ = np.array([letter == "1" for letter in self.told.pop(0)])
        self.seen.append((np.asarray(X)[:, 0].tolist(), np.asarray(y).tolist(), about))
        return self

    def _get_support_mask(self):
        return self.support_


def stable_of(halves, X=None, y=None, *, fit=None, **parameters):
    Told.told[:] = halves
    Told.seen.clear()
    X = np.random.default_rng(0).normal(size=(40, len(halves[0]))) if X is None else X
    y = np.arange(len(X)) % 2 if y is None else y
    return StabilitySelection(Told(), n_pairs=len(halves) // 2, random_state=0, **parameters).fit(
        X, y, **(fit or {})
    )


def test_columns_of_enough_halves_are_selected_most_frequent_first():
    stable = stable_of(["11010", "01110", "01010", "00011"], threshold=0.75)
    assert stable.stability_.tolist() == [0.25, 0.75, 0.25, 1.0, 0.25]
    assert stable.support_.tolist() == [False, True, False, True, False]
    assert stable.blanket_.tolist() == [3, 1]
    assert (stable.n_found_, stable.threshold_) == (2.5, 0.75)
    assert stable.expected_false_ == pytest.approx(2.5**2 / (0.5 * 5))
    assert stable.trace_.method == (
        "Told searched in 4 random halves of the rows. Selected are the columns that it found in at least 75% of them. "
        "The expected number of false ones is at most 2.5."
    )
    reasons = [f"found in {share}% of the halves" for share in (25, 75, 25, 100, 25)]
    assert stable.results_["reason"].tolist() == reasons
    assert stable.results_["stability"].tolist() == stable.stability_.tolist()
    assert stable.results_["selected"].tolist() == stable.support_.tolist()
    assert stable.results_["column"].tolist() == ["x0", "x1", "x2", "x3", "x4"]
    outcome = stable.trace_.outcome
    assert (outcome.blanket, outcome.reasons) == ((3, 1), dict(enumerate(reasons)))
    assert stable_of(["110", "110"]).blanket_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("max_false", "threshold", "bound"),
    [
        # 2 of 4 columns in a half: the bound is 4 / (4 (2 t - 1)).
        (1.0, 1.0, 1.0),
        (2.0, 0.75, 2.0),
        (4.0, 0.625, 4.0),
        # A threshold is at least half a pair above one half: 0.5 + 0.25 / 2.
        (40.0, 0.625, 4.0),
    ],
)
def test_the_threshold_is_the_smallest_that_keeps_the_bound(max_false, threshold, bound):
    stable = stable_of(["1100", "1010", "1001", "0110"], max_false=max_false)
    assert stable.threshold_ == pytest.approx(threshold)
    assert stable.expected_false_ == pytest.approx(bound)


def test_a_bound_that_no_threshold_reaches_is_refused_with_the_nearest():
    with pytest.raises(InvalidInputError) as raised:
        stable_of(["1100", "1010", "1001", "0110"], max_false=0.99)
    assert str(raised.value) == (
        "max_false=0.99 cannot be reached: the selector finds 2.0 of 4 columns in a half, for which no threshold gives "
        "a bound below 1. Use a selector that finds fewer columns, for example with a smaller alpha, or a larger "
        "max_false."
    )


def copies():
    X = np.random.default_rng(0).normal(size=(40, 5))
    X[:, 3] = X[:, 1] + 0.01 * X[:, 3]
    return X


def test_the_most_frequent_of_near_copies_stands_for_them():
    stable = stable_of(["10010", "10010", "11000", "10010"], copies(), threshold=0.8)
    assert stable.support_.tolist() == [True, False, False, True, False]
    assert stable.results_["reason"].tolist() == [
        "found in 100% of the halves",
        "found in 25% of the halves",
        "found in 0% of the halves",
        "found in 75% of the halves, it or a near copy in 100%",
        "found in 0% of the halves",
    ]
    # Near copies count as one column.
    assert stable.expected_false_ == pytest.approx(2.0**2 / (0.6 * 4))
    # Together exactly often enough; ties go to the first.
    stable = stable_of(["10010", "11000", "01000", "00010", "00000", "00000"], copies(), threshold=4 / 6)
    assert stable.blanket_.tolist() == [1]
    stable = stable_of(["10010", "11000", "01000", "00010", "00000", "00000"], copies(), threshold=0.67)
    assert stable.blanket_.tolist() == []
    # Where one of them is there by itself, the others stay outside.
    stable = stable_of(["01010", "01000", "01000", "00010"], copies(), threshold=0.75)
    assert stable.blanket_.tolist() == [1]


def test_halves_get_the_rows_and_what_is_known_about_them():
    X = np.arange(24.0).reshape(12, 2) % 7
    X[:, 0] = np.arange(12.0)
    y = np.repeat([0, 1, 2], 4)
    stable_of(["10"] * 4, X, y, fit={"groups": np.arange(12) // 3, "sample_weight": np.arange(12.0) + 1})
    for first, second in (Told.seen[:2], Told.seen[2:]):
        assert sorted(first[0] + second[0]) == list(range(12))
        for rows, target, about in (first, second):
            assert target == [row // 4 for row in rows]
            assert about["groups"].tolist() == [row // 3 for row in rows]
            assert about["sample_weight"].tolist() == [row + 1 for row in rows]
            assert len(rows) == 6
    assert Told.seen[0][0] != Told.seen[2][0]


@pytest.mark.parametrize(
    ("y", "is_even"),
    [
        (np.repeat([0, 1], [8, 4]), True),
        (np.repeat(["a", "b", "c"], 4), True),
        (np.repeat([0, 1], [9, 3]), False),
    ],
)
def test_classes_of_four_rows_are_divided_evenly(y, is_even):
    X = np.column_stack([np.arange(12.0), np.arange(12.0) % 5])
    stable_of(["10"] * 20, X, y)
    counts = {tuple(np.unique(target, return_counts=True)[1]) for _, target, _ in Told.seen}
    assert (len(counts) == 1) is is_even


def test_rows_in_time_are_divided_by_blocks():
    X = np.column_stack([np.arange(40.0), np.arange(40.0) % 5])
    stable_of(["10"] * 4, X, np.arange(40) % 7 / 2.0, fit={"time": RowsInTime(np.arange(40), block_length=4)})
    for rows, _, _ in Told.seen:
        assert len(rows) == 20
        assert len({row // 4 for row in rows}) == 5


@pytest.mark.parametrize("n_rows", [3, 4])
def test_halves_have_at_least_two_rows(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    if n_rows == 4:
        assert stable_of(["10", "10"], X).blanket_.tolist() == [0]
        return
    with pytest.raises(InvalidInputError) as raised:
        stable_of(["10", "10"], X)
    assert str(raised.value) == (
        "Found array with 3 sample(s) while a minimum of 4 is required: each half needs two rows."
    )


def test_bad_requests_are_refused_word_by_word():
    X = np.random.default_rng(0).normal(size=(8, 2))
    with pytest.raises(InvalidInputError) as raised:
        StabilitySelection(PPFS(checkpoint="here"), n_pairs=3).fit(X, np.arange(8) % 2)
    assert str(raised.value) == (
        "The selector has checkpoint='here', but a checkpoint is for one set of rows, and StabilitySelection searches "
        "in 6 halves. Leave checkpoint out."
    )
    with pytest.raises(InvalidInputError) as raised:
        StabilitySelection().fit(X, None)
    assert str(raised.value) == "StabilitySelection requires y to be passed, but the target y is None."


def test_data_that_only_the_selector_takes_have_no_warnings(monkeypatch):
    def refuse(*given, **more):
        raise InvalidInputError("x")

    with monkeypatch.context() as patch:
        patch.setattr(_stability, "read_table", refuse)
        stable = stable_of(["10", "10"])
    assert stable.warnings_ == ()
    assert stable.trace_.data is None
    assert stable_of(["10", "10"]).trace_.data is not None


def test_tags_are_those_of_the_selector():
    for selector in (None, IAMB(), SelectKBest()):
        tags = get_tags(StabilitySelection(selector))
        inner = get_tags(PPFS.calibrated() if selector is None else selector)
        assert tags.target_tags.required
        assert (tags.input_tags.sparse, tags.input_tags.allow_nan) == (
            inner.input_tags.sparse,
            inner.input_tags.allow_nan,
        )
