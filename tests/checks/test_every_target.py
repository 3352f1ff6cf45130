"""What works for one kind of target works for all: rows, columns, models, checkpoints, files, commands and reports."""

from __future__ import annotations

import json
import pickle
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from checks.targets import TARGETS, N, TargetCase, every_target, every_target_of_a_file
from sklearn.base import clone

from ppfs import PPFS, PPFSCV
from ppfs.cli._app import app
from ppfs.cli._failures import run
from ppfs.exceptions import InvalidInputError
from ppfs.report import Report

pytestmark = pytest.mark.usefixtures("small_forests", "two_repeats")


def preset(case: TargetCase, **parameters: Any) -> PPFS:
    return PPFS.calibrated(task=case.task, random_state=0, **parameters)


def with_model(case: TargetCase, **parameters: Any) -> PPFS:
    return PPFS(case.model, task=case.task, n_splits=6, random_state=0, **parameters)


def fitted(selector: PPFS, case: TargetCase, X: Any = None, **rows: Any) -> PPFS:
    return selector.fit(case.X if X is None else X, case.y, **case.rows, **rows)


@cache
def found_in_memory(case: TargetCase) -> PPFS:
    return fitted(preset(case), case)


def named(case: TargetCase) -> str:
    return str(case.y.name) if case.y.ndim == 1 else ", ".join(case.y.columns)


def assert_found(selector: Any, case: TargetCase) -> None:
    assert set(case.selected) <= set(selector.get_feature_names_out())


@every_target
@pytest.mark.parametrize("selector_of", [preset, with_model])
def test_a_checkpoint_has_every_answer(case: TargetCase, selector_of: Any, tmp_path) -> None:
    first = fitted(selector_of(case, checkpoint=tmp_path / "kept"), case)
    assert_found(first, case)
    again = fitted(selector_of(case, checkpoint=tmp_path / "kept"), case)
    assert again.n_fits_ == 0
    np.testing.assert_array_equal(again.pvalues_, first.pvalues_)
    np.testing.assert_array_equal(again.blanket_, first.blanket_)


@every_target
@pytest.mark.parametrize("selector_of", [preset, with_model])
def test_rows_may_have_weights(case: TargetCase, selector_of: Any) -> None:
    weights = np.arange(N) % 3
    if selector_of is with_model and not case.takes_weights:
        with pytest.raises(InvalidInputError, match="takes no sample_weight"):
            fitted(selector_of(case), case, sample_weight=weights)
        return
    assert_found(fitted(selector_of(case), case, sample_weight=weights), case)


