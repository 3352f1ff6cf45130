"""Roles: no arrow is drawn that the graph does not have."""

import numpy as np
import pytest
from checks.graphs import random_dag

from ppfs import PPFS
from ppfs._trace import Outcome, Step, Trace
from ppfs._verdicts.roles import Role, roles_of
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


# Steps by hand: x0, x1, x2, x3 and the target, which is variable 4 -------------------------------------

TARGET = 4


def asked(feature, decision, given=(), phase="growth", pvalue=None, target=None, **changed):
    pvalue = (0.01 if decision in ("kept", "added", "candidate") else 0.5) if pvalue is None else pvalue
    return Step(0, phase, feature, tuple(given), pvalue, 1.0, 0.1, pvalue, decision, target=target, **changed)


def roles_by_hand(blanket, *steps):
    trace = Trace(["x0", "x1", "x2", "x3"])
    for step in steps:
        trace.record(step)
    trace.conclude(Outcome(tuple(blanket)))
    return {role.feature: role for role in roles_of(trace)}


APART = "x0 and target show no dependence on their own (p = 0.5), but do given x1 (p = 0.01)"
OTHERS = asked(1, "dropped", (3,), "others", target=2)


def test_a_search_that_looks_for_sets_finds_the_common_child():
    steps = [asked(0, "rejected"), asked(1, "candidate"), OTHERS, asked(0, "added", (1,), "spouses")]
    found = roles_by_hand([1, 0], *steps)
    assert list(found) == ["x1", "x0"]
    assert found["x1"] == Role("x1", "child", (("target", "x1"), ("x0", "x1")), APART)
    assert found["x0"] == Role("x0", "spouse", (("x0", "x1"),), APART)
    assert str(found["x0"]) == f"x0: spouse (x0 → x1), because {APART}"
    assert found["x1"].in_a_sentence == f"Its role: child (target → x1; x0 → x1), because {APART}."
    # Given two columns, of which either may be the child, neither is.
    two = [asked(0, "rejected"), asked(0, "rejected", (1,)), asked(0, "rejected", (2,)), OTHERS]
    found = roles_by_hand([1, 2, 0], *two, asked(0, "added", (1, 2), "spouses"))
    assert found["x0"] == Role("x0", "spouse")
    assert found["x1"].role == found["x2"].role == "parent or child"
    # The child was not selected.
    found = roles_by_hand([0], *steps, asked(0, "kept", (3,), "others", target=2))
    assert found["x0"] == Role("x0", "spouse")
    assert roles_by_hand([1], *steps)["x1"] == Role(
        "x1", "parent or child", (), "no question separates them, even on their own (p = 0.01)"
    )


def test_a_spouse_whose_child_is_not_known_does_not_hide_that_of_the_next():
    steps = [
        asked(0, "rejected"), asked(0, "rejected", (1,)), asked(0, "rejected", (2,)), asked(3, "rejected"), OTHERS,
        asked(0, "added", (1, 2), "spouses"), asked(3, "added", (1,), "spouses"),
    ]  # fmt: skip
    found = roles_by_hand([1, 2, 0, 3], *steps)
    assert found["x0"] == Role("x0", "spouse")
    assert (found["x3"].role, found["x3"].arrows) == ("spouse", (("x3", "x1"),))
    assert (found["x1"].role, found["x1"].arrows) == ("child", (("target", "x1"), ("x3", "x1")))


def test_two_causes_become_dependent_once_the_target_is_given():
    steps = [
        asked(0, "candidate"), asked(1, "candidate", pvalue=0.02), asked(1, "kept", (2,), pvalue=0.03),
        asked(0, "dropped", (3,), "others", target=1), asked(0, "kept", (3, TARGET), "others", target=1),
    ]  # fmt: skip
    because = "x0 and x1 show no dependence given x3 (p = 0.5), but do given x3, target (p = 0.01)"
    found = roles_by_hand([0, 1], *steps)
    assert found["x0"] == Role("x0", "parent", (("x0", "target"),), because)
    assert found["x1"] == Role("x1", "parent", (("x1", "target"),), because)
    linked = roles_by_hand([0, 1], *steps[:4])
    assert linked["x1"] == Role(
        "x1", "parent or child", (), "no question separates them, even given x2 (p = 0.03)"
    )
    # With the target in the separating set nothing follows.
    turned = asked(0, "dropped", (TARGET,), "others", target=1)
    assert roles_by_hand([0, 1], *steps[:3], turned, steps[4])["x0"].role == "parent or child"


