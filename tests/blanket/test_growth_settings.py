"""Joint growth and the second look in every setting: checkpoints, counts, files, weights, groups, odd tables."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from reference.beside_screen import most_promising
from scipy.stats import chi2
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from ppfs import PPFS
from ppfs._conventions import watched_phases
from ppfs._data.reading import read_table
from ppfs.blanket._steps import beside_screen, joint_growth, second_look
from ppfs.blanket._steps.alike import clusters_of
from ppfs.blanket._steps.beside_screen import most_promising_beside
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, FisherZ
from ppfs.independence._predictive.residuals.model_products import ModelProducts
from ppfs.models import BoostedLinearRegressor


def suppressor(n_rows=200, n_columns=6, seed=1):
    """x1 is independent of the target on its own, but not given x0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, 0] + 0.5 * rng.normal(size=n_rows)
    X[:, 0] += X[:, 1]
    return X, y


def search(**parameters):
    return PPFS.calibrated(**{"random_state": 3, "growth": "both", "second_look": True, **parameters})


def told(fitted):
    steps = [(step.phase, step.feature, step.given, step.pvalue, step.decision) for step in fitted.trace_]
    models = [step.model_pvalues for step in fitted.trace_]
    return fitted.blanket_.tolist(), fitted.pvalues_.tolist(), steps, repr(models), fitted.trace_.notes


class Killed(BaseException):
    """A stand-in for the end of the process."""


def killed_after(n, monkeypatch):
    """Let the models of all columns answer `n` questions; return what was answered."""
    asked = []

    def counted(self, x, others, original=ModelProducts._asked):
        if len(asked) == n:
            raise Killed
        asked.append(x)
        return original(self, x, others)

    monkeypatch.setattr(ModelProducts, "_asked", counted)
    return asked


@pytest.mark.parametrize("n_folds", [0, 2])
def test_killed_joint_growth_continues_with_the_same_answers(tmp_path, monkeypatch, n_folds):
    X, y = suppressor()
    expected = told(search(n_folds=n_folds).fit(X, y))
    with monkeypatch.context() as patched:
        all_asked = killed_after(1000, patched)
        search(n_folds=n_folds).fit(X, y)
    n_killed = len(all_asked) // 2
    with monkeypatch.context() as patched:
        killed_after(n_killed, patched)
        with pytest.raises(Killed):
            search(n_folds=n_folds, checkpoint=tmp_path / "run").fit(X, y)
    with monkeypatch.context() as patched:
        asked = killed_after(1000, patched)
        assert told(search(n_folds=n_folds, checkpoint=tmp_path / "run").fit(X, y)) == expected
    # Answers are passed on in batches: those of the last batch before the end are asked about again.
    assert len(asked) < len(all_asked)
    finished = search(n_folds=n_folds, checkpoint=tmp_path / "run").fit(X, y)
    assert told(finished) == expected
    assert finished.n_fits_ == finished.n_tests_ == 0


def test_answers_of_all_columns_are_not_taken_for_those_of_the_panel(tmp_path):
    X, y = suppressor()
    expected = told(search(growth="marginal").fit(X, y))
    search(checkpoint=tmp_path / "run").fit(X, y)
    assert told(search(growth="marginal", checkpoint=tmp_path / "run").fit(X, y)) == expected


def test_models_of_all_columns_are_counted():
    X, y = suppressor()
    alone = search(growth="marginal", second_look=False).fit(X, y)
    both = search(growth="both", second_look=False).fit(X, y)
    # Five folds with one model of all columns each, and those of the shrink phase.
    assert both.n_fits_ >= alone.n_fits_ + 5
    assert both.n_tests_ >= alone.n_tests_ + 6
    again = both.fit(X, y)
    assert again.n_fits_ == 0


def test_a_question_is_explained_by_the_model_that_answered_it():
    X, y = suppressor()
    fitted = search(second_look=False).fit(X, y)
    told = fitted.trace_.explain(4)
    assert "joint growth: 'x4' given all others but near copies, by a model of all columns: p = " in told
    joint = search(growth="joint", second_look=False).fit(X, y)
    assert "'x4' was not selected: no evidence that the target depends on it given all others" in (
        joint.trace_.explain(4)
    )
    assert dict(zip(joint.results_["column"], joint.results_["reason"], strict=True))["x4"] == (
        "no evidence that it adds to the others"
    )


def test_a_second_look_that_finds_nothing_leaves_the_reason_as_it_was():
    X, y = suppressor()
    alone = search(growth="marginal", second_look=False).fit(X, y)
    twice = search(growth="marginal", second_look=True).fit(X, y)
    rejected = np.flatnonzero(~twice.support_)
    np.testing.assert_array_equal(alone.pvalues_[rejected], twice.pvalues_[rejected])
    assert twice.results_["reason"][4] == "no evidence of a link on its own"
    assert "second look: 'x4' given" in twice.trace_.explain(4)


