"""A second look: whether rejected columns matter beside those that were selected, each by itself or all together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ppfs._data import Table
from ppfs._fitting import DEFAULT_PANEL, usable_members
from ppfs._trace import REST_TOGETHER, SECOND_LOOK
from ppfs.blanket._steps.beside_screen import most_promising_beside
from ppfs.blanket._steps.correction import adjust_among
from ppfs.blanket._steps.joint_growth import model_of_all
from ppfs.blanket._steps.order import strongest_first
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.blanket._steps.shrink import shrink_until_stable, weakest_first
from ppfs.independence import BoundTest, CrossFitPPI, IndependenceResult, IndependenceTest

#: The maximum number of rejected columns that are tested; of more, the most promising ones.
MOST_COLUMNS = 100

#: In tall tables, where a screen is precise and a question takes long, columns with this many values are tested.
MOST_VALUES = 10_000_000

#: The maximum number of rounds of second looks.
MOST_ROUNDS = 3

#: Rejected columns are asked about together in tables of at most this many values, counted once per class of three or
#: more: boosted trees of all columns are grown for every column that enters.
MOST_VALUES_TOGETHER = 100_000

#: Of the rejected columns that add together this many, the most promising ones, are tested by themselves.
MOST_SINGLED_OUT = 5


def look_again(
    inquiry: Inquiry,
    blanket: Sequence[int],
    correction: str | None,
    found_jointly: Collection[int] = (),
    n_jobs: int | None = None,
) -> list[int]:
    """Ask about every rejected column given the blanket, and shrink again where one enters.

    A column can matter only beside others: a suppressor is independent of the target on its own, and of two columns
    that act by their product one may enter alone. A second run of FBED does the same.

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


def can_ask_together(inquiry: Inquiry, test: IndependenceTest) -> bool:
    """Return whether rejected columns are asked about together: in small tables, where p-values hold their level."""
    table = inquiry.test.table
    if not (isinstance(test, CrossFitPPI) and test.uses_products and table.is_in_memory):
        return False
    n_classes = table.classes.size if table.task == "classification" else 0
    n_values = table.n_rows * len(inquiry.candidates) * (n_classes if n_classes > 2 else 1)
    return n_values <= MOST_VALUES_TOGETHER and not table.features.overlap


def models_of_the_rest(table: Table) -> list[Any]:
    """Return the models that are asked about all rejected columns together: a line and, if it can be fitted, boosting.

    A line adds up many weak effects; boosted trees see what is not linear.
    """
    line = usable_members(DEFAULT_PANEL, table)[:1]
    can_boost = not table.is_sparse and table.codes.ndim == 1
    return [*line, model_of_all(table.task)] if can_boost else line


def add_from_the_rest(
    inquiry: Inquiry,
    blanket: Sequence[int],
    bind: Callable[[Table], BoundTest],
    n_jobs: int | None = None,
) -> list[int]:
    """Add rejected columns as long as there is evidence that all rejected ones together add something.

    Several columns can add to the selected ones although no single one does so visibly, above all where a few columns
    nearly separate the classes. So all rejected columns are tested as one feature, given the blanket, by what models
    predict from them. If they add something, the one with the smallest p-value enters. In the end those that entered
    are dropped, weakest first, if the rejected columns add nothing without them either. Once the blanket is complete, a
    further column enters with probability alpha at most.

    Parameters
    ----------
    blanket : sequence of int
        What the other phases left. If it is empty, or lacks a single column, nothing is asked: one column by itself
        was asked about before.

    bind : callable
        Returns the test of a table in which the rejected columns are one feature.

    n_jobs : int, default=None
        Threads that look for the most promising of many columns.
    """
    members = list(blanket)
    rest = [x for x in inquiry.candidates if x not in set(members)]
    entered: list[Answered] = []
    together: IndependenceResult | None = None
    if len(rest) < 2 or not inquiry.given(members):
        return members
    with inquiry.bar(REST_TOGETHER, 1) as bar:
        while len(rest) > 1:
            together = _answer_together(inquiry, members, rest, bind)
            bar.advance()
            if not together.is_dependent(inquiry.alpha):
                break
            x, own = _most_promising(inquiry, members, rest, n_jobs)
            entered.append(
                (x, replace(together, effect=own.effect, root_effect=own.root_effect, model_pvalues=()))
            )
            inquiry.record(REST_TOGETHER, x, inquiry.given(members), entered[-1][1], "added")
            members.append(x)
            rest.remove(x)
            # The rest is asked about again, and each column that entered in the end.
            bar.expect(1 + len(entered))
        bar.expect(len(entered))
        for x, result in reversed(strongest_first(entered, inquiry.test.table)):
            others = [member for member in members if member != x]
            without = _answer_together(inquiry, others, [*rest, x], bind)
            bar.advance()
            is_needed = without.is_dependent(inquiry.alpha)
            own = replace(without, effect=result.effect, root_effect=result.root_effect, model_pvalues=())
            inquiry.record(REST_TOGETHER, x, inquiry.given(others), own, "kept" if is_needed else "dropped")
            if not is_needed:
                members, rest, together = others, [*rest, x], without
    if together is not None and not together.is_dependent(inquiry.alpha):
        inquiry.note(
            f"{REST_TOGETHER}: no evidence that the {len(rest):,} rejected columns together add to the selected ones "
            f"(p = {together.pvalue:.3g})"
        )
    return members


def _answer_together(
    inquiry: Inquiry, members: Sequence[int], rest: Sequence[int], bind: Callable[[Table], BoundTest]
) -> IndependenceResult:
    """Return whether the target depends on some columns, as one feature, given the members."""
    together = inquiry.test.table.order.canonical(rest)
    special = {*members, *inquiry.always_keep, *inquiry.condition_on}
    others = set(range(inquiry.test.table.n_features)) - special - set(rest)
    groups = sorted([together, *((x,) for x in (*special, *others))])
    bound = bind(inquiry.test.table.regrouped(groups))
    given = tuple(number for number, group in enumerate(groups) if group[0] in special)
    [result] = bound.answers([groups.index(together)], len(groups), given)
    return result


def _most_promising(
    inquiry: Inquiry, members: Sequence[int], rest: Sequence[int], n_jobs: int | None
) -> Answered:
    """Return the rejected column with the smallest p-value given the members, of the most promising ones."""
    table, given = inquiry.test.table, inquiry.given(members)
    asked = most_promising_beside(table, inquiry.target, members, rest, MOST_SINGLED_OUT, n_jobs)
    results = inquiry.test.answers(asked, inquiry.target, given)
    answered = strongest_first(zip(asked, results, strict=True), table)
    for x, result in answered:
        inquiry.record(SECOND_LOOK, x, given, result, "rejected")
    return answered[0]


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