def test_questions_that_contradict_each_other_decide_nothing():
    steps = [
        asked(0, "rejected"), asked(1, "candidate"), asked(2, "candidate"), OTHERS,
        asked(0, "added", (1,), "spouses"),
        asked(2, "dropped", (), "others", target=1), asked(2, "kept", (TARGET,), "others", target=1),
    ]  # fmt: skip
    found = roles_by_hand([1, 2, 0], *steps)
    assert (found["x1"].role, found["x1"].arrows) == ("parent or child", ())
    assert found["x2"].role == "parent"


@pytest.mark.parametrize(
    ("steps", "role"),
    [
        ([asked(0, "rejected"), asked(0, "added", (1,))], Role("x0", "spouse", (), APART)),
        ([asked(0, "rejected", pvalue=0.2), asked(0, "added", (1,))], None),
        ([asked(0, "rejected", pvalue=0.19), asked(0, "added", (1,))], Role("x0", "undecided")),
        ([asked(0, "rejected", (2,)), asked(0, "added", (1,))], Role("x0", "undecided")),
        ([asked(0, "rejected", (1,)), asked(0, "added", (1,))], Role("x0", "undecided")),
        ([asked(0, "candidate")], Role("x0", "undecided")),
        ([asked(0, "rejected", is_reliable=False), asked(0, "added", (1,))], Role("x0", "undecided")),
        ([asked(0, "rejected", withheld=(3,)), asked(0, "added", (1,))], Role("x0", "undecided")),
        ([asked(0, "rejected", phase="rest together"), asked(0, "added", (1,))], Role("x0", "undecided")),
    ],
)
def test_a_column_that_was_separated_and_enters_given_more_is_a_spouse(steps, role):
    found = roles_by_hand([0, 1], *steps)["x0"]
    assert found == role if role is not None else found.role == "spouse"


def further(feature, decision, given=(), **changed):
    return asked(feature, decision, given, "roles", **{"target": TARGET, **changed})


def test_further_questions_decide_by_themselves():
    steps = [
        asked(1, "rejected"),
        further(0, "dropped", (2,)), further(0, "kept", (2, 1)), further(0, "kept", (2, 3)),
        further(1, "kept"), further(2, "kept"), further(3, "rejected"), further(3, "kept", (1,)),
    ]  # fmt: skip
    because = "x0 and target show no dependence given x2 (p = 0.5), but do given x2, x1 (p = 0.01)"
    found = roles_by_hand([0, 1, 2, 3], *steps)
    assert found["x0"] == Role("x0", "spouse", (), because)
    assert found["x1"] == Role("x1", "child", (("target", "x1"),), because)
    assert (found["x2"].role, found["x2"].arrows) == ("parent or child", ())
    assert found["x3"] == Role("x3", "undecided")
    # With another target among the questions, neighbors are linked to it.
    linked = roles_by_hand([1], further(1, "kept"), further(2, "dropped", target=1))
    assert linked["x1"] == Role(
        "x1", "parent or child", (), "no question separates them, even on their own (p = 0.01)"
    )
    # Not asked about, or separated without a neighbor that makes it dependent again.
    assert roles_by_hand([0, 1], further(1, "kept"))["x0"] == Role("x0", "undecided")
    assert roles_by_hand([0, 1], further(1, "kept"), further(0, "dropped"))["x0"] == Role("x0", "undecided")
    both = [further(0, "kept"), further(1, "kept"), further(0, "dropped", target=1)]
    parents = roles_by_hand([0, 1], *both, further(0, "kept", (TARGET,), target=1))
    assert (parents["x0"].role, parents["x1"].role) == ("parent", "parent")


def test_an_unfinished_search_has_no_roles():
    assert roles_of(Trace(["x0"])) == ()