@pytest.mark.parametrize("growth", ["joint", "both"])
def test_a_table_too_wide_for_joint_growth_is_an_error_and_auto_the_way_out(monkeypatch, growth):
    monkeypatch.setattr(joint_growth, "_FEW_COLUMNS", 3)
    monkeypatch.setattr(joint_growth, "MOST_SCREENED", 10)
    X = np.random.default_rng(0).normal(size=(30, 12))
    with pytest.raises(InvalidInputError, match=r"12 columns and 30 rows.*growth='auto'"):
        PPFS.calibrated(LinearRegression(), growth=growth, random_state=0).fit(X, X[:, 0])
    fitted = PPFS.calibrated(LinearRegression(), growth="auto", random_state=0).fit(X, X[:, 0])
    assert fitted.blanket_.tolist() == [0]
    assert not {step.phase for step in fitted.trace_} & {"joint growth", "joint growth of promising pairs"}


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=30),
        RandomForestRegressor(20, bootstrap=True),
        ExtraTreesRegressor(20, bootstrap=True),
        DecisionTreeRegressor(max_depth=5),
        Ridge(),
        BoostedLinearRegressor(),
        KNeighborsRegressor(7),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_model_finds_a_suppressor_among_all_columns(model):
    X, y = suppressor(n_rows=400)
    fitted = search(estimator=model, growth="joint", second_look=False).fit(X, y)
    entered = {
        step.feature for step in fitted.trace_ if (step.phase, step.decision) == ("joint growth", "candidate")
    }
    assert {0, 1} <= entered
    assert "given all others but near copies, by a model of all columns" in fitted.trace_.explain(1)
    is_known = not isinstance(model, KNeighborsRegressor)
    assert is_known == any("by the engine" in note for note in fitted.trace_.notes)


def test_automatic_growth_is_both_in_a_small_table():
    X, y = suppressor()
    assert told(search(growth="auto").fit(X, y)) == told(search(growth="both").fit(X, y))


def test_joint_growth_on_a_file_needs_room_for_all_columns(tmp_path):
    X, y = suppressor()
    np.save(tmp_path / "X.npy", X)
    in_memory = search(growth="joint").fit(X, y)
    assert told(search(growth="joint").fit(tmp_path / "X.npy", y))[:3] == told(in_memory)[:3]
    room = 8 * len(X) * 4
    with pytest.raises(
        InvalidInputError, match="X is a path, and memory_limit has room for 4 of its 6 columns"
    ):
        search(growth="joint", memory_limit=room).fit(tmp_path / "X.npy", y)
    fitted = search(growth="auto", memory_limit=room).fit(tmp_path / "X.npy", y)
    assert (
        fitted.blanket_.tolist()
        == search(growth="marginal", memory_limit=room).fit(tmp_path / "X.npy", y).blanket_.tolist()
    )


