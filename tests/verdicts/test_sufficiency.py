"""Sufficiency: what a selection loses against all columns, and what may be said about it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._data import read_table
from ppfs._fitting import usable_members
from ppfs._trace import as_plain, from_plain
from ppfs._verdicts import Divided, measure_sufficiency
from ppfs._verdicts.intervals import RowMeans, inflation_of_folds
from ppfs._verdicts.measuring import _with_selected
from ppfs._verdicts.rivals import rank_rivals
from ppfs._verdicts.scores import _auc, _means, concordance
from ppfs._verdicts.sufficiency import Compared
from ppfs.blanket import FBED
from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import Stepwise


def linear(n=300, n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)


def measured(X, y, selected, **options):
    table = read_table(X, y, task="regression", owner="test")
    rows = np.arange(len(X))
    folds = [(np.setdiff1d(rows, rows[k::5]), rows[k::5]) for k in range(5)]
    return measure_sufficiency(table, Divided(folds, 5), lambda _: selected, **options)


def test_a_solver_that_stops_early_is_measured_without_a_warning():
    X, y = linear(n=120)
    table = read_table(X, y > 0, task="classification", owner="test")
    rows = np.arange(len(X))
    folds = [(np.setdiff1d(rows, rows[k::2]), rows[k::2]) for k in range(2)]
    early = LogisticRegression(max_iter=1)
    assert measure_sufficiency(table, Divided(folds, 2), lambda _: [0], estimator=early).n_folds == 2


def test_all_true_columns_are_sufficient():
    found = measured(*linear(), [0, 1])
    assert found.verdict == "sufficient"
    assert found.share_lost_high < 0.05
    assert "enough to within 5%" in str(found)


def test_a_missing_column_is_not_sufficient():
    found = measured(*linear(), [0])
    assert found.verdict == "not sufficient"
    # Of the explained variance of 2, the second column has 1.
    assert found.share_lost == pytest.approx(0.5, abs=0.1)
    assert found.lost.low < found.of_selected - found.of_all < found.lost.high
    assert "not enough" in str(found)


def test_noise_has_nothing_to_explain():
    X, _ = linear()
    found = measured(X, np.random.default_rng(1).normal(size=len(X)), [])
    assert found.verdict == "nothing to explain"
    assert "constant" in str(found)
    assert np.isnan(found.share_lost)


def test_few_rows_cannot_tell():
    X, y = linear(n=60)
    assert measured(X, y - 0.7 * X[:, 1], [0]).verdict == "too few rows"


def test_a_missing_column_is_found_among_a_thousand():
    X, y = linear(n=200, n_columns=1000)
    assert measured(X, y, [0]).verdict == "not sufficient"


def test_scores_are_those_of_the_rows_that_were_predicted():
    X, y = linear()
    found = measured(X, y, [0, 1], estimator=LinearRegression(), loss="squared")
    error = 0.0
    for k in range(5):
        train = np.setdiff1d(np.arange(len(X)), np.arange(len(X))[k::5])
        model = LinearRegression().fit(X[train][:, :2], y[train])
        error += ((y[k::5] - model.predict(X[k::5, :2])) ** 2).sum()
    assert found.of_selected == pytest.approx(error / len(X))
    assert found.scores["r2"]["selected"] == pytest.approx(1 - error / ((y - y.mean()) ** 2).sum())
    assert found.models["selected"] == "LinearRegression"


def test_the_best_model_of_a_fold_is_chosen_by_the_others():
    """A model that is best in one fold only is never chosen for that fold."""
    from ppfs._verdicts.measuring import Measured
    from ppfs.independence import choose_loss

    X, y = linear(n=4)
    table = read_table(X, y, task="regression", owner="test")
    one = Measured(table, choose_loss("auto", "regression", Ridge()), 0)
    for number, (a, b) in enumerate([(0.0, 1.0), (1.0, 0.5)]):
        rows = np.array([2 * number, 2 * number + 1])
        losses = {"a": (np.full(2, a), np.zeros(2)), "b": (np.full(2, b), np.zeros(2))}
        one.take(number, rows, dict.fromkeys(("nothing", "selected", "all"), losses))
    one.concluded(Divided([(np.arange(2, 4), np.arange(2)), (np.arange(2), np.arange(2, 4))], 2), 1.0, 0.05)
    assert one.chosen["selected"] == ["b", "a"]


def test_the_model_of_all_columns_is_averaged_where_the_other_folds_gain():
    """All columns add noise in the second half of the rows only: there the mean of both models is not chosen."""
    from ppfs._verdicts.measuring import Measured
    from ppfs.independence import choose_loss

    X, _ = linear(n=40)
    y = np.zeros(40)
    table = read_table(X, y + np.arange(40) * 1e-9, task="regression", owner="test")
    one = Measured(table, choose_loss("auto", "regression", Ridge()), 0)
    folds = [np.arange(20), np.arange(20, 40)]
    for number, rows in enumerate(folds):
        # Opposite errors cancel in the mean in the first fold; in the second the selected columns are far off.
        selected, everything = (
            (np.full(20, 1.0), np.full(20, -1.0)) if number == 0 else (np.full(20, 9.0), np.zeros(20))
        )
        losses = {
            "nothing": {"a": (np.full(20, 100.0), np.full(20, 10.0))},
            "selected": {"a": (selected**2, selected)},
            "all": {"a": (everything**2, everything)},
        }
        one.take(number, rows, losses)
    found = one.concluded(Divided([(folds[1], folds[0]), (folds[0], folds[1])], 2), 1.0, 0.05)
    assert one.is_averaged == [False, True]
    # The first fold as it is (1), the second averaged (4.5 squared).
    assert found.of_all == pytest.approx((1.0 + 4.5**2) / 2)


@pytest.mark.usefixtures("two_repeats")
def test_explanations_have_the_verdict():
    X, y = linear()
    selector = PPFS.calibrated(random_state=0).fit(X, y)
    assert selector.sufficiency_.verdict == "sufficient"
    said = selector.trace_.explain(3).splitlines()[0]
    assert said.endswith(" The selected columns together lose less than 5% of what all columns explain.")
    again = from_plain(as_plain(selector.trace_))
    assert again.explain(3) == selector.trace_.explain(3)


def test_verdicts_follow_from_the_losses():
    rng = np.random.default_rng(0)
    nothing, everything = 2 + 0.1 * rng.normal(size=400), 1 + 0.1 * rng.normal(size=400)

    def verdict(selected):
        return Compared.of(nothing, selected, everything, RowMeans(), 0.05).verdict

    assert verdict(everything + 0.001) == "sufficient"
    assert verdict(everything + 0.2) == "not sufficient"
    assert verdict(everything + 0.05 + 0.5 * rng.normal(size=400)) == "too few rows"
    assert Compared.of(everything, everything, everything, RowMeans(), 0.05).verdict == "nothing to explain"


def test_the_bound_of_the_share_is_fiellers():
    rng = np.random.default_rng(0)
    lost, explained = rng.normal(0.1, 1, 500), rng.normal(2, 1, 500)
    found = Compared.of(explained, lost, np.zeros(500), RowMeans(), 0.05)
    share, rows = found.share_lost_high, RowMeans()
    assert rows.estimate(lost - share * explained, 0.9).high == pytest.approx(0, abs=1e-6)
    assert found.share_lost == pytest.approx(lost.mean() / explained.mean())


def test_rows_of_a_group_count_once():
    values = np.repeat([1.0, 2.0, 4.0], 50)
    alone = RowMeans().error(np.array([1.0, 2.0, 4.0]))
    assert RowMeans(groups=np.repeat([0, 1, 2], 50)).error(values) == pytest.approx(alone)


def test_rivals_are_ranked_by_what_they_explain_of_the_residuals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    residuals = (X[:, [3]] + 0.7 * (X[:, [1]] ** 2 - 1)) + 0.1 * rng.normal(size=(400, 1))
    table = read_table(X, residuals.ravel(), task="regression", owner="test")
    assert rank_rivals(table, range(5), residuals)[:2] == [3, 1]


def test_rivals_of_categories_and_sparse_columns():
    pd = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], size=300)
    residuals = (color == "red")[:, np.newaxis] + 0.3 * rng.normal(size=(300, 1))
    frame = pd.DataFrame(
        {"noise": rng.normal(size=300), "color": color, "text": rng.choice(list("abcdefgh"), 300)}
    )
    table = read_table(frame, residuals.ravel(), task="regression", owner="test")
    assert rank_rivals(table, [0, 1, 2], residuals)[0] == 1
    X = sparse.random_array((300, 20), density=0.2, random_state=rng, format="csr")
    residuals = X[:, [7]].toarray() + 0.05 * rng.normal(size=(300, 1))
    table = read_table(X, residuals.ravel(), task="regression", owner="test")
    assert rank_rivals(table, range(20), residuals)[0] == 7


def test_it_is_measured_when_it_is_read():
    X, y = linear(n=120)
    selector = PPFS.calibrated(Ridge(), random_state=0).fit(X, y)
    assert selector._sufficiency is None
    assert selector.sufficiency_ is selector.sufficiency_
    assert selector.sufficiency_.n_folds == 5
    assert selector.sufficiency_.n_training_rows == 96
    selector.fit(X, y)
    assert selector._sufficiency is None


def test_it_can_be_skipped():
    X, y = linear(n=120)
    selector = PPFS.calibrated(Ridge(), random_state=0).fit(X, y, sufficiency=False)
    with pytest.raises(AttributeError, match=r"measure_sufficiency\(X, y\)"):
        _ = selector.sufficiency_
    assert selector.measure_sufficiency(X, y, n_folds=3).n_folds == 3
    assert selector.sufficiency_.n_folds == 3


def test_data_are_kept_neither_in_pickles_nor_in_clones():
    X, y = linear(n=120)
    selector = PPFS.calibrated(Ridge(), random_state=0).fit(X, y)
    assert pickle.loads(pickle.dumps(selector))._at_hand is None  # noqa: S301
    assert clone(selector)._at_hand is None


def test_data_that_changed_since_are_refused():
    X, y = linear(n=120)
    selector = PPFS.calibrated(Ridge(), random_state=0).fit(X, y)
    X[0, 0] += 1
    with pytest.raises(InvalidInputError, match="changed after fit"):
        _ = selector.sufficiency_


def test_the_selection_is_made_again_in_each_training_part(monkeypatch):
    """On noise a selection from all rows would look good on those same rows."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 60)), rng.normal(size=60)
    selector = PPFS.calibrated(Ridge(), correction=None, random_state=0).fit(X, y)
    assert selector.support_.any()
    found = selector.sufficiency_
    assert found.verdict == "nothing to explain"
    assert found.gained.low < 0


