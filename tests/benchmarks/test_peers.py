import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def pyimpetus(script):
    return script("peers/pyimpetus.py")


def test_sampled_columns_are_distinct_and_the_same_every_time(pyimpetus):
    columns = pyimpetus.sample_columns(20_000, 1000)
    assert columns.size == np.unique(columns).size == 1000
    np.testing.assert_array_equal(columns, pyimpetus.sample_columns(20_000, 1000))


def test_growth_on_a_sample_of_columns_is_scaled_to_all(pyimpetus):
    wide = pyimpetus.Comparison("arcene", 10, 500, is_wide=True)
    ours = {"seconds": 2.0, "warm fits": [2.0], "first fit": 9.0, "selected": [1], "n_fits": 3, "notes": []}
    theirs = {"seconds": 60.0, "selected": None, "versions": {"PyImpetus": "4.1.2"}}
    record = pyimpetus.conclude(wide, (100, 10_000), 1000, ours, theirs)
    assert record["PyImpetus seconds"] == 600.0
    assert record["ratio"] == 300.0
    assert record["compile seconds"] == 7.0
    table = pyimpetus.table_of({"arcene": record})
    assert "600.0 (growth)" in table
    assert "| NO " in table


def test_features_selected_by_both_are_counted(pyimpetus):
    small = pyimpetus.Comparison("sonar", 10, 100)
    ours = {
        "seconds": 0.1,
        "warm fits": [0.1],
        "first fit": 5.0,
        "selected": [1, 2],
        "n_fits": 3,
        "notes": [],
    }
    theirs = {"seconds": 20.0, "selected": [2, 3, 4], "versions": {}}
    record = pyimpetus.conclude(small, (208, 60), 60, ours, theirs)
    assert record["selected by both"] == 1
    assert "3, 2, 1" in pyimpetus.table_of({"sonar": record})


def test_a_partial_run_keeps_earlier_sets(pyimpetus, tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"sets": {"wdbc": {"ratio": 1}, "sonar": {"ratio": 2}}}))
    merged = pyimpetus.merged({"sets": {"wdbc": {"ratio": 3}}}, path)
    assert merged["sets"] == {"sonar": {"ratio": 2}, "wdbc": {"ratio": 3}}


def test_the_peer_is_told_how_to_fit_by_the_command_line(pyimpetus):
    arguments = pyimpetus.read_arguments(["--sets", "sonar", "wdbc", "--quick"])
    assert arguments.sets == ["sonar", "wdbc"]
    assert arguments.quick


def test_our_worker_prints_one_json_object():
    worker = Path(__file__).resolve().parents[2] / "benchmarks" / "peers" / "ppfs_worker.py"
    command = [sys.executable, worker, "wdbc", "--n-splits", "5", "--alpha", "0.05", "--n-warm", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["selected"]
    assert answer["seconds"] > 0


def test_sets_of_different_runs_are_told_apart(pyimpetus):
    machine = {
        "cores": 2,
        "processor": "p",
        "system": "s",
        "date": "monday",
        "load before": 0.0,
        "python": "3.11",
        "versions": {},
    }
    later = machine | {"date": "tuesday"}
    assert len(pyimpetus.runs_of({"sonar": {"machine": machine}, "wdbc": {"machine": machine}})) == 1
    runs = pyimpetus.runs_of({"sonar": {"machine": machine}, "wdbc": {"machine": later}})
    assert [run.partition(":")[0] for run in runs] == ["sonar", "wdbc"]
