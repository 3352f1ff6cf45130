"""The pages about the command line say what the command does."""

import importlib.util
import runpy
from pathlib import Path

import pytest

from ppfs._conventions import are_bins_weighted
from ppfs.cli import _page
from ppfs.cli._page import page

DOCS = Path(__file__).parents[2] / "docs"

_spec = importlib.util.spec_from_file_location("tour", Path(__file__).with_name("tour.py"))
tour = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tour)


def test_the_page_is_the_commands_own_help():
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == page(), (
        "docs/cli.md is out of date. Run: python -m ppfs.cli._page > docs/cli.md"
    )


@pytest.mark.parametrize("name", ["__main__", "imported"])
def test_the_page_is_printed_by_the_program_only(capsys, name):
    runpy.run_path(str(Path(_page.__file__)), run_name=name)
    assert capsys.readouterr().out == (page() if name == "__main__" else "")


# Joint growth uses boosting, whose bins are others before scikit-learn 1.9.
same_bins = pytest.mark.skipif(
    not are_bins_weighted(), reason="this scikit-learn makes other bins than that of the page"
)


@pytest.fixture
def walk(ppfs, tmp_path, monkeypatch):
    """Run commands of the tour, and compare what they print with the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    page = tour.PAGE.read_text(encoding="utf-8")
    tour.write_table(page)

    def run(names, quicker):
        steps = [step for step in tour.steps(page) if step[0][0] in names]
        assert {arguments[0] for arguments, _ in steps} == names
        for arguments, printed in steps:
            result = ppfs(*quicker(arguments))
            assert result.exit_code == 0, result.stderr
            assert tour.without_times(result.stdout) == tour.without_times(printed), (
                f"docs/quick-start.md is out of date at {arguments}. Run: python tests/cli/tour.py"
            )
        return {path.name for path in tmp_path.iterdir()}

    return run


def without_report(arguments):
    place = arguments.index("--report") if "--report" in arguments else len(arguments)
    return arguments[:place] + arguments[place + 2 :]


@same_bins
def test_the_selection_of_the_quick_start(walk):
    assert {"kept.csv", "selection.json"} <= walk({"select", "apply"}, without_report)


# About twenty searches and forests of a hundred trees, for a report and a comparison. test_select.py and
# test_compare.py run the same commands on small tables.
@pytest.mark.slow
@same_bins
def test_the_tour_of_the_quick_start(walk):
    files = walk({"select", "apply", "compare", "explain"}, tour.quicker)
    assert {"kept.csv", "selection.json", "report.html"} <= files
