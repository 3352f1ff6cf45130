"""The record of a search."""

import narwhals as nw
import pytest
from sklearn.datasets import load_iris

from ppfs import PPFS
from ppfs._trace import NO_ADDITION, NO_LINK, Outcome, Step, Trace, as_plain, from_plain
from ppfs._trace.words import reason


@pytest.fixture(scope="module")
def selector():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return PPFS(n_splits=10, correction="bh", random_state=0).fit(X, y)


def test_frame_has_one_row_a_question(selector):
    frame = selector.trace_.to_frame()
    assert len(frame) == len(selector.trace_)
    assert {"fold", "phase", "feature", "n_given", "pvalue", "adjusted_pvalue", "effect", "decision"} <= set(
        frame.columns
    )
    growth = frame[frame["phase"] == "growth"]
    assert (growth["n_given"] == 0).all()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_names_what_the_questions_were_conditioned_on(selector, backend):
    frame = nw.from_native(selector.trace_.to_frame(backend))
    names = selector.trace_.names
    for given, n_given, step in zip(frame["given"], frame["n_given"], selector.trace_, strict=True):
        assert list(given) == [names[other] for other in step.given if other != step.feature]
        assert len(given) == n_given
    assert len(Trace(["a"]).to_frame(backend)) == 0


def test_frame_of_shrink_counts_the_other_members(selector):
    shrink = [step for step in selector.trace_ if step.phase == "shrink"]
    frame = selector.trace_.to_frame()
    n_candidates = (frame["decision"] == "candidate").sum()
    assert frame[frame["phase"] == "shrink"]["n_given"].iloc[0] == n_candidates - 1
    assert len(shrink[0].given) == n_candidates


def test_explanation_gives_the_verdict_first_and_then_every_question(selector):
    verdict, growth, shrink = selector.trace_.explain("sepal width (cm)").splitlines()
    assert verdict.startswith("'sepal width (cm)' was dropped: no evidence that it adds to ")
    # It was dropped given three columns together, and is close to none of them.
    assert "redundant" not in verdict
    assert "closest" not in verdict
    assert growth.startswith("growth: 'sepal width (cm)': p = ")
    assert "given 'sepal length (cm)', " in shrink
    assert shrink.endswith(": dropped")
    assert selector.trace_.explain(1) == selector.trace_.explain("sepal width (cm)")
    assert [step.phase for step in selector.trace_.of(1)] == ["growth", "shrink"]
    kept = selector.trace_.explain("petal width (cm)").splitlines()[0]
    assert kept.startswith("'petal width (cm)' was selected: evidence that the target depends on it given ")


def ask(column, given, decision, fold=0, **more):
    pvalue = 0.001 if decision in ("candidate", "added", "kept") else 0.5
    return Step(fold, "growth", column, given, pvalue, 0.0, 0.1, pvalue, decision, **more)


def recorded(steps, outcome):
    trace = Trace(["a", "b", "c", "d"])
    for step in steps:
        trace.record(step)
    trace.conclude(outcome)
    return trace


def test_a_column_gives_way_to_what_entered_when_the_answer_turned():
    steps = [
        ask(0, (), "candidate"),
        ask(0, (1,), "candidate"),
        ask(0, (1, 2), "rejected"),
        ask(0, (1, 2, 3), "rejected"),
    ]
    verdict = recorded(steps, Outcome((1, 2, 3))).explain("a").splitlines()[0]
    assert verdict.endswith("It is redundant given 'c'.")


def test_of_several_columns_that_entered_together_the_closest_is_named_or_none():
    """A shrink phase asks given all others: that alone does not say which of them made a column redundant."""
    steps = [ask(0, (), "candidate"), ask(0, (1, 2, 3), "dropped")]
    without = recorded(steps, Outcome((1, 2, 3)))
    assert "closest" not in without.explain("a").splitlines()[0]
    closest = recorded(steps, Outcome((1, 2, 3), closest={0: 3}))
    assert closest.explain("a").splitlines()[0].endswith("Of these, it is closest to 'd'.")
    assert from_plain(as_plain(closest)).explain("a") == closest.explain("a")


def test_a_column_rejected_given_others_is_not_said_to_lack_a_link_on_its_own():
    trace = recorded([ask(0, (), "candidate"), ask(0, (1,), "rejected")], Outcome((1,)))
    assert reason(0, trace.outcome, trace.deciding_step("a")) == NO_ADDITION
    alone = recorded([ask(0, (), "rejected")], Outcome((1,)))
    assert reason(0, alone.outcome, alone.deciding_step("a")) == NO_LINK


def test_a_p_value_that_may_be_too_small_is_said_of_columns_that_it_speaks_for():
    steps = [
        ask(0, (1,), "kept", may_be_too_small=True),
        ask(1, (0,), "kept"),
        ask(2, (0, 1), "dropped", may_be_too_small=True),
    ]
    trace = recorded(steps, Outcome((0, 1)))
    verdict, question = trace.explain("a").splitlines()
    assert verdict.count("may be too small") == question.count("may be too small") == 1
    assert "may be too small" not in trace.explain("b")
    assert "may be too small" not in trace.explain("c")


def test_what_never_had_an_answer_in_its_favour_gave_way_to_nothing():
    assert "redundant" not in recorded([ask(0, (), "rejected")], Outcome((1,))).explain("a")


def test_the_deciding_step_is_the_chosen_folds_last_that_agrees():
    steps = [
        ask(0, (1,), "rejected", fold=1),
        ask(0, (2,), "kept", fold=1),
        ask(0, (3,), "dropped", fold=1, withheld=(1,)),
        ask(0, (3,), "kept", fold=1, is_reliable=False),
        ask(0, (), "rejected", fold=2),
    ]
    trace = recorded(steps, Outcome((0,), fold=1, blankets=((0,), ())))
    assert trace.deciding_step("a") is steps[1]
    assert trace.deciding_step("b") is None
    verdict, *questions = trace.explain("a").splitlines()
    assert verdict.endswith("Fold 1 of 2 was chosen; 1 of the 2 folds selected this column.")
    assert [question.split(",")[0] for question in questions] == ["fold 1 (chosen)"] * 4 + ["fold 2"]


def test_unknown_column_is_an_error_that_lists_the_names(selector):
    with pytest.raises(ValueError, match="no column 'nope'"):
        selector.trace_.explain("nope")


def test_repr_is_short(selector):
    assert repr(selector.trace_) == f"<Trace of {len(selector.trace_)} questions about 4 columns>"
