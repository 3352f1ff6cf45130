"""Replace features by draw after draw, until all draws are made or the answer is clear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ppfs._conventions import Floats
from ppfs.independence._predictive.problem import Problem

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

    by_draw : ndarray or None
        See `PairedRisks`.
    """

    replaced: Floats
    by_draw: Floats | None


def over_draws(problem: Problem, base: Floats, evaluate: Evaluate) -> Drawn:
    """Make all draws or, with an early stop and one question, as many as needed.

    Parameters
    ----------
    base : ndarray of shape (n_pairs,)
        Risks with the original features.
    """
    if not problem.stop_after:
        risks = evaluate(0, problem.n_draws)
        replaced = risks.sum(axis=1) / problem.n_draws
        return Drawn(replaced, risks.sum(axis=2) / base.size if problem.is_by_row else None)
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
