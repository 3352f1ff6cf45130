"""PyImpetus's calls on our PPFS."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ppfs import PPFS
from ppfs.compat import PPIMBC, PPIMBR
from ppfs.exceptions import InvalidInputError

QUIET = {"n_jobs": 1, "verbose": 0, "random_state": 0}


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
@parametrize_with_checks([PPIMBC(num_simul=5, **QUIET), PPIMBR(num_simul=5, **QUIET)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_parameters_stand_in_pyimpetus_order():
    """Read off PyImpetus 4.1.2; positional calls keep their meaning."""
    assert list(inspect.signature(PPIMBC).parameters) == [
        "model", "p_val_thresh", "num_simul", "cv", "simul_size", "simul_type", "sig_test_type",
        "random_state", "n_jobs", "verbose",
    ]  # fmt: skip
    assert list(inspect.signature(PPIMBR).parameters)[:9] == [
        "model", "p_val_thresh", "num_simul", "simul_size", "sig_test_type", "cv",
        "random_state", "n_jobs", "verbose",
    ]  # fmt: skip


def test_same_blanket_as_ppfs():
    X, y = load_iris(return_X_y=True)
    ours = PPFS(
        SVC(), n_splits=8, n_folds=3, test_size=0.3, stratify=True, significance="paired-t", random_state=0
    )
    theirs = PPIMBC(SVC(), 0.05, 8, 3, 0.3, 1, "parametric", **QUIET)
    assert set(theirs.fit(X, y).selector_.blanket_) == set(ours.fit(X, y).blanket_)
    np.testing.assert_array_equal(theirs.selector_.pvalues_, ours.pvalues_)


def test_frames_and_arrays_come_back_in_order_of_importance():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = PPIMBC(num_simul=10, **QUIET)
    out = selector.fit_transform(X, y)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == selector.MB
    assert selector.feat_imp_scores == sorted(selector.feat_imp_scores, reverse=True)
    plain = PPIMBC(num_simul=10, **QUIET)
    np.testing.assert_array_equal(plain.fit_transform(X.to_numpy(), y), out.to_numpy())
    assert plain.MB == [f"Column{list(X.columns).index(name) + 1}" for name in selector.MB]


def test_one_feature_blanket_is_not_lost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    selector = PPIMBC(num_simul=10, **QUIET).fit(X, X[:, 1] > 0)
    assert selector.MB == ["Column2"]
    assert len(selector.feat_imp_scores) == 1


def test_splitters_give_the_number_of_folds():
    X, y = load_diabetes(return_X_y=True)
    by_number = PPIMBR(Ridge(), num_simul=5, cv=3, **QUIET).fit(X, y)
    by_splitter = PPIMBR(Ridge(), num_simul=5, cv=KFold(3), **QUIET).fit(X, y)
    assert by_number.MB == by_splitter.MB
    X, y = load_iris(return_X_y=True)
    assert len(PPIMBC(num_simul=5, cv=StratifiedKFold(4), **QUIET).fit(X, y).selector_.folds_) == 4


def test_before_fit_as_in_pyimpetus():
    assert PPIMBC().MB is None
    assert PPIMBR().feat_imp_scores == []


@pytest.mark.parametrize(("name", "value"), [("sig_test_type", "bayes"), ("simul_type", 2)])
def test_unknown_choices_list_the_known_ones(name, value):
    with pytest.raises(InvalidInputError, match=rf"{name} must be .*but is {value!r}"):
        PPIMBC(**{name: value}, **QUIET).fit(np.ones((20, 2)), [0, 1] * 10)


def test_feature_importance_draws_one_bar_a_member():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    X, y = load_iris(return_X_y=True)
    selector = PPIMBC(num_simul=10, **QUIET).fit(X, y)
    axes = selector.feature_importance()
    assert [bar.get_width() for bar in axes.patches] == selector.feat_imp_scores
    assert [label.get_text() for label in axes.get_yticklabels()] == selector.MB
    plt.close("all")
