"""Splits, folds, halves, weights and exchanges, against scikit-learn's own and plain twins."""

import re

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from ppfs import RowsInTime
from ppfs._conventions import integer_seed, seeded_state, stream
from ppfs._data import TimeOrder, read_table
from ppfs._rows import Exchange, divide_into_folds, splits
from ppfs._rows.folds import every_class_has, folds_of
from ppfs._rows.halves import complementary_halves
from ppfs._rows.splits import (
    draw_folds,
    draw_splits,
    folds_to_stratify,
    is_stratifiable,
    labels_to_stratify,
    require_enough_groups,
    require_enough_rows,
    with_draws,
)
from ppfs._rows.splitter import refuse_single_use, require_disjoint_tests, splits_of
from ppfs._rows.weights import RowWeights, require_known_labels, weights_by_class
from ppfs.exceptions import InvalidInputError, StratificationWarning

N = 24
LABELS = np.arange(N) % 3
GROUPS = np.arange(N) // 3


def refused(text):
    return pytest.raises(InvalidInputError, match=re.escape(text))


def table_of(y=None, **rows):
    y = np.arange(N) / 7 if y is None else y
    return read_table(np.zeros((N, 1)), y, task="auto", owner="a test", **rows)


# Splits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "groups", "kind"),
    [(None, None, ShuffleSplit), (LABELS, None, StratifiedShuffleSplit), (LABELS, GROUPS, GroupShuffleSplit)],
)
@pytest.mark.parametrize("time", [None, TimeOrder(np.arange(N), gap=1, block_length=3)])
def test_each_split_is_drawn_from_its_own_stream(labels, groups, kind, time):
    found = draw_splits(
        N, labels, n_splits=3, test_size=0.25, entropy=5, fold=2, n_draws=2, groups=groups, time=time
    )
    assert len(found) == 3
    for number, split in enumerate(found):
        generator = stream(5, 2, number)
        divider = kind(n_splits=1, test_size=0.25, random_state=seeded_state(integer_seed(generator)))
        train, test = next(divider.split(np.zeros(N), labels, groups))
        if time is not None:
            train = np.array([row for row in train if np.abs(test - row).min() > 1])
        assert split.train.tolist() == train.tolist()
        assert split.test.tolist() == test.tolist()
        first = generator.permutation(test.size)
        assert split.seed == integer_seed(generator)
        assert split.permutations.tolist() == [first.tolist(), generator.permutation(test.size).tolist()]
        assert split.permutation.tolist() == first.tolist()
        assert [
            part is own
            for part, own in zip(split.arrays, (split.train, split.test, split.permutations), strict=True)
        ]
    one = draw_splits(N, None, n_splits=1, test_size=0.25, entropy=5, fold=2)[0]
    assert one.permutations.shape == (1, 6)


def test_the_first_permutation_and_the_seed_do_not_depend_on_the_number_of_draws():
    one, three = (with_draws(np.arange(3), np.arange(5), stream(1), n) for n in (1, 3))
    assert (one.seed, one.permutations.tolist()) == (three.seed, three.permutations[:1].tolist())
    assert three.permutations.shape == (3, 5)


def test_splits_that_do_not_fit_into_memory_are_refused_before_one_is_drawn(monkeypatch):
    monkeypatch.setattr(splits, "MAX_SPLIT_BYTES", 8 * 2 * (10 + 3 * 4))
    assert len(draw_splits(10, None, n_splits=2, test_size=0.35, entropy=0, fold=0, n_draws=3)) == 2
    for change in ({"n_splits": 3}, {"n_draws": 4}, {"test_size": 0.45}):
        with refused("draws each take 0 GiB of memory, more than the 0 that are allowed."):
            draw_splits(
                10, None, **{"n_splits": 2, "test_size": 0.35, "n_draws": 3, **change}, entropy=0, fold=0
            )


