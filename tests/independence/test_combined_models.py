"""The combined answer of several models, and what the parameters of a predictive test imply."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ppfs._data import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._answers import Answers
from ppfs.independence._predictive.combined_models import PanelMembers
from ppfs.independence._predictive.conditional_draws import ConditionalKnockoff
from ppfs.independence._predictive.draws import PermutationKnockoff


def answers(pvalues, effects, *, is_reliable=True, is_inert=False, may_be_too_small=False):
    made = Answers.independent(len(pvalues))
    made.pvalues[:], made.effects[:], made.statistics[:] = pvalues, effects, 7.0
    made.is_reliable[:], made.is_inert[:], made.may_be_too_small[:] = is_reliable, is_inert, may_be_too_small
    made.explained[:] = made.root_effects[:] = np.reshape([pvalues, effects], (2, -1)).T
    return made


FIRST = ([0.2, 0.1, 0.3], [1.0, 5.0, 2.0])
SECOND = ([0.01, 0.1, 0.9], [2.0, 6.0, 9.0])


def test_models_have_one_p_value_and_the_effect_of_the_clearest():
    members = PanelMembers((2, 0), (3.0, 1.0), 4)
    first, second = answers(*FIRST), answers(*SECOND)
    joined = members.joined([first, second])
    weights = np.array([0.75, 0.25])
    cauchy = weights @ (1.0 / np.tan(np.pi * np.array([FIRST[0], SECOND[0]])))
    np.testing.assert_allclose(joined.statistics, cauchy, rtol=1e-12)
    lowest = np.minimum(FIRST[0], SECOND[0])
    np.testing.assert_allclose(joined.pvalues, np.maximum(stats.cauchy.sf(cauchy), lowest), rtol=1e-9)
    # Of equal p-values, that of the largest effect.
    assert joined.effects.tolist() == [2.0, 6.0, 2.0]
    np.testing.assert_array_equal(joined.model_pvalues[:, [2, 0]], np.transpose([FIRST[0], SECOND[0]]))
    assert np.isnan(joined.model_pvalues[:, [1, 3]]).all()
    np.testing.assert_array_equal(joined.explained, first.explained)
    np.testing.assert_array_equal(joined.root_effects, first.root_effects)


def test_models_are_reliable_and_inert_together_and_one_is_enough_for_doubt():
    members = PanelMembers((0, 1), (1.0, 1.0), 2)
    for mine in (False, True):
        for other in (False, True):
            joined = members.joined(
                [
                    answers(*FIRST, is_reliable=mine, is_inert=mine, may_be_too_small=mine),
                    answers(*SECOND, is_reliable=other, is_inert=other, may_be_too_small=other),
                ]
            )
            assert joined.is_reliable.tolist() == joined.is_inert.tolist() == [mine and other] * 3
            assert joined.may_be_too_small.tolist() == [mine or other] * 3


def test_one_model_without_a_panel_answers_as_it_is():
    one = answers(*FIRST)
    assert PanelMembers((0,), (1.0,), 0).joined([one]) is one


def test_members_keep_their_weights():
    class Weighty:
        weight = 2.5

    members = PanelMembers.of([Ridge(), Weighty(), Ridge()], [1, 2], 3)
    assert members == PanelMembers((1, 2), (2.5, 1.0), 3)
    assert members.some([1]) == PanelMembers((2,), (1.0,), 3)


def test_what_a_test_is_by_default():
    paper, folds = PPI(), CrossFitPPI()
    assert (paper.is_by_row, folds.is_by_row) == (False, True)
    assert (paper.loss_of_probabilities, folds.loss_of_probabilities) == ("log-loss", "brier")
    assert (paper.stop_after, folds.stop_after, CrossFitPPI(early_stop=True).stop_after) == (0, 0, 10)
    assert (paper.exact_tail, folds.exact_tail) == (False, "auto")
    assert (paper.uses_products, paper.counts_draws, folds.counts_draws) == (False, False, False)
    assert CrossFitPPI(significance="randomisation").counts_draws
    assert (paper.reads_response, folds.reads_response) == (True, True)
    assert [PPI(estimator).is_of_package for estimator in (None, "panel", Ridge())] == [True, True, False]
    assert [folds.ranks(n) for n in (5, 40)] == [False, False]
    assert [paper.ranks(n) for n in (13, 14)] == [False, True]
    assert not PPI(significance="paired-t").ranks(40)
    assert folds.smallest_pvalue(5) == 0.0
    assert CrossFitPPI(significance="randomisation", n_draws=39).smallest_pvalue(5) == 1.0 / 40.0
    assert paper.smallest_pvalue(6) == 2.0**-6


@pytest.mark.parametrize(
    ("parameters", "uses"),
    [
        ({}, True),
        ({"significance": "randomisation"}, False),
        ({"knockoff": "permutation"}, False),
        ({"conditional": Ridge()}, False),
    ],
)
def test_products_take_the_place_of_draws_by_default(parameters, uses):
    assert CrossFitPPI(**parameters).uses_products == uses


def test_knockoffs_follow_the_parameters():
    assert type(PPI().make_knockoff(9)) is PermutationKnockoff
    model = Ridge()
    made = CrossFitPPI(conditional=model, impute="median").make_knockoff(9)
    assert type(made) is ConditionalKnockoff
    assert (made.model, made.n_test, made.impute) == (model, 9, "median")


@pytest.mark.parametrize(
    ("test", "task"),
    [
        (PPI(), "auto"),
        (PPI(Ridge()), "regression"),
        (PPI(LogisticRegression()), "classification"),
        (PPI(Ridge(), task="count"), "count"),
        (PPI([Ridge(), LinearRegression()]), "regression"),
        (CrossFitPPI("panel"), "auto"),
    ],
)
def test_the_task_follows_from_the_model(test, task):
    assert (test.declared_task() or "auto") == task


def table(n_rows=20, **said):
    rng = np.random.default_rng(0)
    return read_table(
        rng.normal(size=(n_rows, 2)), np.arange(n_rows) % 2, task="classification", owner=None, **said
    )


@pytest.mark.parametrize(
    ("test", "n_rows", "said", "message"),
    [
        (CrossFitPPI(n_folds=5), 9, {}, r"CrossFitPPI\(n_folds=5\) needs at least 10 rows.*there are 9\."),
        (
            CrossFitPPI(significance="randomisation", n_draws=18),
            20,
            {},
            r"n_draws=18 is too few.*0\.0526: at least 19",
        ),
        (
            CrossFitPPI(significance="randomisation", n_draws=19),
            20,
            {"groups": np.arange(20) // 2},
            r"needs independent rows",
        ),
        (
            CrossFitPPI(early_stop=True),
            20,
            {},
            r"early_stop=True needs significance='randomisation', but it is 'paired-t'",
        ),
        (
            PPI(n_splits=4),
            20,
            {},
            r"n_splits=4 is too few for significance='wilcoxon'.*0\.0625: at least 5.*paired-t",
        ),
        (PPI(n_splits=4, conditional=Ridge()), 20, {}, r"too few"),
        (PPI(conditional=Ridge()), 20, {}, r"conditional=Ridge would not be used"),
        (
            PPI(conditional=StandardScaler(), knockoff="conditional"),
            20,
            {},
            r"neither a regressor nor a classifier",
        ),
        (PPI(conditional=SVC(), knockoff="conditional"), 20, {}, r"conditional=SVC has no predict_proba"),
        (PPI(stratify=True), 20, {"groups": np.arange(20) // 2}, r"stratify=True is impossible with groups"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(test, n_rows, said, message):
    with pytest.raises(InvalidInputError, match=message):
        test.bind(table(n_rows, **said))


@pytest.mark.parametrize(
    "test",
    [
        CrossFitPPI(LogisticRegression(), n_folds=5, n_draws=2),
        CrossFitPPI(
            LogisticRegression(), significance="randomisation", n_draws=19, early_stop=True, n_folds=2
        ),
        PPI(LogisticRegression(), n_splits=5),
        PPI(LogisticRegression(), n_splits=2, significance="paired-t"),
    ],
)
def test_the_least_that_is_enough_is_taken(test):
    n_rows = 10 if isinstance(test, CrossFitPPI) else 20
    test.bind(table(n_rows))


def test_a_class_is_no_estimator():
    for name in ("estimator", "marginal_estimator", "conditional"):
        with pytest.raises(
            InvalidInputError, match=r"^Ridge is a class, but an estimator must be an instance"
        ):
            CrossFitPPI(**{name: Ridge}).declared_task()
