"""Growth by a model of all columns: who the target depends on given all others."""

from __future__ import annotations

from collections.abc import Sequence

from ppfs._data import listed
from ppfs.blanket._steps.alike import ALIKE, clusters_of
from ppfs.blanket._steps.correction import adjust
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.independence import Answers

#: The phase that asks about each column given all others.
JOINT = "joint growth"


def grow_jointly(inquiry: Inquiry, columns: Sequence[int], correction: str | None) -> list[Answered]:
    """Return the columns that the target depends on given all others, with their answers.

    A column is in the Markov blanket exactly if the target depends on it given all others (Pellet and Elisseeff,
    "Using Markov blankets for causal structure learning", 2008). One set of models of all columns answers every
    question. Near copies would hide each other: of a cluster of columns that are alike one stands for all, and if it
    enters, the others become candidates beside it; the shrink phase chooses among them.

    Parameters
    ----------
    columns : sequence of int
        Whom to ask about.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of questions before they are compared with alpha.
    """
    clusters = clusters_of(inquiry.test.table, columns)
    asked = [members[0] for members in clusters]
    given = inquiry.given((*asked, *inquiry.always_keep))
    answered = inquiry.ask(asked, given, JOINT)
    answers = Answers.of([result for _, result in answered], len(inquiry.test.models))
    adjusted = adjust(answers.pvalues, correction)
    is_candidate = adjusted <= inquiry.alpha
    inquiry.record_all(JOINT, asked, given, answers, is_candidate, adjusted)
    _note_clusters(inquiry, clusters)
    return [
        (member, result)
        for members, (_, result), enters in zip(clusters, answered, is_candidate.tolist(), strict=True)
        if enters
        for member in members
    ]


def _note_clusters(inquiry: Inquiry, clusters: Sequence[tuple[int, ...]]) -> None:
    several = [members for members in clusters if len(members) > 1]
    if several:
        names = [f"{inquiry.test.table.names[members[0]]} for {len(members) - 1} more" for members in several]
        inquiry.note(
            f"{JOINT}: {len(several):,} clusters of columns with correlations of at least {ALIKE:g} were tested as one "
            f"feature each: {listed(names)}"
        )
