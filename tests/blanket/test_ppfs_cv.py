"""PPFSCV: settings and sizes chosen by the model that the columns are meant for."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ppfs import PPFS, PPFSCV
from ppfs._data.reading import read_table
from ppfs.blanket import FBED, IAMB
from ppfs.blanket._cv.candidates import Candidates
from ppfs.blanket._cv.choice import Scored
from ppfs.blanket._cv.inner_scores import searched
from ppfs.blanket._cv.ranking import Path
from ppfs.blanket._ppfs_cv import _default_candidates
from ppfs.exceptions import EstimatorFailedError, InvalidInputError

FEW = {"n_splits": [6], "alpha": [0.05, 0.3]}


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [
        PPFSCV(candidates=FEW, cv=3, n_repeats=1, random_state=0),
        # A search without models, where it is the predictor that is looked at. It reads what was selected: all columns,
        # because the contract checks whether missing values are refused in the first one.
        PPFSCV(
            GaussianNB(),
            selector=IAMB(),
            candidates=[{"alpha": [0.05, 0.3], "n_features": [1.0]}],
            cv=2,
            random_state=0,
        ),
        PPFSCV(
            LinearRegression(),
            selector=IAMB(),
            candidates=[{"n_features": [1.0]}],
            cv=2,
            n_repeats=1,
            random_state=0,
        ),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def planted():
    """Two columns decide, a third is a noisy copy of the first, seven are noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 10))
    X[:, 2] = X[:, 0] + 0.3 * rng.normal(size=150)
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=150) > 0).astype(int)
    return X, y


def quick(estimator=None, **parameters):
    return PPFSCV(estimator, **{"candidates": FEW, "cv": 3, "n_repeats": 1, "random_state": 0, **parameters})


def test_results_are_those_of_selecting_and_fitting_in_each_fold(planted):
    """The slow and obvious way: one PPFS for each candidate and fold, and the model on its columns."""
    X, y = planted
    folds = list(StratifiedKFold(3).split(X, y))
    model = LogisticRegression()
    fitted = quick(model, selector=PPFS(random_state=5), cv=folds).fit(X, y)
    for i, params in enumerate(fitted.cv_results_["params"]):
        for j, (train, test) in enumerate(folds):
            chosen = PPFS(random_state=5, **params).fit(X[train], y[train]).support_
            score = clone(model).fit(X[train][:, chosen], y[train]).score(X[test][:, chosen], y[test])
            assert fitted.cv_results_[f"split{j}_test_score"][i] == pytest.approx(score)
            assert fitted.cv_results_[f"split{j}_n_features"][i] == chosen.sum()
    means = fitted.cv_results_["mean_test_score"]
    assert means[fitted.best_index_] == means.max() == fitted.best_score_
    whole = PPFS(random_state=5, **fitted.best_params_).fit(X, y)
    np.testing.assert_array_equal(fitted.support_, whole.support_)
    np.testing.assert_array_equal(fitted.selector_.pvalues_, whole.pvalues_)


def test_sizes_take_members_first_and_then_those_that_tell_something_alone(planted):
    X, y = planted
    sizes = [{"n_splits": [12], "alpha": [0.001], "n_features": [3]}]
    fitted = quick(candidates=sizes).fit(X, y)
    members = fitted.selector_.blanket_
    assert fitted.selected_[: len(members)].tolist() == members.tolist()
    assert set(fitted.selected_.tolist()) == {0, 1, 2}
    assert fitted.n_features_ == 3
    everything = quick(candidates=[{**sizes[0], "n_features": [1.0]}]).fit(X, y)
    assert everything.support_.all()
    assert everything.selected_[:3].tolist() == fitted.selected_.tolist()


def test_the_path_tells_what_another_size_would_select(planted):
    X, y = planted
    fitted = quick(candidates={"n_features": [2]}).fit(X, y)
    assert fitted.path_[:2].tolist() == fitted.selected_.tolist()
    assert sorted(fitted.path_) == list(range(X.shape[1]))
    more = quick(candidates={"n_features": [5]}).fit(X, y)
    assert more.selected_.tolist() == fitted.path_[:5].tolist()


