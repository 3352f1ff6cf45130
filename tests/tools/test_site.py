"""Versions of the documentation lie beside each other, and visitors get the newest release first."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site():
    return loaded(ROOT / "tools" / "site.py")


@pytest.fixture
def built(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("first", encoding="utf-8")
    (folder / "llms.txt").write_text("# ppfs", encoding="utf-8")
    return folder


def test_the_newest_release_is_what_visitors_get(site, built, tmp_path):
    pages = tmp_path / "pages"
    for name in ("dev", "0.9", "0.10", "0.2"):
        (built / "llms.txt").write_text(name, encoding="utf-8")
        site.add(built, pages, name)
    listed = json.loads((pages / "versions.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in listed] == ["dev", "0.10", "0.9", "0.2"]
    assert [one["title"] for one in listed] == ["development", "0.10 (newest)", "0.9", "0.2"]
    assert "url=0.10/" in (pages / "index.html").read_text(encoding="utf-8")
    assert (pages / "llms.txt").read_text(encoding="utf-8") == "0.10"


def test_a_version_is_replaced_and_others_are_left_alone(site, built, tmp_path):
    pages = tmp_path / "pages"
    site.add(built, pages, "dev")
    (pages / "dev" / "old.html").touch()
    (pages / "0.1").mkdir()
    (pages / "0.1" / "kept.html").touch()
    (pages / "0.1" / "llms.txt").touch()
    assert site.add(built, pages, "dev") == ["dev", "0.1"]
    assert not (pages / "dev" / "old.html").exists()
    assert (pages / "0.1" / "kept.html").exists()


@pytest.mark.parametrize("name", ["0.1.0", "../other", "latest"])
def test_other_names_are_refused(site, built, tmp_path, name):
    with pytest.raises(SystemExit, match="two numbers"):
        site.add(built, tmp_path / "pages", name)


def test_the_page_for_language_models_lists_every_page_of_the_guide():
    llms = loaded(ROOT / "docs" / "llms.py")
    docs = ROOT / "docs"
    written = llms.text(docs, "A description.")
    assert written.startswith("# ppfs\n\n> A description.\n\n## Guide\n\n- [")
    listed = [
        page
        for pages in llms.sections((docs / "index.md").read_text(encoding="utf-8")).values()
        for page in pages
    ]
    for page in listed:
        if not page.startswith("generated"):
            (line,) = (line for line in written.splitlines() if f"(_sources/{page}.md.txt)" in line)
            assert len(line.partition("): ")[2]) > 15, line
