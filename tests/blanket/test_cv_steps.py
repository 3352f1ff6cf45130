"""The steps of `PPFSCV`: candidates from grids, divisions of the rows, rankings, and the choice by scores."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from checks.graphs import empty_table
from sklearn.ensemble import HistGradientBoostingRegressor, StackingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.utils import get_tags

from ppfs import PPFS, PPFSCV
from ppfs._data.reading import read_table
from ppfs._trace import Outcome, Step, Trace
from ppfs.blanket import FBED, IAMB, _ppfs_cv
from ppfs.blanket._cv import inner_scores
from ppfs.blanket._cv.candidates import Candidate, Candidates
from ppfs.blanket._cv.choice import Scored, chosen_by_score
from ppfs.blanket._cv.divisions import divisions
from ppfs.blanket._cv.inner_scores import Judge, ready, searched
from ppfs.blanket._cv.on_device import on_device
from ppfs.blanket._cv.ranking import Path
from ppfs.blanket._cv.refitted_model import RefittedModel
from ppfs.exceptions import InvalidInputError
from ppfs.independence import CrossFitPPI, FisherZ


@pytest.mark.parametrize(
    ("n_features", "size"),
    [
        (None, None),
        (1, 1),
        (7, 7),
        (8, 8),
        (9, 8),
        (0.5, 4),
        (0.56, 4),
        (0.57, 5),
        (1.0, 8),
        (0.01, 1),
        (0.2, 2),
    ],
)
def test_a_share_is_rounded_to_at_least_one_of_eight_columns(n_features, size):
    assert Candidate({}, 0, n_features).size(8) == size


def test_sizes_of_one_setting_share_its_search():
    selector = IAMB(alpha=0.2)
    found = Candidates.of(
        [{"alpha": [0.1, 0.3], "n_features": [2, 0.5, None]}, {}, {"selector": [FBED()], "alpha": [0.1]}],
        selector,
    )
    assert [(one.params.get("alpha"), one.setting, one.n_features) for one in found.all] == [
        (0.1, 0, 2), (0.1, 0, 0.5), (0.1, 0, None), (0.3, 1, 2), (0.3, 1, 0.5), (0.3, 1, None), (None, 2, None),
        (0.1, 3, None),
    ]  # fmt: skip
    assert [(type(setting), setting.alpha) for setting in found.settings] == [
        (IAMB, 0.1), (IAMB, 0.3), (IAMB, 0.2), (FBED, 0.1)
    ]  # fmt: skip
    assert selector.alpha == 0.2
    assert type(found.all[0].n_features) is int
    numpy = Candidates.of({"n_features": [np.int64(3), np.float32(0.5)]}, selector)
    assert [(one.n_features, type(one.n_features)) for one in numpy.all] == [(3, int), (0.5, float)]


@pytest.mark.parametrize(
    ("grids", "message"),
    [
        ([], "candidates is an empty list. Pass [{}] for the search as it is."),
        (
            {"selector": [LinearRegression()]},
            "selector=LinearRegression() is not a search of ppfs. Use PPFS(...), FBED(...) or another one of "
            "ppfs.blanket.",
        ),
        (
            {"feature_groups": [{"a": [0, 1]}], "task": ["regression"]},
            "candidates differ in 'feature_groups', 'task', which decides how the data are read, once for all of them. "
            "Set it in selector=PPFS(...).",
        ),
        *(
            (
                {"n_features": [size]},
                f"n_features={size!r} in candidates must be a number of columns, at least 1, a share of them between 0 "
                "and 1, or None for the blanket that the search finds.",
            )
            for size in (0, 0.0, 1.01, -1, True, "2")
        ),
    ],
)
def test_grids_that_mean_nothing_are_refused(grids, message):
    with pytest.raises(InvalidInputError) as raised:
        Candidates.of(grids, IAMB())
    assert str(raised.value) == message


def test_settings_may_repeat_how_the_data_are_read():
    groups = {"a": [0, 1]}
    selector = IAMB(feature_groups=groups, task="regression")
    assert (
        len(Candidates.of({"feature_groups": [{"a": [0, 1]}], "n_features": [1, 1.0]}, selector).settings)
        == 1
    )


def test_a_grid_that_is_none_is_refused():
    with pytest.raises(
        InvalidInputError, match=r"^candidates must be a grid of parameters of the search, such as "
    ):
        Candidates.of(5, IAMB())


def scored(*rows, sizes=None):
    scores = np.array(rows, dtype=float)
    sizes = np.ones(len(rows)) if sizes is None else np.array(sizes, dtype=float)
    return Scored(scores, np.repeat(sizes[:, np.newaxis], scores.shape[1], axis=1))


@pytest.mark.parametrize(
    ("rows", "sizes", "best", "one_se"),
    [
        ([[0.5, 0.5], [0.6, 0.6], [0.4, 0.4]], [1, 2, 3], 1, 1),
        # Equal means: the fewest columns, then the earliest.
        ([[0.5, 0.7], [0.7, 0.5], [0.6, 0.6]], [4, 2, 2], 1, 1),
        ([[0.5, 0.7], [0.7, 0.5]], [2, 2], 0, 0),
        # The standard error of the best is 0.1: candidates of at least 0.5 do.
        ([[0.5, 0.7], [0.5, 0.5], [0.499, 0.499]], [3, 2, 1], 0, 1),
        ([[0.5, 0.7], [0.5, 0.5], [0.55, 0.55], [0.52, 0.52]], [3, 2, 2, 2], 0, 2),
        ([[0.5, 0.7], [0.53, 0.53], [0.53, 0.53]], [3, 2, 2], 0, 1),
        # Differences in the thirteenth digit are none.
        ([[0.5, 0.5], [0.5 + 4e-13, 0.5]], [1, 2], 0, 0),
        ([[0.5, 0.5], [0.5 + 4e-12, 0.5]], [1, 2], 1, 0),
    ],
)  # fmt: skip
def test_rules_of_choice(rows, sizes, best, one_se):
    assert scored(*rows, sizes=sizes).best("best") == best
    assert scored(*rows, sizes=sizes).best("one-se") == one_se


def test_the_choice_is_told_with_its_error_and_what_scored_about_as_well():
    found = scored([0.5, 0.7], [0.5, 0.5], [0.3, 0.3], sizes=[3, 1, 9])
    assert found.described(0, 3, LinearRegression) == (
        "Of 3 candidates, LinearRegression scored best with these 3 columns in cross-validation: 0.600 ± 0.100. "
        "Candidates with 1 to 3 columns are within one standard error: other folds may choose another number."
    )
    assert found.described(1, 1, LinearRegression) == (
        "Of 3 candidates, LinearRegression scored best with these 1 column in cross-validation: 0.500 ± 0.000. "
        "Candidates with 1 to 3 columns are within one standard error: other folds may choose another number."
    )
    alone = scored([0.5, 0.7], [0.4, 0.4], sizes=[3, 2])
    assert alone.described(0, 2, PPFS) == (
        "Of 2 candidates, PPFS scored best with these 2 columns in cross-validation: 0.600 ± 0.100."
    )
    near = scored([0.5, 0.7], [0.6, 0.6], sizes=[3, 2])
    assert "Candidates with 2 to 3 columns are within one standard error" in near.described(0, 3, PPFS)
    sizes = Scored(np.array([[0.5, 0.7], [0.6, 0.6]]), np.array([[2.0, 3.0], [2.0, 2.0]]))
    assert "within one standard error" not in sizes.described(0, 2, PPFS)
    assert scored([0.5], [0.4]).standard_errors.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(scored([0.1, 0.2, 0.6]).standard_errors, [np.sqrt(0.14 / 2 / 3)])


def test_results_are_those_of_scikit_learns_searches():
    found = Scored(
        np.array([[0.5, 0.7], [0.8, 0.2], [0.6, 0.6]]), np.array([[1.0, 3.0], [2.0, 2.0], [4.0, 5.0]])
    )
    candidates = [
        Candidate({"alpha": 0.1}, 0, None),
        Candidate({"alpha": 0.2, "size": 3}, 1, 3),
        Candidate({}, 2, None),
    ]
    results = found.as_results(candidates)
    assert list(results) == [
        "params", "param_alpha", "param_size", "split0_test_score", "split1_test_score", "mean_test_score",
        "std_test_score", "split0_n_features", "split1_n_features", "mean_n_features", "std_n_features",
        "se_test_score", "rank_test_score",
    ]  # fmt: skip
    assert results["params"] == [{"alpha": 0.1}, {"alpha": 0.2, "size": 3}, {}]
    assert results["param_alpha"].tolist() == [0.1, 0.2, None]
    assert results["param_size"].mask.tolist() == [True, False, True]
    assert results["split1_test_score"].tolist() == [0.7, 0.2, 0.6]
    assert results["split0_n_features"].tolist() == [1.0, 2.0, 4.0]
    np.testing.assert_allclose(results["mean_test_score"], [0.6, 0.5, 0.6])
    np.testing.assert_allclose(results["std_test_score"], [0.1, 0.3, 0.0])
    np.testing.assert_allclose(results["mean_n_features"], [2.0, 2.0, 4.5])
    np.testing.assert_allclose(results["std_n_features"], [1.0, 0.0, 0.5])
    np.testing.assert_allclose(results["se_test_score"], [0.1, 0.3, 0.0])
    assert results["rank_test_score"].tolist() == [1, 3, 1]
    assert results["rank_test_score"].dtype == np.int32
    three = scored([0.5], [0.5], [0.5], [0.6]).as_results(candidates[:1] * 4)
    assert three["rank_test_score"].tolist() == [2, 2, 2, 1]


def ranked(n_columns=8):
    trace = Trace(tuple(f"x{i}" for i in range(n_columns)))
    steps = [
        (2, 0, 0.5, 0.1, {}), (2, 1, 0.2, 0.1, {}), (2, 1, 0.0, 0.9, {}), (2, 3, 0.5, 0.7, {}), (1, 4, 0.0, 0.9, {}),
        (2, 4, 0.1, 0.9, {"target": 1}), (2, 5, 0.001, 0.9, {"withheld": (1,)}), (2, 6, 1.0, 0.2, {}),
        (2, 7, 1.0, -0.2, {}),
    ]  # fmt: skip
    for fold, x, pvalue, effect, more in steps:
        trace.record(Step(fold, "growth", x, (), pvalue, 1.0, effect, pvalue, "rejected", **more))
    return trace


def test_the_path_ranks_members_first_and_the_others_by_their_first_question():
    trace, table = ranked(), empty_table(9)
    trace.conclude(Outcome((2, 7), fold=2, always_keep=(7,), filled_up=(3,)))
    path = Path.of(SimpleNamespace(trace_=trace), table)
    unasked = sorted([4, 5], key=table.order.key)
    assert path.ranking == [7, 2, 1, 3, 0, 6, *unasked]
    assert path.features(None) == [2, 7, 3]
    assert [path.features(size) for size in (0, 1, 2, 4)] == [[7], [7], [7, 2], [7, 2, 1, 3]]
    trace = ranked()
    trace.conclude(Outcome((2,), fold=2, condition_on=(1, 0)))
    assert Path.of(SimpleNamespace(trace_=trace), table).ranking == [2, 3, 6, *unasked, 7]
    with pytest.raises(ValueError, match=r"^The search has not ended\.$"):
        Path.of(SimpleNamespace(trace_=ranked()), table)


def test_the_trace_says_what_a_model_does_best_with():
    trace = ranked()
    trace.conclude(Outcome((2, 7), fold=2, filled_up=(3,)))
    chosen = chosen_by_score(trace, [7, 0], 1, "by score").outcome
    assert chosen.chosen == chosen.selected == (7, 0)
    assert chosen.reasons == {
        0: "among the 1 column that the model does best with",
        2: "the model does best with 1 column, without this one",
        3: "the model does best with 1 column, without this one",
    }
    assert chosen_by_score(trace, [7, 0], 2, "by score").method == "by score"
    with pytest.raises(ValueError, match=r"^The search has not ended\.$"):
        chosen_by_score(ranked(), [1], 1, "")


def table_of(n_rows=12):
    rng = np.random.default_rng(0)
    return read_table(
        rng.normal(size=(n_rows, 3)), rng.normal(size=n_rows), task="regression", owner=FisherZ()
    )


def told(found):
    return [(train.tolist(), test.tolist()) for train, test in found]


def test_rows_are_divided_by_folds_or_a_splitter():
    table = table_of()
    found = told(divisions(3, table, 1, 2))
    assert len(found) == 6
    for first in (0, 3):
        assert sorted(row for _, test in found[first : first + 3] for row in test) == list(range(12))
    assert found[:3] != found[3:]
    assert found[:3] == told(divisions(3, table, 1, 1))
    assert found != told(divisions(3, table, 2, 2))
    assert told(divisions(KFold(4), table, 1, 5)) == told(KFold(4).split(np.zeros(12)))
    assert len(divisions(12, table, 0, 1)) == 12
    with pytest.raises(InvalidInputError) as raised:
        divisions(13, table, 0, 1)
    assert str(raised.value) == "cv=13 is more than the 12 rows. Use fewer folds."
    with pytest.raises(InvalidInputError, match=r"^cv: "):
        divisions([], table, 0, 1)


def test_searches_without_a_seed_get_one_and_write_nothing():
    given = PPFS(random_state=np.int64(3), checkpoint="somewhere", progress=True)
    made = ready(given, 7)
    assert (made.random_state, type(made.random_state), made.checkpoint, made.progress) == (
        3,
        int,
        None,
        False,
    )
    assert (given.checkpoint, given.progress) == ("somewhere", True)
    for seed in (None, np.random.default_rng(0)):
        assert ready(PPFS(random_state=seed), 7).random_state == 7


def test_settings_with_the_same_test_share_their_answers(monkeypatch):
    tables = []
    monkeypatch.setattr(IAMB, "_fit_table", lambda self, table, test, answers: tables.append((self, answers)))
    settings = [IAMB(alpha=0.1), IAMB(independence="partial-t"), IAMB(alpha=0.2), IAMB(alpha=0.2, n_folds=2)]
    found = searched(settings, table_of(), 5)
    assert [one.alpha for one in found] == [0.1, 0.05, 0.2, 0.2]
    assert [one.random_state for one in found] == [5, 5, 5, 5]
    assert found == [one for one, _ in tables]
    shared = [answers for _, answers in tables]
    assert shared[0] is shared[2]
    assert len({id(answers) for answers in shared}) == 3


def test_every_set_of_columns_is_scored_once(monkeypatch):
    table = table_of()
    fits = []

    def fold_score(model, X, y, weights, scorer, train, test):
        fits.append((np.asarray(X).shape[1], len(train), len(test), scorer))
        return float(np.asarray(X).shape[1])

    def search(settings, part, seed):
        assert (settings, part.n_rows, seed) == (["a", "b"], 8, 5)
        for blanket in ((0,), (1, 2)):
            trace = ranked(3)
            trace.conclude(Outcome(blanket, fold=2))
            yield SimpleNamespace(trace_=trace)

    def ranked(n):
        return Trace(("x0", "x1", "x2")[:n])

    monkeypatch.setattr(inner_scores, "fold_score", fold_score)
    monkeypatch.setattr(inner_scores, "searched", search)
    candidates = Candidates(
        [Candidate({}, 0, None), Candidate({}, 1, None), Candidate({}, 0, 1), Candidate({}, 1, 1.0)],
        ["a", "b"],
    )
    judge = Judge(table, candidates, LinearRegression(), "scorer", 5)
    found = judge(np.arange(8), np.arange(8, 12))
    assert found.scores.tolist() == [1.0, 2.0, 1.0, 3.0]
    assert found.sizes.tolist() == [1, 2, 1, 3]
    assert fits == [(1, 8, 4, "scorer"), (2, 8, 4, "scorer"), (3, 8, 4, "scorer")]


@pytest.mark.parametrize(("estimator", "refit", "has"), [(None, True, (True, True, False)), (None, False, (False,) * 3),
                                                         (LinearRegression(), True, (True, False, False))])  # fmt: skip
def test_predictions_are_there_if_the_model_has_them(estimator, refit, has):
    search = PPFSCV(estimator=estimator, refit=refit)
    assert tuple(hasattr(search, name) for name in ("predict", "predict_proba", "decision_function")) == has


def test_a_model_that_predicts_once_it_is_fitted_is_said_to_predict():
    stacked = StackingClassifier([("line", LogisticRegression())])
    assert not hasattr(stacked, "predict")
    assert hasattr(PPFSCV(estimator=stacked), "predict")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_scores_are_weighted_if_the_rows_are(monkeypatch, is_weighted):
    asked = []

    def noted(model, scoring, *, is_weighted):
        asked.append(is_weighted)
        raise RuntimeError("enough is known")

    monkeypatch.setattr(_ppfs_cv, "scorer_for", noted)
    X = np.random.default_rng(0).normal(size=(20, 2))
    weights = np.linspace(1.0, 2.0, 20) if is_weighted else None
    with pytest.raises(RuntimeError, match="enough"):
        PPFSCV(random_state=0).fit(X, np.arange(20) % 2, sample_weight=weights)
    assert asked == [is_weighted]


COUNTS = np.column_stack([[3.0, 5.0, 0.0, 8.0], [1.0, 2.0, 1.0, 4.0]])


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 3.0, 4.0])])
def test_truth_is_read_as_the_model_was_fitted_to_it(weights):
    def truth(y, kind, has_response=False):
        return RefittedModel._truth(SimpleNamespace(_kind=kind, _has_response=has_response), y, weights)

    def told(found):
        return [None if one is None else one.tolist() for one in found]

    plain = None if weights is None else weights.tolist()
    assert told(truth([1, 2, 1, 3], None)) == [[1, 2, 1, 3], plain]
    # Rates, weighted by their exposures.
    exposures = COUNTS[:, 1] if weights is None else COUNTS[:, 1] * weights
    assert told(truth(COUNTS, "count")) == [[3.0, 2.5, 0.0, 2.0], exposures.tolist()]
    assert told(truth(COUNTS[:, 0], "count")) == [[3.0, 5.0, 0.0, 8.0], plain]
    assert truth(COUNTS[:, 0], "count", has_response=True)[0].tolist() != COUNTS[:, 0].tolist()


class Flat(LinearRegression):
    """Remembers what it is fitted on."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = (X, np.asarray(y).tolist(), sample_weight)
        return super().fit(X, y)


