"""Costs as text."""

from __future__ import annotations

from collections.abc import Sequence

from ppfs._planning.cost import Cost


def cost_lines(costs: Sequence[Cost]) -> list[str]:
    """Write costs as a table, one column for each number of workers."""
    rows = [
        ("workers", [f"{cost.n_workers:,}" for cost in costs]),
        ("fits in growth", [f"{cost.growth_fits:,.0f}" for cost in costs]),
        ("fits to count", [f"{cost.count_fits:,.0f}" if cost.count_fits else "-" for cost in costs]),
        ("fits in shrink", [f"{cost.shrink_fits:,.0f}" for cost in costs]),
        ("fits beside others", [f"{cost.beside_fits:,.0f}" if cost.beside_fits else "-" for cost in costs]),
        ("growth", [duration(cost.growth_seconds) for cost in costs]),
        ("count", [duration(cost.count_seconds) if cost.count_seconds else "-" for cost in costs]),
        ("shrink", [duration(cost.shrink_seconds) for cost in costs]),
        ("beside others", [duration(cost.beside_seconds) if cost.beside_seconds else "-" for cost in costs]),
        ("total", [duration(cost.seconds) for cost in costs]),
        ("memory", [size(cost.memory) for cost in costs]),
        ("memory per worker", [size(cost.worker_memory) if cost.n_workers > 1 else "-" for cost in costs]),
        ("network", [size(cost.network) if cost.n_workers > 1 else "-" for cost in costs]),
    ]
    widths = [max(len(cells[i]) for _, cells in rows) for i in range(len(costs))]
    return [
        f"{label:<18}  " + "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        for label, cells in rows
    ]


def duration(seconds: float) -> str:
    """Write seconds in a unit that fits.

    Examples
    --------
    >>> [duration(one) for one in (3.21, 600, 30_000, 900_000)]
    ['3.2 s', '10 min', '8.3 h', '10.4 days']
    """
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            shown = f"{seconds / unit:.0f}" if name == "min" else f"{seconds / unit:.1f}"
            return f"{shown} {name}"
    return f"{seconds / 86_400:,.1f} days"


def size(n_bytes: float) -> str:
    """Write bytes in a unit that fits.

    Examples
    --------
    >>> [size(one) for one in (3e5, 5e8, 2**31)]
    ['0.3 MiB', '477 MiB', '2.0 GiB']
    """
    if n_bytes < 2**30:
        shown = n_bytes / 2**20
        return f"{shown:.1f} MiB" if shown < 10 else f"{shown:.0f} MiB"
    return f"{n_bytes / 2**30:,.1f} GiB"