@pytest.mark.parametrize("fold", [0, 3])
def test_folds_are_those_of_the_stream_with_draws_of_their_own(fold):
    found = draw_folds(N, LABELS, n_folds=4, entropy=9, fold=fold, n_draws=2)
    expected = StratifiedKFold(4, shuffle=True, random_state=integer_seed(stream(9, fold))).split(
        np.zeros(N), LABELS
    )
    for number, (split, (train, test)) in enumerate(zip(found, expected, strict=True)):
        own = with_draws(train, test, stream(9, fold, number), 2)
        assert split.test.tolist() == test.tolist()
        assert split.permutations.tolist() == own.permutations.tolist()
        assert split.seed == own.seed
    grouped = draw_folds(N, None, n_folds=4, entropy=9, fold=0, n_draws=1, groups=GROUPS)
    assert all(not set(GROUPS[split.train]) & set(GROUPS[split.test]) for split in grouped)
    with refused("CrossFitPPI(n_folds=9) needs at least 9 groups, one in each fold, but there are 8."):
        draw_folds(N, None, n_folds=9, entropy=9, fold=0, n_draws=1, groups=GROUPS)
    in_time = draw_folds(
        N, None, n_folds=2, entropy=9, fold=0, n_draws=1, groups=GROUPS, time=TimeOrder(np.arange(N), 2, 3)
    )
    assert [split.test.tolist() for split in in_time] == [list(range(12)), list(range(12, 24))]
    assert in_time[0].train.tolist() == list(range(14, 24))


@pytest.mark.parametrize(
    ("labels", "groups", "kind"),
    [
        (None, None, KFold),
        (LABELS, None, StratifiedKFold),
        (None, GROUPS, GroupKFold),
        (LABELS, GROUPS, StratifiedGroupKFold),
    ],
)
def test_rows_are_divided_as_scikit_learn_does(labels, groups, kind):
    expected = list(kind(4, shuffle=True, random_state=3).split(np.zeros(N), labels, groups))
    found = divide_into_folds(N, labels, groups, 4, 3)
    assert [(a.tolist(), b.tolist()) for a, b in found] == [(a.tolist(), b.tolist()) for a, b in expected]


def test_folds_of_a_table_keep_the_classes_where_each_has_enough_rows():
    few = np.where(np.arange(N) < 3, "rare", "often")
    for y, n_folds, kind in ((few, 3, StratifiedKFold), (few, 4, KFold), (np.arange(N) / 7, 3, KFold)):
        table = table_of(y)
        expected = kind(n_folds, shuffle=True, random_state=1).split(np.zeros(N), y)
        assert [test.tolist() for _, test in folds_of(table, n_folds, 1)] == [
            test.tolist() for _, test in expected
        ]
    assert every_class_has(few, 3)
    assert not every_class_has(few, 4)
    with refused("cv=9 needs at least 9 groups"):
        folds_of(table_of(groups=GROUPS), 9, 0, called="cv=9")
    with refused("n_folds=9 needs at least 9 groups"):
        folds_of(table_of(groups=GROUPS), 9, 0)
    assert len(folds_of(table_of(groups=GROUPS), 8, 0)) == 8
    with refused("RowsInTime(gap=12) leaves no rows to train on for fold 0."):
        divide_into_folds(N, None, GROUPS, 2, 0, time=TimeOrder(np.arange(N), 12, 3))


@pytest.mark.parametrize(
    ("n_rows", "test_size", "parts"),
    [(4, 0.5, None), (5, 0.2, (4, 1)), (6, 0.2, None), (5, 0.7, (1, 4)), (3, 0.5, (1, 2))],
)
def test_two_rows_or_groups_are_in_either_part(n_rows, test_size, parts):
    if parts is None:
        require_enough_rows(n_rows, test_size)
        require_enough_groups(np.repeat(np.arange(n_rows), 2), test_size)
        return
    made = f"with test_size={test_size} make a train part of {parts[0]} and a test part of {parts[1]};"
    with refused(f"{n_rows} rows {made}"):
        require_enough_rows(n_rows, test_size)
    with refused(f"{n_rows} groups {made}"):
        require_enough_groups(np.repeat(np.arange(n_rows), 2), test_size)
    with refused("Use another test_size, or no groups."):
        require_enough_groups(np.repeat(np.arange(n_rows), 2), test_size, "no groups")


