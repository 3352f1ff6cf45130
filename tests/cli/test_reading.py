"""From files and flags to the arguments of ``fit``: roles of columns, refusals and messages, word for word."""

import numpy as np
import pandas as pd
import pytest

from ppfs import RowsInTime
from ppfs.cli._failures import InputFailure, UsageFailure
from ppfs.cli._json import parsed_object
from ppfs.cli.flags.data import DataRequest
from ppfs.cli.input.columns import is_number, require_column, resolve, with_text_columns
from ppfs.cli.input.data import FrameRead, Input
from ppfs.cli.input.large import is_text, is_too_large
from ppfs.cli.input.reading import read, read_frame

USUAL = {
    **dict.fromkeys(
        ("sep", "encoding", "decimal", "sheet", "dataset", "event", "exposure", "groups", "time")
    ),
    **dict.fromkeys(("lags", "weights")),
    **dict.fromkeys(("stream", "each_lag", "drop_missing_target"), False),
    **dict.fromkeys(("na", "drop", "id"), ()),
    "gap": 0,
    "target": "y",
}


def asked(data, **changed):
    return DataRequest(**{**USUAL, "data": None if data is None else str(data), **changed})


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def refused(file):
    """Return the exit code and the message for a file and flags."""

    def call(content, name="t.csv", **changed):
        path = None if content is None else file(content, name)
        with pytest.raises((InputFailure, UsageFailure)) as raised:
            read(asked(path, **changed))
        message = raised.value.message
        return raised.value.exit_code, message if path is None else message.replace(str(path), "PATH")

    return call


PLAIN = "a,b,y\n1,2,0\n3,4,1\n"
EXAMPLE = "for example: ppfs select data.csv --target price"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gap": 1}, "--gap has no effect: it needs --time. Leave it out."),
        ({"lags": "1"}, "--lags has no effect: it needs --time. Leave it out."),
        ({"each_lag": True}, "--each-lag has no effect: it needs --lags. Leave it out."),
        ({"time": "index", "each_lag": True}, "--each-lag has no effect: it needs --lags. Leave it out."),
        ({"target": None}, f"Specify which column to predict, {EXAMPLE}"),
        ({"sheet": "one"}, "--sheet has no effect: 't.csv' is not an Excel file. Leave it out."),
        *(
            (
                {"time": "index", "lags": lags},
                f"--lags {lags}: write numbers of rows from 1 on, separated by commas, such as 1,2,7.",
            )
            for lags in ("0", "1,x", "-1", ",", "1,0")
        ),
        ({"dataset": "wdbc"}, f"Name either a file or a --dataset, {EXAMPLE}"),
        *(
            (
                {"stream": True, **flag},
                f"--{next(iter(flag))} needs the table in memory. Leave it out, or leave --stream out.",
            )
            for flag in ({"drop": ("a",)}, {"id": ("a",)}, {"lags": "1", "time": "index"})
        ),
        (
            {"stream": True, "sheet": "x"},
            "--sheet has no effect: Excel files are not streamed. Leave it out.",
        ),
    ],
)
def test_misused_flags_are_refused(refused, changed, message):
    assert refused(PLAIN, **changed) == (2, message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": None}, f"Name either a file or a --dataset, {EXAMPLE}"),
        (
            {"dataset": "wdbc"},
            "--target belongs to a file; the data set 'wdbc' has a target of its own. Leave it out.",
        ),
        *(
            (
                {"dataset": "wdbc", "target": None, flag: value},
                f"--{flag} has no effect: 'wdbc' is a data set of the registry. Leave it out.",
            )
            for flag, value in (
                ("sep", ";"),
                ("encoding", "x"),
                ("decimal", ","),
                ("na", ("-",)),
                ("sheet", "x"),
            )
        ),
    ],
)
def test_misused_flags_of_data_sets_are_refused(refused, changed, message):
    assert refused(None, **changed) == (2, message)


def test_a_data_set_that_does_not_exist_is_no_misuse(refused):
    assert refused(None, dataset="wdcb", target=None)[0] == 1


