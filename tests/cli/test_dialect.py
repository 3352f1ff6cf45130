"""How a text file is written, at the limits of every rule."""

import pytest

from ppfs._data import MISSING_TEXTS, NumberStyle, TextFormat
from ppfs.cli._failures import InputFailure
from ppfs.cli.input.dialect import (
    _decimals,
    _encoding,
    _quotechar,
    _records,
    _separator,
    decoded,
    described,
    find_format,
    first_long_record,
    lines_of_records,
    short_records,
)

CSV = TextFormat()
FROM_R = TextFormat(has_row_names=True)
MIB = 1 << 20


def formatted(**changed):
    usual = {"sep": ",", "encoding": "utf-8", "decimals": (".", ","), "quotechar": '"'}
    more = {"missing_texts": MISSING_TEXTS, "has_spaces": False, "has_row_names": False}
    return TextFormat(**{**usual, **more, **changed})


@pytest.mark.parametrize(
    ("content", "flags", "changed"),
    [
        (b"a,b\n1,2\n", {}, {}),
        (b"a, b\n1,2\n", {}, {"has_spaces": True}),
        # A space before the first field is part of it.
        (b"a,b\n 1,2\n", {}, {}),
        (b"a,b\nr,1,2\nr,3,4\n", {}, {"has_row_names": True}),
        (b"a,b\nr,1,2\n3,4\n", {}, {}),
        (b"a,b\n", {}, {}),
        (b"", {}, {}),
        (b"a;b\n1,5;2\n", {}, {"sep": ";", "decimals": (",", ".")}),
        (b"1,5;b\n1;2\n", {}, {"sep": ";"}),
        (b"a;b\n1,5;2\n", {"decimal": "."}, {"sep": ";", "decimals": (".",)}),
        (b"a;b\n1;2\n", {"sep": "comma"}, {}),
        *(
            (b"ab\n12\n", {"sep": name}, {"sep": sep})
            for name, sep in (
                ("tab", "\t"),
                ("\\t", "\t"),
                ("space", " "),
                ("comma", ","),
                ("semicolon", ";"),
                ("pipe", "|"),
                ("#", "#"),
            )
        ),
        (b"a,b\n1,2\n", {"na": ["-", "NA"]}, {"missing_texts": MISSING_TEXTS | {"-"}}),
        ("ä,b\n1,2\n".encode("latin-1"), {}, {"encoding": "windows-1252"}),
        ("ä,b\n1,2\n".encode("latin-1"), {"encoding": "latin-1"}, {"encoding": "latin-1"}),
        (b"'a','b'\n'1','2'\n", {}, {"quotechar": "'"}),
        # Line breaks of any system.
        (b"a;b\r1;2\r", {}, {"sep": ";"}),
        (b"a;b\r\n1;2\r\n", {}, {"sep": ";"}),
    ],
)
def test_the_whole_format_is_found(content, flags, changed):
    assert find_format(content, "x.csv", **flags) == formatted(**changed)


@pytest.mark.parametrize("sep", ["", "::"])
def test_a_separator_is_one_character(sep):
    with pytest.raises(
        InputFailure, match=f"^--sep '{sep}' is not one character. Write it like ';' or tab.$"
    ):
        find_format(b"a,b\n1,2\n", "x.csv", sep=sep)


def test_the_first_mebibyte_is_looked_at_and_a_letter_that_it_cuts_is_left_out():
    start = b"a,b\n" + b"1" * (MIB - 5)
    flags = {"name": "x.csv", "encoding": "utf-8", "sep": ","}
    assert find_format(start + "ü".encode(), **flags) == formatted()
    with pytest.raises(InputFailure, match="line 2 holds the byte 0xc3"):
        find_format(start + b"\xc3", **flags)
    assert find_format(start + b"1\xc3", **flags) == formatted()


@pytest.mark.parametrize(("n_before", "is_seen"), [(199, True), (200, False)])
def test_two_hundred_records_are_looked_at(n_before, is_seen):
    text = "a,b\n" + "1,2\n" * (n_before - 1) + "1, 2\n"
    assert find_format(text.encode(), "x.csv").has_spaces == is_seen


@pytest.mark.parametrize(
    ("fields", "sep", "decimals"),
    [
        ([], ",", ".,"),
        ([], ";", ".,"),
        (["1,5"], ";", ",."),
        (["1,5"], ",", ",."),
        (["1.5"], ";", ".,"),
        # Numbers with either sign: what is between the fields decides.
        (["1,234"], ";", ",."),
        (["1,234"], ",", ".,"),
        (["1.234"], ";", ".,"),
        (["1,234", "1.234"], ";", ".,"),
        (["1.5", "1,5"], ";", ".,"),
        (["1.5", "2.5", "1,5"], ";", ".,"),
        (["1.5", "1,5", "2,5"], ",", ",."),
        # A value counts once.
        (["1.5", "1.5", "1.5", "1,5", "2,5"], ",", ",."),
        (["a,b", "c,d", "x", "7"], ";", ".,"),
    ],
)
def test_the_likelier_decimal_sign_comes_first(fields, sep, decimals):
    assert "".join(_decimals(fields, sep)) == decimals


