"""A second look: whether a rejected column matters beside those that were selected."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ppfs._data import Table
from ppfs._trace import SECOND_LOOK
from ppfs.blanket._steps.beside_screen import most_promising_beside
from ppfs.blanket._steps.correction import adjust_among
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.shrink import shrink_until_stable, weakest_first

#: The maximum number of rejected columns that are tested; of more, the most promising ones.
MOST_COLUMNS = 100

#: In tall tables, where a screen is precise and a question takes long, columns with this many values are tested.
MOST_VALUES = 10_000_000

#: The maximum number of rounds of second looks.
MOST_ROUNDS = 3


def look_again(
    inquiry: Inquiry,
    blanket: Sequence[int],
    correction: str | None,
    found_jointly: Collection[int] = (),
    n_jobs: int | None = None,
) -> list[int]:
    """Ask about every rejected column given the blanket, and shrink again where one enters.

    A column can matter only beside others: a suppressor has no link to the target on its own, and of two columns that
    act by their product one may enter alone. A second run of FBED does the same.

    Parameters
    ----------
    blanket : sequence of int
        What growth and shrinkage left.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of rejected columns, those that were not asked about included: they
        count as p = 1.

    found_jointly : collection of int, default=()
        Members that only a model of all columns needs. They are not tested again: the models of the second look may
        not be able to express what they do.

    n_jobs : int, default=None
        Threads that look for the most promising of many columns.

    Returns
    -------
    list of int
        The blanket after at most `MOST_ROUNDS` rounds; the last one adds nothing, unless rounds ran out.
    """
    members = list(blanket)
    if not inquiry.given(members):
        # Given nothing, growth has asked already, and with counted p-values where they are small.
        return members
    kept = replace(inquiry, always_keep=(*inquiry.always_keep, *found_jointly))
    seen = {frozenset(members)}
    for _ in range(MOST_ROUNDS):
        entrants = _entrants(inquiry, members, correction, n_jobs)
        if not entrants:
            break
        members = shrink_until_stable(kept, weakest_first(kept, [*members, *entrants]))
        if frozenset(members) in seen:
            break
        seen.add(frozenset(members))
    return members


def _entrants(
    inquiry: Inquiry, members: Sequence[int], correction: str | None, n_jobs: int | None
) -> list[int]:
    inside = set(members)
    rest = [x for x in inquiry.candidates if x not in inside]
    table = inquiry.test.table
    asked = most_promising_beside(table, inquiry.target, members, rest, _at_most(table), n_jobs)
    if len(asked) < len(rest):
        inquiry.note(
            f"{SECOND_LOOK}: {len(asked):,} of {len(rest):,} rejected columns were tested, those that explain most of "
            "what the selected columns leave; the p-values are adjusted for all of them"
        )
    if not asked:
        return []
    given = inquiry.given(members)
    answered = inquiry.ask(asked, given, SECOND_LOOK)
    pvalues = np.array([result.pvalue if result.is_reliable else 1.0 for _, result in answered])
    adjusted = adjust_among(pvalues, correction, len(rest))
    entrants = []
    for (x, result), pvalue in zip(answered, adjusted.tolist(), strict=True):
        enters = pvalue <= inquiry.alpha
        inquiry.record(SECOND_LOOK, x, given, result, "candidate" if enters else "rejected", pvalue)
        if enters:
            entrants.append(x)
    return entrants


def _at_most(table: Table) -> int:
    """Return how many rejected columns may be tested."""
    most, affordable = most_looked_at(table.n_rows), table.storage.n_more
    return most if affordable is None else min(most, affordable)


def most_looked_at(n_rows: int) -> int:
    """Return how many rejected columns are tested at most, in a table of `n_rows` rows."""
    return min(MOST_COLUMNS, max(10, MOST_VALUES // n_rows))
