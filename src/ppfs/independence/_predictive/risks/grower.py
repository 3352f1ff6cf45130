"""The interface of the growth phase: risks of models of single columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Literal

from ppfs._data import Block
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.paired import PairedRisks


class Grower(ABC):
    """Computes the risks of models of single columns.

    It can be sent to another process, and the risks of a column are the same, bit for bit, in any block.

    Attributes
    ----------
    bytes_per_block : int
        How many bytes of columns are best processed together.

    least_columns : int
        The fewest columns that a block should have.

    prefers : {"threads", None}
        "threads" where the work releases the GIL.

    most_threads : int or None
        How many threads are of use; None if there is no limit, because nearly all work is in kernels.

    takes_views : bool
        Whether blocks may be views of the caller's array, of any memory layout, instead of copies.

    is_on_device : bool
        Whether the models are fitted on a GPU, which needs many columns at a time.
    """

    problem: Problem
    bytes_per_block: ClassVar[int]
    least_columns: ClassVar[int] = 1
    prefers: ClassVar[Literal["threads"] | None]
    most_threads: ClassVar[int | None] = None
    takes_views: ClassVar[bool] = False
    is_on_device: ClassVar[bool] = False

    @property
    def is_quick(self) -> bool:
        """Whether refits are fast enough for some ten thousand of them."""
        return self.prefers == "threads"

    @property
    def is_quick_with_categories(self) -> bool:
        """Whether that holds for columns of categories too."""
        return self.is_quick

    def is_worth_threads(self, n_columns: int) -> bool:
        """Return whether the models of this many columns take longer than threads take to start."""
        return True

    def for_many_columns(self) -> Grower:
        """Return what fits the same models, up to rounding, with kernels that are worth compiling for many columns."""
        return self

    @abstractmethod
    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block, none of them constant."""

    def prepare(self) -> None:  # noqa: B027
        """Make what all blocks share, before several threads need it at once."""

    def __getstate__(self) -> dict[str, Any]:
        # What is prepared is larger than the problem, and quickly made again.
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }
