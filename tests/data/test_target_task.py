"""How the target is read, what is said about it, and when a word of warning is due."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs._data.target_task import (
    TaskChoice,
    _look_like_counts,
    _may_be_survival,
    agreed_task,
    choose_task,
    said_regression,
)
from ppfs.blanket import IAMB
from ppfs.exceptions import AmbiguousTargetWarning, InvalidInputError
from ppfs.independence import PPI, DSeparation, FisherZ, GSquared, LikelihoodRatio
from ppfs.wrappers import PermutationImportance, Stepwise

TIMES, FLAGS = np.arange(1.0, 41.0), np.arange(40) % 2
rng = np.random.default_rng(0)
POISSON = rng.poisson(4, size=500)
YEAST = np.repeat(np.arange(10), [463, 5, 35, 44, 51, 163, 244, 429, 20, 30])


@pytest.mark.parametrize(
    ("y", "task", "reason"),
    [
        ([0, 1] * 10, "classification", "y holds 2 distinct integers"),
        ([0.0, 1.0] * 10, "classification", "y holds 2 distinct integers"),
        ([3, 7] * 10, "classification", "y holds 2 distinct integers"),
        ([-1, 0, 1] * 10, "classification", "y holds 3 distinct integers"),
        ([1, 2, 3, 4] * 10, "classification", "y holds 4 distinct integers"),
        (np.arange(20).repeat(5), "classification", "y holds 20 distinct integers"),
        (YEAST, "classification", "y holds 10 distinct integers"),
        (["no", "yes"] * 10, "classification", "y holds text"),
        ([False, True] * 10, "classification", "y holds booleans"),
        (rng.normal(size=30), "regression", "y holds numbers with a fraction"),
        (rng.integers(0, 1000, size=300), "regression", None),
        (rng.poisson(20, size=300), "regression", None),
        (np.arange(30), "regression", "y holds 30 distinct integers, more than 20"),
        (rng.normal(size=(30, 2)), "regression", "y has 2 columns"),
    ],
    ids=["0/1", "0.0/1.0", "3/7", "-1/0/1", "1-4", "0-19", "yeast", "text", "truth", "fractions", "wide", "many counts",
         "running number", "outputs"],
)  # fmt: skip
def test_common_targets_are_read_without_a_doubt(y, task, reason):
    choice = choose_task(np.asarray(y))
    assert choice.task == task
    assert choice.doubt == ""
    if reason is not None:
        assert choice.reason == reason


@pytest.mark.parametrize(
    ("y", "task", "doubt"),
    [
        ([3, 4, 5, 6, 7, 8] * 5, "classification", "from 3 to 8, not consecutive from 0 or 1"),
        ([0, 2, 4] * 10, "classification", "from 0 to 4, not consecutive from 0 or 1"),
        ([2019.0, 2020.0, 2021.0] * 9, "classification", "read as labels"),
        (POISSON, "classification", "fall to a thin end, as those of counts do; they are read as labels"),
        (np.arange(26).repeat(20), "regression", "consecutive and none of them rare.*read as numbers"),
        (
            np.eye(2)[[0, 1] * 10],
            "regression",
            "2 columns of y hold few distinct integers.*read as numbers",
        ),
        (
            np.column_stack([np.arange(20.0), [0, 1] * 10]),
            "regression",
            'event and its time.*task="survival"',
        ),
        (np.column_stack([[0, 1] * 10, np.arange(20)]), "regression", 'event and its time.*task="survival"'),
    ],
    ids=["quality", "gap", "years", "counts", "letters", "one-hot", "time and event", "event and time"],
)
def test_what_may_be_either_is_said_to_be(y, task, doubt):
    choice = choose_task(np.asarray(y))
    assert choice.task == task
    assert pd.Series(choice.doubt).str.contains(doubt).item()


def test_two_numbers_and_a_flag_with_negative_numbers_are_not_taken_for_a_survival_time():
    flag, numbers = np.arange(20) % 2, np.arange(20.0) + 0.5
    for y in (np.column_stack([numbers, numbers + 1]), np.column_stack([numbers - 5, flag])):
        assert not choose_task(y).doubt


@pytest.mark.parametrize(
    ("n_values", "n_rows", "is_doubtful"), [(50, 5, True), (51, 5, False), (50, 4, False)]
)
def test_up_to_fifty_consecutive_numbers_with_five_rows_each_may_be_labels(n_values, n_rows, is_doubtful):
    assert bool(choose_task(np.arange(n_values).repeat(n_rows)).doubt) == is_doubtful


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(np.arange(40).repeat(2)).astype("category"),
        pl.Series([str(number) for number in np.arange(40).repeat(2)]).cast(pl.Categorical),
    ],
    ids=["pandas", "polars"],
)
def test_a_type_for_categories_makes_labels(y):
    table = read_table(np.eye(80), y, task="auto", owner="PPFS")
    assert table.task == "classification"
    assert table.task_choice.reason == "y has a categorical type"
    assert table.task_choice.doubt == ""


def test_labels_of_a_category_may_have_a_fraction():
    y = pd.Series([0.5, 1.5] * 10).astype("category")
    assert read_table(np.eye(20), y, task="auto", owner="PPFS").classes.tolist() == ["0.5", "1.5"]


X = rng.normal(size=(60, 3))
RATING = np.clip(np.round(2 * X[:, 0] + 5), 3, 8)


@pytest.mark.parametrize(
    ("ask", "way_out"),
    [
        (
            lambda: PPFS(n_splits=5, random_state=0).fit(X, RATING),
            'task="classification" or task="regression"',
        ),
        (lambda: IAMB().fit(X, RATING), 'task="classification" or task="regression"'),
        (lambda: LikelihoodRatio().evaluate(X, RATING, 0), 'task="classification" or task="regression"'),
        (lambda: Stepwise(random_state=0).fit(X, RATING), "pass a classifier or a regressor as estimator"),
    ],
    ids=["PPFS", "IAMB", "evaluate", "Stepwise"],
)
@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
def test_an_ambiguous_target_warns_once_and_names_what_decides(ask, way_out):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    told = [one for one in caught if one.category is AmbiguousTargetWarning]
    assert len(told) == 1
    assert way_out in str(told[0].message)
    # Where the caller called, not where the library noticed.
    assert told[0].filename == __file__


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
def test_who_says_what_the_target_is_gets_that_and_no_warning(task):
    for search in (
        PPFS(n_splits=5, task=task, random_state=0),
        PPFS(independence="likelihood-ratio", task=task),
        IAMB(independence="likelihood-ratio", task=task),
    ):
        fitted = search.fit(X, RATING)
        assert fitted.task_ == task
        assert f"task: {task}, because the task or the estimator was given" in fitted.trace_.notes
    LikelihoodRatio().evaluate(X, RATING, 0, task=task)
    regressor = PermutationImportance(LinearRegression(), random_state=0).fit(X, RATING)
    assert regressor.task_ == "regression"


@pytest.mark.parametrize("test", [FisherZ(), GSquared(), DSeparation([(0, 3)])], ids=repr)
def test_no_warning_where_it_makes_no_difference(test):
    test.evaluate(np.round(X), RATING, 0)


def test_two_tasks_that_differ_are_refused():
    assert IAMB(independence="ppi", task="classification").fit(X, X[:, 0] > 0).task_ == "classification"
    with pytest.raises(
        InvalidInputError, match="IAMB has task='classification', but its test or estimator is for reg"
    ):
        IAMB(independence=PPI(RandomForestRegressor()), task="classification").fit(X, RATING)


def test_the_trace_says_which_task_was_chosen_and_why():
    notes = PPFS(n_splits=5, random_state=0).fit(X, X[:, 0] > 0).trace_.notes
    assert "task: classification, because y holds booleans" in notes


def test_text_that_looks_like_numbers_is_not_taken_for_classes():
    y = np.array([f"{number:,}" for number in rng.integers(1000, 99_999, size=200)])
    X = rng.normal(size=(200, 2))
    with pytest.raises(InvalidInputError, match="text that looks like numbers"):
        PPFS(n_splits=5).fit(X, y)
    few = np.array(["1", "2", "3"])[rng.integers(3, size=200)]
    assert read_table(X, few, task="auto", owner="PPFS").classes.tolist() == ["1", "2", "3"]


@pytest.mark.parametrize("task", ["auto", "classification"])
def test_a_class_per_row_is_refused_before_the_search(task):
    y = np.array([f"patient {number}" for number in rng.permutation(100)])
    with pytest.raises(InvalidInputError, match="y holds 100 classes in 100 rows"):
        PPFS(n_splits=5, task=task).fit(rng.normal(size=(100, 2)), y)
    labels = np.arange(100) % 50
    assert read_table(np.eye(100), labels, task="classification", owner="PPFS").classes.size == 50


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([TIMES, FLAGS], True),
        ([FLAGS, TIMES], True),
        ([TIMES - 2.0, FLAGS], False),
        ([TIMES, TIMES], False),
        ([FLAGS, FLAGS], False),
        ([FLAGS, 2 + FLAGS], False),
        ([TIMES, FLAGS, TIMES], False),
        ([TIMES, FLAGS, TIMES - 50.0], False),
        ([TIMES.astype(object), FLAGS.astype(object)], False),
    ],
)
def test_a_flag_beside_many_times_may_be_survival(columns, expected):
    assert _may_be_survival(np.column_stack(columns)) == expected


COUNTS_HINT = 'y holds integers from 0 on: if they are counts, task="count" sees more'


def repeated(values, frequencies):
    return np.repeat(np.asarray(values), frequencies)


@pytest.mark.parametrize(
    ("y", "choice"),
    [
        (np.arange(21), TaskChoice("regression", "y holds 21 distinct integers, more than 20", hint=COUNTS_HINT)),
        (1 + np.arange(21), TaskChoice("regression", "y holds 21 distinct integers, more than 20", hint=COUNTS_HINT)),
        (2 + np.arange(21), TaskChoice("regression", "y holds 21 distinct integers, more than 20")),
        (-1 + np.arange(21), TaskChoice("regression", "y holds 21 distinct integers, more than 20")),
        (np.arange(20), TaskChoice("classification", "y holds 20 distinct integers")),
        (
            np.arange(21).repeat(5),
            TaskChoice(
                "regression",
                "y holds 21 distinct integers, more than 20",
                "y holds 21 distinct integers from 0 to 20, consecutive and none of them rare, as labels are; they are "
                "read as numbers.",
            ),
        ),
        (
            repeated(np.arange(21), [4] + [5] * 20),
            TaskChoice("regression", "y holds 21 distinct integers, more than 20", hint=COUNTS_HINT),
        ),
        (
            (2 * np.arange(21)).repeat(5),
            TaskChoice("regression", "y holds 21 distinct integers, more than 20", hint=COUNTS_HINT),
        ),
        (np.array([5, 9, 5]), TaskChoice("classification", "y holds 2 distinct integers")),
        (np.array([-1, 0, 1]), TaskChoice("classification", "y holds 3 distinct integers")),
        (
            np.array([-2.0, -1, 0]),
            TaskChoice(
                "classification",
                "y holds 3 distinct integers",
                "y holds 3 distinct integers from -2 to 0, not consecutive from 0 or 1, as labels are; they are read "
                "as labels.",
            ),
        ),
        (
            repeated(np.arange(6), [20, 60, 50, 30, 15, 3]),
            TaskChoice(
                "classification",
                "y holds 6 distinct integers",
                "y holds 6 distinct integers from 0 to 5, whose frequencies rise to one peak and fall to a thin end, "
                "as those of counts do; they are read as labels.",
            ),
        ),
        (np.array([0.5, 1, 2]), TaskChoice("regression", "y holds numbers with a fraction")),
        (np.array([True, False]), TaskChoice("classification", "y holds booleans")),
        (np.array(["a", "b"]), TaskChoice("classification", "y holds text")),
        (np.array([[0.5, 1.5], [1, 2]]), TaskChoice("regression", "y has 2 columns")),
    ],
)  # fmt: skip
def test_the_whole_choice(y, choice):
    assert choose_task(y) == choice


@pytest.mark.parametrize(
    ("frequencies", "expected"),
    [
        ([20, 60, 50, 30, 15, 3], True),
        ([20, 60, 50, 30, 15, 4], False),
        ([60, 50, 30, 15, 3], False),
        ([60, 50, 40, 30, 15, 3], True),
        ([3, 15, 30, 50, 60, 61], False),
        # Against the direction: up to two standard deviations of the difference.
        ([20, 100, 40, 56, 10, 3], True),
        ([20, 100, 40, 64, 10, 3], False),
        ([40, 20, 100, 40, 10, 3], False),
        ([30, 20, 100, 40, 10, 3], True),
        ([4, 0, 100, 50, 20, 5], True),
        ([5, 0, 100, 50, 20, 5], False),
    ],
)
def test_frequencies_of_counts_rise_to_one_peak_and_fall_to_a_thin_end(frequencies, expected):
    assert _look_like_counts(np.array(frequencies)) is expected


@pytest.mark.parametrize(
    ("values", "has_hint"),
    [
        ([0, 1, 2, 3, 4, 5], True),
        ([1, 2, 3, 4, 5, 9], True),
        ([0, 1, 2, 3, 4], False),
        ([2, 3, 4, 5, 6, 7], False),
        ([0, 1, 2, 3, 4, 5.5], False),
    ],
)
def test_six_integers_from_zero_or_one_on_may_be_counts(values, has_hint):
    assert said_regression(np.array(values), "it was") == TaskChoice(
        "regression", "it was", hint=COUNTS_HINT if has_hint else ""
    )
    assert said_regression(np.array(values).astype(str), "it was").hint == ""
    assert said_regression(np.array([values, values]), "it was").hint == ""


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([FLAGS, TIMES - 1.0], True),
        ([FLAGS, TIMES % 3], True),
        ([FLAGS, 1 + TIMES % 2], False),
        ([FLAGS, TIMES % 2], False),
        ([FLAGS, TIMES, FLAGS], False),
        ([TIMES - 1.5, FLAGS], False),
        ([np.ones(40), TIMES], False),
    ],
)
def test_times_may_be_zero_and_take_three_values_or_more(columns, expected):
    assert _may_be_survival(np.column_stack(columns)) is expected


@pytest.mark.parametrize(
    ("declared", "wanted", "agreed"),
    [
        (None, "auto", "auto"),
        (None, "count", "count"),
        ("regression", "auto", "regression"),
        ("regression", "regression", "regression"),
        ("regression", "count", "count"),
        ("regression", "survival", "survival"),
        ("classification", "ordinal", "ordinal"),
        ("regression", "ordinal", None),
        ("classification", "count", None),
        ("classification", "regression", None),
    ],
)
def test_a_regressor_predicts_counts_and_a_classifier_ordered_classes(declared, wanted, agreed):
    if agreed is not None:
        assert agreed_task(declared, wanted, "PPFS") == agreed
        return
    with pytest.raises(
        InvalidInputError, match=f"PPFS has task='{wanted}', but its test or estimator is for {declared}"
    ):
        agreed_task(declared, wanted, "PPFS")


def test_columns_of_few_integers_may_be_labels_and_others_are_not():
    few = np.column_stack([np.arange(20) % 3, np.arange(20) % 4])
    assert choose_task(few).doubt.startswith("The 2 columns of y hold few distinct integers")
    assert choose_task(np.column_stack([few, np.arange(20) / 3])).doubt == ""
