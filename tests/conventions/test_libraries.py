"""Every message about a library that is not installed has the same form."""

import sys

import pytest

from ppfs._libraries import first_installed, imported, require_installed


def test_a_library_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    message = r"^Reading HDF5 needs h5py, which is not installed\. Run: pip install 'ppfs\[files\]'$"
    with pytest.raises(ImportError, match=message):
        imported("h5py", "Reading HDF5", "files")
    with pytest.raises(ImportError, match=message):
        require_installed("h5py", "Reading HDF5", "files")


def test_a_library_that_fails_to_load_is_named_with_the_reason(tmp_path, monkeypatch):
    (tmp_path / "broken_library.py").write_text("raise ImportError('a symbol is not found')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ImportError, match="needs broken_library, which cannot be imported: a symbol is not found"
    ):
        imported("broken_library", "Reading HDF5", "files")


def test_installed_libraries_pass():
    assert imported("json.decoder", "Reading JSON", "files") is sys.modules["json.decoder"]
    require_installed("json", "Reading JSON", "files")


def test_the_first_installed_library_is_taken():
    assert first_installed(["no_such_library", "json", "csv"], "A data frame") == "json"
    with pytest.raises(
        ImportError, match=r"A data frame needs no_such, none_such or nothing, but none is installed"
    ):
        first_installed(["no_such", "none_such", "nothing"], "A data frame")
