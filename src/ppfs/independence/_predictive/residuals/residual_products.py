"""Answers from products of residuals of the target and of functions of x, both given the other columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from ppfs import _engine
from ppfs._conventions import Floats, stream
from ppfs._data import Table
from ppfs._fitting import dense
from ppfs._parallel import MOST_THREADS_OF_PYTHON, can_fork, run_python_tasks
from ppfs.independence._answers import Answers
from ppfs.independence._predictive.combined_models import PanelMembers
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.residuals.functions import (
    CURVES,
    PRODUCTS,
    WEIGHTS,
    WEIGHTS_OF_SURVIVAL,
    functions_of,
    n_smoothest,
    weights_of_products,
)
from ppfs.independence._predictive.residuals.regressions import Fit, Regressions
from ppfs.independence._predictive.residuals.regressors import GivenColumn
from ppfs.independence._predictive.residuals.smoother import Residuals
from ppfs.independence._predictive.residuals.statistics import ProductTest, Tested, predicted_rest
from ppfs.independence._predictive.risks.paired import LaterViews

# Of a feature of many columns this many are looked at a second time.
_MOST_LOOKED_AT = 5

# From lines of columns, shape (n_rows, n_lines), to numbers of shape (n_rows,).
ResponseGiven = Callable[[Floats], Floats]

# Beyond this many standard errors from 0, it does not matter that an effect is the clearest of several.
_FAR = 4.0

# The key of this module's random streams, so that no other module draws the same numbers.
_PURPOSE = 0x5E51


@dataclass(frozen=True)
class Member:
    """A member of the test in one question.

    Attributes
    ----------
    number : int
        Its number in the answers' `model_pvalues`.

    functions : ndarray of shape (n_rows, n_functions)
        Functions of x and the other columns.

    n_smoothest : int
        How many of them, the first ones, are also tested by themselves.

    each : ndarray of shape (n_functions,), or None
        The weights of the functions, where they are tested one by one.
    """

    number: int
    weight: float
    functions: Floats
    n_smoothest: int = 0
    each: Floats | None = None


@dataclass(frozen=True)
class Asked:
    """What a question is asked with.

    Attributes
    ----------
    more : list of ndarray of shape (n_rows, n_regressors)
        Further regressors, functions of the other columns.
    """

    members: list[Member]
    more: list[Floats] = field(default_factory=list)


@dataclass(frozen=True)
class Question:
    """A question about a feature.

    Attributes
    ----------
    others : tuple of int
        The features that it is asked given.

    regressions : Regressions or None
        The regression of the target on these, if it is known.

    views : mapping of int to callable
        Return what the caller's models predict, by their numbers.
    """

    x: int
    others: tuple[int, ...]
    regressions: Regressions | None
    views: Mapping[int, LaterViews]


@dataclass(frozen=True)
class Answered:
    """An answer, the regression of the target if it needed one, and the number of regressions made for it."""

    answer: Answers
    regressions: Regressions | None
    n_fits: int

    def __reduce__(self) -> tuple[Any, ...]:
        # The regressions are large.
        return Answered, (self.answer, None, self.n_fits)


class ResidualProducts:
    """Tests x given other columns by the products of two residuals.

    The target, and functions of x, are regressed on the other columns. If x is independent of the target given these,
    the residuals are uncorrelated, provided that one of the two regressions is right: the error of the mean product is
    the product of both errors (docs/decisions/0230-products-of-residuals.md).

    Parameters
    ----------
    problem : Problem
        The target, its loss and the weights of the rows.

    members : mapping of int to int
        The number of each member in the answers' `model_pvalues`, by its number in the default panel.

    n_models : int
        How many p-values of single models an answer holds.

    entropy, fold : int
        The key of the random streams.

    response_given : callable, default=None
        Returns the target's response given the lines of some columns, where it has one of its own.

    n_threads : int, default=1
        Threads that answer questions at once. Nothing else depends on it.

    Attributes
    ----------
    n_fits : int
        Regressions so far.
    """

    def __init__(
        self,
        table: Table,
        problem: Problem,
        members: Mapping[int, int],
        n_models: int,
        entropy: int,
        fold: int,
        response_given: ResponseGiven | None = None,
        n_threads: int = 1,
    ) -> None:
        self.problem = problem
        self.n_fits = 0
        calls_callers_loss = problem.loss.wants_labels
        self._are_forked = table.is_in_memory and not calls_callers_loss and can_fork(n_threads, table.n_rows)
        self._n_threads = n_threads if self._are_forked else min(n_threads, MOST_THREADS_OF_PYTHON)
        self._table, self._members, self._n_models = table, members, n_models
        self._key = entropy, fold
        self._response_given = response_given
        self._columns: dict[int, list[GivenColumn]] = {}
        self._last: tuple[tuple[int, ...], Regressions | None] | None = None

    def answers(self, xs: Sequence[int], given: Set[int]) -> Answers:
        """Answer about features, each given the others of `given`."""
        answers = Answers.independent(len(xs), self._n_models)
        # Each question about a member has a regression of its own, which may be large.
        at_once = self._n_threads if xs[0] in given else len(xs)
        for first in range(0, len(xs), at_once):
            questions = [self._question(x, given) for x in xs[first : first + at_once]]
            found = run_python_tasks(
                self._answered,
                questions,
                self._n_threads,
                _engine.run_tasks,
                are_forked=self._are_forked,
            )
            for number, (question, one) in enumerate(zip(questions, found, strict=True), start=first):
                answers.put(np.array([number]), one.answer)
                self.n_fits += one.n_fits
                if one.n_fits or one.regressions is not None:
                    self._last = question.others, one.regressions or question.regressions
        return answers

    def _question(self, x: int, given: Set[int]) -> Question:
        """Return what the answer about a feature is computed from. Models and digests are for one thread at a time."""
        others = self._table.order.canonical(given - {x})
        for other in others:
            if other not in self._columns:
                self._columns[other] = [GivenColumn.of(*column) for column in self._columns_of(other)]
        is_last = self._last is not None and self._last[0] == others
        known = self._last[1] if self._last is not None and is_last else None
        # All other questions outside `given` need them too. A copy of this process keeps those that it made.
        if known is None and (is_last or x not in given):
            known = self._regressions(others)
            self._last = others, known
            self.n_fits += 0 if is_last else self._outputs.shape[1]
        return Question(x, others, known, self._views(x, others, is_added=x not in given))

    def _answered(self, question: Question) -> Answered:
        """Answer a question. The answer depends on nothing else."""
        n_fits = 0
        regressions = question.regressions
        asked = self._asked(question, self._columns_given(question.others))
        if not asked.members:
            return Answered(_inert(self._n_models), regressions, n_fits)
        if regressions is None:
            regressions = self._regressions(question.others)
            n_fits += self._outputs.shape[1]
        # In a table of a million rows every copy of them takes 100 megabytes.
        functions = self._centered(np.hstack([member.functions for member in asked.members]))
        n_own = min(_MOST_LOOKED_AT, asked.members[0].functions.shape[1])
        fit = regressions.fit(functions, n_own, asked.more)
        return Answered(self._judgment(asked, fit, n_own), regressions, n_fits + functions.shape[1])

    def _judgment(self, asked: Asked, fit: Fit, n_own: int) -> Answers:
        """Return the answer that residuals give."""
        widths = [member.functions.shape[1] for member in asked.members]
        parts = [
            fit.functions.some(slice(end - width, end))
            for end, width in zip(np.cumsum(widths), widths, strict=True)
        ]
        found = [self._judged(fit, part, member) for part, member in zip(parts, asked.members, strict=True)]
        weights = tuple(member.weight for member in asked.members)
        clearest = int(
            np.argmax([weight / max(one.pvalue, 1e-300) for weight, one in zip(weights, found, strict=True)])
        )
        effect, root, error = self._effect(fit.target.values, parts[clearest], found[clearest])
        answers = [_answer(one.pvalue, one.statistic, effect) for one in found]
        numbers = tuple(member.number for member in asked.members)
        joined = PanelMembers(numbers, weights, self._n_models).joined(answers)
        joined.may_be_too_small[:] = fit.may_be_too_small
        # The clearest of several members is further from 0 than it would be alone; the joined p-value allows for that.
        distance = float(special.ndtri(1.0 - 0.5 * max(joined.pvalues[0], 1e-16)))
        joined.root_effects[:] = root if distance > _FAR else min(root, error * max(distance, 0.0)), error
        joined.explained[:] = fit.target.explained.mean(), fit.functions.explained[:n_own].mean()
        return joined

    def _views(self, x: int, others: tuple[int, ...], *, is_added: bool) -> Mapping[int, LaterViews]:
        """Return what the caller's models predict, by their numbers."""
        return {}

    def _asked(self, question: Question, given: list[GivenColumn]) -> Asked:
        """Return the functions of x that a question is asked with."""
        columns = self._columns_of(question.x)
        made = functions_of(columns, given)
        weights = WEIGHTS if self._response_given is None else WEIGHTS_OF_SURVIVAL
        return Asked(
            [
                Member(
                    self._members[member],
                    weights[member],
                    values,
                    n_smoothest(columns) * (member == CURVES),
                    weights_of_products(values.shape[1], given, self._outputs, self._roots)
                    if member == PRODUCTS
                    else None,
                )
                for member, values in made
                if member in self._members
            ]
        )

    def _judged(self, fit: Fit, part: Residuals, member: Member) -> Tested:
        # The indicators of more than two classes add up to 1: one of them is left out.
        target = fit.target.some(slice(int(self.problem.classes.size > 2), None))
        is_centered = self._response_given is not None
        test = ProductTest(target, fit.smoother, self.problem.groups, is_centered)
        if member.each is not None:
            return test.one_by_one(part, member.each)
        return test.smoothest_first(part, member.n_smoothest)

    def _regressions(self, others: tuple[int, ...]) -> Regressions:
        """Regress the target on some features."""
        # Of a table of a million rows two would take gigabytes.
        self._last = None
        columns = self._columns_given(others)
        return Regressions(columns, self._outputs_given(columns), self._roots, self.problem.groups)

    def _columns_given(self, others: tuple[int, ...]) -> list[GivenColumn]:
        return [column for other in others for column in self._columns[other]]

    def _outputs_given(self, columns: list[GivenColumn]) -> Floats:
        """Return the target that is regressed on some columns: itself, or its own response given these."""
        if self._response_given is None:
            return self._outputs
        response = self._response_given(np.hstack([column.lines for column in columns]))
        return self._centered(response[:, np.newaxis])

    def _columns_of(self, feature: int) -> list[tuple[Floats, bool]]:
        """Return the columns of a feature, and whether they hold codes of categories."""
        columns = dense(self._table.take([feature]))
        return list(zip(columns.T, (self._table.n_levels_of([feature]) > 0).tolist(), strict=True))

    @cached_property
    def _roots(self) -> Floats:
        weights = self.problem.weights.loss
        return np.ones(self._table.n_rows) if weights is None else np.sqrt(weights / weights.mean())

    @cached_property
    def _responses(self) -> Floats:
        """The target as numbers, shape (n_rows, n_outputs): an indicator per class, or one for two classes."""
        problem = self.problem
        if not problem.classes.size:
            return np.asarray(problem.y, dtype=np.float64).reshape(len(problem.y), -1)
        codes = np.searchsorted(problem.classes, problem.y)
        shown = np.arange(problem.classes.size) if problem.classes.size > 2 else np.array([1])
        return np.asarray(codes[:, np.newaxis] == shown, dtype=np.float64)

    @cached_property
    def _outputs(self) -> Floats:
        return self._centered(self._responses)

    def _centered(self, columns: Floats) -> Floats:
        """Return columns less their weighted means, times the roots of the weights."""
        weights = self._roots**2
        return np.asarray((columns - weights @ columns / weights.sum()) * self._roots[:, np.newaxis])

    def _effect(self, target: Floats, functions: Residuals, found: Tested) -> tuple[float, float, float]:
        """Return the mean rise in risk when the residuals of the functions of x are exchanged with another row's.

        Returns
        -------
        effect, root, error : float
            Root and error are those of an effect that is not cross-fitted, whose mean without any dependence is
            subtracted: see `IndependenceResult.root_effect`.
        """
        problem = self.problem
        fitted, left_out = predicted_rest(target, functions.values)
        # Per row and output; the two classes have opposite indicators.
        share = 1.0 / target.shape[1] if not problem.classes.size else 2.0 if target.shape[1] == 1 else 1.0
        squares = share * (fitted**2).sum(axis=1)
        rise = squares.mean() + share * (2.0 * target * left_out - left_out**2).sum(axis=1).mean()
        if problem.loss.name not in ("squared", "brier"):
            rise = self._rise(target, fitted, left_out)
        strength = found.statistic**2
        if strength > 0.0 and squares.any():
            per_unit = max(
                2.0 * squares.mean() if problem.loss.name in ("squared", "brier") else abs(rise), 1e-300
            )
            per_unit /= strength
            uneven = squares.var() / squares.mean() ** 2 / (4.0 * len(target))
        else:
            per_unit, uneven = 2.0 * share * (target**2).sum(axis=1).mean() / len(target), 0.0
        without_chance = max(strength - found.n_directions + 1.0, 0.0)
        unit = np.sqrt(per_unit * problem.loss_unit)
        # The statistic is divided by residuals that include the effect, whose error does not.
        noise = float(((target - fitted) ** 2).sum() / max(float((target**2).sum()), 1e-300))
        root, error = unit * np.sqrt(without_chance), unit * np.sqrt(noise + uneven * without_chance)
        return float(rise * problem.loss_unit), float(root), float(error)

    def _rise(self, target: Floats, fitted: Floats, left_out: Floats) -> float:
        """Return the rise of any loss, by one exchange of all rows."""
        roots = self._roots[:, np.newaxis]
        expected = self._responses - target / roots
        order = stream(*self._key, _PURPOSE).permutation(len(target))
        replaced = np.empty_like(fitted)
        replaced[order] = fitted[np.roll(order, 1)]
        base, other = (self._losses(expected + part / roots) for part in (left_out, replaced))
        return float(((other - base) * self._roots**2).mean())

    def _losses(self, predicted: Floats) -> Floats:
        """Return the loss of each row for predicted responses, which are probabilities where there are classes."""
        problem = self.problem
        n_classes = problem.classes.size
        if not n_classes:
            answer = predicted.reshape(np.shape(problem.y))
        else:
            answer = np.column_stack([1.0 - predicted, predicted]) if n_classes == 2 else predicted
            answer = np.clip(answer, 1e-6, 1.0)
            answer = answer / answer.sum(axis=1, keepdims=True)
            if problem.loss.output == "labels":
                labels = answer.argmax(axis=1)
                answer = problem.classes[labels] if problem.loss.wants_labels else labels
            elif problem.loss.output == "margins":
                answer = answer - 1.0 / n_classes
        if not problem.loss.wants_labels:
            return np.asarray(problem.loss.rows(problem.truth, answer), dtype=np.float64)
        # A caller's function may compare rows, and is called with one test part at a time.
        losses = np.zeros(len(answer))
        for split in problem.splits:
            losses[split.test] = problem.loss.rows(problem.truth[split.test], answer[split.test])
        return losses


def _inert(n_models: int) -> Answers:
    """Return the answer about a feature that no model uses."""
    answer = Answers.independent(1, n_models)
    answer.is_inert[:] = True
    return answer


def _answer(pvalue: float, statistic: float, effect: float) -> Answers:
    answer = Answers.independent(1)
    answer.pvalues[:], answer.statistics[:], answer.effects[:] = pvalue, statistic, effect
    return answer
