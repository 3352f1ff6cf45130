"""What every source of risks offers to the growth phase: the risks of models of single columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from ppfs._data import Block
from ppfs.independence._predictive.risks.paired import PairedRisks


class Grower(ABC):
    """Whatever tells the risks of models of single columns.

    It can be sent to another process, and a column's risks are the same, bit for bit, in any block.

    Attributes
    ----------
    bytes_per_block : int
        How many bytes of columns are best looked at together.

    prefers : {"threads", None}
        Whether the work releases Python's lock, so that threads do.
    """

    bytes_per_block: ClassVar[int]
    prefers: ClassVar[Literal["threads"] | None]

    @property
    def is_quick(self) -> bool:
        """Whether a refit takes little enough to be done some ten thousand times."""
        return self.prefers == "threads"

    @abstractmethod
    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block, none of them constant."""

    def prepare(self) -> None:  # noqa: B027
        """Make what all blocks share, before several threads ask for it at once."""
