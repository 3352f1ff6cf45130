"""Answers that were written down, and whether today's are the same.

A record holds what the package answered when it was made: no theory, but a change of any draw, loss, order, word or
p-value shows. Where a change is meant, record again and look at the difference in the file:

    PPFS_RECORD=1 pytest -n 0 tests/independence/test_recorded_answers.py
"""

import json
import math
import os
from numbers import Real
from pathlib import Path

import numpy as np

# Libraries of linear algebra differ in the last digits, and iterations multiply that.
TOLERANCE = 1e-6

# What is as small may be rounding, except for p-values.
SMALL = 1e-12


class Record:
    """The answers of one file of tests, in a JSON file beside it."""

    def __init__(self, test_file):
        self._path = Path(test_file).with_suffix(".json")
        self._known = json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}

    def check(self, name, found):
        """Compare an answer with the one on record; both consist of what JSON has."""
        found = plain(found)
        if os.environ.get("PPFS_RECORD"):
            self._known[name] = found
            lines = [
                f"{json.dumps(key)}: {json.dumps(answer, ensure_ascii=False)}"
                for key, answer in sorted(self._known.items())
            ]
            self._path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        assert name in self._known, f"not recorded yet: {name}; set PPFS_RECORD=1 to write it down"
        different = list(differences(self._known[name], found))
        assert not different, "\n".join(["where: recorded, found", *different[:20]])


def plain(value):
    """Return an answer in terms of JSON; numbers that are not finite as text."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Real):
        number = int(value) if isinstance(value, int | np.integer) else float(f"{value:.9g}")
        return number if math.isfinite(number) else str(number)
    return value if value is None else str(value)


def differences(recorded, found, where=""):
    """Yield where two answers differ."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key in [*recorded, *(key for key in found if key not in recorded)]:
            yield from differences(recorded.get(key, "(none)"), found.get(key, "(none)"), f"{where}/{key}")
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for place, pair in enumerate(zip(recorded, found, strict=True)):
            yield from differences(*pair, f"{where}/{place}")
    elif not _same(recorded, found, is_pvalue="pvalue" in where):
        yield f"{where}: {recorded!r}, {found!r}"


def _same(recorded, found, is_pvalue=False):
    if isinstance(recorded, float) and isinstance(found, float | int):
        if is_pvalue and 0.0 < recorded < SMALL:
            # Rounding of a statistic is multiplied in the tail; any two of them would be close in absolute terms.
            return math.isclose(recorded, found, rel_tol=1e-3)
        return math.isclose(recorded, found, rel_tol=TOLERANCE, abs_tol=SMALL)
    return type(recorded) is type(found) and recorded == found


def shown(values):
    """Return the shape of an array, and two sums to which all its values contribute: enough to notice a change."""
    values = np.asarray(values, dtype=float)
    flat = values.ravel()
    return [list(values.shape), flat @ np.cos(1.0 + np.arange(flat.size)), float((flat**2).sum())]
