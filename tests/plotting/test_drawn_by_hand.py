"""What plots draw of numbers that are given by hand, at the limits of their rules; nothing is fitted."""

from types import SimpleNamespace as Of

import numpy as np
import pandas as pd
import pytest
from checks.drawings import described, details
from checks.recorded import Record
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, FisherZ
from ppfs.plotting import (
    AtLeastDisplay,
    BlanketDisplay,
    ImportanceDisplay,
    PValueDisplay,
    RolesDisplay,
    ScoreSizeDisplay,
    StabilityDisplay,
    SufficiencyDisplay,
    TimelineDisplay,
    UpdateDisplay,
    meaning_of_importances,
    results_of,
)
from ppfs.plotting._canvas import DROPPED, SELECTED, shown
from ppfs.plotting._score_size import _front

plt = pytest.importorskip("matplotlib.pyplot")
RECORD = Record(__file__)
NAN = np.nan


def blanket(n_members, n_redundant=0, importances=None):
    members = [f"m{number}" for number in range(n_members)]
    redundant = {name: [f"{name}{letter}" for letter in "abcdefgh"[:n_redundant]] for name in members}
    return BlanketDisplay(members, importances or [1.0] * n_members, redundant)


def importances(selected, lows, highs, detectable=(), **more):
    n = len(selected)
    names = [f"x{number}" for number in range(n)]
    values = np.array([0.5, 0.3, 0.1, -0.1])[:n]
    return ImportanceDisplay(
        names, values, np.array(lows), np.array(highs), np.array(selected, dtype=bool), detectable, **more
    )


def scores(sizes, values, errors=None, **more):
    errors = np.full(len(sizes), 0.1) if errors is None else np.array(errors)
    return ScoreSizeDisplay(np.array(sizes, dtype=float), np.array(values), errors, **more)


def timeline(phases, pvalues=None, favorable=(), alpha=0.05):
    """Phases are given as letters; `favorable` lists questions that speak for a column."""
    pvalues = np.linspace(0.1, 1, len(phases)) if pvalues is None else np.array(pvalues)
    names = {"g": "growth", "s": "shrink", "l": "second look"}
    return TimelineDisplay(
        pvalues, [names[one] for one in phases], np.isin(np.arange(len(phases)), favorable), alpha
    )


def loss(explained, low=0.01, high=0.06):
    return SufficiencyDisplay(
        Of(
            of_nothing=1.0,
            of_selected=0.55,
            of_all=0.5,
            lost=Of(low=low, high=high),
            explained=Of(value=explained),
            margin=0.05,
            loss="log loss",
        )
    )


STATUSES = ["no evidence", "still needed", "no longer needed", "drifting", "newly needed", "no evidence"]


def update(statuses=STATUSES, e_values=(3.0, 20.0, 100.0, 50.0, 40.0, 0.0)):
    features = [f"x{number}" for number in range(len(statuses))]
    return UpdateDisplay(
        Of(features=features, statuses=list(statuses), e_values=np.array(e_values), n_new=1234)
    )


def role(feature, name, *arrows):
    return Of(feature=feature, role=name, arrows=arrows)