def test_the_path_of_groups_holds_their_columns_side_by_side(planted):
    X, y = planted
    groups = {f"pair {i}": [i, i + 1] for i in range(0, X.shape[1], 2)}
    fitted = quick(selector=PPFS(n_splits=6, feature_groups=groups), candidates={"n_features": [2]}).fit(X, y)
    pairs = fitted.path_.reshape(-1, 2).tolist()
    assert sorted(pairs) == list(groups.values())
    assert fitted.path_[:4].tolist() == fitted.selected_.tolist()


def test_a_size_never_drops_what_is_always_kept(planted):
    X, y = planted
    selector = PPFS(n_splits=6, always_keep=[7, 8], condition_on=[9])
    fitted = quick(selector=selector, candidates={"n_features": [1, 1.0]}).fit(X, y)
    assert fitted.cv_results_["mean_n_features"].tolist() == [2, 9]
    assert fitted.support_[[7, 8]].all()
    assert not fitted.support_[9]


def test_settings_with_the_same_test_ask_nothing_twice(planted):
    X, y = planted
    grid = {"alpha": [0.2, 0.05, 0.01], "correction": [None, "bh"], "n_splits": [10]}
    settings = Candidates.of(grid, PPFS()).settings
    table = read_table(X, y, task="auto", owner=None)
    fitted = searched(settings, table, seed=0)
    alone = [clone(one).set_params(random_state=0).fit(X, y) for one in settings]
    for together, single in zip(fitted, alone, strict=True):
        np.testing.assert_array_equal(together.support_, single.support_)
        np.testing.assert_array_equal(together.pvalues_, single.pvalues_)
    assert fitted[0].n_tests_ == alone[0].n_tests_
    assert all(
        together.n_tests_ <= single.n_tests_ - 10
        for together, single in zip(fitted[1:], alone[1:], strict=True)
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("best", 1), ("one-se", 2)],
)
def test_rules(rule, expected):
    # Means .80, .90, .89, .70; the standard error of the best is about .03.
    scores = np.array([[0.80] * 3, [0.84, 0.90, 0.96], [0.89] * 3, [0.70] * 3])
    sizes = np.array([[2.0] * 3, [9.0] * 3, [4.0] * 3, [1.0] * 3])
    assert Scored(scores, sizes).best(rule) == expected


def test_standard_errors_are_those_of_the_mean_from_two_parts_on():
    two = Scored(np.array([[1.0, 3.0], [2.0, 2.0]]), np.ones((2, 2)))
    np.testing.assert_allclose(two.standard_errors, [1.0, 0.0])
    assert Scored(np.array([[1.0]]), np.ones((1, 1))).standard_errors.tolist() == [0.0]


def test_equal_scores_go_to_the_smaller_and_then_to_the_earlier():
    scores = np.full((3, 2), 0.5)
    assert Scored(scores, np.array([[3.0, 3.0], [2.0, 2.0], [2.0, 2.0]])).best("best") == 1


def test_the_answer_does_not_depend_on_the_number_of_jobs_or_on_the_order_of_columns(planted):
    X, y = planted
    grids = [FEW, {"n_splits": [6], "n_features": [2, 5]}]
    one = quick(DecisionTreeClassifier(), candidates=grids).fit(X, y)
    two = quick(DecisionTreeClassifier(), candidates=grids, n_jobs=2).fit(X, y)
    order = np.random.default_rng(0).permutation(10)
    turned = quick(DecisionTreeClassifier(), candidates=grids).fit(X[:, order], y)
    for other in (two, turned):
        np.testing.assert_array_equal(
            one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
        )
    np.testing.assert_array_equal(one.support_[order], turned.support_)


