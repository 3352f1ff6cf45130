"""What results look like in every format, word for word; the results are made by hand."""

import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Of

import numpy as np
import pandas as pd
import pytest

from ppfs._trace import NO_ADDITION, NO_LINK, UNDECIDED
from ppfs.cli._failures import InputFailure
from ppfs.cli._terminal import CannotWriteError, printable_lines, say, writing
from ppfs.cli.commands.compare import _csv_cell, _write
from ppfs.cli.input.data import FrameRead, Input
from ppfs.cli.output import delivery
from ppfs.cli.output import result as results
from ppfs.cli.output.cells import changed_texts, not_a_formula, spelled_out
from ppfs.cli.output.column_warnings import warning_lines
from ppfs.cli.output.delivery import Delivery
from ppfs.cli.output.formats import as_csv, as_markdown, as_names, closing, headline, write
from ppfs.cli.output.scored_report import _why_not
from ppfs.cli.output.writing import replaced, write_columns


def row(column, selected=False, reason=NO_LINK, importance=None, pvalue=None):
    return {
        "column": column,
        "selected": selected,
        "importance": importance,
        "pvalue": pvalue,
        "reason": reason,
        "redundant_with": ["a", "b"] if not selected else [],
    }


RESULT = {
    "data": "t.csv",
    "target": "y\n",
    "selected": ["b|<`\\", "a"],
    "columns": [
        row("a", True, "kept", 0.12345, 0.001234),
        row("b|<`\\", True, "kept", 0.5, 0.04999),
        row("=c"),
        row("d", reason=NO_ADDITION, pvalue=0.3),
        row("e", reason=UNDECIDED),
        row("f", reason="excluded"),
        row("g"),
    ],
    "method": "ppfs",
    "test": "calibrated (CrossFitPPI)",
    "importance": "mean rise in risk when the column is replaced by a random stand-in in the test rows",
    "models": ["forest", "linear"],
    "alpha": 0.05,
    "correction": "bh",
    "n_fits": 12,
    "confirmation": {"summary": "at least 1 of 2 columns is related"},
    "notes": [],
    "warnings": [],
    "sufficiency": None,
}
BARE = {
    **RESULT,
    "test": None,
    "models": [],
    "alpha": None,
    "correction": None,
    "n_fits": None,
    "confirmation": None,
}
ONE = {**BARE, "selected": ["a"], "columns": RESULT["columns"][:1]}
NONE = {**BARE, "selected": [], "columns": RESULT["columns"][2:3]}

CLOSING = (
    "Not selected: 2 without evidence of a link on their own, 1 without evidence that they add to the others, 1 "
    "undecided because a small effect could have been missed, 1 for other reasons.\n"
    "Method ppfs, p-values of the test: calibrated (CrossFitPPI), models forest, linear, alpha 0.05, correction bh, 12 "
    "models fitted.\n"
    "At least 1 of 2 columns is related."
)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (RESULT, CLOSING),
        (ONE, "Method ppfs."),
        (NONE, "Not selected: 1 without evidence of a link on their own.\nMethod ppfs."),
        ({**ONE, "alpha": 0.0, "n_fits": 0}, "Method ppfs, alpha 0.0, 0 models fitted."),
    ],
)
def test_the_closing_sentences(result, said):
    assert closing(result) == said


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (RESULT, r"t.csv: 2 of 7 columns were selected to predict y\n"),
        (ONE, r"t.csv: 1 of 1 columns was selected to predict y\n"),
        (NONE, r"t.csv: 0 of 1 columns were selected to predict y\n"),
    ],
)
def test_the_headline(result, said):
    assert headline(result) == said


def test_markdown():
    assert as_markdown(RESULT) == "\n".join(
        [
            r"t.csv: 2 of 7 columns were selected to predict y\n",
            "",
            "| column | importance | p-value | reason |",
            "| --- | ---: | ---: | --- |",
            r"| b\|&lt;\`\\ | 0.5 | 0.05 | kept |",
            "| a | 0.1235 | 0.0012 | kept |",
            "",
            CLOSING,
        ]
    )
    assert "| a |  |  | kept |" in as_markdown({**ONE, "columns": [row("a", True, "kept")]})


def test_names_and_csv():
    assert as_names({"selected": ["b\x1b", "a"]}) == "b\\x1b\na"
    assert as_csv({"columns": [RESULT["columns"][0], RESULT["columns"][2]]}).splitlines() == [
        "column,selected,importance,pvalue,reason,redundant_with",
        "a,True,0.12345,0.001234,kept,",
        f"'=c,False,,,{NO_LINK},a; b",
    ]


