"""CrossFitPPI: agreement with its plain-loop twin, both p-values, bad input."""

from types import SimpleNamespace

import numpy as np
import pytest
from reference import cross_fit as twin
from reference import drawing
from reference.twin_tree import TwinTreeClassifier, TwinTreeRegressor
from scipy.stats import chi2
from scipy.stats import t as student
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError, StratificationWarning
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.drawing import over_draws
from ppfs.independence._predictive.significance import effective_freedom, seen_by_each_other
from ppfs.independence._predictive.significance.t_tests import t_tail

N_ROWS = 60


def problem(task, seed):
    """Four columns, the second whole-numbered, correlated with the others; y depends on the first two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 4))
    X[:, 1] = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    X[:, 2] += X[:, 0]
    score = X[:, 0] + X[:, 1] + rng.normal(size=N_ROWS)
    return X, (score > 1).astype(int) if task == "classification" else score


# Growth with the logistic model is computed to the optimum, so the twin's has to get there too.
MODELS = {
    "classification": [
        LogisticRegression(solver="newton-cholesky", tol=1e-10),
        KNeighborsClassifier(),
        DecisionTreeClassifier(max_features=1.0),
    ],
    "regression": [LinearRegression(), KNeighborsRegressor(), DecisionTreeRegressor(max_features=1.0)],
}
QUESTIONS = [(0, []), (0, [1]), (1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (1, [0, 2, 3])]


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_agrees_with_plain_loops(task, which, question):
    x, given = question
    X, y = problem(task, seed=which)
    model = MODELS[task][which]
    splits = drawing.folds(
        N_ROWS, y if task == "classification" else None, n_folds=4, entropy=7, fold=0, n_draws=19
    )
    rises = twin.differences(X, y, x, given, model=model, splits=splits, is_categorical=x == 1)
    test = CrossFitPPI(model, n_folds=4, n_draws=19, random_state=7)
    counted = test.set_params(significance="randomisation").evaluate(X, y, x, given)
    assert counted.pvalue == pytest.approx(twin.randomisation_test(rises))
    assert counted.effect == pytest.approx(np.mean(np.concatenate(rises)), rel=1e-6, abs=1e-8)
    if not given:
        # Given other columns, products of residuals are tested: see test_model_products.py.
        ours = test.set_params(significance="paired-t").evaluate(X, y, x, given)
        expected = twin.row_test(rises, 1.0 if which == 0 else 2.0)
        assert ours.pvalue == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_draws", [1, 3])
def test_corrected_t_with_conditional_draws_agrees_with_plain_loops(task, n_draws):
    X, y = problem(task, seed=5)
    labels = y if task == "classification" else None
    model = MODELS[task][0]
    splits = drawing.splits(N_ROWS, labels, n_splits=8, test_size=0.25, entropy=3, fold=0, n_draws=n_draws)
    for x, given in QUESTIONS[1:4]:
        rises = twin.differences(
            X, y, x, given, model=model, splits=splits, is_categorical=x == 1, loss="log-loss"
        )
        test = PPI(
            model,
            n_splits=8,
            test_size=0.25,
            knockoff="conditional",
            significance="corrected-t",
            n_draws=n_draws,
            random_state=3,
        )
        assert test.evaluate(X, y, x, given).pvalue == pytest.approx(
            twin.corrected_t_test(rises, splits), rel=1e-6
        )


def engine_and_other(task, significance, other, seed):
    """The same shallow tree grown by the engine and by another, on the same table."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, 3))
    X[:, 1] += X[:, 0]
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=70)
    y = (y > 1).astype(int) if task == "classification" else y
    known = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    parameters = {"n_folds": 3, "n_draws": 25, "significance": significance, "random_state": seed}
    engine = CrossFitPPI(known(max_depth=3, min_samples_leaf=5), **parameters)
    generic = CrossFitPPI(other, **parameters)
    table = read_table(X, y, task=task, owner=engine)
    fast, slow = engine.bind(table), generic.bind(table)
    assert "engine" in fast.notes()[0]
    assert "scikit-learn" in slow.notes()[0]
    return fast, slow


