"""PyImpetus's calls on our PPFS."""

import inspect
import pickle
import re

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
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


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    "labels", [[0, 1, 2, 3], [10, 7, 3, 1], ["a", 1, "b", 2], [("a", 1), ("a", 2), ("b", 1), ("b", 2)]]
)
def test_names_of_columns_may_be_anything(iris, labels):
    frame, y = iris[0].set_axis(labels, axis=1), iris[1]
    selector = PPIMBC(num_simul=10, **QUIET)
    out = selector.fit_transform(frame, y)
    expected = PPIMBC(num_simul=10, **QUIET).fit(*iris)
    assert selector.MB == [labels[iris[0].columns.get_loc(name)] for name in expected.MB]
    assert list(out.columns) == selector.MB
    np.testing.assert_array_equal(out.to_numpy(), expected.transform(iris[0]).to_numpy())
    assert list(selector.get_feature_names_out()) == selector.MB


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_frames_need_the_selected_columns_only(iris, make):
    X, y = iris
    selector = PPIMBC(num_simul=10, **QUIET).fit(make(X), y)
    expected = X[selector.MB]
    other = X.assign(extra=1.0)[["extra", *X.columns[::-1]]]
    few = X[selector.MB[::-1]]
    for frame in (X, other, few):
        out = selector.transform(make(frame))
        assert type(out) is type(make(frame))
        pd.testing.assert_frame_equal(nw.from_native(out).to_pandas(), expected)
    with pytest.raises(InvalidInputError, match=f"X lacks '{re.escape(selector.MB[0])}'"):
        selector.transform(make(X.drop(columns=selector.MB[0])))


def test_a_frame_after_a_fit_on_an_array_is_read_by_position(iris):
    X, y = iris
    selector = PPIMBC(num_simul=10, **QUIET).fit(X.to_numpy(), y)
    assert set(selector.transform(X).columns) == set(X.columns[selector.get_support()])


def test_arrays_keep_their_width(iris):
    selector = PPIMBC(num_simul=5, **QUIET).fit(iris[0].to_numpy(), iris[1])
    with pytest.raises(ValueError, match="X has 3 features, but PPIMBC is expecting 4"):
        selector.transform(iris[0].to_numpy()[:, :3])


def test_arguments_by_scikit_learns_names_and_by_pyimpetus_names(iris):
    X, y = iris
    expected = PPIMBC(num_simul=5, **QUIET).fit(X, y).transform(X)
    for names in (("X", "y"), ("data", "Y")):
        named = dict(zip(names, (X, y), strict=True))
        selector = PPIMBC(num_simul=5, **QUIET)
        pd.testing.assert_frame_equal(selector.fit(**named).transform(**{names[0]: X}), expected)
        pd.testing.assert_frame_equal(selector.fit_transform(**named), expected)


@pytest.mark.parametrize("as_array", [False, True])
def test_what_scikit_learns_selectors_have(iris, as_array):
    X, y = (iris[0].to_numpy() if as_array else iris[0]), iris[1]
    selector = PPIMBC(num_simul=10, **QUIET).fit(X, y)
    assert selector.get_support().tolist() == selector.selector_.support_.tolist()
    assert selector.get_support(indices=True).tolist() == np.flatnonzero(selector.selector_.support_).tolist()
    assert selector.get_feature_names_out().tolist() == selector.MB
    for output, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = clone(selector).set_output(transform=output).fit_transform(X, y)
        assert isinstance(out, kind)
        assert list(out.columns) == selector.MB
    if as_array:
        assert len(selector.get_feature_names_out(list("abcd"))) == len(selector.MB)
    with pytest.raises(ValueError, match="input_features"):
        selector.get_feature_names_out(["a"])
    piped = make_pipeline(PPIMBC(num_simul=5, **QUIET), DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert piped[:-1].get_feature_names_out().size


def test_weights_and_groups_are_passed_on(iris):
    X, y = iris
    weights, groups = np.arange(150) % 4, np.arange(150) // 5
    ours = PPFS(n_splits=6, stratify=False, task="classification", random_state=0)
    theirs = PPIMBC(num_simul=6, **QUIET).fit(X, y, sample_weight=weights, groups=groups)
    ours.fit(X, y, sample_weight=weights, groups=groups)
    np.testing.assert_array_equal(theirs.selector_.pvalues_, ours.pvalues_)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = PPIMBC(num_simul=6, **QUIET).set_fit_request(sample_weight=True, groups=True)
        piped = make_pipeline(
            routed, DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=False)
        )
        piped.fit(X, y, sample_weight=weights, groups=groups)
    assert piped[0].MB == theirs.MB


def test_verbose_is_progress():
    told = {verbose: PPIMBC(verbose=verbose)._progress() for verbose in (None, 0, 1, 2, 3)}
    assert told == {None: False, 0: False, 1: True, 2: "log", 3: "log"}


