"""The protocol between independence tests and whoever asks them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from math import isfinite
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ppfs._conventions import RandomStateLike
from ppfs._data import (
    BY_TASK,
    CategoricalFeatures,
    ColumnsLike,
    Table,
    Task,
    agreed_task,
    read_table,
    warn_if_ambiguous,
)
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True, slots=True)
class IndependenceResult:
    """The answer to one question "is x independent of the target given these columns?".

    Attributes
    ----------
    pvalue : float
        Small values speak against independence.

    statistic : float
        What the p-value was computed from, for example Wilcoxon's rank sum.

    effect : float
        How strong the link is, on a scale that does not saturate when the p-value does:
        for predictive tests the mean rise in risk when x is replaced by its knockoff.

    is_reliable : bool
        False when there are too few rows to tell. Such an answer has p-value 1 and is evidence
        neither for dependence nor for independence.

    is_inert : bool
        True when no model of x and its conditioning columns uses x. The models are then the same without
        x, and so is every answer about the other columns.

    model_pvalues : tuple of float
        Where several models were asked, the p-value of each; not a number for models that this question was not put to.
    """

    pvalue: float
    statistic: float
    effect: float
    is_reliable: bool = True
    is_inert: bool = False
    model_pvalues: tuple[float, ...] = ()

    def is_dependent(self, alpha: float) -> bool:
        """Tell whether independence is rejected at level `alpha`."""
        return self.pvalue <= alpha

    def is_independent(self, alpha: float) -> bool:
        """Tell whether independence stands at level `alpha`; False where there are too few rows to tell."""
        return self.is_reliable and self.pvalue > alpha


# What tests answer where x can add nothing by definition (it is constant, say), and where there are too few rows to
# tell.
INDEPENDENT = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0)
CANNOT_TELL = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0, is_reliable=False)


# What becomes of a search when a column cannot be asked about.
OnError = Literal["raise", "drop"]

# How many questions given nothing are answered before the first answer is passed on, where a test answers one by one.
_MARGINAL_BLOCK = 64

# The target, a key of the set of x and its conditioning columns, and x. So "x given A" and "x given A and
# x" are the same question.
Question = tuple[int, int, int]


@dataclass(frozen=True)
class Answers:
    """The answers to many questions, as arrays of shape (n_questions,); see `IndependenceResult`.

    Those of the models of a panel have the shape (n_questions, n_models), with no models where there is no panel.

    A million columns are asked about while a search grows, and an object for each would take more room than the
    numbers in it.
    """

    pvalues: NDArray[np.float64]
    statistics: NDArray[np.float64]
    effects: NDArray[np.float64]
    is_reliable: NDArray[np.bool_]
    is_inert: NDArray[np.bool_]
    model_pvalues: NDArray[np.float64]

    @classmethod
    def independent(cls, n: int, n_models: int = 0) -> Answers:
        """Return answers that tell of no link: what each entry is until it is filled."""
        return cls(
            np.ones(n),
            np.zeros(n),
            np.zeros(n),
            np.ones(n, dtype=bool),
            np.zeros(n, dtype=bool),
            np.full((n, n_models), np.nan),
        )

    @classmethod
    def of(cls, results: Sequence[IndependenceResult], n_models: int = 0) -> Answers:
        """Collect single answers."""
        answers = cls.independent(len(results), n_models)
        for i, result in enumerate(results):
            answers[i] = result
        return answers

    def __len__(self) -> int:
        return len(self.pvalues)

    def __getitem__(self, i: int) -> IndependenceResult:
        return IndependenceResult(
            float(self.pvalues[i]),
            float(self.statistics[i]),
            float(self.effects[i]),
            bool(self.is_reliable[i]),
            bool(self.is_inert[i]),
            tuple(self.model_pvalues[i].tolist()) if self.model_pvalues.shape[1] else (),
        )

    def __setitem__(self, i: int, result: IndependenceResult) -> None:
        self.pvalues[i] = result.pvalue
        self.statistics[i] = result.statistic
        self.effects[i] = result.effect
        self.is_reliable[i] = result.is_reliable
        self.is_inert[i] = result.is_inert
        self.model_pvalues[i] = result.model_pvalues or np.nan

    def __iter__(self) -> Iterator[IndependenceResult]:
        return (self[i] for i in range(len(self)))

    def put(self, places: NDArray[np.intp], others: Answers) -> None:
        """Write other answers into some of the places."""
        for mine, theirs in zip(self._arrays(), others._arrays(), strict=True):
            mine[places] = theirs

    def take(self, places: NDArray[np.intp]) -> Answers:
        """Return the answers at some of the places."""
        return Answers(*(array[places] for array in self._arrays()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Answers:
        """Make answers of arrays by name; others are not looked at."""
        return cls(*(arrays[field.name] for field in fields(cls)))

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return tuple(self.arrays().values())


@dataclass(frozen=True)
class Rearrangements:
    """Some rearrangements of some columns.

    Attributes
    ----------
    target : int
        The variable that the columns are compared with.

    xs : tuple of int
        The columns.

    first, end : int
        The numbers of the draws, in chunks.

    share : float
        See `ExactTail.n_as_extreme`.
    """

    target: int
    xs: tuple[int, ...]
    first: int
    end: int
    share: float


@dataclass(frozen=True)
class CountedRearrangements:
    """How many draws were as extreme as each of the columns themselves.

    Attributes
    ----------
    draws : Rearrangements

    counts : ndarray of int, shape (n_columns,)

    n_asked : int
        Rearranged columns that models were fitted to.
    """

    draws: Rearrangements
    counts: NDArray[np.intp]
    n_asked: int


class KnownAnswers:
    """Everything a bound test has answered: questions given nothing in arrays, the others one by one.

    Attributes
    ----------
    counts : dict of Rearrangements to CountedRearrangements
        What was counted of rearranged columns.
    """

    def __init__(self, n_variables: int, n_models: int = 0) -> None:
        self._n_variables = n_variables
        self._n_models = n_models
        self._conditional: dict[Question, IndependenceResult] = {}
        self._marginal: dict[int, tuple[NDArray[np.bool_], Answers]] = {}
        self.counts: dict[Rearrangements, CountedRearrangements] = {}

    def __len__(self) -> int:
        n_marginal = sum(int(is_known.sum()) for is_known, _ in self._marginal.values())
        return len(self._conditional) + n_marginal

    def __contains__(self, question: Question) -> bool:
        if question in self._conditional:
            return True
        target, _, x = question
        return _is_marginal(question) and target in self._marginal and bool(self._marginal[target][0][x])

    def __getitem__(self, question: Question) -> IndependenceResult:
        if _is_marginal(question):
            target, _, x = question
            return self._marginal[target][1][x]
        return self._conditional[question]

    def get(self, question: Question) -> IndependenceResult | None:
        """Return an answer, or None where there is none yet."""
        found = self._conditional.get(question)
        return self[question] if found is None and _is_marginal(question) and question in self else found

    def __setitem__(self, question: Question, result: IndependenceResult) -> None:
        if _is_marginal(question):
            target, _, x = question
            is_known, answers = self.marginal(target)
            is_known[x], answers[x] = True, result
        else:
            self._conditional[question] = result

    def marginal(self, target: int) -> tuple[NDArray[np.bool_], Answers]:
        """Return which variables were asked about given nothing, and the answers, by the variables' numbers."""
        if target not in self._marginal:
            n = self._n_variables
            self._marginal[target] = np.zeros(n, dtype=bool), Answers.independent(n, self._n_models)
        return self._marginal[target]

    def forget(self, variables: Collection[int]) -> None:
        """Forget all answers about some variables."""
        if not variables:
            return
        for is_known, _ in self._marginal.values():
            is_known[list(variables)] = False
        for question in [question for question in self._conditional if question[2] in variables]:
            del self._conditional[question]
        for draws in [draws for draws in self.counts if not set(variables).isdisjoint(draws.xs)]:
            del self.counts[draws]

    def update(self, others: KnownAnswers) -> None:
        """Learn what others know."""
        self._conditional.update(others._conditional)
        self.counts.update(others.counts)
        for target, (is_known, answers) in others._marginal.items():
            mine, own = self.marginal(target)
            places = np.flatnonzero(is_known)
            mine[places] = True
            own.put(places, answers.take(places))


