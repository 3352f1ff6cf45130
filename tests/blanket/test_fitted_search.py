"""What every search has after `fit`: one small table, and each attribute as a whole."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from ppfs import PPFS, RowsInTime
from ppfs._data.reading import read_table
from ppfs.blanket import FBED, IAMB, MMMB, SGAI, TIEStar
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, FisherZ, GSquared, LikelihoodRatio

N = 80


@pytest.fixture(scope="module")
def data():
    """Return two causes of a numeric target, an effect of it, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    y = 2 * X[:, 0] - X[:, 1] + rng.normal(size=N)
    X[:, 2] = y + 1.5 * rng.normal(size=N)
    return pd.DataFrame(X, columns=["a", "b", "effect", "noise", "more"]), y


def test_attributes_of_a_search_in_all_rows(data):
    X, y = data
    fitted = IAMB(alpha=0.01).fit(X, y)
    assert sorted(fitted.get_feature_names_out()) == ["a", "b", "effect"]
    bound = FisherZ().bind(read_table(X, y, task="regression", owner=fitted))
    for x in range(5):
        given = [z for z in (0, 1, 2) if z != x]
        assert fitted.pvalues_[x] == pytest.approx(bound.query(x, 5, given).pvalue)
        assert fitted.importances_[x] == pytest.approx(bound.query(x, 5, given).effect)
    np.testing.assert_array_equal(fitted.scores_, -np.log(fitted.pvalues_))
    assert fitted.blanket_.tolist() == sorted(fitted.blanket_.tolist(), key=lambda x: -fitted.importances_[x])
    assert np.flatnonzero(fitted.support_).tolist() == [0, 1, 2]
    assert (fitted.folds_, fitted.n_fits_, np.isnan(fitted.stability_).all()) == ((), 0, True)
    assert len(fitted.stability_) == 5
    assert fitted.n_tests_ == len({(step.feature, frozenset(step.others)) for step in fitted.trace_})
    assert isinstance(fitted.independence_, FisherZ)
    assert (
        fitted.trace_.notes[0]
        == "independence test: FisherZ, because all columns and the target are continuous"
    )
    assert fitted.trace_.data.n_rows == N
    frame = fitted.results_
    assert frame["column"].tolist() == list(X)
    assert frame["selected"].tolist() == fitted.support_.tolist()
    assert frame["pvalue"].tolist() == fitted.pvalues_.tolist()
    assert frame["importance"].tolist() == fitted.importances_.tolist()
    # The sign of an effect plays no part in these p-values: there is no interval.
    assert frame["importance_low"].isna().all()
    assert frame["at_least"].isna().all()


def test_a_p_value_of_zero_has_an_infinite_score_and_one_of_1_the_score_0():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 3000)
    X = np.column_stack([y, np.zeros(6000), rng.integers(0, 2, 6000)])
    with np.errstate(all="raise"):
        fitted = IAMB(independence="g2").fit(X, y)
    assert fitted.pvalues_[:2].tolist() == [0.0, 1.0]
    assert fitted.scores_[:2].tolist() == [np.inf, 0.0]
    assert not np.signbit(fitted.scores_[1])


def test_folds_have_blankets_of_their_own_and_shares(data):
    X, y = data
    fitted = IAMB(alpha=0.01, n_folds=3, random_state=0, feature_groups={"pair": ["noise", "more"]},
                  independence="likelihood-ratio").fit(X, y)  # fmt: skip
    assert [fold.number for fold in fitted.folds_] == [1, 2, 3]
    counts = np.zeros(5)
    for fold in fitted.folds_:
        counts[list(fold.blanket)] += 1
    np.testing.assert_allclose(fitted.stability_, counts / 3)
    assert fitted.stability_[[0, 2]].tolist() == [1.0, 1.0]
    chosen = next(fold for fold in fitted.folds_ if fold.is_chosen)
    assert chosen.blanket == tuple(fitted.blanket_.tolist())
    assert fitted.n_tests_ == len(
        {(step.fold, step.feature, frozenset(step.others)) for step in fitted.trace_}
    )
    assert set(fitted.trace_.names) == {"a", "b", "effect", "pair"}
    assert fitted.pvalues_[3] == fitted.pvalues_[4]
    assert fitted.results_["column"].tolist() == list(X)