def test_other_searches_and_models_are_candidates_like_others(planted):
    X, y = planted
    grids = [
        {"selector": [IAMB(), FBED(independence="fisher-z")]},
        {"estimator": [None, LogisticRegression()], "n_splits": [6]},
        {"selector": [PPFS(LogisticRegression(), independence="cross-fit-ppi")], "alpha": [0.1]},
    ]
    fitted = quick(LogisticRegression(), candidates=grids).fit(X, y)
    frame = pd.DataFrame(fitted.cv_results_)
    assert len(frame) == 5
    assert frame["mean_test_score"].min() > 0.7
    assert fitted.cv_results_["param_n_splits"].mask.tolist() == [True, True, False, False, True]


def test_text_columns_reach_the_model_and_new_rows_are_read_like_the_old():
    rng = np.random.default_rng(0)
    town = rng.choice(["bath", "cork", "oslo"], size=120)
    size = rng.normal(size=120)
    frame = pd.DataFrame({"town": town, "noise": rng.normal(size=120), "size": size})
    y = np.where((town == "cork") | (size > 1), "yes", "no")
    for model in (LogisticRegression(), DecisionTreeClassifier(), HistGradientBoostingClassifier(max_iter=5)):
        fitted = quick(model).fit(frame, y)
        assert fitted.support_.tolist() == [True, False, True]
        assert fitted.score(frame, y) > 0.85
        alone = fitted.predict(frame.iloc[[0]])
        assert alone == fitted.predict(frame)[0]
        unknown = frame.assign(town="rome")
        assert fitted.predict(unknown).shape == (120,)
    with pytest.raises(InvalidInputError, match="'size' held numbers in fit and holds text now"):
        fitted.predict(frame.assign(size="large"))


@pytest.mark.parametrize("form", [np.asarray, lambda X: pd.DataFrame(X, columns=["time"])])
def test_new_rows_that_cannot_be_compared_with_those_of_fit_are_refused(form):
    time = 2**60 + np.arange(60)[:, np.newaxis]
    fitted = quick(DecisionTreeClassifier(), candidates={"n_splits": [6]}).fit(
        form(time), time[:, 0] > 2**60 + 30
    )
    assert fitted.support_.tolist() == [True]
    with pytest.raises(InvalidInputError, match=r"integers beyond 2\*\*53"):
        fitted.predict(form(time[:5]))


def test_lists_of_truth_values_and_text_are_read_like_arrays_of_objects():
    rows = [[i % 5 > 2, "ab"[i % 2]] for i in range(60)]
    y = [row[0] for row in rows]
    fitted = quick(DecisionTreeClassifier(), candidates={"n_splits": [6]}).fit(rows, y)
    assert fitted.support_.tolist() == [True, False]
    assert fitted.predict(rows).tolist() == y


def test_predictions_are_those_of_the_model_on_the_transformed_columns():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    fitted = quick(model, candidates={"n_splits": [6], "n_features": [4]}).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), fitted.estimator_.predict(fitted.transform(X)))
    np.testing.assert_array_equal(fitted.classes_, [0, 1, 2])
    assert fitted.decision_function(X).shape == (178, 3)
    assert not hasattr(fitted, "predict_proba")
    assert not hasattr(quick(model, refit=False), "predict")


