"""Columns of text that hold dates, numbers, or a different text in every row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np

from ppfs._data.column_checks.warning import ColumnWarning
from ppfs._data.columns import MISSING_LABEL
from ppfs._data.table import Table
from ppfs._data.written_numbers import NumberStyle, is_number
from ppfs._printable import listed

_MOST_LABELS = 50
_FEWEST_DATES = 5
_FEWEST_NUMBERS = 10
_FEWEST_ROWS = 20
_SHARE_OF_DATES, _SHARE_OF_NUMBERS, _SHARE_OF_ROWS = 0.9, 0.8, 0.95
_DATE_LIKE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?")
_FORMATS = (
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%y",
    "%m/%d/%y",
    "%d/%m/%y",
)
# A number with a word after it, such as 12.5 kg, or with the letters of a currency before it.
_WORD = r"°?[^\W\d_]{1,10}(?:/[^\W\d_]{1,4})?"
_CURRENCY = r"(?:EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|R\$|Fr\.|kr\.?)\s?"
_MEASUREMENT = re.compile(
    rf"(?P<before>{_CURRENCY})?(?P<number>[^\W_][^a-zA-Z]*?|[+-].*?)(?P<after>\s?{_WORD})?"
)
_CODE = re.compile(r"\s*0\d+\s*")


def odd_texts(table: Table) -> Iterator[ColumnWarning]:
    """Yield columns of text that do not hold categories."""
    for column, all_labels in table.categories.items():
        labels = [label for label in all_labels if label != MISSING_LABEL]
        name = table.column_names[column]
        warning = (
            _dates(name, labels)
            or _numbers(name, labels)
            or _measurements(name, labels)
            or _unique(name, labels, table.n_rows)
        )
        if warning is not None:
            yield warning


def _dates(name: str, labels: Sequence[str]) -> ColumnWarning | None:
    if len(labels) < _FEWEST_DATES:
        return None
    shown = [labels[i] for i in np.linspace(0, len(labels) - 1, _MOST_LABELS).astype(int)]
    if sum(map(_is_date, shown)) < _SHARE_OF_DATES * len(shown):
        return None
    return ColumnWarning(
        name,
        "dates",
        f"{name!r} is text that holds dates, such as {labels[0]!r}: {len(labels)} categories without an order.",
        "Convert it to numbers or categories: days since a date, the month, the weekday.",
        f"Leave it out with --drop {name!r}, or convert it to days, months or weekdays first.",
    )


def _is_date(label: str) -> bool:
    text = label.strip()
    if not _DATE_LIKE.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        day = re.split("[T ]", text)[0]
        return any(_fits(day, form) for form in _FORMATS)
    return True


def _fits(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def _numbers(name: str, labels: Sequence[str]) -> ColumnWarning | None:
    # Most columns have few labels.
    numbers = [label for label in labels if is_number(label)] if len(labels) >= _FEWEST_NUMBERS else []
    if len(numbers) < _FEWEST_NUMBERS or len(numbers) < _SHARE_OF_NUMBERS * len(labels):
        return None
    strays = [label for label in labels if not is_number(label)]
    if any(map(_CODE.fullmatch, labels)):  # Postcodes and other codes are not numeric.
        return None
    beside = f" beside {listed(strays, 3)}" if strays else f", such as {numbers[0]!r}"
    flags = " ".join(f"--na {stray!r}" for stray in strays[:3])
    # Such as <0.5, which is below what can be measured.
    values = [stray for stray in strays if any(map(str.isdigit, stray))]
    if values:
        write = f"Write {listed(values, 3)} as {'a number' if len(values) == 1 else 'numbers'} first, so that the rest"
        return ColumnWarning(
            name,
            "numbers-as-text",
            f"{name!r} is text that holds numbers{beside}: {len(labels)} categories without an order.",
            f"{write} can be converted. As missing values they would be lost.",
            f"{write} is read as numbers. With --na they would be lost.",
        )
    return ColumnWarning(
        name,
        "numbers-as-text",
        f"{name!r} is text that holds numbers{beside}: {len(labels)} categories without an order.",
        _conversion(name, numbers, strays),
        f"Read {'it' if len(strays) == 1 else 'them'} as missing values with {flags}."
        if strays
        else "Store it as numbers.",
    )


def _measurements(name: str, labels: Sequence[str]) -> ColumnWarning | None:
    """Return a warning about numbers that all have the same word before or after them, such as 12.5 kg."""
    found = [_MEASUREMENT.fullmatch(label.strip()) for label in labels]
    units = {(one["before"] or "", one["after"] or "") for one in found if one is not None}
    if len(labels) < _FEWEST_NUMBERS or None in found or len(units) != 1:
        return None
    before, after = units.pop()
    numbers = [one["number"] for one in found if one is not None]
    style = NumberStyle.of(numbers)
    if style is None or style.unit or not before + after:
        return None
    column = f"X[{name!r}].str.strip()"
    column += f".str.removeprefix({before!r})" if before else f".str.removesuffix({after!r})"
    return ColumnWarning(
        name,
        "numbers-as-text",
        f"{name!r} is text that holds numbers with {before or after!r}, such as {labels[0]!r}: {len(labels)} "
        "categories without an order.",
        f"Convert it to numbers: {_converted(column, style, numbers)}.",
        f"Remove {before or after!r} from it, so that it is read as numbers.",
    )


def _conversion(name: str, numbers: Sequence[str], strays: Sequence[str]) -> str:
    """Return code that converts the column to numbers without losing any."""
    style = NumberStyle.of(numbers)
    if style is None:
        return "The numbers have different decimal, percent or currency signs. Write all of them in the same way."
    column = f"X[{name!r}]"
    if strays:
        column += f".mask({column}.isin({list(strays)!r}))"
    return f"Convert it to numbers: {_converted(column, style, numbers)}."


def _converted(column: str, style: NumberStyle, numbers: Sequence[str]) -> str:
    left_out = "".join(re.escape(sign) for sign in style.unit + style.thousands)
    if any("(" in number for number in numbers):
        column += '.str.replace("(", "-")'
        left_out += r"\)"
    if any("\u2212" in number for number in numbers):
        column += '.str.replace("\u2212", "-")'
    if left_out:
        column += f'.str.replace(r"[{left_out}\\s]", "", regex=True)'
    if style.decimal == ",":
        column += '.str.replace(",", ".")'
    return f"{column}.astype(float)"


def _unique(name: str, labels: Sequence[str], n_rows: int) -> ColumnWarning | None:
    if n_rows < _FEWEST_ROWS or len(labels) < _SHARE_OF_ROWS * n_rows:
        return None
    return ColumnWarning(
        name,
        "identifier",
        f"{name!r} holds {len(labels)} different texts in {n_rows} rows, as names and identifiers do.",
        f"Leave it out: X.drop(columns={name!r}).",
        f"If it names the rows, add --id {name!r}.",
    )
