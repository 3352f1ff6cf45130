"""HITON's last step: drop members without which a model predicts equally well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ppfs._fitting import CrossValidated
from ppfs.blanket._steps.questions import Inquiry


def drop_while_score_holds(inquiry: Inquiry, blanket: Sequence[int], estimator: Any, cv: int) -> list[int]:
    """Drop the member whose removal leaves the best score, as long as the score does not fall.

    Dropped members are listed in the notes of the trace.
    """
    table = inquiry.test.table
    scores = CrossValidated(table, estimator, cv=cv, entropy=inquiry.entropy)
    kept = list(blanket)
    while removable := [x for x in kept if x not in inquiry.always_keep]:
        best = max(table.order.canonical(removable), key=lambda x: scores.score(set(kept) - {x}))
        before, after = scores.score(kept), scores.score(set(kept) - {best})
        if after < before:
            break
        kept.remove(best)
        fold = f"fold {inquiry.fold}: " if inquiry.fold else ""
        inquiry.trace.notes.append(
            f"{fold}wrapper dropped {table.names[best]!r}: score {before:.4g} with it, {after:.4g} without"
        )
    return kept