def test_nothing_selected_predicts_a_constant():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3 == 0
    fitted = quick(candidates={"n_splits": [6], "alpha": [1e-6], "significance": ["paired-t"]}).fit(X, y)
    assert not fitted.support_.any()
    assert not fitted.predict(X).any()
    assert fitted.score(X, y) == pytest.approx(2 / 3)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_groups_and_weights_reach_folds_searches_and_scores(planted, routing):
    X, y = planted
    weights = np.ones(150)
    weights[100:] = 0.0
    groups = np.arange(150) // 5
    selector = quick(LogisticRegression()).set_fit_request(sample_weight=True, groups=True)
    pipeline = make_pipeline(selector, GaussianNB().set_fit_request(sample_weight=True))
    weighted = pipeline.fit(X, y, sample_weight=weights, groups=groups)[0]
    alone = quick(LogisticRegression()).fit(X[:100], y[:100], groups=groups[:100])
    np.testing.assert_array_equal(
        weighted.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )
    by_splitter = quick(LogisticRegression(), cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert by_splitter.n_splits_ == 4
    with pytest.raises(InvalidInputError, match=r"cv: .*groups"):
        quick(cv=KFold(4)).fit(X, y, groups=groups)


def test_repeats_divide_the_rows_anew():
    X, y = load_iris(return_X_y=True)
    fitted = quick(n_repeats=2).fit(X, y)
    assert fitted.n_splits_ == 6
    scores = fitted.cv_results_
    assert any(scores[f"split{i}_test_score"][0] != scores[f"split{i + 3}_test_score"][0] for i in range(3))


def test_every_row_may_be_a_part_of_its_own():
    X = np.random.default_rng(0).normal(size=(12, 2))
    search = IAMB(independence="fisher-z")
    parameters = {"candidates": {"alpha": [0.05]}, "scoring": "neg_mean_squared_error"}
    assert quick(LinearRegression(), selector=search, cv=12, **parameters).fit(X, X[:, 0]).n_splits_ == 12


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"candidates": {"n_features": [0]}}, "n_features=0 in candidates must be a number of columns"),
        ({"candidates": {"n_features": [1.5]}}, "n_features=1.5 in candidates"),
        ({"candidates": {"alpha": 0.05}}, "candidates must be a grid"),
        ({"candidates": []}, "candidates is an empty list"),
        ({"candidates": {"selector": [SVC()]}}, r"selector=SVC\(\) is not a search of ppfs"),
        ({"candidates": {"task": ["regression"]}}, "candidates differ in 'task'"),
        ({"cv": 200}, "cv=200 is more than the 150 rows"),
        ({"candidates": {"alpha": [2]}}, "alpha"),
    ],
)
def test_what_cannot_be_done_is_said(planted, parameters, message):
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(*planted)


def test_gaps_that_the_model_cannot_take_are_refused_before_any_work(planted):
    X, y = planted
    X = X.copy()
    X[0, 0] = np.nan
    with pytest.raises(InvalidInputError, match="SVC does not accept missing"):
        quick(SVC()).fit(X, y)
    assert quick().fit(X, y).support_[0]


def test_a_model_that_fails_is_named_with_the_columns(planted):
    class Failing(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None, check_input=True):
            raise RuntimeError("out of luck")

    with pytest.raises(EstimatorFailedError, match=r"Failing.*out of luck"):
        quick(Failing()).fit(*planted)


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        PPFSCV().predict(np.zeros((2, 3)))
    with pytest.raises(NotFittedError):
        _ = PPFSCV().classes_


def test_default_sizes_stay_below_the_number_of_columns(planted):
    X, y = planted[:2]
    search = PPFSCV(GaussianNB(), selector=IAMB(), cv=2, random_state=0).fit(X[:, :3], y)
    assert [params["n_features"] for params in search.cv_results_["params"]] == [None, 1, 2, 0.25, 0.5, 1.0]


def test_one_class_speaks_of_weights_only_where_there_are_some(planted):
    X = planted[0]
    labels = np.ones(len(X))
    with pytest.raises(InvalidInputError, match=r"one class only, 1\.0: there"):
        PPFSCV(GaussianNB()).fit(X, labels)
    labels[0] = 0
    with pytest.raises(
        InvalidInputError, match=r"one class only, 1\.0, in the rows whose sample_weight is not 0"
    ):
        PPFSCV(GaussianNB()).fit(X, labels, sample_weight=labels)


def test_a_model_that_predicts_only_from_its_fit_on_is_scored(planted):
    X, y = planted[:2]
    stack = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=1)), ("bayes", GaussianNB())], cv=2)
    search = PPFSCV(stack, selector=IAMB(), candidates=[{}], cv=2, random_state=0)
    assert hasattr(search, "predict")
    assert hasattr(search, "score")
    assert search.fit(X, y).score(X, y) > 0.5