def test_notes_speak_of_time_categories_and_odd_columns(data):
    X, y = data
    odd = X.assign(kind=np.array(["u", "v"])[np.arange(N) % 2], row=np.arange(N))
    fitted = IAMB(independence=LikelihoodRatio()).fit(odd, y)
    assert [warning.column for warning in fitted.warnings_] == ["row"]
    assert fitted.trace_.notes == [
        "task: regression, because y holds numbers with a fraction",
        "kinds of columns: 1 ('kind') are categorical by their type; 6 of 7 are numeric",
        "columns to check: 1 identifier; see warnings_",
    ]
    in_time = PPFS(GaussianNB(), n_splits=5, random_state=0).fit(
        X, y > 0, time=RowsInTime(np.arange(N), block_length=4)
    )
    assert "rows in time: 20 blocks of 4 neighboring rows" in in_time.trace_.notes
    quiet = IAMB(independence=FisherZ()).fit(X, y)
    assert quiet.warnings_ == ()
    assert [note.split(":")[0] for note in quiet.trace_.notes] == ["task"]


def test_roles_are_asked_about_among_the_selected_columns(data):
    X, y = data
    fitted = IAMB(alpha=0.01).fit(X, y)
    before, blanket = len(fitted.trace_), fitted.blanket_.tolist()
    roles = fitted.find_roles(X, y)
    asked = list(fitted.trace_)[before:]
    assert {step.phase for step in asked} == {"roles"}
    assert {step.feature for step in asked} <= {0, 1, 2}
    assert {step.fold for step in asked} == {0}
    assert roles == fitted.roles_
    assert fitted.blanket_.tolist() == blanket
    decided = [role for role in roles if role.role != "undecided"]
    assert decided
    for role in decided:
        assert role.in_a_sentence in fitted.trace_.explain(role.feature)
    fewer = IAMB(alpha=0.01).fit(X, y)
    fewer.find_roles(X, y, max_columns=1)
    assert {step.feature for step in fewer.trace_ if step.phase == "roles"} == set(blanket[:1])
    # Those that the selector holds.
    held = IAMB(alpha=0.01).fit(X, y)
    assert held.find_roles() == roles


def test_columns_to_condition_on_are_in_every_question_about_roles(data):
    X, y = data
    fitted = IAMB(alpha=0.01, condition_on=["a"]).fit(X, y)
    fitted.find_roles(X, y)
    assert all(0 in step.given for step in fitted.trace_ if step.phase != "roles")
    plain = FisherZ().bind(read_table(X, y, task="regression", owner=fitted))
    step = next(step for step in fitted.trace_ if step.phase == "roles" and step.target == 5)
    assert step.pvalue == pytest.approx(plain.query(step.feature, 5, [*step.given, 0]).pvalue)


@pytest.mark.parametrize("attribute", ["stability_", "roles_", "results_"])
def test_what_is_not_fitted_says_so(attribute):
    with pytest.raises(NotFittedError):
        getattr(IAMB(), attribute)
    with pytest.raises(NotFittedError):
        IAMB().find_roles()
    with pytest.raises(NotFittedError):
        PPFS().at_least()


def test_answers_stay_when_alpha_changes_and_are_not_pickled(data):
    X, y = data
    search = IAMB(alpha=0.01, independence=FisherZ()).fit(X, y)
    n_tests = search.n_tests_
    assert search.fit(X, y).n_tests_ == 0
    assert 0 < search.set_params(alpha=0.2).fit(X, y).n_tests_ < n_tests
    copy = pickle.loads(pickle.dumps(search))  # noqa: S301
    assert copy._memory is None
    assert copy.fit(X, y).n_tests_ >= n_tests
    assert copy.blanket_.tolist() == search.blanket_.tolist()


@pytest.mark.parametrize("after", [1, 3])
def test_answers_of_a_search_that_failed_are_kept(data, after, monkeypatch):
    X, y = data
    search = IAMB(alpha=0.01, independence=FisherZ())
    calls = []

    def judge(self, correlations, free, original=FisherZ.judge):
        calls.append(1)
        if len(calls) == after:
            raise RuntimeError("x")
        return original(self, correlations, free)

    with monkeypatch.context() as patch:
        patch.setattr(FisherZ, "judge", judge)
        with pytest.raises(RuntimeError) as raised:
            search.fit(X, y)
    notes = getattr(raised.value, "__notes__", [])
    assert (len(notes) == 1) is (after > 1)
    if notes:
        n = search._memory.n_answers
        assert notes == [
            f"The {n} answers that the search had so far are kept: fit again with the same data and parameters to "
            "continue from them."
        ]
        whole = IAMB(alpha=0.01, independence=FisherZ()).fit(X, y)
        assert search.fit(X, y).n_tests_ == whole.n_tests_ - n


