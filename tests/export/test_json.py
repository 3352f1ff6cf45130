"""A selection as JSON can be read by the command line and by other programs, and needs no search to be applied."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ppfs import PPFS
from ppfs.cli._app import app
from ppfs.exceptions import InvalidInputError
from ppfs.export import SelectedColumns, from_json, to_json


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=["age", "b m i", "c", "d", "<e>"])
    return X, (X["b m i"] + X["<e>"] + rng.normal(size=120) > 0).astype(int)


@pytest.fixture(scope="module")
def selector(frame):
    return PPFS(LogisticRegression(), n_splits=10, random_state=0).fit(*frame)


@pytest.fixture
def path(selector, tmp_path):
    return to_json(selector, tmp_path / "selection.json")


def test_the_same_columns_are_kept(frame, selector, path):
    keep = from_json(path)
    kept = keep.transform(frame[0])
    assert list(kept.columns) == selector.get_feature_names_out().tolist()
    assert kept.to_numpy() == pytest.approx(selector.transform(frame[0]))
    assert keep.get_support().tolist() == selector.support_.tolist()
    assert keep.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()


def test_columns_of_a_frame_are_found_by_name(frame, path):
    keep = from_json(path)
    turned = frame[0][frame[0].columns[::-1]].assign(more=1)
    pd.testing.assert_frame_equal(keep.transform(turned), keep.transform(frame[0]))
    assert keep.transform(pl.from_pandas(turned)).columns == keep.selected


def test_columns_of_arrays_are_found_by_place(frame, selector, path):
    keep = from_json(path)
    expected = selector.transform(frame[0])
    assert keep.transform(frame[0].to_numpy()) == pytest.approx(expected)
    assert keep.transform(sparse.csr_matrix(frame[0].to_numpy())).toarray() == pytest.approx(expected)


def test_an_array_of_another_width_is_refused(path):
    with pytest.raises(InvalidInputError, match="has 4 columns, but the table that was searched had 5"):
        from_json(path).transform(np.zeros((3, 4)))


def test_a_frame_without_a_selected_column_is_refused(frame, path):
    with pytest.raises(InvalidInputError, match="lacks 1 of the 2 selected columns: '<e>'"):
        from_json(path).transform(frame[0].drop(columns="<e>"))


def test_it_works_in_a_pipeline(frame, path):
    X, y = frame
    keep = from_json(path)
    pipeline = make_pipeline(keep, LogisticRegression()).fit(X, y)
    alone = LogisticRegression().fit(keep.transform(X), y)
    assert pipeline.predict_proba(X) == pytest.approx(alone.predict_proba(keep.transform(X)))


def test_the_command_line_reads_it(frame, selector, path, tmp_path):
    frame[0].to_csv(tmp_path / "new.csv", index=False)
    applied = CliRunner().invoke(app, ["apply", str(path), str(tmp_path / "new.csv")])
    assert applied.output.splitlines()[0] == "b m i,<e>"
    told = CliRunner().invoke(app, ["explain", "--from", str(path), "--feature", "age"])
    assert "'age' was not selected" in told.output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other"}, "is not a selection"),
        ({"schema_version": 99}, "has layout 99"),
        ({"selected": ["nothing"]}, "'nothing' is selected, but is not one of its columns"),
        ({"selected": [{}]}, "which is not the name of a column"),
        ({"columns": "all"}, "'columns' is missing or of the wrong type"),
        ({"columns": [{"column": "age"}]}, "without 'selected'"),
    ],
)
def test_a_damaged_file_is_refused(path, change, message):
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, **change}), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=message):
        from_json(path)


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000])
def test_what_is_not_json_is_refused(tmp_path, content):
    (tmp_path / "s.json").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInputError, match="cannot be read as JSON"):
        from_json(tmp_path / "s.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"There is no file .*none\.json"):
        from_json(tmp_path / "none.json")


def test_columns_can_be_given_by_hand():
    keep = SelectedColumns(["b"], ["a", "b"])
    assert keep.fit().transform([[1, 2], [3, 4]]).tolist() == [[2], [4]]
    assert keep.get_support(indices=True).tolist() == [1]


def test_nothing_of_a_selection_has_to_be_fitted():
    keep = SelectedColumns(["b"], ["a", "b"])
    tags = keep.__sklearn_tags__()
    assert (tags.requires_fit, tags.input_tags.allow_nan, tags.input_tags.sparse) == (False, True, True)
    assert keep.get_support().tolist() == [False, True]
    assert keep.get_support().dtype == bool
    assert keep.get_feature_names_out().dtype == object
    held = keep.transform(np.array([[1.0, np.nan], [np.inf, 2.0]]))
    np.testing.assert_array_equal(held, [[np.nan], [2.0]])
    assert SelectedColumns([], []).transform(np.empty((2, 0))).shape == (2, 0)
    assert keep.transform(np.array([["x", 1]], dtype=object)).tolist() == [[1]]
    assert keep.transform(sparse.csr_matrix([[1, 2]])).format == "csc"


DOCUMENT = {
    "schema": "ppfs-selection",
    "schema_version": 1,
    "ppfs": "0.9",
    "data": "t",
    "target": "y",
    "method": "PPFS",
    "task": "regression",
    "selected": ["a"],
    "columns": [{"column": "a", "selected": True, "reason": "kept"}],
    "warnings": [{"column": "a", "kind": "copy", "finding": "f", "flag": "g"}],
}
MAKE = "Make one with: ppfs select ... --save PATH, or in Python with ppfs.export.to_json."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other"}, f"'PATH' is not a selection. {MAKE}"),
        (
            {"schema_version": 2},
            "'PATH' has layout 2, but this version of ppfs reads layout 1. Select again, or use the version that wrote "
            "it: 0.9.",
        ),
        *(
            ({key: None}, f"'PATH' is damaged: {key!r} is missing or of the wrong type. Select again.")
            for key in ("data", "target", "method", "task", "selected", "columns", "warnings")
        ),
        *(
            (
                {"columns": [{**DOCUMENT["columns"][0], key: None}]},
                f"'PATH' is damaged: 'columns' holds an entry without {key!r}. Select again.",
            )
            for key in ("column", "selected", "reason")
        ),
        *(
            (
                {"warnings": [{**DOCUMENT["warnings"][0], key: None}]},
                f"'PATH' is damaged: 'warnings' holds an entry without {key!r}. Select again.",
            )
            for key in ("column", "kind", "finding", "flag")
        ),
        ({"warnings": ["a"]}, "'PATH' is damaged: 'warnings' holds an entry without 'column'. Select again."),
        (
            {"selected": ["a", 3]},
            "'PATH' is damaged: 'selected' holds 3, which is not the name of a column. Select again.",
        ),
        (
            {"selected": ["a", "b"]},
            "'PATH' is damaged: 'b' is selected, but is not one of its columns. Select again.",
        ),
    ],
)
def test_what_is_wrong_with_a_document_is_said_word_for_word(tmp_path, change, message):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({**DOCUMENT, **change}), encoding="utf-8")
    with pytest.raises(InvalidInputError) as raised:
        from_json(path)
    assert str(raised.value).replace(str(path), "PATH") == message
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="is not a selection"):
        from_json(path)


def test_columns_of_a_document_keep_their_order(tmp_path):
    columns = [{"column": name, "selected": True, "reason": "kept"} for name in ("b", "a", "c")]
    (tmp_path / "s.json").write_text(
        json.dumps({**DOCUMENT, "columns": columns, "selected": ["c", "b"], "warnings": []}), encoding="utf-8"
    )
    keep = from_json(tmp_path / "s.json")
    assert (keep.selected, keep.columns) == (["b", "c"], ["b", "a", "c"])


@pytest.mark.parametrize(("seed", "written"), [(7, 7), (None, None)])
def test_a_document_says_what_was_done(frame, tmp_path, monkeypatch, seed, written):
    import ppfs
    from ppfs.export import _document

    monkeypatch.setattr(_document, "result_of", lambda selector: {"selected": ["c"]})
    monkeypatch.setattr(_document, "given_with_rows", lambda selector: ("groups",))
    monkeypatch.setattr(_document, "column_rows", lambda selector: ["rows"])
    document = _document.document_of("selector", data="d", target="t", random_state=seed)
    assert document == {
        "schema": "ppfs-selection",
        "schema_version": 1,
        "ppfs": ppfs.__version__,
        "data": "d",
        "target": "t",
        "selected": ["c"],
        "given_with_rows": ["groups"],
        "random_state": written,
        "columns": ["rows"],
    }
    assert _document.document_of("selector", data="d", target="t", with_columns=False)["columns"] == []
    assert _document.written({"a": 1}, None) == '{"a": 1, "trace": null}\n'