@pytest.mark.parametrize(
    ("format", "printed"),
    [
        ("json", json.dumps(ONE, indent=2) + "\n"),
        ("names", "a\n"),
        ("csv", as_csv(ONE) + "\n"),
        ("markdown", as_markdown(ONE) + "\n"),
    ],
)
def test_formats_are_printed(capsys, format, printed):
    write(ONE, format)
    assert capsys.readouterr().out == printed


def test_no_names_print_nothing(capsys):
    write(NONE, "names")
    assert capsys.readouterr().out == ""


WIDE = r"""t.csv: 2 of 7 columns were selected to predict y\n
┏━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━┓
┃ column ┃ importance ┃                      ┃ p-value ┃
┡━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━┩
│ b|<`\  │        0.5 │ ████████████████████ │    0.05 │
│ a      │     0.1235 │ █████                │  0.0012 │
└────────┴────────────┴──────────────────────┴─────────┘
"""
NARROW = r"""t.csv: 2 of 7 columns were selected to predict y\n
┏━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━┓
┃ column ┃ importance ┃ p-value ┃
┡━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━┩
│ b|<`\  │        0.5 │    0.05 │
│ a      │     0.1235 │  0.0012 │
└────────┴────────────┴─────────┘
"""


def printed_table(capsys, monkeypatch, result, width=90):
    monkeypatch.setenv("COLUMNS", str(width))
    write({**result, "test": result["test"] and "calibrated (CrossFitPPI)"}, "table")
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("width", "has_bars"), [(90, True), (89, False)])
def test_tables_have_bars_where_there_is_room(capsys, monkeypatch, width, has_bars):
    lines = printed_table(capsys, monkeypatch, RESULT, width)
    assert lines[:7] == (WIDE if has_bars else NARROW).splitlines()[:7]
    assert " ".join(line.strip() for line in lines[7:9]) == (
        "importance: mean rise in risk when the column is replaced by a random stand-in in the test rows"
    )
    assert "".join(lines[-1:]) == "At least 1 of 2 columns is related."


@pytest.mark.parametrize(
    ("importances", "bars"),
    [
        ([1.0, 0.5, 0.02], [20, 10, 1]),
        ([1.0, 0.0, None], [20, 0, 0]),
        ([-1.0, None, -2.0], [0, 0, 0]),
        ([0.0, 0.0, 0.0], [0, 0, 0]),
        ([0.51, 1.0, -1.0], [10, 20, 1]),
    ],
)
def test_bars_are_as_long_as_importances(capsys, monkeypatch, importances, bars):
    rows = [row(name, True, "kept", value) for name, value in zip("abc", importances, strict=True)]
    lines = printed_table(capsys, monkeypatch, {**BARE, "selected": list("abc"), "columns": rows})
    assert [line.count("█") for line in lines[4:7]] == bars