@pytest.mark.parametrize(
    ("labels", "test_size", "expected"),
    [
        ([0, 0, 1, 1], 0.5, True),
        ([0, 0, 1], 0.5, False),
        ([0, 0, 1, 1, 2, 2], 0.5, True),
        ([0, 0, 1, 1, 2, 2], 0.3, False),
        ([0, 0, 1, 1, 2, 2], 0.7, False),
        ([0, 0, 1, 1, 2, 2, 2], 0.3, True),
    ],
)
def test_every_class_can_be_in_both_parts(labels, test_size, expected):
    labels = np.array(labels)
    assert is_stratifiable(labels, test_size) is expected
    kept = labels_to_stratify(labels, "auto", test_size)
    assert (kept is labels) is expected
    assert labels_to_stratify(labels, False, test_size) is None


def test_what_cannot_be_stratified_is_an_error_a_warning_or_silent():
    labels = np.array(["a", "a", "b", "a"])
    said = "with 4 rows, 2 classes and {} not every class can be in both parts of a split: the rarest, 'b', has 1 "
    said += "row(s)."
    for of, size, division, way_out in (
        (labels_to_stratify, 0.5, "test_size=0.5", "enlarge test_size"),
        (folds_to_stratify, 3, "CrossFitPPI(n_folds=3)", "use fewer folds"),
    ):
        with refused(
            f'stratify=True is impossible: {said.format(division)} Use stratify="auto" or False, merge rare'
        ):
            of(labels, True, size)
        with refused(f"merge rare classes, or {way_out}."):
            of(labels, True, size)
        with pytest.warns(
            StratificationWarning, match=re.escape(f"Splits are not stratified: {said.format(division)}")
        ):
            assert of(labels, "auto", size, warn=True) is None
        assert of(labels, "auto", size) is None
        assert of(labels, False, size, warn=True) is None
    assert folds_to_stratify(LABELS, True, 8) is LABELS
    assert folds_to_stratify(LABELS, "auto", 9) is None
    assert folds_to_stratify(LABELS, False, 2) is None


# The caller's splitter ---------------------------------------------------------------------------------


def asked(splitter, table=None, fold=0, n_draws=2):
    table = table_of() if table is None else table
    return splits_of(splitter, table, table.y, entropy=4, fold=fold, n_draws=n_draws)


def test_a_splitter_without_a_seed_gets_that_of_the_fold():
    splitter = ShuffleSplit(3, test_size=0.25)
    for fold in (0, 2):
        seed = integer_seed(stream(4, fold))
        expected = ShuffleSplit(3, test_size=0.25, random_state=seed).split(np.zeros(N))
        for number, (split, (train, test)) in enumerate(
            zip(asked(splitter, fold=fold), expected, strict=True)
        ):
            own = with_draws(train, test, stream(4, fold, number), 2)
            assert split.train.tolist() == train.tolist()
            assert split.permutations.tolist() == own.permutations.tolist()
            assert split.seed == own.seed
    assert splitter.random_state is None
    own = ShuffleSplit(3, test_size=0.25, random_state=1)
    expected = [test.tolist() for _, test in own.split(np.zeros(N))]
    assert [split.test.tolist() for split in asked(own)] == expected
    assert [split.test.size for split in asked(LeaveOneGroupOut(), table_of(groups=GROUPS))] == [3] * 8


PAIRS = [(list(range(8)), [8, 9, 10]), ([12, 13, 14], list(range(15, 20)))]


