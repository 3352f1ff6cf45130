"""A run of MLflow has the parameters, the numbers, and the report and the trace as files."""

import json

import pytest
from sklearn.datasets import load_iris

from ppfs import PPFS
from ppfs.exceptions import InvalidInputError
from ppfs.export import from_json, log_to_mlflow, mlflow_run

mlflow = pytest.importorskip("mlflow", exc_type=ImportError)


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """A store of files, which needs no database."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield tmp_path
    mlflow.set_tracking_uri(before)


def fetched(run, name, place):
    return mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path=name, dst_path=str(place)
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_run_has_everything(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = PPFS(n_splits=10, random_state=0)
    with mlflow_run(selector, run_name="iris") as run:
        selector.fit(X, y)
    logged = mlflow.get_run(run.info.run_id)
    assert logged.data.params["ppfs.search"] == "PPFS"
    assert logged.data.params["ppfs.n_splits"] == "10"
    assert logged.data.metrics["ppfs.n_selected"] == selector.support_.sum()
    assert logged.data.metrics["ppfs.n_columns"] == 4
    keep = from_json(fetched(run, "ppfs/selection.json", tmp_path))
    assert keep.selected == selector.get_feature_names_out().tolist()
    with open(fetched(run, "ppfs/report.json", tmp_path), encoding="utf-8") as opened:
        assert json.load(opened)["selected"] == keep.selected
    page = fetched(run, "ppfs/report.html", tmp_path)
    with open(page, encoding="utf-8") as opened:
        assert "petal" in opened.read()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_an_unfitted_selector_is_refused():
    selector = PPFS()
    with pytest.raises(InvalidInputError, match="was not fitted inside the block"), mlflow_run(selector):
        pass


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_it_logs_to_the_active_run():
    X, y = load_iris(return_X_y=True)
    selector = PPFS(n_splits=5, random_state=0).fit(X, y)
    with mlflow.start_run() as run:
        log_to_mlflow(selector)
    assert mlflow.get_run(run.info.run_id).data.metrics["ppfs.n_rows"] == 150


def test_without_mlflow_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"pip install 'ppfs\[mlflow\]'"):
        log_to_mlflow(PPFS())


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_command_line_logs_a_run(store):
    from click.testing import CliRunner

    from ppfs.cli._app import app

    X, y = load_iris(return_X_y=True, as_frame=True)
    X.assign(kind=y).to_csv(store / "iris.csv", index=False)
    asked = [
        "select",
        str(store / "iris.csv"),
        "-t",
        "kind",
        "--task",
        "classification",
        "--mlflow",
        "flowers",
    ]
    done = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert done.exit_code == 0
    (run,) = mlflow.search_runs(experiment_names=["flowers"], output_format="list")
    assert run.data.metrics["ppfs.n_columns"] == 4
    assert f"run {run.info.run_id} of experiment 'flowers'" in done.output
