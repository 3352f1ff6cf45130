"""Growth by a model of all columns: which columns the target depends on given all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ppfs._data import Table
from ppfs._fitting import DEFAULT_PANEL
from ppfs._printable import listed
from ppfs._trace import JOINT_GROWTH, JOINT_GROWTH_OF_PAIRS
from ppfs.blanket._steps.alike import clusters_of
from ppfs.blanket._steps.correction import adjust_among
from ppfs.blanket._steps.order import least_important_first
from ppfs.blanket._steps.pair_screen import most_promising_pairs, n_pairs
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.blanket._steps.shrink import shrink
from ppfs.exceptions import InvalidInputError
from ppfs.independence import Answers, BoundTest, CrossFitPPI, IndependenceTest

#: The phase in which its candidates are judged by the model that found them.
JOINT_SHRINK = "joint shrink"

# A model has all columns up to one per this many rows, or this many, and otherwise the columns of the most promising
# pairs: half as many.
_ROWS_PER_COLUMN = 10
_FEW_COLUMNS = 40

# What the shrink phase dropped is asked about again at this share of the level: at the full level nearly twice as many
# columns would enter that are only correlated with a true one.
_SECOND_CHANCE = 0.1

#: growth="auto" grows jointly up to this many columns, rows and values.
MOST_AUTOMATIC = 500
MOST_AUTOMATIC_ROWS = 10_000
MOST_AUTOMATIC_VALUES = 2_000_000

#: Among more columns than this no pairs are compared: their number grows with the square.
MOST_SCREENED = 2000


def grow_jointly(
    inquiry: Inquiry,
    columns: Sequence[int],
    correction: str | None,
    bind: Callable[[Table], BoundTest],
    n_jobs: int | None = None,
) -> list[Answered]:
    """Return the columns that the target depends on given all others, with their answers.

    A column is in the Markov blanket exactly if the target depends on it given all others (Pellet and Elisseeff,
    "Using Markov blankets for causal structure learning", 2008). One set of models of all columns answers every
    question. Columns that hide each other are tested as one feature: if it enters, all of them become candidates, and
    the shrink phase chooses among them.

    Among many columns a model finds little. With fewer than ten rows per column it has the most promising columns,
    those of the pairs that explain most of the target together, and its p-values are adjusted for the number of all
    pairs, so that the choice does not add noise.

    Parameters
    ----------
    columns : sequence of int
        Which columns to test.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of questions before they are compared with alpha.

    bind : callable
        Returns the test of a table.
    """
    return _ask(inquiry, columns, _model_of(inquiry, columns, n_jobs), correction, bind)


@dataclass(frozen=True)
class _Model:
    """The columns that a model has, and the number of questions that its p-values are adjusted for."""

    columns: list[int]
    n_all: int
    phase: str = JOINT_GROWTH


def n_asked_jointly(n_rows: int, n_columns: int) -> int:
    """Return about how many questions joint growth asks: one per column that its model has."""
    most = _most_in_a_model(n_rows)
    return n_columns if n_columns <= most else most // 2


def _most_in_a_model(n_rows: int) -> int:
    """Return the largest number of columns that a model has all of."""
    return max(_FEW_COLUMNS, n_rows // _ROWS_PER_COLUMN)


def _model_of(inquiry: Inquiry, columns: Sequence[int], n_jobs: int | None) -> _Model:
    """Return a model of all columns, or of the most promising ones of many."""
    table = inquiry.test.table
    n_most = _most_in_a_model(table.n_rows)
    if len(columns) <= n_most:
        return _Model(list(columns), len(columns))
    pairs = most_promising_pairs(table, columns, frozenset(), n_most // 2, n_jobs)
    chosen = list(dict.fromkeys(column for pair in pairs for column in pair))[: n_most // 2]
    n_all = n_pairs(columns, frozenset())
    inquiry.note(
        f"{JOINT_GROWTH_OF_PAIRS}: a model has {len(chosen):,} of {len(columns):,} columns; its p-values are "
        f"adjusted for all {n_all:,} pairs"
    )
    return _Model(sorted(chosen), n_all, JOINT_GROWTH_OF_PAIRS)


def require_joint_growth(inquiry: Inquiry, test: IndependenceTest, growth: str) -> None:
    """Raise if there can be no joint growth in this table.

    Raises
    ------
    InvalidInputError
        With what stands against it, and other settings.
    """
    obstacle = _obstacle(inquiry.test.table, len(inquiry.candidates), test)
    if obstacle:
        raise InvalidInputError(
            f"growth={growth!r} fits models of all columns at once, but {obstacle}. Use growth='auto', which leaves "
            "joint growth out in such a case, or growth='marginal' with second_look=True."
        )


def _obstacle(table: Table, n_columns: int, test: IndependenceTest) -> str:
    """Return why there can be no joint growth; "" if there can."""
    if table.storage.n_more is not None and table.storage.n_more < n_columns:
        return f"X is a path, and memory_limit has room for {table.storage.n_more:,} of its {n_columns:,} columns"
    if table.features.overlap:
        return "some features share columns, so that models would have these twice"
    if _is_panel(test) and table.is_sparse:
        return "X is sparse, and gradient boosting, the preset's model of all columns, needs a dense matrix"
    if _is_panel(test) and table.codes.ndim > 1:
        return f"the target has {table.codes.shape[1]} columns, and gradient boosting predicts one"
    if n_columns > _most_in_a_model(table.n_rows) and (n_columns > MOST_SCREENED or table.codes.ndim > 1):
        return (
            f"there are {n_columns:,} columns and {table.n_rows:,} rows: it takes {_ROWS_PER_COLUMN} rows per column, "
            f"or at most {MOST_SCREENED:,} columns and a target of one column"
        )
    return ""


def is_worth_it(inquiry: Inquiry, test: IndependenceTest) -> bool:
    """Return whether growth="auto" grows jointly too: in tables of the sizes that it was measured on."""
    table, n_columns = inquiry.test.table, len(inquiry.candidates)
    return suits_joint_growth(table.n_rows, n_columns) and not _obstacle(table, n_columns, test)


def suits_joint_growth(n_rows: int, n_columns: int) -> bool:
    """Return whether a table is small enough that joint growth takes seconds."""
    return (
        1 < n_columns <= MOST_AUTOMATIC
        and n_rows <= MOST_AUTOMATIC_ROWS
        and n_rows * n_columns <= MOST_AUTOMATIC_VALUES
    )


def model_of_all(task: str) -> Any:
    """Return the model that finds columns which act only together: gradient boosting."""
    return HistGradientBoostingClassifier() if task == "classification" else HistGradientBoostingRegressor()


def _ask(
    inquiry: Inquiry,
    columns: Sequence[int],
    model: _Model,
    correction: str | None,
    bind: Callable[[Table], BoundTest],
) -> list[Answered]:
    """Return the columns that enter by one model, each cluster's columns with the answer about the cluster."""
    table = inquiry.test.table
    special = (*inquiry.always_keep, *inquiry.condition_on)
    left_out = set(columns) - set(model.columns)
    single = [(feature,) for feature in (*special, *left_out)]
    groups = sorted([*clusters_of(table, model.columns), *single])
    joint = replace(inquiry, test=bind(table.regrouped(groups)), target=len(groups))
    asked = [number for number, group in enumerate(groups) if group[0] not in {*special, *left_out}]
    given = tuple(number for number, group in enumerate(groups) if group[0] not in left_out)
    answered = joint.ask(asked, given, model.phase)
    answers = Answers.of([result for _, result in answered], len(joint.test.models))
    adjusted = adjust_among(answers.pvalues, correction, model.n_all)
    is_candidate = adjusted <= inquiry.alpha
    # Each column of a cluster has the cluster's answer.
    members = [member for number in asked for member in groups[number]]
    places = np.repeat(np.arange(len(asked)), [len(groups[number]) for number in asked])
    inquiry.record_all(
        model.phase,
        members,
        (*members, *special),
        _without_models(inquiry, answers.take(places)),
        is_candidate[places],
        adjusted[places],
    )
    _note(inquiry, model.phase, [groups[number] for number in asked if len(groups[number]) > 1])
    return [
        (member, result)
        for (number, result), enters in zip(answered, is_candidate.tolist(), strict=True)
        if enters
        for member in groups[number]
    ]


