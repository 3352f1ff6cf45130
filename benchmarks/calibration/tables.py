"""The results as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import pandas as pd
from blocks import by_series, read
from contenders import ORACLE, PredictiveName, is_calibrated
from effects import ORACLE_POWERS, effect_for
from problems import KINDS, LINKS, TASKS, Problem, parse
from studies import IN_POWER_CURVES, STUDIES

# In percent. The nominal level is 5; up to 7 is what 1,000 replicates can tell from it only just.
LIMIT = 7.0

# Where the oracle's power lies between these, a test should have most of it.
RATIO_POWERS = (0.5, 0.7, 0.9)


def load(path: Path) -> pd.DataFrame:
    """Return one line a series, with the axes of its problem and its rejections at 5 % in percent.

    Series stand in the order of their study, whatever order they were run in.
    """
    order = {series.key: place for place, series in enumerate(STUDIES[path.stem]())}
    records = [record for record in read(path) if record.key in order]
    rows = []
    for (contender, cell, effect), parts in by_series(records).items():
        n, problem = sum(part.n_replicates for part in parts), parse(cell)
        share = sum(part.at_05 for part in parts) / n
        rows.append(
            {
                "place": order[contender, cell, effect],
                "contender": contender,
                "problem": problem,
                **{axis: getattr(problem, axis) for axis in Problem.__dataclass_fields__},
                "effect": effect,
                "n": n,
                # Rounded, so that 70 of 1,000 are 7 % and not a hair more.
                "rate": round(100 * share, 9),
                "error": 100 * (share * (1 - share) / n) ** 0.5,
                "fits": sum(part.n_fits for part in parts) / n,
                "seconds": sum(part.seconds for part in parts) / n,
                "at_01": sum(part.at_01 for part in parts) / n,
                "histogram": [
                    sum(bins) / n
                    for bins in zip(*(map(int, part.histogram.split()) for part in parts), strict=True)
                ],
            }
        )
    return pd.DataFrame(rows).sort_values("place") if rows else pd.DataFrame()


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out a table.

    Examples
    --------
    >>> print(markdown(["a", "b"], [[1, 2]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def size_summary(sizes: pd.DataFrame) -> str:
    """One line a contender: how large its sizes are over all cells it is made for."""
    rows = []
    for contender, part in sizes.groupby("contender", sort=False):
        worst = part.loc[part["rate"].idxmax()]
        n_above = int((part["rate"] > LIMIT).sum())
        rows.append(
            [
                contender,
                len(part),
                part["n"].min(),
                f"{part['rate'].mean():.1f} %",
                f"{worst['rate']:.1f} %",
                worst["problem"].name,
                f"**{n_above}**" if n_above else 0,
                f"{1000 * part['seconds'].mean():.0f}",
            ]
        )
    header = ["test", "cells", "replicates", "mean", "largest", "in cell", f"cells above {LIMIT:g} %", "ms"]
    return markdown(header, rows)


def size_tables(sizes: pd.DataFrame) -> str:
    """One table for each task, kind of columns and link: tests down, rows and correlation across."""
    parts = []
    groups = dict(list(sizes.groupby(["task", "kind", "link"])))
    for task, kind, link in product(TASKS, KINDS, LINKS):
        if (task, kind, link) not in groups:
            continue
        part = groups[task, kind, link]
        columns = sorted(set(zip(part["n_rows"], part["corr"], strict=True)))
        rows = [
            [contender, *(_size_cell(group, *column) for column in columns)]
            for contender, group in part.groupby("contender", sort=False)
        ]
        header = ["test", *(f"n = {n_rows}, corr {corr:g}" for n_rows, corr in columns)]
        parts.append(f"**{task}, {kind} columns, {link} link**\n\n{markdown(header, rows)}")
    return "\n\n".join(parts)


def _size_cell(group: pd.DataFrame, n_rows: int, corr: float) -> str:
    cell = group[(group["n_rows"] == n_rows) & (group["corr"] == corr)]
    if cell.empty:
        return ""
    rate, error = cell["rate"].item(), cell["error"].item()
    text = f"{rate:.1f} ± {error:.1f}"
    return f"**{text}**" if rate > LIMIT else text


def cells_above(sizes: pd.DataFrame) -> str:
    """List the cells where a test that claims its level exceeds the limit, worst first."""
    claimed = sizes[sizes["contender"].map(is_calibrated)]
    above = claimed[claimed["rate"] > LIMIT].sort_values("rate", ascending=False, kind="stable")
    if above.empty:
        return f"No cell of the calibrated tests is above {LIMIT:g} % ({len(claimed)} cells)."
    listed = [
        f"- {row.contender}, {row.task}, {row.kind} columns, {row.link} link, n = {row.n_rows}, corr {row.corr:g}: "
        f"{row.rate:.1f} ± {row.error:.1f} % ({row.n} replicates)"
        for row in above.itertuples()
    ]
    return "\n".join(
        [f"{len(above)} of {len(claimed)} cells of the calibrated tests are above {LIMIT:g} %:", "", *listed]
    )


def power_tables(powers: pd.DataFrame) -> str:
    """One table for each task and number of rows: tests down, the oracle's planned power across."""
    parts = []
    for (task, n_rows), part in powers.groupby(["task", "n_rows"], sort=False):
        rows = [
            [f"{corr:g}", contender, *(_power_cell(group, power) for power in ORACLE_POWERS)]
            for (corr, contender), group in part.sort_values("corr", kind="stable").groupby(
                ["corr", "contender"], sort=False
            )
        ]
        header = ["corr", "test", *(f"oracle {100 * power:g} %" for power in ORACLE_POWERS)]
        parts.append(f"**{task}, n = {n_rows}**\n\n{markdown(header, rows)}")
    return "\n\n".join(parts)


