"""Roles: no arrow is drawn that the graph does not have."""

import numpy as np
import pytest
from checks.graphs import random_dag

from ppfs import PPFS
from ppfs._trace import Outcome, Step, Trace
from ppfs._verdicts.roles import roles_of
from ppfs.blanket import FBED, HITONMB, IAMB, MMMB
from ppfs.exceptions import InvalidInputError
from ppfs.independence import DSeparation

N_GRAPHS = 60

# What decides x0 → x1 ← target.
COLLIDER = "x0 and target show no dependence on their own (p = 1), but do given x1 (p = 0)"


def truth_of(edges, target):
    parents = {cause for cause, effect in edges if effect == target}
    children = {effect for cause, effect in edges if cause == target}
    spouses = {cause for cause, effect in edges if effect in children} - {target} - parents - children
    return parents, children, spouses


def fitted(search, n_nodes, edges):
    X = np.repeat([[0.0], [1.0]], n_nodes - 1, axis=1)
    return search.set_params(independence=DSeparation(edges)).fit(X, [0.0, 1.0])


def number_of(name, target):
    return target if name == "target" else int(name.removeprefix("x"))


@pytest.mark.parametrize(
    "search", [MMMB(max_k=None), HITONMB(max_k=None), IAMB()], ids=lambda one: type(one).__name__
)
def test_no_wrong_arrow_with_an_oracle(search):
    n_arrows = n_roles = 0
    for seed in range(N_GRAPHS):
        n_nodes, edges = random_dag(seed)
        target = n_nodes - 1
        parents, children, spouses = truth_of(edges, target)
        for role in fitted(search, n_nodes, edges).roles_:
            feature = number_of(role.feature, target)
            allowed = {
                "parent": parents,
                "child": children,
                "parent or child": parents | children,
                "spouse": spouses,
                "undecided": parents | children | spouses,
            }
            assert feature in allowed[role.role], (seed, role)
            for cause, effect in role.arrows:
                assert (number_of(cause, target), number_of(effect, target)) in set(edges), (seed, role)
            n_arrows += len(role.arrows)
            n_roles += role.role in ("parent", "child", "spouse")
    # And some are drawn.
    assert n_roles > 0.1 * N_GRAPHS
    assert (n_arrows > 0) == isinstance(search, MMMB | HITONMB)


@pytest.mark.parametrize(
    "search", [IAMB(), FBED(), PPFS(second_look=True)], ids=lambda one: type(one).__name__
)
def test_further_questions_decide_all_roles_with_an_oracle(search):
    right = {"arrows": 0, "undecided": 0}
    for seed in range(N_GRAPHS):
        n_nodes, edges = random_dag(seed)
        target = n_nodes - 1
        parents, children, spouses = truth_of(edges, target)
        selector = fitted(search, n_nodes, edges)
        selected = list(selector.blanket_)
        for role in selector.find_roles(max_k=None, max_columns=n_nodes):
            feature = number_of(role.feature, target)
            allowed = {
                "parent": parents,
                "child": children,
                "parent or child": parents | children,
                "spouse": spouses,
            }
            assert feature in allowed[role.role], (seed, role)
            assert role.because
            for cause, effect in role.arrows:
                assert (number_of(cause, target), number_of(effect, target)) in set(edges), (seed, role)
            right["arrows"] += len(role.arrows)
        assert list(selector.blanket_) == selected
    assert right["arrows"] > 0.4 * N_GRAPHS


def test_further_questions_are_in_the_trace_and_decide_nothing_else():
    # x0 → x1 ← target
    selector = fitted(IAMB(), 3, [(0, 1), (2, 1)])
    before = selector.results_, len(selector.trace_)
    by_name = {role.feature: role for role in selector.find_roles()}
    assert by_name["x0"].role == "spouse"
    assert by_name["x1"].role == "child"
    assert by_name["x1"].arrows == (("target", "x1"),)
    assert by_name["x1"].because == COLLIDER
    assert selector.results_.equals(before[0])
    assert {step.phase for step in list(selector.trace_)[before[1] :]} == {"roles"}
    assert f"Its role: child (target → x1), because {COLLIDER}" in selector.trace_.explain("x1")


def test_further_questions_that_show_neither_leave_a_role_undecided():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    selector = IAMB(independence="fisher-z", alpha=0.1).fit(X, X[:, 0] + 0.33 * X[:, 1] + rng.normal(size=60))
    steps = [step for step in selector.find_roles() and selector.trace_ if step.phase == "roles"]
    doubtful = {step.feature for step in steps if step.decision == "rejected" and step.target == 2}
    for role in selector.roles_:
        if number_of(role.feature, 2) in doubtful:
            assert role.role in ("undecided", "spouse")


