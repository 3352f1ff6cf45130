import json
import subprocess
import sys
from importlib import resources

import pytest

from ppfs.datasets import list_datasets
from ppfs.datasets._registry import find_dataset, read_registry

INFOS = list(read_registry().values())


def test_the_twelve_sets_of_the_paper_are_listed():
    assert list_datasets() == (
        *("heart", "ionosphere", "sonar", "wdbc", "credit", "ecoli"),
        *("desharnais", "maxwell", "arcene", "madelon", "dexter", "dorothea"),
    )


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.name)
def test_entries_are_consistent(info):
    assert len(info.columns) == len(set(info.columns)) == info.features
    assert set(info.categorical) <= set(info.columns)
    assert info.target not in info.columns
    assert all(len(digest) == 64 for digest in info.files.values())
    assert (info.classes is None) == (info.task == "regression")
    assert info.classes is None or sum(info.classes.values()) == info.rows
    assert info.openml is None or info.openml.rows >= info.rows


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.name)
def test_openml_labels_lead_to_known_classes(info):
    labels = info.openml.labels.values() if info.openml else ()
    assert set(labels) <= set(info.classes or ())


def test_numbered_columns_are_written_out():
    assert find_dataset("sonar").columns[::59] == ("band_01", "band_60")


def test_unknown_name_lists_the_choices():
    with pytest.raises(ValueError, match=r"Unknown data set 'iris'\. Choose one of: heart, ionosphere"):
        find_dataset("iris")


def test_unknown_name_suggests_a_close_one():
    with pytest.raises(ValueError, match="Did you mean 'madelon'"):
        find_dataset("Madelone")


def test_reading_the_registry_leaves_the_file_order():
    text = resources.files("ppfs.datasets").joinpath("registry.json").read_text("utf-8")
    assert tuple(json.loads(text)) == list_datasets()


def test_loading_needs_no_data_frame_library():
    # A module set to None cannot be imported: as if it were not installed.
    code = (
        "import sys; sys.modules.update(pandas=None, polars=None)\n"
        "from ppfs.datasets import load_dataset; print(load_dataset('wdbc'))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "Dataset('wdbc', 569 x 30, classification)"
