"""scikit-learn's own contract for estimators.

The whole of it is checked for the paper's search and for the calibrated one. Other parameters change which data a
search takes and what it fits: of these only the checks that show data to it are run, not those of names, copies,
parameters and representations, which the class decides.
"""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from ppfs import PPFS

IN_FULL = [PPFS(n_splits=5, random_state=0), PPFS.calibrated(random_state=0)]

OTHERS = [
    PPFS(n_splits=5, random_state=0, task="classification"),
    PPFS(n_splits=5, random_state=0, task="regression"),
    PPFS(n_splits=5, random_state=0, n_folds=3),
    PPFS(LogisticRegression(), n_splits=5, random_state=0),
    PPFS(LinearSVC(), n_splits=5, random_state=0),
    PPFS(Ridge(), n_splits=5, random_state=0),
    PPFS(LogisticRegression(), n_splits=5, random_state=0, impute="median"),
]

OF_THE_DATA = {
    "check_complex_data",
    "check_dict_unchanged",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_subset_invariance",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_requires_y_none",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_valid_tag_types",
}


def checks_of_the_data():
    for estimator in OTHERS:
        for one, check in estimator_checks_generator(estimator):
            # Some are run again on memory-mapped data.
            if check.func.__name__ in OF_THE_DATA and not check.keywords.get("readonly_memmap"):
                yield pytest.param(one, check, id=f"{estimator}-{check.func.__name__}")


pytestmark = [
    pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning"),
    pytest.mark.filterwarnings("ignore:No features were selected:UserWarning"),
]


@parametrize_with_checks(IN_FULL)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_the_data()))
def test_scikit_learn_contract_on_data(estimator, check):
    check(estimator)


def test_every_check_on_data_is_one_of_scikit_learns():
    generated = [*estimator_checks_generator(PPFS()), *estimator_checks_generator(PPFS(LogisticRegression()))]
    assert {check.func.__name__ for _, check in generated} >= OF_THE_DATA