def test_listed_rows_are_the_callers():
    for splitter in (
        PAIRS,
        [list(pair) for pair in PAIRS],
        tuple((np.array(a), np.array(b)) for a, b in PAIRS),
    ):
        found = asked(splitter)
        assert [(split.train.tolist(), split.test.tolist()) for split in found] == PAIRS
    weights = np.ones(N)
    weights[[0, 9]] = 0.0
    found = asked(PAIRS, table_of(sample_weight=weights))
    assert found[0].train.tolist() == list(range(7))
    assert found[0].test.tolist() == [7, 8]
    assert found[1].train.tolist() == [10, 11, 12]
    parts = np.where(np.arange(N) < 12, -1, np.arange(N) % 2)
    assert [split.test.tolist() for split in asked(PredefinedSplit(parts))] == [
        list(range(12, N, 2)),
        list(range(13, N, 2)),
    ]
    in_time = table_of(time=RowsInTime(gap=2, block_length=3))
    assert asked(PAIRS[:1], in_time)[0].train.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("splitter", "said"),
    [
        ([], "splitter=[] makes no splits. At least one is needed."),
        ([*PAIRS, ([0, 1], [2, N])], f"Split 2 of splitter=list names row {N}, but rows are numbered 0 to {N - 1}."),
        ([([0, -1], [2, 3])], "names row -1, but"),
        ([([0], [2, 3])], "Split 0 of splitter=list has a train part of 1 and a test part of 2 rows;"),
        ([([0, 1], [3])], "has a train part of 2 and a test part of 1 rows;"),
        ([*PAIRS, ([0, 1, 7], [7, 3, 1])], "Split 2 of splitter=list has row 1 in both parts."),
        ([([True, False], [2, 3])], "Split 0 of splitter=list must hold numbers of rows, one after the other, but "
         "is a mask"),
        ([*PAIRS, ([0, 1], [2.5, 3])], "Split 2 of splitter=list must hold numbers of rows, one after the other, "
         "but is an "
         "array of float64 of shape (2,)."),
        ([([[0, 1]], [2, 3])], "is an array of int64 of shape (1, 2)."),
        ([*PAIRS, [0, 1, 2]], "but item 2 has 3 part(s)."),
        ([5], "but item 0 has 1 part(s)."),
        ([([], [2, 3])], "has a train part of 0"),
    ],
)  # fmt: skip
def test_lists_that_divide_nothing_are_refused(splitter, said):
    with refused(said):
        asked(splitter)


def test_splitters_that_divide_nothing_are_refused():
    with refused("cannot divide 24 rows: The 'groups' parameter should not be None. Pass groups= to fit."):
        asked(GroupKFold(3))
    with refused("cannot divide 24 rows: "):
        asked(KFold(99))
    with pytest.raises(InvalidInputError) as raised:
        asked(GroupKFold(9), table_of(groups=GROUPS))
    assert "Pass groups=" not in str(raised.value)
    with refused(
        "splitter=list names rows of the whole table, but with n_folds the search runs in parts of it."
    ):
        asked(PAIRS, fold=1)
    with refused("Split 0 of splitter=KFold has rows of one group in both parts."):
        asked(KFold(5), table_of(groups=GROUPS))
    assert len(asked(KFold(5), table_of(time="index"))) == 5
    with refused("can be read only once"):
        refuse_single_use(iter([]))
    with refused("splitter=KFold is a class; an instance is needed: KFold(...)."):
        refuse_single_use(KFold)
    refuse_single_use([])


def test_rows_are_tested_once_by_cross_fitting():
    require_disjoint_tests(asked(PAIRS), "CrossFitPPI")
    twice = asked([*PAIRS, ([0, 1], [10, 15, 16])])
    with refused(
        "CrossFitPPI tests every row once, but splitter= puts 3 rows, row 10 among them, into more than "
        "one test"
    ):
        require_disjoint_tests(twice, "CrossFitPPI")


# Halves ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("labels", [None, LABELS, np.array([0] * 5 + [1] * 7)])
def test_halves_divide_every_class_evenly(seed, labels):
    n = 11 if labels is None else len(labels)
    first, second = complementary_halves(n, labels, None, np.random.default_rng(seed))
    assert sorted([*first, *second]) == list(range(n))
    assert abs(first.size - second.size) == n % 2
    for label in set() if labels is None else set(labels.tolist()):
        counts = [(labels[half] == label).sum() for half in (first, second)]
        assert abs(counts[0] - counts[1]) <= 1


def test_either_half_may_be_the_larger_one():
    sizes = {complementary_halves(5, None, None, np.random.default_rng(seed))[0].size for seed in range(20)}
    assert sizes == {2, 3}
    rows = {tuple(complementary_halves(4, None, None, np.random.default_rng(seed))[0]) for seed in range(60)}
    assert len(rows) == 6


