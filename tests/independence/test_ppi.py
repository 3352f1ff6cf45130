"""The test of the paper, asked directly."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, BoundTest, IndependenceResult
from ppfs.independence._predictive.significance import SIGNIFICANCES


@pytest.fixture(scope="module")
def chain():
    """x0 -> x1 -> y, and noise x2: given x1, x0 says nothing about y."""
    rng = np.random.default_rng(0)
    x0 = rng.normal(size=400)
    x1 = x0 + rng.normal(size=400)
    return np.column_stack([x0, x1, rng.normal(size=400)]), (x1 + 0.3 * rng.normal(size=400) > 0).astype(int)


def bound(X, y, test=None) -> BoundTest:
    test = test or PPI(LogisticRegression(), n_splits=10, random_state=0)
    return test.bind(read_table(X, y, task="auto", owner="test"))


def test_dependence_is_seen_and_noise_is_not(chain):
    X, y = chain
    test = PPI(LogisticRegression(), n_splits=10, random_state=0)
    assert test.evaluate(X, y, 1).pvalue < 0.01
    assert test.evaluate(X, y, 1, given=[0, 2]).pvalue < 0.01
    assert test.evaluate(X, y, 2).effect < 0.01 < 0.2 < test.evaluate(X, y, 1).effect
    assert isinstance(test.evaluate(X, y, 0), IndependenceResult)


def test_columns_by_name_or_number(chain):
    X, y = chain
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    test = PPI(n_splits=5, random_state=0)
    assert test.evaluate(frame, y, "b", given=["c"]) == test.evaluate(X, y, 1, given=[2])
    assert test.evaluate(X, y, -2) == test.evaluate(X, y, 1)


@pytest.mark.parametrize("estimator", [None, LogisticRegression(), GaussianNB()], ids=repr)
def test_query_many_equals_a_loop_over_query(chain, estimator):
    X, y = chain
    test = PPI(estimator, n_splits=5, random_state=0)
    for given in ((), (1,), (0, 1), (0, 1, 2)):
        together = bound(X, y, test).query_many([0, 1, 2], 3, given)
        one_by_one = bound(X, y, test)
        assert together == [one_by_one.query(x, 3, set(given) - {x}) for x in (0, 1, 2)]


def test_answers_do_not_depend_on_what_was_asked_before(chain):
    X, y = chain
    first, second = bound(X, y), bound(X, y)
    second.query_many([2, 1, 0], 3)
    second.query(2, 3, [0])
    assert first.query(0, 3, [1]) == second.query(0, 3, [1])


def test_asking_again_fits_nothing(chain):
    X, y = chain
    asked = bound(X, y)
    asked.query_many([0, 1, 2], 3, (0, 1))
    n_fits = asked.n_fits
    asked.query_many([2, 1, 0], 3, (1, 0))
    assert asked.n_fits == n_fits


def test_one_set_of_models_serves_all_questions_about_its_columns(chain):
    X, y = chain
    asked = bound(X, y)
    asked.query_many([0, 1, 2], 3, (0, 1, 2))
    assert asked.n_fits == 10
    asked.query_many([0, 1, 2], 3)
    assert asked.n_fits == 10 + 3 * 10


def test_lazy_answers_fit_no_more_than_was_listened_to(chain):
    X, y = chain
    asked = bound(X, y, PPI(BernoulliNB(), n_splits=10, random_state=0))
    next(asked.answers([0, 1, 2], 3))
    assert asked.n_fits == 10


def test_a_copy_of_a_given_column_is_independent_without_a_fit(chain):
    X, y = chain
    X = np.column_stack([X, X[:, 1]])
    asked = bound(X, y)
    assert asked.query(3, 4, [1]).pvalue == 1.0
    assert asked.n_fits == 0
    assert asked.query(3, 4, [0]).pvalue < 0.05


def test_another_column_may_be_the_target(chain):
    X, y = chain
    asked = bound(X, y, PPI(n_splits=10, random_state=0))
    assert asked.query(0, 1).pvalue < 0.01
    assert asked.query(2, 1).pvalue > 0.05
    # The target itself may be asked about, also when it holds text.
    assert bound(X, np.array(["no", "yes"])[y], PPI(n_splits=10, random_state=0)).query(3, 1).pvalue < 0.01


def test_unseeded_estimators_are_seeded_and_seeded_ones_are_left(chain):
    X, y = chain
    for estimator in (
        DecisionTreeClassifier(max_features=1),
        DecisionTreeClassifier(max_features=1, random_state=5),
    ):
        first, second = (
            PPI(clone(estimator), n_splits=5, random_state=1).evaluate(X, y, 0, [1]) for _ in range(2)
        )
        assert first == second


def test_regression_with_any_regressor(chain):
    X, _ = chain
    rng = np.random.default_rng(1)
    y = 2 * X[:, 1] + rng.normal(size=400)
    for estimator in (None, LinearRegression(), RandomForestRegressor(5)):
        test = PPI(estimator, n_splits=6, random_state=0)
        assert test.evaluate(X, y, 1, [0]).pvalue < 0.05
        assert test.evaluate(X, y, 1).effect > test.evaluate(X, y, 2).effect


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
@pytest.mark.parametrize("estimator", [None, LogisticRegression(), GaussianNB()], ids=repr)
def test_train_parts_without_some_class_do_not_break_the_test(estimator):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    y[:1] = "rare"
    result = PPI(estimator, n_splits=20, random_state=0, stratify=False).evaluate(X, y, 0)
    assert 0 <= result.pvalue < 0.05


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
def test_train_parts_of_one_class_predict_that_class():
    X = np.arange(10.0)[:, np.newaxis]
    y = np.array([1] + [0] * 9)
    result = PPI(LogisticRegression(), n_splits=20, random_state=0).evaluate(X, y, 0)
    assert np.isfinite(result.effect)


def test_stratified_splits_keep_proportions():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [90, 10])
    asked = bound(rng.normal(size=(100, 1)), y, PPI(n_splits=5, random_state=0))
    for split in asked._risks_about(1, is_marginal=False)[0].problem.splits:
        assert y[split.test].sum() == 2
        assert set(split.train) | set(split.test) == set(range(100))
        assert sorted(split.permutation) == list(range(20))


@pytest.mark.parametrize(
    ("significance", "advice"),
    [("paired-t", "Use a splitter that makes more."), ("wilcoxon", "or use significance='paired-t'.")],
)
def test_too_few_splits_are_not_answered_with_the_test_that_is_used(significance, advice):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    one = PredefinedSplit(np.where(np.arange(40) < 10, 0, -1))
    with pytest.raises(InvalidInputError, match="makes 1 split, which is too few") as raised:
        PPI(splitter=one, significance=significance).evaluate(X, y, 0)
    assert str(raised.value).endswith(advice)


@pytest.mark.parametrize(("n_groups", "test_size", "n_train", "n_test"), [(5, 0.2, 4, 1), (4, 0.6, 1, 3)])
def test_each_part_of_a_split_needs_two_groups(n_groups, test_size, n_train, n_test):
    groups = np.arange(24) % n_groups
    X = np.random.default_rng(0).normal(size=(24, 2))
    test = PPI(n_splits=5, test_size=test_size)
    with pytest.raises(InvalidInputError) as raised:
        test.check(read_table(X, X[:, 0], task="regression", owner="a test", groups=groups))
    assert str(raised.value) == (
        f"{n_groups} groups with test_size={test_size} make a train part of {n_train} and a test part of {n_test}; "
        "each needs at least 2 groups, or all splits are nearly the same. Use another test_size, or "
        "splitter=LeaveOneGroupOut() with significance='paired-t'."
    )
    test.set_params(test_size=0.5).check(
        read_table(X, X[:, 0], task="regression", owner="a test", groups=groups)
    )


@pytest.mark.parametrize(("fold", "warns"), [(0, True), (1, True), (2, False)])
def test_only_the_first_fold_says_that_splits_are_not_stratified(recwarn, fold, warns):
    y = np.array([2] + [0, 1] * 15)
    X = np.random.default_rng(0).normal(size=(31, 2))
    table = read_table(X, y, task="classification", owner="a test", categorical_features=[1])
    asked = PPI(n_splits=5, random_state=0).bind(table, fold=fold, random_state=0)
    asked.query(0, table.target)
    assert ["not stratified" in str(one.message) for one in recwarn] == [True] * warns


@pytest.mark.parametrize(("significance", "least"), [("wilcoxon", 5), ("paired-t", 2), ("corrected-t", 2)])
def test_each_test_of_significance_needs_so_many_splits(significance, least):
    X = np.random.default_rng(0).normal(size=(24, 2))
    table = read_table(X, X[:, 0], task="regression", owner="a test")
    PPI(n_splits=least, significance=significance).check(table)
    with pytest.raises(InvalidInputError, match=f"at least {least} splits are needed"):
        PPI(n_splits=least - 1, significance=significance).check(table)
    smallest = SIGNIFICANCES[significance].smallest(least)
    assert smallest == (2.0**-5 if significance == "wilcoxon" else 0.0)
