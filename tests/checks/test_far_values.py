"""Numbers near 1e200 and 1e-200: the answer in other units, or an error that names the column; never an overflow."""

import numpy as np
import pytest
import scipy.sparse as sp
from checks.searches import every_search
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.exceptions import InvalidInputError
from ppfs.independence import CrossFitPPI
from ppfs.models import BoostedLinearClassifier

UNITS = np.array([1e200, 1.0, 1e-200, 1e200])


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(80, 4))


@pytest.fixture
def y(X):
    return X[:, 0] + X[:, 1] + 0.3 * np.random.default_rng(1).normal(size=80)


@every_search
def test_searches_find_the_same_in_other_units(search, X, y):
    expected = set(search().fit(X, y).blanket_)
    assert set(search().fit(X * UNITS, y * 1e200).blanket_) == expected


@pytest.mark.parametrize("test", ["fisher-z", "partial-t", "likelihood-ratio", "ppi", "cross-fit-ppi"])
def test_tests_find_the_same_in_other_units(test, X, y):
    selector = PPFS(independence=test, random_state=0)
    expected = set(selector.fit(X, y > 0).blanket_)
    assert set(selector.fit(X * UNITS, y > 0).blanket_) == expected


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_conditional_draws_do_not_overflow(form, X, y):
    test = CrossFitPPI(DecisionTreeClassifier(max_depth=3), random_state=0)
    X[:, 3] = X[:, 0] + 0.2 * X[:, 3]
    plain, far = (test.evaluate(form(some), y > 0, 0, given=[1, 3]) for some in (X, X * UNITS))
    # Trees see columns of other units in 32 bits that round otherwise, and a few cuts move.
    assert far.pvalue == pytest.approx(plain.pvalue, abs=0.1)


@pytest.mark.parametrize(
    "model",
    [BoostedLinearClassifier(), make_pipeline(MaxAbsScaler(), LogisticRegression())],
    ids=["boosted", "scaled"],
)
def test_models_that_scale_are_fitted(model, X, y):
    selector = PPFS.calibrated(model, random_state=0)
    assert set(selector.fit(X * 1e200, y > 0).blanket_) == set(selector.fit(X, y > 0).blanket_)


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(), LogisticRegression()], ids=lambda one: type(one).__name__
)
def test_linear_models_refuse_what_they_cannot_square(model, X, y):
    X[:, 2] *= 1e200
    is_classifier = isinstance(model, LogisticRegression)
    with pytest.raises(InvalidInputError, match=r"'x2' holds numbers up to .*e\+200.*MaxAbsScaler"):
        PPFS.calibrated(model, random_state=0).fit(X, y > 0 if is_classifier else y)


def test_a_target_that_cannot_be_squared_is_refused(X, y):
    with pytest.raises(InvalidInputError, match=r"the target differ by up to .*Rescale"):
        PPFS(random_state=0).fit(X, y * 1e200)