def test_the_default_sizes_grow_by_about_two_fifths():
    assert _default_candidates(12) == [{"n_features": [None, 1, 2, 3, 4, 6, 8, 11, 0.25, 0.5, 1.0]}]


def test_too_few_groups_for_the_folds_are_told_by_the_parameter_that_sets_them(planted):
    X, y = planted
    with pytest.raises(InvalidInputError, match="cv=4 needs at least 4 groups"):
        quick(cv=4).fit(X, y, groups=np.arange(len(y)) % 3)


@pytest.mark.parametrize(("size", "words"), [(1, "best with 1 column, "), (2, "best with 2 columns, ")])
def test_the_number_of_columns_agrees_with_its_noun(planted, size, words):
    fitted = quick(GaussianNB(), selector=IAMB(), candidates={"n_features": [size]}).fit(*planted)
    assert any(words in reason for reason in fitted.trace_.outcome.reasons.values())


def test_columns_that_act_only_together_are_found_by_default():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    y = (X[:, 2] * X[:, 7] > 0).astype(int)
    fitted = PPFSCV(HistGradientBoostingClassifier(max_iter=20), cv=3, random_state=0).fit(X, y)
    assert set(fitted.blanket_) == {2, 7}
    assert fitted.best_params_["selector"].growth == "auto"


def test_joint_growth_is_a_candidate_in_small_tables_of_one_target_only(planted):
    X, y = planted[:2]
    by_default = PPFSCV(cv=2, random_state=0).fit(X, y).cv_results_["params"]
    assert any("selector" in params for params in by_default)
    for fitted in (
        PPFSCV(cv=2, random_state=0, selector=PPFS(n_splits=5)).fit(X, y),
        PPFSCV(cv=2, random_state=0).fit(X[:90], y[:90]),
        PPFSCV(cv=2, random_state=0).fit(X, y, groups=np.arange(len(X)) // 2),
    ):
        assert not any("selector" in params for params in fitted.cv_results_["params"])


def test_columns_without_a_question_rank_with_those_of_no_effect():
    steps = [(3, 0.2, 1.0), (1, 1.0, 0.3), (0, 1.0, -0.3), (5, 0.2, 2.0), (4, 1e-9, 9.0)]
    trace = [
        SimpleNamespace(feature=x, pvalue=pvalue, effect=effect, fold=0, is_main=True)
        for x, pvalue, effect in steps
    ]
    # Only the first answer about a column counts, and only those of the fold.
    trace.append(SimpleNamespace(feature=0, pvalue=0.0, effect=9.0, fold=0, is_main=True))
    trace.insert(0, SimpleNamespace(feature=2, pvalue=0.0, effect=9.0, fold=1, is_main=True))
    outcome = SimpleNamespace(blanket=(4, 6), filled_up=(5,), always_keep=(6,), condition_on=(7,), fold=0)
    table = SimpleNamespace(n_features=8, order=SimpleNamespace(by_content=lambda x: x))
    path = Path(outcome, trace, table)
    assert path.ranking == [6, 4, 5, 3, 1, 2, 0]
    assert [path.features(size) for size in (None, 0, 3)] == [[4, 6, 5], [6], [6, 4, 5]]


@pytest.mark.parametrize("where", ["selector", "candidates"])
def test_a_selector_with_a_checkpoint_is_refused_before_its_folder_is_made(tmp_path, where):
    one = PPFS(checkpoint=tmp_path / "run", n_splits=6)
    search = PPFSCV(selector=one) if where == "selector" else PPFSCV(candidates={"selector": [one]})
    with pytest.raises(InvalidInputError, match=r"checkpoint=.*run.*PPFSCV searches .*Leave checkpoint out"):
        search.fit(*load_iris(return_X_y=True))
    assert not (tmp_path / "run").exists()