def _is_marginal(question: Question) -> bool:
    """Tell whether x is asked about given nothing."""
    return question[1] == fingerprint(question[2])


class Listener(Protocol):
    """Whoever wants to be told the answers as they come."""

    def block(self, target: int, variables: NDArray[np.intp], answers: Answers) -> None:
        """Hear the answers about a block of variables, given nothing."""

    def answer(self, question: Question, result: IndependenceResult) -> None:
        """Hear one answer, given other columns."""

    def counted(self, counted: CountedRearrangements) -> None:
        """Hear how many draws were as extreme as some columns, given nothing."""


class ExactTail(Protocol):
    """Whatever counts how often chance alone looks as good as a column, given nothing.

    Attributes
    ----------
    draws_at_once : int
        Draws are asked for in multiples of this.

    n_asked : int
        Rearranged columns that models were fitted to so far.
    """

    draws_at_once: ClassVar[int]
    n_asked: int

    def can_refine(self, xs: Sequence[int]) -> NDArray[np.bool_]:
        """Tell which columns can be rearranged."""

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int, share: float) -> NDArray[np.intp]:
        """Count, of some draws of each column, those that are as extreme as the column itself.

        Only about this share of the draws is looked at closely; the others do not stand out at a glance.
        """


class BoundTest(ABC):
    """A test together with the data it is asked about.

    A subclass implements `_answers`, and may implement `_marginal_blocks` to answer many questions given nothing
    at once. Every answer is remembered, so a question asked twice costs nothing the second time.

    Attributes
    ----------
    n_fits : int
        Models fitted so far.

    models : tuple of str
        What the models of a panel are called, in the order of an answer's `model_pvalues`; empty for other tests.

    n_answers : int
        Questions answered so far, each counted once.

    known : KnownAnswers
        The answers.

    listener : Listener or None
        Who is told every new answer, to write it down.

    on_error : {"raise", "drop"}
        What to do when a column alone cannot be asked about: raise, or go on without it.

    failures : dict of int to str
        The variables that were left out, and what went wrong with them. They have the answer "cannot tell".
    """

    n_fits: int = 0

    def __init__(self, table: Table, models: tuple[str, ...] = ()) -> None:
        self.table = table
        self.models = models
        self.n_answers = 0
        self.known = KnownAnswers(table.n_features + 1, len(models))
        self.listener: Listener | None = None
        self.on_error: OnError = "raise"
        self.failures: dict[int, str] = {}
        self._asked_sets: set[tuple[int, int]] = set()

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value this test can return, whatever the data."""
        return 0.0

    @property
    def notes(self) -> list[str]:
        """How the answers are computed, where there is a choice: sentences for the trace."""
        return []

    def exact_tail(self, target: int) -> ExactTail | None:
        """Return what counts small p-values given nothing; None where they stay as they are."""
        return None

    def has_rows_for(self, target: int, given: Collection[int]) -> bool:
        """Tell whether there are rows enough to ask about `target` given these columns.

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
        inside = set(map(int, given))
        if not inside:
            for places, answers in self.marginal_answers(xs, target):
                yield from answers.take(places)
            return
        shared = sum(map(fingerprint, inside))

        def question(x: int) -> Question:
            return target, shared if x in inside else shared + fingerprint(x), x

        # The shrink phase comes here after every removal, with a column set that no one has asked about:
        # nothing may take long for each member.
        is_new = len(inside) > 1 and (target, shared) not in self._asked_sets and inside.issuperset(xs)
        unknown = xs if is_new else [x for x in dict.fromkeys(xs) if question(x) not in self.known]
        self._asked_sets.add((target, shared))
        fresh = self._answers(unknown, target, tuple(sorted(inside))) if unknown else iter(())
        # Paired, because whoever listens may ask about a later x in the meantime: what comes
        # back then still belongs to its own x.
        pairs = zip(unknown, fresh, strict=False)
        for x in xs:
            asked = question(x)
            known = self.known.get(asked)
            while known is None:
                other, result = next(pairs)
                self._remember(asked if other == x else question(other), result)
                known = result if other == x else self.known.get(asked)
            yield known

    def marginal_answers(self, xs: Sequence[int], target: int) -> Iterator[tuple[NDArray[np.intp], Answers]]:
        """Answer whether each x is independent of `target` given nothing, block by block.

        Yields
        ------
        variables : ndarray of int
            The next few of `xs`, in their order.

        answers : Answers
            By the number of a variable: those of `variables` are filled.
        """
        is_known, answers = self.known.marginal(target)
        asked = np.asarray(xs, dtype=np.intp)
        unknown = asked[~is_known[asked]]
        if len(unknown) < len(asked):
            unknown = np.array(list(dict.fromkeys(unknown.tolist())), dtype=np.intp)
        done = 0
        for block, found in self._marginal_blocks(unknown, target) if unknown.size else ():
            wrong = np.flatnonzero(
                ~((found.pvalues >= 0) & (found.pvalues <= 1) & np.isfinite(found.effects))
            )
            if wrong.size:
                first = wrong[0]
                self._require_decidable(int(block[first]), found.pvalues[first], found.effects[first])
            # Whoever listens may have asked about some of them in the meantime.
            self.n_answers += int((~is_known[block]).sum())
            is_known[block] = True
            answers.put(block, found)
            if self.listener is not None:
                is_told = ~np.isin(block, list(self.failures))
                self.listener.block(target, block[is_told], found.take(np.flatnonzero(is_told)))
            waiting = np.flatnonzero(~is_known[asked[done:]])
            end = done + int(waiting[0]) if waiting.size else len(asked)
            if end > done:
                yield asked[done:end], answers
            done = end
        if done < len(asked):
            yield asked[done:], answers

    def _remember(self, question: Question, result: IndependenceResult) -> None:
        if question not in self.known:
            self._require_decidable(question[2], result.pvalue, result.effect)
            self.known[question] = result
            self.n_answers += 1
            if self.listener is not None and question[2] not in self.failures:
                self.listener.answer(question, result)

    def _remember_count(self, counted: CountedRearrangements) -> None:
        self.known.counts[counted.draws] = counted
        if self.listener is not None:
            self.listener.counted(counted)

    def _require_decidable(self, x: int, pvalue: float, effect: float) -> None:
        """Refuse an answer that is none, before a search decides by it."""
        if 0.0 <= pvalue <= 1.0 and isfinite(effect):
            return
        name = "the target" if x == self.table.target else repr(self.table.names[x])
        raise InvalidInputError(
            f"{type(self).__name__} gave {name} the p-value {pvalue} and the effect {effect}, by which nothing can be "
            "decided. Values of the column, of those it is tested given or of the target are beyond what 64 bits can "
            "square and add: rescale them."
        )

    def _marginal_blocks(
        self, xs: NDArray[np.intp], target: int
    ) -> Iterator[tuple[NDArray[np.intp], Answers]]:
        """Answer questions given nothing that were never asked before; yield some of `xs` with their answers."""
        columns = xs.tolist()
        fresh = self._answers(columns, target, ())
        for first in range(0, len(columns), _MARGINAL_BLOCK):
            block = xs[first : first + _MARGINAL_BLOCK]
            found: list[IndependenceResult] = []
            try:
                found.extend(islice(fresh, block.size))
            except Exception:
                # What was answered before the failure is passed on, so that it is remembered.
                yield block[: len(found)], Answers.of(found, len(self.models))
                raise
            yield block, Answers.of(found, len(self.models))

    @abstractmethod
    def _answers(
        self, xs: Sequence[int], target: int, given: tuple[int, ...]
    ) -> Iterator[IndependenceResult]:
        """Answer questions never asked before; `given` is sorted."""


