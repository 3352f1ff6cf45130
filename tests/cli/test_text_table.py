"""Text files as tables: numbers, texts as written, and every message about the file, word for word."""

import io

import pandas as pd
import pytest

from ppfs.cli._failures import InputFailure
from ppfs.cli.input.dialect import find_format
from ppfs.cli.input.text import TextTable, _exact_numbers


def read(text, **flags):
    content = text.encode()
    return TextTable(content, "t.csv", find_format(content, "t.csv", **flags))


def refused(text, **flags):
    with pytest.raises(InputFailure) as raised:
        read(text, **flags)
    return raised.value.message


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b\n1,x\n2.5,\n", {"a": [1.0, 2.5], "b": ["x", None]}),
        (" a , b\n1, x\n2, y \n", {"a": [1, 2], "b": ["x", "y "]}),
        # Numbers written with thousands, units and another decimal sign than that of the file.
        ('a;b;c\n"1,234";5%;1.5\n7;10%;\n', {"a": [1234.0, 7.0], "b": [5.0, 10.0], "c": [1.5, None]}),
        ("a;b\n1,5;1.5\n2,5;2.5\n", {"a": [1.5, 2.5], "b": [1.5, 2.5]}),
        ("a\n1%\n2$\n", {"a": ["1%", "2$"]}),
        ("a,b\nTrue,1\n,2\nFalse,3\n", {"a": [True, None, False], "b": [1, 2, 3]}),
        ("a\nNone\nnull\nx\n", {"a": [None, None, "x"]}),
        ("a,b\nr,1,2\ns,3,4\n", {"a": [1, 3], "b": [2, 4]}),
        ("a,b\n\n1,2\n\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
        ("a\n0.10490011715303971\n", {"a": [0.10490011715303971]}),
    ],
)
def test_columns_of_numbers_and_texts(text, columns):
    found = read(text).frame
    expected = pd.DataFrame(columns)
    assert list(found.columns) == list(expected.columns)
    assert found.astype(object).where(found.notna(), None).to_dict("list") == (
        expected.astype(object).where(expected.notna(), None).to_dict("list")
    )
    assert found.index.tolist() == list(range(len(found)))


def test_texts_of_the_user_are_missing_values():
    assert read("a,b\n1,-\n-,x\n", na=["-"]).frame.isna().to_numpy().tolist() == [
        [False, True],
        [True, False],
    ]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("a,b\n1,2\n", []),
        ("a;b\n1;2\n", ["t.csv: separator ';'"]),
        (
            "a,a,b,a\n1,2,3,4\n",
            ["t.csv: a heading occurs more than once; the later columns are called 'a.1', 'a.2'"],
        ),
        ("a,a.1\n1,2\n", []),
        ("a,a.x\n1,2\n", []),
        ("a.1,b\n1,2\n", []),
        # The second column is called so by the file, in any row: only the header counts.
        ("a,a\na.1,2\n", ["t.csv: a heading occurs more than once; the later columns are called 'a.1'"]),
        ("a,,b\n1,2,3\n", ["t.csv: columns without a heading are called 'Unnamed: 1'"]),
        ("a,Unnamed: 1\n1,2\n", []),
        (
            "1,2.5\n3,4\n",
            ["t.csv: the first row holds numbers only and was read as the header; does the file have one?"],
        ),
        ("1,b\n3,4\n", []),
        (
            "a,b\n1,2\n3\n",
            [
                "t.csv: 1 row has fewer fields than the header, the first in line 3; the others are read as missing "
                "values"
            ],
        ),
        (
            "a,b\n1,2\n3\n\n4,5\n6\n",
            [
                "t.csv: 2 rows have fewer fields than the header, the first in line 3; the others are read as missing "
                "values"
            ],
        ),
        ("a,b\n1,2\n3,\n,4\n", []),
        # As long as the others: a missing value, not a short row.
        ("a,b\n,1\n2,\n", []),
        (
            "\ufeffa,a\n1,2\n",
            [
                "t.csv: UTF-8 with a byte order mark",
                "t.csv: a heading occurs more than once; the later columns are called 'a.1'",
            ],
        ),
    ],
)
def test_messages_about_the_file(text, notes):
    assert read(text).notes == notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'a,b,"a "\n1,2,3\n',
            "'t.csv' has more than one column named 'a'. Rename the columns, or drop the copies.",
        ),
        ("a,b\n", "'t.csv' has a header and no rows below it. There is nothing to learn from."),
        (
            "a,b\n1,2\n1,2,3\n",
            "'t.csv': line 3 has 3 fields, but the header has 2 (separator ','). Fix the line, put quotes around texts "
            "that contain the separator, or set --sep.",
        ),
        (
            "a\tb\n1\t2\n\n3\t4\n1\t2\t3\n",
            "'t.csv': line 5 has 3 fields, but the header has 2 (separator 'tab'). Fix the line, put quotes around "
            "texts that contain the separator, or set --sep.",
        ),
        (
            "a,b\n1,2,3\n1,2\n",
            "'t.csv': line 2 has 3 fields, but the header has 2 (separator ','). Fix the line, put quotes around texts "
            "that contain the separator, or set --sep.",
        ),
    ],
)
def test_files_that_cannot_be_read(text, message):
    assert refused(text) == message


