"""Growth by pairs: columns that predict the target only together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ppfs._conventions import Floats
from ppfs._trace import PAIRS
from ppfs.blanket._steps.correction import adjust_among
from ppfs.blanket._steps.pair_screen import Pair, all_pairs, most_promising_pairs, n_pairs
from ppfs.blanket._steps.questions import Answered, Inquiry

#: The maximum number of pairs that are tested: all pairs of 45 columns.
MOST_PAIRS = 1000


def grow_by_pairs(
    inquiry: Inquiry,
    columns: Sequence[int],
    candidates: Collection[int],
    correction: str | None,
    n_jobs: int | None,
) -> list[Answered]:
    """Return the columns of pairs in which the target depends on each column given the other.

    Both inputs of an exclusive-or form such a pair. A strong column and noise do not, because the noise adds nothing to
    the strong column. So the p-value of a pair is the larger of the two, and if the first is above alpha the second is
    not computed.

    Parameters
    ----------
    columns : sequence of int
        The columns to pair: all pairs are tested, or the most promising of many; see `most_promising_pairs`.

    candidates : collection of int
        Columns that entered alone. Pairs of two of them are not tested.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of all pairs; pairs that were not tested count as p = 1. None is "bh"
        here, because there are many more pairs than columns.

    Returns
    -------
    list of Answered
        The columns that were not candidates before, each with its result in the strongest of its pairs.
    """
    settled = frozenset(candidates)
    n_all = n_pairs(columns, settled)
    if n_all <= MOST_PAIRS:
        pairs = all_pairs(columns, settled)
    else:
        pairs = most_promising_pairs(inquiry.test.table, columns, settled, MOST_PAIRS, n_jobs)
        inquiry.note(
            f"pairs: {len(pairs):,} of {n_all:,} were tested, those whose quartile classes explain most of the target; "
            "the p-values are adjusted for all pairs"
        )
    answers = _ask(inquiry, pairs)
    pvalues = np.array([max(result.pvalue for _, result in answered) for answered in answers])
    adjusted = adjust_among(pvalues, correction or "bh", n_all)
    return _enter(inquiry, pairs, answers, adjusted, settled)


def _ask(inquiry: Inquiry, pairs: Sequence[Pair]) -> list[list[Answered]]:
    """Test the members of each pair given each other: both, or only the first if that decides."""
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
    """Record the results, and return the columns of significant pairs that are not candidates yet."""
    entered: dict[int, Answered] = {}
    for pair, answered, pvalue in zip(pairs, answers, adjusted.tolist(), strict=True):
        given = inquiry.given(pair)
        has_passed = pvalue <= inquiry.alpha
        for x, result in answered:
            inquiry.record(PAIRS, x, given, result, "candidate" if has_passed else "rejected", pvalue)
            if has_passed and x not in settled and (x not in entered or result.pvalue < entered[x][1].pvalue):
                entered[x] = (x, result)
    return list(entered.values())
