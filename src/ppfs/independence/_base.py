"""The protocol between independence tests and whoever asks them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

from sklearn.base import BaseEstimator

from ppfs._random import RandomStateLike
from ppfs._reading import CategoricalFeatures, read_table
from ppfs._table import ColumnsLike, Table, Task
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
    """

    pvalue: float
    statistic: float
    effect: float
    is_reliable: bool = True
    is_inert: bool = False

    def is_dependent(self, alpha: float) -> bool:
        """Tell whether independence is rejected at level `alpha`."""
        return self.pvalue <= alpha

    def is_independent(self, alpha: float) -> bool:
        """Tell whether independence stands at level `alpha`; False where there are too few rows to tell."""
        return self.is_reliable and self.pvalue > alpha


# What tests answer where x can add nothing by definition (it is constant, say), where no model uses it, and
# where there are too few rows to tell.
INDEPENDENT = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0)
INERT = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0, is_inert=True)
CANNOT_TELL = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0, is_reliable=False)


# The target, a key of the set of x and its conditioning columns, and x. So "x given A" and "x given A and
# x" are the same question.
Question = tuple[int, int, int]


class BoundTest(ABC):
    """A test together with the data it is asked about.

    A subclass implements `_answers`. Every answer is remembered, so a question asked
    twice costs nothing the second time.

    Attributes
    ----------
    n_fits : int
        Models fitted so far.

    n_answers : int
        Questions answered so far, each counted once.

    known : dict
        The answers, by question.
    """

    n_fits: int = 0

    def __init__(self, table: Table) -> None:
        self.table = table
        self.n_answers = 0
        self.known: dict[Question, IndependenceResult] = {}
        self._asked_sets: set[tuple[int, int]] = set()

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value this test can return, whatever the data."""
        return 0.0

    @property
    def notes(self) -> list[str]:
        """How the answers are computed, where there is a choice: sentences for the trace."""
        return []

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
        shared = sum(map(_fingerprint, inside))

        def question(x: int) -> Question:
            return target, shared if x in inside else shared + _fingerprint(x), x

        # The shrink phase comes here after every removal, with a column set that no one has asked about:
        # nothing may take long for each member.
        is_new = (target, shared) not in self._asked_sets and inside.issuperset(xs)
        unknown = xs if is_new else [x for x in dict.fromkeys(xs) if question(x) not in self.known]
        self._asked_sets.add((target, shared))
        fresh = self._answers(unknown, target, tuple(sorted(inside))) if unknown else iter(())
        # Paired, because whoever listens may ask about a later x in the meantime: what comes
        # back then still belongs to its own x.
        pairs = zip(unknown, fresh, strict=False)
        for x in xs:
            asked = question(x)
            while asked not in self.known:
                other, result = next(pairs)
                self._remember(asked if other == x else question(other), result)
            yield self.known[asked]

    def _remember(self, question: Question, result: IndependenceResult) -> None:
        if question not in self.known:
            self.known[question] = result
            self.n_answers += 1

    @abstractmethod
    def _answers(
        self, xs: Sequence[int], target: int, given: tuple[int, ...]
    ) -> Iterator[IndependenceResult]:
        """Answer questions never asked before; `given` is sorted."""


@cache
def _fingerprint(column: int) -> int:
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
    """

    is_random: bool = True

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
        feature_groups: Mapping[str, Collection[int | str]] | None = None,
        categorical_features: CategoricalFeatures = "auto",
        sample_weight: Any = None,
        groups: Any = None,
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

        Returns
        -------
        IndependenceResult
        """
        self._validate_params()
        table = read_table(
            X,
            y,
            task=self.declared_task() or "auto",
            owner=self,
            feature_groups=feature_groups,
            categorical_features=categorical_features,
            sample_weight=sample_weight,
            groups=groups,
        )
        candidate = table.feature_index(x)
        conditioning = table.feature_numbers(given, "given")
        if candidate in conditioning:
            raise InvalidInputError(
                f"Column {table.names[candidate]!r} is both x and in given: it would be tested given itself. "
                "Leave it out of given."
            )
        return self.bind(table).query(candidate, table.target, conditioning)
