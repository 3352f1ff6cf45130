"""Joint growth and the question about the rest: which features the regrouped tables have, and what is asked of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from checks.scripted import ScriptedTest, scripted, told
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from ppfs._conventions import watched_phases
from ppfs._data.reading import read_table
from ppfs._fitting import DEFAULT_PANEL
from ppfs.blanket._steps import joint_growth, second_look
from ppfs.blanket._steps.joint_growth import (
    bind_to_all,
    bind_with,
    grow_jointly,
    is_worth_it,
    model_of_all,
    n_asked_jointly,
    require_joint_growth,
    shrink_jointly,
    suits_joint_growth,
)
from ppfs.blanket._steps.second_look import (
    add_from_the_rest,
    can_ask_together,
    look_again,
    models_of_the_rest,
    most_looked_at,
)
from ppfs.exceptions import InvalidInputError
from ppfs.independence import CrossFitPPI, FisherZ, IndependenceResult
from ppfs.independence._answers import CANNOT_TELL


def table_with_copies(n_rows=60, n_columns=7, **given):
    """Return a table in which columns 1 and 4 are near copies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 4] = X[:, 1] + 0.01 * X[:, 4]
    return read_table(X, rng.normal(size=n_rows), task="regression", owner=FisherZ(), **given)


class Asked:
    """Binds scripted tests to regrouped tables; questions are told by columns."""

    def __init__(self, pvalues):
        self.pvalues, self.questions = pvalues, []

    def __call__(self, table):
        def answer(x, target, others):
            columns = [table.columns[feature] for feature in sorted(others)]
            self.questions.append((table.columns[x], columns, target == table.target))
            own = self.pvalues.get(table.columns[x], 1.0)
            own = own.pop(0) if isinstance(own, list) else own
            return own if isinstance(own, IndependenceResult) else IndependenceResult(own, 3.0, 1.0 - own)

        return ScriptedTest(table, answer, models=("one", "two"))


def test_near_copies_are_one_feature_of_the_model_of_all_columns():
    inquiry = scripted({}, 7, table=table_with_copies(), always_keep=(2,), condition_on=(5,))
    bind = Asked({(0,): 0.02, (1, 4): 0.001, (3,): 0.04, (6,): 0.5})
    with watched_phases() as phases:
        found = grow_jointly(inquiry, inquiry.candidates, "bonferroni", bind)
    groups = [(0,), (1, 4), (2,), (3,), (5,), (6,)]
    asked = [(0,), (1, 4), (3,), (6,)]
    assert bind.questions == [(own, [group for group in groups if group != own], True) for own in asked]
    assert [(x, result.pvalue) for x, result in found] == [(1, 0.001), (4, 0.001)]
    given = "0 1 4 3 6 2 5"
    assert told(inquiry.trace) == [
        f"joint growth: 0 | {given} adjusted 0.1 rejected",
        f"joint growth: 1 | {given} adjusted 0.005 candidate",
        f"joint growth: 4 | {given} adjusted 0.005 candidate",
        f"joint growth: 3 | {given} adjusted 0.2 rejected",
        f"joint growth: 6 | {given} adjusted 1 rejected",
    ]
    assert all(step.model_pvalues == () for step in inquiry.trace)
    assert inquiry.trace.notes == [
        "joint growth: near copies, and columns that the others determine, were tested as one feature each: "
        "'x1 and 1 more'"
    ]
    assert [(phase.label, phase.total) for phase in phases] == [("joint growth", 4)]


def test_an_adjusted_p_value_that_equals_the_level_enters():
    inquiry = scripted({}, 7, table=table_with_copies(), alpha=0.5)
    found = grow_jointly(inquiry, [0, 2], None, Asked({(0,): 0.5, (2,): 0.500001}))
    assert [x for x, _ in found] == [0]
    assert inquiry.trace.notes == []


