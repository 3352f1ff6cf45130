"""New rows: evidence that may be read at any time, and no row is used twice."""

import json
import pickle

import numpy as np
import pytest

from ppfs import PPFS
from ppfs._data import read_table
from ppfs._verdicts.betting import Wagers
from ppfs._verdicts.measuring import residuals_of
from ppfs._verdicts.updating import Watch, _model, after_batch, begin, read_off
from ppfs.exceptions import InvalidInputError


def rows(n, rng, effects=(1.0, 0.7, 0.0, 0.0)):
    X = rng.normal(size=(n, 4))
    return X, X @ np.array(effects) + rng.normal(size=n)


@pytest.fixture
def selector():
    return PPFS.calibrated(random_state=0).fit(*rows(300, np.random.default_rng(0)))


def test_an_e_value_is_the_product_of_bets_fixed_before_the_rows():
    wagers = Wagers.guessing(np.array([0.2]), np.array([0.5]))
    share = wagers.shares[0]
    assert share == pytest.approx(0.2 / 0.54)
    g = np.array([[0.5], [-1.0], [0.3]])
    after = wagers.after(g)
    assert np.exp(after.log_e[0]) == pytest.approx((1 + 0.5 * share) * (1 - share) * (1 + 0.3 * share))
    assert after.shares[0] != share


def test_a_true_hypothesis_is_rarely_rejected_whenever_one_looks():
    rng = np.random.default_rng(0)
    wagers = Wagers.guessing(np.full(2000, 0.3), np.full(2000, 0.5))
    for _ in range(50):
        wagers = wagers.after(rng.choice([-1.0, 1.0], size=(20, 2000)))
    assert (np.exp(wagers.highest) >= 20).mean() <= 0.05


def test_a_false_hypothesis_is_rejected():
    rng = np.random.default_rng(0)
    wagers = Wagers.guessing(np.array([0.1]), np.array([1.0]))
    for _ in range(10):
        wagers = wagers.after(rng.choice([-1.0, 1.0], p=[0.35, 0.65], size=(50, 1)))
    assert np.exp(wagers.highest[0]) > 100


def test_columns_that_go_on_as_before_are_still_needed(selector):
    rng = np.random.default_rng(1)
    for _ in range(4):
        found = selector.update(*rows(100, rng))
    assert found["x0"] == found["x1"] == "still needed"
    assert found["x2"] == found["x3"] == "no evidence"
    assert found.suggested == ("x0", "x1")
    assert (found.n_new, found.n_batches) == (400, 4)
    assert "still needed: x0, x1" in str(found)


def test_a_column_whose_effect_vanishes_is_reported(selector):
    found = selector.update(*rows(500, np.random.default_rng(1), effects=(1.0, 0.0, 0.0, 0.0)))
    assert found["x1"] in ("no longer needed", "drifting")
    assert "x1" not in found.suggested
    # The selection itself is not changed.
    assert selector.support_.tolist() == [True, True, False, False]


def test_a_column_that_begins_to_matter_is_reported(selector):
    rng = np.random.default_rng(1)
    for _ in range(6):
        found = selector.update(*rows(150, rng, effects=(1.0, 0.7, 0.8, 0.0)))
    assert found["x2"] == "newly needed"
    assert found["x3"] == "no evidence"
    assert set(found.suggested) == {"x0", "x1", "x2"}


def test_a_batch_is_predicted_before_it_is_learned():
    """The models of a batch do not depend on its target."""
    rng = np.random.default_rng(0)
    X, y = rows(200, rng)
    X_new, y_new = rows(50, rng)
    table = read_table(X, y, task="regression", owner="test")
    watch = begin(table, [0, 1])
    joined = read_table(np.vstack([X, X_new]), np.r_[y, y_new], task="regression", owner="test")
    shuffled = np.r_[y, y_new[::-1]]
    other = read_table(np.vstack([X, X_new]), shuffled, task="regression", owner="test")
    train, test = np.arange(200), np.arange(200, 250)
    model = _model(table, watch.member, watch.selected)
    ours, theirs = (residuals_of(one, model, [0, 1], train, test) for one in (joined, other))
    np.testing.assert_allclose(y_new[:, np.newaxis] - ours, y_new[::-1][:, np.newaxis] - theirs)
    assert after_batch(watch, joined, 200).n_new == 50


