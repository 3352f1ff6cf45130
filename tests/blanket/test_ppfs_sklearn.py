"""scikit-learn's own contract for estimators."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ppfs import PPFS


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [
        PPFS(n_splits=5, random_state=0),
        PPFS(n_splits=5, random_state=0, task="classification"),
        PPFS(n_splits=5, random_state=0, task="regression"),
        PPFS(n_splits=5, random_state=0, n_folds=3),
        PPFS(LogisticRegression(), n_splits=5, random_state=0),
        PPFS(LinearSVC(), n_splits=5, random_state=0),
        PPFS(Ridge(), n_splits=5, random_state=0),
        PPFS(LogisticRegression(), n_splits=5, random_state=0, impute="median"),
        PPFS.calibrated(random_state=0),
    ],
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
