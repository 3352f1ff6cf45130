"""scikit-learn's own contract, for every selector but PPFS, which has its own file.

All searches read data, fit and transform through the same base class. So the whole contract is checked for two of them,
with and without folds, with a classical and a predictive test; of the others only what depends on the class itself:
its parameters, and what a search leaves behind.
"""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from ppfs.blanket import (
    FBED,
    HITONMB,
    IAMB,
    IAMBFDR,
    MMMB,
    SGAI,
    FastIAMB,
    GrowShrink,
    IAMBnPC,
    InterIAMB,
    InterIAMBnPC,
    MixedMB,
    TIEStar,
)
from ppfs.independence import PPI, LikelihoodRatio
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch

IN_FULL = [
    IAMB(n_folds=2, random_state=0),
    FBED(independence=PPI(n_splits=5), random_state=0),
    Stepwise(cv=2, random_state=0),
    SubsetSearch(max_subsets=5, cv=2, random_state=0),
    PermutationImportance(select="pvalue", n_nulls=2, n_repeats=1, alpha=0.5, random_state=0),
]

OTHERS = [
    GrowShrink(),
    IAMB(),
    InterIAMB(),
    FastIAMB(),
    IAMBnPC(max_k=1),
    InterIAMBnPC(max_k=1),
    IAMBFDR(),
    FBED(),
    MMMB(max_k=1),
    HITONMB(max_k=1),
    TIEStar(max_blankets=2),
    SGAI(),
    MixedMB(independence=LikelihoodRatio(symmetric=True)),
    PermutationImportance(n_repeats=2, random_state=0),
    SubsetSearch(strategy="hill-climbing", max_subsets=6, cv=2, random_state=0),
    SubsetSearch(strategy="genetic", max_subsets=6, cv=2, random_state=0),
]

# What a class can break by its parameters or by what its search does; the rest is decided by the base class.
OF_THE_CLASS = {
    "check_dict_unchanged",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_get_params_invariance",
    "check_methods_sample_order_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_transformer_general",
}


def checks_of_the_class():
    for estimator in OTHERS:
        for one, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            if name in OF_THE_CLASS:
                yield pytest.param(one, check, id=f"{type(one).__name__}-{name}")


pytestmark = [
    pytest.mark.filterwarnings("ignore:No features were selected:UserWarning"),
    pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
]


@parametrize_with_checks(IN_FULL)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_the_class()))
def test_scikit_learn_contract_of_the_class(estimator, check):
    check(estimator)


def test_every_check_of_the_class_is_one_of_scikit_learns():
    known = {check.func.__name__ for _, check in estimator_checks_generator(IAMB())}
    assert known >= OF_THE_CLASS