COLUMNS = "The columns are 'a', 'b', 'y'."


@pytest.mark.parametrize(
    ("text", "changed", "message"),
    [
        (PLAIN, {"target": "z"}, f"'t.csv' has no column 'z'. {COLUMNS}"),
        (PLAIN, {"target": "Y"}, f"'t.csv' has no column 'Y'. Did you mean 'y'? {COLUMNS}"),
        *(
            (
                PLAIN,
                {flag: ("z",) if flag in ("id", "drop") else "z"},
                f"--{flag}: 't.csv' has no column 'z'. {COLUMNS}",
            )
            for flag in ("event", "exposure", "groups", "time", "weights", "id", "drop")
        ),
        (
            "1,2\n3,4\n",
            {"target": "y"},
            "'t.csv' has no column 'y'. The columns are '1', '2'. The first row holds numbers only: does the file have "
            "a header?",
        ),
        (
            PLAIN,
            {"drop": ("b",), "id": ("a",)},
            "'t.csv' has no column apart from 'a', 'b', 'y': there is nothing to select from.",
        ),
        (
            "a,y\n1,\n2,\n",
            {},
            "The target 'y' is missing in all 2 rows of 't.csv'. Is it another column, or is a text of it read as a "
            "missing value?",
        ),
        (
            "a,y\n1,\n2,3\n",
            {},
            "The target 'y' is missing in 1 of 2 rows: line 2 of the file. Fill it in, or leave these rows out with "
            "--drop-missing-target.",
        ),
        *(
            (
                "a,w,y\n1,1,0\n2,,1\n3,,1\n",
                {flag: "w"},
                f"--{flag} w: the value is missing in lines 3, 4 of the file. Fill it in.",
            )
            for flag in ("groups", "time", "weights", "event", "exposure")
        ),
        (
            "a,e,y\n1,0,5\n2,2,6\n3,1,7\n",
            {"event": "e"},
            "--event e: the column must hold 1 where the event was observed and 0 where it was not, but it holds '0', "
            "'1', '2'. Recode it.",
        ),
        (
            "a,e,y\n" + "".join(f"1,{number},5\n" for number in range(6)),
            {"event": "e"},
            "--event e: the column must hold 1 where the event was observed and 0 where it was not, but it holds '0', "
            "'1', '2', '3', '4' and 1 more. Recode it.",
        ),
    ],
)
def test_columns_that_cannot_be_used_are_refused(refused, text, changed, message):
    assert refused(text, **changed) == (1, message)


def strays(n_numbers, *texts):
    return "a,y\n" + "".join(f"1,{value}\n" for value in (*texts, *range(n_numbers)))


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        (strays(20, "?"), False),
        (strays(21, "?"), True),
        (strays(21, *(f"t{number}" for number in range(21))), True),
        (strays(21, *(f"t{number}" for number in range(22))), False),
        (strays(30), False),
    ],
)
def test_more_than_twenty_numbers_beside_fewer_texts_are_no_classes(file, text, is_refused):
    if is_refused:
        with pytest.raises(InputFailure):
            read(asked(file(text)))
    else:
        assert len(read(asked(file(text))).y) > 20


def test_strays_are_named_with_their_rows_and_flags(refused):
    assert refused(strays(30, "?", "x", "5", "?", "-", "z")) == (
        1,
        "The target 'y' holds numbers beside '?', 'x', '-' and 1 more (lines 2, 3, 5, 6, 7 of the file). If these "
        "stand for missing values, add --na '?' --na 'x' --na '-' --drop-missing-target; otherwise write all "
        "numbers in the same way.",
    )