LONG = "x" * 32
MEMBERS = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 0]], dtype=bool)
DRAWN = {
    "at least": AtLeastDisplay(np.array([0.0, 1.0, 1.0, 3.0])),
    "blanket of none": blanket(0),
    "blanket of one": blanket(1),
    "blanket of three": blanket(3, 4, [2.0, NAN, -1.0]),
    "blanket of six": blanket(6, 5, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
    "blanket of seven": blanket(7, 2),
    "blanket of long names": BlanketDisplay([LONG, "$b$"], [0.0, 0.0], {"$b$": ["c" + LONG]}, "y"),
    "blanket of names as long": BlanketDisplay(["a"], [1.0], {}, "$y$"),
    "importances": importances([1, 1, 0, 0], [0.4, 0.2, NAN, -0.3], [0.6, 0.4, 0.2, NAN], (0.2, 0.3)),
    "importances, all selected": importances([1, 1], [NAN, NAN], [NAN, NAN], meaning="effect"),
    "importances, none selected": importances([0] * 4, [0.1] * 4, [0.2] * 4),
    "p-values": PValueDisplay(np.array([0.001, 0.02, 0.5, 0.051, 1.0]), 0.05),
    "roles": RolesDisplay(
        [
            role("a", "parent", ("a", "y")),
            role("b", "child", ("y", "b")),
            role("$c$", "spouse", ("$c$", "b"), ("$c$", "hidden"), ("hidden", "b")),
            role("d", "parent or child"),
            role("e", "undecided"),
        ],
        "y",
    ),
    "roles of one": RolesDisplay([role("a", "parent", ("a", "y"), ("a", "y"))], "y"),
    "scores": scores([1, 2, 5], [0.7, 0.9, 0.8], [0.1, NAN, 0.2], chosen=0),
    "scores of methods": scores(
        [5, 5, 1, 30], [0.9, 0.9, 0.2, 0.895], labels=["a", "$b$", "c", "d"], score_name="r2"
    ),
    "scores of one method": scores([3], [0.5], labels=["only"], chosen=0),
    "scores without a number": scores([NAN, 2], [NAN, 0.5], labels=["a", "b"]),
    "scores of twenty methods": scores([3] * 20, [0.9] * 20, labels=[str(number) for number in range(20)]),
    "scores at thirty times the size": scores([1, 30], [0.5, 0.6]),
    "scores above thirty times the size": scores([1, 31], [0.5, 0.6]),
    "scores at thirty columns beside none": scores([0, 30], [0.5, 0.6]),
    "scores above thirty columns beside none": scores([0, 31], [0.5, 0.6]),
    "scores at thirty times two": scores([2, 60], [0.5, 0.6]),
    "stability of shares": StabilityDisplay(["a", "$b$", "c"], np.array([0.9, 0.7, 0.2]), threshold=0.7),
    "stability without a threshold": StabilityDisplay(["a", "b"], np.array([0.9, 0.0])),
    "stability of folds": StabilityDisplay(["a", "b", "c"], MEMBERS.mean(axis=1), MEMBERS, 0),
    "stability of no chosen fold": StabilityDisplay(["a", "b", "c"], MEMBERS.mean(axis=1), MEMBERS),
    "stability of many": StabilityDisplay([f"x{i}" for i in range(9)], np.full(9, 0.5)),
    "sufficiency": loss(0.5),
    "sufficiency of nothing explained": loss(0.0),
    "timeline": timeline("gggggsss", [1e-20, 1.0, 1e-3, 0.5, 0.04, 1e-12, 0.2, 0.06], [0, 2, 4, 5]),
    "timeline of one phase": timeline("g", alpha=0.01),
    "timeline of three phases": timeline("g" * 20 + "s" * 20 + "l" * 20),
    "timeline of short phases": timeline("g" * 20 + "sl" + "g" * 20),
    "update": update(),
    "update of many": update(["no evidence"] * 25, np.arange(25.0)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawings_are_those_on_record(name):
    with plt.rc_context({"backend": "agg"}):
        drawn = DRAWN[name].plot()
    try:
        assert drawn.figure_ is drawn.ax_.figure
        RECORD.check(name, described(drawn.ax_) | details(drawn.ax_))
    finally:
        plt.close(drawn.figure_)


@pytest.mark.parametrize(
    ("name", "display", "settings"),
    [
        ("blanket of three, two beside", blanket(3, 4), {"max_neighbours": 2}),
        ("p-values in four bars", PValueDisplay(np.array([0.25, 0.5, 0.9]), 0.1), {"bins": 4}),
        ("update of three", update(), {"max_columns": 3}),
    ],
)
def test_drawings_with_a_setting_are_those_on_record(name, display, settings):
    drawn = display.plot(**settings)
    try:
        RECORD.check(name, described(drawn.ax_))
    finally:
        plt.close(drawn.figure_)


class Fitted(BaseEstimator):
    """What a plot reads of a fitted selector."""

    def fit(self, X, y):
        """Return what is fitted already."""
        return self


def fitted(**attributes):
    made = Fitted()
    vars(made).update(attributes)
    return made


def table(**columns):
    n = len(next(iter(columns.values())))
    usual = {
        "column": [f"x{number}" for number in range(n)],
        "selected": [True] * n,
        "redundant_with": [None] * n,
        "detectable": [None] * n,
        "importance_low": [NAN] * n,
        "importance_high": [NAN] * n,
    }
    return pd.DataFrame({**usual, **columns})


@pytest.fixture
def ax():
    figure = plt.Figure()
    return figure.subplots()


def test_a_table_of_results_is_read_by_column():
    texts = pd.Series(["x", None], dtype=object)
    frame = pd.DataFrame({"a": [1.5, None], "b": [True, False], "c": texts, "d": [["y"], None]})
    results = results_of(fitted(results_=frame))
    np.testing.assert_array_equal(results.numbers("a"), [1.5, NAN])
    assert results.flags("b").tolist() == [True, False]
    assert results.flags("b").dtype == bool
    assert results.texts("c") == ["x", ""]
    assert results.lists("d") == [["y"], []]


def test_bounds_are_drawn_for_columns_that_have_one(ax):
    drawn = AtLeastDisplay.from_estimator(fitted(results_=table(at_least=[2.0, NAN, 1.0])), ax=ax)
    assert drawn.bounds.tolist() == [1.0, 2.0]
    with pytest.raises(InvalidInputError, match="This Fitted has no bounds to draw"):
        AtLeastDisplay.from_estimator(fitted(results_=table(at_least=[NAN, None])), ax=ax)


def test_a_redundant_column_is_beside_the_most_important_of_its_members(ax):
    reasons = [None, None, ["x1", "x0"], ["x1"], ["x4"], None]
    results = table(redundant_with=reasons, importance=[0.1, 0.2, 0, 0, 0.3, 0])
    selector = fitted(results_=results, blanket_=np.array([4, 1, 0]))
    drawn = BlanketDisplay.from_estimator(selector, ax=ax)
    assert (drawn.members, drawn.importances, drawn.target) == (["x4", "x1", "x0"], [0.3, 0.2, 0.1], "target")
    assert drawn.redundant == {"x4": ["x4"], "x1": ["x2", "x3"], "x0": []}
    fewer = BlanketDisplay.from_estimator(selector, max_members=1, ax=ax)
    assert (fewer.members, fewer.importances) == (["x4"], [0.3])
    assert fewer.redundant == {"x4": ["x4"]}
    many = fitted(results_=table(importance=[1.0] * 13), blanket_=np.arange(13))
    assert len(BlanketDisplay.from_estimator(many, ax=ax).members) == 12


def test_importances_are_ranked_among_the_selected_and_the_others(ax):
    results = table(
        importance=[0.1, 0.4, NAN, 0.2, 0.9],
        selected=[True, False, True, True, False],
        importance_low=[0.0, 0.3, NAN, 0.1, 0.8],
        importance_high=[0.2, 0.5, NAN, 0.3, 1.0],
        detectable=[0.5, None, 0.3, 0.5, NAN],
    )
    drawn = ImportanceDisplay.from_estimator(fitted(results_=results), ax=ax)
    assert drawn.names == ["x3", "x0", "x4", "x1"]
    assert drawn.importances.tolist() == [0.2, 0.1, 0.9, 0.4]
    assert drawn.lows.tolist() == [0.1, 0.0, 0.8, 0.3]
    assert drawn.highs.tolist() == [0.3, 0.2, 1.0, 0.5]
    assert drawn.selected.tolist() == [True, True, False, False]
    assert drawn.detectable == (0.3, 0.5)
    many = fitted(results_=table(importance=np.arange(21.0)))
    assert len(ImportanceDisplay.from_estimator(many, ax=ax).names) == 20
    assert ImportanceDisplay.from_estimator(many, max_columns=2, ax=ax).names == ["x20", "x19"]


def asked(**columns):
    n = len(next(iter(columns.values())))
    usual = {
        "features": range(n),
        "is_marginal": [True] * n,
        "phases": ["growth"] * n,
        "is_favorable": [True] * n,
    }
    arrays = Of(**{name: np.array(values) for name, values in {**usual, **columns}.items()})
    return type("Trace", (), {"question_arrays": lambda self: arrays, "__len__": lambda self: 1})()


def test_the_first_answer_about_a_column_on_its_own_counts(ax):
    trace = asked(
        pvalues=[0.1, 0.2, 0.3, 0.4, 0.5],
        features=[2, 1, 2, 0, 1],
        is_marginal=[True, False, True, True, True],
    )
    drawn = PValueDisplay.from_estimator(fitted(trace_=trace, alpha=0.07), ax=ax)
    assert drawn.pvalues.tolist() == [0.1, 0.4, 0.5]
    assert drawn.alpha == 0.07
    assert len(ax.patches) == 20
    with pytest.raises(InvalidInputError, match="Fitted asked about no column on its own"):
        PValueDisplay.from_estimator(
            fitted(trace_=asked(pvalues=[0.1], is_marginal=[False]), alpha=0.05), ax=ax
        )


def test_the_questions_of_a_timeline(ax):
    trace = asked(pvalues=[0.1, 0.2], phases=["growth", "shrink"], is_favorable=[True, False])
    drawn = TimelineDisplay.from_estimator(fitted(selector_=fitted(trace_=trace, alpha=0.1)), ax=ax)
    assert drawn.phases == ["growth", "shrink"]
    assert drawn.is_favourable.tolist() == [True, False]
    assert (drawn.pvalues.tolist(), drawn.alpha) == ([0.1, 0.2], 0.1)


@pytest.mark.parametrize(
    ("n_favorable", "n_others", "n_shown"),
    [
        (0, 5000, 5000),
        (1, 4999, 4999),
        (1, 5000, 2500),
        (4500, 500, 500),
        (4501, 500, 500),
        (4501, 501, 251),
        (6000, 1000, 500),
        (6000, 1001, 334),
        (0, 10_000, 5000),
        (0, 10_001, 3334),
    ],
)
def test_a_timeline_has_room_for_five_thousand_questions(n_favorable, n_others, n_shown):
    is_favorable = np.arange(n_favorable + n_others) >= n_others
    found = TimelineDisplay(is_favorable * 0.5, [], is_favorable, 0.05)._shown()
    assert np.count_nonzero(found < n_others) == n_shown
    assert np.count_nonzero(found >= n_others) == n_favorable
    assert found[0] == 0
    assert (np.diff(found) > 0).all()


def test_roles_are_drawn_if_a_question_decided_one(ax):
    roles = [role(f"x{number}", "undecided") for number in range(17)]
    search = {"trace_": type("Trace", (), {"data": Of(target="y"), "__len__": lambda self: 1})()}
    with pytest.raises(InvalidInputError, match="The questions of Fitted determine no role"):
        RolesDisplay.from_estimator(fitted(roles_=roles, **search), ax=ax)
    roles[0] = role("x0", "parent", ("x0", "y"))
    drawn = RolesDisplay.from_estimator(fitted(roles_=roles, **search), ax=ax)
    assert (drawn.roles, drawn.target) == (roles[:16], "y")
    assert (
        RolesDisplay.from_estimator(fitted(roles_=roles, **search), max_columns=2, ax=ax).roles == roles[:2]
    )


def test_methods_without_a_score_are_left_out(ax):
    def method(name, scores, **numbers):
        return Of(name=name, scores=scores, **{"n_columns": 2.0, "score": 0.5, "score_error": 0.1, **numbers})

    methods = [
        method("a", (0.5,)),
        method("b", ()),
        method("c", (0.7,), n_columns=3.0, score=0.7, score_error=0.2),
    ]
    drawn = ScoreSizeDisplay.from_comparison(Of(methods=methods, scoring="r2"), ax=ax)
    assert (drawn.labels, drawn.score_name, drawn.chosen) == (["a", "c"], "r2", None)
    assert [drawn.sizes.tolist(), drawn.scores.tolist(), drawn.errors.tolist()] == [
        [2.0, 3.0],
        [0.5, 0.7],
        [0.1, 0.2],
    ]
    with pytest.raises(InvalidInputError, match="No method was scored"):
        ScoreSizeDisplay.from_comparison(Of(methods=[method("b", ())], scoring="r2"), ax=ax)


def test_candidates_are_drawn_with_the_chosen_one(ax):
    results = {"mean_n_features": [2, 3], "mean_test_score": [0.5, 0.7], "se_test_score": [0.1, 0.2]}
    drawn = ScoreSizeDisplay.from_estimator(fitted(cv_results_=results, best_index_=np.int64(1)), ax=ax)
    assert [drawn.sizes.tolist(), drawn.scores.tolist(), drawn.errors.tolist()] == [
        [2, 3],
        [0.5, 0.7],
        [0.1, 0.2],
    ]
    assert (drawn.chosen, drawn.labels, drawn.score_name) == (1, (), "score")


def test_candidates_of_a_search_that_is_not_fitted_are_not_drawn(ax):
    with pytest.raises(NotFittedError):
        ScoreSizeDisplay.from_estimator(Fitted(), ax=ax)
    with pytest.raises(InvalidInputError, match="Fitted compared no candidates"):
        ScoreSizeDisplay.from_estimator(fitted(n_=1), ax=ax)


@pytest.mark.parametrize(
    ("points", "phases", "words"),
    [
        (8.2, "g", []),
        (8.3, "g", ["growth"]),
        # The second name has room beside the first, and half a letter less is too little.
        (77.5, "gggggsssss", ["growth", "shrink"]),
        (76.5, "gggggsssss", ["growth"]),
    ],
)
def test_names_of_phases_are_written_where_they_have_room(points, phases, words):
    ax = plt.Figure(figsize=(points / 72, 1)).add_axes((0, 0, 1, 1))
    timeline(phases)._mark_phases(ax)
    assert [text.get_text() for text in ax.texts] == words


@pytest.mark.parametrize(
    ("sizes", "values", "front"),
    [
        ([1, 2, 3], [0.5, 0.6, 0.7], [0, 1, 2]),
        ([3, 2, 1], [0.5, 0.6, 0.7], [2]),
        # Of equal sizes the better one, of equal scores the smaller one.
        ([1, 1, 2], [0.5, 0.6, 0.6], [1]),
        ([2, 1, 2], [-1.0, -2.0, -3.0], [1, 0]),
        ([1, 2], [NAN, 0.1], [1]),
    ],
)
def test_the_pareto_front(sizes, values, front):
    assert _front(np.array(sizes, dtype=float), np.array(values)) == front


def test_folds_are_ranked_by_how_many_selected_a_column(ax):
    blankets = [(1, 2), (3, 2, 0), (2, 3)]
    folds = [Of(blanket=one, is_chosen=number == 1) for number, one in enumerate(blankets)]
    trace = type("Trace", (), {"column_names": list("abcdef"), "__len__": lambda self: 1})()
    search = fitted(trace_=trace, folds_=folds, support_=np.zeros(6, dtype=bool))
    drawn = StabilityDisplay.from_estimator(search, ax=ax)
    # Of the columns of one fold, that of the chosen fold comes first.
    assert (drawn.names, drawn.chosen, drawn.threshold) == (["c", "d", "a", "b"], 1, None)
    assert drawn.shares.tolist() == [1, 2 / 3, 1 / 3, 1 / 3]
    assert drawn.members.tolist() == [
        [True, True, True],
        [False, True, True],
        [False, True, False],
        [True, False, False],
    ]
    assert StabilityDisplay.from_estimator(search, max_columns=1, ax=ax).names == ["c"]


def test_shares_are_ranked_and_columns_never_selected_are_left_out(ax):
    selector = fitted(threshold_=0.6, stability_=[0.2, 0.0, 0.9, 0.2], results_=table(importance=[0.0] * 4))
    drawn = StabilityDisplay.from_estimator(selector, ax=ax)
    assert (drawn.names, drawn.shares.tolist()) == (["x2", "x0", "x3"], [0.9, 0.2, 0.2])
    assert (drawn.threshold, drawn.members, drawn.chosen) == (0.6, None, None)
    assert StabilityDisplay.from_estimator(selector, max_columns=2, ax=ax).names == ["x2", "x0"]
    many = fitted(threshold_=0.6, stability_=[0.5] * 21, results_=table(importance=[0.0] * 21))
    assert len(StabilityDisplay.from_estimator(many, ax=ax).names) == 20


def test_the_columns_of_an_update_are_limited(ax):
    watched = Of(found=update(["no evidence"] * 21, np.arange(21.0)).update)
    UpdateDisplay.from_estimator(fitted(_watched=watched, n_=1), ax=ax)
    assert len(ax.patches) == 20
    again = plt.Figure().subplots()
    UpdateDisplay.from_estimator(fitted(_watched=watched, n_=1), max_columns=2, ax=again)
    assert [label.get_text() for label in again.get_yticklabels()] == ["x20: no evidence", "x19: no evidence"]


@pytest.mark.parametrize(
    ("n_letters", "name"), [(32, "a" * 30 + "yz"), (33, "a" * 16 + "…" + "a" * 13 + "yz")]
)
def test_names_of_more_than_thirty_two_letters_are_shortened(n_letters, name):
    assert shown("a" * (n_letters - 2) + "yz") == name


def test_control_characters_in_a_name_are_escaped():
    assert shown("a\nb") == r"a\nb"


def test_colors_tell_selected_columns_from_others():
    assert {SELECTED, DROPPED} == {"#0072B2", "#8A8F98"}


@pytest.mark.parametrize(
    ("attributes", "label", "sentence"),
    [
        (
            {"independence_": PPI()},
            "rise in risk without the column",
            "mean rise in risk when the column is replaced by a random stand-in in the test rows",
        ),
        (
            {"selector_": fitted(independence_=FisherZ())},
            "effect size of FisherZ",
            "the effect size, on the scale of the test",
        ),
        (
            {"importances_": [0.5]},
            "decrease of the score when the column is shuffled",
            "mean decrease of the score when the column is shuffled",
        ),
        ({}, None, None),
    ],
)
def test_what_importances_are(attributes, label, sentence):
    meaning = meaning_of_importances(fitted(**attributes))
    assert (meaning.label, meaning.sentence) == (label, sentence) if label else meaning is None
