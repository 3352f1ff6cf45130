"""Bad input gets an error that names the thing, shows the value and offers the way out."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.exceptions import (
    EstimatorFailedError,
    InvalidInputError,
    StratificationWarning,
    UnreachableAlphaWarning,
)
from ppfs.independence import PPI, FisherZ


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0).astype(int)


def quick(**parameters):
    return PPFS(**{"n_splits": 5, "random_state": 0, **parameters})


def test_y_of_wrong_length(X, y):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[40, 39\]"):
        quick().fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[40, 0\]"):
        quick().fit(X, np.empty(0))


def test_y_missing(X):
    with pytest.raises(InvalidInputError, match="requires y to be passed"):
        quick().fit(X, None)


def test_y_with_missing_labels(X):
    labels = np.array(["a", "b"] * 20, dtype=object)
    labels[7] = None
    with pytest.raises(InvalidInputError, match=r"1 of 40 rows, the first in row 7.*Drop those rows"):
        quick().fit(X, labels)


def test_y_with_two_columns_of_labels(X, y):
    labels = np.where(np.column_stack([y, y]), "yes", "no")
    both = quick().fit(X, labels)
    assert both.task_ == "classification"
    coded = quick(task="classification").fit(X, np.column_stack([y, y]))
    assert both.blanket_.tolist() == coded.blanket_.tolist()


def test_one_class_only(X):
    with pytest.raises(InvalidInputError, match="one class only, 'yes'"):
        quick().fit(X, ["yes"] * 40)


@pytest.mark.parametrize("n_rows", [2, 5])
def test_fewer_rows_than_splits_need(X, y, n_rows):
    with pytest.raises(InvalidInputError, match=rf"{n_rows} rows with test_size=0.2.*at least 2 rows"):
        quick().fit(X[:n_rows], [0, 1, 0, 1, 0][:n_rows])


def test_no_rows():
    with pytest.raises(InvalidInputError, match=r"0 sample\(s\).* a minimum of 2 is required by PPFS"):
        quick().fit(np.empty((0, 2)), np.empty(0))


def test_one_row(X, y):
    with pytest.raises(ValueError, match="1 sample"):
        quick().fit(X[:1], y[:1])


def test_all_columns_constant_selects_nothing_without_fitting(y):
    selector = quick().fit(np.ones((40, 4)), y)
    assert not selector.support_.any()
    assert selector.n_fits_ == 0


def test_nothing_selected_is_an_empty_mask_and_a_warning_at_the_callers_line(X):
    y = np.random.default_rng(5).integers(0, 2, 40)
    selector = quick(alpha=0.001, n_splits=10).fit(X, y)
    assert selector.blanket_.size == 0
    with pytest.warns(UserWarning, match="No features were selected.*min_features=1") as told:
        assert selector.transform(X).shape == (40, 0)
    with pytest.warns(UserWarning, match="No features were selected") as told_in_pipeline:
        assert make_pipeline(selector, "passthrough").fit_transform(X, y).shape == (40, 0)
    assert [one.filename for one in (*told, *told_in_pipeline)] == [__file__] * 2


def test_duplicate_feature_leaves_one_copy(rng):
    x = rng.normal(size=(100, 1))
    X = np.hstack([x, rng.normal(size=(100, 1)), x, x])
    y = (x[:, 0] + 0.1 * rng.normal(size=100) > 0).astype(int)
    for estimator in (None, LogisticRegression(), DecisionTreeClassifier(max_features=1)):
        assert list(quick(estimator=estimator).fit(X, y).blanket_) == [0]


def test_missing_values_name_the_columns_and_ways_out(X, y):
    X[3, 1] = np.nan
    with pytest.raises(
        InvalidInputError, match=r"NaN in 'x1', and LogisticRegression.*impute=\"median\""
    ) as caught:
        quick(estimator=LogisticRegression()).fit(X, y)
    assert "HistGradientBoosting" in str(caught.value)
    with pytest.raises(InvalidInputError, match=r"NaN in 'x1', and RidgeClassifier"):
        quick(growth_estimator=RidgeClassifier()).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"NaN in 'x1', and FisherZ.*PPI\(impute=\"median\"\)"):
        FisherZ().evaluate(X, y, 0)


def test_missing_values_pass_to_estimators_that_take_them(X, y):
    X[3, 1] = np.nan
    assert (
        quick(estimator=HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)).fit(X, y).support_[0]
    )
    assert quick().fit(X, y).support_[0]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_infinite_values_name_the_column(X, y, make):
    X[3, 2] = -np.inf
    with pytest.raises(InvalidInputError, match="inf in 'x2'"):
        quick().fit(make(X), y)


def test_dates_say_what_to_make_of_them(X, y):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(day=pd.date_range("2024-01-01", periods=40))
    with pytest.raises(InvalidInputError, match=r"'day' holds dates or times"):
        quick().fit(frame, y)


@pytest.mark.parametrize("alpha", [0, 1, -0.5, 2.0, "0.05"])
def test_alpha_outside_its_range(X, y, alpha):
    with pytest.raises(
        ValueError, match=r"'alpha' parameter of PPFS must be a float in the range \(0.0, 1.0\)"
    ):
        quick(alpha=alpha).fit(X, y)


def test_too_few_splits_for_wilcoxon(X, y):
    with pytest.raises(InvalidInputError, match=r"n_splits=4 is too few.*0.0625.*at least 5 splits"):
        quick(n_splits=4).fit(X, y)
    with pytest.raises(InvalidInputError, match="n_splits=4"):
        PPI(n_splits=4).evaluate(X, y, 0)
    quick(n_splits=4, significance="paired-t").fit(X, y)


def test_unreachable_alpha_warns_before_any_fit(X, y):
    class Counting(DecisionTreeClassifier):
        n_fitted = 0

        def fit(self, X, y):
            Counting.n_fitted += 1
            return super().fit(X, y)

    with warnings.catch_warnings():
        warnings.simplefilter("error", UnreachableAlphaWarning)
        with pytest.raises(
            UnreachableAlphaWarning, match=r"alpha=0.01 cannot be reached.*0.0312.*Raise n_splits"
        ):
            quick(estimator=Counting(), alpha=0.01).fit(X, y)
        assert Counting.n_fitted == 0
        # The smallest p-value of the signed-rank test on five splits is reached with equality.
        quick(alpha=2.0**-5).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("significance", "student"),
        ("loss", "mse"),
        ("correction", "holm"),
        ("knockoff", "gaussian"),
        ("task", "rank"),
    ],
)
def test_unknown_names_list_the_choices(X, y, name, value):
    choice = {
        "significance": "wilcoxon",
        "loss": "log-loss",
        "correction": "bonferroni",
        "knockoff": "permutation",
        "task": "regression",
    }[name]
    with pytest.raises(ValueError, match=rf"'{name}' parameter of PPFS must be.*'{choice}'.*Got '{value}'"):
        quick(**{name: value}).fit(X, y)


def test_loss_that_does_not_fit_the_task(X, y):
    with pytest.raises(
        InvalidInputError, match=r"loss='squared' is not a loss for classification.*'log-loss'"
    ):
        quick(loss="squared").fit(X, y)


def test_loss_that_the_estimator_cannot_serve(X, y):
    from sklearn.svm import LinearSVC

    with pytest.raises(
        InvalidInputError, match=r"needs an estimator with predict_proba, which LinearSVC lacks"
    ):
        quick(estimator=LinearSVC(), loss="log-loss").fit(X, y)


def test_loss_function_that_averages(X, y):
    with pytest.raises(InvalidInputError, match=r"one loss per row.*Do not average"):
        quick(loss=lambda truth, probability: 1.0).fit(X, y)


@pytest.mark.parametrize("estimator", [42, "tree", object()])
def test_estimator_that_is_none(X, y, estimator):
    with pytest.raises(
        ValueError, match=r"'estimator' parameter of PPFS must be an object implementing 'fit'"
    ):
        quick(estimator=estimator).fit(X, y)


def test_estimator_class_instead_of_instance(X, y):
    with pytest.raises(InvalidInputError, match=r"must be an instance: pass DecisionTreeClassifier\(\)"):
        quick(estimator=DecisionTreeClassifier).fit(X, y)


def test_estimator_of_the_other_task(X, y):
    with pytest.raises(
        InvalidInputError, match=r"LinearRegression cannot predict the target: the task is class"
    ):
        quick(estimator=LinearRegression(), task="classification").fit(X, y)


def test_classifier_with_a_continuous_target(X):
    with pytest.raises(InvalidInputError, match=r"numbers with a fraction, such as.*task=\"regression\""):
        quick(estimator=LogisticRegression()).fit(X, X[:, 0])


def test_classifier_with_a_huge_target(X):
    """Floats beyond 2**53 are integers for lack of precision: scikit-learn's classifiers refuse them too."""
    with pytest.raises(InvalidInputError, match=r"y holds -?[\d.]+e\+160.*task=\"regression\""):
        quick(estimator=DecisionTreeClassifier()).fit(X, X[:, 0] * 1e160)