def refitted(table, chosen, model, **given):
    found = SimpleNamespace(support_=np.isin(np.arange(3), chosen), **given)
    RefittedModel._fit_model(found, model, table)
    return found


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_model_is_fitted_on_the_selected_columns_in_their_order(form):
    X, y = np.arange(12.0).reshape(4, 3) ** 2, np.array([1.0, 2.0, 4.0, 9.0])
    table = read_table(form(X), y, task="regression", owner=FisherZ(), sample_weight=np.arange(4) + 1.0)
    found = refitted(table, [2, 0], Flat())
    seen, target, weights = found.estimator_.seen_
    assert (target, weights.tolist()) == ([1.0, 2.0, 4.0, 9.0], table.weights.tolist())
    assert sp.issparse(seen) is sp.issparse(form(X))
    np.testing.assert_array_equal(seen.toarray() if sp.issparse(seen) else seen, X[:, [0, 2]])
    assert (found._has_response, found._kind) == (False, None)
    nothing = refitted(table, [], Flat())
    assert not hasattr(nothing.estimator_, "seen_")
    np.testing.assert_allclose(nothing.estimator_.predict(np.zeros((2, 1))), y.mean())


def test_labels_are_what_a_classifier_of_the_callers_is_fitted_to():
    X, y = np.random.default_rng(0).normal(size=(8, 3)), np.array(["low", "mid", "high", "mid"] * 2)
    ordered = pd.Categorical(y, categories=["low", "mid", "high"], ordered=True)
    table = read_table(X, ordered, task="ordinal", owner=FisherZ())
    found = refitted(table.with_response(), [0, 1], Flat())
    assert found._kind == "ordinal"
    assert found._has_response is True
    plain = refitted(table, [0, 1], Flat())
    assert (plain._kind, plain._has_response) == ("ordinal", False)


