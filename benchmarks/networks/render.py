"""Put the latest tables into docs/searches.md.

    python benchmarks/networks/render.py

A block of the page between ``<!-- NAME -->`` and ``<!-- /NAME -->`` belongs to this script; the names are those of
`tables.overviews`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from run import RESULTS
from tables import overviews

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "benchmarks"))

from pages import fill  # noqa: E402

PAGE = REPOSITORY / "docs" / "searches.md"


def main() -> None:
    """Rewrite the page's tables."""
    filled = fill(PAGE.read_text(encoding="utf-8"), overviews(pd.read_csv(RESULTS)))
    PAGE.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