def test_nothing_but_the_head_of_a_table_is_emphasized(capsys, monkeypatch):
    """Not even numbers and paths in a sentence, which Rich would color in a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    lines = printed_table(capsys, monkeypatch, RESULT)
    assert [number for number, line in enumerate(lines) if "\x1b" in line] == [2]


def test_tables_of_nothing(capsys, monkeypatch):
    assert printed_table(capsys, monkeypatch, NONE) == [
        r"t.csv: 0 of 1 columns were selected to predict y\n",
        "Not selected: 1 without evidence of a link on their own.",
        "Method ppfs.",
    ]
    lines = printed_table(
        capsys, monkeypatch, {**ONE, "columns": [row("[red]:car:", True, "kept")], "selected": ["[red]:car:"]}
    )
    assert "│ [red]:car: │" in lines[4]
    assert lines[6:] == ["Method ppfs."]


@pytest.mark.parametrize(
    ("test", "name"),
    [("CrossFitPPI", "calibrated (CrossFitPPI)"), ("PPI", "paper (PPI)"), ("FisherZ", "FisherZ")],
)
def test_tests_are_called_by_their_flags(test, name):
    assert results.test_name(test) == name


def warned(kind, n):
    return [
        {"column": f"{kind}{number}", "kind": kind, "finding": f"{kind}{number} is odd.", "flag": "Drop it."}
        for number in range(n)
    ]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("identifier", "columns seem to identify the rows: NAMES. See --id; MORE"),
        ("dates", "columns are text that holds dates: NAMES. See --drop; MORE"),
        (
            "numbers-as-text",
            "columns are text that holds numbers and a few other texts: NAMES. See --na; MORE",
        ),
        ("leakage", "columns predict the target perfectly, each alone: NAMES. See --drop; MORE"),
        ("near-constant", "columns hold one value in nearly all rows: NAMES. See --drop; MORE"),
        ("copy", "columns are copies of others: NAMES. See --drop; MORE"),
    ],
)
def test_more_than_three_warnings_of_a_kind_share_a_line(kind, line):
    names = ", ".join(f"'{kind}{number}'" for number in range(4))
    more = "--format json lists them all."
    assert warning_lines([*warned(kind, 4), *warned("other", 1)]) == [
        f"4 {line}".replace("NAMES", names).replace("MORE", more),
        "other0 is odd. Drop it.",
    ]
    assert warning_lines(warned(kind, 3)) == [f"{kind}{number} is odd. Drop it." for number in range(3)]


def test_texts_are_changed_by_column_and_headings_too():
    frame = pd.DataFrame(
        {"=a": ["x", "=1"], "n": [1, 2], "t": pd.Series(["=y", None], dtype=object), "=t": [True, False]}
    )
    frame["mixed"] = pd.Series(["=1", 5], dtype=object)
    found, columns = changed_texts(frame, not_a_formula)
    assert columns == ["=a", "t", "mixed", "=t"]
    assert list(found.columns) == ["'=a", "n", "t", "'=t", "mixed"]
    assert found["'=a"].tolist() == ["x", "'=1"]
    assert found["mixed"].tolist() == ["'=1", 5]
    assert found["t"].tolist()[0] == "'=y"
    assert found["t"].isna().tolist() == [False, True]
    assert list(frame.columns) == ["=a", "n", "t", "=t", "mixed"]
    assert frame["=a"].tolist() == ["x", "=1"]
    assert changed_texts(frame[["n"]], not_a_formula)[1] == []


def test_control_characters_are_spelled_out_and_line_breaks_stay():
    assert spelled_out("a\tb\nc\r\nd\re\x1b\u202e") == "a\tb\nc\r\nd\\re\\x1b\\u202e"


COMPARED = pd.DataFrame(
    {
        "method": ["all", 'a,"b'],
        "score": [0.98765, np.nan],
        "score_error": [0.0123, np.nan],
        "n_columns": [4.0, 2.25],
        "stability": [1.0, np.nan],
        "seconds": [0.126, 2.0],
    }
)


def comparison():
    methods = [
        Of(name="all", scores=(0.9, 1.0), selected=(("a", "b"), ("a",))),
        Of(name='a,"b', scores=(), selected=()),
    ]
    return Of(
        to_frame=lambda: COMPARED,
        methods=methods,
        scoring="r2",
        model="Forest",
        task="regression",
        n_folds=2,
        n_rows=10,
        n_columns=4,
    )


def test_a_comparison_as_csv_and_markdown(capsys):
    _write(comparison(), "t.csv", "y", "csv")
    assert capsys.readouterr().out.splitlines() == [
        "method,score,score_error,n_columns,stability,seconds",
        "all,0.98765,0.0123,4.0,1.0,0.126",
        '"a,""b",,,2.25,,2.0',
    ]
    _write(comparison(), "t.csv", "y", "markdown")
    assert capsys.readouterr().out.splitlines() == [
        "| method | r2 | columns | stability | seconds |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| all | 0.988 ± 0.012 | 4.0 | 1.00 | 0.13 |",
        '| a,"b |  | 2.2 |  | 2.00 |',
    ]


def test_a_comparison_as_json(capsys):
    from ppfs import __version__

    _write(comparison(), "t.csv", "y", "json")
    text = capsys.readouterr().out
    assert text.startswith('{\n  "schema": "ppfs-comparison",\n  "schema_version": 1,\n')
    assert json.loads(text) == {
        "schema": "ppfs-comparison",
        "schema_version": 1,
        "ppfs": __version__,
        "data": "t.csv",
        "target": "y",
        "task": "regression",
        "model": "Forest",
        "scoring": "r2",
        "n_folds": 2,
        "methods": [
            {
                "method": "all",
                "score": 0.98765,
                "score_error": 0.0123,
                "n_columns": 4.0,
                "stability": 1.0,
                "seconds": 0.126,
                "scores": [0.9, 1.0],
                "selected": [["a", "b"], ["a"]],
            },
            {
                "method": 'a,"b',
                "score": None,
                "score_error": None,
                "n_columns": 2.25,
                "stability": None,
                "seconds": 2.0,
                "scores": [],
                "selected": [],
            },
        ],
    }


def test_a_comparison_as_a_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    _write(comparison(), "t\x1b.csv", "[y]:car:", "table")
    assert capsys.readouterr().out.splitlines() == [
        r"t\x1b.csv: [y]:car: predicted by Forest, 2 folds, 10 rows, 4 columns",
        "┏━━━━━━━━┳━━━━━━━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━━┳━━━━━━━━━┓",
        "┃ method ┃            r2 ┃ columns ┃ stability ┃ seconds ┃",
        "┡━━━━━━━━╇━━━━━━━━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━━╇━━━━━━━━━┩",
        "│ all    │ 0.988 ± 0.012 │     4.0 │      1.00 │    0.13 │",
        '│ a,"b   │               │     2.2 │           │    2.00 │',
        "└────────┴───────────────┴─────────┴───────────┴─────────┘",
        "r2: mean over the folds and its standard error. stability: share of columns that two folds agree on.",
        "seconds: time of one selection.",
    ]


def test_one_method_as_csv(capsys):
    one = comparison()
    one.to_frame = lambda: COMPARED[:1]
    _write(one, "t.csv", "y", "csv")
    assert capsys.readouterr().out.splitlines()[1:] == ["all,0.98765,0.0123,4.0,1.0,0.126"]


def test_the_score_of_one_fold_has_no_error(capsys):
    one = comparison()
    one.to_frame = lambda: COMPARED.assign(score_error=np.nan)
    _write(one, "t.csv", "y", "markdown")
    assert "| all | 0.988 | 4.0 | 1.00 | 0.13 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("a", "a"),
        ("a b", "a b"),
        ("a\nb", '"a\nb"'),
        ('"', '""""'),
        ("a,b", '"a,b"'),
        (np.nan, ""),
        (0.5, "0.5"),
        (3, "3"),
    ],
)
def test_cells_of_csv_are_quoted_where_they_need_it(value, cell):
    assert _csv_cell(value) == cell