@every_target
@pytest.mark.parametrize("selector_of", [preset, with_model])
def test_rows_may_be_in_groups(case: TargetCase, selector_of: Any) -> None:
    if "groups" in case.rows or "time" in case.rows:
        pytest.skip("the rows are in groups already")
    assert_found(fitted(selector_of(case), case, groups=np.arange(N) // 2), case)


@every_target
def test_columns_may_have_missing_values_and_categories(case: TargetCase) -> None:
    X = case.X.assign(
        a=case.X["a"].mask(np.arange(N) % 7 == 0),
        b=pd.cut(case.X["b"], 5, labels=list("vwxyz")).astype(str),
        c=case.X["c"].mask(np.arange(N) % 5 == 0),
    )
    assert_found(fitted(preset(case), case, X), case)
    assert_found(fitted(with_model(case, impute="median"), case, X), case)


@every_target
def test_features_may_share_columns(case: TargetCase) -> None:
    if "lags" in case.rows:
        pytest.skip("columns and their copies are groups already")
    groups = {"one": ["a", "b"], "two": ["b", "c"]}
    assert_found(fitted(preset(case, feature_groups=groups), case), case)


@every_target
def test_columns_may_stay_in_a_file(case: TargetCase, tmp_path) -> None:
    path = tmp_path / "X.parquet"
    case.X.to_parquet(path)
    if "lags" in case.rows:
        with pytest.raises(InvalidInputError, match="lags"):
            fitted(preset(case), case, path)
        return
    found = fitted(preset(case), case, path)
    np.testing.assert_array_equal(found.support_, found_in_memory(case).support_)


@every_target_of_a_file
def test_the_target_may_be_in_the_file(case: TargetCase, tmp_path) -> None:
    if "lags" in case.rows:
        pytest.skip("files have no lagged copies")
    path = tmp_path / "table.parquet"
    case.table.to_parquet(path)
    rows = dict.fromkeys(case.rows, case.aside.columns[0]) if case.rows else {}
    by_name = preset(case).fit(path, named(case).split(", ") if case.y.ndim > 1 else named(case), **rows)
    assert by_name.feature_names_in_.tolist() == list("abcd")
    case.X.to_parquet(path)
    np.testing.assert_array_equal(by_name.pvalues_, fitted(preset(case), case, path).pvalues_)


@every_target
def test_a_fitted_selector_is_kept_and_reported(case: TargetCase) -> None:
    selector = found_in_memory(case)
    kept = pickle.loads(pickle.dumps(selector))  # noqa: S301
    pd.testing.assert_frame_equal(
        pd.DataFrame(kept.transform(case.X)), pd.DataFrame(selector.transform(case.X))
    )
    assert not hasattr(clone(selector), "blanket_")
    if "lags" in case.rows:
        report = selector.report(case.X, case.y, sufficiency=False, time="index")
    else:
        report = Report.with_scores(selector, case.X, case.y, cv=2, sufficiency=False, **case.rows)
    document = json.loads(report.json())
    assert document["task"] == selector.task_
    assert document["data"]["target"] == ("target" if isinstance(case.y, np.ndarray) else named(case))
    assert document["scores"] is not None


@every_target
def test_new_rows_show_what_is_still_needed(case: TargetCase) -> None:
    if case.rows:
        pytest.skip("new rows have no groups and no past")
    half = np.arange(N) < N // 2
    selector = preset(case, growth="marginal", second_look=False).fit(case.X[half], case.y[half])
    if selector.task_ == "survival":
        with pytest.raises(InvalidInputError, match="Fit again with the new rows"):
            selector.update(case.X[~half], case.y[~half])
        return
    assert selector.update(case.X[~half], case.y[~half])["b"] in ("still needed", "undecided")


@every_target
@pytest.mark.parametrize("has_model", [False, True])
def test_a_number_of_columns_can_be_chosen(case: TargetCase, has_model: bool) -> None:
    search = PPFSCV(
        case.model if has_model else None,
        selector=PPFS.calibrated(task=case.task, growth="marginal", second_look=False),
        candidates={"n_features": [None, 1]},
        cv=2,
        random_state=0,
    )
    search.fit(case.X, case.y, **case.rows)
    assert_found(search, case)
    if "lags" in case.rows:
        return
    assert search.predict(case.X).shape[0] == N
    assert search.score(case.X, case.y) > 0.1


@every_target_of_a_file
def test_the_command_line_has_every_target(case: TargetCase, tmp_path, capsys) -> None:
    path, written = tmp_path / "table.csv", tmp_path / "chosen.csv"
    case.table.to_csv(path, index=False)

    def called(*arguments: Any) -> str:
        assert run(app, [str(one) for one in arguments]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    flags = [*case.flags, "--quiet", "--format", "json"]
    found = json.loads(called("select", path, *flags, "--output", written, "--checkpoint", tmp_path / "kept"))
    assert set(case.selected) <= set(found["selected"])
    assert set(pd.read_csv(written).columns) == {*found["selected"], *named(case).split(", ")}
    again = json.loads(called("resume", tmp_path / "kept"))
    assert again["n_fits"] == 0
    assert again["selected"] == found["selected"]
    chosen = json.loads(called("select", path, *flags, "--method", "ppfs-cv"))
    assert set(case.selected) <= set(chosen["selected"])
    if "lags" in case.rows:
        return
    streamed = tmp_path / "table.parquet"
    case.table.to_parquet(streamed)
    table = pd.read_csv(StringIO(called("select", streamed, *flags[:-1], "csv", "--stream")))
    assert set(table["column"][table["selected"]]) == set(found["selected"])


@pytest.mark.parametrize("name", ["survival", "count with exposure", "lagged rows in time"])
def test_a_command_writes_a_report(name: str, tmp_path, capsys) -> None:
    """Of targets that a command makes from several columns; of others it is that of the library."""
    case, path, report = TARGETS[name], tmp_path / "table.csv", tmp_path / "report.json"
    case.table.to_csv(path, index=False)
    arguments = ["select", path, *case.flags, "--quiet", "--report", report, "--report-cv", 2]
    assert run(app, [str(one) for one in arguments]) == 0, capsys.readouterr().err
    document = json.loads(report.read_text())
    assert document["data"]["target"] == named(case)
    assert document["scores"] is not None
