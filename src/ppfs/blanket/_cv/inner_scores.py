"""Scores of a model with the columns that each candidate of `PPFSCV` selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ppfs._conventions import Floats
from ppfs._data import CallersColumns, Table
from ppfs._fitting import Scorer, fold_score, naming_the_model, seen_by
from ppfs.blanket._cv.candidates import Candidates
from ppfs.blanket._cv.ranking import Path
from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.blanket._run.circumstances import Circumstances
from ppfs.blanket._run.reused_answers import ReusedAnswers

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class PartScores:
    """The results of one division of the rows, one entry per candidate.

    Attributes
    ----------
    scores : ndarray of shape (n_candidates,)
        Of the model, on rows that no search used.

    sizes : ndarray of shape (n_candidates,)
        How many of the caller's columns were selected.
    """

    scores: Floats
    sizes: NDArray[np.intp]


@dataclass(frozen=True)
class Judge:
    """A model and a score: scores candidates on a division of the rows into train and test.

    Attributes
    ----------
    estimator : estimator
        Cloned for every fit.

    seed : int
        For searches without a seed of their own.
    """

    table: Table
    candidates: Candidates
    estimator: Any
    scorer: Scorer
    seed: int

    def __call__(self, train: Rows, test: Rows) -> PartScores:
        """Search in the rows `train` with every setting, fit the model there, and score it on the rows `test`."""
        callers = CallersColumns.of(self.table)
        chosen = self._chosen(self.table.rows(train))
        # Candidates often agree, and a model is fitted once on each set of columns.
        scores = {features: self._score(features, train, test) for features in dict.fromkeys(chosen)}
        return PartScores(
            np.array([scores[features] for features in chosen]),
            np.array([len(callers.numbers(sorted(features))) for features in chosen], dtype=np.intp),
        )

    def _chosen(self, part: Table) -> list[frozenset[int]]:
        """Return what each candidate selects in a part of the rows."""
        selected: list[frozenset[int]] = [frozenset()] * len(self.candidates.all)
        for number, fitted in enumerate(searched(self.candidates.settings, part, self.seed)):
            path = Path.of(fitted, part)
            for place, candidate in enumerate(self.candidates.all):
                if candidate.setting == number:
                    selected[place] = frozenset(path.features(candidate.size(part.n_features)))
        return selected

    def _score(self, features: frozenset[int], train: Rows, test: Rows) -> float:
        table = self.table
        X, model = seen_by(self.estimator, table, features)
        with naming_the_model(model, table, features):
            return fold_score(model, X, table.y, table.weights, self.scorer, train, test)


def searched(settings: Sequence[BaseBlanketSelector], table: Table, seed: int) -> list[BaseBlanketSelector]:
    """Search a table with each setting; settings with the same test share its splits, models and answers.

    So all levels and corrections share one growth phase, and the common part of their shrink phases.
    """
    fitted: list[BaseBlanketSelector] = []
    benches: list[tuple[Circumstances, ReusedAnswers]] = []
    for setting in settings:
        selector = ready(setting, seed)
        test = selector._independence_test()
        wanted = Circumstances.of(test, selector.random_state, selector.n_folds)  # type: ignore[arg-type]
        answers = next((answers for known, answers in benches if known.serves(wanted)), None)
        if answers is None:
            answers = ReusedAnswers()
            benches.append((wanted, answers))
        selector._fit_table(table, test, answers)
        fitted.append(selector)
    return fitted


def ready(setting: BaseBlanketSelector, seed: int) -> BaseBlanketSelector:
    """Return a copy of a search, seeded with `seed` if it has no integer seed of its own."""
    selector: BaseBlanketSelector = clone(setting)
    given = selector.random_state
    # A generator would give different numbers to each fit.
    selector.random_state = int(given) if isinstance(given, int | np.integer) else seed
    selector.checkpoint = None
    selector.progress = False
    return selector
