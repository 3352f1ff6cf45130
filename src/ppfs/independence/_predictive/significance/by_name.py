"""The paired tests over splits, by the name that users pass as `significance`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ppfs._conventions import Floats
from ppfs._rows import Split
from ppfs.independence._predictive.significance.signed_rank import signed_rank, smallest_signed_rank
from ppfs.independence._predictive.significance.t_tests import corrected_t, paired_t


@dataclass(frozen=True)
class Significance:
    """A way to turn paired differences into p-values.

    Attributes
    ----------
    name : str
        The value of the parameter `significance`.

    assess : callable
        ``assess(differences, splits)`` returns p-values and statistics, one of each per row.

    smallest : callable
        ``smallest(n_splits)`` is the smallest p-value it can return.

    min_splits : int
        The smallest number of splits that can give a significant result.
    """

    name: str
    assess: Callable[[Floats, list[Split]], tuple[Floats, Floats]]
    smallest: Callable[[int], float]
    min_splits: int


SIGNIFICANCES = {
    test.name: test
    for test in (
        Significance("wilcoxon", signed_rank, smallest_signed_rank, min_splits=5),
        Significance("paired-t", paired_t, lambda n_splits: 0.0, min_splits=2),
        Significance("corrected-t", corrected_t, lambda n_splits: 0.0, min_splits=2),
    )
}
