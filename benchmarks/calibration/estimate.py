"""What the studies cost: one timed question for each contender, multiplied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from blocks import Block, Record, measure
from problems import Problem
from studies import Series


def print_estimate(
    wanted: Mapping[str, list[Series]], known: Mapping[str, Mapping[tuple[str, str, str], list[Record]]]
) -> None:
    """Time every contender by task, kind of columns and number of rows; print CPU hours in all and to go."""
    timings: dict[tuple[str, str, str, int], float] = {}
    print("| study | contender | ms, n = 200 | ms, n = 1000 | series | CPU hours | to go |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for study, all_series in wanted.items():
        total = {"hours": 0.0, "to go": 0.0}
        for contender, group in _by_contender(all_series).items():
            try:
                hours, to_go = _hours(group, known[study], timings)
            except Exception as error:
                print(f"| {study} | {contender} | cannot run: {error} | | {len(group)} | | |", flush=True)
                continue
            total["hours"] += hours
            total["to go"] += to_go
            at = [_mean_milliseconds(contender, n_rows, timings) for n_rows in (200, 1000)]
            print(f"| {study} | {contender} | {at[0]} | {at[1]} | {len(group)} | {hours:.2f} | {to_go:.2f} |",
                  flush=True)  # fmt: skip
        print(f"| {study} | all | | | {len(all_series)} | {total['hours']:.1f} | {total['to go']:.1f} |")


def _by_contender(all_series: list[Series]) -> dict[str, list[Series]]:
    groups: dict[str, list[Series]] = defaultdict(list)
    for series in all_series:
        groups[series.contender].append(series)
    return groups


def _hours(
    group: list[Series],
    known: Mapping[tuple[str, str, str], list[Record]],
    timings: dict[tuple[str, str, str, int], float],
) -> tuple[float, float]:
    """Return the hours that series of one contender take, and those that are not yet done."""
    hours = to_go = 0.0
    for series in group:
        seconds = _seconds(series.contender, series.problem, timings)
        n_done = sum(record.n_replicates for record in known.get(series.key, ()))
        hours += series.n_replicates * seconds / 3600
        to_go += max(0, series.n_replicates - n_done) * seconds / 3600
    return hours, to_go


def _seconds(contender: str, problem: Problem, timings: dict[tuple[str, str, str, int], float]) -> float:
    """Return how long one question takes; the correlation and the link hardly matter."""
    like = Problem(problem.task, problem.kind, "linear", problem.n_rows, 0.5)
    key = (contender, like.task, like.kind, like.n_rows)
    if key not in timings:
        # The first question pays for loading and compiling.
        measure(Block(contender, like.name, "0", 0, 1))
        timings[key] = measure(Block(contender, like.name, "0", 1, 1)).seconds
    return timings[key]


def _mean_milliseconds(
    contender: str, n_rows: int, timings: Mapping[tuple[str, str, str, int], float]
) -> str:
    times = [seconds for key, seconds in timings.items() if key[0] == contender and key[-1] == n_rows]
    return f"{1000 * sum(times) / len(times):.0f}" if times else ""
