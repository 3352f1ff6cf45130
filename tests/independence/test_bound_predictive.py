"""The predictive test of one table: what it says of itself, in which batches it answers, and which targets it keeps."""

import numpy as np
import pandas as pd
import pytest
from checks.recorded import Record
from reference.made_columns import numbers
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from ppfs._data import read_table
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive import bound_predictive
from ppfs.independence._predictive.bound_predictive import BoundPredictiveTest
from ppfs.independence._predictive.residuals import ModelProducts, ResidualProducts

RECORD = Record(__file__)
SEEDED = {"random_state": 0}


def table(n_rows=40, n_columns=6, owner=None, **said):
    X = np.column_stack([numbers(n_rows, seed=seed) for seed in range(n_columns)])
    y = X[:, 0] + 0.5 * X[:, 1] + numbers(n_rows, seed=99)
    return read_table(X, y, **{"task": "regression", "owner": owner, **said})


def mixed(n_rows=40):
    frame = pd.DataFrame(
        {"a": numbers(n_rows), "b": pd.Categorical(np.array(["x", "y"])[np.arange(n_rows) % 2])}
    )
    return read_table(frame, numbers(n_rows, seed=9), task="regression", owner=None)


TESTS = {
    "tree": CrossFitPPI(**SEEDED),
    "panel": CrossFitPPI("panel", **SEEDED),
    "panel, tail": CrossFitPPI("panel", exact_tail=True, **SEEDED),
    "lines": CrossFitPPI(LinearRegression(), **SEEDED),
    "neighbors": CrossFitPPI(KNeighborsRegressor(), **SEEDED),
    "neighbors, no tail": CrossFitPPI(KNeighborsRegressor(), exact_tail=False, **SEEDED),
    "draws": CrossFitPPI(Ridge(), n_draws=19, significance="randomisation", **SEEDED),
    "members": CrossFitPPI([LinearRegression(), DecisionTreeRegressor(max_depth=2)], **SEEDED),
    "of its own": CrossFitPPI(Ridge(), marginal_estimator=KNeighborsRegressor(), **SEEDED),
    "panel given nothing": CrossFitPPI(Ridge(), marginal_estimator="panel", **SEEDED),
    "permutations": CrossFitPPI(Ridge(), knockoff="permutation", **SEEDED),
    "paper": PPI(Ridge(), n_splits=5, **SEEDED),
    "paper, members": PPI([Ridge(), DecisionTreeRegressor(max_depth=2)], n_splits=20, **SEEDED),
}


@pytest.mark.parametrize("name", TESTS)
def test_what_a_test_says_of_itself_is_on_record(name):
    found = {}
    for kind, made in {"numbers": table(), "mixed": mixed()}.items():
        if kind == "mixed" and "neighbors" in name:
            continue
        bound = TESTS[name].bind(made)
        tail = bound.exact_tail(made.target)
        found[kind] = {
            "notes": bound.notes(),
            "models": bound.models,
            "smallest": bound.smallest_pvalue,
            "tail": None if tail is None else [tail.fold, tail.n_jobs, tail.target, len(tail.contrasts)],
            "fits": bound.n_fits,
        }
        assert bound.exact_tail(made.target) is tail
    RECORD.check(name, found)


