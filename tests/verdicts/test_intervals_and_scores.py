"""Means with intervals, scores of every kind of target, and the verdict and its words, by hand and by plain twins."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._data import Table, read_table
from ppfs._verdicts import scores as module
from ppfs._verdicts.intervals import RowMeans, inflation_of_folds
from ppfs._verdicts.scores import concordance, scores_of
from ppfs._verdicts.sufficiency import Compared, Estimate, Sufficiency
from ppfs.independence import choose_loss

RNG = np.random.default_rng(0)
VALUES = RNG.normal(1.0, 2.0, size=12)
WEIGHTS = 0.5 + RNG.random(12)


# Means -------------------------------------------------------------------------------------------------


def test_equal_weights_give_the_error_of_the_mean():
    error, freedom = RowMeans().error(VALUES)
    assert (error, freedom) == (pytest.approx(VALUES.std(ddof=1) / 12**0.5), 11)
    assert RowMeans(inflation=4.0).error(VALUES)[0] == pytest.approx(2 * error)
    assert RowMeans(weights=np.full(12, 3.0)).error(VALUES)[0] == pytest.approx(error)


def test_weights_and_groups_count_by_their_sums():
    mean = (WEIGHTS * VALUES).sum() / WEIGHTS.sum()
    own = WEIGHTS / WEIGHTS.sum() * (VALUES - mean)
    assert RowMeans(WEIGHTS).mean(VALUES) == pytest.approx(mean)
    assert RowMeans(WEIGHTS).error(VALUES)[0] == pytest.approx(np.sqrt((own**2).sum() * 12 / 11))
    groups = np.array([7, 7, 2, 2, 2, 9, 9, 9, 9, 5, 5, 5])
    sums = [own[groups == group].sum() for group in (2, 5, 7, 9)]
    error, freedom = RowMeans(WEIGHTS, groups, 2.0).error(VALUES)
    assert (error, freedom) == (pytest.approx(np.sqrt(2 * np.square(sums).sum() * 4 / 3)), 3)


@pytest.mark.parametrize("level", [0.95, 0.9])
def test_the_interval_is_students(level):
    found = RowMeans().estimate(VALUES, level) if level != 0.95 else RowMeans().estimate(VALUES)
    low, high = stats.ttest_1samp(VALUES, 0.0).confidence_interval(level)
    assert (found.value, found.low, found.high) == pytest.approx((VALUES.mean(), low, high))


def test_one_observation_has_no_interval():
    for rows, values in ((RowMeans(), np.ones(1)), (RowMeans(groups=np.zeros(3, dtype=int)), np.arange(3.0))):
        error, freedom = rows.error(values)
        assert (np.isnan(error), freedom) == (True, 0)
        found = rows.estimate(values)
        assert found.value == values.mean()
        assert np.isnan([found.low, found.high]).all()
    assert RowMeans().error(np.array([1.0, 3.0])) == (1.0, 1)


def test_the_share_of_noise_decides_how_much_folds_inflate():
    lost, moved = RNG.normal(0.3, 1.0, size=80), RNG.normal(1.0, 0.2, size=80)
    half = stats.t.isf(0.05, 79) * np.sqrt(2.0) * lost.std(ddof=1) / 80**0.5
    share = (1 - (lost.mean() - half) / moved.mean()) / 2
    assert 0 < share < 1
    assert inflation_of_folds(lost, moved, RowMeans()) == pytest.approx(1 + share)
    assert inflation_of_folds(lost, moved, RowMeans(inflation=9.0)) == pytest.approx(1 + share)
    assert inflation_of_folds(lost + 99, moved, RowMeans()) == 1.0
    assert inflation_of_folds(lost - 99, moved, RowMeans()) == 2.0
    assert inflation_of_folds(lost + 99, 0 * moved, RowMeans()) == 2.0
    assert inflation_of_folds(lost[:1], moved[:1], RowMeans()) == 2.0


# Scores ------------------------------------------------------------------------------------------------

N = 40
X = np.zeros((N, 1))
ROWS = np.arange(5, 35)
W = 0.5 + RNG.random(30)
MODELS = {"regression": DecisionTreeRegressor(), "classification": DecisionTreeClassifier()}


def scored(table, predictions, loss="squared", weights=W):
    sides = {"nothing": predictions[0], "selected": predictions[1], "all": predictions[2]}
    return scores_of(table, choose_loss(loss, table.task, MODELS[table.task]), ROWS, sides, weights)


def responses(table):
    """Return predictions of the response that are constant, good and better."""
    truth = np.asarray(table.with_response().y, dtype=float)[ROWS]
    noise = np.random.default_rng(1).normal(size=30)
    return [np.full(30, truth.mean()), truth + noise, truth + 0.5 * noise]


def test_numbers_are_scored_by_r2():
    y = RNG.normal(size=N)
    table = Table.of(X, y, "a", "regression")
    predictions = responses(table)
    for weights in (W, None):
        expected = [metrics.r2_score(y[ROWS], one, sample_weight=weights) for one in predictions]
        assert scored(table, predictions, weights=weights) == {
            "r2": {"nothing": 0.0, "selected": pytest.approx(expected[1]), "all": pytest.approx(expected[2])}
        }
    record = np.zeros(N, dtype=[("a", float), ("b", float)])
    assert scored(Table.of(X, record, "a", "regression"), predictions) == {}


def test_amounts_counts_classes_and_times_are_scored_in_their_own_way():
    positive = np.exp(RNG.normal(size=N))
    table = read_table(X, positive, task="positive", owner="a test").with_response()
    predictions = responses(table)
    assert scored(table, predictions) == {
        "r2_log": {
            "nothing": 0.0,
            **{
                side: pytest.approx(metrics.r2_score(np.log(positive[ROWS]), one, sample_weight=W))
                for side, one in zip(("selected", "all"), predictions[1:], strict=True)
            },
        }
    }
    counts = RNG.poisson(3, size=N).astype(float)
    table = read_table(X, counts, task="count", owner="a test").with_response()
    predictions = responses(table)
    predictions[1][0] = 0.01

    def of_counts(response):
        average = np.average(counts[ROWS], weights=W)
        means = np.maximum((response / 2) ** 2 - 0.375, 0.001 * average)
        means *= average / np.average(means, weights=W)
        return metrics.d2_tweedie_score(counts[ROWS], means, sample_weight=W, power=1)

    assert scored(table, predictions) == {
        "deviance": {
            "nothing": 0.0,
            "selected": pytest.approx(of_counts(predictions[1])),
            "all": pytest.approx(of_counts(predictions[2])),
        }
    }
    ordered = RNG.integers(0, 4, size=N)
    table = read_table(X, ordered, task="ordinal", owner="a test").with_response()
    predictions = responses(table)
    always = np.ones(30, dtype=bool)
    assert scored(table, predictions) == {
        "concordance": {
            "nothing": 0.5,
            **{
                side: pytest.approx(plain_concordance(ordered[ROWS], always, one))
                for side, one in zip(("selected", "all"), predictions[1:], strict=True)
            },
        }
    }
    record = np.zeros(N, dtype=[("event", bool), ("time", float)])
    record["event"], record["time"] = RNG.random(N) < 0.7, RNG.integers(1, 20, size=N)
    table = read_table(X, record, task="auto", owner="a test").with_response()
    predictions = responses(table)
    some = record[ROWS]
    assert scored(table, predictions) == {
        "concordance": {
            "nothing": 0.5,
            **{
                side: pytest.approx(plain_concordance(some["time"], some["event"], -one))
                for side, one in zip(("selected", "all"), predictions[1:], strict=True)
            },
        }
    }


def plain_concordance(times, is_event, predicted):
    right = pairs = 0.0
    for i in range(len(times)):
        for j in range(len(times)):
            if is_event[i] and times[i] < times[j]:
                pairs += 1
                right += 1.0 if predicted[j] > predicted[i] else 0.5 if predicted[j] == predicted[i] else 0.0
    return right / pairs if pairs else np.nan


@pytest.mark.parametrize("seed", range(5))
def test_concordance_counts_pairs_whose_earlier_time_is_an_event(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    times, is_event, predicted = rng.integers(0, 9, 25), rng.random(25) < 0.6, rng.integers(0, 5, 25)
    assert concordance(times, is_event, predicted) == pytest.approx(
        plain_concordance(times, is_event, predicted)
    )
    for most, step in ((25, 1), (24, 2), (12, 3), (13, 2)):
        monkeypatch.setattr(module, "_MOST_COMPARED", most)
        expected = plain_concordance(times[::step], is_event[::step], predicted[::step])
        assert concordance(times, is_event, predicted) == pytest.approx(expected)


def test_concordance_without_pairs_is_unknown():
    assert np.isnan(concordance(np.ones(3), np.ones(3, dtype=bool), np.arange(3.0)))
    assert np.isnan(concordance(np.arange(3.0), np.zeros(3, dtype=bool), np.arange(3.0)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_scored_by_accuracy_and_the_area_under_the_curve(n_classes):
    codes = RNG.integers(0, n_classes, size=N)
    labels = np.array(["no", "some", "yes"])[codes]
    table = Table.of(X, labels, "a", "classification")
    shares = RNG.dirichlet(np.ones(n_classes), size=30)
    better = (shares + np.eye(n_classes)[codes[ROWS]]) / 2
    predictions = [np.full((30, n_classes), 1 / n_classes), shares, better]

    def auc(one):
        given = one[:, 1] if n_classes == 2 else one
        return metrics.roc_auc_score(codes[ROWS], given, sample_weight=W, multi_class="ovr")

    found = scored(table, predictions, "brier")
    assert list(found) == ["accuracy", "auc"]
    assert found["auc"] == {
        "nothing": 0.5,
        "selected": pytest.approx(auc(shares)),
        "all": pytest.approx(auc(better)),
    }
    assert found["accuracy"] == {
        side: pytest.approx(np.average(one.argmax(axis=1) == codes[ROWS], weights=W))
        for side, one in zip(("nothing", "selected", "all"), predictions, strict=True)
    }
    one_class = Table.of(X, np.where(np.arange(N) < 5, "some", "no"), "a", "classification")
    assert list(scored(one_class, [predictions[0][:, :2]] * 3, "brier")) == ["accuracy"]
    by_label = [codes[ROWS], codes[ROWS] * 0, codes[ROWS]]
    assert scored(table, by_label, "zero-one") == {
        "accuracy": {
            "nothing": 1.0,
            "selected": pytest.approx(np.average(codes[ROWS] == 0, weights=W)),
            "all": 1.0,
        }
    }


# The verdict -------------------------------------------------------------------------------------------


def compared(nothing, selected, everything, margin=0.05):
    return Compared.of(nothing, selected, everything, RowMeans(), margin)


def test_the_numbers_of_a_verdict():
    nothing = 3 + RNG.normal(size=200)
    selected, everything = 1.5 + RNG.normal(size=200), 1 + RNG.normal(size=200)
    found = compared(nothing, selected, everything)
    rows = RowMeans()
    assert (found.of_nothing, found.of_selected, found.of_all) == pytest.approx(
        (nothing.mean(), selected.mean(), everything.mean())
    )
    assert found.lost == rows.estimate(selected - everything)
    assert found.explained == rows.estimate(nothing - everything)
    assert found.gained == rows.estimate(nothing - selected)
    assert found.share_lost == pytest.approx((selected - everything).mean() / (nothing - everything).mean())
    assert found.margin == 0.05
    assert rows.estimate(
        selected - everything - found.share_lost_high * (nothing - everything), 0.9
    ).high == (pytest.approx(0, abs=1e-9))
    # A model of all columns may use the selected ones alone.
    turned = compared(nothing, everything, selected)
    assert turned.explained == rows.estimate(nothing - everything)
    assert turned.share_lost < 0
    assert turned.verdict == "sufficient"


@pytest.mark.parametrize(
    ("selected", "margin", "verdict", "high"),
    [
        (1.0, 0.05, "sufficient", 0.0),
        (0.9, 0.05, "sufficient", 0.0),
        (1.1, 0.2, "sufficient", None),
        (1.1, 0.02, "not sufficient", None),
        (1.1, 0.1, "too few rows", None),
        (2.5, 0.05, "not sufficient", float("inf")),
    ],
)
def test_the_verdict_follows_from_the_margin(selected, margin, verdict, high):
    wobble = np.tile([-0.05, 0.05], 50)
    found = compared(
        np.full(100, 2.0), selected + wobble, np.full(100, 1.0) + (selected == 1.0) * (wobble + 1e-3), margin
    )
    assert found.verdict == verdict
    if high is not None:
        assert found.share_lost_high == high


def test_nothing_to_explain_has_no_shares():
    noise = RNG.normal(size=50)
    for nothing in (noise - noise.mean(), np.zeros(50)):
        found = compared(nothing, np.zeros(50), np.zeros(50))
        assert found.verdict == "nothing to explain"
        assert np.isnan([found.share_lost, found.share_lost_high]).all()


def sufficiency(verdict, *, share=0.02, high=0.031, n_folds=5, scores=None, loss="squared"):
    one = Estimate(0.1, 0.0, 0.2)
    return Sufficiency(
        verdict, 0.05, 2.0, 1.1, 1.0, one, one, one, share, high, loss,
        {"accuracy": {"nothing": 0.5, "selected": 0.7, "all": 0.8},
         "auc": {"nothing": 0.5, "selected": 0.81, "all": 0.9}} if scores is None else scores,
        {"selected": "Ridge", "all": "Ridge"}, 1200, 4800, n_folds, 2.25,
    )  # fmt: skip


COMPARED = "(AUC 0.810 with the selected columns, 0.900 with all, 0.500 with none)"
IN_FOLDS = (
    " Measured on 1,200 rows in 5 folds, with the selection repeated on the 4,800 rows outside each (2.25 columns on "
    "average)."
)


@pytest.mark.parametrize(
    ("verdict", "high", "said"),
    [
        ("sufficient", 0.031, "The selected columns are enough to within 5%: they lose at most 3.1% of what the best "
         f"model with all columns explains {COMPARED}."),
        ("sufficient", 0.0, "The selected columns are enough to within 5%: models predict better with them than with "
         f"all columns {COMPARED}."),
        ("not sufficient", 0.4, "The selected columns are not enough: they lose about 2% of what the best model with "
         f"all columns explains, more than the margin of 5% {COMPARED}."),
        ("too few rows", 1.0, "There are too few rows to tell whether the selected columns are enough to within 5%: "
         f"they may lose up to 100% of what all columns explain {COMPARED}."),
        ("too few rows", np.inf, "There are too few rows to tell whether the selected columns are enough to within 5%: "
         f"what they lose cannot be bounded {COMPARED}."),
        ("nothing to explain", np.nan, "No model, with the selected columns or with all, is shown to predict better "
         "than a constant, so nothing is known that a selection could lack."),
    ],
)  # fmt: skip
def test_the_whole_verdict_in_words(verdict, high, said):
    assert str(sufficiency(verdict, high=high)) == said + IN_FOLDS
    assert str(sufficiency(verdict, high=high, n_folds=0)) == (
        f"{said} Measured on 1,200 rows that the search did not use, with models fitted on 4,800."
    )


def test_without_scores_the_losses_are_told_and_files_have_plain_numbers():
    found = sufficiency("sufficient", scores={}, high=np.inf, loss="mine")
    assert "(mine loss 1.1 with the selected columns, 1 with all, 2 with none)" in str(found)
    plain = found.as_plain()
    assert plain["share_lost_high"] is None
    assert plain["lost"] == {"value": 0.1, "low": 0.0, "high": 0.2}
    assert (plain["n_rows"], plain["verdict"], plain["summary"]) == (1200, "sufficient", str(found))
    assert plain["models"] == {"selected": "Ridge", "all": "Ridge"}


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("sufficient", "The selected columns together lose less than 5% of what all columns explain."),
        ("not sufficient", "The selected columns together lose more than 5% of what all columns explain."),
        (
            "too few rows",
            "There are too few rows to tell whether the selected columns together are enough to within 5%.",
        ),
        (
            "nothing to explain",
            "No model, even with all columns, is shown to predict better than a constant.",
        ),
    ],
)
def test_the_short_verdict(verdict, said):
    assert sufficiency(verdict).in_short == said
