"""Missing values: passed on, filled in each train part, or refused with two solutions."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs._fitting import Medians
from ppfs._fitting.estimators import input_tags
from ppfs.blanket import FBED, IAMB
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI

N_ROWS = 100


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.fixture
def y(X):
    return (np.nan_to_num(X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=N_ROWS) > 0).astype(int)


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_the_error_names_the_columns_and_both_ways_out(X, y, make):
    frame = pd.DataFrame(X, columns=["age", "dose", "bmi"]).assign(dose=1.0)
    with pytest.raises(InvalidInputError, match=r"NaN in 'age', 'bmi', and LogisticRegression") as caught:
        make(LogisticRegression()).evaluate(frame, y, "age")
    assert 'impute="median"' in str(caught.value)
    assert "HistGradientBoostingClassifier" in str(caught.value)
    with pytest.raises(ValueError, match="'impute' parameter"):
        make(LogisticRegression(), impute="mean").evaluate(frame, y, "age")


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
@pytest.mark.parametrize("model", [LogisticRegression(), None, HistGradientBoostingClassifier(max_iter=5)])
def test_filled_gaps_let_every_estimator_find_the_link(X, y, make, model):
    test = make(model, impute="median", random_state=0)
    assert test.evaluate(X, y, 0).pvalue < 0.01
    assert test.evaluate(X, y, 0, given=[1, 2]).pvalue < 0.01
    assert test.evaluate(X, y, 2, given=[0]).pvalue > 0.05


def test_medians_are_those_of_the_train_part(X, y):
    """Written out for a linear model of two columns."""
    test = PPI(Ridge(), n_splits=5, impute="median", task="regression", random_state=0)
    table = read_table(X, y, task="regression", owner=test)
    risks = test.bind(table)._risks_about(3, is_marginal=False)[0]
    found = risks.of_members([0], frozenset({0, 1}))
    columns = list(table.order.canonical({0, 1}))
    for number, split in enumerate(risks.problem.splits):
        medians = np.nanmedian(X[split.train][:, columns], axis=0)
        filled = np.where(np.isnan(X[:, columns]), medians, X[:, columns])
        model = Ridge().fit(filled[split.train], y[split.train])
        errors = (model.predict(filled[split.test]) - y[split.test]) ** 2
        assert found.base[0, number] == pytest.approx(errors.mean())


def test_estimators_that_take_gaps_get_them(X, y):
    class Watching(HistGradientBoostingClassifier):
        seen = 0

        def fit(self, X, y):
            Watching.seen += np.isnan(X).any()
            return super().fit(X, y)

    PPI(Watching(max_iter=2), n_splits=5, random_state=0).evaluate(X, y, 0)
    assert Watching.seen == 5
    PPI(Watching(max_iter=2), n_splits=5, impute="median", random_state=0).evaluate(X, y, 0)
    assert Watching.seen == 5


def test_trees_with_gaps_take_the_generic_path_and_without_do_not(X, y):
    selector = PPFS(n_splits=5, impute="median", random_state=0)
    assert "missing values" in selector.fit(X, y).trace_.notes[0]
    full = np.nan_to_num(X)
    assert selector.fit(full, y).trace_.notes[0] == "DecisionTreeClassifier is grown by the engine"
    plain = PPFS(n_splits=5, random_state=0).fit(full, y)
    np.testing.assert_array_equal(selector.fit(full, y).pvalues_, plain.pvalues_)


def test_gaps_in_sparse_columns(X, y):
    sparse = sp.csr_array(np.where(np.abs(X) < 0.2, 0.0, X))
    with pytest.raises(InvalidInputError, match='impute="median"'):
        PPFS(n_splits=5).fit(sparse, y)
    for model in (None, LogisticRegression()):
        assert PPFS(model, n_splits=8, impute="median", random_state=0).fit(sparse, y).support_[0]


def test_tags_say_whether_gaps_are_taken():
    def takes_gaps(selector):
        return get_tags(selector).input_tags.allow_nan

    assert takes_gaps(PPFS())
    assert not takes_gaps(PPFS(LogisticRegression()))
    assert takes_gaps(PPFS(LogisticRegression(), impute="median"))
    assert takes_gaps(PPFS.calibrated(LogisticRegression(), impute="median"))
    assert not takes_gaps(PPFS.calibrated(LogisticRegression()))
    assert takes_gaps(FBED(independence="ppi"))
    assert takes_gaps(FBED(independence=PPI(LogisticRegression(), impute="median")))
    assert not takes_gaps(FBED(independence=PPI(LogisticRegression())))
    assert not takes_gaps(IAMB())


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_the_callers_conditional_model_gets_imputed_columns(X, y, make):
    frame = pd.DataFrame(X, columns=["age", "dose", "bmi"])
    test = make(conditional=Ridge(), knockoff="conditional", random_state=0)
    with pytest.raises(InvalidInputError, match=r"conditional=Ridge does not accept missing.*impute="):
        test.evaluate(frame, y, "age", given=["dose"])
    answer = test.set_params(impute="median").evaluate(frame, y, "age", given=["dose", "bmi"])
    assert answer.pvalue < 0.05


def test_a_conditional_model_without_a_value_of_x_moves_its_gaps(X):
    """All that the train part of the second split knows of x is that it is missing."""
    late = X.copy()
    late[: N_ROWS // 2, 0] = np.nan
    y = np.random.default_rng(2).normal(size=N_ROWS)
    test = CrossFitPPI(conditional=Ridge(), impute="median", splitter=KFold(2), random_state=0)
    assert 0 < test.evaluate(late, y, 0, given=[1]).pvalue <= 1


def test_gaps_in_sparse_columns_do_not_stop_the_packages_own_draws(X, y):
    sparse = sp.csr_array(np.where(np.abs(np.nan_to_num(X, nan=9.0)) < 0.5, 0.0, X))
    test = CrossFitPPI(LogisticRegression(), impute="median", random_state=0)
    assert test.evaluate(sparse, y, 0, given=[1, 2]).pvalue < 0.05


def test_a_column_of_gaps_says_nothing(X, y):
    X[:, 2] = np.nan
    test = CrossFitPPI(random_state=0)
    assert test.evaluate(X, y, 2, given=[0]).pvalue == 1.0
    assert test.evaluate(X, y, 0, given=[2]).pvalue < 0.05


def test_medians_of_all_columns_are_those_of_each():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 40))
    X[rng.random(X.shape) < 0.4] = np.nan
    X[:, 0], X[:, 1], X[:6, 2] = np.nan, 1e308, np.nan
    expected = [np.median(column[~np.isnan(column)]) if np.isfinite(column).any() else 0.0 for column in X.T]
    np.testing.assert_array_equal(Medians().fit(X).medians_, expected)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (make_pipeline(SimpleImputer(), LinearRegression()), True),
        (make_pipeline("passthrough", SimpleImputer(), LinearRegression()), True),
        (make_pipeline(StandardScaler(), LinearRegression()), False),
        (make_pipeline(LinearRegression()), False),
        (make_pipeline("passthrough"), False),
        (make_pipeline(None), False),
        (GridSearchCV(HistGradientBoostingClassifier(), {}), True),
        (GridSearchCV(LinearRegression(), {}), False),
    ],
)
def test_models_inside_say_whether_they_take_missing_values(model, expected):
    assert input_tags(model).allow_nan == expected
