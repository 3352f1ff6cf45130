"""How many coefficients a model spends on a feature: counted, or not told."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from ppfs._data.reading import read_table
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.risks.coefficients import n_coefficients
from ppfs.independence._predictive.risks.paired import PairedRisks

ROWS = np.random.default_rng(0)
X = ROWS.normal(size=(160, 3))
QUANTITY = ROWS.normal(size=160)
SEPARATE = [slice(0, 1), slice(1, 2), slice(2, 3)]


def classes(k):
    return np.arange(160) % k


class WithCoefficients(Ridge):
    """A model that has a coefficient a column, and may do anything with it."""


@pytest.mark.parametrize(
    ("model", "y", "counts"),
    [
        (LinearRegression(), QUANTITY, [1, 1, 1]),
        (Ridge(), np.column_stack([QUANTITY, -QUANTITY, X[:, 0]]), [3, 3, 3]),
        (LogisticRegression(), classes(2), [1, 1, 1]),
        (LogisticRegression(), classes(8), [7, 7, 7]),
        (RidgeClassifier(), classes(4), [3, 3, 3]),
        (LinearSVC(random_state=0), classes(4), [4, 4, 4]),
        (make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()), classes(3), [2, 2, 2]),
        (make_pipeline("passthrough", Ridge()), QUANTITY, [1, 1, 1]),
        (make_pipeline(Nystroem(n_components=3, random_state=0), Ridge()), QUANTITY, None),
        (make_pipeline(PCA(), Ridge()), QUANTITY, None),
        (SVC(kernel="linear", random_state=0), classes(3), None),
        (WithCoefficients(), QUANTITY, None),
    ],
    ids=lambda value: repr(value) if hasattr(value, "fit") else "",
)
def test_counts_what_was_estimated_or_tells_nothing(model, y, counts):
    found = n_coefficients([model.fit(X, y)], 3, SEPARATE)
    assert (None if found is None else found.tolist()) == counts


def test_the_train_part_with_most_classes_counts():
    """A class that one train part lacks has been estimated in another."""
    few = LogisticRegression().fit(X[:100], classes(3)[:100])
    many = LogisticRegression().fit(X, classes(5))
    assert n_coefficients([few, many], 3, SEPARATE).tolist() == [4, 4, 4]


def test_a_column_that_an_imputer_dropped_is_not_guessed_about():
    with_gap = X.copy()
    with_gap[:, 1] = np.nan
    model = make_pipeline(SimpleImputer(), Ridge())
    with pytest.warns(UserWarning, match="without any observed values"):
        model.fit(with_gap, QUANTITY)
    assert n_coefficients([model], 3, SEPARATE) is None


def test_groups_behind_a_mixture_of_columns_get_the_safe_factor():
    """Components of all columns say nothing about how many coefficients a group has."""
    test = CrossFitPPI(make_pipeline(PCA(), Ridge()), random_state=0)
    wide = np.column_stack([X, X**2])
    groups = {"a": [0, 1], "b": [2, 3], "c": [4, 5]}
    table = read_table(wide, QUANTITY, task="auto", owner=test, feature_groups=groups)
    risks = test.bind(table)._risks_about(table.target, is_marginal=False)[0].of_members([0, 1, 2], {0, 1, 2})
    assert risks.n_coefficients is None


def test_questions_with_and_without_a_count_keep_their_own():
    """One question's count must not be taken for that of its neighbours."""
    one = np.zeros((1, 4)), np.zeros((1, 4)), np.zeros(1, dtype=bool), np.zeros((1, 2))
    parts = [PairedRisks(*one), PairedRisks(*one, np.array([3])), PairedRisks(*one)]
    assert PairedRisks.joined(parts).n_coefficients.tolist() == [np.inf, 3, np.inf]
    assert PairedRisks.joined(parts[::2]).n_coefficients is None