# As many as a search asks about again and again; the columns of a very wide table are asked about once.
@lru_cache(maxsize=2**16)
def fingerprint(column: int) -> int:
    """Return a random-looking number of 128 bits that stands for a column.

    The sum of its members' fingerprints tells sets apart. Unlike the set itself it takes no room, and
    adding a column to it no time, which counts when thousands are asked about given the same set.
    """
    return int.from_bytes(blake2b(int(column).to_bytes(8, "little"), digest_size=16).digest())


class IndependenceTest(ABC, BaseEstimator):
    """A test's parameters: clonable, comparable, usable in a grid search.

    `bind` joins them with data.

    Attributes
    ----------
    is_random : bool
        Whether answers depend on `random_state`. A test that says no gives the same ones for any.

    reads_task : bool
        Whether answers depend on the target being read as labels or as quantities.
    """

    is_random: bool = True
    reads_task: bool = True

    _parameter_constraints: dict[str, Any] = {}

    @abstractmethod
    def bind(
        self, table: Table, *, fold: int = 0, random_state: RandomStateLike = None, n_jobs: int | None = None
    ) -> BoundTest:
        """Return the test of these data.

        Parameters
        ----------
        table : Table
            Columns and target.

        fold : int, default=0
            Which fold the rows belong to: random draws are keyed by it.

        random_state, n_jobs
            Used where the test leaves its own at None.
        """

    def declared_task(self) -> Task | None:
        """Tell the task that the parameters imply, or None when the target decides."""
        return None

    def evaluate(
        self,
        X: Any,
        y: Any,
        x: int | str,
        given: ColumnsLike = (),
        *,
        feature_groups: Mapping[str, ColumnsLike] | None = None,
        categorical_features: CategoricalFeatures = "auto",
        sample_weight: Any = None,
        groups: Any = None,
        task: Task | Literal["auto"] = "auto",
    ) -> IndependenceResult:
        """Answer one question about arrays or data frames.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The columns.

        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The target.

        x : int or str
            The column in question, by number or name.

        given : int, str or collection of them, default=()
            The columns to condition on.

        feature_groups : mapping of str to collection of int or str, default=None
            Columns that are one feature together; `x` and `given` then name groups, or members of them.

        categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
            Which columns are categorical. "auto": text, categories and whole numbers with at most 20 different ones;
            models see the latter as numbers all the same. "from_dtype": text and categories alone. A list of names or
            numbers, or a mask, names all of them, and models then see categories; None names none.

        sample_weight : array-like of shape (n_rows,), default=None
            How much each row counts. A row of weight 0 is left out.

        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as those of one patient: they stay together in every split.

        task : {"auto", "classification", "regression"}, default="auto"
            Whether y holds labels or quantities. "auto" follows the test's estimator; without one the target: text,
            truth values and at most 20 different whole numbers are labels.

        Returns
        -------
        IndependenceResult
        """
        self._validate_params()
        table = read_table(
            X,
            y,
            task=agreed_task(self.declared_task(), task, "evaluate"),
            owner=self,
            feature_groups=feature_groups,
            categorical_features=categorical_features,
            sample_weight=sample_weight,
            groups=groups,
        )
        if self.reads_task:
            warn_if_ambiguous(table, BY_TASK)
        candidate = table.feature_index(x)
        conditioning = table.feature_numbers(given, "given")
        if candidate in conditioning:
            raise InvalidInputError(
                f"Column {table.names[candidate]!r} is both x and in given: it would be tested given itself. "
                "Leave it out of given."
            )
        return self.bind(table).query(candidate, table.target, conditioning)