@pytest.mark.parametrize(
    "search", [IAMB(), MMMB(), SGAI(), TIEStar(), FBED(independence="fisher-z")], ids=repr
)
def test_searches_by_classical_tests_need_finite_tables_in_memory(search, tmp_path, data):
    X, y = data
    np.save(tmp_path / "X.npy", X.to_numpy())
    with pytest.raises(InvalidInputError) as raised:
        search.fit(tmp_path / "X.npy", y)
    assert "X is a path, and " in str(raised.value)
    tags = get_tags(search)
    assert (tags.target_tags.required, tags.input_tags.sparse, tags.input_tags.allow_nan) == (
        True,
        True,
        False,
    )


def test_dropping_columns_needs_models():
    X, y = np.eye(6), np.arange(6.0)
    with pytest.raises(InvalidInputError) as raised:
        PPFS(independence="fisher-z", on_error="drop").fit(X, y)
    assert str(raised.value) == (
        "on_error='drop' would have no effect: FisherZ fits no estimator that could fail on a column. Leave it out."
    )


@pytest.mark.parametrize(
    ("search", "allow_nan"),
    [
        (PPFS(), True),
        (PPFS(Ridge(), task="regression"), False),
        (PPFS(GaussianNB()), False),
        (PPFS(HistGradientBoostingClassifier()), True),
        (PPFS(GaussianNB(), impute="mean"), True),
        (PPFS(independence="fisher-z"), False),
        (PPFS(independence=FisherZ()), False),
        (PPFS(independence=CrossFitPPI(Ridge(), task="regression")), False),
        (PPFS(independence=PPI(HistGradientBoostingClassifier())), True),
        (PPFS(independence="cross-fit-ppi"), True),
        (IAMB(independence="ppi"), True),
        (IAMB(independence="cross-fit-ppi"), True),
        (IAMB(independence="g2"), False),
        (IAMB(independence=PPI(LinearRegression(), task="regression")), False),
        (IAMB(independence=PPI(GaussianNB(), impute="mean")), True),
        (IAMB(independence=PPI(HistGradientBoostingClassifier())), True),
    ],
)
def test_missing_values_are_taken_where_the_models_take_them(search, allow_nan):
    assert get_tags(search).input_tags.allow_nan is allow_nan


def test_an_invalid_parameter_of_a_ready_test_is_named(data):
    with pytest.raises(ValueError, match="The 'min_rows_per_cell' parameter of GSquared must be"):
        IAMB(independence=GSquared(min_rows_per_cell=-1)).fit(*data)


@pytest.fixture(scope="module")
def confirmed(data):
    X, y = data
    return PPFS(independence="fisher-z", confirm=0.4, alpha=0.1, second_look=True, random_state=0).fit(X, y)


def test_bounds_follow_from_the_rows_aside(confirmed):
    selected = confirmed.blanket_.tolist()
    n = confirmed.at_least()
    assert 1 <= n <= len(selected)
    assert confirmed.at_least(alpha=0.1) == n
    assert confirmed.at_least(alpha=0.9) >= n >= confirmed.at_least(alpha=1e-9)
    assert confirmed.at_least([]) == 0
    assert confirmed.at_least([3, 4]) == sum(confirmed.at_least([x]) for x in (3, 4) if x in selected)
    curve = confirmed.results_["at_least"]
    assert [not np.isnan(value) for value in curve] == confirmed.support_.tolist()
    assert curve[selected[-1]] == n
    assert "by the rows held out" in confirmed.trace_.explain(selected[0]).lower()
    for alpha in (0, 1, 1.5, -1):
        with pytest.raises(InvalidInputError) as raised:
            confirmed.at_least(alpha=alpha)
        assert str(raised.value) == f"alpha={alpha!r} must be between 0 and 1."


def test_without_rows_aside_there_are_no_bounds(data):
    X, y = data
    fitted = PPFS(independence="fisher-z", random_state=0).fit(X, y)
    assert fitted.confirmed_ is None
    assert fitted.results_["at_least"].isna().all()
    with pytest.raises(InvalidInputError) as raised:
        fitted.at_least()
    assert str(raised.value) == (
        "at_least needs p-values from rows that the search did not use. Fit with confirm=0.3, which holds 30 % of the "
        "rows out."
    )
    with pytest.raises(InvalidInputError) as raised:
        fitted.find_roles(X, y)
    assert str(raised.value) == (
        "find_roles needs columns that matter only beside others, and growth tests each column on its own. Fit with "
        "second_look=True, as PPFS.calibrated does."
    )
