"""The benchmark of the paper's tables: what a score is, what is compared with what, and how results are kept."""

import json
import multiprocessing
import sys
from argparse import Namespace
from math import prod

import numpy as np
import pandas as pd
import pytest
from checks.systems import needs_fork

from ppfs import PPFSCV


@pytest.fixture(scope="module")
def sets(script):
    return script("paper/sets.py")


@pytest.fixture(scope="module")
def published(script):
    return script("paper/published.py")


@pytest.fixture(scope="module")
def as_published(script, sets):
    return script("paper/as_published.py")


def test_no_column_scores_as_the_most_frequent_class(sets):
    X, y = np.zeros((6, 2)), np.array(["a", "a", "a", "b", "a", "b"])
    assert sets.score("tree", X, y, [], np.arange(4), np.array([4, 5])) == 0.5


def test_a_column_that_tells_the_class_scores_one_with_every_model(sets):
    y = np.array([0, 1] * 10)
    X = np.column_stack([np.zeros(20), y])
    for model in ("tree", "svm", "raw svm"):
        assert sets.score(model, X, y, [1], np.arange(16), np.arange(16, 20)) == 1.0


def test_every_set_of_the_paper_has_its_published_figures(sets, published):
    keys = {key for key in sets.SETS if key != "desharnais-honest"}
    assert set(published.SIZES) == keys
    assert (
        set(published.ACCURACY["tree"]) == set(published.ACCURACY["svm"]) == {one.key for one in sets.SMALL}
    )
    assert set(published.ERROR) == {one.key for one in sets.WIDE}


def test_there_are_120_settings_of_a_small_set(as_published):
    assert prod(map(len, as_published.SETTINGS.values())) * len(as_published.seeds_of("heart")) == 120


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_fit_tells_what_both_rules_select(script, sets, seed):
    methods = script("paper/methods.py")
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 6))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=60) > 0).astype(int)
    found = methods.by_rules(X, y, "tree", seed)
    for rule, name in (("best", "PPFSCV"), ("one-se", "PPFSCV one-se")):
        alone = PPFSCV(sets.judge("tree"), rule=rule, random_state=seed).fit(X, y)
        assert found[name] == np.flatnonzero(alone.support_).tolist()


def cells_of(scores):
    """Make cells from scores by method, set and seed, all of one model."""
    return pd.DataFrame(
        [
            {"set": key, "seed": seed, "method": method, "status": "done", "model": "raw svm", "score": score}
            for (method, key, seed), score in scores.items()
        ]
    )


def test_ranks_are_of_means_over_the_seeds_of_each_set(script, sets):
    tables = script("paper/tables.py")
    cells = cells_of(
        {
            ("All", "arcene", 27): 0.6,
            ("All", "arcene", 1001): 0.6,
            ("All", "dexter", 27): 0.9,
            ("L1", "arcene", 27): 0.5,
            ("L1", "arcene", 1001): 0.8,
            ("L1", "dexter", 27): 0.8,
            ("PPFS", "arcene", 27): 0.9,
            ("PPFS", "dexter", 27): 0.95,
        }
    )
    # PPFS lacks a seed and is left out; L1 has the higher mean on Arcene.
    average, _, n_blocks = tables.ranks(cells, {"arcene": (27, 1001), "dexter": (27,)})
    assert n_blocks == 2
    assert average.to_dict() == {"All": 1.5, "L1": 1.5}
    average, _, _ = tables.ranks(cells, {"arcene": (27,), "dexter": (27,)})
    assert average.to_dict() == {"PPFS": 1.0, "All": 2.0, "L1": 3.0}


def test_everything_means_further_seeds_of_the_small_sets_only(script, sets):
    run = script("paper/run.py")
    asked = {
        "sets": list(sets.SETS),
        "methods": ["All"],
        "seeds": [27, 1001],
        "published": False,
        "later": False,
        "limit": None,
    }
    chosen = list(run.cells(Namespace(all=True, **asked)))
    assert {cell.key for cell in chosen if cell.seed == 1001} == {one.key for one in sets.SMALL}
    assert {cell.key for cell in chosen if cell.seed == 27} == set(sets.SETS)
    by_name = list(run.cells(Namespace(all=False, **asked)))
    assert {cell.key for cell in by_name if cell.seed == 1001} == set(sets.SETS)


