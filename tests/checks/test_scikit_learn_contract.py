"""scikit-learn's own contract, for every selector but PPFS, which has a file of its own."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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
from ppfs.wrappers import PermutationImportance, Stepwise


@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(
    [
        GrowShrink(),
        IAMB(),
        IAMB(n_folds=2, random_state=0),
        InterIAMB(),
        FastIAMB(),
        IAMBnPC(max_k=1),
        InterIAMBnPC(max_k=1),
        IAMBFDR(),
        FBED(),
        FBED(independence=PPI(n_splits=5), random_state=0),
        MMMB(max_k=1),
        HITONMB(max_k=1),
        TIEStar(max_blankets=2),
        SGAI(),
        MixedMB(independence=LikelihoodRatio(symmetric=True)),
        Stepwise(cv=2, random_state=0),
        PermutationImportance(n_repeats=2, random_state=0),
        PermutationImportance(select="pvalue", n_nulls=2, n_repeats=1, alpha=0.5, random_state=0),
    ],
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
