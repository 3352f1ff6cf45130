"""Put the latest tables into docs/p-values.md and draw its plots.

    python benchmarks/calibration/render.py             # rewrite the page's tables and the plots
    python benchmarks/calibration/render.py --print     # only print the tables

A block of the page between ``<!-- NAME -->`` and ``<!-- /NAME -->`` belongs to this script; everything else is
written by hand, and the page need not have every block. The names are size-summary, size, above, power-ratio, power,
fits, all-null, panel-power, panel-size, panel-above, made-otherwise, made-fresh, made-blind, held-out, noise,
growth-levels, confirmed, hidimstat and about. With ``--check`` nothing is written, and a page that is out of date is an
error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import all_null
import another_make
import confirmed
import growth_levels
import held_out
import made_otherwise
import noise
import panel
from plots import write_plots
from provenance import kept_description
from tables import (
    cells_above,
    fits_tables,
    load,
    power_ratios,
    power_tables,
    size_summary,
    size_tables,
)

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / "benchmarks"), str(REPOSITORY / "benchmarks" / "peers")]

import hidimstat_run  # noqa: E402

from pages import fill  # noqa: E402

PAGE = REPOSITORY / "docs" / "p-values.md"
IMAGES = REPOSITORY / "docs" / "images"
RESULTS = Path(__file__).parent / "results"

#: Which tables are made from the results of each study.
BLOCKS = {
    "size": {"size-summary": size_summary, "size": size_tables, "above": cells_above},
    "power": {"power-ratio": power_ratios, "power": power_tables},
    "fits": {"fits": fits_tables},
}


def texts_of(results: Path) -> dict[str, str]:
    """Return the text of every block for which there are results."""
    texts = {}
    for study, blocks in BLOCKS.items():
        frame = load(results / f"{study}.csv")
        if len(frame):
            texts |= {name: block(frame) for name, block in blocks.items()}
    null_tables = all_null.read(results / "all_null.csv")
    if null_tables:
        texts["all-null"] = all_null.table_of(null_tables)
    for name, script in (("noise", noise), ("growth-levels", growth_levels), ("confirmed", confirmed)):
        path = results / script.RESULTS.name
        if path.exists():
            texts[name] = script.table(path)
    of_panel = results / "panel.csv"
    if of_panel.exists():
        texts["panel-power"], texts["panel-size"] = panel.power_table(of_panel), panel.size_table(of_panel)
        texts["panel-above"] = panel.summary(of_panel)
    otherwise = results / "made_otherwise.csv"
    if otherwise.exists():
        texts["made-otherwise"] = made_otherwise.table(list(made_otherwise.MADE), otherwise)
        texts["made-fresh"] = made_otherwise.table(list(made_otherwise.FRESH), otherwise)
        texts["made-blind"] = made_otherwise.table(list(made_otherwise.BLIND), otherwise)
    unseen = results / held_out.RESULTS.name
    if unseen.exists():
        texts["held-out"] = made_otherwise.table(held_out.NAMES, unseen, another_make.HARD)
    if hidimstat_run.RESULTS.exists() and of_panel.exists():
        texts["hidimstat"] = hidimstat_run.table(of_panel=of_panel)
    about = kept_description(results)
    if about:
        texts["about"] = " ".join(about)
    return texts


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to fill")
    parser.add_argument("--images", type=Path, default=IMAGES, help="folder for the plots")
    parser.add_argument("--print", action="store_true", help="print the tables and write nothing")
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    options = parser.parse_args(arguments)
    texts = texts_of(options.results)
    if options.print:
        for name, text in texts.items():
            print(f"## {name}\n\n{text}\n")
        return
    page = options.page.read_text(encoding="utf-8")
    filled = fill(page, texts)
    if options.check:
        if filled != page:
            sys.exit(
                f"{options.page} does not show the latest results: run python benchmarks/calibration/render.py"
            )
        return
    options.page.write_text(filled, encoding="utf-8")
    for name in texts:
        if f"<!-- {name} -->" not in page:
            print(f"{options.page.name} has no block {name!r}.", file=sys.stderr)
    frames = [load(options.results / f"{study}.csv") for study in ("size", "power", "fits")]
    for path in write_plots(*frames, options.images):
        print(f"Written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
