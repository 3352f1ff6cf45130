"""Full trees on one column, computed from the neighbors of each value, without building leaves.

For any value, an unlimited tree on distinct values predicts the label of the train row on the same side of the midpoint
between the value's two neighbors among the train rows. So the kernels walk outwards from a test row over the sorted
rows, the nearer side first. In a split whose train part has the neighbors ``l`` to the left and ``r`` to the right, the
first of the two that the walk reaches gives the prediction, because "``x`` is at most the midpoint of ``l`` and ``r``"
is monotone in both. The train parts of 64 splits are the bits of one word, and one step serves all of them:

    sorted values    0.1   0.4   0.5   0.9          test row 0.5 in the splits {0, 2, 3}
    splits trained   0 1   1 2    1    0 3          0.4 answers for {2}, then 0.9 for {0, 3}

Equal values, and values that differ by less than scikit-learn's tolerance, form a *group*: its rows are visited one by
one like others, but each of them predicts what the group's train rows predict together. Columns with near ties for
which this rule is not exact are left to `leaves`.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, Words
from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.jit.kernels import Float32s, Float64s, Int32s, int64, kernel_part
from ppfs._engine.trees.criterion import midpoint
from ppfs._engine.trees.rules import TIE

#: What `mark_groups` finds in a column.
DISTINCT, TIED, ENTANGLED = 0, 1, 2


class Line(NamedTuple):
    """The rows of one column in ascending order of their values, between two sentinels.

    Row ``i`` of the sorted column is at place ``i + 1``. A walk may take two steps beyond the last row.
    """

    halves: Float64s  # (n_rows + 4,) half of each value; minus and plus infinity at the ends
    trained: Words  # (n_rows + 4,) splits that train on a row; none at the ends
    rows: Int32s  # (n_rows + 4,)
    first: Int32s  # (n_rows + 4,) where the group of a row begins; filled for tied columns only
    mixed: Words  # (n_rows + 4,) splits in which the train rows of a group have no single prediction


def make_line(n_rows: int) -> Line:
    """Allocate memory for columns with ``n_rows`` rows."""
    n_places = n_rows + 4
    line = Line(
        halves=np.empty(n_places),
        trained=np.zeros(n_places, dtype=np.uint64),
        rows=np.zeros(n_places, dtype=np.int32),
        first=np.zeros(n_places, dtype=np.int32),
        mixed=np.zeros(n_places, dtype=np.uint64),
    )
    line.halves[0], line.halves[n_rows + 1 :] = -inf, inf
    return line


@kernel_part
def lay_out(start: int, word: int, columns: ColumnArrays, train: Words, line: Line) -> None:
    """Write the rows of a column, and one word of the splits that train on them (n_words, n_rows), to the line."""
    for item in range(train.shape[1]):
        row = columns.rows[start + item]
        line.rows[item + 1] = row
        line.halves[item + 1] = columns.values[start + item] * 0.5
        line.trained[item + 1] = train[word, row]


@kernel_part
def _is_apart(start: int, item: int, end: int, n_rows: int, values: Float32s) -> bool:
    """Return whether near ties ``item`` to ``end - 1`` are one group in any train part, with all of its test rows."""
    low, high = values[start + item], values[start + end - 1]
    if high > low + TIE:
        return False
    if end < n_rows and midpoint(low, values[start + end]) < high:
        return False
    return not (item > 0 and midpoint(values[start + item - 1], high) >= low)


@kernel_part
def mark_groups(start: int, n_rows: int, values: Float32s, line: Line) -> int:
    """Write where each row's group begins; return whether there are ties, and whether neighbors are exact for them."""
    n_tied = 0
    for item in range(1, n_rows):
        n_tied += values[start + item] <= values[start + item - 1] + TIE
    if n_tied == 0:
        return DISTINCT
    item = int64(0)
    while item < n_rows:
        end = item + 1
        while end < n_rows and values[start + end] <= values[start + end - 1] + TIE:
            end += 1
        is_near = values[start + end - 1] > values[start + item]
        if is_near and not _is_apart(start, item, end, n_rows, values):
            return ENTANGLED
        for member in range(item, end):
            line.first[member + 1] = item + 1
        item = end
    line.first[n_rows + 1] = n_rows + 1
    return TIED


@kernel_part
def group_end(place: int, line: Line) -> int:
    """Return where the group that begins at ``place`` ends."""
    end = place + 1
    while line.first[end] == place:
        end += 1
    return end


@kernel_part
def mark_mixed_classes(n_rows: int, classes: Int32s, line: Line, by_class: Words) -> None:
    """Record in which splits a group has train rows of several classes; ``by_class`` (n_classes,) is scratch memory."""
    place = int64(1)
    while place <= n_rows:
        end = group_end(place, line)
        mixed = NONE
        if end > place + 1:
            for label in range(by_class.size):
                by_class[label] = NONE
            for member in range(place, end):
                by_class[classes[line.rows[member]]] |= line.trained[member]
            seen = NONE
            for label in range(by_class.size):
                mixed |= seen & by_class[label]
                seen |= by_class[label]
        for member in range(place, end):
            line.mixed[member] = mixed
        place = end


@kernel_part
def mark_groups_of_numbers(n_rows: int, line: Line) -> None:
    """Record the groups of several rows: their prediction is a mean in every split."""
    place = int64(1)
    while place <= n_rows:
        end = group_end(place, line)
        mixed = ~NONE if end > place + 1 else NONE
        for member in range(place, end):
            line.mixed[member] = mixed
        place = end


@kernel_part
def step_outwards(value: float, left: int, right: int, halves: Float64s) -> tuple[int, int, int]:
    """Return which of two rows is on the value's side of their midpoint, and the next rows to the left and right."""
    is_left_nearer = bool(value <= halves[left] + halves[right])
    met = left if is_left_nearer else right
    return met, left - is_left_nearer, right + (not is_left_nearer)


@kernel_part
def has(word: np.uint64, bit: int) -> bool:
    """Return whether a bit is set."""
    return bool((word >> np.uint64(bit)) & ONE != NONE)