@pytest.mark.parametrize(
    ("n_rows", "exact_tail", "said", "is_counted"),
    [
        (500, "auto", {}, True),
        (501, "auto", {}, False),
        (501, True, {}, True),
        (40, False, {}, False),
        (40, "auto", {"time": "index"}, False),
        (40, "auto", {"groups": np.arange(40) // 2}, True),
    ],
)
def test_small_p_values_of_up_to_five_hundred_rows_are_counted(n_rows, exact_tail, said, is_counted):
    test = CrossFitPPI(LinearRegression(), exact_tail=exact_tail, **SEEDED)
    bound = test.bind(table(n_rows, 2, **said))
    tail = bound.exact_tail(bound.table.target)
    assert (tail is not None) == is_counted
    if tail is not None:
        assert len(tail.contrasts) == ("groups" not in said)


def test_models_that_are_not_refitted_quickly_are_counted_where_that_is_asked_for():
    for exact_tail, is_counted in (("auto", False), (True, True)):
        bound = CrossFitPPI(KNeighborsRegressor(), exact_tail=exact_tail, **SEEDED).bind(table(n_columns=2))
        assert (bound.exact_tail(bound.table.target) is not None) == is_counted


def test_a_search_for_members_gets_one_answer_first_and_for_others_many(monkeypatch):
    bound = TESTS["lines"].bind(table(n_columns=40))
    batches = []
    monkeypatch.setattr(
        BoundPredictiveTest,
        "_judge",
        lambda self, xs, target, given: batches.append(list(xs)) or iter([None] * len(xs)),
    )
    target = bound.table.target
    list(bound._answers(list(range(39)), target, frozenset({39})))
    assert [len(batch) for batch in batches] == [39]
    batches.clear()
    list(bound._answers(list(range(9)), target, frozenset(range(9))))
    assert [len(batch) for batch in batches] == [1, 2, 4, 2]
    batches.clear()
    list(bound._answers([0, 1, 20, 2], target, frozenset({0, 1, 2})))
    assert batches == [[0], [1], [20], [2]]
    many = TESTS["lines"].bind(table(n_columns=140))
    batches.clear()
    list(many._answers(list(range(139)), many.table.target, frozenset({139})))
    assert [len(batch) for batch in batches] == [128, 11]
    # A question takes longer in a tall table.
    monkeypatch.setattr(bound_predictive, "MOST_ROWS_FORKED", many.table.n_rows - 1)
    batches.clear()
    list(many._answers(list(range(139)), many.table.target, frozenset({139})))
    assert [len(batch) for batch in batches] == [16, 32, 64, 27]


def test_runs_are_of_members_or_of_others():
    runs = bound_predictive._runs
    assert list(runs([1, 2], frozenset({1, 2, 3}))) == [(True, [1, 2])]
    assert list(runs([1, 2], frozenset())) == [(False, [1, 2])]
    assert list(runs([1, 4, 5, 2, 3], frozenset({1, 2, 3}))) == [(True, [1]), (False, [4, 5]), (True, [2, 3])]


def test_what_is_true_by_definition_needs_no_model():
    X = np.column_stack([numbers(40), numbers(40), np.ones(40), numbers(40, seed=2)])
    test = TESTS["lines"]
    bound = test.bind(read_table(X, numbers(40, seed=9), task="regression", owner=test))
    target = bound.table.target
    assert bound._is_trivial(2, frozenset())
    assert bound._is_trivial(1, frozenset({0, 3}))
    assert not bound._is_trivial(1, frozenset())
    assert not bound._is_trivial(1, frozenset({3}))
    assert not bound._is_trivial(target, frozenset({3}))
    answers = bound.query_many([1, 2, 3], target, {0})
    assert [answer.pvalue for answer in answers[:2]] == [1.0, 1.0]
    assert answers[2].pvalue < 1.0


class Fragile(DummyRegressor):
    """A model that fails on columns with large numbers."""

    def fit(self, X, y):
        if np.max(X) > 50.0:
            raise ValueError("too large")
        return super().fit(X, y)


def fragile(on_error, test):
    X = np.column_stack([numbers(40), 100.0 + numbers(40), numbers(40, seed=1), 200.0 + numbers(40, seed=2)])
    made = read_table(X, numbers(40, seed=9), task="regression", owner=test)
    return test.bind(made, on_error=on_error)


@pytest.mark.parametrize("given", [frozenset(), frozenset({0})])
def test_columns_that_a_model_fails_on_are_left_out_where_that_is_wished(given):
    test = CrossFitPPI(Fragile(), knockoff="permutation", n_folds=2, **SEEDED)
    bound = fragile("drop", test)
    xs = [1, 2, 3]
    answers = bound.query_many(xs, bound.table.target, given)
    assert [answer.is_reliable for answer in answers] == [False, True, False]
    assert set(bound.failures) == {1, 3}
    assert all(
        what.startswith("EstimatorFailedError: In split 0 Fragile()") for what in bound.failures.values()
    )
    with pytest.raises(EstimatorFailedError):
        fragile("raise", test).query_many(xs, bound.table.target, given)
    # Members cannot be left out.
    with pytest.raises(EstimatorFailedError):
        fragile("drop", test).query(1, bound.table.target, {0, 1})


def test_columns_that_fail_in_growth_are_left_out_too():
    bound = fragile(
        "drop", CrossFitPPI(Fragile(), knockoff="permutation", n_folds=2, exact_tail=False, **SEEDED)
    )
    found = dict(
        pair
        for xs, answers in bound._marginal_blocks(np.arange(4), bound.table.target)
        for pair in zip(xs.tolist(), answers.is_reliable.tolist(), strict=True)
    )
    assert found == {0: True, 1: False, 2: True, 3: False}
    assert set(bound.failures) == {1, 3}


def test_groups_of_columns_are_answered_one_by_one_between_blocks_of_single_columns():
    test = CrossFitPPI(Ridge(), n_folds=2, **SEEDED)
    made = table(owner=test, feature_groups={"pair": [1, 3]})
    bound = test.bind(made)
    widths = [made.is_single(x) for x in range(made.n_features)]
    assert widths.count(False) == 1
    blocks = list(bound._by_width(np.arange(made.n_features)))
    assert [is_single for is_single, _ in blocks] == [
        key for number, key in enumerate(widths) if number == 0 or key != widths[number - 1]
    ]
    assert np.concatenate([xs for _, xs in blocks]).tolist() == list(range(made.n_features))
    asked = list(bound._marginal_blocks(np.arange(made.n_features), made.target))
    alone = {x: bound._assess([x], made.target, frozenset()) for x in range(made.n_features)}
    for xs, answers in asked:
        for x, pvalue in zip(xs.tolist(), answers.pvalues, strict=True):
            (expected,) = alone[x]
            assert pvalue == expected.pvalue
    assert list(bound._by_width(np.empty(0, dtype=np.intp))) == []
    single = test.bind(table())
    assert [(kind, xs.tolist()) for kind, xs in single._by_width(np.arange(3))] == [(True, [0, 1, 2])]
    assert list(single._by_width(np.empty(0, dtype=np.intp))) == []


def test_models_of_the_target_and_of_the_last_eight_other_variables_are_kept():
    bound = CrossFitPPI(Ridge(), knockoff="permutation", n_folds=2, **SEEDED).bind(table(n_columns=12))
    own = bound.table.target
    members = bound._panel_of(1)
    fits = []
    for target in (own, *range(12)):
        bound.query(
            (target + 1) % 12 if target != own else 0, target, {(target + 2) % 12 if target != own else 1}
        )
        fits.append(bound.n_fits)
        kept = [one for one, _ in bound._risks]
        assert kept[0] == own
        assert kept[1:] == [*range(max(0, target - 7), target + 1)] if target != own else kept == [own]
    # Nothing is lost of what was counted.
    assert np.diff(fits).tolist() == [2] * 12
    assert members.numbers == (0,)


def test_products_of_the_last_eight_other_variables_are_kept_too():
    bound = TESTS["panel"].bind(table(n_columns=11))
    fits = []
    for target in range(11):
        bound.query((target + 1) % 11, target, {(target + 2) % 11})
        fits.append(bound.n_fits)
    assert list(bound._products) == list(range(3, 11))
    assert len(set(np.diff(fits).tolist())) == 1
    assert all(type(one) is ResidualProducts for one in bound._products.values())
    lines = TESTS["lines"].bind(table())
    assert type(lines._products_of(lines.table.target)) is ModelProducts


def test_models_answer_with_products_given_others_unless_draws_are_asked_for():
    for name, uses in (
        ("lines", True),
        ("draws", False),
        ("permutations", False),
        ("paper", False),
        ("panel", True),
    ):
        bound = TESTS[name].bind(table(n_columns=2))
        assert [bound._is_by_products(n) for n in (0, 1, 2)] == [False, uses, uses]


def test_the_panel_answers_with_other_members_given_nothing():
    bound = TESTS["panel"].bind(table())
    RECORD.check("members of the panel", [list(bound._panel_of(n).numbers) for n in (0, 1, 5)])
    other = TESTS["of its own"].bind(table())
    assert (other._panel_of(0).numbers, other._panel_of(1).numbers) == ((1,), (0,))
    assert other.models == ()
    RECORD.check("members given nothing", list(TESTS["panel given nothing"].bind(table()).models))


def test_classes_of_another_kind_are_predicted_as_they_are():
    test = CrossFitPPI(GaussianNB(), n_folds=2, **SEEDED)
    made = read_table(table().take(range(3)), np.arange(40) % 3, task="classification", owner=test)
    bound = test.bind(made)
    assert bound.query(0, made.target).is_reliable