def test_of_many_columns_a_model_has_the_most_promising(monkeypatch):
    seen = []

    def promising(table, columns, settled, at_most, n_jobs):
        seen.append((list(columns), settled, at_most, n_jobs))
        return [(40, 3), (3, 7), *((x, x + 20) for x in range(10, 20)), (8, 9)]

    monkeypatch.setattr(joint_growth, "most_promising_pairs", promising)
    rng = np.random.default_rng(0)
    table = read_table(rng.normal(size=(60, 43)), rng.normal(size=60), task="regression", owner=FisherZ())
    inquiry = scripted({}, 43, table=table, condition_on=(42,))
    bind = Asked({(7,): 1e-6})
    found = grow_jointly(inquiry, range(42), "bonferroni", bind, n_jobs=3)
    assert seen == [(list(range(42)), frozenset(), 20, 3)]
    chosen = sorted([40, 3, 7, *range(10, 19), *range(30, 38)])
    assert [own for own, *_ in bind.questions] == [(x,) for x in chosen]
    assert [x for x, _ in found] == [7]
    [step] = [step for step in inquiry.trace if step.feature == 7]
    assert step.given == (*chosen, 42)
    assert step.adjusted_pvalue == pytest.approx(42 * 41 / 2 * 1e-6)
    assert {step.phase for step in inquiry.trace} == {"joint growth of promising pairs"}
    assert inquiry.trace.notes == [
        "joint growth of promising pairs: a model has 20 of 42 columns; its p-values are adjusted for all 861 pairs"
    ]


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_asked"),
    [(60, 40, 40), (60, 41, 20), (409, 41, 20), (410, 41, 41), (410, 42, 20), (510, 52, 25), (510, 51, 51)],
)
def test_a_model_has_a_column_for_every_ten_rows_or_forty(n_rows, n_columns, n_asked):
    assert n_asked_jointly(n_rows, n_columns) == n_asked


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "suits"),
    [
        (10, 0, False), (10, 1, False), (10, 2, True), (4000, 500, True), (3000, 501, False), (4001, 500, False),
        (10_000, 200, True), (10_001, 2, False), (10_000, 201, False),
    ],
)  # fmt: skip
def test_joint_growth_suits_small_tables(n_rows, n_columns, suits):
    assert suits_joint_growth(n_rows, n_columns) is suits


def pretended(n_rows=100, n_columns=5, **given):
    """Return an inquiry about a table that has nothing but a size."""
    table = {"overlap": False, "is_sparse": False, "n_outputs": 1, "n_more": None} | given
    shown = SimpleNamespace(
        n_rows=n_rows,
        storage=SimpleNamespace(n_more=table["n_more"]),
        features=SimpleNamespace(overlap=table["overlap"]),
        is_sparse=table["is_sparse"],
        codes=np.zeros(n_rows) if table["n_outputs"] == 1 else np.zeros((n_rows, table["n_outputs"])),
    )
    return SimpleNamespace(test=SimpleNamespace(table=shown), candidates=range(n_columns))


PANEL, OWN = CrossFitPPI(DEFAULT_PANEL), CrossFitPPI(LinearRegression())


@pytest.mark.parametrize(
    ("table", "test", "obstacle"),
    [
        ({}, PANEL, ""),
        ({"n_more": 5}, PANEL, ""),
        ({"n_more": 4}, OWN, "X is a path, and memory_limit has room for 4 of its 5 columns"),
        ({"overlap": True}, OWN, "some features share columns, so that models would have these twice"),
        ({"is_sparse": True}, OWN, ""),
        ({"is_sparse": True}, FisherZ(), ""),
        ({"is_sparse": True}, PANEL, "X is sparse, and gradient boosting, the preset's model of all columns, needs a "
         "dense matrix"),
        ({"n_outputs": 3}, OWN, ""),
        ({"n_outputs": 3}, PANEL, "the target has 3 columns, and gradient boosting predicts one"),
        ({"n_columns": 40, "n_outputs": 2}, OWN, ""),
        ({"n_columns": 41, "n_outputs": 2}, OWN, "there are 41 columns and 100 rows: it takes 10 rows per column, or "
         "at most 2,000 columns and a target of one column"),
        ({"n_columns": 2000}, OWN, ""),
        ({"n_columns": 2001}, OWN, "there are 2,001 columns and 100 rows: it takes 10 rows per column, or at most "
         "2,000 columns and a target of one column"),
        ({"n_columns": 2001, "n_rows": 20_010}, OWN, ""),
    ],
)  # fmt: skip
def test_what_stands_against_joint_growth_is_said(table, test, obstacle):
    inquiry = pretended(**table)
    if not obstacle:
        require_joint_growth(inquiry, test, "both")
        assert is_worth_it(inquiry, test) is (
            inquiry.test.table.n_rows <= 10_000 and len(inquiry.candidates) <= 500
        )
        return
    with pytest.raises(InvalidInputError) as raised:
        require_joint_growth(inquiry, test, "both")
    assert str(raised.value) == (
        f"growth='both' fits models of all columns at once, but {obstacle}. Use growth='auto', which leaves joint "
        "growth out in such a case, or growth='marginal' with second_look=True."
    )
    assert not is_worth_it(inquiry, test)


