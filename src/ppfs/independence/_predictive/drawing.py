"""Replace features by draw after draw, until all draws are made or the answer is clear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ppfs._conventions import Floats
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.significance import exchange_scores

# evaluate(first, end) makes some of the draws for n questions, and returns the risks of the pairs, shape
# (n, end - first, n_pairs).
Evaluate = Callable[[int, int], Floats]

# With an early stop, this many draws are made before each check whether more are needed.
_DRAWS_AT_ONCE = 20


@dataclass(frozen=True)
class Drawn:
    """The risks with replaced features.

    Attributes
    ----------
    replaced : ndarray of shape (n_questions, n_pairs)
        The mean over the draws that were made.

    by_draw, exchange : ndarray or None
        See `PairedRisks`.
    """

    replaced: Floats
    by_draw: Floats | None
    exchange: Floats | None = None


def over_draws(problem: Problem, base: Floats, evaluate: Evaluate, *, is_screened: bool = False) -> Drawn:
    """Make all draws or, with an early stop and one question, as many as needed.

    Parameters
    ----------
    base : ndarray of shape (n_pairs,)
        Risks with the original features.

    is_screened : bool, default=False
        Whether small p-values are counted later, as in growth: no exchange scores are needed then.
    """
    if not problem.stop_after:
        risks = evaluate(0, problem.n_draws)
        replaced = risks.sum(axis=1) / problem.n_draws
        if not problem.is_by_row:
            return Drawn(replaced, None)
        # Rows of a group are dependent but drawn one by one, so a group and its draws are not exchangeable.
        trades = not is_screened and problem.pair_groups is None
        return Drawn(
            replaced, risks.sum(axis=2) / base.size, exchange_scores(base, risks) if trades else None
        )
    totals = np.full((1, problem.n_draws), np.nan)
    replaced = np.zeros((1, base.size))
    done = 0
    while done < problem.n_draws and (totals[0, :done] <= base.sum()).sum() < problem.stop_after:
        end = min(done + _DRAWS_AT_ONCE, problem.n_draws)
        risks = evaluate(done, end)
        totals[:, done:end] = risks.sum(axis=2)
        replaced += risks.sum(axis=1)
        done = end
    return Drawn(replaced / done, totals / base.size)