SELECTED_ROWS = pd.DataFrame({"id": [1, 2], "a": ["x", "=y"], "b": [3, 4], "y": [0, 1]})


@pytest.fixture
def delivered(monkeypatch, capsys, tmp_path):
    """Deliver a result that is made by hand; return standard output and error."""

    def call(result, failure="", columns=True, **wanted):
        usual = dict.fromkeys(("output", "save", "report", "report_cv", "mlflow"))
        output = Of(**{**usual, "sufficiency": False, "format": "names", **wanted})
        asked = []

        def document(*_, with_columns=True):
            asked.append(with_columns)
            return result

        monkeypatch.setattr(delivery, "result_document", document)
        monkeypatch.setattr("ppfs.report.measure", lambda _: failure)
        data = Input(
            "t.csv", None, None, [], "y", ids=("id",), rows=FrameRead("t.csv", SELECTED_ROWS, str, [])
        )
        selector = Of(trace_=None)
        found = Delivery(selector, data, None, output, "ppfs select", 1.0)
        try:
            found.run()
        finally:
            call.asked = asked
        return capsys.readouterr()

    return call


FOUND = {"selected": ["a"], "warnings": [], "notes": [], "sufficiency": None}


def test_a_result_is_printed_and_nothing_else_is_said(delivered):
    assert delivered(FOUND) == ("a\n", "")
    # A million columns are listed only where they are shown.
    assert delivered.asked == [False]


@pytest.mark.parametrize(
    ("wanted", "with_columns"), [({"format": "json"}, True), ({"save": "s.json"}, True), ({}, False)]
)
def test_columns_are_listed_where_they_are_shown(delivered, monkeypatch, tmp_path, wanted, with_columns):
    saved = []
    monkeypatch.setattr(delivery, "save", lambda *arguments: saved.append(arguments))
    if "save" in wanted:
        wanted["save"] = tmp_path / wanted["save"]
    delivered(FOUND, **wanted)
    assert delivered.asked == [with_columns]
    assert [arguments[0] for arguments in saved] == [FOUND] * ("save" in wanted)


def test_a_selection_of_nothing_is_explained(delivered):
    notes = ["no column was selected: too few rows", "another note"]
    assert delivered({**FOUND, "selected": [], "notes": notes}) == (
        "",
        "ppfs: No column was selected: there is no evidence at this alpha that one helps to predict the target.\n"
        "ppfs: note: too few rows\n",
    )
    assert delivered({**FOUND, "notes": notes}).err == ""


