"""Candidates of joint growth that the search's own test dropped, judged by the model that found them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ppfs._data import Table
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.blanket._steps.shrink import shrink
from ppfs.independence import BoundTest

#: The phase in which they are judged.
JOINT_SHRINK = "joint shrink"


def shrink_jointly(
    inquiry: Inquiry, found: Sequence[Answered], blanket: Sequence[int], bind: Callable[[Table], BoundTest]
) -> list[int]:
    """Return the blanket with the candidates of joint growth that its model needs beside the blanket.

    The models of a panel see one or two columns at a time. They drop the inputs of an exclusive-or of three columns,
    which a model of all columns found. So what they dropped is asked about again, weakest first, by that model, given
    the blanket and the other candidates that were dropped. They share the level: it is their second chance.

    Parameters
    ----------
    found : sequence of Answered
        The candidates of joint growth.

    blanket : sequence of int
        What the shrink phase left.

    bind : callable
        Returns the test of a table.
    """
    dropped = [(x, result) for x, result in found if x not in set(blanket)]
    if not dropped:
        return list(blanket)
    dropped.sort(
        key=lambda one: (-one[1].pvalue, one[1].effect, inquiry.test.table.order.key(one[0]), -one[0])
    )
    test = bind(inquiry.test.table)
    joint = replace(inquiry, test=test, always_keep=tuple(blanket), alpha=inquiry.alpha / len(dropped))
    return shrink(joint, [*(x for x, _ in dropped), *blanket], phase=JOINT_SHRINK)
