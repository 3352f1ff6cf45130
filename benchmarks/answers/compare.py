"""Compare two recordings of record.py, field by field.

    python benchmarks/answers/compare.py results/before.json after.json
    python benchmarks/answers/compare.py before.json after.json --brief   # one line per case

Ends with 1 where an answer differs that expected_changes.toml does not list, or where a case is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).parent / "expected_changes.toml"

# Stands for a field that one of the two recordings does not have.
ABSENT = "(absent)"


@dataclass(frozen=True)
class Difference:
    """One field of one case that is not the same in both recordings."""

    case: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Change:
    """An intended difference: which cases and fields, why, and how large it may be.

    Attributes
    ----------
    within : float or None
        Numbers may differ by so much, relative to the larger one; None sets no limit. Digests tell no size.
    """

    cases: tuple[str, ...]
    fields: tuple[str, ...]
    reason: str
    within: float | None = None

    def covers(self, difference: Difference) -> bool:
        """Return whether a difference was intended."""
        if not (_matches(difference.case, self.cases) and _matches(difference.field, self.fields)):
            return False
        return self.within is None or _is_close(difference.before, difference.after, self.within)


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Difference]:
    """Yield what differs, bit for bit, in the order of the first recording."""
    for case in [*before, *(case for case in after if case not in before)]:
        old, new = before.get(case), after.get(case)
        if old is None or new is None:
            yield Difference(
                case, "case", ABSENT if old is None else "recorded", ABSENT if new is None else "recorded"
            )
            continue
        for field in [*old, *(field for field in new if field not in old)]:
            # As text, so that NaN equals NaN, and 0.0 differs from -0.0.
            values = old.get(field, ABSENT), new.get(field, ABSENT)
            if json.dumps(values[0]) != json.dumps(values[1]):
                yield Difference(case, field, *values)


def read_changes(path: Path) -> list[Change]:
    """Read the intended changes."""
    entries = tomllib.loads(path.read_text()).get("change", [])
    return [
        Change(_tuple(entry["cases"]), _tuple(entry.get("fields", "*")), entry["reason"], entry.get("within"))
        for entry in entries
    ]


def report(found: list[Difference], changes: list[Change], *, brief: bool = False) -> int:
    """Print the differences and return how many were not intended."""
    reasons = Counter[str]()
    unexpected: list[Difference] = []
    for difference in found:
        reason = next((change.reason for change in changes if change.covers(difference)), None)
        if reason is None:
            unexpected.append(difference)
        else:
            reasons[reason] += 1
    for reason, count in reasons.items():
        print(f"expected, {count} fields: {reason}")
    for change in changes:
        if not any(change.covers(difference) for difference in found):
            print(f"expected, but nothing differs: {', '.join(change.cases)}: {change.reason}")
    if brief:
        for case, count in Counter(difference.case for difference in unexpected).items():
            print(f"{case}: {count} fields differ")
    else:
        for difference in unexpected:
            print(f"{difference.case}: {difference.field}:\n    {difference.before}\n    {difference.after}")
    return len(unexpected)


def _is_close(before: Any, after: Any, within: float) -> bool:
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(_is_close(one, other, within) for one, other in zip(before, after, strict=True))
    if isinstance(before, dict) and isinstance(after, dict):
        return _is_close(before["blanket"], after["blanket"], within)
    if isinstance(before, int | float) and isinstance(after, int | float):
        are_none = before != before and after != after
        return are_none or abs(before - after) <= within * max(abs(before), abs(after))
    return isinstance(before, str) and isinstance(after, str)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _tuple(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--brief", action="store_true", help="one line a case")
    parser.add_argument("--expected", type=Path, default=EXPECTED, help="the list of intended changes")
    wanted = parser.parse_args()
    before, after = (json.loads(path.read_text()) for path in (wanted.before, wanted.after))
    for name in before["about"]:
        if before["about"][name] != after["about"].get(name):
            print(f"not the same {name}: {before['about'][name]} and {after['about'].get(name)}")
    found = list(differences(before["cases"], after["cases"]))
    n_unexpected = report(found, read_changes(wanted.expected), brief=wanted.brief)
    print(f"{len(before['cases'])} cases, {len(found)} fields differ, {n_unexpected} of them not expected")
    sys.exit(n_unexpected > 0)


if __name__ == "__main__":
    main()