def test_columns_of_dates_are_refused(tmp_path):
    day = pd.Timestamp("2020-01-01")
    frame = pd.DataFrame({"d": [day, day], "e": [day - day, day - day], "x": [1, 2], "y": [0, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputFailure) as raised:
        read(asked(tmp_path / "t.parquet"))
    assert raised.value.message == (
        "'d', 'e' hold dates or times, which are neither numbers nor categories. Leave them out with --drop 'd', or "
        "turn them into days, months or weekdays first."
    )
    with pytest.raises(InputFailure, match="'e' holds dates or times, "):
        read(asked(tmp_path / "t.parquet", drop=("d",)))
    assert read(asked(tmp_path / "t.parquet", drop=("d,e",))).names == ["x"]


ROLES = "a,e,g,w,t,i,y\n1,0,5,1.5,9,x,3\n2,1,5,2.5,8,y,\n3,1,6,3.5,7,z,4\n"


def test_a_table_is_divided_into_its_parts(file):
    found = read(
        asked(
            file(ROLES),
            event="e",
            groups="g",
            weights="w",
            time="t",
            gap=2,
            id=("i",),
            drop_missing_target=True,
        )
    )
    assert (found.name, found.names, found.target, found.event, found.exposure) == (
        "t.csv",
        ["a"],
        "y",
        "e",
        None,
    )
    assert found.X.to_dict("list") == {"a": [1, 3]}
    assert found.y.to_dict("list") == {"y": [3.0, 4.0], "e": [0.0, 1.0]}
    assert set(found.y.dtypes) == {np.dtype(float)}
    assert [found.groups.tolist(), found.weights.tolist()] == [[5, 6], [1.5, 3.5]]
    assert found.time == RowsInTime(found.time.order, gap=2, lags_together=True)
    assert found.time.order.tolist() == [9, 7]
    assert found.notes == ("t.csv: 1 of 3 rows have no target and are left out",)
    assert (found.ids, found.lags, found.is_streamed) == (("i",), None, False)
    assert found.target_columns == ["y", "e"]
    assert list(found.fit_arguments()) == ["groups", "time", "sample_weight"]
    assert found.rows.written(["i", "y"], has_types=False).to_dict("list") == {
        "i": ["x", "z"],
        "y": ["3", "4"],
    }
    assert found.rows.frame["y"].tolist() == [3.0, 4.0]


def test_a_count_and_its_exposure(file):
    found = read(asked(file("a,n,y\n1,2,0\n3,4,1\n"), exposure="n"))
    assert found.y.to_dict("list") == {"y": [0.0, 1.0], "n": [2.0, 4.0]}
    assert set(found.y.dtypes) == {np.dtype(float)}
    assert (found.names, found.target_columns, found.fit_arguments()) == (["a"], ["y", "n"], {})


@pytest.mark.parametrize("changed", [{}, {"each_lag": True}])
def test_lagged_copies(file, changed):
    path = file("a,w,y\n" + "".join(f"{row},{row + 1},{row % 2}\n" for row in range(5)))
    found = read(asked(path, time="index", lags=" 1, 2,", weights="w", gap=3, **changed))
    assert list(found.X) == found.names
    assert found.X.iloc[:, 0].tolist() == [2, 3, 4]
    assert found.X.iloc[:, 1].tolist() == [1, 2, 3]
    assert found.X.iloc[:, 2].tolist() == [0, 1, 2]
    assert found.X.index.tolist() == found.y.index.tolist() == [0, 1, 2]
    assert found.y.tolist() == [0, 1, 0]
    assert found.weights.tolist() == [3, 4, 5]
    assert (found.time.gap, found.time.lags_together) == (3, not changed)
    assert list(found.rows.frame) == ["a", "w", "y", *found.names[1:]]
    assert found.rows.frame.iloc[:, 3:].to_numpy().tolist() == [[1, 0], [2, 1], [3, 2]]
    assert found.rows.texts is None
    assert found.notes == ("t.csv: the first 2 rows have no past and are left out",)


def test_a_column_may_be_called_index(file):
    found = read(asked(file("a,index,y\n1,7,0\n3,6,1\n"), time="index"))
    assert (found.names, found.time.order.tolist()) == (["a"], [7, 6])
    rows = read(asked(file(PLAIN), time="index"))
    assert (rows.names, rows.time.order) == (["a", "b"], "index")


def test_what_was_found_out_about_a_streamed_text_is_noted(file):
    place = file("a;y\n1,5;2\n2,5;3\n")
    notes = read(asked(place, stream=True)).notes
    assert len(notes) == 1
    assert notes[0].startswith("t.csv: ")
    assert read(asked(file("a,y\n1,2\n2,3\n"), stream=True)).notes == ()


def test_streamed_columns_keep_their_names(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "e": [0, 1], "g": [1, 2], "w": [1.0, 2.0], "y": [3, 4]})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    found = read(asked(path, stream=True, event="e", groups="g", weights="w", time="index", gap=1))
    assert found == Input(
        "t.parquet",
        str(path),
        ["y", "e"],
        ["a"],
        "y",
        groups="g",
        time=RowsInTime("index", gap=1),
        weights="w",
        event="e",
    )
    assert found.is_streamed
    found = read(asked(path, stream=True, drop=(), time="w"))
    assert (found.y, found.time.order, found.names) == ("y", "w", ["a", "e", "g"])
    for flag, value in (("sep", ";"), ("encoding", "x"), ("decimal", ","), ("na", ("-",))):
        with pytest.raises(UsageFailure) as raised:
            read(asked(path, stream=True, **{flag: value}))
        assert (
            raised.value.message == f"--{flag} has no effect: 't.parquet' is not a text file. Leave it out."
        )
    with pytest.raises(InputFailure, match=r"There is no file '.*nobody\.parquet'\. Check the path\.$"):
        read(asked(tmp_path / "nobody.parquet", stream=True))


def test_missing_values_and_rows_of_files_with_types(tmp_path):
    frame = pd.DataFrame({"a": ["-", "x", "?"], 1: [1, 2, 3]}, index=[5, 6, 7])
    frame.columns = ["a", "1"]
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_frame(str(tmp_path / "t.parquet"), na=["-", "?"])
    assert table.frame["a"].isna().tolist() == [True, False, True]
    assert table.frame.index.tolist() == [0, 1, 2]
    assert (table.name, table.notes, table.texts) == ("t.parquet", [], None)
    assert table.place([0]) == "row 1 of the file"
    assert table.place([0, 1, 2, 3, 4]) == "rows 1, 2, 3, 4, 5 of the file"
    assert table.place([0, 1, 2, 3, 4, 8]) == "rows 1, 2, 3, 4, 5 and 1 more of the file"
    assert table.written(["a"], has_types=False) is not table.frame
    for flag, value in (("sep", ";"), ("encoding", "x"), ("decimal", ",")):
        with pytest.raises(UsageFailure) as raised:
            read_frame(str(tmp_path / "t.parquet"), **{flag: value})
        assert raised.value.message == f"--{flag} has no effect: 't.parquet' is not a CSV file. Leave it out."


def test_rows_of_a_sheet_are_numbered_below_the_header(tmp_path):
    pytest.importorskip("openpyxl")
    pd.DataFrame({"a": [1, 2], "y": [0, None]}).to_excel(tmp_path / "t.xlsx", index=False)
    table = read_frame(str(tmp_path / "t.xlsx"))
    assert (table.place([1]), table.notes) == ("row 3 of the file", [])


def test_rows_of_json_are_numbered_from_one(file):
    assert read_frame(str(file('[{"a": 1}]', "t.json"))).place([0]) == "row 1 of the file"
    with pytest.raises(UsageFailure, match=r"--sep has no effect: 't\.json' is not a CSV file"):
        read_frame(str(file('[{"a": 1}]', "t.json")), sep=";")


@pytest.mark.parametrize(
    ("values", "names", "found"),
    [
        (["a"], ["a"], ["a"]),
        (["b, a"], ["a", "b"], ["b", "a"]),
        (["a", "a,b", "b"], ["a", "b"], ["a", "b"]),
        (['"a,b",c'], ["a,b", "c"], ["a,b", "c"]),
        (["a,b"], ["a,b", "a", "b"], ["a,b"]),
        ([""], ["a"], []),
        ([], ["a"], []),
    ],
)
def test_columns_that_a_flag_lists(values, names, found):
    assert resolve(values, names, "--drop") == found


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("1", True), ("-1.5e3", True), ("1,5", True), ("nan", True), ("a", False), ("", False)],
)
def test_headings_that_are_numbers(name, is_one):
    assert is_number(name) == is_one


