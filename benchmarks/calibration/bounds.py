"""The bounds on the t-statistic that follow from the law of what rows share: the table of decision 101.

    python benchmarks/calibration/bounds.py     # writes it into docs/decisions/0101-what-rows-share.md

Nothing is drawn; the numbers are those of the chi-squared and normal distributions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.stats import chi2, norm

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "benchmarks"))

from pages import fill  # noqa: E402

PAGE = REPOSITORY / "docs" / "decisions" / "0101-what-rows-share.md"
LEVEL, COUNTS = 0.05, (1, 3, 6, 10, 46)


def bound(q: float) -> float:
    """Return the t-statistic that a true null exceeds with the chance LEVEL."""
    pattern = chi2.isf(LEVEL, q)
    return float((pattern - q) / np.sqrt(pattern))


def doubled_bound(q: float) -> float:
    """Return the bound of the normal distribution with the variance 2 - 1/q."""
    return float(norm.isf(LEVEL) * np.sqrt(2 - 1 / q))


def chance(statistic: float, q: float) -> float:
    """Return the chance that a true null exceeds a t-statistic."""
    root = (statistic + np.sqrt(statistic**2 + 4 * q)) / 2
    return float(chi2.sf(root**2, q))


def table() -> str:
    """Return both bounds, and how often a true null exceeds the second and that of a plain t-test."""
    rows = {
        "bound": [f"{bound(q):.2f}" for q in COUNTS],
        "bound with the factor 2 - 1/q": [f"{doubled_bound(q):.2f}" for q in COUNTS],
        "true nulls beyond the plain t-test's bound": [
            f"{100 * chance(norm.isf(LEVEL), q):.1f} %" for q in COUNTS
        ],
        "beyond that with the factor": [f"{100 * chance(doubled_bound(q), q):.1f} %" for q in COUNTS],
    }
    head = [f"| q | {' | '.join(map(str, COUNTS))} |", "| --- |" + " --- |" * len(COUNTS)]
    return "\n".join(head + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()])


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), {"bounds": table()}), encoding="utf-8")
    print(table())
