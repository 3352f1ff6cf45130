"""The format of a text file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ppfs._data.written_numbers import DECIMALS

#: Texts that mean a missing value, as in pandas.
MISSING_TEXTS = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
        *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)


@dataclass(frozen=True)
class TextFormat:
    """The format of a text file.

    Attributes
    ----------
    decimals : tuple of str
        The decimal signs that a column may have, in the order in which they are tried.

    missing_texts : frozenset of str
        Texts that mean a missing value.

    has_spaces : bool
        Whether spaces follow the separators.

    has_row_names : bool
        Whether rows have one field more than the header, as R writes them; the first field is left out.
    """

    sep: str = ","
    encoding: str = "utf-8-sig"
    decimals: tuple[str, ...] = DECIMALS
    quotechar: str = '"'
    missing_texts: frozenset[str] = MISSING_TEXTS
    has_spaces: bool = True
    has_row_names: bool = False

    @property
    def decimal(self) -> str:
        """The decimal sign that is tried first."""
        return self.decimals[0]

    @classmethod
    def of(cls, path: Path) -> TextFormat:
        """Return the format that the extension of the file implies."""
        return cls(sep="\t" if path.suffix.lower() in (".tsv", ".tab") else ",")
