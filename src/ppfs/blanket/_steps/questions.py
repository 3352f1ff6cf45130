"""The questions of a search: to which test, about which target, and recorded in which trace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats, Progress, ProgressBar
from ppfs._trace import Decision, Step, StepBatch, Trace
from ppfs.independence import Answers, BoundTest, IndependenceResult

Answered = tuple[int, IndependenceResult]


@dataclass(frozen=True)
class Inquiry:
    """A bound test, the target of its questions, and the trace that records the answers.

    Attributes
    ----------
    always_keep : tuple of int
        Columns that are in the blanket from the start and stay there.

    condition_on : tuple of int
        Columns in every conditioning set, which are never selected.

    withheld : tuple of int
        Columns that the search must not use.

    asked_for : int or None
        The target of the whole search, if this inquiry is about another variable.

    entropy : int
        The seed of the search itself.

    companions : list of BoundTest
        Other tests of the same rows that were asked, such as a model of all columns.
    """

    test: BoundTest
    target: int
    alpha: float
    trace: Trace
    fold: int
    progress: Progress = False
    always_keep: tuple[int, ...] = ()
    condition_on: tuple[int, ...] = ()
    withheld: tuple[int, ...] = ()
    asked_for: int | None = None
    entropy: int = 0
    companions: list[BoundTest] = field(default_factory=list)

    @property
    def n_fits(self) -> int:
        """Models fitted so far, by the test and its companions."""
        return sum(test.n_fits for test in self._tests)

    @property
    def n_answers(self) -> int:
        """Questions answered so far, by the test and its companions."""
        return sum(test.n_answers for test in self._tests)

    @property
    def _tests(self) -> list[BoundTest]:
        return list({id(test): test for test in (self.test, *self.companions)}.values())

    @property
    def candidates(self) -> list[int]:
        """The variables that may enter the blanket, without those that are in it from the start."""
        barred = {self.target, *self.always_keep, *self.condition_on, *self.withheld}
        # Few are barred, and there may be a million others.
        left = list(range(self.test.table.n_features + 1))
        for x in sorted(barred, reverse=True):
            del left[x]
        return left

    def about(self, variable: int) -> Inquiry:
        """Return the same inquiry about another variable; the search's target becomes a column."""
        asked_for = self.target if self.asked_for is None else self.asked_for
        return replace(self, target=variable, always_keep=(), asked_for=asked_for)

    def without(self, withheld: Collection[int]) -> Inquiry:
        """Return the same inquiry without some columns."""
        return replace(self, withheld=tuple(withheld))

    def given(self, members: Collection[int]) -> tuple[int, ...]:
        """Return the conditioning set of these members: the members and `condition_on`."""
        return (*members, *self.condition_on)

    def answers(self, xs: Sequence[int], given: tuple[int, ...], bar: ProgressBar) -> Iterator[Answered]:
        """Yield each x with its answer."""
        for x, result in zip(xs, self.test.answers(xs, self.target, given), strict=True):
            bar.advance()
            yield x, result

    def ask(self, xs: Sequence[int], given: tuple[int, ...], phase: str) -> list[Answered]:
        """Return each x with its answer, with a progress bar."""
        with self.bar(phase, len(xs)) as bar:
            return list(self.answers(xs, given, bar))

    def gather(self, xs: Sequence[int], given: tuple[int, ...], phase: str) -> Answers:
        """Return all answers as arrays, with a progress bar."""
        if given:
            return Answers.of([result for _, result in self.ask(xs, given, phase)], len(self.test.models))
        answers = Answers.independent(len(xs), len(self.test.models))
        done = 0
        with self.bar(phase, len(xs)) as bar:
            for variables, known in self.test.marginal_answers(xs, self.target):
                end = done + variables.size
                answers.put(np.arange(done, end), known.take(variables))
                bar.advance(variables.size)
                done = end
        return answers

    def bar(self, phase: str, total: int) -> ProgressBar:
        """Return the progress bar of a phase."""
        label = f"fold {self.fold} {phase}" if self.fold else phase
        return ProgressBar(label, total, self.progress, lambda: self.n_fits, _engine.compile_seconds)

    def note(self, remark: str) -> None:
        """Add a remark about the whole search to the trace."""
        self.trace.notes.append(f"fold {self.fold}: {remark}" if self.fold else remark)

    def record(
        self,
        phase: str,
        feature: int,
        given: tuple[int, ...],
        result: IndependenceResult,
        decision: Decision,
        adjusted_pvalue: float | None = None,
    ) -> None:
        """Add an answer and its consequence to the trace."""
        is_aside = self.asked_for is not None and self.asked_for != self.target
        self.trace.record(
            Step(
                self.fold,
                phase,
                feature,
                given,
                result.pvalue,
                result.statistic,
                result.effect,
                result.pvalue if adjusted_pvalue is None else adjusted_pvalue,
                decision,
                result.is_reliable,
                self.target if is_aside else None,
                self.withheld,
                result.model_pvalues,
                result.may_be_too_small,
                result.explained,
                result.root_effect,
            )
        )

    def record_all(
        self,
        phase: str,
        features: Sequence[int],
        given: tuple[int, ...],
        answers: Answers,
        is_candidate: NDArray[np.bool_],
        adjusted_pvalues: Floats | None = None,
    ) -> None:
        """Add the answers of a phase that tests all columns in the same way: each is a candidate or rejected."""
        is_aside = self.asked_for is not None and self.asked_for != self.target
        self.trace.record_batch(
            StepBatch(
                self.fold,
                phase,
                given,
                np.asarray(features, dtype=np.intp),
                answers.pvalues,
                answers.statistics,
                answers.effects,
                answers.pvalues if adjusted_pvalues is None else adjusted_pvalues,
                answers.is_reliable,
                is_candidate,
                ("candidate", "rejected"),
                self.target if is_aside else None,
                self.withheld,
                answers.model_pvalues if self.test.models else None,
                answers.may_be_too_small if self.test.models else None,
                answers.explained if self.test.models else None,
                answers.root_effects if self.test.models else None,
            )
        )
