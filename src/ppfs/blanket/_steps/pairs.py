"""Growth by pairs: columns that tell about the target only together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ppfs._conventions import Floats
from ppfs._trace import PAIRS
from ppfs.blanket._steps.correction import adjust
from ppfs.blanket._steps.pair_screen import Pair, all_pairs, most_promising_pairs, n_pairs
from ppfs.blanket._steps.questions import Answered, Inquiry

#: So many pairs are asked about at most: all of 45 columns.
MOST_PAIRS = 1000


def grow_by_pairs(
    inquiry: Inquiry,
    columns: Sequence[int],
    candidates: Collection[int],
    correction: str | None,
    n_jobs: int | None,
) -> list[Answered]:
    """Return the columns that the target depends on given one other column, which it depends on given them.

    Both sides of an exclusive-or do so. A column of noise beside a strong one does not: it adds nothing to the
    strong one. So the p-value of a pair is the larger of the two, and where the first is above alpha the second is not
    asked for.

    Parameters
    ----------
    columns : sequence of int
        Whose pairs are asked about: all of them, or the most promising of many; see `most_promising_pairs`.

    candidates : collection of int
        Columns that entered alone. Two of them need not be asked about.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of all pairs, those left out included: they count as p = 1. None
        is "bh" here, because there are many more pairs than columns.

    Returns
    -------
    list of Answered
        The columns that were no candidates, each with its answer in the strongest of its pairs.
    """
    settled = frozenset(candidates)
    n_all = n_pairs(columns, settled)
    if n_all <= MOST_PAIRS:
        pairs = all_pairs(columns, settled)
    else:
        pairs = most_promising_pairs(inquiry.test.table, columns, settled, MOST_PAIRS, n_jobs)
        inquiry.note(
            f"pairs: {len(pairs):,} of {n_all:,} were asked about, those whose quarters tell most about the target; "
            "the p-values are adjusted for all of them"
        )
    answers = _ask(inquiry, pairs)
    pvalues = np.ones(n_all)
    pvalues[: len(pairs)] = [max(result.pvalue for _, result in answered) for answered in answers]
    adjusted = adjust(pvalues, correction or "bh")[: len(pairs)]
    return _enter(inquiry, pairs, answers, adjusted, settled)


def _ask(inquiry: Inquiry, pairs: Sequence[Pair]) -> list[list[Answered]]:
    """Ask about the members of each pair given each other: about both, or about the first alone if that decides."""
    alone = dict.fromkeys(x for pair in pairs for x in pair)
    results = inquiry.test.answers(list(alone), inquiry.target, inquiry.given(()))
    pvalues = {x: result.pvalue for x, result in zip(alone, results, strict=True)}
    table = inquiry.test.table
    answers: list[list[Answered]] = []
    with inquiry.bar(PAIRS, len(pairs)) as bar:
        for pair in pairs:
            # The weaker one first, because it is more likely to decide.
            weaker_first = sorted(pair, key=lambda x: (-pvalues[x], table.order.by_content(x)))
            answered: list[Answered] = []
            given = inquiry.given(weaker_first)
            for x, result in zip(
                weaker_first, inquiry.test.answers(weaker_first, inquiry.target, given), strict=True
            ):
                answered.append((x, result))
                if not result.is_dependent(inquiry.alpha):
                    break
            answers.append(answered)
            bar.advance()
    return answers


def _enter(
    inquiry: Inquiry,
    pairs: Sequence[Pair],
    answers: Sequence[list[Answered]],
    adjusted: Floats,
    settled: frozenset[int],
) -> list[Answered]:
    """Record what was asked, and return the columns of the pairs that passed, but those that are candidates already."""
    entered: dict[int, Answered] = {}
    for pair, answered, pvalue in zip(pairs, answers, adjusted.tolist(), strict=True):
        given = inquiry.given(pair)
        has_passed = pvalue <= inquiry.alpha
        for x, result in answered:
            inquiry.record(PAIRS, x, given, result, "candidate" if has_passed else "rejected", pvalue)
            if has_passed and x not in settled and (x not in entered or result.pvalue < entered[x][1].pvalue):
                entered[x] = (x, result)
    return list(entered.values())