def test_boosting_stands_in_for_the_panel_only():
    assert isinstance(model_of_all("classification"), HistGradientBoostingClassifier)
    assert isinstance(model_of_all("regression"), HistGradientBoostingRegressor)
    table = table_with_copies()
    inquiry = scripted({}, 7, table=table)
    inquiry = type(inquiry)(FisherZ().bind(table), 7, 0.05, inquiry.trace, 0)
    bound = bind_with(FisherZ(), inquiry, None)(table.regrouped([(x,) for x in (3, 0, 1, 2, 6, 5, 4)]))
    assert bound.known is inquiry.test.known
    assert inquiry.companions == [inquiry.test, bound]
    seen = []

    class Watched(CrossFitPPI):
        def bind_beside(self, bound, table):
            seen.append((self.estimator, self.marginal_estimator, self.n_draws))
            return bound

    panel = Watched("panel", n_draws=7, marginal_estimator=LinearRegression())
    bind_to_all(panel, inquiry)(table)
    assert isinstance(seen[0][0], HistGradientBoostingRegressor)
    assert seen[0][1:] == (None, 7)
    assert panel.estimator == "panel"
    own = Watched(LinearRegression(), marginal_estimator=LinearRegression())
    bind_to_all(own, inquiry)(table)
    assert isinstance(seen[1][0], LinearRegression)
    assert seen[1][1] is own.marginal_estimator


def test_what_the_shrink_phase_dropped_is_asked_about_again_at_a_tenth_of_the_level():
    inquiry = scripted({}, 7, table=table_with_copies(), always_keep=(6,))
    found = [
        (x, IndependenceResult(pvalue, 1.0, 1.0))
        for x, pvalue in ((0, 0.01), (2, 1e-9), (3, 0.02), (5, 1e-5))
    ]
    bind = Asked({(0,): 0.0024, (3,): 0.0026, (5,): 0.5})
    # Three were dropped: each is compared with a thirtieth of the level.
    assert shrink_jointly(inquiry, found, [2, 6], bind) == [2, 6]
    assert told(inquiry.trace) == [
        "joint shrink: 3 | 3 0 5 2 6 adjusted 0.078 dropped",
        "joint shrink: 0 | 0 5 2 6 adjusted 0.072 dropped",
        "joint shrink: 5 | 5 2 6 adjusted 1 dropped",
    ]
    assert shrink_jointly(inquiry, found, [2, 6], Asked({(0,): 0.0016})) == [0, 2, 6]
    assert shrink_jointly(inquiry, found[1:2], [2, 6], bind) == [2, 6]
    assert len(inquiry.trace) == 6


@pytest.mark.parametrize(
    ("n_rows", "most"), [(1, 100), (100_000, 100), (100_001, 99), (909_090, 11), (909_091, 10), (10**7, 10)]
)
def test_columns_of_ten_million_values_are_looked_at_again(n_rows, most):
    assert most_looked_at(n_rows) == most