def _power_cell(group: pd.DataFrame, power: float) -> str:
    rate = _rate_at(power, group)
    return "" if rate is None else f"{rate:.1f}"


def _rate_at(power: float, group: pd.DataFrame) -> float | None:
    """Return a test's rate in one problem, at the effect of a planned power; None where it was not run."""
    if group.empty:
        return None
    effect = f"{effect_for(power, group['problem'].iloc[0]):g}"
    found = group.loc[group["effect"] == effect, "rate"]
    return None if found.empty else float(found.item())


def power_ratios(powers: pd.DataFrame) -> str:
    """Each test's power as a share of the oracle's, at the effects where that is planned to be 50, 70 and 90 %."""
    rows = []
    for contender in (name for name in IN_POWER_CURVES if name != ORACLE):
        ratios = _ratios(powers, contender)
        if not ratios:
            continue
        worst = min(ratios, key=ratios.__getitem__)
        mean = sum(ratios.values()) / len(ratios)
        rows.append([contender, len(ratios), f"{mean:.2f}", f"{ratios[worst]:.2f}", worst])
    return markdown(["test", "effects", "share of the oracle's power, mean", "least", "in cell"], rows)


def _ratios(powers: pd.DataFrame, contender: str) -> dict[str, float]:
    """Return the ratio of powers by cell and planned power, wherever both tests were run."""
    ratios = {}
    names = powers["problem"].map(lambda problem: problem.name)
    for name, part in powers.groupby(names, sort=False):
        for power in RATIO_POWERS:
            ours = _rate_at(power, part[part["contender"] == contender])
            oracles = _rate_at(power, part[part["contender"] == ORACLE])
            if ours is not None and oracles:
                ratios[f"{name}, oracle {100 * power:g} %"] = ours / oracles
    return ratios


def fits_tables(fits: pd.DataFrame) -> str:
    """One table per task: what more splits or folds do to size and power."""
    parts = []
    for task, part in fits.groupby("task", sort=False):
        rows = []
        for contender, group in part.groupby("contender", sort=False):
            name = PredictiveName.parse(contender)
            is_null = group["effect"] == "0"
            rates = [_rate_text(group[is_null]), _rate_text(group[~is_null])]
            rows.append([name.family, name.estimator, name.count, f"{group['fits'].mean():.0f}", *rates])
        rows.sort(key=lambda row: (row[1], row[0], row[2]))
        header = ["test", "estimator", "splits or folds", "fits", "size, %", "power, %"]
        problem = part["problem"].iloc[0]
        title = f"**{task}, n = {problem.n_rows}, corr {problem.corr:g}, {part['n'].min()} replicates**"
        parts.append(f"{title}\n\n{markdown(header, rows)}")
    return "\n\n".join(parts)


def _rate_text(group: pd.DataFrame) -> str:
    return "" if group.empty else f"{group['rate'].item():.1f} ± {group['error'].item():.1f}"
