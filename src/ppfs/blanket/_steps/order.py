"""The order of columns: by their test results, then by content."""

from __future__ import annotations

from collections.abc import Iterable

from ppfs._data import Table
from ppfs.blanket._steps.questions import Answered, Inquiry


def strongest_first(answered: Iterable[Answered], table: Table) -> list[Answered]:
    """Sort results: smaller p-value first, then larger effect, then by the column's content.

    P-values of strong columns underflow to 0, but their effects still differ. Content comes before the column's number,
    so that the result does not depend on the order of the columns.
    """
    return sorted(answered, key=lambda one: (one[1].pvalue, -one[1].effect, table.order.by_content(one[0])))


def marginal_order(inquiry: Inquiry) -> list[int]:
    """Return all candidates, those with the strongest marginal association first."""
    return [x for x, _ in ask_marginally(inquiry)]


def ask_marginally(inquiry: Inquiry) -> list[Answered]:
    """Test all candidates given `condition_on` only; return the results, strongest first."""
    given = inquiry.given(())
    columns = inquiry.candidates
    answers = inquiry.gather(columns, given, "order")
    inquiry.record_all("order", columns, given, answers, answers.pvalues <= inquiry.alpha)
    return strongest_first(zip(columns, answers, strict=True), inquiry.test.table)


def least_important_first(answered: Iterable[Answered], table: Table) -> list[int]:
    """Return columns in the order in which the shrink phase tests them.

    False positives are then dropped before they can displace a strong column. Copies tie in everything: the later ones
    are tested, and dropped, first.
    """
    answered = list(answered)
    table.order.enter(x for x, _ in answered)
    order = sorted(
        answered, key=lambda one: (-one[1].pvalue, one[1].effect, table.order.key(one[0]), -one[0])
    )
    return [x for x, _ in order]
