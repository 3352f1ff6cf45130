"""Record the answers of about 400 small fits, to check changes of the code that should not change any answer.

    python benchmarks/answers/record.py after.json                  # all cases; minutes
    python benchmarks/answers/record.py after.json --only 'ppfs/*'  # some of them
    PYTHONPATH=<older checkout>/src python benchmarks/answers/record.py before.json

Floats are written as the shortest decimal number that reads back to the same bits. Long values are hashes, for
the trace one per column, so that a difference shows what changed. compare.py reads two such files. Answers are only
comparable between recordings with the same versions of the libraries on the same kind of processor.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import time
import warnings
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from cases import Case, all_cases
from threadpoolctl import threadpool_limits

TRACE_COLUMNS = (
    "fold",
    "phase",
    "feature",
    "n_given",
    "pvalue",
    "adjusted_pvalue",
    "statistic",
    "effect",
    "decision",
    "is_reliable",
)
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "narwhals", "lightgbm", "joblib")

# Longer arrays are digests, and what the blanket has of them.
_LONGEST = 20


def record_case(case: Case) -> dict[str, Any]:
    """Fit once and return what was answered; an error is an answer too."""
    sample = case.sample()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = case.make().fit(sample.X, sample.y, **sample.rows)
    except Exception as error:
        return {"error": type(error).__name__}
    return _answers(getattr(fitted, "selector_", fitted))


def _answers(fitted: Any) -> dict[str, Any]:
    support = np.asarray(fitted.support_)
    blanket = getattr(fitted, "blanket_", getattr(fitted, "selected_", np.flatnonzero(support)))
    answers: dict[str, Any] = {
        "blanket": [int(column) for column in blanket],
        "support": _digest("".join("01"[bool(is_in)] for is_in in support), _LONGEST * 3),
        "task": fitted.task_,
    }
    for name in ("pvalues", "importances", "scores", "importances_std", "ranking", "cv_scores"):
        values = getattr(fitted, f"{name}_", None)
        if values is not None:
            answers[name] = _numbers(values, answers["blanket"])
    for name in ("n_tests_", "n_fits_", "score_", "reference_score_"):
        if hasattr(fitted, name):
            answers[name.rstrip("_")] = _number(getattr(fitted, name))
    for fold in getattr(fitted, "folds_", ()):
        answers[f"fold {fold.number}"] = [
            list(map(int, fold.blanket)),
            _number(fold.z_score),
            bool(fold.is_chosen),
        ]
    if type(fitted).__name__ == "TIEStar":
        answers["blankets"] = [[int(column) for column in found] for found in fitted.blankets_]
    if hasattr(fitted, "groups_"):
        answers["groups"] = [[int(column) for column in found] for found in fitted.groups_]
    if hasattr(fitted, "moves_"):
        answers["moves"] = [[int(m.feature), bool(m.is_added), _number(m.score)] for m in fitted.moves_]
    if hasattr(fitted, "trace_"):
        frame = fitted.trace_.to_frame("pandas")
        answers["n_steps"] = len(frame)
        for column in TRACE_COLUMNS:
            answers[f"trace.{column}"] = _digest("\n".join(map(_text, frame[column])))
    return answers


def _number(value: Any) -> Any:
    """Return a plain number; JSON's floats are Python's repr, which reads back to the same bits."""
    return value.item() if hasattr(value, "item") else value


def _text(value: Any) -> str:
    return repr(_number(value))


def _numbers(values: Any, blanket: list[int]) -> Any:
    flat = np.asarray(values).ravel().tolist()
    if len(flat) <= _LONGEST:
        return flat
    return {
        "all": _digest(" ".join(map(_text, flat))),
        "blanket": [flat[column] for column in blanket if column < len(flat)],
    }


def _digest(text: str, longest: int = 0) -> str:
    return text if len(text) <= longest else hashlib.sha256(text.encode()).hexdigest()[:12]


def about() -> dict[str, str]:
    """Say what the answers depend on beside the package itself."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: version(name) for name in LIBRARIES},
    }


def write(path: Path, answers: dict[str, Any]) -> None:
    """Write one line a field, so that two recordings can be read side by side."""
    lines = [f'{{"about": {json.dumps(about())},', '"cases": {']
    for number, (name, fields) in enumerate(answers.items(), start=1):
        inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items())
        lines.append(f"{json.dumps(name)}: {{\n{inner}}}{',' if number < len(answers) else ''}")
    path.write_text("\n".join([*lines, "}}", ""]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, help="where the answers go")
    parser.add_argument("--only", default="*", help="a pattern of names, such as 'ppfs/*'")
    parser.add_argument("--times", action="store_true", help="print the seconds of each fit")
    wanted = parser.parse_args()
    answers = {}
    for case in all_cases():
        if fnmatch(case.name, wanted.only):
            start = time.perf_counter()
            # Sums over several threads may be added up in another order.
            with threadpool_limits(1):
                answers[case.name] = record_case(case)
            if wanted.times:
                print(
                    f"{time.perf_counter() - start:8.2f} s  {case.name}  {answers[case.name].get('error', '')}"
                )
    write(wanted.path, answers)
    print(f"{len(answers)} fits")


if __name__ == "__main__":
    main()
