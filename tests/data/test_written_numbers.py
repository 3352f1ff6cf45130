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


@pytest.mark.parametrize(
    ("text", "style", "number"),
    [
        ("(1,200)", NumberStyle("."), -1200.0),
        ("(1.5)", NumberStyle("."), -1.5),
        ("(5%)", NumberStyle(".", "%"), -5.0),
        ("(-$5)", NumberStyle(".", "$"), -5.0),
        ("$\u22125", NumberStyle(".", "$"), -5.0),
        ("+$5", NumberStyle(".", "$"), 5.0),
        ("inf", NumberStyle(), float("inf")),
        ("-Infinity", NumberStyle(), -float("inf")),
        ("5%", NumberStyle(), None),
        ("5", NumberStyle(".", "%"), None),
        ("$5", NumberStyle(".", "%"), None),
        ("1.234.567,5", NumberStyle(","), 1234567.5),
        ("1.234.567,5", NumberStyle("."), None),
        ("", NumberStyle(), None),
    ],
)
def test_a_number_in_one_style(text, style, number):
    assert style.number(text) == number


@pytest.mark.parametrize(
    ("texts", "decimals", "style"),
    [
        (["1", "2"], (",", "."), NumberStyle(",")),
        (["1", "2"], (".", ","), NumberStyle(".")),
        (["1,000", "2"], (",", "."), NumberStyle(",")),
        (["1'000", "2 000"], (".",), NumberStyle(".", thousands="'")),
        (["7%", "1,000%"], (".",), NumberStyle(".", "%", ",")),
        (["7", "5%"], (".",), None),
        (["7%", "5"], (".",), None),
        (["%7", "7%"], (".",), NumberStyle(".", "%")),
        (["7", "x"], (".", ","), None),
        ([], (".", ","), None),
        (iter(["1,5"]), (".", ","), NumberStyle(",")),
        (["7"], (), None),
    ],
)
def test_the_style_of_all_texts(texts, decimals, style):
    assert NumberStyle.of(texts, decimals) == style


def test_a_number_in_any_of_the_styles():
    assert is_number(" 1.234,5 ")
    assert not is_number("1.234,5", (".",))
    assert is_number("1.234", (",",))
    assert not is_number("1", ())