@pytest.mark.parametrize(
    ("n_rows", "given", "is_joint"),
    [
        (100, {}, True), (99, {}, False), (100, {"is_in_memory": False}, False), (100, {"is_sparse": True}, False),
        (100, {"codes": np.zeros((2, 2))}, False), (100, {"groups": np.zeros(2)}, False), (10_001, {}, False),
    ],
)  # fmt: skip
def test_joint_growth_is_a_candidate_where_it_takes_seconds(n_rows, given, is_joint):
    table = {
        "is_in_memory": True,
        "is_sparse": False,
        "codes": np.zeros(2),
        "groups": None,
        "n_features": 5,
    } | given
    found = _ppfs_cv._joint_search(SimpleNamespace(n_rows=n_rows, task="regression", **table), None)
    assert (found is not None) is is_joint
    if is_joint:
        assert (found.independence, found.growth, found.correction, found.device) == (
            "cross-fit-ppi",
            "auto",
            "bh",
            "cpu",
        )
        assert isinstance(found.estimator, HistGradientBoostingRegressor)


@pytest.mark.parametrize(
    ("device", "chosen"), [(None, "cpu"), ("cpu", "cpu"), ("cuda", "auto"), ("auto", "auto")]
)
def test_the_device_of_joint_growth_falls_back(device, chosen):
    table = SimpleNamespace(
        is_in_memory=True,
        is_sparse=False,
        codes=np.zeros(2),
        groups=None,
        n_features=5,
        n_rows=5000,
        task="classification",
    )
    assert _ppfs_cv._joint_search(table, device).device == chosen