def test_warnings_about_columns_come_first(delivered):
    assert delivered({**FOUND, "warnings": warned("copy", 2)}).err == (
        "ppfs: warning: copy0 is odd. Drop it.\nppfs: warning: copy1 is odd. Drop it.\n"
    )


def test_sufficiency_is_said_where_it_was_asked_for(delivered):
    result = {**FOUND, "sufficiency": {"summary": "5 % is lost"}}
    assert delivered(result).err == ""
    assert delivered(result, sufficiency=True).err == "ppfs: 5 % is lost\n"
    assert delivered(FOUND, sufficiency=True).err == ""
    assert delivered(FOUND, "it has no rows", sufficiency=True).err == "ppfs: warning: it has no rows\n"


def test_the_selected_columns_are_written_with_ids_and_target_in_the_order_of_the_file(delivered, tmp_path):
    said = delivered(FOUND, output=tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == "id,a,y\n1,x,0\n2,'=y,1\n"
    assert said.err == (
        f"ppfs: {tmp_path / 'o.csv'}: 'a' holds texts that begin like formulas; an apostrophe before each keeps "
        "spreadsheets from running it. A .parquet file has the exact texts.\n"
    )


def test_a_report_is_written_and_named(delivered, monkeypatch, tmp_path):
    written = []

    def report_of(selector, data, command, n_folds, seconds):
        written.append((command, n_folds, seconds))
        return Of(save=lambda place: place.write_text("report"))

    monkeypatch.setattr(delivery, "report_of", report_of)
    path = tmp_path / "r.md"
    assert delivered(FOUND, "no rows", report=path, report_cv=3).err == f"ppfs: Report: {path}\n"
    assert (path.read_text(), written) == ("report", [("ppfs select", 3, 1.0)])


def test_what_cannot_be_written_does_not_lose_the_selection(delivered, monkeypatch, tmp_path, capsys):
    kept = []
    monkeypatch.setattr(delivery, "save", lambda result, trace, path: kept.append((result, Path(path))))
    with pytest.raises(CannotWriteError) as raised:
        delivered(FOUND, output=tmp_path / "nowhere" / "o.csv")
    assert raised.value.where == repr(str(tmp_path / "nowhere" / "o.csv"))
    ((result, path),) = kept
    assert result == FOUND
    assert delivered.asked == [False, True]
    assert (path.name.startswith("ppfs-selection-"), path.suffix) == (True, ".json")
    printed = capsys.readouterr()
    assert printed.out == "a\n"
    assert printed.err.endswith(
        f"ppfs: The selection is saved as {str(path)!r}: ppfs apply writes its columns, ppfs explain its reasons.\n"
    )
    path.unlink()


@pytest.mark.parametrize("is_saved", [True, False])
def test_a_saved_selection_is_not_saved_again(delivered, monkeypatch, tmp_path, capsys, is_saved):
    kept = []

    def save(result, trace, path):
        kept.append(path)
        if is_saved:
            path.write_text("saved")
        elif len(kept) == 1:
            raise InputFailure("full")

    monkeypatch.setattr(delivery, "save", save)
    with pytest.raises((InputFailure, CannotWriteError)) as raised:
        delivered(FOUND, output=tmp_path / "nowhere" / "o.csv", save=tmp_path / "s.json")
    assert len(kept) == 2 - is_saved
    assert isinstance(raised.value, CannotWriteError if is_saved else InputFailure)
    for path in kept[1:]:
        path.unlink()


def test_where_nothing_can_be_saved_this_is_said(delivered, monkeypatch, tmp_path, capsys):
    places = []

    def save(result, trace, path):
        places.append(path)
        raise OSError("full")

    monkeypatch.setattr(delivery, "save", save)
    with pytest.raises(OSError, match="full"):
        delivered(FOUND, save=tmp_path / "s.json")
    assert capsys.readouterr().err == "ppfs: The selection could not be saved elsewhere either.\n"
    assert len(places) == 2
    assert not places[1].exists()


@pytest.mark.parametrize(
    ("n_folds", "seconds", "has_searched", "rows", "why"),
    [
        (0, 1.0, False, True, ""),
        (0, 1.0, False, False, ""),
        (None, 1.0, False, False, "they need the table in memory."),
        (None, 12.0, False, True, None),
        (
            None,
            12.1,
            False,
            True,
            "the search would be repeated 5 times, which takes about 60.5 s. Add --report-cv 5 to compute them.",
        ),
        (None, 99.0, True, True, None),
        (2, 99.0, False, True, None),
    ],
)
def test_why_a_report_has_no_scores(n_folds, seconds, has_searched, rows, why):
    data = Of(rows=object() if rows else None)
    assert _why_not(data, n_folds, seconds, has_searched=has_searched) == why


WRITTEN = pd.DataFrame({"a": ["x", "=1"], "=b": [1.5, 2.0]})


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("o.csv", pd.read_csv),
        ("O.CSV", pd.read_csv),
        ("o.csv.gz", pd.read_csv),
        ("o.tsv", lambda path: pd.read_csv(path, sep="\t")),
        ("o.tsv.gz", lambda path: pd.read_csv(path, sep="\t")),
        ("o.tsv.csv", pd.read_csv),
    ],
)
def test_tables_are_written_by_their_ending(tmp_path, capsys, name, read):
    asked = []

    def texts(names, has_types):
        asked.append(has_types)
        return WRITTEN[names]

    write_columns(FrameRead("t", WRITTEN, str, [], texts), ["a", "=b"], tmp_path / name)
    found = read(tmp_path / name)
    assert found.to_dict("list") == {"a": ["x", "'=1"], "'=b": [1.5, 2.0]}
    assert asked == [False]
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert "'a', '=b' hold texts that begin like formulas" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "read"),
    [("o.parquet", pd.read_parquet), ("o.feather", pd.read_feather), ("o.arrow", pd.read_feather)],
)
def test_tables_with_types_are_written_as_they_are(tmp_path, capsys, name, read):
    write_columns(FrameRead("t", WRITTEN, str, []), ["a", "=b"], tmp_path / name)
    assert read(tmp_path / name).to_dict("list") == {"a": ["x", "=1"], "=b": [1.5, 2.0]}
    assert capsys.readouterr().err == ""


