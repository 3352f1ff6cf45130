"""The checks of wording that `make lint` runs."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "prose.py"


@pytest.fixture(scope="module")
def prose():
    spec = importlib.util.spec_from_file_location("prose", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules["prose"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["prose"]


@pytest.fixture
def found(prose, tmp_path):
    """Return the hits in a text, as pairs of line and wording."""

    def check(text, name="page.md"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return [(hit.line, hit.found) for hit in prose.check(path, prose.word_list())]

    return check


@pytest.mark.parametrize(
    "wording",
    [
        "columns with gaps",
        "truth values",
        "five whole numbers",
        "x is no number",
        "x is no search of ppfs",
        "it was mended",
        "Whoever gets this",
        "columns that should make a person think",
        "what cannot be compared is like nothing else",
        "the separator is found out",
        "it gave way to the others",
        "one row a column",
        "5 rows a cell",
        "seconds a fit",
        "Tell whether it is sorted",
        "it asks if the file exists",
    ],
)
def test_wordings_of_the_list_are_found(found, wording):
    assert len(found(f"First line.\n\nThe second: {wording}.\n")) >= 1


@pytest.mark.parametrize(
    "wording",
    [
        "there is no file of that name",
        "it is no longer used",
        "fit a line to one column",
        "name a column of the table",
        "of one column, a row is missing",
        "gaping",
        "one cannot tell whether it is sorted",
        "a second a",
    ],
)
def test_similar_wordings_are_not_found(found, wording):
    assert found(f"The second: {wording}.\n") == []


def test_a_phrase_that_is_broken_between_lines_is_found_at_its_first_line(found):
    assert found("One.\nHere are truth\nvalues.\n") == [(2, "truth values")]


def test_code_links_and_tables_of_benchmarks_are_skipped_in_markdown(found):
    written = "<!-- size -->\n\n| gaps |\n\n<!-- /size -->"
    page = f"A `gap`, [this](0001-gaps.md).\n\n```text\ngaps\n```\n\n{written}\n\nMany gaps.\n"
    assert found(page) == [(13, "gaps")]


def test_comments_docstrings_and_messages_are_checked_in_python(found):
    module = (
        '"""Fill gaps."""\n\ngaps = 1  # Some gaps.\n\n\ndef fail(x):\n'
        '    """Use `gaps`.\n\n    >>> gaps\n    gaps\n    """\n'
        '    raise ValueError(f"{x} has gaps")\n'
    )
    assert found(module, "module.py") == [(1, "gaps"), (3, "gaps"), (12, "gaps")]


def test_a_message_that_is_broken_between_strings_is_found(found):
    assert found('x = (\n    "These are truth "\n    "values are"\n)\n', "module.py") == [
        (2, 'truth " "values')
    ]


def test_lines_can_be_allowed(found):
    page = "Some gaps. <!-- prose: allow -->\n\n<!-- prose: off -->\ngaps\n<!-- prose: on -->\n\ngaps\n"
    assert found(page) == [(7, "gaps")]


def test_hits_end_the_run_with_one_and_a_clean_page_with_zero(prose, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("Gaps.\n", encoding="utf-8")
    assert prose.main([str(page)]) == 1
    assert "page.md:1: 'Gaps'; write: missing value(s)" in capsys.readouterr().out
    page.write_text("Missing values.\n", encoding="utf-8")
    assert prose.main([str(page)]) == 0


def test_paths_of_the_list_exist_and_excluded_ones_are_left_out(prose):
    config = prose.tomllib.loads(prose.CONFIG.read_text(encoding="utf-8"))
    assert all((prose.ROOT / name).exists() for name in config["paths"])
    files = prose.files_of(config["paths"], config["exclude"])
    assert prose.ROOT / "README.md" in files
    assert prose.ROOT / "docs/cli.md" not in files
    assert prose.ROOT / "docs/glossary.md" in files
