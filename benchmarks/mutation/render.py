"""docs/mutation.md: how many faults the tests notice, and why the others do not matter or matter little."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from operators import Mutant

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mutation.md"
EXPLAINED = Path(__file__).parent / "survivors.toml"

sys.path.insert(0, str(ROOT / "benchmarks"))

from pages import fill  # noqa: E402

CAUGHT = ("caught", "hung")


def write_page(sample: Sequence[Mutant], trials: Mapping[str, Any]) -> None:
    """Fill the page's tables from the recorded trials of the present sample."""
    tried = [trials[mutant.key] for mutant in sample if mutant.key in trials]
    reasons = {
        entry["key"]: entry["reason"] for entry in tomllib.loads(EXPLAINED.read_text()).get("survivor", [])
    }
    texts = {"score": score_table(tried, len(sample)), "survivors": survivors_table(tried, reasons)}
    PAGE.write_text(fill(PAGE.read_text(), texts))
    unexplained = [trial.key for trial in tried if trial.outcome not in CAUGHT and trial.key not in reasons]
    print("\n".join(["not explained:", *unexplained]) if unexplained else "all survivors are explained")


def score_table(tried: Sequence[Any], n_sampled: int) -> str:
    """Return caught and all faults of each part, and in all."""
    parts: dict[str, list[bool]] = {}
    for trial in tried:
        parts.setdefault(trial.file.split("/")[0], []).append(trial.outcome in CAUGHT)
    parts["all"] = [is_caught for outcomes in list(parts.values()) for is_caught in outcomes]
    rows = [
        f"| `{part}` | {len(outcomes)} | {sum(outcomes)} | {100 * sum(outcomes) / len(outcomes):.0f} % |"
        for part, outcomes in parts.items()
        if outcomes
    ]
    head = ["| part | faults | noticed | share |", "| --- | ---: | ---: | ---: |"]
    missing = n_sampled - len(tried)
    note = [f"\n{missing} faults of the sample have not been tried."] if missing else []
    return "\n".join([*head, *rows, *note])


def survivors_table(tried: Sequence[Any], reasons: Mapping[str, str]) -> str:
    """Return every fault that no test noticed, with the reason."""
    rows = [
        f"| `{trial.file}` | `{_short(trial.before)}` | `{_short(trial.after)}` | "
        f"{reasons.get(trial.key, 'not explained')} |"
        for trial in sorted(tried, key=lambda trial: (trial.file, trial.line))
        if trial.outcome not in CAUGHT
    ]
    return "\n".join(["| file | code | fault | why no test fails |", "| --- | --- | --- | --- |", *rows])


def _short(code: str, longest: int = 60) -> str:
    line = " ".join(code.split()).replace("|", "\\|")
    return line if len(line) <= longest else f"{line[: longest - 3]}..."
