"""axe-core finds no serious barrier on the report, and on five pages of the site where it was built."""

import shutil
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from ppfs import PPFS

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: run make test-a11y"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / ".venv" / "node_modules" / "axe-core" / "axe.min.js"
SITE = ROOT / "site"
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: run make test-a11y"),
    pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: run make test-a11y"),
]
PAGES = ["index.html", "quick-start.html", "p-values.html", "why.html", "api.html"]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


def barriers(browser, path, scheme):
    """Return the serious and critical findings on a page: the rule, and where it is broken first."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(path.as_uri())
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    page.close()
    return [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report(browser, tmp_path, scheme):
    X, y = load_iris(return_X_y=True, as_frame=True)
    path = tmp_path / "report.html"
    PPFS.calibrated(random_state=0).fit(X, y).report().save(path)
    assert barriers(browser, path, scheme) == []


def test_a_barrier_is_found(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><title>a</title><img src='x.png'>", encoding="utf-8")
    assert "image-alt" in [rule for rule, _ in barriers(browser, path, "light")]


@pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="the site is not built: run make test-a11y")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_site(browser, name, scheme):
    assert barriers(browser, SITE / name, scheme) == []