def test_what_only_a_model_of_all_columns_sees_survives_a_second_look(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = (X[:, 0] * X[:, 1] * X[:, 2] > 0).astype(int)
    # A useless column enters in the second look, so that the shrink phase runs again.
    entrants = [[], [7]]
    monkeypatch.setattr(second_look, "_entrants", lambda *_: entrants.pop())
    fitted = PPFS.calibrated(growth="joint", second_look=True, random_state=0).fit(X, y)
    assert [7] not in entrants
    assert set(fitted.blanket_) >= {0, 1, 2}


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_far_values_are_scaled_before_they_are_compared(unit):
    X, y = suppressor(n_columns=12)
    X[:, 11] = X[:, 10] + 0.1 * X[:, 11]
    plain, far = (read_table(some, y, task="regression", owner=FisherZ()) for some in (X, X * unit))
    assert clusters_of(plain, range(12)) == clusters_of(far, range(12))
    assert (10, 11) in clusters_of(far, range(12))
    chosen = [most_promising_beside(table, table.target, [0], range(1, 12), 3) for table in (plain, far)]
    assert chosen[0] == chosen[1]
    assert chosen[0][0] == 1


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("members", [[0], [0, 3, 5]])
def test_the_most_promising_columns_are_those_of_one_regression_each(monkeypatch, n_jobs, members):
    monkeypatch.setattr("ppfs.blanket._steps.column_values._ENTRIES_AT_ONCE", 1000)
    X, y = suppressor(n_columns=40)
    y = y + 0.3 * X[:, 5] * X[:, 20] + 0.2 * X[:, 30] ** 2
    table = read_table(X, y, task="regression", owner=FisherZ())
    rest = [column for column in range(40) if column not in members]
    chosen = most_promising_beside(table, table.target, members, rest, 12, n_jobs)
    assert chosen == most_promising(X, y, members, 12)


def test_a_second_look_keeps_to_the_memory_limit(tmp_path, monkeypatch):
    X, y = suppressor(n_columns=30)
    np.save(tmp_path / "X.npy", X)
    limit = 8 * len(X) * 6
    fitted = search(growth="marginal", memory_limit=limit).fit(tmp_path / "X.npy", y)
    assert set(fitted.blanket_) >= {0, 1}
    assert any("second look: 5 of " in note for note in fitted.trace_.notes)


def test_fewer_columns_of_a_tall_table_are_looked_at_again(monkeypatch):
    X, y = suppressor(n_columns=40)
    monkeypatch.setattr(second_look, "MOST_VALUES", 12 * len(X))
    fitted = search(growth="marginal").fit(X, y)
    assert any("second look: 12 of " in note for note in fitted.trace_.notes)


def test_sparse_tables_and_targets_of_several_columns():
    X, y = suppressor()
    sparse = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    with pytest.raises(InvalidInputError, match="X is sparse"):
        search(growth="both").fit(sparse, y)
    search(growth="auto", second_look=True).fit(sparse, y)
    model = LogisticRegression()
    fitted = PPFS.calibrated(model, growth="joint", random_state=0).fit(sparse, (y > 0).astype(int))
    assert {step.phase for step in fitted.trace_} >= {"joint growth"}
    several = np.column_stack([y, -y])
    with pytest.raises(InvalidInputError, match="the target has 2 columns"):
        search(growth="both").fit(X, several)
    assert 0 in search(growth="auto").fit(X, several).blanket_


def test_rows_of_weight_zero_play_no_part_in_joint_growth():
    X, y = suppressor(n_rows=240)
    weights = np.ones(240)
    weights[200:] = 0.0
    X[200:] = 7.0
    weighted = search(growth="both").fit(X, y, sample_weight=weights)
    assert set(weighted.blanket_) == {0, 1}


def test_joint_growth_takes_groups_of_columns_and_groups_of_rows():
    X, y = suppressor()
    grouped = search(feature_groups={"pair": [1, 2]}).fit(X, y)
    assert set(grouped.blanket_) == {0, 1, 2}
    rows = search().fit(X, y, groups=np.arange(200) // 2)
    assert set(rows.blanket_) == {0, 1}


def test_columns_that_are_kept_or_conditioned_on_are_in_every_model():
    X, y = suppressor()
    kept = search(always_keep=[5], condition_on=[0]).fit(X, y)
    assert set(kept.blanket_) >= {1, 5}
    assert 0 not in kept.blanket_
    asked = {step.feature for step in kept.trace_ if step.phase == "joint growth"}
    assert asked == {1, 2, 3, 4}


def test_missing_values_and_categories_in_joint_growth():
    pd = pytest.importorskip("pandas")
    X, y = suppressor(n_rows=300)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[::7, "c"] = np.nan
    frame["word"] = np.where(np.arange(300) % 3 == 0, "yes", "no")
    fitted = PPFS.calibrated(random_state=3, growth="both", second_look=True, impute="median").fit(frame, y)
    assert set(fitted.get_feature_names_out()) >= {"a", "b"}


def test_columns_of_a_cluster_are_judged_in_the_order_of_their_own_links():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 0] + rng.normal(size=300)
    X[:, 1:4] = X[:, [0]] + np.array([0.2, 0.25, 0.3]) * X[:, 1:4]
    fitted = search(growth="both", second_look=False, estimator=LinearRegression()).fit(X, y)
    assert any("'x0 and 3 more'" in note for note in fitted.trace_.notes)
    own = {
        step.feature: (-step.pvalue, step.effect)
        for step in fitted.trace_
        if step.phase in ("growth", "exact growth")
    }
    asked = list(dict.fromkeys(step.feature for step in fitted.trace_ if step.phase == "shrink"))
    among = [x for x in asked if x < 4]
    assert among == sorted(among, key=own.__getitem__)
    assert among != sorted(among)


def test_a_file_that_fits_into_memory_as_a_whole_is_no_obstacle():
    features = SimpleNamespace(overlap=False)
    for n_more, is_obstacle in ((4, True), (5, False), (None, False)):
        table = SimpleNamespace(
            storage=SimpleNamespace(n_more=n_more),
            features=features,
            is_sparse=False,
            codes=np.zeros(100),
            n_rows=100,
        )
        assert bool(joint_growth._obstacle(table, 5, PPI())) == is_obstacle


def test_scores_beside_members_are_partial_correlations():
    rng = np.random.default_rng(0)
    columns, members, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 2)), rng.normal(size=80)
    columns[:, 0] += members[:, 0]
    basis = np.linalg.qr(np.column_stack([np.ones(80), members]))[0]
    residual = y - basis @ (basis.T @ y)
    residual /= np.sqrt((residual**2).sum())
    found = beside_screen._scores(columns, residual[:, np.newaxis], basis, np.empty((80, 0)))
    for column, score in zip(columns.T, found, strict=True):
        unit = (column - column.mean()) / column.std()
        shares = []
        for view in (unit, unit**2):
            left = view - basis @ (basis.T @ view)
            # The mean of a square is in the basis: the residual is free of it.
            shares.append((residual @ left) ** 2 / (left @ left))
        assert score == pytest.approx(-chi2.logsf(80 * max(shares), 1), rel=1e-9)


def test_how_many_rejected_columns_are_tested_again():
    assert [second_look.most_looked_at(n) for n in (50, 100_000, 500_000, 10**8)] == [100, 100, 20, 10]


def test_the_bar_of_exact_growth_counts_the_candidates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    with watched_phases() as phases:
        search(growth="marginal").fit(X, X[:, 0] + X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=80))
    (exact,) = [phase for phase in phases if phase.label == "exact growth"]
    assert exact.total == 3
