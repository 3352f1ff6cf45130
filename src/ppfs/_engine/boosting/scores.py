"""Losses of boosted models on their test rows, from raw predictions."""

from math import exp, log
from typing import NamedTuple

import numpy as np

from ppfs._engine.boosting.gradients import fill_shares
from ppfs._engine.boosting.problem import BoostingProblem, TestParts
from ppfs._engine.boosting.rules import Kind
from ppfs._engine.jit.kernels import Float64s, Int64s, kernel, kernel_part
from ppfs._engine.trees.losses import add_loss, log_loss, number_loss
from ppfs._engine.trees.rules import LossCode

_EPSILON = float(np.finfo(np.float64).eps)


class Outcome(NamedTuple):
    """Losses with a feature unchanged, and with the feature replaced.

    Attributes
    ----------
    base, replaced : arrays of shape (n_questions, n_pairs)
        Losses of the tested rows in the order of the test parts, or their means by split. ``replaced`` is the mean
        over the draws; it is exactly the base loss of a row if no draw changes it.
    by_draw : array of shape (n_questions, n_draws)
        Mean over all tested rows for each draw; 0 if means by split are computed.
    """

    base: Float64s
    replaced: Float64s
    by_draw: Float64s


@kernel_part
def _class_losses(likeliest: int, shares: Float64s, places: Int64s, loss: int, out: Float64s) -> None:
    """Fill ``out`` (n_classes,) with the loss of a row of each class, given the predicted probabilities."""
    squares = 0.0
    for place in range(shares.size):
        squares += shares[place] * shares[place]
    for label in range(places.size):
        share = shares[places[label]] if places[label] >= 0 else 0.0
        if loss == LossCode.LOG:
            out[label] = log_loss(share)
        elif loss == LossCode.BRIER:
            out[label] = squares - share * share + (share - 1.0) * (share - 1.0)
        else:
            out[label] = 0.0 if places[label] == likeliest else 1.0


@kernel_part
def _deviance(truth: float, mean: float, loss: int) -> float:
    """Return the deviance of a predicted mean."""
    ratio = truth / mean
    if loss == LossCode.GAMMA_DEVIANCE:
        return 2.0 * (ratio - 1.0 - log(ratio))
    return 2.0 * ((truth * log(ratio) if truth > 0.0 else 0.0) - truth + mean)


@kernel_part
def _loss(row: int, place: int, loss: int, test_parts: TestParts, losses: Float64s) -> float:
    """Return the weighted loss of a row whose prediction has a given index in ``losses``."""
    if test_parts.truth.classes.size:
        known: float = test_parts.weights[row] * losses[place, test_parts.truth.classes[row]]
        return known
    truth, predicted = test_parts.truth.values[row], losses[place, 0]
    if loss == LossCode.POISSON_DEVIANCE or loss == LossCode.GAMMA_DEVIANCE:
        missed = _deviance(truth, max(predicted, _EPSILON), loss)
    else:
        missed = number_loss(truth - predicted, loss)
    weighted: float = test_parts.weights[row] * missed
    return weighted


class Memory(NamedTuple):
    """What a kernel needs beside its results."""

    losses: Float64s  # (n_predicted, n_classes), or (n_predicted, 1) of numbers
    shares: Float64s  # (n_trees,), at least 2
    sums: Float64s  # (n_draws + 1, 2)
    whole: Float64s  # (n_draws, 2)


@kernel_part
def _clear(sums: Float64s) -> None:
    for draw in range(sums.shape[0]):
        sums[draw, 0], sums[draw, 1] = 0.0, 0.0


def score(
    first: int,
    is_by_row: bool,
    loss: int,
    raw: Float64s,
    sources: Int64s,
    test_parts: TestParts,
    outcome: Outcome,
) -> None:
    """Fill the rows of an outcome from ``first`` on.

    Parameters
    ----------
    raw : array of shape (n_questions, n_predicted, n_trees)
        Raw predictions of the unchanged test rows, one test part after the other, followed by those of replaced rows.
    sources : array of shape (n_draws, n_tested)
        Index in ``raw`` of the prediction for a test row in a draw.
    """
    n_draws = len(sources)
    _, n_predicted, n_trees = raw.shape
    memory = Memory(
        # By class; or the predicted number.
        losses=np.empty((n_predicted, max(1, test_parts.places.shape[1]))),
        shares=np.empty(max(2, n_trees)),
        sums=np.empty((n_draws + 1, 2)),
        whole=np.empty((n_draws, 2)),
    )
    _fill_outcome(first, is_by_row, loss, raw, sources, test_parts, memory, outcome)


@kernel
def _fill_outcome(
    first: int,
    is_by_row: bool,
    loss: int,
    raw: Float64s,
    sources: Int64s,
    test_parts: TestParts,
    memory: Memory,
    outcome: Outcome,
) -> None:
    """Do what `score` does."""
    n_questions, n_predicted, _ = raw.shape
    n_draws, n_tested = sources.shape
    n_splits = test_parts.kinds.size
    losses, shares, sums, whole = memory
    for question in range(n_questions):
        _clear(whole)
        for place in range(n_predicted):
            # Predictions for replaced rows follow in the order of the test parts, draw by draw.
            split = test_parts.splits[place % n_tested]
            kind = test_parts.kinds[split]
            if kind == Kind.NUMBERS:
                losses[place, 0] = raw[question, place, 0]
            elif kind == Kind.COUNTS or kind == Kind.AMOUNTS:
                losses[place, 0] = exp(raw[question, place, 0])
            else:
                n_shares = max(2, test_parts.n_trees[split]) if kind != Kind.ONE_CLASS else 1
                likeliest = fill_shares(kind, raw[question, place], shares[:n_shares])
                _class_losses(likeliest, shares[:n_shares], test_parts.places[split], loss, losses[place])
        for split in range(n_splits):
            begin, end = test_parts.ends[split], test_parts.ends[split + 1]
            _clear(sums)
            for place in range(begin, end):
                row = test_parts.tested[place]
                base = _loss(row, place, loss, test_parts, losses)
                add_loss(sums[n_draws], base)
                rise = 0.0
                for draw in range(n_draws):
                    suffered = _loss(row, sources[draw, place], loss, test_parts, losses)
                    add_loss(sums[draw], suffered)
                    rise += suffered - base
                if is_by_row:
                    outcome.base[first + question, place] = base
                    outcome.replaced[first + question, place] = base + rise / n_draws
            risk = 0.0
            for draw in range(n_draws):
                total = sums[draw, 0] + sums[draw, 1]
                risk += total / test_parts.totals[split]
                add_loss(whole[draw], total)
            if not is_by_row:
                outcome.base[first + question, split] = (
                    sums[n_draws, 0] + sums[n_draws, 1]
                ) / test_parts.totals[split]
                outcome.replaced[first + question, split] = risk / n_draws
        for draw in range(n_draws):
            outcome.by_draw[first + question, draw] = (whole[draw, 0] + whole[draw, 1]) / n_tested


def empty_outcome(n_questions: int, problem: BoostingProblem, n_draws: int) -> Outcome:
    """Allocate an outcome."""
    n_pairs = problem.test_parts.tested.size if problem.is_by_row else problem.n_splits
    shape = (n_questions, n_pairs)
    return Outcome(np.empty(shape), np.empty(shape), np.empty((n_questions, n_draws)))