NINE_OF_TEN = "a;b;c,d\n" + "1;2;3,4\n" * 9 + "1,2\n"
TEN_OF_ELEVEN = "a;b;c,d\n" + "1;2;3,4\n" * 10 + "1,2\n"


@pytest.mark.parametrize(
    ("text", "sep"),
    [
        ("", ","),
        ("a", ","),
        ("a;b", ";"),
        # The header alone does not decide.
        ("a;b\n1\n", ","),
        ("n\nx\ny;2\nz;3", ","),
        ("a\tb\n1\t2", "\t"),
        ("a|b\n1|2", "|"),
        ("a b\n1 2", " "),
        # Half of the rows agree: enough for a separator, not for a space.
        ("a;b\n1;2\n3\n", ";"),
        ("a b\n1 2\n3\n", ","),
        # Rows with a name of their own.
        ("a;b\nr;1;2\nr;3;4", ";"),
        ("n\nx;1\ny;2", ";"),
        ("n\nx;1\ny;2;3", ","),
        ("n\nx;1\ny", ","),
        # More than nine rows in ten have to agree.
        (NINE_OF_TEN, ","),
        (TEN_OF_ELEVEN, ";"),
        # Of two that suit all rows, the one that makes more fields; of equals, the usual one.
        ("a;b;c,d\n1;2;3,4", ";"),
        ("a;b,c\n1;2,3", ","),
    ],
)
def test_the_separator_that_suits_most_rows_is_taken(text, sep):
    assert _separator(text, '"') == sep


@pytest.mark.parametrize(
    ("n_head", "n_records", "found"),
    [(10, 200, 1), (11, 200, 2), (10, 2, 2), (10, 3, 1), (9, 200, 1)],
)
def test_the_last_record_is_left_out_where_the_look_ends_in_it(monkeypatch, n_head, n_records, found):
    monkeypatch.setattr("ppfs.cli.input.dialect._HEAD", n_head)
    monkeypatch.setattr("ppfs.cli.input.dialect._RECORDS", n_records)
    assert _records("a,b\n1,2222", ",", '"') == [["a", "b"], ["1", "2222"]][:found]


def test_the_only_record_is_kept_and_blank_lines_are_not(monkeypatch):
    monkeypatch.setattr("ppfs.cli.input.dialect._HEAD", 3)
    assert _records("a,b", ",", '"') == [["a", "b"]]
    monkeypatch.setattr("ppfs.cli.input.dialect._HEAD", 30)
    assert _records("a,b\n\n1,2\n", ",", '"') == [["a", "b"], ["1", "2"]]


@pytest.mark.parametrize(
    ("head", "quote"),
    [
        ("", '"'),
        ("'", '"'),
        ("''", "'"),
        ("'a','b'\n1,2", "'"),
        ("\ufeff'a','b' \r\n1,2", "'"),
        ("'a',b\n1,2", '"'),
        ("a,'b'\n1,2", '"'),
        ("'a\"b'\n1,2", '"'),
        ("a\n'1'", '"'),
    ],
)
def test_single_quotes_are_seen_in_the_header(head, quote):
    assert _quotechar(head) == quote


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"a", "utf-8"),
        ("ü".encode(), "utf-8"),
        (b"\xef\xbb\xbfa", "utf-8-sig"),
        (b"\xff\xfea\x00", "utf-16"),
        (b"\xfe\xff\x00a", "utf-16"),
        (b"\xe4", "windows-1252"),
        *((b"\xe4" + bytes([byte]), "latin-1") for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)),
    ],
)
def test_encodings(content, encoding):
    assert _encoding(content) == encoding


def test_bytes_that_are_no_text_are_named_with_their_line():
    with pytest.raises(InputFailure) as raised:
        decoded(b"a\nb\n\xe4", "x.csv", "utf-8")
    assert raised.value.message == (
        "'x.csv' is not written in utf-8: line 3 holds the byte 0xe4. Leave --encoding out, or try latin-1."
    )
    with pytest.raises(InputFailure) as raised:
        decoded(b"\xe4", "x.csv", "utf-8")
    assert "line 1 holds" in raised.value.message
    assert decoded(b"a\xc3", "x.csv", "utf-8", is_part=True) == "a"


FOUR = dict.fromkeys("abcd", NumberStyle(","))


