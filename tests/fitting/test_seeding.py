"""Models that draw random numbers, inside cross-validation."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from ppfs import PPFSCV
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch


@pytest.mark.parametrize(
    "model",
    [SVR(), make_pipeline(StandardScaler(), SVR()), GridSearchCV(SVR(), {"C": [1.0]}, cv=2)],
    ids=["alone", "in a pipeline", "in a search"],
)
@pytest.mark.parametrize(
    "make",
    [
        lambda model: PPFSCV(model, candidates={"n_features": [1]}, cv=2, random_state=0),
        lambda model: PermutationImportance(model, random_state=0),
        lambda model: Stepwise(model, cv=2, random_state=0),
        lambda model: SubsetSearch(model, cv=2, random_state=0),
    ],
    ids=["PPFSCV", "PermutationImportance", "Stepwise", "SubsetSearch"],
)
def test_a_model_without_a_seed_leaves_the_global_generator_alone(make, model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    before = np.random.get_state()  # noqa: NPY002
    make(model).fit(X, X[:, 0] + 0.1 * rng.normal(size=40))
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])