def test_a_file_is_written_completely_or_not_at_all(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("old")
    with pytest.raises(CannotWriteError) as raised, replaced(path) as place:  # noqa: PT012
        assert (place.parent, place.name) == (tmp_path, f".o.csv.{os.getpid()}.csv")
        place.write_text("half")
        raise OSError(28, "No space left on device")
    assert (str(raised.value), raised.value.where) == ("No space left on device", repr(str(path)))
    assert path.read_text() == "old"
    with replaced(path) as place:
        place.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(CannotWriteError, match="unknown"), replaced(path):
        raise OSError("unknown")


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with replaced(tmp_path / "pipe") as place:
        assert place == tmp_path / "pipe"
    assert place.exists()


def test_messages_are_printable_line_by_line(capsys):
    assert printable_lines("a\x1b\nb") == "a\\x1b\nb"
    say("a\x1b\nb")
    assert capsys.readouterr() == ("", "ppfs: a\\x1b\nb\n")


class Output(io.StringIO):
    """Standard output that fails."""

    def __init__(self, error=None):
        super().__init__()
        self.error = error
        self.flushed = 0
        self.settings = {}

    def reconfigure(self, **settings):
        self.settings = settings

    def flush(self):
        self.flushed += 1
        if self.error is not None:
            raise self.error


def test_output_is_flushed_and_escapes_what_its_encoding_lacks(monkeypatch):
    output = Output()
    monkeypatch.setattr(sys, "stdout", output)
    with writing():
        pass
    assert (output.flushed, output.settings) == (1, {"errors": "backslashreplace"})


@pytest.mark.parametrize(
    ("error", "message"),
    [(None, "it is closed"), (OSError(28, "No space"), "No space"), (OSError("odd"), "odd")],
)
def test_output_that_cannot_be_written_is_an_error(monkeypatch, error, message):
    monkeypatch.setattr(sys, "stdout", None if error is None else Output(error))
    with pytest.raises(CannotWriteError) as raised, writing():
        pass
    assert (str(raised.value), raised.value.where) == (message, "standard output")


def test_a_closed_pipe_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Output(BrokenPipeError()))
    with writing():
        pass


@pytest.mark.parametrize(("is_terminal", "format"), [(True, "table"), (False, "names")])
def test_a_terminal_gets_a_table(monkeypatch, is_terminal, format):
    found = Delivery(None, None, None, Of(format="auto"), "", 1.0)
    output = Output()
    output.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdout", output)
    assert found._format == format
    assert replace(found, output=Of(format="json"))._format == "json"
