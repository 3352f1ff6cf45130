"""P-values of what a search found, from rows that it never saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats, RandomStateLike, root_entropy
from ppfs._data import CallersColumns, Table
from ppfs._rows import draw_splits, is_stratifiable
from ppfs._trace import FOLD_ASIDE, Step, Trace
from ppfs.blanket._steps.correction import adjust
from ppfs.exceptions import InvalidInputError
from ppfs.independence import Automatic, BoundTest, IndependenceTest

# The key of the random stream that holds rows out; no fold has this number.
_ASIDE = 0xC0DE


@dataclass(frozen=True)
class Confirmation:
    """Tests of the selected columns, each given the others, on rows that were held out from the search.

    Attributes
    ----------
    features : tuple of str
        The names of the selected columns, or of groups of columns, most important first.

    columns : tuple of tuple of int
        The numbers of their columns.

    pvalues, adjusted_pvalues, effects : ndarray of shape (n_selected,)
        The adjusted p-values are those after `correction` for the number of selected columns.

    is_confirmed : ndarray of bool, shape (n_selected,)
        Whether the adjusted p-value is at most `alpha`. With correction "bh", the expected share of false ones among
        the confirmed columns is at most `alpha`.

    n_rows : int
        Number of rows that were held out.
    """

    features: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    pvalues: Floats
    adjusted_pvalues: Floats
    effects: Floats
    is_confirmed: NDArray[np.bool_]
    n_rows: int
    alpha: float
    correction: str

    @property
    def fdr(self) -> float:
        """The false discovery rate at which the whole selection is confirmed; 0 if nothing was selected."""
        return float(self.adjusted_pvalues.max(initial=0.0))

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a data frame with one row per selected column."""
        return nw.from_dict(
            {
                "feature": list(self.features),
                "pvalue": self.pvalues.tolist(),
                "adjusted_pvalue": self.adjusted_pvalues.tolist(),
                "effect": self.effects.tolist(),
                "confirmed": self.is_confirmed.tolist(),
            },
            backend=backend,
        ).to_native()

    def __str__(self) -> str:
        """Return a sentence about it."""
        if not self.features:
            return f"nothing was selected, so the {self.n_rows} rows that the search never saw have nothing to confirm"
        n_confirmed = int(self.is_confirmed.sum())
        return (
            f"confirmed on {self.n_rows} rows that the search never saw: {n_confirmed} of {len(self.features)} columns "
            f"at {self.alpha:g} ({self.correction}); FDR of the whole set {self.fdr:.3g}"
        )


@dataclass(frozen=True)
class RowsAside:
    """A table in two parts: one to search in, one to confirm on.

    Attributes
    ----------
    numbers : ndarray of int
        The rows of the whole table that `aside` holds.
    """

    searched: Table
    aside: Table
    numbers: NDArray[np.intp]

    @classmethod
    def of(cls, table: Table, share: float, random_state: RandomStateLike) -> RowsAside:
        """Hold rows out at random: rows of one group together; without groups, with the proportions of the classes."""
        n_aside = round(share * table.n_rows)
        if min(n_aside, table.n_rows - n_aside) < 2:
            raise InvalidInputError(
                f"confirm={share} of {table.n_rows} rows leaves {table.n_rows - n_aside} to search in and {n_aside} to "
                "confirm on, and both need some. Pass more rows, or confirm=None."
            )
        is_labelled = table.task == "classification" and table.y.ndim == 1
        labels = table.y if is_labelled and is_stratifiable(table.y, share) else None
        split = draw_splits(
            table.n_rows,
            labels,
            n_splits=1,
            test_size=share,
            entropy=root_entropy(random_state),
            fold=_ASIDE,
            groups=table.groups,
            time=table.time,
        )[0]
        held_out = np.sort(split.test)
        return cls(table.rows(np.sort(split.train)), table.rows(held_out), held_out)

    def bind(
        self, test: IndependenceTest, share: float, random_state: RandomStateLike, n_jobs: int | None
    ) -> BoundTest:
        """Bind the test to the rows that were held out, or raise if they are too few for it."""
        try:
            return test.bind(self.aside, fold=_ASIDE, random_state=random_state, n_jobs=n_jobs)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"confirm={share} sets {self.aside.n_rows} of {self.aside.n_rows + self.searched.n_rows} rows aside, "
                f"on which the selection cannot be tested: {error} Or set a larger share aside, or confirm=None."
            ) from error


def search_and_confirm(
    selector: Any, table: Table, test: IndependenceTest, share: float | None, search: Callable[[Table], None]
) -> Confirmation | None:
    """Hold rows out, search in the others, and test the selection on the rows that were held out.

    Parameters
    ----------
    selector : PPFS
        Whose selection it is, after `search`.

    share : float or None
        Share of the rows to hold out; None searches in all rows and confirms nothing.

    search : callable
        Fits the selector to a table.
    """
    if share is None:
        selector._rows_aside = None
        search(table)
        return None
    rows = RowsAside.of(table, share, selector.random_state)
    selector._rows_aside = rows.numbers
    if not isinstance(test, Automatic):
        # Before the search: it may take long, and this may fail.
        rows.bind(test, share, selector.random_state, selector.n_jobs)
    search(rows.searched)
    bound = rows.bind(selector.independence_, share, selector.random_state, selector.n_jobs)
    outcome = selector.trace_.outcome
    confirmed = confirm(
        bound, outcome.selected, outcome.condition_on, selector.trace_, selector.correction, selector.alpha
    )
    selector.n_fits_ += bound.n_fits
    selector.n_tests_ += bound.n_answers
    return confirmed


def confirm(
    bound: BoundTest,
    members: Sequence[int],
    condition_on: Sequence[int],
    trace: Trace,
    correction: str | None,
    alpha: float,
) -> Confirmation:
    """Test every selected feature given the others, and add the answers to the trace.

    Parameters
    ----------
    bound : BoundTest
        Of rows that were held out from the search.

    members, condition_on : sequence of int
        The selected features, and those in every conditioning set.

    correction : {"bh", "by", "bonferroni"} or None
        As in growth; None is "bh".
    """
    table = bound.table
    given = (*members, *condition_on)
    answers = bound.query_many(list(members), table.target, given)
    pvalues = np.array([answer.pvalue for answer in answers])
    adjusted = adjust(pvalues, correction or "bh")
    is_confirmed = adjusted <= alpha
    for x, answer, corrected, one in zip(
        members, answers, adjusted.tolist(), is_confirmed.tolist(), strict=True
    ):
        trace.record(
            Step(
                FOLD_ASIDE,
                "confirm",
                x,
                given,
                answer.pvalue,
                answer.statistic,
                answer.effect,
                corrected,
                "kept" if one else "dropped",
                answer.is_reliable,
            )
        )
    callers = CallersColumns.of(table)
    confirmation = Confirmation(
        tuple(table.names[x] for x in members),
        tuple(tuple(callers.numbers([x])) for x in members),
        pvalues,
        adjusted,
        np.array([answer.effect for answer in answers]),
        is_confirmed,
        table.n_rows,
        alpha,
        correction or "bh",
    )
    trace.notes.append(str(confirmation))
    return confirmation