def test_evidence_survives_a_file():
    rng = np.random.default_rng(0)
    X, y = rows(200, rng)
    table = read_table(X, y, task="regression", owner="test")
    watch = begin(table, [0, 1])
    again = Watch.from_plain(json.loads(json.dumps(watch.as_plain())))
    X_new, y_new = rows(60, rng)
    joined = read_table(np.vstack([X, X_new]), np.r_[y, y_new], task="regression", owner="test")
    ours, theirs = (read_off(after_batch(one, joined, 200), table.names, 0.05) for one in (watch, again))
    assert ours.statuses == theirs.statuses
    np.testing.assert_allclose(ours.e_values, theirs.e_values)


def test_a_loaded_selector_needs_all_earlier_rows(selector):
    rng = np.random.default_rng(0)
    X, y = rows(300, rng)
    first = rows(80, np.random.default_rng(1))
    selector.update(*first)
    loaded = pickle.loads(pickle.dumps(selector))  # noqa: S301
    second = rows(80, np.random.default_rng(2))
    with pytest.raises(InvalidInputError, match="X=X, y=y"):
        loaded.update(*second)
    with pytest.raises(InvalidInputError, match="300 were fitted and 80 were seen"):
        loaded.update(*second, X=X, y=y)
    again = loaded.update(*second, X=np.vstack([X, first[0]]), y=np.r_[y, first[1]])
    np.testing.assert_allclose(again.e_values, selector.update(*second).e_values)


def test_classes_frames_and_categories():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)

    def draw(n):
        frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
        frame["kind"] = rng.choice(["x", "y", "z"], size=n)
        label = np.where(2 * frame["a"] + (frame["kind"] == "x") + rng.logistic(size=n) > 0, "ill", "well")
        return frame, label

    selector = PPFS.calibrated(random_state=0).fit(*draw(400))
    found = selector.update(*draw(300))
    assert found["a"] == "still needed"
    with pytest.raises(InvalidInputError, match="lack the columns 'kind'"):
        selector.update(draw(10)[0].drop(columns="kind"), ["ill"] * 10)


def test_an_empty_selection_can_be_watched():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    selector = PPFS.calibrated(random_state=0).fit(X, rng.normal(size=100))
    assert not selector.support_.any()
    X_new = rng.normal(size=(600, 3))
    for part in np.array_split(np.arange(600), 4):
        found = selector.update(X_new[part], 2 * X_new[part, 1] + rng.normal(size=len(part)))
    assert found["x1"] == "newly needed"


def test_fitting_again_begins_anew(selector):
    rng = np.random.default_rng(1)
    selector.update(*rows(50, rng))
    selector.fit(*rows(300, np.random.default_rng(0)))
    assert selector.update(*rows(50, rng)).n_batches == 1


def test_the_report_carries_it(selector):
    pytest.importorskip("matplotlib")
    assert selector.report(sufficiency=False).summary["update"] is None
    found = selector.update(*rows(300, np.random.default_rng(1)))
    report = selector.report(sufficiency=False)
    assert report.summary["update"]["suggested"] == list(found.suggested)
    assert str(found) in report.html()
    assert "would be: x0, x1." in report.markdown()
    json.loads(report.json())


def test_structured_targets_are_refused(selector):
    with pytest.raises(InvalidInputError, match="structured target"):
        selector.update(np.zeros((1, 4)), np.array([(True, 1.0)], dtype=[("event", bool), ("time", float)]))


@pytest.mark.parametrize(
    ("parameters", "given"),
    [
        ({}, {"groups": np.arange(60) // 2}),
        ({}, {"time": np.arange(60)}),
        ({}, {"sample_weight": np.ones(60)}),
        ({"class_weight": "balanced"}, {}),
    ],
)
def test_rows_that_are_not_alike_and_independent_are_refused(parameters, given):
    X, y = rows(60, np.random.default_rng(0))
    fitted = PPFS(n_splits=10, random_state=0, **parameters).fit(X, y > 0, **given)
    with pytest.raises(InvalidInputError, match=f"rows with {[*given, *parameters][0]} are not"):
        fitted.update(X, y > 0)
