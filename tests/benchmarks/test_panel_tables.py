"""The tables of the page on p-values are made from the lines that the panel's benchmark writes."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "calibration"


@pytest.fixture
def modules(monkeypatch):
    """Load the scripts; other benchmarks have modules of the same names, so none is left behind."""
    names = [path.stem for path in FOLDER.glob("*.py")]
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("links"), importlib.import_module("panel")
    for name in names:
        sys.modules.pop(name, None)


def test_tables_are_the_same_for_a_name_and_a_number(modules):
    links, _ = modules
    for cell in [*links.POWER, *links.SIZE]:
        one, again, other = links.draw(cell, 0), links.draw(cell, 0), links.draw(cell, 1)
        np.testing.assert_array_equal(one.X, again.X)
        assert (one.X != other.X).any()
        assert one.X.shape == (cell.n_rows, 1 + cell.n_given)
        assert np.unique(one.y).size >= 2


def test_a_run_continues_and_counts_every_question_once(modules, tmp_path, monkeypatch):
    links, panel = modules
    few = [links.Cell("quantity", 40, link) for link in ("none", "line")]
    monkeypatch.setattr(panel, "POWER", few)
    monkeypatch.setattr(panel, "SIZE", [])
    for n_replicates in (1, 2, 2):
        panel.run(range(n_replicates), ["panel"], tmp_path / "panel.csv")
    lines = panel.read(tmp_path / "panel.csv")
    assert [(line["cell"], line["replicate"]) for line in lines] == [
        (cell.name, number) for number in "01" for cell in few
    ]
    assert all(len(line["by_model"].split()) == 4 for line in lines)
    monkeypatch.setattr(panel, "FEWEST", 2)
    assert "| quantity | 40 | normal | 2 | 2 |" in panel.size_table(tmp_path / "panel.csv")