def test_what_pandas_complains_about_is_said_where_no_line_is_too_long():
    said = refused('a,b\n1,2\n3,"4\n')
    assert said.startswith("'t.csv' is not a readable CSV file: ")
    assert said.endswith(". Try --sep and --encoding.")


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([0], "line 2 of the file"),
        ([0, 1], "lines 2, 4 of the file"),
        ([0, 1, 2, 3, 4], "lines 2, 4, 5, 6, 7 of the file"),
        ([0, 1, 2, 3, 4, 5], "lines 2, 4, 5, 6, 7 and 1 more of the file"),
        ([1, 2, 3, 4, 5, 6, 7], "lines 4, 5, 6, 7, 8 and 2 more of the file"),
    ],
)
def test_rows_are_named_by_their_lines(rows, place):
    assert read("a\n1\n\n" + "2\n" * 8).place(rows) == place


WRITTEN = 'n,code,unit,text\n1.50,007,5%,x\n,8,,NA\n"1,000",0.5,7%,\n'


def test_columns_are_written_as_in_the_file():
    table = read(WRITTEN, sep=",")
    found = table.written(["text", "n", "code", "unit"], has_types=False)
    assert list(found.columns) == ["text", "n", "code", "unit"]
    assert found.to_dict("list") == {
        "text": ["x", "NA", ""],
        "n": ["1.50", "", "1,000"],
        "code": ["007", "8", "0.5"],
        "unit": ["5%", "", "7%"],
    }


def test_codes_and_numbers_with_units_stay_text_in_files_with_types():
    found = read(WRITTEN, sep=",").written(["n", "code", "unit", "text"], has_types=True)
    assert found["n"].tolist()[::2] == [1.5, 1000.0]
    assert found["code"].tolist() == ["007", "8", "0.5"]
    assert found["unit"].fillna("missing").tolist() == ["5%", "missing", "7%"]
    assert found["text"].fillna("missing").tolist() == ["x", "missing", "missing"]


@pytest.mark.parametrize(
    ("value", "is_code"),
    [("01", True), ("+01", True), (" 01", True), ("0", False), ("0.1", False), ("10", False)],
)
def test_a_leading_zero_makes_a_code(value, is_code):
    found = read(f"a,b\n{value},1\n2,1\n").written(["a"], has_types=True)
    assert (found["a"].tolist() == [value, "2"]) == is_code


def test_row_names_are_not_written():
    table = read("a,b\nr,1,2\ns,3,4\n")
    assert table.written(["b"], has_types=False).to_dict("list") == {"b": ["2", "4"]}
    assert table.written(["b", "a"], has_types=True).to_dict("list") == {"b": [2, 4], "a": [1, 3]}


def test_spaces_behind_separators_are_not_written_and_quotes_are_those_of_the_file():
    assert read("a, b\nx, y\n").written(["b"], has_types=False).to_dict("list") == {"b": ["y"]}
    found = read("'a','b'\n'x,1','y'\n").written(["a"], has_types=False)
    assert found.to_dict("list") == {"a": ["x,1"]}


def test_numbers_are_read_exactly_whatever_pandas_does_by_itself():
    is_exact = pd.read_csv(io.StringIO("x\n0.10490011715303971\n"))["x"][0] == 0.10490011715303971
    assert _exact_numbers.__wrapped__() == ({} if is_exact else {"float_precision": "round_trip"})
