"""Put the latest tables and plots into docs/paper.md.

    python benchmarks/paper/render.py

A block of the page between ``<!-- NAME -->`` and ``<!-- /NAME -->`` belongs to this script; the names are those of
`tables.everything`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plots import accuracy_against_size, critical_differences, time_needed
from tables import everything, read_cells

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "benchmarks"))

from pages import fill  # noqa: E402

PAGE = REPOSITORY / "docs" / "paper.md"
IMAGES = REPOSITORY / "docs" / "images"


def main() -> None:
    """Rewrite the page's tables and plots."""
    cells = read_cells()
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), everything(cells)), encoding="utf-8")
    accuracy_against_size(cells, IMAGES / "paper-accuracy-size.png")
    critical_differences(cells, IMAGES)
    time_needed(cells, IMAGES / "paper-time.png")


if __name__ == "__main__":
    main()
