"""Counts, positive amounts, ordered classes and survival times as targets."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import GammaRegressor, PoissonRegressor, Ridge, TweedieRegressor
from sksurv.compare import compare_survival
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

from ppfs import PPFS, PPFSCV
from ppfs._data import read_table, target_kinds
from ppfs._data.target_kinds import KINDS, RATES, SURVIVAL_TYPE, is_survival, log_rank_scores, split_exposure
from ppfs.blanket import IAMB, StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.independence import CrossFitPPI, FisherZ

pytestmark = pytest.mark.usefixtures("small_forests")

N = 300


def columns(seed: int = 0) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(N, 4))


def targets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return columns and a target of each kind that depends on column 1 only."""
    made = {}
    for number, kind in enumerate(KINDS):
        rng, X = columns(number)
        y = {
            "count": lambda rng=rng, X=X: rng.poisson(np.exp(0.5 * X[:, 1])),
            "positive": lambda rng=rng, X=X: rng.gamma(2.0, np.exp(0.5 * X[:, 1])),
            "ordinal": lambda rng=rng, X=X: np.digitize(X[:, 1] + rng.logistic(size=N), [-1.0, 0.5, 2.0]),
            "survival": lambda rng=rng, X=X: survival(rng, X[:, 1]),
        }[kind]()
        made[kind] = X, y
    return made


def survival(rng: np.random.Generator, risk: np.ndarray) -> np.ndarray:
    time, censored = rng.exponential(size=(2, risk.size))
    time, censored = time * np.exp(-0.8 * risk), 1.5 * censored
    return Surv.from_arrays(time <= censored, np.minimum(time, censored))


@pytest.mark.parametrize("kind", KINDS)
def test_the_preset_finds_the_cause(kind: str) -> None:
    X, y = targets()[kind]
    selector = PPFS.calibrated(task=kind, growth="marginal", second_look=False, random_state=0).fit(X, y)
    assert selector.blanket_.tolist() == [1]
    assert 1 in PPFS.calibrated(task=kind, random_state=0).fit(X, y).blanket_
    assert selector.task_ == selector.trace_.data.task == kind
    assert any(note.startswith(f"task: {kind}, because") for note in selector.trace_.notes)


@pytest.mark.parametrize("kind", KINDS)
def test_other_searches_and_tests_find_it_too(kind: str) -> None:
    X, y = targets()[kind]
    assert 1 in IAMB(independence="auto", task=kind, alpha=0.01).fit(X, y).blanket_
    assert 1 in PPFS(task=kind, n_folds=2, random_state=0).fit(X, y).blanket_
    assert CrossFitPPI("panel", task=kind, random_state=0).evaluate(X, y, 1).pvalue < 0.001
    assert CrossFitPPI("panel", random_state=0).evaluate(X, y, 1, task=kind).pvalue < 0.001


