"""Rewrite the numbers in docs/speed.md and docs/scale.md from the results of the benchmarks.

A block of a page between ``<!-- NAME -->`` and ``<!-- /NAME -->`` belongs to this script; everything else is
written by hand. With ``--check`` nothing is written, and a page that is out of date is an error.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import compile as compiling
import cores
import growth
import large
import memory
import plan
import startup
import tall
import wide
import workers
from recording import REPOSITORY, load, machine_lines, say

sys.path.append(str(REPOSITORY / "benchmarks"))
sys.path.append(str(REPOSITORY / "benchmarks" / "peers"))

import pyimpetus

import models
from pages import fill

SPEED = REPOSITORY / "docs" / "speed.md"
SCALE = REPOSITORY / "docs" / "scale.md"


def peers_block(results: Mapping[str, Any]) -> list[str]:
    return [pyimpetus.table_of(results["sets"]), *pyimpetus.notes_of(results)]


def models_block(results: Mapping[str, Any]) -> list[str]:
    return [models.table_of(results["cells"]), *models.notes_of(results["cells"])]


def growth_block(results: Mapping[str, Any]) -> list[str]:
    axes = results["axes"]
    return [
        growth.exponents_table(axes),
        growth.timings_table(axes),
        "\n".join(machine_lines(results["machine"])),
    ]


def memory_block(results: Mapping[str, Any]) -> list[str]:
    return [*memory.tables_of(results["cases"]), "\n".join(machine_lines(results["machine"]))]


def startup_block(results: Mapping[str, Any]) -> list[str]:
    return [*startup.tables_of(results), "\n".join(machine_lines(results["machine"]))]


def wide_block(results: Mapping[str, Any]) -> list[str]:
    cases = results["cases"]
    return [
        wide.table_of(cases),
        *wide.notes_of(cases),
        wide.exponents_table(cases),
        "\n".join(machine_lines(results["machine"])),
    ]


def tall_block(results: Mapping[str, Any]) -> list[str]:
    cases = results["cases"]
    return [
        tall.table_of(cases),
        wide.exponents_table(cases, "rows"),
        "\n".join(machine_lines(results["machine"])),
    ]


def workers_block(results: Mapping[str, Any]) -> list[str]:
    return [workers.table_of(results["work"]), "\n".join(machine_lines(results["machine"]))]


def plan_cases_block(results: Mapping[str, Any]) -> list[str]:
    return [
        plan.cases_table(results["cases"]),
        "Ten more tables, which the estimates were not made for:",
        plan.cases_table(results["fresh"]),
    ]


def plan_block(results: Mapping[str, Any]) -> list[str]:
    return [plan.compared(results["rates"])]


def large_block(results: Mapping[str, Any]) -> list[str]:
    return [plan.worked_out(results["rates"]), "\n".join(machine_lines(results["machine"]))]


def compile_block(results: Mapping[str, Any]) -> list[str]:
    return [compiling.table_of(results["seconds"]), "\n".join(machine_lines(results["machine"]))]


def large_fits_block(results: Mapping[str, Any]) -> list[str]:
    return large.blocks_of(results)


def cores_block(results: Mapping[str, Any]) -> list[str]:
    dates = cores.dates_of(results)
    measured = [f"Measured in other runs: {dates}."] if dates else []
    return [cores.table_of(results), "\n".join([*machine_lines(results["machine"]), *measured])]


Blocks = dict[str, tuple[Path, Callable[[Mapping[str, Any]], list[str]]]]

#: Where the numbers of each block come from, and how they are shown.
SPEED_BLOCKS: Blocks = {
    "peers": (pyimpetus.results_path(pyimpetus.NEWEST), peers_block),
    "peers-older-scipy": (pyimpetus.results_path(pyimpetus.OLDER_SCIPY), peers_block),
    "models": (models.results_path(pyimpetus.NEWEST), models_block),
    "growth": (growth.RESULTS, growth_block),
    "memory": (memory.RESULTS, memory_block),
    "startup": (startup.RESULTS, startup_block),
    "compile": (compiling.RESULTS, compile_block),
    "cores": (cores.results_path(2), cores_block),
    "more-cores": (cores.results_path(16), cores_block),
}
SCALE_BLOCKS: Blocks = {
    "wide": (wide.RESULTS, wide_block),
    "tall": (tall.RESULTS, tall_block),
    "large-fits": (large.RESULTS, large_fits_block),
    "workers": (workers.RESULTS, workers_block),
    "plan-cases": (plan.RESULTS, plan_cases_block),
    "plan": (plan.RESULTS, plan_block),
    "large": (plan.RESULTS, large_block),
}
PAGES = {SPEED: SPEED_BLOCKS, SCALE: SCALE_BLOCKS}


def render(page: str, blocks: Blocks) -> str:
    """Return the page with every block whose results exist."""
    for name, (path, block) in blocks.items():
        if path.is_file():
            page = fill(page, {name: "\n\n".join(block(load(path)))})
        else:
            say(f"No {path.relative_to(REPOSITORY)}: the block {name!r} stays as it is.")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    arguments = parser.parse_args()
    for path, blocks in PAGES.items():
        page = path.read_text(encoding="utf-8")
        rendered = render(page, blocks)
        if arguments.check and rendered != page:
            name = path.relative_to(REPOSITORY)
            sys.exit(f"{name} does not show the latest results: run python benchmarks/scale/render.py")
        if not arguments.check:
            path.write_text(rendered, encoding="utf-8")


if __name__ == "__main__":
    main()