def assert_same_answers(fast, slow, given):
    for one, other in zip(
        fast.query_many(range(3), 3, given), slow.query_many(range(3), 3, given), strict=True
    ):
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-6)
        assert one.effect == pytest.approx(other.effect, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("significance", ["paired-t", "randomisation"])
def test_the_engine_gives_the_answers_of_scikit_learns_trees_of_one_column(task, significance, seed):
    # Of several columns scikit-learn takes one at random where two cut the same rows off, so these are not compared.
    tree = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    # max_features sends a tree to scikit-learn, and means nothing here.
    same = tree(max_depth=3, min_samples_leaf=5, max_features=1.0)
    assert_same_answers(*engine_and_other(task, significance, same, seed), given=())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("significance", ["paired-t", "randomisation"])
def test_the_engine_gives_the_answers_of_the_slow_tree(task, significance, seed):
    """Ties and all: both decide them by the order of the columns."""
    tree = TwinTreeClassifier if task == "classification" else TwinTreeRegressor
    fast, slow = engine_and_other(task, significance, tree(max_depth=3, min_samples_leaf=5), seed)
    for given in [(0,), (0, 1, 2)]:
        assert_same_answers(fast, slow, given)


def test_growth_at_once_with_linear_models_equals_one_by_one():
    X, y = problem("regression", seed=2)
    together = CrossFitPPI(LinearRegression(), random_state=4)
    alone = CrossFitPPI(TransformedTargetRegressor(LinearRegression()), random_state=4)
    table = read_table(X, y, task="regression", owner=together)
    at_once, one_by_one = together.bind(table), alone.bind(table)
    assert "by the engine" in at_once.notes()[0]
    for one, other in zip(at_once.query_many(range(4), 4), one_by_one.query_many(range(4), 4), strict=True):
        # Not the p-values: of a model around a linear one it is not known how many coefficients it takes.
        assert one.effect == pytest.approx(other.effect, rel=1e-6)


def test_early_stop_saves_draws_and_keeps_the_decision():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + rng.normal(size=100)
    test = CrossFitPPI(LinearRegression(), significance="randomisation", n_draws=199, random_state=0)
    whole = [test.evaluate(X, y, x) for x in range(3)]
    early = [test.set_params(early_stop=True).evaluate(X, y, x) for x in range(3)]
    assert early[0].pvalue == whole[0].pvalue == 1 / 200
    for one, other in zip(early[1:], whole[1:], strict=True):
        assert 10 / one.pvalue == pytest.approx(round(10 / one.pvalue))
        assert one.pvalue > 0.05
        assert other.pvalue > 0.05


def test_early_stop_does_not_predict_what_it_does_not_need():
    X, y = problem("classification", seed=0)
    calls = []

    class Counting(LogisticRegression):
        def predict_proba(self, X):
            calls.append(len(X))
            return super().predict_proba(X)

    y = np.random.default_rng(1).permutation(y)
    parameters = {"significance": "randomisation", "n_draws": 199, "random_state": 0}
    rows = {}
    for early_stop in (False, True):
        calls.clear()
        CrossFitPPI(Counting(), early_stop=early_stop, **parameters).evaluate(X, y, 3, [0, 1])
        rows[early_stop] = sum(calls)
    assert rows[True] < 0.4 * rows[False]


@pytest.mark.parametrize(
    "model",
    [make_pipeline(StandardScaler(), LogisticRegression()), HistGradientBoostingClassifier(max_iter=5)],
)
def test_any_estimator_finds_a_planted_link(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    test = CrossFitPPI(model, random_state=0)
    assert test.evaluate(X, y, 0, [1, 2]).pvalue < 1e-4
    assert test.evaluate(X, y, 1, [0, 2]).pvalue > 0.01


def test_needs_one_model_a_fold():
    X, y = problem("classification", seed=0)
    test = CrossFitPPI(
        KNeighborsClassifier(), n_folds=5, n_draws=19, significance="randomisation", random_state=0
    )
    bound = test.bind(read_table(X, y, task="auto", owner=test))
    bound.query_many([0, 1, 2], 4, (0, 1, 2))
    assert bound.n_fits == 5


def test_answers_do_not_depend_on_jobs_or_batches():
    X, y = problem("regression", seed=1)
    for model in (None, LinearRegression(), KNeighborsRegressor()):
        test = CrossFitPPI(model, random_state=2)
        table = read_table(X, y, task="regression", owner=test)
        together = test.bind(table, n_jobs=2).query_many([0, 1, 2, 3], 4, (0, 2))
        alone = [test.bind(table, n_jobs=1).query(x, 4, {0, 2} - {x}) for x in range(4)]
        assert together == alone


def test_an_answer_asked_for_in_the_meantime_stays_with_its_column():
    X, y = problem("regression", seed=1)
    test = CrossFitPPI(LinearRegression(), random_state=2)
    table = read_table(X, y, task="regression", owner=test)
    expected = test.bind(table).query_many([0, 1, 2], 4, (3,))
    bound = test.bind(table)
    waiting = bound.answers([0, 1, 2], 4, (3,))
    found = [next(waiting), bound.query(1, 4, (3,)), *waiting]
    assert found == [*expected[:2], *expected[1:]]
    assert bound.query_many([2, 1, 0], 4, (3,)) == expected[::-1]


def test_models_of_the_last_few_targets_are_kept():
    X = np.random.default_rng(0).normal(size=(60, 12))
    test = CrossFitPPI(LinearRegression(), random_state=2)
    table = read_table(X, X[:, 0], task="regression", owner=test)
    bound = test.bind(table)
    for target in (12, *range(10)):
        bound.query(10, target, (11,))
    kept = {target for target, _ in bound._risks}
    assert kept == {12, *range(2, 10)}
    before = bound.n_fits
    assert bound.query(11, 9, ()) == test.bind(table).query(11, 9, ())
    assert bound.query(11, 0, (10,)) == test.bind(table).query(11, 0, (10,))
    assert bound.n_fits > before > 0


def test_randomisation_needs_draws():
    X, y = problem("classification", seed=0)
    with pytest.raises(InvalidInputError, match=r"n_draws=10 .* at least 19"):
        CrossFitPPI(significance="randomisation").evaluate(X, y, 0)
    with pytest.raises(InvalidInputError, match="early_stop=True needs significance='randomisation'"):
        CrossFitPPI(early_stop=True).evaluate(X, y, 0)


def test_folds_need_rows():
    X, y = problem("classification", seed=0)
    with pytest.raises(InvalidInputError, match=r"n_folds=40\) needs at least 80 rows"):
        CrossFitPPI(n_folds=40).evaluate(X, y, 0)


def test_a_class_rarer_than_the_folds_is_not_stratified():
    X, y = problem("classification", seed=0)
    y[:3] = 2
    with pytest.warns(StratificationWarning, match="n_folds=5"):
        CrossFitPPI(random_state=0).evaluate(X, y, 0)
    with pytest.raises(InvalidInputError, match="use fewer folds"):
        CrossFitPPI(stratify=True).evaluate(X, y, 0)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_the_law_of_the_statistic_follows_the_coefficients_spent_on_a_feature(n_columns):
    """A linear model of a group has one coefficient per column; in plain loops."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(N_ROWS, n_columns))
    y = 0.4 * X[:, 0] + rng.normal(size=N_ROWS)
    groups = {"all": list(range(n_columns))} if n_columns > 1 else None
    fitted = PPFS(independence=CrossFitPPI(LinearRegression()), feature_groups=groups, random_state=9)
    step = fitted.fit(X, y).trace_[0]
    rises = []
    for split in drawing.folds(N_ROWS, None, n_folds=5, entropy=9, fold=0, n_draws=10):
        model = LinearRegression().fit(X[split.train], y[split.train])
        base = (y[split.test] - model.predict(X[split.test])) ** 2
        for_rows = [
            (y[split.test] - model.predict(X[split.test[shuffle]])) ** 2 - base
            for shuffle in split.permutations
        ]
        rises.append(np.transpose(for_rows))
    # A single column may be counted later, and has the liberal law; a group of columns is not.
    expected = twin.shared_pattern_test(rises, n_columns, is_carried=n_columns > 1)
    assert step.pvalue == pytest.approx(expected, rel=1e-6)


def test_the_level_holds_where_the_statistic_follows_its_law():
    """A chi-squared pattern gives back its own p-value, and the plain t-test is the least there is."""
    pattern = np.array([3.0, 9.0])
    for q in (2.0, 6.0):
        rows = np.tile(np.r_[np.ones(500), -np.ones(500)], (2, 1))
        statistic = (pattern - q) / np.sqrt(pattern)
        rows += (statistic / np.sqrt(1000) * rows.std(axis=1, ddof=1))[:, np.newaxis]
        found = seen_by_each_other(rows, np.full(2, q))[0]
        plain = student.sf(statistic, 999)
        np.testing.assert_allclose(found, np.maximum(chi2.sf(pattern, q), plain), rtol=0.05)
    assert (seen_by_each_other(rows, np.ones(2))[0] == plain_t(rows)).all()


def test_rows_that_carry_the_differences_are_the_degrees_of_freedom():
    """Ten rows of 200 have a rare value, and seven of them speak for it: that is a t-test of ten rows, not of 200."""
    rows = np.zeros((1, 200))
    rows[0, :10] = [1.0] * 7 + [-1.0] * 3
    statistic = rows.mean() / (rows.std(ddof=1) / np.sqrt(200))
    pvalue = seen_by_each_other(rows, np.ones(1), effective_freedom(rows))[0][0]
    assert pvalue == pytest.approx(student.sf(statistic, 10))
    assert pvalue > 1.1 * plain_t(rows)[0]
    np.testing.assert_allclose(effective_freedom(1e200 * rows), 10.0)
    np.testing.assert_array_equal(effective_freedom(np.zeros((1, 200))), 1.0)


def plain_t(rows):
    return t_tail(rows, variance_factor=1 / rows.shape[1])[0]


def besag_and_clifford(rises, n_draws, enough=10):
    """Count draws that are as good, one after the other, until there are enough."""
    totals = sum(split.sum(axis=0) for split in rises)
    n_as_good = 0
    for n_made, total in enumerate(totals, start=1):
        n_as_good += total <= 1e-9
        if n_as_good == enough:
            return enough / n_made
    return (1 + n_as_good) / (1 + n_draws)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("given", [[], [0], [0, 2]], ids=str)
def test_early_stop_counts_new_draws_until_there_are_enough(which, given):
    """The draws of later batches are other ones: more than 20, a batch, are needed here."""
    X, y = problem("regression", seed=which + 20)
    y = y + 0.5 * X[:, 3]
    model, n_draws = MODELS["regression"][which], 99
    splits = drawing.folds(N_ROWS, None, n_folds=4, entropy=5, fold=0, n_draws=n_draws)
    rises = twin.differences(X, y, 3, given, model=model, splits=splits, is_categorical=False)
    test = CrossFitPPI(
        model, n_folds=4, n_draws=n_draws, significance="randomisation", early_stop=True, random_state=5
    )
    assert test.evaluate(X, y, 3, given).pvalue == pytest.approx(besag_and_clifford(rises, n_draws))


def test_an_early_stop_asks_for_each_draw_once_and_averages_those_made():
    asked = []

    def evaluate(first, end):
        asked.extend(range(first, end))
        draws = np.arange(first, end, dtype=float)
        # Draws 15, 30, 45, ... are as good as the risk itself, which is 0.
        return np.where(draws % 15 == 0, -draws - 1.0, draws)[np.newaxis, :, np.newaxis] * np.ones(2)

    problem = SimpleNamespace(stop_after=3, n_draws=99, is_by_row=True, pair_groups=None)
    drawn = over_draws(problem, np.zeros(2), evaluate)
    # The first is draw 0, the third draw 30, in the second batch of 20.
    assert asked == list(range(40))
    assert drawn.replaced.tolist() == [[evaluate(0, 40)[0, :, 0].mean()] * 2]
    assert np.isnan(drawn.by_draw[0]).tolist() == [False] * 40 + [True] * 59
    asked.clear()
    problem.stop_after = 0
    drawn = over_draws(problem, np.zeros(2), evaluate)
    assert asked == list(range(99))
    assert drawn.replaced.tolist() == [[evaluate(0, 99)[0, :, 0].mean()] * 2]