def test_a_limit_that_is_asked_for_stands_for_the_usual_one(script, sets):
    run = script("paper/run.py")
    asked = {
        "all": False,
        "sets": ["heart"],
        "methods": ["L1"],
        "seeds": [27],
        "published": False,
        "later": False,
    }
    (usual,), (patient,) = (list(run.cells(Namespace(limit=limit, **asked))) for limit in (None, 1800))
    assert (usual.limit, patient.limit) == (run.LIMIT, 1800)
    assert (usual.table, usual.place) == (patient.table, patient.place)


@pytest.fixture
def table(script, tmp_path):
    return script("paper/records.py").Records(tmp_path / "results" / "cells.jsonl", ("set", "seed"))


def test_the_last_line_of_a_cell_counts(table):
    assert table.read() == {}
    for record in ({"set": "b", "seed": 1, "x": 1}, {"set": "a", "seed": 1}, {"set": "b", "seed": 1, "x": 2}):
        table.add(record)
    assert table.read() == {("b", 1): {"set": "b", "seed": 1, "x": 2}, ("a", 1): {"set": "a", "seed": 1}}
    assert ("a", 1) in table
    assert ("a", 2) not in table


@pytest.mark.parametrize("n_bytes", range(1, 22))
def test_a_line_that_a_killed_process_did_not_finish_is_as_if_it_were_not_there(table, n_bytes):
    table.add({"set": "a", "seed": 1})
    line = json.dumps({"set": "b", "seed": 22}) + "\n"
    with table.path.open("a") as stream:
        stream.write(line[:n_bytes])
    assert list(table.read()) == [("a", 1)]
    table.add({"set": "c", "seed": 3})
    assert list(table.read()) == [("a", 1), ("c", 3)]


def test_a_damaged_line_is_not_skipped(table):
    table.add({"set": "a", "seed": 1})
    with table.path.open("a") as stream:
        stream.write('{"set": "b",\n')
    with pytest.raises(json.JSONDecodeError):
        table.read()


def _add_twenty(table, seed):
    for number in range(20):
        table.add({"set": f"{number}" * 1000, "seed": seed})


@needs_fork
def test_processes_that_write_at_once_lose_no_line(table):
    # Forked, as the benchmark's own processes are: the scripts cannot be imported by name in a fresh one.
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add_twenty, args=(table, seed)) for seed in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert {process.exitcode for process in processes} == {0}
    assert len(table.read()) == 80


def test_cells_that_are_there_are_not_run_again(script, sets, monkeypatch, tmp_path):
    run, records = script("paper/run.py"), script("paper/records.py")
    for name in ("CELLS", "PUBLISHED"):
        table = getattr(run, name)
        monkeypatch.setattr(run, name, records.Records(tmp_path / table.path.name, table.fields))
    ran = []

    def run_cell(cell):
        ran.append(cell)
        run._write(cell, {"status": "done"})
        return "done"

    monkeypatch.setattr(run, "run_cell", run_cell)
    command = ["run.py", "--sets", "heart", "--methods", "All", "PPFS", "--seeds", "27"]
    monkeypatch.setattr(sys, "argv", command)
    run.main()
    assert sorted({cell.method for cell in ran}) == ["All", "PPFS", "as published"]
    n_cells = len(ran)
    run.main()
    assert len(ran) == n_cells
    monkeypatch.setattr(sys, "argv", [*command, "--again"])
    run.main()
    assert len(ran) == 2 * n_cells


def test_the_tables_kept_in_git_hold_every_cell_once(script):
    records = script("paper/records.py")
    for table in (records.CELLS, records.PUBLISHED, records.COUNTS, records.DEFAULTS, records.SHARED_WORK):
        assert 0 < len(table.read()) == len(table.path.read_text().splitlines())
