"""What a bound test has answered so far, so that no question is computed twice."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ppfs.independence._answers import Answers, IndependenceResult
from ppfs.independence._rearrangements import CountedRearrangements, Rearrangements

# The target, the fingerprint of the set of x and its conditioning columns, and x. So "x given A" and "x given A and
# x" are the same question.
Question = tuple[int, int, int]


class KnownAnswers:
    """Everything a bound test has answered: questions given nothing in arrays, the others one by one.

    Attributes
    ----------
    counts : dict of Rearrangements to CountedRearrangements
        The counts of rearranged columns.
    """

    def __init__(self, n_variables: int) -> None:
        self._n_variables = n_variables
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
            is_known, answers = self.marginal(target, len(result.model_pvalues))
            is_known[x], answers[x] = True, result
        else:
            self._conditional[question] = result

    def marginal(self, target: int, n_models: int) -> tuple[NDArray[np.bool_], Answers]:
        """Return for which variables the question given nothing is answered, and the answers, by variable number."""
        if target not in self._marginal:
            n = self._n_variables
            self._marginal[target] = np.zeros(n, dtype=bool), Answers.independent(n, n_models)
        return self._marginal[target]

    def add_marginal(self, target: int, variables: NDArray[np.intp], answers: Answers) -> None:
        """Add answers about some variables, given nothing."""
        is_known, known = self.marginal(target, answers.model_pvalues.shape[1])
        is_known[variables] = True
        known.put(variables, answers)

    def forget(self, variables: Collection[int]) -> None:
        """Remove all answers about some variables."""
        if not variables:
            return
        for is_known, _ in self._marginal.values():
            is_known[list(variables)] = False
        for question in [question for question in self._conditional if question[2] in variables]:
            del self._conditional[question]
        for draws in [draws for draws in self.counts if not set(variables).isdisjoint(draws.xs)]:
            del self.counts[draws]

    def update(self, others: KnownAnswers) -> None:
        """Add the answers of `others`."""
        self._conditional.update(others._conditional)
        self.counts.update(others.counts)
        for target, (is_known, answers) in others._marginal.items():
            places = np.flatnonzero(is_known)
            self.add_marginal(target, places, answers.take(places))


def _is_marginal(question: Question) -> bool:
    """Return whether the question is about x given nothing."""
    return question[1] == fingerprint(question[2])


# Large enough for the columns that a search asks about repeatedly; those of a very wide table are asked about once.
@lru_cache(maxsize=2**16)
def fingerprint(column: int) -> int:
    """Return a hash of 128 bits that represents a column.

    The sum of its members' fingerprints identifies a set. Unlike the set itself it takes no memory, and
    adding a column to it takes no time, which matters when thousands of columns are tested given the same set.
    """
    return int.from_bytes(blake2b(int(column).to_bytes(8, "little"), digest_size=16).digest())
