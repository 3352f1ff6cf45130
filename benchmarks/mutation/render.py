"""docs/mutation.md: how many faults the tests notice, and why the others do not matter or matter little."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mutation.md"
EXPLAINED = Path(__file__).parent / "survivors.toml"

sys.path.insert(0, str(ROOT / "benchmarks"))

from pages import fill  # noqa: E402

CAUGHT = ("caught", "hung")


# The share of the faults that should be noticed.
TARGET = 0.92


def write_page(
    seed: str,
    n_sampled: int,
    first: Sequence[Any],
    trials: Sequence[Any],
    by_hand: Sequence[Mapping[str, str]],
) -> None:
    """Fill the page's tables from what is recorded: the first trial of each fault, and the last."""
    reasons = {entry["key"]: entry for entry in tomllib.loads(EXPLAINED.read_text())["survivor"]}
    missed = sorted(
        (trial for trial in trials if trial.outcome not in CAUGHT), key=lambda one: (one.file, one.line)
    )
    harmless = {trial.key for trial in missed if reasons.get(trial.key, {}).get("is_equivalent")}
    texts = {
        "summary": summary(seed, first, harmless),
        "first": score_table(first, n_sampled, harmless),
        "score": score_table(trials, n_sampled, harmless),
        "equivalent": survivors_table([trial for trial in missed if trial.key in harmless], reasons),
        "survivors": survivors_table([trial for trial in missed if trial.key not in harmless], reasons),
        "by-hand": by_hand_table(by_hand),
    }
    PAGE.write_text(fill(PAGE.read_text(), texts))
    unexplained = [trial.key for trial in missed if trial.key not in reasons]
    print("\n".join(["not explained:", *unexplained]) if unexplained else "all survivors are explained")


def summary(seed: str, tried: Sequence[Any], harmless: Set[str]) -> str:
    """Return how many faults were noticed when they were first tried, in a few sentences."""
    n = len(tried)
    n_noticed = sum(trial.outcome in CAUGHT for trial in tried)
    n_harmless = sum(trial.key in harmless for trial in tried)
    of_all, of_real = n_noticed / max(1, n), n_noticed / max(1, n - n_harmless)
    verdict = (
        "reached by both"
        if of_all >= TARGET
        else "reached by the second, and missed by the first"
        if of_real >= TARGET
        else "missed by both"
    )
    return (
        f"The tables are of a sample of {n} faults over all rooms of the package, drawn with a seed that was not used "
        f"before ({seed}) on the sources and tests as they are here. Each fault met up to 30 CPU seconds of tests. "
        f"{n_noticed} were noticed at first ({100 * of_all:.1f} %). Of the other {n - n_noticed}, {n_harmless} change "
        f"no answer, so that {100 * of_real:.1f} % of those that change something were noticed. The target of "
        f"{100 * TARGET:.0f} % is {verdict} of these numbers."
    )


def score_table(tried: Sequence[Any], n_sampled: int, harmless: Set[str]) -> str:
    """Return the faults of each part: all, those that change no answer, those that were noticed."""
    parts: dict[str, list[Any]] = {}
    for trial in sorted(tried, key=lambda one: one.file):
        parts.setdefault(trial.file.split("/")[0], []).append(trial)
    parts["all"] = list(tried)
    rows = []
    for part, trials in parts.items():
        n_noticed = sum(trial.outcome in CAUGHT for trial in trials)
        n_harmless = sum(trial.key in harmless for trial in trials)
        n_real = len(trials) - n_harmless
        rows.append(
            f"| `{part}` | {len(trials)} | {n_noticed} | {n_harmless} | {n_real - n_noticed} | "
            f"{100 * n_noticed / len(trials):.1f} % | {100 * n_noticed / max(1, n_real):.1f} % |"
        )
    head = [
        "| part | faults | noticed | change nothing | not noticed | noticed of all | of those that change something |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    missing = max(0, n_sampled - len(tried))
    note = [f"\n{missing} faults of the sample have not been tried."] if missing else []
    return "\n".join([*head, *rows, *note])


def survivors_table(missed: Sequence[Any], reasons: Mapping[str, Mapping[str, Any]]) -> str:
    """Return faults that no test noticed, with the reason."""
    rows = [
        f"| `{trial.file}` | `{_short(trial.before)}` | `{_short(trial.after)}` | "
        f"{reasons.get(trial.key, {}).get('reason', 'not explained')} |"
        for trial in missed
    ]
    return "\n".join(["| file | code | fault | why no test fails |", "| --- | --- | --- | --- |", *rows])


def by_hand_table(trials: Sequence[Mapping[str, str]]) -> str:
    """Return the faults made by hand, with the first test that fails."""
    rows = [f"| {trial['key']} | {trial['outcome']} | `{_test(trial['by'])}` |" for trial in trials]
    return "\n".join(["| fault | | by |", "| --- | --- | --- |", *rows])


def _test(name: str) -> str:
    """Return a test without its folder and its case."""
    return name.split("[")[0].split("::")[-1]


def _short(code: str, longest: int = 60) -> str:
    line = " ".join(code.split()).replace("|", "\\|")
    return line if len(line) <= longest else f"{line[: longest - 3]}..."