def test_rows_that_were_held_out_are_used_and_nothing_is_repeated(monkeypatch):
    X, y = linear(n=200)
    selector = PPFS.calibrated(Ridge(), confirm=0.4, random_state=0).fit(X, y)
    monkeypatch.setattr(PPFS, "fit", None)
    found = selector.sufficiency_
    assert (found.n_folds, found.n_rows, found.n_training_rows) == (0, 80, 120)
    assert found.n_selected == selector.support_.sum()
    assert "that the search did not use" in str(found)


@pytest.mark.parametrize("search", [FBED(independence="fisher-z"), Stepwise(Ridge(), cv=3, random_state=0)])
def test_other_selectors_have_it_too(search):
    X, y = linear(n=120)
    assert search.fit(X, y).sufficiency_.verdict == "sufficient"


@pytest.mark.usefixtures("two_repeats")
def test_classes_weights_and_groups():
    X, y = linear(n=150)
    labels = np.where(y > 0.5, "high", np.where(y < -0.5, "low", "middle"))
    groups = np.repeat(np.arange(50), 3)
    weight = np.linspace(0.5, 2, 150)
    selector = PPFS.calibrated(random_state=0).fit(X, labels, groups=groups, sample_weight=weight)
    found = selector.sufficiency_
    assert found.loss == "brier"
    assert set(found.scores) == {"accuracy", "auc"}
    assert found.scores["auc"]["nothing"] == 0.5
    assert found.scores["auc"]["selected"] > 0.8