def test_a_header_of_some_numbers_is_one():
    with pytest.raises(InputFailure) as raised:
        require_column("z", ["1", "b"], "--drop")
    assert raised.value.message == "--drop has no column 'z'. The columns are '1', 'b'."


def test_columns_of_categories_by_their_type():
    frame = pd.DataFrame({"n": [1.5], "t": ["x"], "b": [True], "c": pd.Categorical(["x"])})
    assert with_text_columns(frame, ["n"]) == ["t", "c", "n"]
    assert with_text_columns(object(), ["n"]) == ["n"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * 100, "'" + "x" * 100 + "' is not valid JSON (Expecting value: line 1 column 1 (char 0))"),
        ("x" * 101, "'" + "x" * 100 + "...' is not valid JSON (Expecting value: line 1 column 1 (char 0))"),
        ("[1]", "'[1]' is not a JSON object"),
    ],
)
def test_long_texts_are_cut_in_messages(text, said):
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        parsed_object(text)
    assert str(raised.value) == said + ". Write it like '{\"C\": 1}'."


def table(n_rows, values, **more):
    return Input("t", pd.DataFrame({"a": np.arange(n_rows)}), pd.Series(values), ["a"], "y", **more)


@pytest.mark.parametrize(
    ("wanted", "more", "said"),
    [
        (None, {}, "auto"),
        ("auto", {}, "auto"),
        ("regression", {}, "regression"),
        (None, {"event": "e"}, "survival"),
        ("survival", {"event": "e"}, "survival"),
        ("auto", {"exposure": "n"}, "count"),
        ("count", {"exposure": "n"}, "count"),
    ],
)
def test_the_task_that_flags_name(wanted, more, said):
    assert table(2, [0, 1], **more).said_task(wanted) == said


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"event": "e"}, "--event is for survival times, but --task is count. Leave one of them out."),
        ({"exposure": "n"}, "--exposure is for counts, but --task is survival. Leave one of them out."),
    ],
)
def test_tasks_that_flags_contradict(more, message):
    with pytest.raises(UsageFailure) as raised:
        table(2, [0, 1], **more).said_task({"event": "count", "exposure": "survival"}[next(iter(more))])
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("values", "wanted", "task"),
    [
        ([0, 1], None, "classification"),
        ([0, 1], "auto", "classification"),
        ([0, 1], "regression", "regression"),
        ([0.5, 1.5], None, "regression"),
        ([0.5, 1.5], "classification", "classification"),
        ([0, 1], "count", "regression"),
        ([0, 1], "survival", "regression"),
        ([0, 1], "ordinal", "classification"),
    ],
)
def test_the_task_of_a_target(values, wanted, task):
    assert table(2, values).task(wanted) == task


def test_labels_of_a_target():
    assert table(3, ["b", "a", "b"]).labels() == ["a", "b"]


def test_some_rows_of_a_table_without_texts():
    found = FrameRead("t", pd.DataFrame({"a": [1, 2, 3]}), str, []).only(np.array([True, False, True]))
    assert (found.frame["a"].tolist(), found.frame.index.tolist(), found.texts) == ([1, 3], [0, 1], None)


@pytest.mark.parametrize(
    ("name", "is_one"), [("a.csv", True), ("a.TSV", True), ("a.tab", True), ("a.txt", True), ("a.gz", False)]
)
def test_text_files_by_their_names(file, name, is_one):
    assert is_text(str(file("x", name))) == is_one
    assert not is_text(f"nowhere-{name}")


@pytest.mark.parametrize(("n_free", "is_large"), [(1200, False), (1201, False), (1199, True), (1198, True)])
def test_text_needs_six_times_its_size_in_half_of_the_free_memory(file, monkeypatch, n_free, is_large):
    monkeypatch.setattr("ppfs._data.available_memory", lambda: n_free)
    path = str(file(b"x" * 100))
    assert is_too_large(path) == is_large
    assert not is_too_large("-")
    assert not is_too_large(path + ".gz")
