"""A thousand random fits: each ends in an answer that the slow path confirms, or in an error of this package.

    python benchmarks/soak/soak.py                 # 1,000 fits, a process for every 50: a crash is one of the outcomes
    python benchmarks/soak/soak.py --only 217      # one of them, with what it is
    python benchmarks/soak/soak.py render          # the table of docs/reliability.md

A number draws the data, their kinds, forms and units, the search, its parameters, and in three of ten cases a fault.
What is recorded is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results" / "fits.jsonl"

sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402
from confirm import disagreement  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import ConvergenceWarning, NotFittedError  # noqa: E402
from soak_cases import FAULTS as FAULTS  # noqa: E402
from soak_cases import case  # noqa: E402

from pages import fill  # noqa: E402
from ppfs import exceptions  # noqa: E402

OWN_ERRORS = tuple(
    error
    for name in exceptions.__all__
    if issubclass(error := getattr(exceptions, name), Exception) and not issubclass(error, Warning)
)
AT_ONCE = 50
ENDS = ("confirmed", "error")
FITTED = ("pvalues_", "importances_", "scores_")


def outcome_of(number: int) -> dict[str, Any]:
    """Fit one case and say how it ended: "confirmed", "error" (one of this package), or what went wrong."""
    drawn = case(number)
    record = {"number": number, "kind": drawn.kind, "fault": drawn.fault}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        end, detail = _end_of(drawn)
    strange = [str(w.message) for w in told if not _is_expected(w.category)]
    if end in ENDS and strange:
        end, detail = "warning", strange[0]
    return {**record, "end": end, "detail": detail[:300]}


def _end_of(drawn: Any) -> tuple[str, str]:
    fitted = clone(drawn.search)
    weights = {} if drawn.weights is None else {"sample_weight": drawn.weights}
    try:
        fitted.fit(drawn.X, drawn.y, **weights)
    except OWN_ERRORS as error:
        try:
            fitted.get_support()
        except NotFittedError:
            return "error", f"{type(error).__name__}: {error}"
        return "half fitted", str(error)
    except Exception:
        return "foreign error", " | ".join(traceback.format_exc().splitlines()[-3:])
    for name in FITTED:
        if not np.isfinite(getattr(fitted, name)).all():
            return "not finite", name
    try:
        difference = disagreement(drawn, fitted)
    except Exception:
        return "not confirmed", " | ".join(traceback.format_exc().splitlines()[-3:])
    return ("disagrees", difference) if difference else ("confirmed", "")


def _is_expected(category: type[Warning]) -> bool:
    """Return whether a warning is this package's, or scikit-learn's about a model that did not converge."""
    return category.__module__ == "ppfs.exceptions" or issubclass(category, ConvergenceWarning)


def run(numbers: list[int]) -> None:
    """Run fits in processes of their own, a few at a time; one by one where a process did not come back."""
    RESULTS.parent.mkdir(exist_ok=True)
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        _in_a_process(some)
        for number in some:
            if number not in read():
                _in_a_process([number])
            if number not in read():
                _write({"number": number, "kind": "", "fault": "", "end": "crash", "detail": ""})


def _in_a_process(numbers: list[int]) -> None:
    command = [sys.executable, __file__, "these", *map(str, numbers)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(command, check=False, env=environment)


def _write(record: dict[str, Any]) -> None:
    with RESULTS.open("a") as stream:
        stream.write(json.dumps(record) + "\n")
    if record["end"] not in ENDS:
        print(record["number"], record["kind"], record["fault"], record["end"], record["detail"], flush=True)


def read() -> dict[int, dict[str, Any]]:
    """Return what is recorded, by number; the last entry counts."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {record["number"]: record for record in map(json.loads, lines)}


def table() -> str:
    """Return how the recorded fits ended, by who confirms them and by fault."""
    records = list(read().values())
    groups = Counter((record["fault"] or f"no fault, {record['kind']}", record["end"]) for record in records)
    names = sorted({name for name, _ in groups}, key=lambda name: (not name.startswith("no fault"), name))
    ends = [*ENDS, *sorted({end for _, end in groups} - set(ENDS))]
    rows = ["| | fits | " + " | ".join(ends) + " |", "| --- |" + " ---: |" * (1 + len(ends))]
    for name in names:
        counts = [groups[name, end] for end in ends]
        rows.append(f"| {name} | {sum(counts)} | " + " | ".join(map(str, counts)) + " |")
    totals = [sum(groups[name, end] for name in names) for end in ends]
    rows.append(f"| **all** | {sum(totals)} | " + " | ".join(map(str, totals)) + " |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", default="run", choices=["run", "these", "render"])
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first fit")
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--again", action="store_true", help="those that ended otherwise, once more")
    wanted = parser.parse_args()
    if wanted.only is not None:
        print(case(wanted.only))
        print(outcome_of(wanted.only))
    elif wanted.what == "these":
        for number in wanted.numbers:
            _write(outcome_of(number))
    elif wanted.what == "render":
        page = ROOT / "docs" / "reliability.md"
        page.write_text(fill(page.read_text(), {"soak": table()}))
    else:
        known = read()
        is_open = {number for number, record in known.items() if record["end"] not in ENDS and wanted.again}
        run([n for n in range(wanted.first, wanted.first + wanted.fits) if n not in known or n in is_open])
        print(Counter(record["end"] for record in read().values()))


if __name__ == "__main__":
    main()