@pytest.mark.usefixtures("two_repeats")
def test_missing_values_and_text():
    pd = pytest.importorskip("pandas")
    X, y = linear(n=150)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[::7, "c"] = np.nan
    frame["kind"] = np.where(X[:, 3] > 0, "x", "y")
    selector = PPFS.calibrated(impute="median", random_state=0).fit(frame, y)
    assert selector.sufficiency_.verdict == "sufficient"


@pytest.mark.parametrize("margin", [0, 1, -0.1])
def test_a_margin_is_a_share(margin):
    X, y = linear(n=120)
    selector = PPFS.calibrated(Ridge(), random_state=0).fit(X, y)
    with pytest.raises(InvalidInputError, match="margin="):
        selector.measure_sufficiency(X, y, margin=margin)


def test_plain_numbers_for_files():
    X, _ = linear()
    plain = measured(X, np.random.default_rng(1).normal(size=len(X)), []).as_plain()
    assert plain["share_lost"] is None
    assert plain["summary"].startswith("No model, with the selected columns or with all, is shown")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("count", "share of the deviance explained"),
        ("positive", "R2 of the logarithm"),
        ("ordinal", "concordance"),
        ("survival", "concordance"),
    ],
)
def test_other_targets_are_scored_in_their_own_words(task, words):
    X, signal = linear(n=200)
    rng = np.random.default_rng(0)
    y = {
        "count": rng.poisson(np.exp(signal / 2)),
        "positive": np.exp(signal),
        "ordinal": np.digitize(signal, [-1.0, 0.0, 1.0]),
        "survival": np.array(
            list(zip(rng.random(200) < 0.8, np.exp(-signal), strict=True)),
            dtype=[("event", bool), ("time", float)],
        ),
    }[task]
    table = read_table(X, y, task=task, owner="test").with_response()
    rows = np.arange(len(X))
    folds = [(np.setdiff1d(rows, rows[k::5]), rows[k::5]) for k in range(5)]
    found = measure_sufficiency(table, Divided(folds, 5), lambda _: [0, 1])
    (scores,) = found.scores.values()
    assert f"({words} " in str(found)
    assert scores["nothing"] < scores["selected"] < 1
    assert scores["nothing"] == pytest.approx(0.5 if words == "concordance" else 0.0, abs=0.04)


