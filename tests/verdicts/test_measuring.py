"""How losses of the selected and of all columns are measured: models, folds, averages and choices, step by step."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from ppfs._data import FitData, Table, read_table
from ppfs._fitting import DEFAULT_PANEL, DefaultMember
from ppfs._trace import SECOND_LOOK, Detectable, Outcome, Trace
from ppfs._trace.steps import Step
from ppfs._verdicts import keeping
from ppfs._verdicts.betting import Wagers
from ppfs._verdicts.by_output import _for_one_column
from ppfs._verdicts.detectable import (
    Levels,
    _distance,
    _explained,
    _has_known_power,
    _left_by,
    _n_distinct,
    _share_alone,
    _share_explained,
    _spread,
    _unevenness,
    detectable_of,
    effective_rows,
    rows_needed,
)
from ppfs._verdicts.intervals import RowMeans
from ppfs._verdicts.keeping import DataAtHand, digest_of
from ppfs._verdicts.measuring import (
    Divided,
    Measured,
    _common_loss,
    _is_fitted_on,
    _models,
    _penalized,
    _with_all,
    _with_selected,
    measured_losses,
    predicted_in_sample,
    residuals_of,
)
from ppfs._verdicts.new_rows import given_with_rows, require_alike, require_squares, stacked_rows
from ppfs._verdicts.repeating import SupportsOfParts, _folds, _require_measurable
from ppfs._verdicts.updating import Update, Watch, _bounds, _members, read_off
from ppfs.exceptions import InvalidInputError
from ppfs.independence import (
    SHARE_OF_THE_LINE,
    CrossFitPPI,
    FisherZ,
    GSquared,
    PartialCorrelationT,
    choose_loss,
)

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=60)
TABLE = Table.of(X, Y, "abcd", "regression")
LABELS = np.where(Y > 0, "yes", "no")
CLASSES = Table.of(X, LABELS, "abcd", "classification")
TRAIN, TEST = np.arange(40), np.arange(40, 60)


# Models ------------------------------------------------------------------------------------------------


def test_the_default_panel_is_compared_unless_it_is_there_or_the_loss_is_the_callers():
    assert _models(DEFAULT_PANEL, "auto", TABLE) == [DefaultMember(number) for number in range(4)]
    assert [type(one) for one in _models(Ridge(), "auto", TABLE)] == [Ridge] + [DefaultMember] * 4
    assert [type(one) for one in _models(Ridge(), "squared", TABLE)] == [Ridge]
    two = Table.of(X, X[:, :2] / 3, "abcd", "regression")
    assert [type(one) for one in _models(Ridge(), "auto", two)] == [Ridge]


@pytest.mark.parametrize(
    ("number", "n_features", "is_fitted"),
    [
        (0, 10**6, True),
        (1, 60, True),
        (1, 61, False),
        (2, 1, False),
        (2, 2, True),
        (2, 40, True),
        (2, 41, False),
        (3, 200, True),
        (3, 201, False),
    ],
)
def test_models_of_the_panel_are_fitted_on_so_many_features(number, n_features, is_fitted):
    assert bool(_is_fitted_on(DefaultMember(number), n_features)) is is_fitted
    assert _is_fitted_on(Ridge(), n_features)


def described(candidates):
    return [(name, list(features)) for name, _, features in candidates]


def test_without_selected_columns_there_is_a_constant():
    members = [("ridge", Ridge()), ("products", DefaultMember(2))]
    ((name, model, features),) = _with_selected(members, [], "regression")
    assert (name, type(model), features) == ("constant", DummyRegressor, ())
    assert described(_with_selected(members, [3], "regression")) == [("ridge", [3])]
    assert described(_with_selected(members, [1, 3], "regression")) == [
        ("ridge", [1, 3]),
        ("products", [1, 3]),
    ]


@pytest.mark.parametrize("n_columns", [4, 5, 20, 21])
def test_all_columns_are_seen_at_once_and_by_those_that_join_first(n_columns):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(60, n_columns))
    y = wide[:, 0] + 0.5 * wide[:, -1] + 0.1 * rng.normal(size=60)
    table = Table.of(wide, y, [f"c{i}" for i in range(n_columns)], "regression")
    found = described(_with_all([("ridge", Ridge())], table, [0], TRAIN, 0))
    everything = list(range(n_columns))
    assert found[0] == ("ridge, all columns", everything)
    assert found[1] == ("ridge, 1 more column", [0, n_columns - 1])
    assert [name for name, _ in found[2:]] == ["ridge, 4 more columns", "ridge, 16 more columns"][
        : (n_columns > 5) + (n_columns > 17)
    ]
    assert [len(features) for _, features in found[2:]] == [5, 17][: len(found) - 2]
    with_panel = described(_with_all([("line", DefaultMember(0))], table, [0], TRAIN, 0))
    assert (("line with a strong penalty, all columns", everything) in with_panel) == (n_columns == 21)
    assert described(_with_all([("ridge", Ridge())], table, everything, TRAIN, 0)) == [("ridge", everything)]


def test_the_strong_penalty_grows_with_the_columns():
    line, classes = _penalized(TABLE), _penalized(CLASSES)
    assert (line[0].with_mean, line[1].alpha) == (True, 4)
    assert (classes[0].with_mean, classes[1].C) == (True, 0.25)
    assert not _penalized(Table.of(sp.csc_array(X), Y, "abcd", "regression"))[0].with_mean


def test_a_common_loss_of_all_models():
    assert _common_loss("auto", [Ridge()], "regression").name == "squared"
    assert _common_loss("auto", [LogisticRegression()], "classification").name == "brier"
    assert (
        _common_loss("auto", [LogisticRegression(), LinearRegression()], "classification").name == "zero-one"
    )
    assert _common_loss("log-loss", [LogisticRegression()], "classification").name == "log-loss"


# Predictions -------------------------------------------------------------------------------------------


def test_residuals_of_numbers_outputs_and_classes():
    own = Ridge().fit(X[TRAIN][:, [2, 0]], Y[TRAIN]).predict(X[TEST][:, [2, 0]])
    found = residuals_of(TABLE, Ridge(), [2, 0], TRAIN, TEST)
    np.testing.assert_allclose(found, (Y[TEST] - own)[:, None])
    two = Table.of(X, X[:, 2:] / 3, "abcd", "regression")
    found = residuals_of(two, Ridge(), [0], TRAIN, TEST)
    own = Ridge().fit(X[TRAIN][:, [0]], X[TRAIN][:, 2:] / 3).predict(X[TEST][:, [0]])
    np.testing.assert_allclose(found, X[TEST][:, 2:] / 3 - own)
    model = LogisticRegression().fit(X[TRAIN][:, [0]], LABELS[TRAIN])
    expected = np.eye(2)[(LABELS[TEST] == "yes").astype(int)] - model.predict_proba(X[TEST][:, [0]])
    np.testing.assert_allclose(residuals_of(CLASSES, LogisticRegression(), [0], TRAIN, TEST), expected)
    of_one = np.flatnonzero(LABELS == "no")
    constant = residuals_of(CLASSES, LogisticRegression(), [0], of_one, TEST)
    np.testing.assert_allclose(constant, np.eye(2)[(LABELS[TEST] == "yes").astype(int)] - [1.0, 0.0])


def test_weights_missing_values_and_seeds_reach_the_models():
    weights = 0.1 + RNG.random(60)
    weighted = read_table(X, Y, task="regression", owner="a test", sample_weight=weights)
    own = LinearRegression().fit(X[TRAIN], Y[TRAIN], sample_weight=weights[TRAIN]).predict(X[TEST])
    found = residuals_of(weighted, LinearRegression(), range(4), TRAIN, TEST)
    np.testing.assert_allclose(found.ravel(), Y[TEST] - own)
    holes = X.copy()
    holes[::7, 1] = np.nan
    table = Table.of(holes, Y, "abcd", "regression")
    filled = np.where(np.isnan(holes), np.nanmedian(holes[TRAIN], axis=0), holes)
    own = LinearRegression().fit(filled[TRAIN], Y[TRAIN]).predict(filled[TEST])
    np.testing.assert_allclose(
        residuals_of(table, LinearRegression(), range(4), TRAIN, TEST).ravel(), Y[TEST] - own
    )
    tree = DecisionTreeClassifier(max_features=1, max_depth=2)
    one, same, other = (residuals_of(CLASSES, tree, range(4), TRAIN, TEST, seed) for seed in (0, 0, 5))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_losses_in_the_rows_of_the_fit():
    losses, predicted = predicted_in_sample(TABLE, LinearRegression(), [0, 2])
    own = LinearRegression().fit(X[:, [0, 2]], Y).predict(X[:, [0, 2]])
    np.testing.assert_allclose(predicted, own)
    np.testing.assert_allclose(losses, (Y - own) ** 2)
    losses, predicted = predicted_in_sample(CLASSES, LogisticRegression(), [0])
    shares = LogisticRegression().fit(X[:, [0]], LABELS).predict_proba(X[:, [0]])
    np.testing.assert_allclose(predicted, shares)
    truth = np.eye(2)[(LABELS == "yes").astype(int)]
    factor = losses.sum() / ((truth - shares) ** 2).sum()
    np.testing.assert_allclose(losses, factor * ((truth - shares) ** 2).sum(axis=1))


def test_measured_losses_are_those_of_single_fits():
    folds = [(np.setdiff1d(np.arange(60), np.arange(60)[k::3]), np.arange(60)[k::3]) for k in range(3)]
    selected = iter(([2, 0], [0], [0]))
    measured, n_selected = measured_losses(
        TABLE, Divided(folds, 3), lambda _: next(selected), estimator=Ridge(), loss="squared", seed=0
    )
    assert n_selected == pytest.approx(4 / 3)
    for number, (train, test) in enumerate(folds):
        own = Ridge().fit(X[train][:, [0, 2]] if number == 0 else X[train][:, [0]], Y[train])
        expected = (Y[test] - own.predict(X[test][:, [0, 2]] if number == 0 else X[test][:, [0]])) ** 2
        np.testing.assert_allclose(measured.losses["selected"][number]["Ridge"], expected)
        everything = Ridge().fit(X[train], Y[train]).predict(X[test])
        np.testing.assert_allclose(measured.predictions["all"][number]["Ridge, all columns"], everything)
        np.testing.assert_allclose(
            measured.losses["nothing"][number]["constant"], (Y[test] - Y[train].mean()) ** 2
        )
    found = measured.concluded(Divided(folds, 3), n_selected, 0.05)
    assert (found.n_rows, found.n_training_rows, found.n_folds, found.loss) == (60, 40, 3, "squared")
    assert found.models["selected"] == "Ridge"
    assert found.of_nothing == pytest.approx(
        np.concatenate([one["constant"] for one in measured.losses["nothing"]]).mean()
    )


# Choices -----------------------------------------------------------------------------------------------


def entered(losses, table=None, loss=None):
    """Return what was measured where the models of each side have these losses, by division."""
    table = Table.of(np.zeros((12, 1)), np.arange(12.0), "a", "regression") if table is None else table
    measured = Measured(table, loss or choose_loss("auto", "regression", Ridge()), 0)
    for number, by_side in enumerate(losses):
        rows = np.arange(3 * number, 3 * number + 3)
        measured.take(
            number,
            rows,
            {
                side: {
                    name: (np.asarray(one, dtype=float), np.asarray(one, dtype=float))
                    for name, one in models.items()
                }
                for side, models in by_side.items()
            },
        )
    return measured


def test_the_best_model_is_that_of_the_other_parts():
    sides = [
        {"selected": {"p": [0, 0, 0], "q": [1, 1, 1]}},
        {"selected": {"p": [5, 5, 5], "q": [1, 1, 1]}},
        {"selected": {"p": [5, 5, 5], "q": [2, 1, 1]}},
    ]
    parts = np.repeat([4, 7, 9], 3)
    losses, predictions, names = entered(sides)._best("selected", parts, None)
    assert names == ["q", "q", "q"]
    assert losses.tolist() == predictions.tolist() == [1, 1, 1, 1, 1, 1, 2, 1, 1]
    heavy = np.array([9e9, 9e9, 9e9, 1, 1, 1, 1, 1, 1])
    assert entered(sides)._best("selected", parts, heavy)[2] == ["q", "p", "p"]
    # With one part the model that is best in it is taken.
    assert entered(sides[:1])._best("selected", parts[:3], None)[2] == ["p"]
    assert entered([{"selected": {"q": [1, 1, 1], "p": [1, 1, 1]}}])._best("selected", parts[:3], None)[
        2
    ] == ["p"]


def test_models_that_are_missing_somewhere_are_left_out_and_a_constant_takes_their_place():
    some = [{"all": {"p": [0, 0, 0], "q": [1, 1, 1]}}, {"all": {"q": [3, 3, 3]}}]
    parts = np.repeat([0, 1], 3)
    losses, _, names = entered(some)._best("all", parts, None)
    assert (names, losses.tolist()) == (["q", "q"], [1, 1, 1, 3, 3, 3])
    none = [{"all": {"p": [0, 0, 0]}}, {"all": {"constant": [3, 3, 3]}}]
    losses, _, names = entered(none)._best("all", parts, None)
    assert (names, losses.tolist()) == (["constant", "constant"], [0, 0, 0, 3, 3, 3])


@pytest.mark.parametrize(
    ("groups", "n_parts"), [(None, 5), (np.repeat(np.arange(3), 4), 3), (np.zeros(12, dtype=int), 1)]
)
def test_rows_that_were_held_out_are_divided_again(groups, n_parts):
    table = read_table(np.zeros((12, 1)), np.arange(12) / 3, task="regression", owner="a test", groups=groups)
    parts = entered([], table)._divided_again(np.arange(12))
    assert sorted(set(parts.tolist())) == list(range(n_parts))
    if groups is not None:
        assert all(len(set(parts[groups == group])) == 1 for group in groups)
    assert set(entered([], table)._divided_again(np.arange(1)).tolist()) == {0}


def test_folds_inflate_the_variance_by_the_share_of_noise_of_quadratic_losses_only():
    one, other = np.full(12, 3.0), np.full(12, 1.0)
    chosen = {"selected": (one, one, ["p"]), "all": (other, other, ["p"])}
    measured = entered([])
    averaged = (np.full(12, 1.5), np.full(12, 1.5))
    # The square of the difference of predictions is 2 * (3 + 1) - 4 * 1.5 = 2 and as much is lost: no noise.
    assert measured._inflation(chosen, averaged, RowMeans()) == 1.0
    assert measured._inflation(chosen, None, RowMeans()) == 2.0
    # Of a difference of 4 half is lost: a quarter is noise.
    assert measured._inflation(chosen, (np.full(12, 1.0), None), RowMeans()) == 1.25
    absolute = choose_loss("absolute", "regression", Ridge())
    assert entered([], loss=absolute)._inflation(chosen, averaged, RowMeans()) == 2.0


def test_means_of_predictions_where_they_have_one():
    measured = entered([])
    losses, predicted = measured._averaged(np.full(12, 2.0), np.full(12, 4.0), np.arange(12))
    assert predicted.tolist() == [3.0] * 12
    assert losses.tolist() == [(3.0 - row) ** 2 for row in range(12)]
    by_label = choose_loss("zero-one", "classification", DecisionTreeClassifier())
    labels = Table.of(np.zeros((4, 1)), np.array(["a", "b", "a", "b"]), "a", "classification")
    assert entered([], labels, by_label)._averaged(np.zeros(4), np.zeros(4), np.arange(4)) is None
    assert entered([], labels, by_label)._truth(np.array([1, 2])).tolist() == [1, 0]


def test_the_average_takes_the_place_of_all_columns_where_the_other_parts_gain():
    everything = (np.array([1.0, 1, 5, 5, 2, 2]), np.zeros(6), ["p"] * 3)
    averaged = (np.array([2.0, 2, 1, 1, 2, 2]), np.ones(6))
    parts = np.repeat([3, 5, 8], 2)
    measured = entered([])
    losses, predictions, names = measured._steadied(everything, averaged, parts, None)
    assert measured.is_averaged == [True, False, True]
    assert losses.tolist() == [2, 2, 5, 5, 2, 2]
    assert predictions.tolist() == [1, 1, 0, 0, 1, 1]
    assert everything[0].tolist() == [1, 1, 5, 5, 2, 2]
    assert names == ["p"] * 3
    weights = np.array([1.0, 1, 0.1, 0.1, 1, 1])
    measured._steadied(everything, averaged, parts, weights)
    assert measured.is_averaged == [True, False, False]
    assert measured._steadied(everything, None, parts, None) is everything
    assert measured.is_averaged == [False] * 3
    one = (everything[0][2:4], everything[1][2:4], ["p"])
    measured._steadied(one, (averaged[0][2:4], averaged[1][2:4]), np.zeros(2, dtype=int), None)
    assert measured.is_averaged == [True]


# Parts of the rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_columns", "n_folds"), [(100, 5), (101, 3), (1000, 3), (1001, 2)])
def test_more_columns_are_searched_in_fewer_folds(n_columns, n_folds):
    table = Table.of(
        np.zeros((6, n_columns)), np.arange(6.0), [f"c{i}" for i in range(n_columns)], "regression"
    )
    divided = _folds(table, None, 0)
    assert (divided.n_folds, len(divided.pairs)) == (n_folds, n_folds)
    assert len(_folds(table, 6, 0).pairs) == len(_folds(table, 2, 0).pairs) + 4 == 6
    for wrong in (1, 7):
        with pytest.raises(
            InvalidInputError, match=f"n_folds={wrong} must be between 2 and the number of rows, 6"
        ):
            _folds(table, wrong, 0)


def test_a_structured_target_is_not_measured():
    record = np.zeros(4, dtype=[("a", float), ("b", float)])
    with pytest.raises(InvalidInputError, match=r"the task is regression of a structured array\. Compare"):
        _require_measurable(Table.of(np.zeros((4, 1)), record, "a", "regression"))
    _require_measurable(TABLE)
    _require_measurable(CLASSES)


def test_a_part_is_searched_once():
    fitted = []

    class Selector:
        def _to_repeat(self):
            return self

        def fit(self, X, y, **rows):
            fitted.append((len(X), rows))
            self.support_ = np.array([len(X) > 2, True])

    parts = SupportsOfParts()
    small = FitData(np.zeros((2, 2)), np.zeros(2), groups=np.zeros(2))
    assert parts.of(Selector(), small).tolist() == [False, True]
    assert parts.of(Selector(), small).tolist() == [False, True]
    assert parts.of(Selector(), FitData(np.zeros((3, 2)), np.zeros(3))).tolist() == [True, True]
    assert [n for n, _ in fitted] == [2, 3]
    assert fitted[1][1] == {"sufficiency": False}
    assert list(fitted[0][1]) == ["sufficiency", "groups"]
    unknown = FitData((number for number in range(2)), np.zeros(2))
    assert digest_of(unknown) is None


def test_small_tables_are_kept_with_a_digest():
    data = FitData(X, Y)
    kept = DataAtHand.of(data, 4)
    assert kept.data is data
    assert (
        kept.digest
        == digest_of(data)
        == digest_of(FitData(X.copy(), Y.copy()))
        != digest_of(FitData(X, Y + 1))
    )
    kept.require_unchanged()
    assert DataAtHand.of(FitData("X.csv", Y), 4) is None
    assert DataAtHand.of(FitData(X, (number for number in range(2))), 4) is None
    with pytest.raises(InvalidInputError, match="X or y was changed after fit"):
        DataAtHand(data, kept.digest + 1).require_unchanged()


def test_tables_are_kept_up_to_a_size(monkeypatch, tmp_path):
    assert keeping._MOST_BYTES == 2**26
    for n_bytes, is_kept in ((60 * 4 * 8, True), (60 * 4 * 8 - 1, False)):
        monkeypatch.setattr(keeping, "_MOST_BYTES", n_bytes)
        assert (DataAtHand.of(FitData(X, Y), 4) is not None) is is_kept
    sparse = sp.csr_array(np.eye(60))
    for n_bytes, is_kept in ((60 * 8, True), (60 * 8 - 1, False)):
        monkeypatch.setattr(keeping, "_MOST_BYTES", n_bytes)
        assert (DataAtHand.of(FitData(sparse, Y), 60) is not None) is is_kept
    np.save(tmp_path / "X.npy", X)
    one, same, other = (
        digest_of(FitData(np.load(tmp_path / "X.npy", mmap_mode="r"), y)) for y in (Y, Y.copy(), Y + 1)
    )
    assert one == same != other


def test_the_model_inside_an_estimator_of_several_columns_is_for_one():
    from sklearn.multioutput import MultiOutputRegressor

    repeated = SimpleNamespace(
        estimator=MultiOutputRegressor(Ridge()), growth_estimator=Ridge(), task_="regression",
        _to_repeat=lambda **parameters: parameters,
    )  # fmt: skip
    found = _for_one_column(repeated)
    assert sorted(found) == ["estimator", "task"]
    assert (type(found["estimator"]), found["task"]) == (Ridge, "regression")


# New rows ----------------------------------------------------------------------------------------------


def test_rows_are_stacked_by_the_names_of_their_columns():
    old, new = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [4], "c": [9], "a": [3]})
    for make in (lambda frame: frame, pl.from_pandas):
        assert np.asarray(stacked_rows(make(old), make(new))).tolist() == [[1, 2], [3, 4]]
    assert np.asarray(stacked_rows([[1, 2]], [[3, 4]])).tolist() == [[1, 2], [3, 4]]
    for one, other in ((sp.csc_array([[1, 2]]), [[3, 4]]), ([[1, 2]], sp.csc_array([[3, 4]]))):
        found = stacked_rows(one, other)
        assert (found.format, found.toarray().tolist()) == ("csr", [[1, 2], [3, 4]])
    with pytest.raises(InvalidInputError, match=r"The new rows lack the columns 'b'\. Pass all"):
        stacked_rows(old, new.drop(columns="b"))
    with pytest.raises(InvalidInputError, match="Pass new rows as a data frame too"):
        stacked_rows(old, [[1, 2]])
    with pytest.raises(InvalidInputError, match="The new rows have 3 columns, but 2 were seen in fit"):
        stacked_rows([[1, 2]], [[1, 2, 3]])


def test_rows_that_do_not_count_alike_are_refused():
    require_squares("regression", np.zeros(2))
    for task, y in (("survival", np.zeros(2)), ("regression", np.zeros(2, dtype=[("a", float)]))):
        with pytest.raises(InvalidInputError, match="update compares squared errors or Brier scores"):
            require_squares(task, y)
    assert given_with_rows(SimpleNamespace()) == ()
    assert given_with_rows(SimpleNamespace(_given_with_rows=("time",), class_weight=None)) == ("time",)
    inner = SimpleNamespace(class_weight="balanced")
    assert given_with_rows(SimpleNamespace(selector_=inner, _given_with_rows=("groups",))) == (
        "groups",
        "class_weight",
    )
    require_alike(())
    with pytest.raises(InvalidInputError, match="which rows with time and groups are not"):
        require_alike(("time", "groups"))


def test_bets_follow_the_mean_and_the_spread_of_the_rows_so_far():
    wagers = Wagers.guessing(np.array([0.1, -0.2, 3.0, 0.0]), np.array([0.5, 0.5, 0.1, 0.0]))
    assert wagers.weight == 20.0
    np.testing.assert_allclose(wagers.shares, [0.1 / 0.51, 0.0, 3.0 / 9.1, 0.0])
    g = np.array([[0.5, 1.0, -2.0, 0.0], [-0.5, 1.0, 0.5, 0.0]])
    after = wagers.after(g)
    shares = [0.1 / 0.51, 0.0, 3.0 / 9.1, 0.0]
    expected = [
        np.log1p(share * np.maximum(column, -1.0)).sum() for share, column in zip(shares, g.T, strict=True)
    ]
    np.testing.assert_allclose(after.log_e, expected)
    np.testing.assert_allclose(after.highest, np.maximum(expected, 0.0))
    np.testing.assert_allclose(after.mean, [2.0 / 22, -2.0 / 22, 58.5 / 22, 0.0])
    np.testing.assert_allclose(
        after.square, [(20 * 0.51 + 0.5) / 22, (20 * 0.54 + 2) / 22, (20 * 9.1 + 4.25) / 22, 0]
    )
    assert after.weight == 22.0
    assert Wagers.guessing(np.array([1.0]), np.array([0.0])).shares.tolist() == [0.5]
    again = Wagers.from_plain(after.as_plain())
    assert again.as_plain() == after.as_plain()
    assert after.after(-g).highest.tolist() == np.maximum(after.highest, after.after(-g).log_e).tolist()


def evidence(values):
    values = np.asarray(values, dtype=float)
    return Wagers(values - 1, values, values, values, 20.0)


WATCH = Watch(
    (2, 0, 1, 5), (3, 4), 0, np.ones(4), np.ones(4),
    evidence([np.log(240), np.log(240) - 1e-9, np.log(240), 0.0]),
    evidence([np.log(240), np.log(240), 0.0, 5.0]),
    evidence([np.log(120), 1.0]),
    np.ones(2), 100, 30, 2,
)  # fmt: skip


def test_the_status_of_every_column_follows_from_its_evidence():
    found = read_off(WATCH, "abcdef", 0.05)
    assert found.features == ("c", "a", "b", "f", "d", "e")
    # Three kinds times four columns, or times two, over 0.05: e-values of 240 and 120.
    assert found.statuses == (
        "drifting", "no longer needed", "still needed", "undecided", "newly needed", "no evidence",
    )  # fmt: skip
    np.testing.assert_allclose(found.e_values, [240, 240, 240, 1.0, 120, np.e])
    assert found.suggested == ("b", "f", "d")
    assert (found.n_new, found.n_batches, found.alpha) == (30, 2, 0.05)
    assert found["b"] == "still needed"
    assert str(found) == (
        "After 30 new rows in 2 batches: no longer needed: a; drifting: c; newly needed: d; still needed: b; "
        "undecided: f."
    )
    assert found.by_feature()["d"] == "After 30 new rows it is newly needed (e-value 120)."
    assert sorted(found.by_feature()) == ["a", "b", "c", "d", "f"]
    plain = found.as_plain()
    assert plain["columns"][5] == {"feature": "e", "status": "no evidence", "log_e": pytest.approx(1.0)}
    assert plain["suggested"] == ["b", "f", "d"]
    assert Watch.from_plain(WATCH.as_plain()).as_plain() == WATCH.as_plain()


def test_many_columns_are_counted_in_words():
    names = tuple(f"c{i}" for i in range(12))
    update = Update(names, ("undecided",) * 11 + ("no evidence",), np.zeros(12), (), 1234, 1, 0.05)
    listed = ", ".join(names[:10])
    assert str(update) == f"After 1,234 new rows in 1 batch: undecided: {listed} and 1 more."
    ten = Update(names, ("undecided",) * 10 + ("no evidence",) * 2, np.zeros(12), (), 5, 1, 0.05)
    assert str(ten) == f"After 5 new rows in 1 batch: undecided: {listed}."
    none = Update(names, ("no evidence",) * 12, np.zeros(12), (), 5, 3, 0.05)
    assert str(none) == "After 5 new rows in 3 batches: no evidence about any column."
    assert none.as_plain()["columns"][0]["log_e"] == pytest.approx(np.log(1e-300))


def test_differences_are_cut_at_a_quantile_above_zero():
    gains = np.column_stack([np.arange(-50.0, 51.0), np.zeros(101)])
    assert _bounds(gains).tolist() == [pytest.approx(50.0), pytest.approx(1e-12 + 50e-6)]
    assert _bounds(np.zeros((3, 1))).tolist() == [1e-12]
    assert _bounds(np.zeros((3, 0))).tolist() == []


@pytest.mark.parametrize(
    ("n_selected", "members"),
    [(0, [0, 1, 3]), (2, [0, 1, 3]), (3, [0, 1, 2, 3]), (60, [0, 1, 2, 3]), (61, [0])],
)
def test_models_that_suit_the_number_of_columns_are_watched(n_selected, members):
    assert _members(TABLE, n_selected) == members


# Detectable effects ------------------------------------------------------------------------------------


def step(feature, effect, given=(), decision="rejected", phase="growth", explained=(), pvalue=0.5):
    return Step(0, phase, feature, tuple(given), pvalue, 1.0, effect, pvalue, decision, explained=explained)


@pytest.mark.parametrize(
    ("effects", "detectable", "test", "said"),
    [
        ([], 0.2, FisherZ(), ""),
        ([0.1], float("nan"), FisherZ(), ""),
        ([-0.1], 0.2, FisherZ(), "{}"),
        ([0.2], 0.2, FisherZ(), "{}"),
        ([0.1, 0.05], 0.2, FisherZ(), "{}; the largest effect seen is 0.1 ('b'), and if it were real, about 4,800 rows "
         "would be needed to find it"),
        ([0.05, 0.1], 0.2, CrossFitPPI(), "{}; the largest effect seen is 0.1 ('c'), and if it were real, about 2,400 "
         "rows would be needed to find it"),
    ],
)  # fmt: skip
def test_an_empty_selection_says_what_would_have_been_found(effects, detectable, test, said):
    trace = Trace("abcd")
    for feature, effect in enumerate(effects):
        trace.record(step(feature + 1, effect))
    trace.record(step(0, 9.0, given=(1,)))
    trace.record(step(0, float("nan")))
    found = (
        "no column was selected: with these 1,200 rows a linear effect of 0.2 would have been found with probability "
        "0.8"
    )
    assert rows_needed(Detectable(detectable, 0.1, 0.1), trace, test, 1200) == said.format(found)


def test_the_numbers_behind_a_detectable_effect():
    assert _n_distinct(np.array([3, 0, 3, 7])) == 3
    assert _n_distinct(np.empty(0, dtype=int)) == 0
    assert _share_explained(2.0, 100.0, 3.0) == pytest.approx(4 / 88)
    assert _share_explained(2.0, 100.0, 0.0) == pytest.approx(4 / 100)
    assert np.isnan(_share_explained(2.0, 12.0, 3.0))
    assert _unevenness(np.arange(3.0)) == 1.0
    shares = np.array([[0.5, 0.5], [0.1, 0.9]])
    assert _unevenness(shares) == pytest.approx((0.5**2 + 0.18**2) / 2 / 0.34**2)
    assert _unevenness(np.array([[0.0, 1.0]])) == 0.0
    assert _spread(TABLE) == pytest.approx(Y.var())
    assert _spread(CLASSES) == pytest.approx(2 * (LABELS == "yes").mean() * (LABELS == "no").mean())
    assert _share_alone(TABLE) == 0.5
    weights = np.array([1.0, 2.0, 3.0] * 20)
    weighted = read_table(X, Y, task="regression", owner="a test", sample_weight=weights)
    assert effective_rows(weighted) == pytest.approx(120**2 / (14 * 20))


DISTANCES = [
    ((0.05, 0.05, 0.0), 1.0, 1), ((0.01, 0.05, 0.002), 0.6, 1), ((0.01, 0.05, 0.002), 0.6, 2),
    ((1.0, 0.05, 0.0), 0.3, 3), ((1e-6, 0.05, 0.0), 0.0, 1), ((0.05, 0.01, 0.01), 2.0, 1),
]  # fmt: skip


@pytest.mark.parametrize(("levels", "share", "freedom"), DISTANCES)
def test_the_distance_is_found_by_halving(levels, share, freedom):
    """At the distance four of five pairs of draws are found, and just below fewer."""
    from scipy.stats import chi2

    draws = np.random.default_rng(0).normal(size=(2, 4000, freedom))
    noise, own = (np.concatenate([half, -half]) for half in draws)
    growth, shrink, second = (chi2.isf(max(level, 1e-300), freedom) for level in levels)
    rho = min(1.0, share) ** 0.5
    found = _distance(Levels(*levels), share, freedom)

    def power(distance):
        given = noise.copy()
        given[:, 0] += distance
        alone = rho * given + (1 - rho**2) ** 0.5 * own
        given2, alone2 = (given**2).sum(axis=1), (alone**2).sum(axis=1)
        return ((given2 > second) | ((given2 > shrink) & (alone2 > growth))).mean()

    high = (max(growth, shrink) ** 0.5 + 10) / max(rho, 1e-3)
    if power(high) >= 0.8:
        assert power(found) >= 0.8 > power(found - high / 2**18)
    else:
        assert found == high


def test_what_the_selected_columns_leave():
    line = LinearRegression().fit(X[:, :2], Y)
    by_line = ((Y - line.predict(X[:, :2])) ** 2).sum() / (60 - 2 - 1)
    found = _left_by(TABLE, [1, 0], 0.0)
    # The line of the panel has a small penalty.
    assert found.share == pytest.approx(by_line / Y.var(), rel=0.05)
    assert found.scale == pytest.approx(found.share * Y.var())
    assert _left_by(TABLE, [], 0.0).share == 1.0
    assert _left_by(TABLE, [], 0.0).scale == pytest.approx(Y.var())
    assert _left_by(TABLE, [1, 0], 0.99).share == pytest.approx(0.01)
    assert _left_by(TABLE, [2], 0.0).share <= 1.0
    half = Table.of(X[:8], Y[:8], "abcd", "regression")
    assert np.isfinite(_left_by(half, [0, 1, 2, 3], 0.0).scale)
    more = Table.of(X[:7], Y[:7], "abcd", "regression")
    assert (_left_by(more, [0, 1, 2, 3], 0.0).share, np.isnan(_left_by(more, [0, 1, 2, 3], 0.0).scale)) == (
        1.0,
        True,
    )
    constant = Table.of(X, np.ones(60), "abcd", "regression")
    assert _left_by(constant, [0], 0.0).share == 1.0


@pytest.mark.parametrize(
    ("test", "y", "is_known"),
    [
        (FisherZ(), Y, True),
        (PartialCorrelationT(), Y, True),
        (GSquared(), Y, False),
        (CrossFitPPI("panel"), Y, True),
        (CrossFitPPI("panel"), LABELS, True),
        (CrossFitPPI("panel", loss="squared"), Y, True),
        (CrossFitPPI("panel", loss="absolute"), Y, False),
        (CrossFitPPI(Ridge()), Y, False),
        (CrossFitPPI("panel"), X[:, :2] / 3, False),
    ],
)
def test_the_power_of_few_tests_is_known(test, y, is_known):
    table = read_table(X, y, task="auto", owner="a test")
    assert bool(_has_known_power(test, table)) is is_known


def searched(blanket, steps):
    trace = Trace("abcd")
    for one in steps:
        trace.record(one)
    trace.conclude(Outcome(tuple(blanket)))
    return trace


GROWTH = [
    step(0, 0.5, decision="candidate"), step(1, 0.3, decision="candidate"), step(2, 0.01), step(3, 0.02),
    step(0, 0.4, given=(1,), decision="kept", phase="shrink"),
    step(1, 0.2, given=(0,), decision="kept", phase="shrink"),
]  # fmt: skip


@pytest.mark.parametrize("has_second_look", [True, False])
def test_the_detectable_correlation_of_a_search(has_second_look):
    asked = []

    def level(n_asked, n_called):
        asked.append((n_asked, n_called))
        return 0.05 * n_called / n_asked

    found = detectable_of(searched([0, 1], GROWTH), TABLE, FisherZ(), 0.05, level, has_second_look)
    # Four were asked, of which two were called, and one more would have been; two are left for the second look.
    assert asked == [(4, 3), (2, 1)][: 1 + has_second_look]
    left = _left_by(TABLE, [0, 1], 0.0)
    levels = Levels(0.05 * 3 / 4, 0.05, 0.025 * has_second_look)
    root = (60 - 2 - 3) ** 0.5
    assert found.alone == pytest.approx(np.tanh(_distance(levels, left.share, 1) / root))
    assert found.given == pytest.approx(np.tanh(_distance(Levels(1.0, 0.05, 0.0), left.share, 1) / root))
    assert found.weakest == 0.2


@pytest.mark.parametrize(("table", "blanket"), [(TABLE, [0, 1]), (TABLE, []), (CLASSES, [0]), (CLASSES, [])])
def test_the_detectable_effect_of_a_search_by_the_panel(table, blanket):
    trace = searched(blanket, GROWTH if blanket else [step(0, 0.1), step(1, 0.1)])
    found = detectable_of(trace, table, CrossFitPPI("panel"), 0.05, lambda n, k: 0.05 * k / n, True)
    n_asked, n_called = (4, 2) if blanket else (2, 0)
    second = 0.05 / (n_asked - len(blanket)) if blanket else 0.0
    growth = 0.05 * (n_called + 1) / n_asked
    levels = Levels(_share_alone(table) * growth, SHARE_OF_THE_LINE * 0.05, SHARE_OF_THE_LINE * second)
    left = _left_by(table, blanket, 0.0)
    kurtosis = 0.0 if table is CLASSES else 3.0 if blanket else 1.0
    for name, one in (("alone", levels), ("given", Levels(1.0, levels.shrink, 0.0))):
        distance = _distance(one, left.share, 1)
        expected = 2 * left.scale * distance**2 / (60 - kurtosis * distance**2)
        assert getattr(found, name) == pytest.approx(expected)
    assert np.isnan(found.weakest) if not blanket else found.weakest == (0.2 if len(blanket) == 2 else 0.4)


def test_searches_that_asked_nothing_state_no_effect():
    level = {"level": lambda n, k: 0.05, "has_second_look": False}
    assert detectable_of(Trace("abcd"), TABLE, FisherZ(), 0.05, **level) is None
    assert detectable_of(searched([], []), TABLE, FisherZ(), 0.05, **level) is None
    assert detectable_of(searched([0], GROWTH), TABLE, GSquared(), 0.05, **level) is None


def test_what_the_tests_own_regressions_explain_counts_where_they_were_given_the_selected_columns():
    beside = [
        step(3, 0.1, given=(1, 0), phase=SECOND_LOOK, explained=(0.7, 0.1)),
        step(3, 0.1, given=(1,), phase=SECOND_LOOK, explained=(0.9, 0.1)),
        step(3, 0.1, given=(0, 1), phase=SECOND_LOOK, explained=(float("nan"), 0.1)),
        step(3, 0.1, given=(0, 1), phase=SECOND_LOOK, explained=(0.6, 0.9)),
    ]
    for steps, share in (
        (beside, 0.7),
        (GROWTH, 0.0),
        ([*beside, step(2, 0.1, (0, 1), phase=SECOND_LOOK)], 0.0),
    ):
        trace = searched([0, 1], steps)
        assert _explained(trace, trace.question_arrays(0), [0, 1]) == share
