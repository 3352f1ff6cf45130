"""How often the tests reject: true nulls (size), false ones (power), and as the number of fits grows.

    python benchmarks/calibration/run.py --jobs 2                      # everything, 1,000 replicates per cell
    python benchmarks/calibration/run.py --replicates 50 --n 200       # a quick look
    python benchmarks/calibration/run.py --study size --contenders 'cross-fit-*' --budget 30
    python benchmarks/calibration/run.py --estimate                    # what it would cost

Blocks of 50 replicates go to results/size.csv, power.csv and fits.csv as they are done. What is there is not run
again, so an interrupted run continues: first the cheap contenders, and all cells to 250 replicates before any gets
more. After a change to a test, --forget its name and run again. --compact joins the blocks: fewer lines to commit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from blocks import Block, Record, append, by_series, measure, merged, missing_blocks, read, write
from contenders import matches
from estimate import print_estimate
from joblib import Parallel, delayed
from problems import ROWS, TASKS, Problem
from provenance import describe, keep_description
from studies import SOME, STUDIES, Series, series_of

RESULTS = Path(__file__).parent / "results"
BLOCK_SIZE = 50


@dataclass(frozen=True)
class Selection:
    """Which part of the studies is wanted."""

    tasks: list[str]
    n_rows: list[int]
    contenders: list[str] | None

    def has(self, series: Series) -> bool:
        """Return whether a series is wanted."""
        problem: Problem = series.problem
        return (
            problem.task in self.tasks
            and problem.n_rows in self.n_rows
            and matches(series.contender, self.contenders)
        )


def todo(wanted: list[Series], path: Path, block_size: int) -> list[Block]:
    """Return the missing blocks of a study in the order they should be run.

    Series come cheapest contender first; all of them get to 250 replicates, block by block, before any goes on.
    """
    known = by_series(read(path))
    ranks: dict[str, int] = {}
    blocks = []
    for series in wanted:
        rank = ranks.setdefault(series.contender, len(ranks))
        for block in missing_blocks(series, known.get(series.key, ()), block_size):
            blocks.append((block.first >= SOME, rank, series.problem.n_rows, block.first, block))
    return [entry[-1] for entry in sorted(blocks, key=lambda entry: entry[:-1])]


def run(blocks: list[Block], path: Path, n_jobs: int, deadline: float) -> int:
    """Compute blocks until none is left or the time is over; return the number that failed."""
    n_failed = 0
    start = time.perf_counter()
    for n_done, (block, outcome) in enumerate(_outcomes(blocks, n_jobs, deadline), start=1):
        progress = f"[{n_done}/{len(blocks)}, {(time.perf_counter() - start) / 60:.1f} min]"
        if isinstance(outcome, Record):
            append(outcome, path)
            share = 100 * outcome.at_05 / outcome.n_replicates
            say(f"{progress} {block.contender:<34}{block.cell:<42}{block.effect:>8}  {share:5.1f} %  "
                f"{1000 * outcome.seconds / outcome.n_replicates:8.1f} ms")  # fmt: skip
        else:
            n_failed += 1
            say(f"{progress} {block.contender} on {block.cell} failed: {type(outcome).__name__}: {outcome}")
    return n_failed


def _outcomes(
    blocks: Iterable[Block], n_jobs: int, deadline: float
) -> Iterator[tuple[Block, Record | Exception]]:
    """Yield each block with its record or its error, as they come; after the deadline none is started."""
    in_time = (delayed(_attempt)(block) for block in blocks if time.monotonic() < deadline)
    # No more in flight than is worked on: the deadline is kept to within a block.
    pool = Parallel(n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs, batch_size=1)
    yield from pool(in_time)


def _attempt(block: Block) -> tuple[Block, Record | Exception]:
    """Compute a block; an error is reported and does not end the run."""
    try:
        return block, measure(block)
    except Exception as error:
        return block, error


def forget(patterns: list[str], path: Path) -> int:
    """Drop the records of contenders whose test has changed; return how many."""
    records = read(path)
    kept = [record for record in records if not matches(record.contender, patterns)]
    if len(kept) < len(records):
        write(kept, path)
    return len(records) - len(kept)


def say(message: str) -> None:
    """Report progress on stderr."""
    print(message, file=sys.stderr, flush=True)


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--study", nargs="+", choices=STUDIES, default=list(STUDIES), help="which studies")
    parser.add_argument("--replicates", type=int, default=1000, help="at most this many in each cell")
    parser.add_argument("--contenders", nargs="+", help="names or patterns such as 'cross-fit-*'")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="only these tasks")
    parser.add_argument("--n", nargs="+", type=int, choices=ROWS, default=list(ROWS), help="numbers of rows")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--budget", type=float, default=float("inf"), help="start nothing after this many minutes"
    )
    parser.add_argument("--block-size", type=int, default=BLOCK_SIZE, help="replicates computed at once")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--estimate", action="store_true", help="time every contender once and tell the cost")
    parser.add_argument("--forget", nargs="+", metavar="NAME", help="drop the results of these contenders")
    parser.add_argument("--compact", action="store_true", help="join blocks; not while a run is going on")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = read_arguments(arguments)
    paths = {study: options.results / f"{study}.csv" for study in options.study}
    if options.forget:
        for study, path in paths.items():
            print(f"{study}: {forget(options.forget, path)} records dropped")
        return 0
    if options.compact:
        for path in filter(Path.exists, paths.values()):
            write(merged(read(path)), path)
        return 0
    selection = Selection(options.tasks, options.n, options.contenders)
    wanted = {
        study: [series for series in series_of(study, options.replicates) if selection.has(series)]
        for study in options.study
    }
    if options.estimate:
        known = {study: by_series(read(path)) for study, path in paths.items()}
        print_estimate(wanted, known)
        return 0
    say("\n".join(describe()))
    deadline = time.monotonic() + 60 * options.budget
    n_failed = 0
    for study, path in paths.items():
        blocks = todo(wanted[study], path, options.block_size)
        say(f"{study}: {len(blocks)} blocks to run")
        if blocks:
            keep_description(options.results)
            n_failed += run(blocks, path, options.jobs, deadline)
    if n_failed:
        say(f"{n_failed} blocks failed; they will be tried again by the next run.")
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
