"""What every search promises, whatever its algorithm."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from checks.searches import every_search, every_search_and_ppfs
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils import get_tags

from ppfs import PPFS
from ppfs.blanket import FBED, IAMB, SGAI, GrowShrink
from ppfs.blanket._run.fill_up import fill_up
from ppfs.datasets import make_blanket_problem
from ppfs.exceptions import CheckpointError, InvalidInputError
from ppfs.independence import PPI, BoundTest, FisherZ, GSquared, IndependenceResult, IndependenceTest
from ppfs.independence._answers import CANNOT_TELL

# Independent of the target until their common effect is known.
SPOUSE = 4


@pytest.fixture(scope="module")
def problem():
    """Eight columns, of which five are the blanket, linear and Gaussian; names that are not numbers."""
    X, y, blanket = make_blanket_problem(800, n_features=8, n_relatives=2, random_state=3)
    return pd.DataFrame(X, columns=[f"c{i}" for i in range(8)]), y, set(blanket.tolist())


def configured(search, **parameters):
    """Make a search that is quick: PPFS with a linear model and few splits."""
    if search is PPFS:
        return PPFS(LinearRegression(), n_splits=8, random_state=0, **parameters)
    return search(**{"alpha": 0.01, **parameters})


def findable(search, blanket):
    """Leave out the spouse for SGAI, which considers marginally dependent columns only."""
    return blanket - {SPOUSE} if search is SGAI else blanket


@every_search
def test_finds_the_planted_blanket(search, problem):
    X, y, blanket = problem
    assert set(configured(search).fit(X, y).blanket_) == findable(search, blanket)


@every_search_and_ppfs
def test_trace_explains_every_selected_column(search, problem):
    X, y, _ = problem
    fitted = configured(search).fit(X, y)
    assert len(fitted.trace_) >= X.shape[1]
    for column in fitted.blanket_:
        assert any(
            step.is_main and step.decision in ("added", "candidate", "kept")
            for step in fitted.trace_.of(column)
        )
    assert (fitted.pvalues_[fitted.support_] <= fitted.alpha).all()
    assert (fitted.importances_[fitted.support_] > 0).all()
    frame = fitted.trace_.to_frame()
    assert len(frame) == len(fitted.trace_)
    assert fitted.trace_.explain("c0")


@every_search_and_ppfs
def test_order_of_the_columns_does_not_matter(search, problem):
    X, y, _ = problem
    straight = configured(search).fit(X, y)
    turned = configured(search).fit(X[X.columns[::-1]], y)
    assert set(straight.get_feature_names_out()) == set(turned.get_feature_names_out())
    np.testing.assert_allclose(straight.pvalues_, turned.pvalues_[::-1], rtol=1e-9)


@every_search
def test_sign_and_scale_of_the_columns_do_not_matter(search, problem):
    X, y, _ = problem
    straight = configured(search).fit(X, y)
    changed = configured(search).fit(X * [-1, 1e-6, 3, 1e6, -0.1, 7, -2, 1] + 5.0, -2.5 * y)
    assert set(straight.blanket_) == set(changed.blanket_)
    np.testing.assert_allclose(straight.pvalues_, changed.pvalues_, rtol=1e-6, atol=1e-300)


@every_search_and_ppfs
def test_always_keep_is_selected_and_never_asked_about(search, problem):
    X, y, blanket = problem
    stranger = next(column for column in range(8) if column not in blanket)
    fitted = configured(search, always_keep=[f"c{stranger}"]).fit(X, y)
    assert stranger in fitted.blanket_
    assert not any(step.is_main for step in fitted.trace_.of(stranger))
    # Nothing is known about it: neither "no evidence" nor "no effect".
    assert np.isnan(
        [fitted.pvalues_[stranger], fitted.importances_[stranger], fitted.scores_[stranger]]
    ).all()
    assert fitted.trace_.explain(stranger).startswith(f"'c{stranger}' was kept by request")
    assert all(
        stranger in step.given for step in fitted.trace_ if step.phase == "shrink" and step.target is None
    )


@every_search_and_ppfs
def test_condition_on_is_in_every_conditioning_set_and_never_selected(search, problem):
    X, y, blanket = problem
    member = min(blanket)
    fitted = configured(search, condition_on=[member]).fit(X, y)
    assert member not in fitted.blanket_
    assert all(member in step.given for step in fitted.trace_)
    assert not fitted.trace_.of(member)
    assert np.isnan(fitted.pvalues_[member])
    assert fitted.trace_.explain(member).startswith(f"'c{member}' was conditioned on by request")


@every_search_and_ppfs
@pytest.mark.parametrize("parameter", ["always_keep", "condition_on"])
def test_a_lone_name_or_number_is_one_column(search, parameter, problem):
    X, y, _ = problem
    listed = configured(search, **{parameter: ["c1"]}).fit(X, y)
    for alone in ("c1", 1, np.int64(1)):
        assert (
            configured(search, **{parameter: alone}).fit(X, y).support_.tolist() == listed.support_.tolist()
        )
    with pytest.raises(ValueError, match=rf"'{parameter}' parameter of {search.__name__}"):
        configured(search, **{parameter: 1.5}).fit(X, y)


@every_search_and_ppfs
def test_the_verdict_agrees_with_the_outcome(search, problem):
    X, y, _ = problem
    fitted = configured(search, n_folds=2).fit(X, y)
    chosen = next(fold.number for fold in fitted.folds_ if fold.is_chosen)
    for column in range(X.shape[1]):
        verdict = fitted.trace_.explain(column).splitlines()[0]
        assert ("was selected" in verdict) == fitted.support_[column]
        assert f"Fold {chosen} of 2 was chosen" in verdict
        step = fitted.trace_.deciding_step(column)
        assert step is None or step.fold == chosen
        assert fitted.pvalues_[column] == (1.0 if step is None else step.pvalue)


@every_search_and_ppfs
@pytest.mark.parametrize("n_folds", [0, 2])
def test_min_features_fills_up_with_what_came_closest(search, n_folds, problem):
    X, y, _ = problem
    nothing = np.random.default_rng(1).permutation(y)
    free = configured(search, n_folds=n_folds).set_params(random_state=0).fit(X, nothing)
    n_found = len(free.blanket_)
    filled = clone(free).set_params(min_features=n_found + 2).fit(X, nothing)
    assert filled.blanket_[:n_found].tolist() == free.blanket_.tolist()
    added = filled.blanket_[n_found:]
    assert len(added) == 2
    assert filled.support_.sum() == n_found + 2
    # The answers are those of the search, which did not select them.
    np.testing.assert_array_equal(filled.pvalues_, free.pvalues_)
    rest = [x for x in range(8) if x not in filled.blanket_]
    assert filled.pvalues_[added].max() <= filled.pvalues_[rest].min()
    for column in added:
        assert "was added to reach min_features" in filled.trace_.explain(column).splitlines()[0]
    assert configured(search, min_features=8).fit(X, y).support_.all()
    with pytest.raises(InvalidInputError, match="min_features=8, but there are only 7 columns"):
        configured(search, min_features=8, condition_on=0).fit(X, y)


@every_search_and_ppfs
def test_special_columns_must_exist_and_must_not_overlap(search, problem):
    X, y, _ = problem
    with pytest.raises(InvalidInputError, match=r"always_keep.*There is no column 'bmi'"):
        configured(search, always_keep=["bmi"]).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"condition_on.*There is no column 8"):
        configured(search, condition_on=[8]).fit(X, y)
    with pytest.raises(InvalidInputError, match="both contain 'c1'"):
        configured(search, always_keep=[1, 2], condition_on=["c1"]).fit(X, y)


@every_search_and_ppfs
def test_fitting_again_with_the_same_data_asks_nothing(search, problem):
    X, y, _ = problem
    fitted = configured(search, random_state=0) if search is not PPFS else configured(search)
    first = fitted.fit(X, y).blanket_
    assert fitted.n_tests_ > 0
    again = fitted.fit(X, y)
    assert again.n_tests_ == 0
    assert again.n_fits_ == 0
    np.testing.assert_array_equal(again.blanket_, first)


@every_search
def test_fitting_again_with_another_alpha_gives_what_a_fresh_search_gives(search, problem):
    X, y, _ = problem
    fitted = configured(search).fit(X, y)
    n_tests = fitted.n_tests_
    fitted.set_params(alpha=0.001).fit(X, y)
    fresh = configured(search, alpha=0.001).fit(X, y)
    np.testing.assert_array_equal(fitted.blanket_, fresh.blanket_)
    assert fitted.n_tests_ < min(n_tests, fresh.n_tests_)


@every_search
def test_other_rows_are_not_answered_from_memory(search, problem):
    X, y, _ = problem
    fitted = configured(search).fit(X, y)
    changed = X.copy()
    changed.iloc[0, 0] += 1e-9
    fitted.fit(changed, y)
    assert fitted.n_tests_ > 0


@every_search_and_ppfs
def test_a_checkpoint_answers_what_was_answered_before(search, problem, tmp_path):
    X, y, _ = problem
    settings = {"checkpoint": tmp_path / "run", "n_folds": 2}
    if search is not PPFS:
        settings["random_state"] = 0
    first = configured(search, **settings).fit(X, y)
    again = configured(search, **settings).fit(X, y)
    assert first.n_tests_ > again.n_tests_ == again.n_fits_ == 0
    assert again.blanket_.tolist() == first.blanket_.tolist()
    np.testing.assert_array_equal(again.pvalues_, first.pvalues_)


def test_a_checkpoint_needs_a_seed_only_where_something_is_drawn(problem, tmp_path):
    X, y, _ = problem
    IAMB(checkpoint=tmp_path / "run").fit(X, y)
    assert IAMB(checkpoint=tmp_path / "run").fit(X, y).n_tests_ == 0
    with pytest.raises(CheckpointError, match="needs an integer as random_state"):
        IAMB(checkpoint=tmp_path / "folds", n_folds=2).fit(X, y)


@every_search
def test_pickle_keeps_the_result_and_not_the_answers(search, problem):
    X, y, _ = problem
    fitted = configured(search).fit(X, y)
    thawed = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(thawed.blanket_, fitted.blanket_)
    assert "_memory" not in vars(thawed)
    assert thawed.fit(X, y).n_tests_ > 0


@every_search
def test_folds_agree_on_the_planted_blanket(search, problem):
    X, y, blanket = problem
    fitted = configured(search, n_folds=3, random_state=0).fit(X, y)
    assert len(fitted.folds_) == 3
    assert len(set(fitted.blanket_) ^ findable(search, blanket)) <= 1


class Clueless(IndependenceTest):
    """A test that never has rows enough."""

    def _bind(self, table, binding):
        return BoundClueless(table, binding)


class BoundClueless(BoundTest):
    def _answers(self, xs, target, given):
        return (CANNOT_TELL for _ in xs)


@every_search_and_ppfs
def test_nothing_is_selected_on_answers_that_cannot_be_given(search, problem):
    X, y, _ = problem
    fitted = search(independence=Clueless()).fit(X, y)
    assert fitted.blanket_.size == 0
    assert (fitted.pvalues_ == 1).all()
    assert "too few rows to tell" in fitted.trace_.explain(0)


class Forgetful(IndependenceTest):
    """Everything depends on the target given fewer than two columns; given more no one can tell."""

    def _bind(self, table, binding):
        return BoundForgetful(table, binding)


class BoundForgetful(BoundTest):
    def _answers(self, xs, target, given):
        strong = IndependenceResult(pvalue=1e-6, statistic=1.0, effect=1.0)
        return (CANNOT_TELL if len(set(given) - {x}) >= 2 else strong for x in xs)


@every_search_and_ppfs
def test_a_member_is_not_dropped_on_an_answer_that_cannot_be_given(search, problem):
    X, y, _ = problem
    fitted = search(independence=Forgetful()).fit(X, y)
    assert fitted.blanket_.size >= 2
    assert not any(step.decision == "dropped" and not step.is_reliable for step in fitted.trace_)
    assert (fitted.pvalues_[fitted.support_] == 1e-6).all()


class Fading(IndependenceTest):
    """Both columns depend on the target; about the first, the stronger one, no one can tell given the second."""

    def _bind(self, table, binding):
        return BoundFading(table, binding)


class BoundFading(BoundTest):
    def _answers(self, xs, target, given):
        for x in xs:
            is_known = x != 0 or not set(given) - {x}
            yield IndependenceResult(1e-6, statistic=2.0 - x, effect=2.0 - x) if is_known else CANNOT_TELL


@every_search_and_ppfs
def test_a_member_stays_when_the_next_one_makes_it_impossible_to_tell(search):
    X = np.random.default_rng(0).normal(size=(40, 2))
    fitted = search(independence=Fading()).fit(X, X[:, 0])
    assert set(fitted.blanket_) == {0, 1}


@every_search
def test_target_of_strings_and_categorical_columns(search):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(600, 5)).astype(float)
    y = np.array(["low", "mid", "high"])[np.where(rng.random(600) < 0.8, X[:, 2], 0).astype(int)]
    fitted = search(alpha=0.01).fit(X, y)
    assert 2 in fitted.blanket_


@every_search
def test_a_copy_of_the_target_is_the_whole_blanket(search):
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    X = np.column_stack([y + rng.normal(size=300), y, rng.normal(size=300)])
    assert search(alpha=0.001).fit(X, y).blanket_.tolist() == [1]


@every_search
def test_constant_columns_are_not_selected(search, problem):
    X, y, blanket = problem
    widened = X.assign(one=1.0)
    assert set(configured(search).fit(widened, y).blanket_) == findable(search, blanket)


@every_search
def test_parameters_of_the_search_survive_cloning(search):
    original = search(independence=FisherZ(), alpha=0.2, always_keep=(0,))
    copied = clone(original)
    assert copied.get_params().keys() == original.get_params().keys()
    assert copied.alpha == 0.2
    assert isinstance(copied.independence, FisherZ)


def test_independence_by_unknown_name_is_refused(problem):
    X, y, _ = problem
    with pytest.raises(ValueError, match="independence"):
        GrowShrink(independence="anova").fit(X, y)


def test_predictive_test_by_name_and_as_instance(problem):
    X, y, blanket = problem
    test = PPI(LinearRegression(), n_splits=8)
    fitted = FBED(independence=test, random_state=0).fit(X, y)
    assert blanket <= set(fitted.blanket_)
    assert fitted.n_fits_ > 0
    # Another seed draws other splits, so nothing is remembered.
    assert fitted.set_params(random_state=1).fit(X, y).n_tests_ > 0
    assert isinstance(FBED(independence="ppi")._independence_test(), PPI)


def test_choice_of_the_test_is_noted_in_the_trace(problem):
    X, y, _ = problem
    fitted = FBED().fit(X, y)
    assert fitted.trace_.notes == [
        "independence test: FisherZ, because all columns and the target are continuous",
        "task: regression, because y holds numbers with a fraction",
    ]
    assert isinstance(fitted.independence_, FisherZ)


def test_gsquared_names_the_continuous_column(problem):
    X, y, _ = problem
    with pytest.raises(
        InvalidInputError, match="GSquared needs categorical columns, but 'c0' has 800 distinct"
    ):
        FBED(independence=GSquared()).fit(X, y)


@every_search_and_ppfs
def test_what_the_constructor_is_given_is_kept(search):
    """Whatever it is: a search hands most parameters on to the classes it is made of."""
    given = {name: object() for name in search().get_params(deep=False)}
    kept = search(**given).get_params(deep=False)
    assert all(kept[name] is value for name, value in given.items())


@every_search_and_ppfs
def test_a_search_needs_a_target_and_takes_sparse_columns(search):
    tags = get_tags(search())
    assert tags.target_tags.required
    assert tags.input_tags.sparse


def test_a_blanket_that_is_large_enough_is_filled_with_nothing_and_hashes_nothing():
    unreadable = SimpleNamespace(n_features=3)
    assert fill_up({1, 2}, 2, table=unreadable, decided_by={}, barred=()) == []
    assert fill_up({0, 1, 2}, 2, table=unreadable, decided_by={}, barred=()) == []
