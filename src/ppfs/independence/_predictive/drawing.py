"""Replacing features draw after draw, until all draws are made or enough is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ppfs._types import Floats
from ppfs.independence._predictive.problem import Problem

# evaluate(first, end) makes some of the draws for n questions. It returns the sum over these draws, shape
# (n, n_pairs), and the sum over the pairs, shape (n, end - first).
Evaluate = Callable[[int, int], tuple[Floats, Floats]]

# With an early stop, so many draws are made before it is asked whether more are needed.
_DRAWS_AT_ONCE = 20


def over_draws(problem: Problem, base: Floats, evaluate: Evaluate) -> tuple[Floats, Floats | None]:
    """Make all draws, or, with an early stop and one question, as many as are needed.

    Parameters
    ----------
    base : ndarray of shape (n_pairs,)
        Risks of the features as they are.

    Returns
    -------
    replaced : ndarray of shape (n_questions, n_pairs)
        The mean over the draws that were made.

    by_draw : ndarray of shape (n_questions, n_draws) or None
        See `PairedRisks`.
    """
    if not problem.stop_after:
        sums, totals = evaluate(0, problem.n_draws)
        return sums / problem.n_draws, totals / base.size if problem.is_by_row else None
    totals = np.full((1, problem.n_draws), np.nan)
    replaced = np.zeros((1, base.size))
    done = 0
    while done < problem.n_draws and (totals[0, :done] <= base.sum()).sum() < problem.stop_after:
        end = min(done + _DRAWS_AT_ONCE, problem.n_draws)
        sums, totals[:, done:end] = evaluate(done, end)
        replaced += sums
        done = end
    return replaced / done, totals / base.size
