"""How a text file is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ppfs._data.written_numbers import DECIMALS

#: Texts that stand for a missing value: those that pandas knows.
GAPS = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
        *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written.

    Attributes
    ----------
    sep, encoding, quotechar : str

    decimals : tuple of str
        The decimal signs that a column may have, in the order in which they are tried.

    gaps : frozenset of str
        Texts that stand for a missing value.

    has_spaces : bool
        Whether spaces follow the separators.

    has_row_names : bool
        Whether rows have one field more than the header, as R writes them; the first field is left out.
    """

    sep: str = ","
    encoding: str = "utf-8-sig"
    decimals: tuple[str, ...] = DECIMALS
    quotechar: str = '"'
    gaps: frozenset[str] = GAPS
    has_spaces: bool = True
    has_row_names: bool = False

    @property
    def decimal(self) -> str:
        """The decimal sign that is tried first."""
        return self.decimals[0]

    @classmethod
    def of(cls, path: Path) -> TextFormat:
        """Return the format that the ending of the file's name says."""
        return cls(sep="\t" if path.suffix.lower() in (".tsv", ".tab") else ",")
