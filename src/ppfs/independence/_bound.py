"""The protocol between independence tests and the searches that ask them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from math import isfinite
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import RandomStateLike
from ppfs._data import Table
from ppfs.exceptions import InvalidInputError
from ppfs.independence._answers import INDEPENDENT, Answers, IndependenceResult
from ppfs.independence._known_answers import KnownAnswers, Question, fingerprint
from ppfs.independence._rearrangements import CountedRearrangements, ExactTail
from ppfs.independence._removal import NO_REMOVAL, Removal, gone_from

# What to do when no model can be fitted to a column: raise, or leave the column out.
OnError = Literal["raise", "drop"]

# Tests that answer one by one compute this many answers given nothing before the first is passed on.
_MARGINAL_BLOCK = 64

# Batches double up to this many, so that little is wasted where a search stops at the first answer, and the overhead
# is small where it reads all of them.
_MAX_BATCH = 512


class Listener(Protocol):
    """Receives every new answer, for example to write it to a file."""

    def block(self, target: int, variables: NDArray[np.intp], answers: Answers) -> None:
        """Receive the answers about a block of variables, given nothing."""

    def answer(self, question: Question, result: IndependenceResult) -> None:
        """Receive one answer, given other columns."""

    def counted(self, counted: CountedRearrangements) -> None:
        """Receive how many draws were as extreme as some columns, given nothing."""


@dataclass(frozen=True)
class Binding:
    """What a bound test needs beside the table and the parameters of the test.

    Attributes
    ----------
    fold : int
        Which fold the rows belong to: random draws are keyed by it.

    random_state, n_jobs
        Used where the test leaves its own at None.

    on_error : {"raise", "drop"}
        What to do when no model can be fitted to a column: raise, or go on without it.

    known : KnownAnswers or None
        Answers of an earlier run under the same circumstances; new answers are added to it.

    listener : Listener or None
        Receives every new answer.

    salt : int
        Added to the keys of questions given other columns, so that tests of different features can share `known`.
    """

    fold: int = 0
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    on_error: OnError = "raise"
    known: KnownAnswers | None = None
    listener: Listener | None = None
    salt: int = 0


class BoundTest(ABC):
    """A test together with the data that its questions are about.

    A subclass implements `_answers`, and may implement `_marginal_blocks` to answer many questions given nothing
    at once. Every answer is kept, so a question asked twice costs nothing the second time.

    Parameters
    ----------
    models : tuple of str, default=()
        See the attribute.

    Attributes
    ----------
    n_fits : int
        Models fitted so far.

    models : tuple of str
        The names of the models of a panel, in the order of an answer's `model_pvalues`; empty for other tests.

    n_answers : int
        Questions answered so far, each counted once.

    known : KnownAnswers
        The answers.

    failures : dict of int to str
        The variables that were left out, and the errors. Their answer is "cannot tell".
    """

    n_fits: int = 0

    # Binds the same test to other features of the same rows, where some of them share columns.
    bind_beside: Callable[[Table], BoundTest] | None = None

    # Models of questions about features that share columns with those they are asked given.
    _n_fits_apart: int = 0

    def __init__(self, table: Table, binding: Binding = Binding(), models: tuple[str, ...] = ()) -> None:
        self.table = table
        self.models = models
        self.n_answers = 0
        self.known = KnownAnswers(table.n_features + 1) if binding.known is None else binding.known
        self._binding = binding
        self._listener = binding.listener
        self._on_error = binding.on_error
        self.failures: dict[int, str] = {}
        self._asked_sets: set[tuple[int, int]] = set()
        self._last_given: tuple[tuple[int, ...], frozenset[int], int] = (), frozenset(), 0
        self._last_removal = NO_REMOVAL

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value this test can return, whatever the data."""
        return 0.0

    def notes(self) -> list[str]:
        """Return how the answers are computed, where there is a choice: sentences for the trace."""
        return []

    def exact_tail(self, target: int) -> ExactTail | None:
        """Return what counts small p-values given nothing, or None where they are not counted."""
        return None

    def binding_for(self, features: Table) -> Binding:
        """Return the binding of another test of the same rows, whose features may be groups of this table's features.

        Its answers are kept, and written to a checkpoint, together with those of this test. They are distinguished by
        the columns of each feature, so only one such test of a table may have the same columns. It answers questions
        given other columns only.
        """
        salt = int.from_bytes(blake2b(repr(features.columns).encode(), digest_size=16).digest())
        return replace(self._binding, known=self.known, salt=salt)

    def has_rows_for(self, target: int, given: Collection[int]) -> bool:
        """Return whether there are enough rows to ask about `target` given these columns.

        A search that adds several columns at once stops adding when the answer is no.
        """
        return True

    def query(self, x: int, target: int, given: Collection[int] = ()) -> IndependenceResult:
        """Answer whether `x` is independent of `target` given the columns `given`."""
        return next(self.answers([x], target, given))

    def query_many(
        self, xs: Sequence[int], target: int, given: Collection[int] = ()
    ) -> list[IndependenceResult]:
        """Answer the same question for each of `xs`; see `answers`."""
        return list(self.answers(xs, target, given))

    def answers(
        self, xs: Sequence[int], target: int, given: Collection[int] = ()
    ) -> Iterator[IndependenceResult]:
        """Answer lazily, in order, whether each x is independent of `target` given the other `given`.

        A member of `given` is tested given the rest of it. So the growth phase asks about
        all columns given the blanket, the shrink phase about the blanket's members given
        the blanket, and both stop listening as soon as an answer changes the blanket.

        Yields
        ------
        IndependenceResult
            One for each of `xs`.
        """
        if not len(given):
            for places, answers in self.marginal_answers(xs, target):
                yield from answers.take(places)
            return
        inside, total = self._with_fingerprint(given)
        shared = self._binding.salt + total

        def question(x: int) -> Question:
            return target, shared if x in inside else shared + fingerprint(x), x

        # The shrink phase asks about a new column set after every removal: no step may take long per member.
        # Where an earlier run was stopped, the first answers are known.
        is_new = (
            len(inside) > 1
            and (target, shared) not in self._asked_sets
            and inside.issuperset(xs)
            and not (xs and question(xs[0]) in self.known)
        )
        unknown = xs if is_new else [x for x in dict.fromkeys(xs) if question(x) not in self.known]
        self._asked_sets.add((target, shared))
        fresh = self._fresh(unknown, target, inside) if unknown else iter(())
        # Paired, because the caller may ask about a later x in the meantime: an answer still belongs to its own x.
        pairs = zip(unknown, fresh, strict=False)
        for x in xs:
            wanted = question(x)
            known = self.known.get(wanted)
            while known is None:
                other, result = next(pairs)
                self._remember(wanted if other == x else question(other), result)
                known = result if other == x else self.known.get(wanted)
            yield known

    def _with_fingerprint(self, given: Collection[int]) -> tuple[frozenset[int], int]:
        """Return columns as a set, and the sum of their fingerprints: the last sum, changed by what came and went.

        The shrink phase removes one of thousands of columns at a time.
        """
        listed, last, total = self._last_given
        columns = tuple(given)
        found = gone_from(listed, columns) if len(listed) == len(last) else None
        if found is None:
            now = frozenset(columns)
            gone = last - now
            inside = last - gone if gone else last
            if len(inside) < len(now):
                came = frozenset(map(int, now - inside))
                inside, total = inside | came, total + sum(map(fingerprint, came))
        else:
            gone = frozenset(found)
            inside = last - gone
            self._last_removal = Removal(last, inside, gone)
        total -= sum(map(fingerprint, gone))
        self._last_given = columns, inside, total
        return inside, total

    def marginal_answers(self, xs: Sequence[int], target: int) -> Iterator[tuple[NDArray[np.intp], Answers]]:
        """Answer whether each x is independent of `target` given nothing, block by block.

        Yields
        ------
        variables : ndarray of int
            The next few of `xs`, in their order.

        answers : Answers
            By variable number; those of `variables` are filled.
        """
        is_known, answers = self.known.marginal(target, len(self.models))
        wanted = np.asarray(xs, dtype=np.intp)
        unknown = wanted[~is_known[wanted]]
        if len(unknown) < len(wanted):
            unknown = np.array(list(dict.fromkeys(unknown.tolist())), dtype=np.intp)
        done = 0
        for block, found in self._marginal_blocks(unknown, target) if unknown.size else ():
            wrong = np.flatnonzero(
                ~((found.pvalues >= 0) & (found.pvalues <= 1) & np.isfinite(found.effects))
            )
            if wrong.size:
                first = wrong[0]
                self._require_decidable(int(block[first]), found.pvalues[first], found.effects[first])
            # The caller may have asked about some of them in the meantime.
            self.n_answers += int((~is_known[block]).sum())
            is_known[block] = True
            answers.put(block, found)
            if self._listener is not None:
                is_told = ~np.isin(block, list(self.failures))
                self._listener.block(target, block[is_told], found.take(np.flatnonzero(is_told)))
            end = done
            # Blocks come in the order of `wanted`: no more than the next few are looked at. After a failure a block may
            # be empty.
            while block.size and end < len(wanted):
                waiting = np.flatnonzero(~is_known[wanted[end : end + block.size]])
                end += int(waiting[0]) if waiting.size else len(wanted[end : end + block.size])
                if waiting.size:
                    break
            if end > done:
                yield wanted[done:end], answers
            done = end
        if done < len(wanted):
            yield wanted[done:], answers

    def _remember(self, question: Question, result: IndependenceResult) -> None:
        if question not in self.known:
            self._require_decidable(question[2], result.pvalue, result.effect)
            self.known[question] = result
            self.n_answers += 1
            if self._listener is not None and question[2] not in self.failures:
                self._listener.answer(question, result)

    def _remember_count(self, counted: CountedRearrangements) -> None:
        self.known.counts[counted.draws] = counted
        if self._listener is not None:
            self._listener.counted(counted)

    def _require_decidable(self, x: int, pvalue: float, effect: float) -> None:
        """Raise if an answer is not a number, before a search decides by it."""
        if 0.0 <= pvalue <= 1.0 and isfinite(effect):
            return
        name = "the target" if x == self.table.target else repr(self.table.names[x])
        raise InvalidInputError(
            f"{type(self).__name__} returned the p-value {pvalue} and the effect {effect} for {name}, and no decision "
            "can rest on them. Values of the column, of the columns it is tested given or of the target are too large "
            "for sums of squares in 64 bits: rescale them."
        )

    def _marginal_blocks(
        self, xs: NDArray[np.intp], target: int
    ) -> Iterator[tuple[NDArray[np.intp], Answers]]:
        """Answer new questions given nothing; yield some of `xs` with their answers."""
        columns = xs.tolist()
        fresh = self._answers(columns, target, frozenset())
        for first in range(0, len(columns), _MARGINAL_BLOCK):
            block = xs[first : first + _MARGINAL_BLOCK]
            found: list[IndependenceResult] = []
            try:
                found.extend(islice(fresh, block.size))
            except Exception:
                # Answers from before the failure are passed on, so that they are kept.
                yield block[: len(found)], Answers.of(found, len(self.models))
                raise
            yield block, Answers.of(found, len(self.models))

    def _fresh(self, xs: Sequence[int], target: int, given: frozenset[int]) -> Iterator[IndependenceResult]:
        """Answer new questions; a feature that shares columns with `given` is asked about by its other columns."""
        if self.bind_beside is None:
            yield from self._answers(xs, target, given)
            return
        features = self.table.features
        for x in xs:
            others = [other for other in sorted(given) if other not in (x, self.table.target)]
            if x == self.table.target or set(features.columns[x]).isdisjoint(features.columns_of(others)):
                yield from self._answers([x], target, given)
                continue
            apart = features.apart(x, others)
            if apart is None or target != self.table.target:
                yield INDEPENDENT
                continue
            bound = self.bind_beside(self.table.with_features(apart))
            yield bound.query(0, bound.table.target, range(1, len(apart.names)))
            self._n_fits_apart += bound.n_fits

    @abstractmethod
    def _answers(self, xs: Sequence[int], target: int, given: frozenset[int]) -> Iterator[IndependenceResult]:
        """Answer new questions."""


def growing_batches(xs: Sequence[int], first: int = 1, most: int = _MAX_BATCH) -> Iterator[Sequence[int]]:
    """Cut `xs` into batches whose size doubles from `first` up to `most`.

    Examples
    --------
    >>> [list(batch) for batch in growing_batches(range(6))]
    [[0], [1, 2], [3, 4, 5]]
    """
    start, size = 0, min(first, most)
    while start < len(xs):
        yield xs[start : start + size]
        start, size = start + size, min(2 * size, most)