def test_a_second_look_shrinks_until_nothing_enters():
    """Column 1 enters beside 0, and 2 beside both; 3 cannot be judged; 4 is found jointly and not asked about."""
    script = {(1, 0, 4): 0.01, (2, 0, 1, 4): 0.005, (0, 1, 4): 1e-9, (1, 0, 2, 4): 0.03, (0, 1, 2, 4): 1e-9,
              (2, 0, 4): 0.2, (3, 0, 4): CANNOT_TELL}  # fmt: skip
    inquiry = scripted(script, 5, table=table_with_copies(n_columns=5))
    with watched_phases() as phases:
        assert sorted(look_again(inquiry, [0, 4], "bonferroni", found_jointly=[4], n_jobs=2)) == [0, 1, 2, 4]
    assert told(inquiry.trace) == [
        "second look: 1 | 0 4 adjusted 0.03 candidate",
        "second look: 2 | 0 4 adjusted 0.6 rejected",
        "second look: 3 | 0 4 rejected",
        "shrink: 1 | 1 0 4 kept",
        "shrink: 0 | 1 0 4 kept",
        "second look: 2 | 1 0 4 adjusted 0.01 candidate",
        "second look: 3 | 1 0 4 rejected",
        "shrink: 1 | 1 2 0 4 kept",
        "shrink: 2 | 1 2 0 4 kept",
        "shrink: 0 | 1 2 0 4 kept",
        "second look: 3 | 1 2 0 4 rejected",
    ]
    labels = ["second look", "shrink", "shrink", "second look", "shrink", "shrink", "second look"]
    assert [(bar.label, bar.total) for bar in phases] == list(zip(labels, [3, 2, 2, 2, 3, 3, 1], strict=True))


def test_a_second_look_beside_nothing_asks_nothing():
    inquiry = scripted({}, 4, table=table_with_copies(n_columns=5))
    assert look_again(inquiry, [], "bh") == []
    assert len(inquiry.trace) == 0


@pytest.mark.parametrize("n_rounds", [1, 2, 3, 4])
def test_there_are_at_most_three_rounds(n_rounds):
    """In each round one more column enters."""
    script = {(x, *range(x)): 1e-6 for x in range(1, n_rounds + 1)}
    for x in range(n_rounds + 1):
        for n in range(n_rounds + 2):
            if x < n:
                script[x, *(z for z in range(n) if z != x)] = 1e-9
    inquiry = scripted(script, 7, table=table_with_copies())
    assert sorted(look_again(inquiry, [0], "bh")) == list(range(min(3, n_rounds) + 1))


def test_of_many_rejected_columns_the_affordable_are_looked_at(monkeypatch):
    monkeypatch.setattr(second_look, "most_promising_beside", lambda *given: asked.append(given) or [3, 1])
    asked = []
    inquiry = scripted({(1, 0): 0.01, (1, 0, 3): 0.01}, 7, table=table_with_copies(), fold=2)
    look_again(inquiry, [0], "bonferroni", n_jobs=4)
    table = inquiry.test.table
    assert asked[0] == (table, 7, [0], [1, 2, 3, 4, 5, 6], 100, 4)
    assert told(inquiry.trace)[:2] == [
        "second look: 3 | 0 rejected",
        "second look: 1 | 0 adjusted 0.06 rejected",
    ]
    assert inquiry.trace.notes == [
        "fold 2: second look: 2 of 6 rejected columns were tested, those that explain most of what the selected "
        "columns leave; the p-values are adjusted for all of them"
    ]
    few = SimpleNamespace(n_rows=100, storage=SimpleNamespace(n_more=7))
    assert second_look._at_most(few) == 7
    few.storage.n_more = 101
    assert second_look._at_most(few) == 100


