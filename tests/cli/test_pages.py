"""The pages about the command line say what the command does."""

import importlib.util
from pathlib import Path

import pytest

from ppfs._conventions import are_bins_weighted
from ppfs.cli._page import page

DOCS = Path(__file__).parents[2] / "docs"

_spec = importlib.util.spec_from_file_location("tour", Path(__file__).with_name("tour.py"))
tour = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tour)


def test_the_page_is_the_commands_own_help():
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == page(), (
        "docs/cli.md is out of date. Run: python -m ppfs.cli._page > docs/cli.md"
    )


# Joint growth uses boosting, whose bins are others before scikit-learn 1.9.
@pytest.mark.skipif(
    not are_bins_weighted(), reason="this scikit-learn makes other bins than that of the page"
)
def test_the_tour_of_the_quick_start(ppfs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    tour.write_table(tour.PAGE.read_text(encoding="utf-8"))
    commands = []
    for arguments, printed in tour.steps(tour.PAGE.read_text(encoding="utf-8")):
        result = ppfs(*tour.quicker(arguments))
        assert result.exit_code == 0, result.stderr
        assert tour.without_times(result.stdout) == tour.without_times(printed), (
            f"docs/quick-start.md is out of date at {arguments}. Run: python tests/cli/tour.py"
        )
        commands.append(arguments[0])
    assert {"select", "apply", "compare", "explain"} <= set(commands)
    assert {"kept.csv", "selection.json", "report.html"} <= {path.name for path in tmp_path.iterdir()}
