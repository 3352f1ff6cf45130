"""Nothing is decided by numbers that are none: NaN predictions, losses and p-values are errors that say where."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs.blanket import IAMB
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, FisherZ, LikelihoodRatio, PartialCorrelationT
from ppfs.wrappers import PermutationImportance, Stepwise


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(80, 3))


@pytest.fixture
def labels(X):
    return (X[:, 1] > 0).astype(int)


def with_nan(answer):
    answer = np.array(answer, dtype=float)
    answer[len(answer) // 2] = np.nan
    return answer


class NaNProbabilities(LogisticRegression):
    def predict_proba(self, X):
        return with_nan(super().predict_proba(X))


class NaNMargins(LinearSVC):
    def decision_function(self, X):
        return with_nan(super().decision_function(X))


class NaNValues(LinearRegression):
    def predict(self, X):
        return with_nan(super().predict(X))


class NaNWhenReplaced(LinearRegression):
    """Answers for the test part as it is, but not when asked about more rows at once."""

    def predict(self, X):
        answer = super().predict(X)
        return with_nan(answer) if hasattr(self, "was_asked_") else self._first(answer)

    def _first(self, answer):
        self.was_asked_ = True
        return answer


@pytest.mark.parametrize(
    "make", [PPFS, PPFS.calibrated, lambda model, **rest: PPFS(independence=CrossFitPPI(model), **rest)]
)
@pytest.mark.parametrize(
    ("model", "method"), [(NaNProbabilities(), "predict_proba"), (NaNMargins(), "decision_function")]
)
def test_a_classifier_with_one_row_of_nan_is_an_error(X, labels, make, model, method):
    with pytest.raises(
        EstimatorFailedError,
        match=rf"In split 0 .* failed on 'x0'.*{method} returned NaN or infinite values for 1 of 16 rows",
    ):
        make(model, random_state=0).fit(X, labels)


def test_a_regressor_with_one_row_of_nan_is_an_error(X):
    with pytest.raises(
        EstimatorFailedError, match=r"In split 0 .* on 'x0' .*: predict returned NaN .* the first for row 8"
    ):
        PPFS(NaNValues(), random_state=0).fit(X, X[:, 0])


def test_the_column_that_was_replaced_is_named(X):
    with pytest.raises(
        EstimatorFailedError,
        match=r"In split 0 .* failed to predict when 'x0' was replaced .* predict returned",
    ):
        # In growth there is no second prediction: the shuffled column's predictions are the first ones, shuffled.
        PPI(NaNWhenReplaced(), random_state=0).evaluate(X, X[:, 0], 0, given=[1])


def test_a_loss_function_that_returns_nan_is_an_error(X):
    def loss(truth, prediction):
        return np.where(truth > 1, np.nan, np.abs(truth - prediction))

    with pytest.raises(
        InvalidInputError, match=r"loss of Ridge with 'x0' as it is is not a finite number in split 0"
    ):
        PPFS(Ridge(), loss=loss, random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize("wrapper", [Stepwise, PermutationImportance])
def test_wrappers_name_the_model_too(X, wrapper):
    with pytest.raises(EstimatorFailedError, match=r"NaNValues.*failed on 'x0'"):
        wrapper(NaNValues(), random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize("model", [None, DecisionTreeRegressor(max_depth=2), LinearRegression(), Ridge()])
@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_a_target_whose_squares_are_beyond_64_bits_is_refused(X, model, scale):
    with pytest.raises(InvalidInputError, match=r"The values of the target differ by .* Rescale the target"):
        PPFS(model, task="regression", random_state=0).fit(X, X[:, 1] * scale)


@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_absolute_errors_of_such_a_target_are_ordinary_numbers(X, scale):
    usual = PPFS(LinearRegression(), loss="absolute", random_state=0).fit(X, X[:, 1])
    extreme = PPFS(LinearRegression(), loss="absolute", random_state=0).fit(X, X[:, 1] * scale)
    assert extreme.blanket_.tolist() == usual.blanket_.tolist() == [1]
    np.testing.assert_allclose(extreme.importances_, usual.importances_ * scale, rtol=1e-6)


@pytest.mark.parametrize("test", [FisherZ(), PartialCorrelationT(), LikelihoodRatio()], ids=repr)
@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_classical_tests_give_the_same_answer_or_an_error(X, test, scale):
    y = X[:, 1] + 0.5 * X[:, 2] + np.random.default_rng(1).normal(size=80)
    usual = IAMB(independence=test).fit(X, y)
    try:
        extreme = IAMB(independence=test).fit(X * scale, y * scale)
    except InvalidInputError:
        return
    assert extreme.blanket_.tolist() == usual.blanket_.tolist()
    np.testing.assert_allclose(extreme.pvalues_, usual.pvalues_, rtol=1e-6, atol=1e-300)


def test_weights_too_far_apart_to_be_added_are_refused(X, labels):
    weights = np.where(np.arange(80) % 2, 1e300, 1e-300)
    with pytest.raises(InvalidInputError, match="weights range from 1e-300 to 1e"):
        PPFS(DecisionTreeClassifier(), random_state=0).fit(X, labels, sample_weight=weights)


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-900])
def test_large_and_small_weights_are_brought_within_reach(X, labels, scale):
    weights = np.random.default_rng(1).uniform(1, 2, size=80)
    usual = PPFS(DecisionTreeClassifier(), random_state=0).fit(X, labels, sample_weight=weights)
    extreme = PPFS(DecisionTreeClassifier(), random_state=0).fit(X, labels, sample_weight=weights * scale)
    np.testing.assert_array_equal(extreme.pvalues_, usual.pvalues_)
    np.testing.assert_allclose(extreme.importances_, usual.importances_)


def test_an_answer_that_is_no_number_is_not_remembered(X):
    from ppfs._data.reading import read_table
    from ppfs.independence._answers import Answers, IndependenceResult

    bound = PPI().bind(read_table(X, X[:, 0], task="regression", owner="a test"))
    no_number = IndependenceResult(float("nan"), 0.0, 0.0)
    with pytest.raises(InvalidInputError, match=r"the p-value nan and the effect 0\.0 for 'x2'"):
        bound._remember((3, 0, 2), no_number)
    bound._marginal_blocks = lambda xs, target: [(xs, Answers.of([no_number] * len(xs)))]
    with pytest.raises(InvalidInputError, match=r"the p-value nan and the effect 0\.0 for 'x1'"):
        bound.query_many([1, 2], 3)