def test_concordance_counts_pairs():
    rng = np.random.default_rng(0)
    times, is_event, predicted = (
        rng.integers(5, size=40) * 1.0,
        rng.random(40) < 0.6,
        rng.integers(4, size=40) * 1.0,
    )
    right = pairs = 0.0
    for i in range(40):
        for j in range(40):
            if is_event[i] and times[i] < times[j]:
                pairs += 1
                right += 1.0 if predicted[i] < predicted[j] else 0.5 if predicted[i] == predicted[j] else 0.0
    assert concordance(times, is_event, predicted) == pytest.approx(right / pairs)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_of_weight_two_counts_twice_in_the_auc(n_classes):
    rng = np.random.default_rng(0)
    truth, shares = np.arange(30) % n_classes, rng.dirichlet(np.ones(n_classes), size=30)
    weights = rng.integers(1, 4, size=30)
    twice = np.repeat(np.arange(30), weights)
    assert _auc(truth, shares, weights.astype(float)) == pytest.approx(
        _auc(truth[twice], shares[twice], None)
    )
    assert _auc(truth, shares, weights.astype(float)) != pytest.approx(_auc(truth, shares, None))


def test_products_of_many_columns_are_not_fitted():
    """Two thousand columns have two million products."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 50))
    table = read_table(X, X[:, 0] + rng.normal(size=60), task="regression", owner="a test")
    members = list(zip("lcpt", usable_members("panel", table), strict=True))
    assert [name for name, _, _ in _with_selected(members, range(10), "regression")] == list("lcpt")
    assert [name for name, _, _ in _with_selected(members, range(50), "regression")] == list("lct")


def test_the_panel_is_compared_beside_a_model_of_the_callers():
    """A full tree predicts probabilities no better than a constant here, and a line does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 2 * rng.normal(size=200) > 0).astype(int)
    table = read_table(X, y, task="classification", owner="test")
    rows = np.arange(200)
    folds = Divided([(np.setdiff1d(rows, rows[k::5]), rows[k::5]) for k in range(5)], 5)
    tree = DecisionTreeClassifier(random_state=0)
    alone = measure_sufficiency(table, folds, lambda _: [0], estimator=tree, loss="brier")
    assert alone.verdict == "nothing to explain"
    found = measure_sufficiency(table, folds, lambda _: [0], estimator=tree)
    assert found.verdict != "nothing to explain"
    assert found.models["selected"] != "DecisionTreeClassifier"


