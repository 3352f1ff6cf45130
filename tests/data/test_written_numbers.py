"""Texts that stand for numbers are told from those that do not."""

import pytest

from ppfs._data.written_numbers import NumberStyle, is_number


@pytest.mark.parametrize(
    ("text", "decimal", "unit", "number"),
    [
        ("101,087", ".", "", 101087),
        ("1,234,567.5", ".", "", 1234567.5),
        ("30.631,36", ",", "", 30631.36),
        ("1'234.50", ".", "", 1234.5),
        ("1 234,56", ",", "", 1234.56),
        ("1\u202f234,56", ",", "", 1234.56),
        ("40.6%", ".", "%", 40.6),
        ("40,6 %", ",", "%", 40.6),
        ("$23,935", ".", "$", 23935),
        ("-$5", ".", "$", -5),
        ("$-5.25", ".", "$", -5.25),
        ("($1,200)", ".", "$", -1200),
        ("1.234,50 €", ",", "€", 1234.5),
        (" 7 ", ".", "", 7),
        ("\u22127", ".", "", -7),
        ("08654", ".", "", 8654),
        ("1e-3", ".", "", 0.001),
        (".5", ".", "", 0.5),
        ("5.", ".", "", 5),
    ],
)
def test_numbers(text, decimal, unit, number):
    assert NumberStyle(decimal, unit).number(text) == number
    assert NumberStyle.of([text], [decimal]).unit == unit


@pytest.mark.parametrize(
    "text",
    [
        *(
            "01.01.2021",
            "2021-01-01",
            "01/02/2021",
            "12:30",
            "1,23,456",
            "0,123,456",
            "1.2.3",
            "5 apples",
            "",
        ),
        *("$", "%", "-", "(5)", "$5%", "1e", "$5 $", "1 2", "a1", "1,234.567,8", "192.168.1.10", "1_000"),
    ],
)
def test_other_texts(text):
    assert not is_number(text)


def test_a_column_has_one_style():
    assert NumberStyle.of(["1,5", "2,345"]) == NumberStyle(",")
    assert NumberStyle.of(["950", "1,087"]) == NumberStyle(".", thousands=",")
    assert NumberStyle.of(["1.234", "5,5"]) == NumberStyle(",", thousands=".")
    assert NumberStyle.of(["1,5", "2.5"]) is None
    assert NumberStyle.of(["$5", "€5"]) is None
    assert NumberStyle.of(["5%", "5"]) is None
    assert NumberStyle.of([]) is None
    assert NumberStyle.of(["1,5"], ["."]) is None


def test_a_long_text_of_spaces_takes_no_time():
    assert not is_number("1" + " " * 200_000 + "x")
