"""Growth by a model of all columns: which columns the target depends on given all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ppfs._data import Table, listed
from ppfs.blanket._steps.alike import clusters_of
from ppfs.blanket._steps.correction import adjust
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.independence import Answers, BoundTest

#: The phase that tests each column given all others.
JOINT = "joint growth"


def grow_jointly(
    inquiry: Inquiry, columns: Sequence[int], correction: str | None, bind: Callable[[Table], BoundTest]
) -> list[Answered]:
    """Return the columns that the target depends on given all others, with their answers.

    A column is in the Markov blanket exactly if the target depends on it given all others (Pellet and Elisseeff,
    "Using Markov blankets for causal structure learning", 2008). One set of models of all columns answers every
    question. Columns that hide each other are tested as one feature: if it enters, all of them become candidates, and
    the shrink phase chooses among them.

    Parameters
    ----------
    columns : sequence of int
        Which columns to test.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of questions before they are compared with alpha.

    bind : callable
        Returns the test of a table.
    """
    table = inquiry.test.table
    special = (*inquiry.always_keep, *inquiry.condition_on)
    clusters = clusters_of(table, columns)
    groups = sorted([*clusters, *((feature,) for feature in special)])
    is_asked = [group[0] not in special for group in groups]
    joint = replace(inquiry, test=bind(table.regrouped(groups)), target=len(groups))
    everything = tuple(range(len(groups)))
    asked = [number for number in everything if is_asked[number]]
    answered = joint.ask(asked, everything, JOINT)
    answers = Answers.of([result for _, result in answered], len(joint.test.models))
    adjusted = adjust(answers.pvalues, correction)
    is_candidate = adjusted <= inquiry.alpha
    first = [groups[number][0] for number in asked]
    inquiry.record_all(
        JOINT, first, (*first, *special), _without_models(inquiry, answers), is_candidate, adjusted
    )
    _note(inquiry, joint.test, [groups[number] for number in asked if len(groups[number]) > 1])
    return [
        (member, result)
        for (number, result), enters in zip(answered, is_candidate.tolist(), strict=True)
        if enters
        for member in groups[number]
    ]


def _without_models(inquiry: Inquiry, answers: Answers) -> Answers:
    """Return answers with as many models as the inquiry's own test has, none of which was asked."""
    unasked = Answers.independent(len(answers.pvalues), len(inquiry.test.models))
    return replace(answers, model_pvalues=unasked.model_pvalues)


def _note(inquiry: Inquiry, joint: BoundTest, several: Sequence[Sequence[int]]) -> None:
    inquiry.note(f"{JOINT}: {joint.n_fits} models of all columns")
    if several:
        names = inquiry.test.table.names
        inquiry.note(
            f"{JOINT}: near copies, and columns that the others determine, were tested as one feature each: "
            + listed([f"{names[group[0]]} and {len(group) - 1} more" for group in several])
        )
