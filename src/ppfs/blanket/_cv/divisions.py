"""How the rows are divided to score candidates."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ppfs._conventions import integer_seed, stream
from ppfs._data import Table
from ppfs._rows import folds_of, splits_of
from ppfs.blanket._cv.inner_scores import Rows
from ppfs.exceptions import InvalidInputError


def divisions(cv: Any, table: Table, entropy: int, n_repeats: int) -> list[tuple[Rows, Rows]]:
    """Return the rows to search and fit in, and the rows to score, of every division.

    Parameters
    ----------
    cv : int, splitter or list of (train, test) pairs

    n_repeats : int
        How often the rows are divided into folds, if `cv` is their number.
    """
    if not isinstance(cv, Integral):
        try:
            splits = splits_of(cv, table, table.y, entropy=entropy, fold=0, n_draws=1)
        except InvalidInputError as error:
            raise InvalidInputError(f"cv: {error}") from error
        return [(split.train, split.test) for split in splits]
    n_folds = int(cv)
    if n_folds > table.n_rows:
        raise InvalidInputError(f"cv={n_folds} is more than the {table.n_rows} rows. Use fewer folds.")
    return [
        division
        for repeat in range(n_repeats)
        for division in folds_of(
            table, n_folds, integer_seed(stream(entropy, repeat)), called=f"cv={n_folds}"
        )
    ]