def test_default_candidates_are_sizes_below_the_number_of_columns():
    joint = PPFS()
    sizes, second = _ppfs_cv._default_candidates(7, joint)
    assert sizes == {"n_features": [None, 1, 2, 3, 4, 6, 0.25, 0.5, 1.0]}
    assert second["selector"] == [joint]
    assert second["n_features"] == [None, *(size for size in _ppfs_cv._JOINT_SIZES if size < 7)]
    assert _ppfs_cv._default_candidates(6)[0]["n_features"][:6] == [None, 1, 2, 3, 4, 0.25]


@pytest.mark.parametrize(
    ("search", "name"), [(PPFS(), "device"), (IAMB(independence=CrossFitPPI()), "independence__device")]
)
def test_a_search_with_models_gets_their_device(search, name):
    assert on_device(search, None) is search
    made = on_device(search, "auto")
    assert made.get_params()[name] == "auto"
    assert search.get_params()[name] != "auto"


def test_a_search_without_models_has_no_device():
    with pytest.raises(InvalidInputError) as raised:
        on_device(IAMB(independence=FisherZ()), "cuda")
    assert str(raised.value) == (
        "device='cuda' chooses where models are fitted in the growth phase, but IAMB has no such models: its test is "
        "computed on the CPU. Leave device out, or use a predictive test such as CrossFitPPI."
    )