def test_the_rest_is_one_feature_beside_the_members():
    inquiry = scripted(
        {(x, 0, 2): 0.1 * x for x in range(1, 7)},
        7,
        table=table_with_copies(),
        condition_on=(2,),
        withheld=(5,),
    )
    rest = inquiry.test.table.order.canonical([1, 3, 4, 6])
    after = inquiry.test.table.order.canonical([3, 4, 6])
    bind = Asked({rest: [0.01, 0.03], after: 0.3})
    assert add_from_the_rest(inquiry, [0], bind) == [0, 1]
    assert bind.questions == [
        (rest, [(0,), (2,)], True),
        (after, [(0,), (1,), (2,)], True),
        (rest, [(0,), (2,)], True),
    ]
    assert [step for step in told(inquiry.trace) if "rest" in step] == [
        "rest together: 1 | 0 2 without 5 added",
        "rest together: 1 | 0 2 without 5 kept",
    ]
    assert inquiry.trace.notes == [
        "rest together: no evidence that the 3 rejected columns together add to the selected ones (p = 0.3)"
    ]


def test_five_columns_of_the_rest_are_singled_out(monkeypatch):
    seen = []

    def promising(table, target, members, rest, at_most, n_jobs):
        seen.append((target, list(members), list(rest), at_most, n_jobs))
        return [4, 1]

    monkeypatch.setattr(second_look, "most_promising_beside", promising)
    own = {(4, 0): IndependenceResult(0.3, 1.0, 0.7, root_effect=(0.1, 0.2)), (1, 0): 0.4}
    inquiry = scripted(own, 7, table=table_with_copies())
    rest = [inquiry.test.table.order.canonical(columns) for columns in ([1, 2, 3, 4, 5, 6], [1, 2, 3, 5, 6])]
    together = IndependenceResult(0.01, 5.0, 0.9, model_pvalues=(0.1, 0.2), root_effect=(0.5, 0.6))
    bind = Asked({rest[0]: [together, IndependenceResult(0.2, 6.0, 0.8)], rest[1]: 0.6})
    assert add_from_the_rest(inquiry, [0], bind, n_jobs=3) == [0]
    assert seen == [(7, [0], [1, 2, 3, 4, 5, 6], 5, 3)]
    steps = [(step.phase, step.feature, step.pvalue, step.effect, step.root_effect, step.model_pvalues, step.decision)
             for step in inquiry.trace]  # fmt: skip
    assert steps == [
        ("second look", 4, 0.3, 0.7, (0.1, 0.2), (), "rejected"),
        ("second look", 1, 0.4, 0.6, (), (), "rejected"),
        ("rest together", 4, 0.01, 0.7, (0.1, 0.2), (), "added"),
        ("rest together", 4, 0.2, 0.7, (0.1, 0.2), (), "dropped"),
    ]
    assert inquiry.trace.notes == [
        "rest together: no evidence that the 6 rejected columns together add to the selected ones (p = 0.2)"
    ]


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "can"), [(1000, 100, True), (100_000, 1, True), (100_001, 1, False)]
)
def test_the_rest_of_a_hundred_thousand_values_is_asked_about(n_rows, n_columns, can):
    inquiry = pretended(n_rows, n_columns)
    inquiry.test.table.task, inquiry.test.table.is_in_memory = "regression", True
    assert can_ask_together(inquiry, PANEL) is can
    inquiry.test.table.is_in_memory = False
    assert not can_ask_together(inquiry, PANEL)
    inquiry.test.table.is_in_memory, inquiry.test.table.features.overlap = True, True
    assert not can_ask_together(inquiry, PANEL)


@pytest.mark.parametrize(
    ("task", "n_outputs", "is_sparse", "n_models"),
    [
        ("regression", 1, False, 2),
        ("classification", 1, False, 2),
        ("regression", 2, False, 1),
        ("regression", 1, True, 1),
    ],
)
def test_a_line_and_boosting_are_asked_about_the_rest(task, n_outputs, is_sparse, n_models, monkeypatch):
    monkeypatch.setattr(second_look, "usable_members", lambda panel, table: [panel, "other"])
    table = SimpleNamespace(
        task=task, is_sparse=is_sparse, codes=np.zeros((4, n_outputs)) if n_outputs > 1 else np.zeros(4)
    )
    found = models_of_the_rest(table)
    assert found[0] == DEFAULT_PANEL
    assert [type(model) for model in found[1:]] == [type(model_of_all(task))] * (n_models - 1)
