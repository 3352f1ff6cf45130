"""Steps, verdicts and reasons in words, and what a trace knows of its questions, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ppfs._data import Table
from ppfs._trace import Detectable, Outcome, Trace, as_plain, from_plain
from ppfs._trace.batch import StepBatch
from ppfs._trace.data import summary_of, target_name
from ppfs._trace.deciding import DecidingSteps
from ppfs._trace.outcome import decides, entered_at_the_turn, made_redundant_by
from ppfs._trace.results import feature_results, results_table
from ppfs._trace.steps import Step
from ppfs._trace.words import called, enumerated, reason, sentence, verdict
from ppfs.exceptions import InvalidInputError

pd = pytest.importorskip("pandas")

NAN = float("nan")
NAMES = ("age", "sex", "bmi", "dose", "site", "day", "town")


def step(feature, decision="rejected", phase="growth", given=(), pvalue=0.25, **changed):
    made = Step(0, phase, feature, tuple(given), pvalue, 1.5, 0.125, pvalue, decision)
    return replace(made, **changed)


def call(variable):
    return "'target'" if variable is None or variable == len(NAMES) else repr(NAMES[variable])


# One question ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (step(0), "growth: 'age': p = 0.25, effect 0.125: rejected"),
        (step(0, adjusted_pvalue=0.5), "growth: 'age': p = 0.25, adjusted 0.5, effect 0.125: rejected"),
        (step(0, fold=2), "fold 2, growth: 'age': p = 0.25, effect 0.125: rejected"),
        (step(0, fold=3), "fold 3 (chosen), growth: 'age': p = 0.25, effect 0.125: rejected"),
        (step(0, fold=-1), "on rows set aside, growth: 'age': p = 0.25, effect 0.125: rejected"),
        (step(0, withheld=(1, 2)), "growth without 'sex', 'bmi': 'age': p = 0.25, effect 0.125: rejected"),
        (step(0, target=1), "growth: 'age' against 'sex': p = 0.25, effect 0.125: rejected"),
        (step(0, "kept", "shrink", (0, 1, 2)), "shrink: 'age' given 'sex', 'bmi': p = 0.25, effect 0.125: kept"),
        (step(0, "kept", "shrink", (1, 2, 3, 4, 5, 6)), "shrink: 'age' given 'sex', 'bmi', 'dose', 'site', 'day' and "
         "1 more: p = 0.25, effect 0.125: kept"),
        (step(0, is_reliable=False), "growth: 'age': too few rows to tell: rejected"),
        (step(0, "kept", may_be_too_small=True), "growth: 'age': p = 0.25 (may be too small), effect 0.125: kept"),
        (step(0, may_be_too_small=True), "growth: 'age': p = 0.25, effect 0.125: rejected"),
        (step(0, model_pvalues=(0.5, NAN, 0.25)), "growth: 'age': p = 0.25, effect 0.125, by model: line 0.5, trees "
         "0.25: rejected"),
        (step(0, "added", model_pvalues=(0.5, NAN, 0.25)), "growth: 'age': p = 0.25, effect 0.125, clearest for "
         "trees (line 0.5, trees 0.25): added"),
        (step(0, "added", model_pvalues=(NAN, NAN, NAN)), "growth: 'age': p = 0.25, effect 0.125: added"),
        (step(0, is_reliable=False, model_pvalues=(0.5, NAN, 0.25)), "growth: 'age': too few rows to tell: rejected"),
        (step(0, "added", "joint growth", (1,)), "joint growth: 'age' given all others but near copies, by a model "
         "of all columns: p = 0.25, effect 0.125: added"),
        (step(0, "added", "joint growth of promising pairs", (1,)), "joint growth of promising pairs: 'age' given "
         "the others but near copies, by a model of the columns of the most promising pairs: p = 0.25, effect 0.125: "
         "added"),
        (step(0, "added", "joint growth"), "joint growth: 'age': p = 0.25, effect 0.125: added"),
        (step(0, "added", "rest together", (1,)), "rest together: 'age' together with the other rejected columns "
         "given 'sex': p = 0.25, effect 0.125: added"),
    ],
)  # fmt: skip
def test_a_question_in_one_line(one, said):
    assert sentence(one, call, ("line", "curves", "trees"), 3) == said


def test_names_in_a_sentence():
    assert enumerated([0, 1, 2, 3, 4], call) == "'age', 'sex', 'bmi', 'dose', 'site'"
    assert enumerated([0, 1, 2, 3, 4, 5], call) == "'age', 'sex', 'bmi', 'dose', 'site' and 1 more"
    assert called("a", []) == called("a", ["a"]) == "'a'"
    assert called("g", ["a", "b"]) == "'g' ('a', 'b')"


@pytest.mark.parametrize(
    ("one", "is_main", "is_verdict", "clearest", "is_doubtful"),
    [
        (step(0), True, True, None, False),
        (step(0, target=1), False, False, None, False),
        (step(0, withheld=(1,)), False, False, None, False),
        (step(0, is_reliable=False), True, False, None, False),
        (step(0, phase="pairs"), True, False, None, False),
        (step(0, "added", "pairs"), True, True, None, False),
        (step(0, phase="second look"), True, False, None, False),
        (step(0, "added", "second look"), True, True, None, False),
        (step(0, model_pvalues=(0.5, NAN, 0.25), may_be_too_small=True), True, True, 2, False),
        (step(0, "kept", may_be_too_small=True), True, True, None, True),
    ],
)
def test_which_answers_count(one, is_main, is_verdict, clearest, is_doubtful):
    assert (one.is_main, one.is_verdict, one.clearest_model, one.is_doubtful) == (
        is_main, is_verdict, clearest, is_doubtful,
    )  # fmt: skip


# The verdict about a column ----------------------------------------------------------------------------

SELECTED = step(0, "candidate", pvalue=0.001)
KEPT = step(0, "kept", "shrink", (1,), pvalue=0.001)
DROPPED = step(0, "dropped", "shrink", (1, 2))
SEEN = Detectable(alone=0.5, given=0.25, weakest=0.3)


@pytest.mark.parametrize(
    ("outcome", "steps", "said", "short"),
    [
        (Outcome((0,)), [SELECTED], "'age' was selected: evidence that the target depends on it on its own (growth, "
         "p = 0.001, effect 0.125).", "evidence of a link on its own"),
        (Outcome((0,)), [SELECTED, KEPT], "'age' was selected: evidence that the target depends on it given 'sex' "
         "(shrink, p = 0.001, effect 0.125).", "evidence of a link given the others"),
        (Outcome((0,)), [replace(KEPT, may_be_too_small=True)], "'age' was selected: evidence that the target "
         "depends on it given 'sex' (shrink, p = 0.001, effect 0.125). This p-value may be too small: models of the "
         "target and of this column seem to miss the same part of what the other columns explain.", "evidence of a "
         "link given the others"),
        (Outcome((0,)), [step(0, "added", "rest together", (1,))], "'age' was selected: evidence that the target "
         "depends on it together with the other rejected columns given 'sex' (rest together, p = 0.25, effect 0.125).",
         "evidence that the rejected columns together add to the others; of these it comes first"),
        (Outcome(()), [step(0)], "'age' was not selected: no evidence that the target depends on it on its own "
         "(growth, p = 0.25, effect 0.125).", "no evidence of a link on its own"),
        (Outcome((1,)), [DROPPED], "'age' was dropped: no evidence that it adds to 'sex', 'bmi' (shrink, p = 0.25, "
         "effect 0.125).", "no evidence that it adds to the others"),
        (Outcome((1,)), [step(0, given=(1,))], "'age' was not selected: no evidence that the target depends on it "
         "given 'sex' (growth, p = 0.25, effect 0.125).", "no evidence that it adds to the others"),
        (Outcome((1,)), [SELECTED, DROPPED], "'age' was dropped: no evidence that it adds to 'sex', 'bmi' (shrink, p "
         "= 0.25, effect 0.125). It is redundant given 'sex'.", "no evidence that it adds to the others"),
        (Outcome((1, 2), closest={0: 2}), [SELECTED, DROPPED], "'age' was dropped: no evidence that it adds to "
         "'sex', 'bmi' (shrink, p = 0.25, effect 0.125). Of these, it is closest to 'bmi'.", "no evidence that it "
         "adds to the others"),
        (Outcome(()), [], "'age' was not selected: there were too few rows to tell; see the notes.", "too few rows "
         "to tell"),
        (Outcome((0,)), [], "'age' was selected: no test was against it.", "no test was against it"),
        (Outcome((0,), always_keep=(0,)), [], "'age' was kept by request (always_keep), without a test.",
         "kept by request"),
        (Outcome((), condition_on=(0,)), [], "'age' was conditioned on by request (condition_on), so it could not be "
         "selected.", "conditioned on by request"),
        (Outcome((), left_out={0: "it failed"}), [], "'age' was left out (on_error='drop'): it failed.",
         "left out: it could not be tested"),
        (Outcome((), filled_up=(0,)), [step(0)], "'age' was added to reach min_features: of the columns not selected "
         "it came closest to significance (growth, p = 0.25, effect 0.125).", "came closest, added to reach "
         "min_features"),
        (Outcome((), filled_up=(0,)), [], "'age' was added to reach min_features: of the columns not selected it "
         "came closest to significance.", "came closest, added to reach min_features"),
        (Outcome((0,), reasons={0: "by votes"}), [SELECTED], "'age' was selected: by votes (growth, p = 0.001, "
         "effect 0.125).", "by votes"),
        (Outcome((), reasons={0: "by votes"}), [], "'age' was not selected: by votes.", "by votes"),
        (Outcome((), detectable=SEEN), [step(0)], "'age' was not selected: no evidence that the target depends on it "
         "on its own (growth, p = 0.25, effect 0.125). A linear effect of 0.5 would have been found with probability "
         "0.8, but the weakest selected column has only 0.3: undecided, as such an effect could have been missed.",
         "undecided: a weak effect could have been missed"),
        (Outcome((1,), detectable=SEEN), [DROPPED], "'age' was dropped: no evidence that it adds to 'sex', 'bmi' "
         "(shrink, p = 0.25, effect 0.125). A linear effect of 0.25 would have been found with probability 0.8.",
         "no evidence that it adds to the others"),
        (Outcome((), detectable=Detectable(NAN, 0.1, 0.3)), [step(0)], "'age' was not selected: no evidence that the "
         "target depends on it on its own (growth, p = 0.25, effect 0.125).", "no evidence of a link on its own"),
        (Outcome((0,), detectable=SEEN), [SELECTED], "'age' was selected: evidence that the target depends on it on "
         "its own (growth, p = 0.001, effect 0.125).", "evidence of a link on its own"),
        (Outcome((0,), fold=1, blankets=((0, 1), (1,), (0,))), [replace(SELECTED, fold=1)], "'age' was selected: "
         "evidence that the target depends on it on its own (growth, p = 0.001, effect 0.125). Fold 1 of 3 was "
         "chosen; 2 of the 3 folds selected this column.", "evidence of a link on its own"),
    ],
)  # fmt: skip
def test_the_verdict_about_a_column(outcome, steps, said, short):
    assert verdict(0, outcome, steps, call) == said
    trace = Trace(NAMES)
    for one in steps:
        trace.record(one)
    trace.conclude(outcome)
    assert trace.explain("age").splitlines()[0] == said
    assert len(trace.explain(0).splitlines()) == 1 + len(steps)
    assert reason(0, outcome, trace.deciding_step(0)) == short
    assert feature_results(trace).reasons[0] == short
    again = from_plain(as_plain(trace))
    assert again.explain(0) == trace.explain(0)
    assert again.outcome == trace.outcome or outcome.detectable is not None


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (SELECTED, True),
        (step(0), False),
        (step(1), True),
        (step(1, "kept"), False),
        (replace(SELECTED, fold=1), False),
        (replace(SELECTED, is_reliable=False), False),
    ],
)
def test_a_step_decides_if_it_agrees_with_the_outcome(one, expected):
    assert decides(one, 0, {0}) is expected


def test_what_entered_when_the_answers_turned():
    outcome = Outcome((3, 1, 2))
    turned = [
        SELECTED,
        step(0, "kept", "shrink", (1,)),
        step(0, "dropped", "shrink", (1, 2, 3)),
        step(0, given=(5,)),
    ]
    assert entered_at_the_turn(turned, outcome) == [3, 2]
    assert entered_at_the_turn(turned, Outcome(())) == [2, 3]
    assert entered_at_the_turn(turned[2:], outcome) == []
    assert entered_at_the_turn(turned[:2], outcome) == []
    again = [*turned, step(0, "kept", "shrink", (4,)), step(0, "dropped", "shrink", (4, 1))]
    assert entered_at_the_turn(again, outcome) == [1]
    other_fold = [replace(one, fold=2) for one in turned]
    assert entered_at_the_turn(other_fold, outcome) == []
    assert made_redundant_by(0, turned, outcome) == []
    assert made_redundant_by(0, turned, Outcome((3, 1, 2), closest={0: 2})) == [2]
    assert made_redundant_by(0, again, outcome) == [1]


# Many questions ----------------------------------------------------------------------------------------


def batch(features, decisions=("candidate", "rejected"), first=(), **changed):
    features = np.asarray(features)
    n = len(features)
    made = StepBatch(
        0, "growth", (), features, 0.01 * (1 + np.arange(n)), np.arange(n) + 0.5, np.arange(n) / 8,
        0.02 * (1 + np.arange(n)), np.ones(n, dtype=bool), np.isin(features, first), decisions,
    )  # fmt: skip
    return replace(made, **changed)


PARTS = [
    batch([3, 0, 1, 2], first=(0, 1), model_pvalues=np.full((4, 2), NAN)),
    step(0, "dropped", "shrink", (0, 1), pvalue=0.4, root_effect=(0.5, 0.25), explained=(0.1, 0.2)),
    step(1, "kept", "shrink", (0, 1), pvalue=0.003, model_pvalues=(0.3, 0.003)),
    batch([4, 5], given=(4, 1), is_reliable=np.array([True, False]), phase="second look", first=(4,),
          model_pvalues=np.array([[0.1, NAN], [0.2, 0.3]]), may_be_too_small=np.array([True, False]),
          explained=np.array([[NAN, 1.0], [0.5, 0.25]]), root_effects=np.array([[0.25, 0.5], [NAN, NAN]])),
    step(6, "added", fold=1),
    step(6, "rejected", target=2),
    batch([6, 2], withheld=(1,), first=(6, 2), model_pvalues=np.full((2, 2), NAN)),
]  # fmt: skip


@pytest.fixture
def trace():
    made = Trace(NAMES)
    made.models = ("line", "trees")
    for part in PARTS:
        made.record(part) if isinstance(part, Step) else made.record_batch(part)
    made.conclude(Outcome((1, 4)))
    return made


def test_steps_of_batches_and_single_ones_are_numbered_together(trace):
    assert len(trace) == 12
    steps = list(trace)
    assert [one.feature for one in steps] == [3, 0, 1, 2, 0, 1, 4, 5, 6, 6, 6, 2]
    assert [repr(trace[number]) for number in range(12)] == list(map(repr, steps))
    assert [repr(trace[number]) for number in range(-12, 0)] == list(map(repr, steps))
    for wrong in (12, -13):
        with pytest.raises(IndexError, match=f"There is no step {wrong}: the trace has 12."):
            trace[wrong]
    assert repr(trace) == "<Trace of 12 questions about 7 columns>"
    assert [one.decision for one in steps[:4]] == ["rejected", "candidate", "candidate", "rejected"]
    look, unreliable = steps[6:8]
    assert (look.model_pvalues[0], look.may_be_too_small, look.explained, look.root_effect) == (
        0.1,
        True,
        (),
        (0.25, 0.5),
    )
    assert (unreliable.is_reliable, unreliable.may_be_too_small, unreliable.explained) == (
        False,
        False,
        (0.5, 0.25),
    )
    assert unreliable.root_effect == ()
    assert (steps[0].statistic, steps[1].effect, steps[1].adjusted_pvalue) == (0.5, 0.125, 0.04)
    assert [one.feature for one in trace.steps_about([0, 5])] == [0, 0, 5]
    assert [one.phase for one in trace.of("age")] == ["growth", "shrink"]
    assert trace.steps_about([]) is not None
    assert list(trace.steps_about([])) == []


def test_the_deciding_steps_are_the_last_that_agree(trace):
    decided = trace.deciding_steps()
    assert sorted(decided) == [0, 1, 2, 3, 4]
    assert len(decided) == 5
    assert decided[0] == PARTS[1]
    assert decided[1] == PARTS[2]
    assert (decided[3].pvalue, decided[2].pvalue, decided[4].phase) == (0.01, 0.04, "second look")
    np.testing.assert_allclose(decided.pvalues, [0.4, 0.003, 0.04, 0.01, 0.01, 1, 1])
    np.testing.assert_allclose(decided.effects, [0.125, 0.125, 3 / 8, 0.0, 0.0, 0, 0])
    for wrong in (5, 6, 7, -1):
        with pytest.raises(KeyError):
            decided[wrong]
    found = [(part.phase, features.tolist(), within.tolist()) for part, features, within in decided.batches()]
    assert found == [("growth", [2, 3], [3, 0]), ("second look", [4], [0])]
    assert trace.deciding_step("age") == PARTS[1]
    assert trace.deciding_step(6) is None
    assert len(DecidingSteps(PARTS, 7, 1, [6])) == 1
    assert len(Trace(NAMES).deciding_steps()) == 0
    assert trace.decided(0, [4, 1]) is trace.decided(0, [1, 4])
    assert trace.once_favored(0) == {0, 1, 4}
    assert trace.once_favored(1) == {6}


def test_only_verdicts_in_favor_of_a_column_favor_it():
    trace = Trace(NAMES)
    for one in (
        step(0), step(1, "kept", withheld=(3,)), step(2, "kept", is_reliable=False), step(3, "kept", target=5),
        step(4, "kept"), replace(step(5, "kept"), fold=2),
    ):  # fmt: skip
        trace.record(one)
    assert trace.once_favored(0) == {4}


def test_questions_as_arrays_are_the_reliable_ones_about_the_target(trace):
    arrays = trace.question_arrays()
    assert arrays.features.tolist() == [3, 0, 1, 2, 0, 1, 4]
    assert arrays.phases.tolist() == ["growth"] * 4 + ["shrink"] * 2 + ["second look"]
    np.testing.assert_allclose(arrays.pvalues, [0.01, 0.02, 0.03, 0.04, 0.4, 0.003, 0.01])
    np.testing.assert_allclose(arrays.adjusted_pvalues, [0.02, 0.04, 0.06, 0.08, 0.4, 0.003, 0.02])
    np.testing.assert_allclose(arrays.effects, [0, 0.125, 0.25, 0.375, 0.125, 0.125, 0])
    assert arrays.is_favorable.tolist() == [False, True, True, False, False, True, True]
    assert arrays.is_marginal.tolist() == [True] * 4 + [False] * 3
    assert len(arrays) == 7
    assert trace.question_arrays(1).features.tolist() == [6]
    running = Trace(NAMES)
    running.record(step(3, fold=1))
    running.record(step(2))
    assert running.question_arrays().features.tolist() == [2]
    empty = trace.question_arrays(5)
    assert (len(empty), empty.features.dtype, empty.is_marginal.dtype) == (0, np.intp, bool)


def test_the_frame_has_a_row_per_question(trace):
    frame = trace.to_frame("pandas")
    assert frame["feature"].tolist() == [NAMES[one.feature] for one in trace]
    for name in (
        "fold",
        "phase",
        "pvalue",
        "adjusted_pvalue",
        "statistic",
        "effect",
        "decision",
        "is_reliable",
    ):
        assert frame[name].tolist() == [getattr(one, name) for one in trace]
    assert [list(given) for given in frame["given"]] == [
        [NAMES[other] for other in one.others] for one in trace
    ]
    assert frame["n_given"].tolist() == [len(one.others) for one in trace]
    assert frame["n_withheld"].tolist() == [0] * 10 + [1, 1]
    assert frame["target"].tolist() == ["target"] * 9 + ["bmi"] + ["target"] * 2
    assert frame["seen_by"].fillna("").tolist() == ["", "", "", "", "", "trees", "line", "", "", "", "", ""]
    assert frame["may_be_too_small"].tolist() == [False] * 6 + [True] + [False] * 5
    assert frame["target_explained"].fillna(-1).tolist() == [-1, -1, -1, -1, 0.1, -1, -1, 0.5, -1, -1, -1, -1]
    assert frame["feature_explained"].fillna(-1).tolist()[4:8] == [0.2, -1, -1, 0.25]
    plain = Trace(NAMES)
    plain.record_batch(replace(PARTS[0], model_pvalues=None))
    assert list(plain.to_frame("pandas").columns) == list(frame.columns)[:13]
    assert len(plain.to_frame("polars")) == 4


def test_a_trace_in_a_file_is_the_same_trace(trace):
    trace.notes.append("a note")
    trace.say("roles", {1: "It is a parent.", None: "All in all."})
    trace.method = "by votes"
    again = from_plain(as_plain(trace))
    assert [repr(one) for one in again] == [repr(one) for one in trace]
    assert (again.names, again.column_names, again.models, again.notes, again.method, again.said) == (
        trace.names, trace.column_names, trace.models, trace.notes, trace.method, trace.said,
    )  # fmt: skip
    assert again.outcome == trace.outcome
    assert trace.explain(1).splitlines()[0].endswith("It is a parent. All in all.")
    assert again.explain(1) == trace.explain(1)
    assert trace.explain(0).splitlines()[0].endswith("All in all.")
    old = as_plain(trace)
    for name in ("method", "said"):
        del old[name]
    for part in old["parts"]:
        for name in ("may_be_too_small", "explained", "root_effects"):
            del part[name]
    for name in ("closest", "reasons", "detectable", "chosen"):
        del old["outcome"][name]
    older = from_plain(old)
    assert (older.method, older.said, len(older)) == ("", {}, 12)
    assert not any(one.may_be_too_small or one.explained or one.root_effect for one in older)
    outcome = Outcome(
        (1,),
        2,
        ((1,), (1, 2)),
        (3,),
        (4,),
        (5,),
        {6: "it failed"},
        {0: 1},
        {2: "why"},
        (5, 1),
        Detectable(0.5, 0.25, 0.125),
    )
    trace.conclude(outcome)
    assert from_plain(as_plain(trace)).outcome == outcome
    trace.conclude(replace(outcome, detectable=Detectable(NAN, 1.0, NAN), chosen=None))
    found = from_plain(as_plain(trace)).outcome
    assert found.chosen is None
    assert np.isnan([found.detectable.alone, found.detectable.weakest]).all()
    assert from_plain(as_plain(Trace(NAMES))).outcome is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda plain: plain["parts"][0].update(features=[8, 0, 1, 2]),
            "ValueError a step is about feature 8, and",
        ),
        (
            lambda plain: plain["parts"][0].update(features=[-1, 0, 1, 2]),
            "ValueError a step is about feature 2, and",
        ),
        (
            lambda plain: plain["parts"][0].update(decisions=["sold"] * 4),
            "ValueError unknown decisions \\['sold'\\]",
        ),
        (lambda plain: plain["parts"][0].update(pvalues=[0.5]), "ValueError"),
        (lambda plain: plain.pop("names"), "KeyError 'names'"),
        (lambda plain: plain.update(parts=None), "TypeError"),
    ],
)
def test_a_file_that_holds_no_trace_is_refused(trace, change, said):
    plain = as_plain(trace)
    change(plain)
    with pytest.raises(InvalidInputError, match=f"This is not the trace of a search: {said}"):
        from_plain(plain)


def test_groups_of_columns_are_called_with_their_columns():
    made = Trace(["pair", "c"], ["a", "b", "c"], [(1, 0), (2,)])
    made.record(step(0, "kept", "shrink", (1,)))
    made.conclude(Outcome((0,)))
    assert made.explain("b").startswith(
        "'pair' ('a', 'b') was selected: evidence that the target depends on it given 'c' ("
    )
    assert made.explain("pair") == made.explain(0) == made.explain(1)
    assert made.features_of_columns() == [0, 0, 1]
    shared = Trace(["p", "q"], ["a", "b"], [(0, 1), (1,)])
    assert shared.features_of_columns() == [0, 0]
    shared.conclude(Outcome((1,)))
    assert shared.features_of_columns() == [0, 1]
    assert [shared.feature_of(column) for column in ("q", "b", 0, "a")] == [1, 1, 0, 0]
    assert Trace(["p"], ["a"]).features_of_columns() == [0]
    other = made.concluded_by("by votes", Outcome(()))
    other.notes.append("new")
    assert (made.notes, made.method, other.method, len(other)) == ([], "", "by votes", 1)


# Results and summaries ---------------------------------------------------------------------------------


def test_the_results_of_every_feature(trace):
    trace.conclude(
        Outcome(
            (1, 4),
            blankets=((1, 4), (1,)),
            detectable=Detectable(0.5, 0.25, 0.3),
            closest={0: 1},
            filled_up=(5,),
        )
    )
    found = feature_results(trace)
    np.testing.assert_allclose(found.adjusted_pvalues, [0.4, 0.003, 0.08, 0.02, 0.02, NAN, NAN])
    assert found.stability == [0, 1, 0, 0, 0.5, 0, 0]
    assert found.phases == ["shrink", "shrink", "growth", "growth", "second look", "", ""]
    assert found.superseders == [["sex"], [], [], [], [], [], []]
    np.testing.assert_allclose(found.detectable, [0.25, NAN, 0.5, 0.5, NAN, NAN, NAN])
    np.testing.assert_allclose(found.root_effects[[0, 4]], [[0.5, 0.25], [0.25, 0.5]])
    assert np.isnan(found.root_effects[[1, 2, 3, 5, 6]]).all()
    assert found.reasons[2] == found.reasons[3] == "undecided: a weak effect could have been missed"
    assert found.reasons[5] == "came closest, added to reach min_features"
    with pytest.raises(ValueError, match="The search has not ended"):
        feature_results(Trace(NAMES))


@pytest.mark.parametrize("given", [(), (1,)])
def test_results_of_a_batch_are_those_of_its_steps(given):
    one, other = Trace(NAMES), Trace(NAMES)
    many = batch([0, 1, 2, 3, 4, 5], ("candidate", "dropped"), first=(1, 4), given=given)
    one.record_batch(many)
    for single in many:
        other.record(single)
    for made in (one, other):
        made.conclude(
            Outcome((1,), always_keep=(2,), left_out={3: "no"}, detectable=Detectable(0.5, 0.25, 0.1))
        )
    for name, expected in vars(feature_results(other)).items():
        np.testing.assert_equal(getattr(feature_results(one), name), expected, err_msg=name)


def test_columns_that_are_not_given_are_empty():
    frame = results_table({"column": ["a", "b"], "selected": [True, False]}, "pandas")
    assert frame["column"].tolist() == ["a", "b"]
    assert frame["importance"].isna().all()
    assert frame["phase"].tolist() == ["", ""]
    assert [list(one) for one in frame["redundant_with"]] == [[], []]
    assert len(frame.columns) == 13


def test_a_summary_of_the_data():
    X = np.zeros((20, 2))
    labels = np.array(["b", "a", "b", "c"] * 5)
    found = summary_of(Table.of(X, labels, "pq", "classification", n_levels=np.array([0, 3])))
    assert (found.classes, found.n_classes, found.quartiles) == ((("b", 10), ("a", 5), ("c", 5)), 3, ())
    assert (found.n_rows, found.n_columns, found.n_categorical, found.target) == (20, 2, 1, "target")
    many = summary_of(Table.of(X, np.arange(20) % 13, "pq", "classification"))
    assert (len(many.classes), many.n_classes) == (12, 13)
    numbers = summary_of(Table.of(X, np.arange(20.0), "pq", "regression"))
    assert numbers.quartiles == (0.0, 4.75, 9.5, 14.25, 19.0)
    assert (numbers.classes, numbers.n_classes, numbers.task) == ((), 0, "regression")
    assert summary_of(Table.of(X, np.zeros((20, 2)), "pq", "regression")).quartiles == ()


@pytest.mark.parametrize(
    ("y", "name"),
    [
        ("price", "price"),
        (pd.Series([1], name="price"), "price"),
        (pd.Series([1]), "target"),
        (pd.Series([1], name=5), "target"),
        (pd.Series([1], name=""), "target"),
        (["a", "b"], "a, b"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "target"),
        (["a"], "target"),
        ([1, 2], "target"),
        (pd.DataFrame({"a": [1], "b": [2]}), "a, b"),
        (pd.DataFrame({"a": [1], 2: [2]}), "target"),
        (np.zeros(2), "target"),
    ],
)
def test_the_name_of_a_target(y, name):
    assert target_name(y) == name