# Weights -----------------------------------------------------------------------------------------------

WEIGHTS = np.array([1.0, 2.0, 3.0])
BY_CLASS = np.array([1.0, 4.0])
CODES = np.array([0, 1, 0])


@pytest.mark.parametrize(
    ("weights", "by_class", "fit", "loss", "of_classes"),
    [
        (None, None, None, None, None),
        (WEIGHTS, None, [1, 2, 3], [0.5, 1, 1.5], None),
        (None, BY_CLASS, None, [0.5, 2, 0.5], [0.5, 2]),
        (WEIGHTS, BY_CLASS, [1, 2, 3], [0.25, 2, 0.75], None),
    ],
)
def test_weights_of_rows_and_classes_multiply(weights, by_class, fit, loss, of_classes):
    found = RowWeights.of(weights, by_class, CODES)
    for own, expected in ((found.fit, fit), (found.loss, loss), (found.by_class, of_classes)):
        assert (None if own is None else own.tolist()) == expected
    part = found.fit_of(np.array([2, 0]))
    assert (None if part is None else part.tolist()) == (None if fit is None else [3, 1])
    losses, rows = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([2, 1])
    factors = np.ones(2) if loss is None else np.array(loss)[rows]
    np.testing.assert_allclose(found.weighed(losses, rows, True), losses * factors)
    np.testing.assert_allclose(
        found.weighed(losses, rows, False), np.average(losses, axis=1, weights=factors)[:, None]
    )


def test_weights_by_class():
    y, classes = np.array([0, 1, 1, 1]), np.array([0, 1])
    assert weights_by_class(None, y, classes) is None
    np.testing.assert_allclose(weights_by_class("balanced", y, classes), [2.0, 2 / 3])
    assert weights_by_class({1: 3}, y, classes).tolist() == [1.0, 3.0]
    assert weights_by_class({0: 2.0, 1: 3.0}, y, classes).tolist() == [2.0, 3.0]
    for wrong in (0.0, -1, np.inf, np.nan, "2", None):
        with refused("class_weight must hold positive numbers, but has {1: "):
            weights_by_class({0: 1.0, 1: wrong}, y, classes)
    with refused("class_weight='balanced' needs a target with classes"):
        weights_by_class("balanced", y, np.empty(0))
    require_known_labels({0: 1.0}, classes)
    require_known_labels({9: 1.0}, np.empty(0))
    with refused("class_weight has '9', 'a', but the classes of y are '0', '1'."):
        require_known_labels({9: 1.0, 0: 1.0, "a": 2.0}, classes)


# Exchanges ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("constant", [True, False])
def test_rows_take_their_values_from_rows_of_their_kind(seed, constant):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat([5, 1, 9, 3, 7], [2, 2, 3, 1, 3]))
    column = {5: 0.0, 1: np.nan, 9: 2.0, 3: 3.0, 7: 4.0}
    values = np.array([column[group] for group in groups]) if constant else rng.normal(size=11)
    exchange = Exchange(11, groups)
    assert exchange.trades_values(values) is constant
    assert exchange.moves(values) == (1.0 if constant else 10 / 11)
    assert exchange.n_units(by_value=constant) == 5
    sources = exchange.sources(np.random.default_rng(seed), 40, by_value=constant)
    assert sources.shape == (40, 11)
    for draw in sources:
        for group in set(groups):
            rows = np.flatnonzero(groups == group)
            partners = set(groups[draw[rows]])
            assert len(partners) == 1
            if not constant:
                (partner,) = partners
                assert draw[rows].tolist() == np.flatnonzero(groups == partner).tolist()
    assert len(np.unique(sources, axis=0)) > (20 if constant else 3)


def test_rows_without_groups_are_units_by_themselves():
    exchange = Exchange(4)
    assert exchange.n_units(by_value=True) == exchange.n_units(by_value=False) == 4
    assert exchange.moves(np.arange(4)) == 1.0
    assert exchange.trades_values(np.arange(4))
    drawn = exchange.sources(np.random.default_rng(0), 3, by_value=False)
    assert np.sort(drawn, axis=1).tolist() == [[0, 1, 2, 3]] * 3
