"""The report in a real browser: what a reader clicks works, and nothing is asked of the network."""

import shutil
import time

import numpy as np
import pytest

from ppfs._trace.words import TOGETHER, UNDECIDED
from ppfs.report._page import html_page

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: run make test-browser"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: run make test-browser")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
HOSTILE = "<script>alert(1)</script>"
N_WIDE = 100_000


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page and fail on any request, error or dialog."""
    troubles = []

    def open_page(html):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda sent: None if sent.url == path.as_uri() else troubles.append(sent.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    assert not troubles


def summary_of(n_columns):
    rng = np.random.default_rng(0)
    names = [HOSTILE, *(f"gene {i}" for i in range(1, n_columns))]
    pvalues = rng.random(n_columns).round(6).tolist()
    return {
        "headline": f"1 of {n_columns} columns was selected",
        "lead": "There is evidence for one column.",
        "created": "2026-01-01",
        "scores": None,
        "confirmation": None,
        "sufficiency": None,
        "may_be_too_small": [],
        "detectable": None,
        "at_least": None,
        "roles": [],
        "update": None,
        "explanations": {"0": [f"{HOSTILE} was selected.", "growth: p = 0.01"]},
        "code": "selector = PPFS().fit(X, y)",
        "selected": [HOSTILE],
        "test": "PPI",
        "importance": "mean rise in risk",
        "alpha": 0.05,
        "correction": None,
        "n_questions": n_columns,
        "n_fits": 5,
        "data": {
            "n_rows": 80,
            "n_columns": n_columns,
            "n_categorical": 0,
            "target": "y",
            "task": "classification",
            "classes": [["a", 40], ["b", 40]],
            "n_classes": 2,
            "quartiles": [],
        },
        "warnings": [{"column": HOSTILE, "kind": "odd", "message": f"{HOSTILE} looks odd"}],
        "notes": ["a note"],
        "columns": {
            "column": names,
            "selected": [True, *[False] * (n_columns - 1)],
            "importance": rng.random(n_columns).round(6).tolist(),
            "importance_low": [None] * n_columns,
            "importance_high": [None] * n_columns,
            "pvalue": pvalues,
            "adjusted_pvalue": pvalues,
            "stability": [None] * n_columns,
            "marginal_pvalue": pvalues,
            "confirmed_pvalue": [None] * n_columns,
            "phase": ["growth"] * n_columns,
            "reason": ["needed", *["tells nothing on its own"] * (n_columns - 1)],
            "redundant_with": [[]] * n_columns,
        },
        "parameters": {},
        "versions": {"ppfs": "0"},
        "seed": "0",
        "command": "ppfs select",
    }


def first_cells(page):
    return page.eval_on_selector_all("#rows .row", "rows => rows.map(row => row.firstChild.textContent)")


def test_a_column_named_like_a_script_shows_as_text(opened):
    page = opened(html_page(summary_of(50), []))
    assert first_cells(page)[0] == HOSTILE
    assert page.inner_text(".kept .name") == HOSTILE


def test_the_table_sorts_both_ways_and_searches(opened):
    page = opened(html_page(summary_of(50), []))
    page.click("#head button:text-is('p')")
    ascending = page.eval_on_selector_all(
        "#rows .row", "rows => rows.map(row => Number(row.children[4].textContent))"
    )
    assert ascending == sorted(ascending)
    page.click("#head button:has-text('p ▴')")
    descending = page.eval_on_selector_all(
        "#rows .row", "rows => rows.map(row => Number(row.children[4].textContent))"
    )
    assert descending == sorted(descending, reverse=True)
    page.fill("#search", "GENE 7")
    assert first_cells(page) == ["gene 7"]
    page.fill("#search", "")
    page.check("#only")
    assert first_cells(page) == [HOSTILE]
    assert page.inner_text("#count") == "1 of 50 columns"


def test_the_theme_switches(opened):
    page = opened(html_page(summary_of(5), []))
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_nothing_is_wider_than_a_telephone(opened):
    page = opened(html_page(summary_of(5), []))
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_hundred_thousand_columns_open_and_scroll(opened):
    began = time.monotonic()
    page = opened(html_page(summary_of(N_WIDE), []))
    print(f"{N_WIDE} columns open in {time.monotonic() - began:.1f} s")
    assert len(first_cells(page)) < 60
    page.evaluate("document.getElementById('scroll').scrollTop = 1e9")
    page.wait_for_function(
        "document.querySelector('#rows .row:last-child').firstChild.textContent !== 'gene 30'"
    )
    page.click("#head button:text-is('Column')")
    page.click("#head button:has-text('Column ▴')")
    assert first_cells(page)[0] == f"gene {N_WIDE - 1}"


def test_a_row_opens_its_questions_by_mouse_and_by_keyboard(opened):
    page = opened(html_page(summary_of(5), []))
    page.click("#rows .row:first-child")
    assert page.inner_text("#detail h3") == HOSTILE
    assert "growth: p = 0.01" in page.inner_text("#detail")
    page.focus("#rows .row:nth-child(2)")
    page.keyboard.press("Enter")
    assert page.inner_text("#detail h3") == page.inner_text("#rows .row:nth-child(2) > :first-child")


@pytest.mark.parametrize("reason", [TOGETHER, UNDECIDED, "evidence of a link given the others"])
def test_no_cell_is_cut_at_desktop_width(opened, reason):
    summary = summary_of(5)
    columns = summary["columns"]
    columns["importance"] = [0.00848] * 5
    columns["importance_low"], columns["importance_high"] = [-0.00255] * 5, [0.00848] * 5
    columns["confirmed_pvalue"], columns["adjusted_pvalue"] = [2.13e-05] * 5, [2.26e-15] * 5
    columns["stability"] = columns["refits"] = [0.8] * 5
    columns["reason"] = [reason] * 5
    page = opened(html_page(summary, []))
    page.set_viewport_size({"width": 1280, "height": 800})
    cut = (
        "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth + 1 || "
        "cell.scrollHeight > cell.parentNode.clientHeight + 1).map(cell => cell.textContent)"
    )
    assert page.eval_on_selector_all("#rows .row > :not(:first-child)", cut) == []


def test_columns_without_a_value_are_not_shown(opened):
    page = opened(html_page(summary_of(5), []))
    titles = page.eval_on_selector_all("#head button", "all => all.map(one => one.textContent)")
    assert titles == ["Column", "Kept ▴", "Importance", "p alone", "p", "Why"]
