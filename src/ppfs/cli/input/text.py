"""CSV and its relatives as data frames."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ppfs.cli._failures import InputFailure
from ppfs.cli.input.columns import listed
from ppfs.cli.input.dialect import Dialect, decoded, first_long_record, lines_of_records


class TextTable:
    """A text file, read.

    Parameters
    ----------
    content : bytes
        What the file holds.

    name : str
        What it is called.

    dialect : Dialect
        How it is written.

    na : sequence of str
        Texts that stand for a gap, beside the usual ones.

    Attributes
    ----------
    frame : pandas.DataFrame

    notes : list of str
        What should be said about the file.
    """

    def __init__(self, content: bytes, name: str, dialect: Dialect, na: Sequence[str]) -> None:
        self._text = decoded(content, name, dialect.encoding)
        self._name = name
        self._dialect = dialect
        self.notes = [f"{name}: {described}"] if (described := dialect.described()) else []
        self.frame = self._read(na)
        self._look_at_the_header()

    def place(self, rows: Sequence[int]) -> str:
        """Name rows of the frame by the lines of the file."""
        lines = lines_of_records(self._text, self._dialect)[1:]
        shown = ", ".join(str(lines[row]) for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        return f"line{'s' if len(rows) > 1 else ''} {shown}{more} of the file"

    def _read(self, na: Sequence[str]) -> Any:
        import pandas as pd

        dialect = self._dialect
        try:
            frame = pd.read_csv(
                io.StringIO(self._text),
                sep=dialect.sep,
                decimal=dialect.decimal,
                thousands=dialect.thousands,
                quotechar=dialect.quotechar,
                skipinitialspace=dialect.spaces,
                na_values=list(na) or None,
                index_col=0 if dialect.has_row_names else None,
                low_memory=False,
            )
        except pd.errors.EmptyDataError:
            raise InputFailure(f"{self._name!r} is empty. It needs a header row and rows below it.") from None
        except (pd.errors.ParserError, ValueError) as error:
            raise InputFailure(self._what_is_wrong(str(error))) from error
        if not isinstance(frame.index, pd.RangeIndex):
            if not dialect.has_row_names:
                raise InputFailure(self._what_is_wrong("rows are longer than the header"))
            frame = frame.reset_index(drop=True)
        if not len(frame):
            raise InputFailure(
                f"{self._name!r} has a header and no rows below it. There is nothing to learn from."
            )
        frame.columns = [str(column).strip() for column in frame.columns]
        return frame

    def _what_is_wrong(self, complaint: str) -> str:
        longer = first_long_record(self._text, self._dialect)
        if longer is None:
            return f"{self._name!r} is not a readable CSV file: {complaint}. Try --sep and --encoding."
        line, n_fields, width = longer
        sep = {"\t": "tab"}.get(self._dialect.sep, self._dialect.sep)
        return (
            f"{self._name!r}: line {line} has {n_fields} fields, but the header has {width} (separator {sep!r}). "
            "Mend the line, put quotes round texts that contain the separator, or set --sep."
        )

    def _look_at_the_header(self) -> None:
        names = list(self.frame.columns)
        repeated = sorted(name for name, count in Counter(names).items() if count > 1)
        if repeated:
            raise InputFailure(
                f"{self._name!r} has more than one column named {listed(repeated)}. Rename the columns, or drop the "
                "copies."
            )
        renamed = [name for name in names if "." in name and name.rpartition(".")[0] in names]
        if renamed:
            numbered = [name for name in renamed if name.rpartition(".")[2].isdecimal()]
            header = self._text.lstrip("\ufeff").split("\n", 1)[0]
            made = [name for name in numbered if name not in header]
            if made:
                self.notes.append(
                    f"{self._name}: a heading occurs more than once; the later columns are called {listed(made)}"
                )
        if all(_is_number(name) for name in names):
            self.notes.append(
                f"{self._name}: the first row holds numbers only and was read as the header; does the file have one?"
            )


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