def test_a_weak_column_that_seems_separated_is_not_called_a_spouse():
    """It has no sign of a link given nothing, and no neighbor brings one about: its effect may just be weak."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80)
    selector = IAMB(independence="fisher-z", always_keep=[1]).fit(X, y)
    by_name = {role.feature: role.role for role in selector.find_roles()}
    assert by_name == {"x0": "parent or child", "x1": "undecided"}


@pytest.mark.parametrize(("phase", "role"), [("second look", "spouse"), ("rest together", "undecided")])
def test_evidence_about_several_columns_together_says_nothing_about_the_role_of_one(phase, role):
    trace = Trace(["a", "b"])
    trace.record(Step(0, "growth", 0, (), 1e-9, 9.0, 1.0, 1e-9, "candidate"))
    trace.record(Step(0, "growth", 1, (), 0.7, 0.1, 0.0, 0.7, "rejected"))
    trace.record(Step(0, phase, 1, (0,), 0.001, 3.0, 0.1, 0.001, "added"))
    trace.conclude(Outcome(blanket=(0, 1)))
    assert [one.role for one in roles_of(trace)] == ["undecided", role]


def test_roles_need_the_spouses():
    X = np.random.default_rng(0).normal(size=(80, 2))
    selector = PPFS(n_splits=5, random_state=0).fit(X, X[:, 0])
    with pytest.raises(InvalidInputError, match="second_look=True"):
        selector.find_roles()


def test_roles_without_held_data_ask_for_them():
    X = np.random.default_rng(0).normal(size=(80, 2))
    selector = IAMB(independence="fisher-z").fit(X, X[:, 0], sufficiency=False)
    with pytest.raises(InvalidInputError, match=r"Call find_roles\(X, y\)"):
        selector.find_roles()
    assert selector.find_roles(X, X[:, 0])[0].role == "parent or child"


def test_columns_are_asked_about_with_their_lagged_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.append(0.0, X[:-1, 1]) + X[:, 2] + 0.3 * rng.normal(size=300)
    selector = PPFS.calibrated(random_state=0).fit(X, y, time="index", lags=[1])
    assert {role.feature: role.role for role in selector.find_roles()} == {
        "x1": "parent or child",
        "x2": "parent or child",
    }
    from_rows = PPFS.calibrated(random_state=0).fit(X, y, time="index", lags=[1], sufficiency=False)
    assert from_rows.find_roles(X, y, time="index") == selector.roles_


def test_groups_of_columns_have_roles_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, :2].sum(axis=1) + X[:, 2] + 0.5 * rng.normal(size=300)
    selector = PPFS.calibrated(feature_groups={"both": [0, 1]}, random_state=0).fit(X, y)
    assert {role.feature: role.role for role in selector.find_roles()} == {
        "both": "parent",
        "x2": "parent",
    }


def test_a_collider_and_its_question():
    # x0 → x1 ← target: x0 is a spouse.
    roles = fitted(MMMB(max_k=None), 3, [(0, 1), (2, 1)]).roles_
    by_name = {role.feature: role for role in roles}
    assert by_name["x0"].role == "spouse"
    assert by_name["x0"].arrows == (("x0", "x1"),)
    assert by_name["x1"].role == "child"
    assert set(by_name["x1"].arrows) == {("target", "x1"), ("x0", "x1")}
    assert by_name["x1"].because == COLLIDER
    assert str(by_name["x0"]) == f"x0: spouse (x0 → x1), because {COLLIDER}"


def test_a_chain_has_no_direction():
    # x0 → target → x1 cannot be distinguished from its reverse.
    roles = fitted(MMMB(max_k=None), 3, [(0, 2), (2, 1)]).roles_
    assert {role.role for role in roles} == {"parent or child"}
    assert all(role.arrows == () for role in roles)


def test_a_search_of_one_column_at_a_time_leaves_roles_undecided():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    roles = PPFS(n_splits=10, random_state=0).fit(X, X[:, 0] + 0.1 * rng.normal(size=100)).roles_
    assert [role.role for role in roles] == ["undecided"]


def test_the_target_has_its_name():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    cause, y = rng.normal(size=400), rng.normal(size=400)
    X = pd.DataFrame({"other": cause, "effect": cause + y + 0.5 * rng.normal(size=400)})
    roles = MMMB(independence="fisher-z").fit(X, pd.Series(y, name="ill")).roles_
    assert ("ill", "effect") in {arrow for role in roles for arrow in role.arrows}


def test_the_report_lists_roles_where_some_are_decided():
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    cause, y = rng.normal(size=400), rng.normal(size=400)
    X = np.column_stack([cause, cause + y + 0.5 * rng.normal(size=400)])
    report = MMMB(independence="fisher-z").fit(X, y).report(sufficiency=False)
    assert "x1: child (target → x1" in report.markdown()
    assert "Roles around the target" in report.html()
    plain = PPFS(n_splits=5, random_state=0).fit(X, y).report(sufficiency=False)
    assert plain.summary["roles"] == []
    assert "Roles around the target" not in plain.html()