@pytest.mark.parametrize("kind", KINDS)
def test_weights_groups_and_files_go_with_every_kind(kind: str, tmp_path) -> None:
    X, y = targets()[kind]
    weights = np.random.default_rng(0).integers(0, 3, size=N)
    selector = PPFS.calibrated(task=kind, random_state=0)
    assert 1 in selector.fit(X, y, sample_weight=weights).blanket_
    assert 1 in selector.fit(X, y, groups=np.arange(N) // 3).blanket_
    np.save(tmp_path / "X.npy", X)
    assert 1 in PPFS.calibrated(task=kind, random_state=0).fit(tmp_path / "X.npy", y).blanket_
    selector.set_params(checkpoint=tmp_path / "kept").fit(X, y)
    assert selector.fit(X, y).n_tests_ == 0


@pytest.mark.usefixtures("two_repeats")
@pytest.mark.parametrize("kind", KINDS)
def test_report_and_stability_go_with_every_kind(kind: str) -> None:
    X, y = targets()[kind]
    quick = PPFS.calibrated(task=kind, growth="marginal", second_look=False)
    selector = clone(quick).set_params(random_state=0).fit(X, y)
    assert kind in selector.report(X, y).html()
    stable = StabilitySelection(quick, n_pairs=2, random_state=0).fit(X, y)
    assert 1 in stable.blanket_
    assert selector.sufficiency_ is not None


@pytest.mark.parametrize(
    ("kind", "estimator", "loss"),
    [
        ("count", PoissonRegressor(), "poisson-deviance"),
        ("count", HistGradientBoostingRegressor(loss="poisson", max_iter=20), "poisson-deviance"),
        ("count", TweedieRegressor(power=1.5), "poisson-deviance"),
        ("positive", GammaRegressor(), "gamma-deviance"),
        ("ordinal", RandomForestClassifier(n_estimators=20), "ranked-probability"),
        ("survival", CoxPHSurvivalAnalysis(), "partial-likelihood"),
        ("survival", RandomSurvivalForest(n_estimators=10, min_samples_leaf=10), "partial-likelihood"),
    ],
)
def test_the_callers_estimator_gets_the_values_and_the_loss_of_the_kind(
    kind: str, estimator: object, loss: str
) -> None:
    X, y = targets()[kind]
    test = CrossFitPPI(estimator, task=kind, random_state=0)
    bound = test.bind(read_table(X, y, task=kind, owner="test"))
    assert bound._risks_of(bound.table.target, bound._panel_of(1))[0].problem.loss.name == loss
    assert test.evaluate(X, y, 1).pvalue < 0.05
    assert test.evaluate(X, y, 2).pvalue > 0.05


def test_losses_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance

    from ppfs.independence._predictive import losses

    rng = np.random.default_rng(0)
    counts, means = rng.poisson(3.0, size=50).astype(float), rng.gamma(2.0, size=50)
    assert losses._poisson_deviance(counts, means).mean() == pytest.approx(
        mean_poisson_deviance(counts, means)
    )
    assert losses._gamma_deviance(counts + 1, means).mean() == pytest.approx(
        mean_gamma_deviance(counts + 1, means)
    )


def test_partial_likelihood_of_three_rows() -> None:
    """The first event could have hit three rows, the last one its own only."""
    from ppfs.independence._predictive import losses

    y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", bool), ("time", float)])
    loss = losses._partial_likelihood(y, np.log([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(loss, [np.log(6.0), 0.0, 0.0], atol=1e-12)


def test_ranked_probability_of_a_certain_forecast_counts_the_classes_between() -> None:
    from ppfs.independence._predictive import losses

    certain = np.eye(4)[[0, 0, 2, 3]]
    assert losses._ranked_probability(np.array([0, 3, 1, 3]), certain).tolist() == [0.0, 3.0, 1.0, 0.0]


def test_log_rank_scores_give_the_log_rank_test() -> None:
    """The sum over a group is its observed minus its expected events, as scikit-survival's test computes them."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, size=N)
    y = survival(rng, 0.3 * group)
    scores = log_rank_scores(np.array(y, dtype=[("event", bool), ("time", float)]))
    _, _, stats, _ = compare_survival(y, group, return_stats=True)
    differences = (stats["observed"] - stats["expected"]).to_numpy()
    for number in (0, 1):
        assert scores[group == number].sum() == pytest.approx(differences[number], abs=1e-9)


def test_survival_is_read_from_records_frames_and_matrices() -> None:
    rng, X = columns()
    y = survival(rng, X[:, 1])
    tables = [
        read_table(X, target, task=task, owner="test")
        for target, task in [
            (y, "auto"),
            (y, "survival"),
            (pd.DataFrame({"months": y["time"], "died": y["event"]}), "survival"),
            (pd.DataFrame({"status": y["event"].astype(int), "days": y["time"]}), "survival"),
            (pl.DataFrame({"months": y["time"], "died": y["event"]}), "survival"),
            (np.column_stack([y["time"], y["event"]]), "survival"),
        ]
    ]
    for table in tables:
        assert table.task_name == "survival"
        np.testing.assert_array_equal(table.y["event"], y["event"])
        np.testing.assert_array_equal(table.y["time"], y["time"])


@pytest.mark.parametrize(
    ("kind", "y", "said"),
    [
        ("count", [0.0, 1.5, 2.0] * 10, r"y\[1\] is 1.5"),
        ("count", [-1, 1, 2] * 10, r"y\[0\] is -1"),
        ("positive", [1.0, 0.0, 2.0] * 10, r"y\[1\] is 0"),
        ("ordinal", [0, 1] * 15, "at least three classes"),
        ("ordinal", ["low", "high", "mid"] * 10, "whose order is unknown"),
        ("survival", [1.0, 2.0, 3.0] * 10, "one column"),
        ("survival", np.column_stack([np.arange(30) - 1.0, np.ones(30)]), "row 0 is -1"),
        ("survival", np.column_stack([np.arange(30.0), np.zeros(30)]), "all are censored"),
        ("survival", np.column_stack([np.arange(30.0), np.arange(30.0)]), "none says whether"),
        # As R writes them: 1 is censored and 2 an event.
        ("survival", np.column_stack([np.arange(30.0), 1 + np.arange(30) % 2]), "1 where it was observed"),
        ("survival", np.column_stack([np.zeros(30), np.arange(30.0), np.ones(30)]), "left truncation"),
        ("positive", np.zeros(30, dtype=[("event", bool), ("time", float)]), "is a structured array"),
        ("ordinal", np.zeros(30, dtype=[("event", bool), ("time", float)]), "y has 2 columns"),
    ],
)
def test_values_that_are_not_of_the_kind_are_errors(kind: str, y: object, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        PPFS.calibrated(task=kind).fit(np.random.default_rng(0).normal(size=(30, 2)), y)


def test_left_truncation_is_refused() -> None:
    y = np.zeros(30, dtype=[("entry", float), ("time", float), ("event", bool)])
    with pytest.raises(InvalidInputError, match="left truncation"):
        PPFS.calibrated(task="survival").fit(np.random.default_rng(0).normal(size=(30, 2)), y)


def test_ordered_categories_keep_their_order() -> None:
    rng, X = columns()
    codes = np.digitize(X[:, 1] + rng.logistic(size=N), [-1.0, 1.0])
    labels = pd.Series(pd.Categorical.from_codes(codes, ["low", "middle", "high"], ordered=True))
    enum = pl.Series(labels.tolist(), dtype=pl.Enum(["low", "middle", "high"]))
    for y in (labels, labels.array, enum):
        np.testing.assert_array_equal(read_table(X, y, task="ordinal", owner="test").y, codes)
    assert PPFS.calibrated(task="ordinal", random_state=0).fit(X, labels).blanket_.tolist() == [1]


def test_a_classifier_is_refused_for_counts() -> None:
    X, y = targets()["count"]
    with pytest.raises(InvalidInputError, match="RandomForestClassifier cannot predict the target"):
        PPFS(RandomForestClassifier(), task="count").fit(X, y)


@pytest.mark.parametrize("model", [Ridge(), PoissonRegressor(), RandomForestRegressor()])
def test_a_regressor_of_numbers_is_refused_for_survival_times(model: object) -> None:
    X, y = targets()["survival"]
    for selector in (PPFS(model, task="survival"), PPFS.calibrated(model)):
        with pytest.raises(InvalidInputError, match="cannot predict survival times"):
            selector.fit(X, y)


def test_many_integers_left_at_regression_give_a_hint() -> None:
    rng, X = columns()
    counts = rng.poisson(np.exp(2 + 0.5 * X[:, 1]))
    selector = PPFS(n_splits=5, random_state=0).fit(X, counts)
    assert any('task="count"' in note for note in selector.trace_.notes)
    selector = PPFS(Ridge(), n_splits=5, random_state=0).fit(X, counts)
    assert any('task="count"' in note for note in selector.trace_.notes)
    selector = PPFS(Ridge(), n_splits=5, random_state=0).fit(X, counts > 5)
    assert not any('task="count"' in note for note in selector.trace_.notes)
    selector = PPFS(n_splits=5, random_state=0).fit(X, counts - 50)
    assert not any('task="count"' in note for note in selector.trace_.notes)


def test_a_model_can_be_chosen_for_counts() -> None:
    X, y = targets()["count"]
    chosen = PPFSCV(PoissonRegressor(), selector=PPFS.calibrated(task="count"), cv=3, random_state=0).fit(
        X, y
    )
    assert 1 in chosen.blanket_
    assert (chosen.predict(X) > 0).all()


def test_fisher_z_reads_the_response() -> None:
    X, y = targets()["survival"]
    assert FisherZ().evaluate(X, y, 1).pvalue < 1e-4


def exposed_counts(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return columns, and counts with exposures that depend on the first column; the rate depends on the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    exposure = np.exp(0.8 * X[:, 0] + 0.3 * rng.normal(size=n))
    return X, np.column_stack([rng.poisson(exposure * np.exp(0.5 * X[:, 1])), exposure])


def test_a_count_is_compared_with_its_exposure() -> None:
    X, y = exposed_counts()
    without = PPFS.calibrated(task="count", random_state=0).fit(X, y[:, 0])
    assert 0 in without.blanket_
    record = np.array(list(map(tuple, y)), dtype=[("claims", float), ("exposure", float)])
    for target in (y, pd.DataFrame(y, columns=["claims", "years"]), record):
        selector = PPFS.calibrated(task="count", random_state=0).fit(X, target)
        assert selector.blanket_[0] == 1
        assert selector.pvalues_[0] > 1e-4 > without.pvalues_[0]
    by_hand = PPFS(PoissonRegressor(), task="regression", loss="poisson-deviance", n_splits=8, random_state=0)
    by_hand.fit(X, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    own = PPFS(PoissonRegressor(), task="count", n_splits=8, random_state=0).fit(X, y)
    np.testing.assert_array_equal(own.pvalues_, by_hand.pvalues_)


def test_rates_are_scored_as_rates() -> None:
    """The score of a rate is its deviance, weighted by exposures: not that of the square of a root."""
    X, y = exposed_counts()
    selector = PPFS.calibrated(task="count", growth="marginal", second_look=False, random_state=0).fit(X, y)
    deviance = selector.sufficiency_.scores["deviance"]
    assert 0.1 < deviance["selected"] < 0.5
    assert abs(deviance["all"] - deviance["selected"]) < 0.05
    assert not hasattr(selector, "blankets_")


def test_new_rows_are_scored_as_those_of_the_fit() -> None:
    """The score of the rows of the fit is the model's own, however the target is written."""
    X, y = exposed_counts()
    rates = PPFSCV(PoissonRegressor(), selector=PPFS.calibrated(task="count"), cv=2, random_state=0).fit(X, y)
    chosen = X[:, rates.support_]
    own = PoissonRegressor().fit(chosen, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    expected = own.score(chosen, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    assert rates.score(X, y) == pytest.approx(expected, rel=1e-6)
    X, y = targets()["survival"]
    two_columns = np.column_stack([y["time"], y["event"]])
    times = PPFSCV(
        CoxPHSurvivalAnalysis(), selector=PPFS.calibrated(task="survival"), cv=2, random_state=0
    ).fit(X, two_columns)
    chosen = X[:, times.support_]
    assert times.score(X, two_columns) == pytest.approx(
        CoxPHSurvivalAnalysis().fit(chosen, y).score(chosen, y)
    )


def test_size_of_a_column_that_changes_the_exposure_only() -> None:
    test = CrossFitPPI("panel", task="count", random_state=0)
    found = [test.evaluate(*exposed_counts(150, seed), 0, given=[1]).pvalue < 0.05 for seed in range(60)]
    assert sum(found) <= 8


def test_exposures_go_with_weights_and_files(tmp_path) -> None:
    X, y = exposed_counts()
    weights = np.arange(len(y)) % 3
    table = read_table(X, y, task="count", owner="test", sample_weight=weights)
    np.testing.assert_allclose(table.weights, (weights * y[:, 1])[weights > 0])
    np.testing.assert_allclose(table.y, (y[:, 0] / y[:, 1])[weights > 0])
    np.save(tmp_path / "X.npy", X)
    by_file = read_table(tmp_path / "X.npy", y, task="count", owner="test", sample_weight=weights)
    np.testing.assert_allclose(by_file.weights, table.weights)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (
            np.column_stack([np.arange(40), np.zeros(40)]),
            "An exposure must be above 0, but that of row 0 is 0",
        ),
        (np.column_stack([np.arange(40) / 3, np.ones(40)]), "integers from 0 on"),
        (np.ones((40, 3)), "but y has 3 columns"),
    ],
)
def test_wrong_exposures_are_explained(y: np.ndarray, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        PPFS.calibrated(task="count").fit(np.ones((40, 2)), y)


def test_ranks_of_ordered_classes_are_around_zero():
    for values in ([1, 2, 3], [0, 0, 5, 7, 7, 7], np.arange(50)):
        found = KINDS["ordinal"].response(np.asarray(values, dtype=float))
        assert found.mean() == pytest.approx(0.0, abs=1e-12)
        assert -1.0 < found.min() < found.max() < 1.0


def refused(text: str):
    return pytest.raises(InvalidInputError, match=f"^{re.escape(text)}")


RECORD = np.zeros(3, dtype=[("event", bool), ("time", float)])


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (np.array(["1", "2"]), "holds text"),
        (np.array([b"1", b"2"]), "holds text"),
        (np.array([1, "2"], dtype=object), "holds text"),
        (np.array([1, 2], dtype="M8[D]"), "holds datetime64[D]"),
        (RECORD, "is a structured array"),
        (np.ones((2, 3)), "has 3 columns"),
        (np.full((2, 3), "a"), "has 3 columns"),
    ],
)
@pytest.mark.parametrize("kind", ["count", "positive"])
def test_counts_and_amounts_are_one_number_per_row(values: np.ndarray, what: str, kind: str) -> None:
    with refused(f'task="{kind}" needs one number per row, but y {what}.'):
        KINDS[kind].read(values)


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("count", [0, 1, 2], ""),
        ("count", [True, False], ""),
        ("count", [0.0, 1.0], ""),
        ("count", [1.0, -1.0, 0.5], "y[1] is -1, and 2 of 3 rows"),
        ("count", [1.0, 0.5, 2.5], "y[1] is 0.5, and 2 of 3 rows"),
        ("positive", [5e-324, 2.0], ""),
        ("positive", [1, 2], ""),
        ("positive", [1.0, 0.0, -2.0], "y[1] is 0, and 2 of 3 rows"),
        ("ordinal", [0, 1, 2], ""),
        ("ordinal", [1.0, 3.0, 7.0], ""),
        ("ordinal", [0, 1, 1], "at least three classes, but y has 2"),
        ("ordinal", [0.0, 1.0, 2.5, 3.5], "numbers with a fraction, such as 2.5"),
        ("ordinal", ["a", "b", "c"], "y holds text, such as 'a'"),
        ("ordinal", np.ones((3, 4)), "but y has 4 columns"),
        ("ordinal", RECORD, "but y has 2 columns"),
    ],
)
def test_the_values_of_a_kind_at_their_limits(kind: str, values: object, said: str) -> None:
    given = np.asarray(values)
    if said:
        with pytest.raises(InvalidInputError, match=re.escape(said)):
            KINDS[kind].read(given)
        return
    read = KINDS[kind].read(given)
    assert read.tolist() == given.tolist()
    assert read.dtype == (given.dtype if kind == "ordinal" else np.float64)


def test_the_second_column_or_the_field_of_that_name_is_the_exposure() -> None:
    pairs = np.array([[6.0, 2.0], [1.0, 4.0]])
    named = np.array([(6, 2), (1, 4)], dtype=[("claims", int), ("years", int)])
    turned = np.array([(2, 6), (4, 1)], dtype=[("MyExposure", int), ("claims", int)])
    last = np.array([(6, 2), (1, 4)], dtype=[("claims", int), ("exposure", int)])
    for values in (pairs, named, turned, last):
        rates, exposure = split_exposure(values)
        assert rates.tolist() == [3.0, 0.25]
        assert exposure.tolist() == [2.0, 4.0]
    one = np.array([1, 2])
    assert split_exposure(one) == (one, None)
    with refused('task="count" needs one count per row, or a count and its exposure, but y has 3 columns.'):
        split_exposure(np.zeros(2, dtype=[("a", int), ("b", int), ("c", int)]))
    with refused("An exposure must be above 0, but that of row 1 is 0, and 2 of 3 rows have such values."):
        split_exposure(np.array([[1.0, 5e-324], [1.0, 0.0], [1.0, -1.0]]))


def fields(**columns: list) -> np.ndarray:
    """Return a structured array."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    made = np.empty(3, dtype=[(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        made[name] = array
    return made


@pytest.mark.parametrize(
    "values",
    [
        fields(time=[0.0, 2.0, 1.0], event=[True, False, True]),
        fields(event=[True, False, True], time=[0.0, 2.0, 1.0]),
        fields(a=[1, 0, 1], b=[0.0, 2.0, 1.0]),
        np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]),
        # Columns of a matrix have no names, so that the second is the event wherever it may be.
        np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]),
    ],
)
def test_events_and_times_are_found(values: np.ndarray) -> None:
    read = KINDS["survival"].read(values)
    assert read.dtype == SURVIVAL_TYPE
    assert read["event"].tolist() == [True, False, True]
    assert read["time"].tolist() == [0.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("values", "event"),
    [
        (fields(days=[1, 0, 1], died=[1, 1, 0]), [True, True, False]),
        (fields(died=[1, 1, 0], days=[1, 0, 1]), [True, True, False]),
        (fields(one=[1, 1, 0], two=[1, 0, 1]), [True, True, False]),
        (fields(status=[1, 0, 1], flag=[False, True, True]), [False, True, True]),
        (np.array([[1, 1], [0, 1], [1, 0]]), [True, True, False]),
    ],
)
def test_of_two_flags_the_boolean_or_the_one_named_like_an_event_is_the_event(
    values: np.ndarray, event: list[bool]
) -> None:
    assert KINDS["survival"].read(values)["event"].tolist() == event


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.ones(3), 'task="survival" needs a time and whether the event was observed'),
        (np.ones((3, 1)), 'task="survival" needs a time and whether the event was observed'),
        (np.ones((3, 3)), "A survival target has a time and an event, but y has 3 columns."),
        (fields(a=[1, 1, 1], b=[1, 1, 1], c=[1, 1, 1]), "A survival target has a time and an event, but y has "
         "the fields 'a', 'b', 'c'."),
        (fields(a=[1, 2, 1], b=[1, 3, 1]), "Neither of 'a', 'b' of y holds only 0 and 1"),
        (fields(event=[1, 1, 0], time=[1, -2, -3]), "Survival times must not be negative, but that of row 1 is -2, and "
         "2 of 3 rows"),
        (fields(event=[0, 0, 0], time=[1, 2, 3]), "No event was observed in any of 3 rows"),
    ],
)  # fmt: skip
def test_what_is_no_survival_time_is_refused(values: np.ndarray, said: str) -> None:
    with refused(said):
        KINDS["survival"].read(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (RECORD, True),
        (fields(time=[1.0] * 3, event=[True] * 3), True),
        (fields(a=[True] * 3, b=[True] * 3), False),
        (fields(a=[1.0] * 3, b=[1] * 3), False),
        (fields(a=[1.0] * 3, b=[True] * 3, c=[1] * 3), False),
        (np.ones(3), False),
    ],
)
def test_a_boolean_and_a_number_are_survival(values: np.ndarray, expected: bool) -> None:
    assert is_survival(values) is expected


def test_log_rank_scores_of_ties_by_hand() -> None:
    values = np.array([(1, 2.0), (0, 1.0), (1, 2.0), (0, 2.0), (1, 5.0), (1, 1.0)], dtype=SURVIVAL_TYPE)
    at_one, at_two, at_five = 1 / 6, 2 / 4, 1 / 1
    before_two, before_five = at_one + at_two, at_one + at_two + at_five
    expected = [1 - before_two, 0 - at_one, 1 - before_two, -before_two, 1 - before_five, 1 - at_one]
    np.testing.assert_allclose(log_rank_scores(values), expected)


def test_residuals_of_cox_regression_are_those_of_its_penalized_likelihood() -> None:
    """They vanish at the optimum: their product with a scaled column is the penalty's gradient."""
    rng = np.random.default_rng(0)
    X = rng.normal(loc=5, scale=[1.0, 10.0], size=(40, 2))
    y = np.zeros(40, dtype=SURVIVAL_TYPE)
    y["event"], y["time"] = rng.random(40) < 0.7, rng.exponential(np.exp(X[:, 0] - 5))
    given = KINDS["survival"].response_given
    residuals = given(y, X, None)
    beside_constant = given(y, np.column_stack([X[:, 0], np.ones(40), X[:, 1]]), None)
    np.testing.assert_array_equal(beside_constant, residuals)
    np.testing.assert_allclose(given(y, 3 + 2 * X, None), residuals, atol=1e-9)
    np.testing.assert_allclose(given(y, np.ones((40, 1)), None), log_rank_scores(y), atol=1e-9)
    weights = np.where(np.arange(40) % 2, 1.0, 3.0)
    assert np.abs(given(y, X, weights) - residuals).max() > 0.01
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)

    def loss(beta: np.ndarray) -> float:
        scores = scaled @ beta
        events = np.flatnonzero(y["event"])
        risks = [np.log(np.exp(scores[y["time"] >= y["time"][row]]).sum()) for row in events]
        return float(np.sum(risks) - scores[events].sum() + 0.1 / 2 * beta @ beta)

    beta = minimize(loss, np.zeros(2), tol=1e-10).x
    np.testing.assert_allclose(residuals @ scaled, 0.1 * beta, atol=1e-3)
    assert np.abs(beta[0]) > 0.3


def test_responses_of_counts_rates_amounts_and_classes() -> None:
    kinds = target_kinds.KINDS
    counts = np.array([0.0, 1.0, 5.0])
    response = kinds["count"].response(counts)
    assert response.tolist() == [2 * 0.375**0.5, 2 * 1.375**0.5, 2 * 5.375**0.5]
    np.testing.assert_allclose(kinds["count"].mean(response), counts, atol=1e-12)
    assert RATES.mean(counts) is RATES.response(counts) is RATES.read(counts) is counts
    assert (RATES.name, RATES.loss) == ("count", "poisson-deviance")
    assert kinds["positive"].response(np.array([1.0, np.e])).tolist() == [0.0, 1.0]
    assert kinds["ordinal"].response(np.array([0, 0, 5, 7])).tolist() == [-0.5, -0.5, 0.25, 0.75]
    assert [kind.mean is None for kind in kinds.values()] == [False, True, True, True]
    assert [kind.response_given is None for kind in kinds.values()] == [True, True, True, False]
