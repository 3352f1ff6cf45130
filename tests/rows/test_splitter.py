"""Splits that the caller decides, and groups that no split separates."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs._rows.folds import divide_into_folds
from ppfs.blanket import IAMB
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI

N_ROWS = 90


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N_ROWS, 3))


@pytest.fixture
def y(X):
    return (X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=N_ROWS) > 0).astype(int)


def splits_of(test, X, y, fold=0, **rows):
    """The splits that a test makes of a table."""
    table = read_table(X, y, task="auto", owner=test, **rows)
    bound = test.bind(table, fold=fold, random_state=3)
    return bound._risks_about(table.target, is_marginal=False)[0].problem.splits


@pytest.mark.parametrize(
    "splitter",
    [TimeSeriesSplit(6), StratifiedKFold(5), KFold(5, shuffle=True, random_state=1)],
    ids=lambda splitter: type(splitter).__name__,
)
@pytest.mark.parametrize("test", [PPI, CrossFitPPI])
def test_the_splitters_rows_are_used(X, y, splitter, test):
    found = splits_of(test(splitter=splitter), X, y)
    expected = list(splitter.split(X, y))
    assert len(found) == len(expected)
    for split, (train, tested) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, tested)
        assert sorted(split.permutation) == list(range(tested.size))


def test_pairs_of_rows_and_predefined_splits(X, y):
    parts = np.arange(N_ROWS) % 5
    by_hand = [(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(5)]
    for splitter in (by_hand, tuple(by_hand), PredefinedSplit(parts)):
        found = splits_of(PPI(splitter=splitter), X, y)
        assert [split.test.tolist() for split in found] == [test.tolist() for _, test in by_hand]


def test_as_many_splits_as_the_splitter_makes_give_the_smallest_pvalue(X, y):
    splitter = RepeatedStratifiedKFold(n_splits=5, n_repeats=2)
    result = PPI(splitter=splitter, n_splits=30, random_state=0).evaluate(X, y, 0)
    assert result.pvalue == 2.0**-10
    assert len(splits_of(PPI(splitter=splitter), X, y)) == 10


def test_open_splitters_are_seeded_and_never_changed(X, y):
    splitter = ShuffleSplit(6, test_size=0.3)
    first, again = (splits_of(PPI(splitter=splitter), X, y) for _ in range(2))
    other_fold = splits_of(PPI(splitter=splitter), X, y, fold=1)
    assert splitter.random_state is None
    assert [split.test.tolist() for split in first] == [split.test.tolist() for split in again]
    assert first[0].test.tolist() != other_fold[0].test.tolist()


def test_a_splitters_own_random_state_is_not_used_up(X, y):
    state = np.random.RandomState(0)
    before = state.get_state()[1].copy()
    splits_of(PPI(splitter=ShuffleSplit(6, random_state=state)), X, y)
    np.testing.assert_array_equal(state.get_state()[1], before)


def test_every_splitter_selects_the_planted_column(X, y):
    for splitter in (TimeSeriesSplit(8), RepeatedStratifiedKFold(n_splits=4, n_repeats=2)):
        assert PPFS(splitter=splitter, random_state=0).fit(X, y).blanket_.tolist() == [0]
    assert PPFS.calibrated(splitter=KFold(5), random_state=0).fit(X, y).blanket_.tolist() == [0]


def test_rows_without_weight_are_taken_out_of_the_callers_rows(X, y):
    weights = np.ones(N_ROWS)
    weights[[0, 10, 50]] = 0
    kept = np.flatnonzero(weights)
    parts = np.arange(N_ROWS) % 5
    found = splits_of(PPI(splitter=PredefinedSplit(parts)), X, y, sample_weight=weights)
    for part, split in enumerate(found):
        np.testing.assert_array_equal(parts[kept[split.test]], part)
    assert sum(split.test.size for split in found) == kept.size


@pytest.mark.parametrize("row", [90, -1])
def test_rows_that_do_not_exist_are_an_error_also_with_zero_weights(X, y, row):
    weights = np.ones(N_ROWS)
    weights[0] = 0
    splitter = [(range(50), [*range(50, 90), row])] * 5
    with pytest.raises(InvalidInputError, match=rf"names row {row}, but rows are numbered 0 to 89"):
        PPFS(splitter=splitter, random_state=0).fit(X, y, sample_weight=weights)


def test_in_a_fold_the_splitter_divides_the_training_part(X, y):
    selector = PPFS(splitter=TimeSeriesSplit(6), n_folds=3, random_state=0).fit(X, y)
    assert selector.support_[0]
    for splitter in (PredefinedSplit(np.arange(N_ROWS) % 5), [(np.arange(50), np.arange(50, 90))] * 5):
        with pytest.raises(InvalidInputError, match=r"names rows of the whole table.*n_folds=0"):
            PPFS(splitter=splitter, n_folds=3, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (KFold(3), r"splitter=KFold makes 3 splits, which is too few.*at least 5 splits"),
        ([(range(50), range(40, 90))] * 5, r"Split 0 of splitter=list has row 40 in both parts"),
        ([(range(50), [60])] * 5, r"test part of 1"),
        ([(range(50), [60, 90])] * 5, r"names row 90, but rows are numbered 0 to 89"),
        (((np.arange(40), np.arange(40, 90)) for _ in range(5)), r"can be read only once.*list\("),
        (TimeSeriesSplit(200), r"TimeSeriesSplit\(.*cannot divide 90 rows"),
        (GroupKFold(5), r"cannot divide 90 rows.*groups"),
    ],
    ids=["few", "overlap", "short", "unknown row", "generator", "too many", "no groups"],
)
def test_splits_that_cannot_be_used(X, y, splitter, message):
    with pytest.raises(InvalidInputError, match=message):
        PPI(splitter=splitter).evaluate(X, y, 0)


def test_cross_fitting_needs_disjoint_test_parts(X, y):
    with pytest.raises(InvalidInputError, match=r"tests every row once.*more than one test part"):
        CrossFitPPI(splitter=ShuffleSplit(5, random_state=0)).evaluate(X, y, 0)


@pytest.mark.parametrize("splitter", ["kfold", 5])
def test_what_is_no_splitter_is_refused(X, y, splitter):
    with pytest.raises(ValueError, match="'splitter' parameter of PPFS"):
        PPFS(splitter=splitter).fit(X, y)


GROUPS = np.random.default_rng(5).permutation(np.arange(N_ROWS) % 18)


@pytest.mark.parametrize("test", [PPI(), CrossFitPPI(), PPI(splitter=LeaveOneGroupOut())], ids=str)
@pytest.mark.parametrize("is_labelled", [True, False])
def test_no_split_separates_a_group(X, y, test, is_labelled):
    labels = np.array([f"patient {group}" for group in GROUPS])
    splits = splits_of(test, X, y if is_labelled else X[:, 0], groups=labels)
    for split in splits:
        assert not set(GROUPS[split.train]) & set(GROUPS[split.test])
        assert len(split.train) + len(split.test) == N_ROWS


def test_folds_of_the_search_keep_groups_together(X, y):
    for labels in (None, y):
        parts = divide_into_folds(N_ROWS, labels, GROUPS, 4, seed=0)
        assert sorted(np.concatenate([inside for _, inside in parts])) == list(range(N_ROWS))
        for outside, inside in parts:
            assert not set(GROUPS[outside]) & set(GROUPS[inside])


def test_stratified_group_folds_leave_no_fold_empty():
    """Three groups of one class each: proportions alone would put two of them into one fold."""
    groups = np.repeat([0, 1, 2], [40, 10, 10])
    parts = divide_into_folds(60, np.repeat([0, 1], [40, 20]), groups, 3, seed=0)
    assert sorted(inside.size for _, inside in parts) == [10, 10, 40]


def test_too_few_groups(X, y):
    with pytest.raises(
        InvalidInputError, match=r"4 groups with test_size=0.2.*at least 2 groups.*LeaveOneGroupOut"
    ):
        PPI().evaluate(X, y, 0, groups=np.arange(N_ROWS) % 4)
    with pytest.raises(
        InvalidInputError, match=r"CrossFitPPI\(n_folds=5\) needs at least 5 groups.*there are 4"
    ):
        CrossFitPPI().evaluate(X, y, 0, groups=np.arange(N_ROWS) % 4)
    with pytest.raises(InvalidInputError, match=r"^n_folds=5 needs at least 5 groups"):
        PPFS(n_folds=5).fit(X, y, groups=np.arange(N_ROWS) % 4)
    with pytest.raises(InvalidInputError, match="stratify=True is impossible with groups"):
        PPI(stratify=True).evaluate(X, y, 0, groups=GROUPS)


def test_a_splitter_that_separates_groups_is_refused(X, y):
    with pytest.raises(InvalidInputError, match=r"rows of one group in both parts.*GroupKFold"):
        PPI(splitter=KFold(5)).evaluate(X, y, 0, groups=GROUPS)


def test_cross_fitting_tests_the_sums_of_groups():
    """The t test over groups, from the rows' differences of plain loops."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 1))
    y = X[:, 0] + 2 * rng.normal(size=60)
    groups = np.repeat(np.arange(15), 4)
    test = CrossFitPPI(LinearRegression(), n_draws=3, random_state=0)
    answer = test.evaluate(X, y, 0, groups=groups)
    rises = np.zeros(60)
    table = read_table(X, y, task="auto", owner=test, groups=groups)
    for split in test.bind(table)._risks_about(1, is_marginal=False)[0].problem.splits:
        model = LinearRegression().fit(X[split.train], y[split.train])
        own = (y[split.test] - model.predict(X[split.test])) ** 2
        for permutation in split.permutations:
            replaced = (y[split.test] - model.predict(X[split.test][permutation])) ** 2
            rises[split.test] += (replaced - own) / 3
    sums = [rises[groups == group].sum() for group in range(15)]
    expected = stats.ttest_1samp(sums, 0.0, alternative="greater")
    assert answer.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert answer.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    assert answer.effect == pytest.approx(rises.mean(), rel=1e-6)