def test_regression_on_labels(X):
    with pytest.raises(InvalidInputError, match="numeric target, but y contains 'a'"):
        quick(task="regression").fit(X, ["a", "b"] * 20)


def test_estimator_that_fails_is_named_with_its_columns(X, y):
    class Broken(DecisionTreeClassifier):
        def fit(self, X, y):
            raise KeyError("inside")

    with pytest.raises(
        EstimatorFailedError, match=r"Broken\(\) failed on 'x0' with 32 training rows: KeyError"
    ):
        quick(estimator=Broken()).fit(X, y)


def test_class_with_one_member_is_not_stratified_but_works(X, y):
    labels = y.copy()
    labels[0] = 2
    with pytest.warns(StratificationWarning, match=r"the rarest, 2, has 1 row\(s\)"):
        selector = quick().fit(X, labels)
    assert selector.support_[0]
    with pytest.raises(InvalidInputError, match="stratify=True is impossible"):
        quick(stratify=True).fit(X, labels)


def test_zero_features(y):
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        quick().fit(np.empty((40, 0)), y)


def test_repeated_feature_name(X, y):
    frame = pd.DataFrame(X, columns=["a", "b", "a"])
    with pytest.raises(InvalidInputError, match=r"more than one column named 'a'.*Rename"):
        quick().fit(frame, y)


