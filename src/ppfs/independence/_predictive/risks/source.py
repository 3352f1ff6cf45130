"""What every source of risks offers: the risks, and why it refuses a problem, if it does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence, Set
from dataclasses import replace

import numpy as np

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs._fitting import called, dense
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import LaterViews, PairedRisks, Views
from ppfs.independence._removal import NO_REMOVAL

# The refusal of a source that computes the risks of other kinds of models.
OTHER_KIND = "the engine has no faster way for this kind of model"


def refusal_of_target(table: Table, problem: Problem, losses: Collection[str] | None = None) -> str | None:
    """Return why the engine cannot compute the losses of this target, or None if it can.

    Parameters
    ----------
    losses : collection of str, default=None
        The losses that a source computes; None: those that all sources do.
    """
    if problem.loss.name not in (losses or _engine.LOSSES):
        return f"the engine does not support the loss {problem.loss.name!r}"
    if problem.y.ndim > 1:
        return f"the engine predicts one output, and the target has {problem.y.shape[1]}"
    if table.codes.ndim > 1:
        # Where another variable is predicted, the target may be among the columns.
        return "the engine reads single columns, and the target has several"
    return None


class RiskSource(ABC):
    """Computes the risk with a feature and with its knockoff, for one table and one model.

    Parameters
    ----------
    n_jobs : int or None

    reason : str
        Why the faster sources refused.

    Attributes
    ----------
    n_fits : int
        Models fitted so far.

    note : str
        How the models are fitted: a sentence for the trace.

    expected_removals : sequence of int
        The features that a search asks about next, and is likely to remove in this order. A source may fit models ahead
        of the removals; the answers are the same.

    last_removal : Removal
        The last change of the set that members are asked about in.
    """

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str) -> None:
        self.problem = problem
        self.n_fits = 0
        self.expected_removals: Sequence[int] = ()
        self.last_removal = NO_REMOVAL
        self.note = self._note(called(problem.estimator), reason)
        self._table = table
        self._n_jobs = n_jobs

    @classmethod
    @abstractmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why this source cannot compute these risks exactly, or None if it can.

        `OTHER_KIND` is the refusal of models that the source is not made for.
        """

    def _note(self, name: str, reason: str) -> str:
        return f"{name} is grown by the engine"

    @abstractmethod
    def grower(self) -> Grower:
        """Return what computes the risks of models of single columns."""

    def batch_sizes(self, are_members: bool) -> tuple[int, int]:
        """Return how many questions to answer at once, at first and at most."""
        return 1, 64

    def n_until_used(self, xs: Sequence[int], members: Set[int]) -> int:
        """Count the members up to the first one that a model uses, which are asked about together.

        A search that drops this one asks about the others given a new set.
        """
        return 1

    @abstractmethod
    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one feature set: one set of models serves all."""

    @abstractmethod
    def views(self, x: int, members: Set[int]) -> Views | None:
        """Return what the models of some features predict with and without one of them; None if none uses it."""

    def views_later(self, x: int, members: Set[int], *, is_added: bool) -> LaterViews:
        """Return what computes `views` in any thread: here they are computed at once.

        Parameters
        ----------
        is_added : bool
            Whether the next questions are about other sets, so that each needs models of its own.
        """
        found = self.views(x, members)
        return lambda: found

    def _shuffled(self, x: int) -> list[Floats]:
        """Return a feature's values, shuffled within each test part, shape (n_draws, n_test, n_columns)."""
        values = dense(self._table.take([x]))
        return [values[split.test[split.permutations]] for split in self.problem.splits]

    def of_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks:
        """Return the risks of questions about features outside `given`: each needs models of its own."""
        return self.of_members(xs, given | {xs[0]}) if len(xs) == 1 else self._of_several_added(xs, given)

    def _of_several_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks:
        risks = PairedRisks.joined([self.of_members([x], given | {x}) for x in xs])
        # A feature that none of these models uses may be used by the models of others: only members are inert.
        return replace(risks, unused=np.zeros(len(xs), dtype=bool))
