"""Selection by permutation importance."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import PermutationImportance


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, X[:, 0] + 3 * X[:, 3] + 0.5 * rng.normal(size=300)


def test_importances_of_a_linear_model_are_twice_the_share_of_variance(sample):
    # Shuffling x_j adds 2 beta_j^2 var(x_j) to the squared error, in units of the target's variance.
    X, y = sample
    fitted = PermutationImportance(LinearRegression(), n_repeats=50, test_size=None, random_state=0).fit(X, y)
    expected = 2 * np.array([1, 0, 0, 9, 0]) / (1 + 9 + 0.25)
    np.testing.assert_allclose(fitted.importances_, expected, atol=0.15)
    assert fitted.ranking_[:2].tolist() == [3, 0]
    assert fitted.reference_score_ == pytest.approx(
        r2_score(y, LinearRegression().fit(X, y).predict(X)), abs=1e-9
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"select": "threshold", "threshold": 0.05}, {0, 3}),
        ({"select": "threshold", "threshold": 0.5}, {3}),
        ({"select": "n_features", "n_features": 1}, {3}),
        ({"select": "pvalue", "n_nulls": 40}, {0, 3}),
        ({"select": "cv", "n_features": 2}, {0, 3}),
    ],
)
def test_selects_by_each_rule(sample, parameters, expected):
    X, y = sample
    fitted = PermutationImportance(LinearRegression(), random_state=0, **parameters).fit(X, y)
    assert set(np.flatnonzero(fitted.support_)) >= expected
    if parameters["select"] != "pvalue":
        assert set(np.flatnonzero(fitted.support_)) == expected


def test_altmann_pvalues_have_the_resolution_of_the_nulls(sample):
    X, y = sample
    fitted = PermutationImportance(LinearRegression(), select="pvalue", n_nulls=19, random_state=0).fit(X, y)
    assert fitted.pvalues_[3] == 1 / 20
    assert np.all(np.isclose(fitted.pvalues_ * 20, np.round(fitted.pvalues_ * 20)))


def test_cross_validation_chooses_a_length_of_the_ranking(sample):
    X, y = sample
    fitted = PermutationImportance(LinearRegression(), select="cv", random_state=0).fit(X, y)
    assert fitted.cv_scores_.size == 5
    chosen = np.flatnonzero(fitted.support_)
    assert set(chosen) == set(fitted.ranking_[: np.argmax(fitted.cv_scores_) + 1])


def test_answer_is_the_same_for_any_number_of_jobs_and_order_of_columns(sample):
    X, y = sample
    forest = RandomForestRegressor(5, max_depth=3)

    def pvalues(X, n_jobs):
        selector = PermutationImportance(
            forest, select="pvalue", n_nulls=4, n_repeats=2, random_state=0, n_jobs=n_jobs
        )
        return selector.fit(X, y).pvalues_

    alone = pvalues(X, None)
    np.testing.assert_array_equal(alone, pvalues(X, 2))
    np.testing.assert_array_equal(alone, pvalues(X[:, ::-1], None)[::-1])


def test_sparse_columns_give_the_importances_of_dense_ones(sample):
    X, y = sample
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, sparse = (
        PermutationImportance(LinearRegression(), n_repeats=3, random_state=0).fit(values, y)
        for values in (X, sp.csc_array(X))
    )
    np.testing.assert_allclose(dense.importances_, sparse.importances_, atol=1e-6)


def test_number_of_features_must_fit_the_columns(sample):
    X, y = sample
    for n_features in (None, 6):
        with pytest.raises(
            InvalidInputError, match=f"between 1 and the 5 columns of X, but it is {n_features}"
        ):
            PermutationImportance(select="n_features", n_features=n_features).fit(X, y)


def test_every_null_shuffles_the_target_in_another_way():
    """With one null drawn again and again a p-value could only be the smallest one or 1."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 12))
    y = rng.normal(size=80)
    fitted = PermutationImportance(
        LinearRegression(), select="pvalue", n_nulls=9, n_repeats=3, random_state=0
    )
    assert len(set(fitted.fit(X, y).pvalues_) - {0.1, 1.0}) >= 3


def test_shuffles_of_a_column_differ_and_the_importance_is_their_mean(sample):
    X, y = sample
    once = PermutationImportance(LinearRegression(), n_repeats=1, random_state=0).fit(X, y)
    thrice = PermutationImportance(LinearRegression(), n_repeats=3, random_state=0).fit(X, y)
    assert (once.importances_std_ == 0).all()
    assert (thrice.importances_std_ > 0).all()
    assert (thrice.importances_ != once.importances_).all()


def test_of_equal_scores_the_fewest_columns_are_selected(sample):
    """A constant prediction scores the same with any columns."""
    X, y = sample
    fitted = PermutationImportance(DummyRegressor(), select="cv", random_state=0).fit(X, y)
    assert len(set(fitted.cv_scores_)) == 1
    assert fitted.support_.sum() == 1


def test_nulls_that_are_equally_important_count_against_a_column(sample):
    """Nothing that is shuffled changes a constant prediction: every importance is 0, and no column stands out."""
    X, y = sample
    fitted = PermutationImportance(DummyRegressor(), select="pvalue", n_nulls=4, random_state=0).fit(X, y)
    assert fitted.importances_.tolist() == [0.0] * 5
    assert fitted.pvalues_.tolist() == [1.0] * 5
    assert not fitted.support_.any()
