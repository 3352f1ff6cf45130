"""The results as markdown tables, for docs/searches.md."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

MEASURES = {"precision": 2, "recall": 2, "f1": 3, "n_tests": 0, "seconds": 3}


# The tests that "auto" chooses, and the predictive ones with their names in the tables.
USUAL = ("g2", "fisher-z", "likelihood-ratio")
PREDICTIVE = {"ppi": "PPI", "cross-fit-ppi": "CrossFitPPI"}


def print_tables(path: Path) -> None:
    """Print the overviews, then one table for each problem and number of rows: means over the samples."""
    results = pd.read_csv(path)
    for name, table in overviews(results).items():
        print(f"\n{name}\n\n{table}")
    for (problem, n_rows), part in results.groupby(["problem", "n_rows"], sort=False):
        n_samples, n_targets = part["seed"].nunique(), part["n_targets"].max()
        print(f"\n{problem}, {n_rows} rows: {n_targets} targets, {n_samples} samples\n")
        print_table(part)


def overviews(results: pd.DataFrame) -> dict[str, str]:
    """Return the tables of docs/searches.md by the names of their blocks, such as "f1-500"."""
    tables = {}
    usual = results[results["test"].isin([*USUAL, *PREDICTIVE])]
    for measure, digits in (("f1", 2), ("n_tests", 0), ("seconds", 3)):
        for n_rows, part in usual.groupby("n_rows"):
            tables[f"{measure}-{n_rows}"] = overview(part, measure, digits)
    categorical = results[results["test"].isin(["g2", "chi2-moments"])]
    for n_rows, part in categorical.groupby("n_rows"):
        means = part.pivot_table(index=["search", "problem"], columns="test", values="f1", sort=False)
        gain = (means["chi2-moments"] - means["g2"]).rename("gain").reset_index()
        tables[f"gain-{n_rows}"] = overview(gain.assign(test=""), "gain", 2)
    return tables


def overview(part: pd.DataFrame, measure: str, digits: int) -> str:
    """Return one measure as a table, searches down and problems across."""
    model = part["test"].map(PREDICTIVE)
    label = part["search"].where(model.isna(), part["search"] + ", " + model)
    means = part.assign(search=label).pivot_table(
        index="search", columns="problem", values=measure, sort=False
    )
    lines = [f"| search | {' | '.join(means.columns)} |", "| --- |" + " --- |" * len(means.columns)]
    for search, row in means.iterrows():
        cells = ["" if pd.isna(value) else f"{value:,.{digits}f}" for value in row]
        lines.append(f"| {search} | {' | '.join(cells)} |")
    return "\n".join(lines)


def print_table(part: pd.DataFrame) -> None:
    """Print the means over samples, one line for each search and test, with the spread of F1."""
    groups = part.groupby(["test", "search"], sort=False)
    means, errors = groups[list(MEASURES)].mean(), groups["f1"].sem().fillna(0.0)
    print("| search | test | precision | recall | F1 | tests | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (test, search), row in means.iterrows():
        cells = [f"{row[name]:,.{digits}f}" for name, digits in MEASURES.items()]
        cells[2] += f" ± {errors[test, search]:.3f}"
        print(f"| {search} | {test} | {' | '.join(cells)} |")