def _without_models(inquiry: Inquiry, answers: Answers) -> Answers:
    """Return answers with as many models as the inquiry's own test has, none of which was asked."""
    unasked = Answers.independent(len(answers.pvalues), len(inquiry.test.models))
    return replace(answers, model_pvalues=unasked.model_pvalues)


def _note(inquiry: Inquiry, phase: str, several: Sequence[Sequence[int]]) -> None:
    if several:
        names = inquiry.test.table.names
        inquiry.note(
            f"{phase}: near copies, and columns that the others determine, were tested as one feature each: "
            + listed([f"{names[group[0]]} and {len(group) - 1} more" for group in several])
        )


def bind_to_all(test: IndependenceTest, inquiry: Inquiry) -> Callable[[Table], BoundTest]:
    """Return what binds the test of all columns at once: gradient boosting where the test asks the default panel.

    Boosted trees find columns that act only together; the models of the panel find one or two at a time.
    """
    return bind_with(test, inquiry, model_of_all(inquiry.test.table.task))


def bind_with(test: IndependenceTest, inquiry: Inquiry, model: Any) -> Callable[[Table], BoundTest]:
    """Return what binds the test to other tables of the same rows, with a model in place of the default panel."""
    if _is_panel(test):
        test = clone(test).set_params(estimator=model, marginal_estimator=None)

    def bind(table: Table) -> BoundTest:
        bound = test.bind_beside(inquiry.test, table)
        # An inquiry that asks the new test counts the fits of both.
        inquiry.companions.extend((inquiry.test, bound))
        return bound

    return bind


def _is_panel(test: IndependenceTest) -> bool:
    return isinstance(test, CrossFitPPI) and test.estimator == DEFAULT_PANEL


def shrink_jointly(
    inquiry: Inquiry, found: Sequence[Answered], blanket: Sequence[int], bind: Callable[[Table], BoundTest]
) -> list[int]:
    """Return the blanket with the candidates of joint growth that its model needs beside the blanket.

    The models of a panel see one or two columns at a time. They drop the inputs of an exclusive-or of three columns,
    which a model of all columns found. So what they dropped is asked about again, weakest first, by that model, given
    the blanket and the other candidates that were dropped. They share a tenth of the level: it is their second chance.

    Parameters
    ----------
    found : sequence of Answered
        The candidates of joint growth.

    blanket : sequence of int
        What the shrink phase left.

    bind : callable
        Returns the test of a table.
    """
    dropped = [(x, result) for x, result in found if x not in set(blanket)]
    if not dropped:
        return list(blanket)
    test = bind(inquiry.test.table)
    joint = replace(inquiry, test=test, always_keep=tuple(blanket))
    waiting = least_important_first(dropped, inquiry.test.table)
    return shrink(joint, [*waiting, *blanket], phase=JOINT_SHRINK, factor=len(dropped) / _SECOND_CHANCE)
