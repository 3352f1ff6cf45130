"""A checkpoint never changes a file that ppfs did not write, and says what is wrong with a folder."""

import os
import shutil
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from checks.systems import needs_links
from hypothesis import given, settings
from hypothesis import strategies as st

from ppfs import PPFS
from ppfs.exceptions import CheckpointError, CheckpointWarning

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(20, 2))
Y = X[:, 0]


def _search(folder):
    return PPFS(n_splits=5, random_state=0, checkpoint=folder)


def _files(folder):
    """Return every file and folder below a folder, with its content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


DIGEST = "0" * 32
NAMES = st.sampled_from(
    [
        "manifest.json",
        "lock",
        "command.json",
        "fold-0-train.npz",
        f"fold-0-growth-{DIGEST}.npz",
        f"fold-0-growth-0-{DIGEST}.npz",
        f"fold-0-answers-0-{DIGEST}.npz",
        f"fold-1-growth-0-{DIGEST}.npz",
        ".manifest.json.1234",
        ".gitkeep",
        "thesis.docx",
        "data/fold-0-growth.npz",
        "lock/inside",
        "fold-0-x.npz/inside",
    ]
)
CONTENTS = st.one_of(
    st.binary(max_size=30),
    st.sampled_from(
        [b"{}", b"[]", b"null", b'{"format": 3}', b'{"name": "app", "version": 3}', b'{"circumstances": {}}']
    ),
)


def _write(folder, files):
    """Write files, except where one of them would have to be a folder too."""
    for name, content in files.items():
        place = folder / name
        if not place.exists() and all(parent.is_dir() or not parent.exists() for parent in place.parents):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


@given(st.dictionaries(NAMES, CONTENTS, min_size=1))
@settings(max_examples=150)
def test_a_folder_of_the_callers_is_not_touched(files):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, files)
        before = _files(folder)
        with pytest.raises(CheckpointError, match=r"new or empty folder|another folder"):
            _search(folder).fit(X, Y)
        assert _files(folder) == before


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "run"
    return folder, _search(folder).fit(X, Y).pvalues_


@contextmanager
def suppress_error_about(folder):
    try:
        yield
    except CheckpointError as error:
        if repr(str(folder)) not in str(error):
            raise


@given(files=st.dictionaries(NAMES, CONTENTS), damaged=st.integers(0, 3), content=CONTENTS)
@settings(max_examples=100)
def test_foreign_files_in_a_checkpoint_stay_as_they_are(finished, files, damaged, content):
    """The fit ends in the right answer, or in an error that names the folder."""
    original, expected = finished
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        shutil.copytree(original, folder)
        _write(folder, files)
        own = sorted(folder.glob("fold-*-*-*-*.npz"))
        if damaged < len(own) and own[damaged].is_file():
            own[damaged].write_bytes(content)
        before = _files(folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CheckpointWarning)
            with suppress_error_about(folder):
                np.testing.assert_array_equal(_search(folder).fit(X, Y).pvalues_, expected)
        after = _files(folder)
    assert {name: after[name] for name in before} == before


def test_the_folders_of_the_issue_keep_their_files(tmp_path):
    """Another program's manifest, and arrays whose name only begins like one of a checkpoint's."""
    (tmp_path / "manifest.json").write_text('{"name": "app"}', encoding="utf-8")
    np.savez(tmp_path / "fold-0-train.npz", rows=np.arange(3))
    before = _files(tmp_path)
    with pytest.raises(CheckpointError, match=r"manifest.json was not written by ppfs"):
        _search(tmp_path).fit(X, Y)
    assert _files(tmp_path) == before


def test_an_empty_name_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="checkpoint='' does not name a folder"):
        _search("").fit(X, Y)
    assert _files(tmp_path) == {}


def test_an_empty_folder_and_a_new_one_are_used(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "new" / "below"):
        assert _search(folder).fit(X, Y).n_fits_
        assert _search(folder).fit(X, Y).n_fits_ == 0


@pytest.mark.parametrize("kind", ["lock", "manifest.json", "npz"])
def test_a_folder_in_the_place_of_a_file_is_named(tmp_path, kind):
    folder = tmp_path / "run"
    _search(folder).fit(X, Y)
    place = next(folder.glob("*.npz")) if kind == "npz" else folder / kind
    place.unlink()
    place.mkdir()
    with pytest.raises(CheckpointError, match=f"{place.name}.*use another folder"):
        _search(folder).fit(X, Y)
    assert place.is_dir()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
@pytest.mark.parametrize("kind", ["manifest.json", "npz"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path, kind):
    folder = tmp_path / "run"
    _search(folder).fit(X, Y)
    place = next(folder.glob("*.npz")) if kind == "npz" else folder / kind
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(CheckpointError, match=f"{place.name}' is not a file.*use another folder"):
        _search(folder).fit(X, Y)


@needs_links
def test_a_lock_that_is_a_link_creates_nothing_elsewhere(tmp_path):
    folder = tmp_path / "run"
    _search(folder).fit(X, Y)
    (folder / "lock").unlink()
    (folder / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match=r"'lock' is a link.*use another folder"):
        _search(folder).fit(X, Y)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("is_new", [True, False])
def test_a_full_disk_is_told_at_the_first_write(tmp_path, monkeypatch, is_new):
    folder = tmp_path / "run"
    if not is_new:
        folder.mkdir()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(CheckpointError, match=r"run.*No space left.*free space"):
            _search(folder).fit(X, Y)
    assert _files(folder) == {}
    assert _search(folder).fit(X, Y).n_fits_


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid"), reason="permissions of POSIX")
@pytest.mark.parametrize("is_checkpoint", [True, False])
def test_a_read_only_folder_is_named(tmp_path, monkeypatch, is_checkpoint):
    folder = tmp_path / "run"
    folder.mkdir()
    if is_checkpoint:
        _search(folder).fit(X, Y)
        next(folder.glob("*.npz")).unlink()
    before = _files(folder)
    folder.chmod(0o500)
    if os.geteuid() == 0:
        # Permissions do not bind the superuser: let new files fail as they would for others.
        opened = Path.open

        def refused(path, mode="r", *rest, **named):
            if "x" in mode and path.parent == folder:
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, mode, *rest, **named)

        monkeypatch.setattr(Path, "open", refused)
    try:
        with pytest.raises(CheckpointError, match=r"run.*Permission denied.*Make it writable"):
            _search(folder).fit(X, Y)
    finally:
        folder.chmod(0o700)
    assert _files(folder) == before


@pytest.mark.parametrize("name", ["a\0b", "file/below", "file"])
def test_a_path_that_cannot_be_a_folder_is_named(tmp_path, name):
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(CheckpointError, match=r"use another folder|file' is a file\. Pass the path of a new"):
        _search(f"{tmp_path}/{name}").fit(X, Y)
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_a_checkpoint_of_an_older_format_is_left_alone(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format": 2, "circumstances": {"seed": "0"}}', encoding="utf-8")
    before = _files(tmp_path)
    with pytest.raises(CheckpointError, match="has format 2"):
        _search(tmp_path).fit(X, Y)
    assert _files(tmp_path) == before
