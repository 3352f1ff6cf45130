"""Where the benchmark data are, and a world in which they are nowhere."""

import os
import urllib.error
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def benchmark_data():
    """Folder with the benchmark data; tests that use it are marked `data`."""
    folder = Path(os.environ.get("PPFS_DATA") or REPOSITORY.parent / "shared" / "data")
    if not (folder / "heart.csv").is_file():
        pytest.skip(f"no benchmark data in {folder}: set PPFS_DATA")
    return folder


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No PPFS_DATA, an empty cache and no network; returns scikit-learn's data home."""
    home = tmp_path / "home"
    monkeypatch.delenv("PPFS_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(home))

    def offline(**_):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    return home