@pytest.mark.parametrize("estimator", [None, LinearRegression(), LogisticRegression()])
@pytest.mark.parametrize("selector", [None, IAMB()])
def test_tags_are_those_of_search_and_model(estimator, selector):
    tags = get_tags(PPFSCV(estimator, selector=selector))
    base = get_tags(PPFS() if selector is None else selector)
    assert tags.target_tags.required
    if estimator is None:
        assert tags.classifier_tags is not None
        assert tags.regressor_tags is not None
        assert (tags.input_tags.sparse, tags.input_tags.allow_nan) == (
            base.input_tags.sparse,
            base.input_tags.allow_nan,
        )
        return
    own = get_tags(estimator)
    assert tags.estimator_type == own.estimator_type
    assert (tags.classifier_tags is None) == (own.classifier_tags is None)
    assert (tags.regressor_tags is None) == (own.regressor_tags is None)
    assert tags.input_tags.sparse == (base.input_tags.sparse and own.input_tags.sparse)
    assert tags.input_tags.allow_nan is False


def test_the_path_over_size_reaches_256_columns_and_32_jointly():
    own, joint = _ppfs_cv._default_candidates(257, PPFS())
    sizes = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 128, 256]
    assert own["n_features"] == [None, *sizes, 0.25, 0.5, 1.0]
    assert joint["n_features"] == [None, *sizes[:10]]
    assert _ppfs_cv._default_candidates(256)[0]["n_features"] == [None, *sizes[:-1], 0.25, 0.5, 1.0]
