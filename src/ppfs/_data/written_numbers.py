"""Numbers as they are written in text: decimal signs, thousands, percent and currency signs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

#: Decimal signs, in the order in which they are tried.
DECIMALS = (".", ",")

# Apostrophes and spaces, the narrow and the fixed ones among them, separate thousands beside either decimal sign.
_ALWAYS_GROUP = "'\u2019 \u00a0\u202f"
_UNIT = "[%$\u00a3\u00a5\u20a0-\u20cf]"


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a text column are written.

    Attributes
    ----------
    decimal : {".", ","}
        The decimal sign. The other one may separate thousands, in groups of three digits.

    unit : str
        The percent or currency sign that stands before or after each number; "" where none does.

    thousands : str
        The thousands separator in the texts that the style was inferred from; "" where nothing does.

    Examples
    --------
    >>> NumberStyle(",").number("30.631,36")
    30631.36
    >>> NumberStyle(",").number("01.01.2021") is None
    True
    >>> NumberStyle.of(["$23,935", "-$1,200.50"])
    NumberStyle(decimal='.', unit='$', thousands=',')
    """

    decimal: str = "."
    unit: str = ""
    thousands: str = ""

    @classmethod
    def of(cls, texts: Iterable[str], decimals: Sequence[str] = DECIMALS) -> NumberStyle | None:
        """Return the style in which every text is a number with the same unit; None where there is none."""
        known = list(texts)
        for decimal in decimals if known else ():
            style = _common_style(known, decimal)
            if style is not None:
                return style
        return None

    def number(self, text: str) -> float | None:
        """Return the number that a text represents; None where it is not a number in this style."""
        found = _pattern(self.decimal).fullmatch(text.strip())
        if found is None or _unit(found) != self.unit:
            return None
        return _value(found, self.decimal)


def is_number(text: str, decimals: Sequence[str] = DECIMALS) -> bool:
    """Return whether a text is a number in some style."""
    return any(_pattern(decimal).fullmatch(text.strip()) for decimal in decimals)


def _common_style(texts: Sequence[str], decimal: str) -> NumberStyle | None:
    style: NumberStyle | None = None
    pattern = _pattern(decimal)
    for text in texts:
        found = pattern.fullmatch(text.strip())
        if found is None:
            return None
        style = style or NumberStyle(decimal, _unit(found))
        if _unit(found) != style.unit:
            return None
        if found["group"] and not style.thousands:
            style = replace(style, thousands=found["group"])
    return style


def _unit(found: re.Match[str]) -> str:
    return found["before"] or found["after"] or ""


def _value(found: re.Match[str], decimal: str) -> float:
    digits = found["digits"]
    if found["group"]:
        digits = digits.replace(found["group"], "")
    value = float(digits.replace(decimal, "."))
    is_negative = found["open"] or "-" in _signs(found) or "\u2212" in _signs(found)
    return -value if is_negative else value


def _signs(found: re.Match[str]) -> str:
    return found["sign"] + (found["inner"] or "")


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    """Return what a number with this decimal sign looks like.

    Amounts in parentheses are negative: those with a unit, a decimal sign or thousands. (3) may be a label.
    """
    point = re.escape(decimal)
    other = re.escape("," if decimal == "." else ".")
    groups = rf"[1-9]\d{{0,2}}(?P<group>[{other}{_ALWAYS_GROUP}])\d{{3}}(?:(?P=group)\d{{3}})*"
    plain = rf"(?:(?:{groups}|\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?"
    # At most one space in each place: several patterns for spaces in a row would take long on a text full of them.
    space = "[ \u00a0]?"
    sign = r"[+\-\u2212]?"
    return re.compile(
        rf"(?P<open>\((?=.*{_UNIT}|.*\d[.,{_ALWAYS_GROUP}]\d))?(?P<sign>{sign}){space}(?:(?P<before>{_UNIT}){space}(?P<inner>{sign}))?"
        rf"(?P<digits>{plain}|[iI]nf(?:inity)?){space}(?P<after>(?(before)(?!)|{_UNIT}))?(?(open)\))"
    )