@pytest.mark.parametrize(("slope", "n_noise", "least"), [(0.0, 8, 0.90), (0.5, 0, 0.90)])
def test_the_variance_of_folds_is_between_that_of_rows_and_of_pairs(slope, n_noise, least):
    """Lines of one column and of more: what they differ by is noise alone, or nearly none."""
    rng = np.random.default_rng(0)
    n, n_tables = 100, 300
    factors, held, narrow = [], [], []
    for _ in range(n_tables):
        X = rng.normal(size=(n, 2 + n_noise))
        y = X[:, 0] + slope * X[:, 1] + rng.normal(size=n)
        losses, truth, predicted = np.empty((2, n)), np.empty(n), np.empty((2, n))
        for k in range(5):
            inside = np.arange(n) % 5 == k
            fitted = [np.linalg.lstsq(X[~inside, :m], y[~inside], rcond=None)[0] for m in (1, X.shape[1])]
            fitted = [np.pad(one, (0, X.shape[1] - len(one))) for one in fitted]
            true = np.pad([1.0, slope], (0, n_noise))
            predicted[:, inside] = [X[inside] @ one for one in fitted]
            truth[inside] = ((fitted[0] - true) ** 2).sum() - ((fitted[1] - true) ** 2).sum()
        losses = (y - predicted) ** 2
        lost, moved = losses[0] - losses[1], (predicted[0] - predicted[1]) ** 2
        factors.append(inflation_of_folds(lost, moved, RowMeans()))
        one = RowMeans(inflation=factors[-1]).estimate(lost)
        held.append(one.low <= truth.mean() <= one.high)
        plain = RowMeans().estimate(lost)
        narrow.append(plain.low <= truth.mean() <= plain.high)
    assert np.mean(factors) > 1.9 if slope == 0 else np.mean(factors) < 1.7
    # One standard error is 1.3 points.
    assert least <= np.mean(held) <= 0.985
    assert np.mean(narrow) < np.mean(held)


@pytest.mark.parametrize("average", [0.05, 1.0, 40.0])
def test_means_of_counts_are_above_zero_and_have_the_average_of_the_counts(average):
    responses, weights = np.array([-1.0, 0.0, 2.0, 3.0]) * average, np.array([1.0, 1.0, 2.0, 2.0])
    found = _means(lambda values: values, average, weights, responses)
    assert np.average(found, weights=weights) == pytest.approx(average)
    np.testing.assert_allclose(found / found[2], [0.0005, 0.0005, 1.0, 1.5])