def test_verbose_reports_to_a_log_as_pyimpetus_does(capfd):
    X = np.random.default_rng(0).normal(size=(60, 3))
    for verbose in (0, None, 1):
        PPIMBC(num_simul=5, n_jobs=1, verbose=verbose, random_state=0).fit(X, X[:, 1] > 0)
        assert capfd.readouterr() == ("", "")
    PPIMBC(num_simul=5, n_jobs=1, random_state=0).fit(X, X[:, 1] > 0)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("growth: 3/3 in ")


def test_another_blanket_can_be_assigned(iris):
    X, y = iris
    selector = PPIMBC(num_simul=5, **QUIET).fit(X, y)
    selector.MB = ["sepal width (cm)", "petal width (cm)"]
    assert selector.MB == ["sepal width (cm)", "petal width (cm)"]
    assert list(selector.transform(X).columns) == selector.MB
    assert selector.get_support().tolist() == [False, True, False, True]
    assert pickle.loads(pickle.dumps(selector)).MB == selector.MB  # noqa: S301
    # Before a fit too, as there; and it is no parameter: a clone has none.
    assert clone(selector).MB is None
    fresh = PPIMBC()
    fresh.MB = ["Column3", "Column1"]
    np.testing.assert_array_equal(fresh.transform(X.to_numpy()), X.to_numpy()[:, [2, 0]])
    assert not hasattr(fresh, "n_features_in_")
    with pytest.raises(InvalidInputError, match="MB names 'Column3', but the columns are called 'Column1'"):
        fresh.transform(X.to_numpy()[:, :2])
    assert selector.fit(X, y).MB != ["sepal width (cm)", "petal width (cm)"]


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


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"num_simul": 3}, r'^num_simul=3 is too few for sig_test_type="non-parametric".*Raise num_simul'),
        ({"p_val_thresh": 2.0}, "'p_val_thresh' parameter of PPIMBC must be a float in the range"),
        ({"simul_size": 0.99}, "simul_size=0.99"),
        ({"model": 3}, "'model' parameter of PPIMBC"),
    ],
)
def test_errors_speak_of_the_parameters_that_the_caller_wrote(parameters, said):
    with pytest.raises(InvalidInputError, match=said):
        PPIMBC(**parameters, **QUIET).fit(np.ones((20, 2)), [0, 1] * 10)


def test_feature_importance_draws_one_bar_a_member():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    X, y = load_iris(return_X_y=True)
    selector = PPIMBC(num_simul=10, **QUIET).fit(X, y)
    axes = selector.feature_importance()
    assert [bar.get_width() for bar in axes.patches] == selector.feat_imp_scores
    assert [label.get_text() for label in axes.get_yticklabels()] == selector.MB
    assert [side for side, line in axes.spines.items() if line.get_visible()] == ["left", "bottom"]
    assert axes.get_yticklabels()[0].get_size() == pytest.approx(0.833 * plt.rcParams["font.size"], rel=1e-3)
    assert (axes.yaxis_inverted(), axes.get_yticks().tolist()) == (True, list(range(len(selector.MB))))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Importance score, log(1/p)", "Feature")
    size = axes.figure.get_size_inches().tolist()
    assert size == pytest.approx([6, 0.3 * len(selector.MB) + 1])
    assert type(axes.figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"
    plt.close("all")


def test_every_parameter_reaches_the_search_that_it_names():
    svm, ridge = SVC(), Ridge()
    shared = {"n_splits": 7, "n_folds": 3, "alpha": 0.2, "test_size": 0.3, "n_jobs": 2, "random_state": 5}
    calls = [
        (
            PPIMBC(svm, 0.2, 7, 3, 0.3, 1, "parametric", 5, 2, 0),
            {"estimator": svm, "stratify": True, "significance": "paired-t", "task": "classification"},
        ),
        (
            PPIMBR(ridge, 0.2, 7, 0.3, "non-parametric", 3, 5, 2, 1),
            {"estimator": ridge, "stratify": False, "significance": "wilcoxon", "task": "regression"},
        ),
    ]
    for selector, own in calls:
        parameters = selector._selector(np.zeros((9, 1)), np.zeros(9)).get_params(deep=False)
        assert {name: parameters[name] for name in {**shared, **own}} == {**shared, **own}


def test_the_threshold_decides():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=80)
    strict, lenient = (
        PPIMBR(Ridge(), p_val_thresh=threshold, num_simul=10, simul_size=0.1, **QUIET).fit(X, y)
        for threshold in (0.001, 0.4)
    )
    assert set(strict.MB) < set(lenient.MB)
    assert (strict.selector_.alpha, lenient.selector_.alpha) == (0.001, 0.4)


def test_names_need_a_fit():
    with pytest.raises(NotFittedError):
        PPIMBC(DecisionTreeClassifier()).get_feature_names_out()