@pytest.mark.parametrize(
    ("changed", "styles", "said"),
    [
        ({}, {}, ""),
        ({"sep": ";"}, {}, "separator ';'"),
        ({"sep": "\t"}, {}, "separator 'tab'"),
        ({"sep": " "}, {}, "separator 'space'"),
        ({"encoding": "utf-8-sig"}, {}, "UTF-8 with a byte order mark"),
        ({"encoding": "utf-16"}, {}, "encoding utf-16"),
        ({"decimals": (",", ".")}, {}, "decimal comma"),
        ({"decimals": (",",)}, {"a": NumberStyle(",")}, "decimal comma"),
        ({}, {"a": NumberStyle(".")}, ""),
        ({}, {"a": NumberStyle(",")}, "decimal comma in 'a'"),
        ({"decimals": (",", ".")}, {"a": NumberStyle(".")}, "decimal comma, decimal point in 'a'"),
        ({}, FOUR, "decimal comma in 'a', 'b', 'c' and 1 more"),
        (
            {},
            {name: NumberStyle(thousands=sign) for name, sign in (("a", ","), ("b", "\u00a0"), ("c", " "))},
            "',' between thousands, 'space' between thousands",
        ),
        (
            {},
            {name: NumberStyle(unit=unit) for name, unit in zip("abcde", "$%%%%", strict=True)},
            "numbers with '$' in 'a', numbers with '%' in 'b', 'c', 'd' and 1 more",
        ),
        ({"quotechar": "'"}, {}, "quotes '"),
        ({"has_row_names": True}, {}, "row names without a heading, left out"),
        (
            {"sep": "|", "encoding": "latin-1", "quotechar": "'", "has_row_names": True},
            {"a": NumberStyle(thousands="\u202f", unit="%")},
            "separator '|', encoding latin-1, 'space' between thousands, numbers with '%' in 'a', quotes ', row names "
            "without a heading, left out",
        ),
    ],
)
def test_what_differs_from_a_plain_file_is_said(changed, styles, said):
    assert described(formatted(**changed), styles) == said


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a,b\n1,2\n", [1, 2]),
        ("a,b\n\n1,2\n \n3,4", [1, 3, 5]),
        ('a,b\n"1\n1",2\n3,4\n', [1, 2, 4]),
        # Missing in both columns, and a single column with quotes around nothing.
        ("a,b\n,\n3,4\n", [1, 2, 3]),
        ('a\n""\n1\n', [1, 3]),
        ("a\r1\r2\r", [1, 2, 3]),
        ("a\r\n1\r\n2\r\n", [1, 2, 3]),
    ],
)
def test_records_begin_on_these_lines(text, lines):
    assert lines_of_records(text, CSV) == lines


@pytest.mark.parametrize(
    ("text", "format", "found"),
    [
        ("", CSV, None),
        ("a,b\n1,2\n", CSV, None),
        ("a,b\n1,2,3\n1,2,3,4\n", CSV, (2, 3, 2)),
        ("a,b\n1\n\n1,2,3,4\n", CSV, (4, 4, 2)),
        ("\na,b\n1,2\n1,2,3\n", CSV, (4, 3, 2)),
        ("a,b\n1,2,3\n", FROM_R, None),
        ("a,b\n1,2,3\n1,2,3,4\n", FROM_R, (3, 4, 3)),
    ],
)
def test_the_first_record_that_is_too_long(text, format, found):
    assert first_long_record(text, format) == found


@pytest.mark.parametrize(
    ("text", "format", "lines"),
    [
        ("", CSV, []),
        ("a,b\n1,2\n1\n\n1,2,3\n,\n2", CSV, [3, 7]),
        ("\na,b\n1\n", CSV, [3]),
        ("a,b,c\n,\n,1\n", CSV, [3]),
        ("a,b\n1,2\n1,2,3\n", FROM_R, [2]),
    ],
)
def test_records_that_are_too_short(text, format, lines):
    assert short_records(text, format) == lines


@pytest.mark.parametrize(
    ("text", "sep"),
    [
        ("a;b\n" + "1;2\n" * 20 + "3\n", ";"),
        # More fields count only if more than nine of ten records have them.
        ("a;b,c,d,e\n" + "1;2,3,4,5\n" * 18 + "1;2\n" * 2, ";"),
        ("a;b,c,d,e\n" + "1;2,3,4,5\n" * 19 + "1;2\n", ","),
        ("a;b;c\n" + "1;2;3\n" * 19 + "3\n", ";"),
        ("ab\n" + "1;2\n" * 20, ";"),
        ("ab\n" + "1;2\n" * 20 + "1;2;3\n", ","),
        ("ab\n", ","),
    ],
)
def test_a_separator_divides_nearly_all_records_alike(text, sep):
    assert _separator(text, '"') == sep