def test_counting_draws_needs_independent_rows(X, y):
    test = CrossFitPPI(significance="randomisation", n_draws=19)
    with pytest.raises(InvalidInputError, match=r"needs independent rows.*paired-t"):
        test.evaluate(X, y, 0, groups=GROUPS)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((np.arange(N_ROWS) < 50, np.arange(N_ROWS) >= 50), "is a mask"),
        ((np.arange(50) + 0.5, np.arange(50, N_ROWS)), "is an array of float64"),
        ((np.arange(50)[:, None], np.arange(50, N_ROWS)), r"shape \(50, 1\)"),
        ((np.arange(50), np.arange(50, 60), np.arange(60, N_ROWS)), r"item 0 has 3 part\(s\)"),
        (np.arange(50), r"item 0 has 1 part\(s\)"),
    ],
)
@pytest.mark.parametrize("test", [PPI, CrossFitPPI])
def test_a_list_holds_pairs_of_row_numbers(X, y, parts, message, test):
    with pytest.raises(InvalidInputError, match=message):
        splits_of(test(splitter=[parts]), X, y)


@pytest.mark.parametrize("test", [PPI, CrossFitPPI])
def test_no_splits_are_refused(X, y, test):
    with pytest.raises(InvalidInputError, match="makes no splits"):
        splits_of(test(splitter=[]), X, y)


@pytest.mark.parametrize(
    ("splitter", "message"), [(iter([]), r"read only once.*Pass list"), (KFold, r"needed: KFold\(\.\.\.\)")]
)
@pytest.mark.parametrize(
    "selector",
    [
        lambda splitter: PPFS(splitter=splitter),
        lambda splitter: PPFS.calibrated(splitter=splitter),
        lambda splitter: IAMB(independence=PPI(splitter=splitter)),
    ],
    ids=["PPFS", "calibrated", "IAMB"],
)
def test_generators_and_classes_are_refused_before_they_are_copied(X, y, selector, splitter, message):
    with pytest.raises(InvalidInputError, match=message):
        selector(splitter).fit(X, y)
