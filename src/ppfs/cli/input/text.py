"""CSV files and their relatives as data frames."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ppfs._printable import listed
from ppfs.cli._failures import InputFailure
from ppfs.cli.input.columns import is_number
from ppfs.cli.input.dialect import decoded, described, first_long_record, lines_of_records, short_records

if TYPE_CHECKING:
    from ppfs._data import NumberStyle, TextFormat

# A leading zero: a code, which would lose the zero as a number.
_CODE = r"\s*[+-]?0\d.*"


class TextTable:
    """A text file, read.

    Parameters
    ----------
    content : bytes
        What the file holds.

    name : str
        Its name.

    format : TextFormat
        How it is written.

    Attributes
    ----------
    frame : pandas.DataFrame
        Numbers where a column holds nothing else, in any style; text in the others.

    notes : list of str
        Messages about the file.
    """

    def __init__(self, content: bytes, name: str, format: TextFormat) -> None:
        self._text = decoded(content, name, format.encoding)
        self._name = name
        self._format = format
        self.frame = self._read()
        styles = self._number_columns()
        self._units = {column for column, style in styles.items() if style.unit}
        self.notes = [f"{name}: {words}"] if (words := described(format, styles)) else []
        self._look_at_the_header()
        self._look_for_short_rows()

    def place(self, rows: Sequence[int]) -> str:
        """Name rows of the frame by the lines of the file."""
        lines = lines_of_records(self._text, self._format)[1:]
        shown = ", ".join(str(lines[row]) for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        return f"line{'s' if len(rows) > 1 else ''} {shown}{more} of the file"

    def written(self, names: Sequence[str], *, has_types: bool) -> Any:
        """Return some columns as the file has them, text for text.

        Parameters
        ----------
        has_types : bool
            Whether numbers are wanted as numbers, for a file that has types. Numbers with a percent or currency sign
            and codes such as 08654 are text there too: as numbers they would lose it.
        """
        texts = self._texts(names)
        if not has_types:
            return texts
        for name in names:
            column = self.frame[name]
            if _is_text(column) or name in self._units or texts[name].str.fullmatch(_CODE).any():
                texts[name] = texts[name].mask(column.isna(), None)
            else:
                texts[name] = column
        return texts

    def _texts(self, names: Sequence[str]) -> Any:
        """Return some columns as text, missing values included."""
        import pandas as pd

        # By position: pandas may have changed a heading.
        first = int(self._format.has_row_names)
        place = {name: number + first for number, name in enumerate(self.frame.columns)}
        texts = pd.read_csv(
            io.StringIO(self._text),
            header=None,
            names=list(range(len(place) + first)),
            usecols=sorted(place[name] for name in names),
            dtype=str,
            na_filter=False,
            **self._settings(),
        )
        texts = texts.iloc[1:][[place[name] for name in names]].reset_index(drop=True)
        texts.columns = list(names)
        return texts

    def _settings(self) -> dict[str, Any]:
        """Return what both ways of reading the file have in common."""
        return {
            "sep": self._format.sep,
            "quotechar": self._format.quotechar,
            "skipinitialspace": self._format.has_spaces,
            "low_memory": False,
        }

    def _read(self) -> Any:
        import pandas as pd

        format = self._format
        try:
            frame = pd.read_csv(
                io.StringIO(self._text),
                decimal=format.decimal,
                na_values=sorted(format.missing_texts),
                keep_default_na=False,
                index_col=0 if format.has_row_names else None,
                **_exact_numbers(),
                **self._settings(),
            )
        except pd.errors.EmptyDataError:
            raise InputFailure(f"{self._name!r} is empty. It needs a header row and rows below it.") from None
        except (pd.errors.ParserError, ValueError) as error:
            raise InputFailure(self._what_is_wrong(str(error))) from error
        if not isinstance(frame.index, pd.RangeIndex):
            if not format.has_row_names:
                raise InputFailure(self._what_is_wrong("rows are longer than the header"))
            frame = frame.reset_index(drop=True)
        if not len(frame):
            raise InputFailure(
                f"{self._name!r} has a header and no rows below it. There is nothing to learn from."
            )
        frame.columns = [str(column).strip() for column in frame.columns]
        return frame

    def _number_columns(self) -> dict[str, NumberStyle]:
        """Turn columns of text that holds numbers only into numbers, and return how those were written."""
        from ppfs._data import NumberStyle

        styles = {}
        for place, name in enumerate(self.frame.columns):
            column = self.frame.iloc[:, place]
            if not _is_text(column):
                continue
            labels = column.dropna().unique()
            style = (
                NumberStyle.of(labels, self._format.decimals)
                if all(isinstance(label, str) for label in labels)
                else None
            )
            if style is not None:
                numbers = {label: style.number(label) for label in labels}
                self.frame.isetitem(place, column.map(numbers).astype(float))
                styles[name] = style
        return styles

    def _what_is_wrong(self, complaint: str) -> str:
        longer = first_long_record(self._text, self._format)
        if longer is None:
            return f"{self._name!r} is not a readable CSV file: {complaint}. Try --sep and --encoding."
        line, n_fields, width = longer
        sep = {"\t": "tab"}.get(self._format.sep, self._format.sep)
        return (
            f"{self._name!r}: line {line} has {n_fields} fields, but the header has {width} (separator {sep!r}). "
            "Fix the line, put quotes around texts that contain the separator, or set --sep."
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
        header = self._text.lstrip("\ufeff").partition("\n")[0]
        bare = [name for name in names if name.startswith("Unnamed: ") and name not in header]
        if bare:
            self.notes.append(f"{self._name}: columns without a heading are called {listed(bare)}")
        if renamed:
            numbered = [name for name in renamed if name.rpartition(".")[2].isdecimal()]
            made = [name for name in numbered if name not in header]
            if made:
                self.notes.append(
                    f"{self._name}: a heading occurs more than once; the later columns are called {listed(made)}"
                )
        if all(map(is_number, names)):
            self.notes.append(
                f"{self._name}: the first row holds numbers only and was read as the header; does the file have one?"
            )

    def _look_for_short_rows(self) -> None:
        # Their last fields are missing: without such rows the file is not read again.
        if not self.frame.iloc[:, -1].isna().any():
            return
        lines = short_records(self._text, self._format)
        if lines:
            rows = f"{len(lines)} rows have" if len(lines) > 1 else "1 row has"
            self.notes.append(
                f"{self._name}: {rows} fewer fields than the header, the first in line {lines[0]}; the others are read "
                "as missing values"
            )


@cache
def _exact_numbers() -> dict[str, Any]:
    """Return the argument with which pandas reads numbers exactly: none since 3.1, where it is deprecated."""
    import pandas as pd

    number = 0.10490011715303971
    is_exact = pd.read_csv(io.StringIO(f"x\n{number!r}\n"))["x"][0] == number
    return {} if is_exact else {"float_precision": "round_trip"}


def _is_text(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return not (is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype))