def test_sparse_data_for_an_estimator_that_wants_dense(X, y):
    with pytest.raises(
        InvalidInputError, match=r"HistGradientBoostingClassifier takes dense data only.*toarray"
    ):
        quick(estimator=HistGradientBoostingClassifier()).fit(sp.csr_array(X), y)


def test_more_folds_than_rows(X, y):
    with pytest.raises(InvalidInputError, match="n_folds=41 is more than the 40 rows"):
        quick(n_folds=41).fit(X, y)


def test_one_fold_is_no_division(X, y):
    with pytest.raises(ValueError, match="'n_folds' parameter of PPFS"):
        quick(n_folds=1).fit(X, y)


def test_folds_that_leave_one_class(X):
    y = np.zeros(40, dtype=int)
    y[0] = 1
    with pytest.raises(InvalidInputError, match="training part has one class only"):
        quick(n_folds=3, stratify=False).fit(X, y)


def test_callers_objects_are_unchanged(X, y):
    estimator = DecisionTreeClassifier(max_depth=3)
    before = X.copy(), y.copy(), estimator.get_params()
    quick(estimator=estimator).fit(X, y)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])
    assert estimator.get_params() == before[2]
    assert not hasattr(estimator, "tree_")


def test_evaluate_names_unknown_columns(X, y):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(InvalidInputError, match=r"no column 'd'. The columns are 'a', 'b', 'c'"):
        PPI().evaluate(frame, y, "d")
    with pytest.raises(InvalidInputError, match="no column 3: columns are numbered 0 to 2"):
        PPI().evaluate(X, y, 3)
    with pytest.raises(InvalidInputError, match="both x and in given"):
        PPI().evaluate(frame, y, "a", given=["a"])


def test_bytes_that_are_no_text_are_named():
    X = np.array([[b"a", b"\xff"]] * 20)
    with pytest.raises(
        InvalidInputError, match=r"column 1 holds bytes that are not ASCII text, such as b'\\xff'"
    ):
        PPFS().fit(X, np.arange(20) % 2)


def test_y_named_by_its_column(X):
    with pytest.raises(
        InvalidInputError, match=r"y is the text 'label'.*X\.drop\(columns='label'\) and X\['label'\]"
    ):
        quick().fit(pd.DataFrame(X, columns=["a", "b", "label"]), "label")


def test_y_of_one_column_is_told_of_at_the_callers_line(X, y):
    with pytest.warns(DataConversionWarning, match="column-vector y") as told:
        quick().fit(X, y[:, None])
    assert told[0].filename == __file__


def test_infinite_values_are_named_to_users_of_the_default_panel(X, y):
    X[3, 1] = np.inf
    with pytest.raises(InvalidInputError, match=r"X contains inf in 'x1'. Every value must be finite"):
        PPFS.calibrated().fit(X, y)


def test_too_few_rows_for_the_preset_speak_of_the_folds_of_its_test(X, y):
    # The selector has an n_folds too, which does not help here.
    with pytest.raises(InvalidInputError, match=r"there are 8\..*independence=CrossFitPPI\(n_folds=2\)"):
        PPFS.calibrated().fit(X[:8], y[:8])


def test_splitter_of_groups_without_groups_says_where_they_go(X, y):
    with pytest.raises(InvalidInputError, match=r"Pass groups= to fit"):
        quick(splitter=GroupKFold(3)).fit(X, y)


@pytest.mark.parametrize("as_panel", [False, True])
def test_a_model_that_predicts_only_from_its_fit_on_is_a_model(X, y, as_panel):
    stack = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=1)), ("bayes", GaussianNB())], cv=2)
    assert not hasattr(stack, "predict")
    selector = PPFS.calibrated([stack, GaussianNB()] if as_panel else stack, random_state=0)
    assert selector.fit(X, y).support_[0]
