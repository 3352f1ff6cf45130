"""Results as lines of JSON: one file per table, one line per cell.

A line is appended in one write under a lock, so several processes can add cells to a table, and a killed process
leaves at most an unfinished last line. Readers skip that line, and the next writer removes it. If a cell is run
again, its last line counts.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Record = dict[str, Any]
Key = tuple[Any, ...]


class Records:
    """The cells of one table.

    Parameters
    ----------
    path : Path
        The file; it need not exist yet.
    fields : sequence of str
        The fields of a record that identify its cell.

    Examples
    --------
    >>> import tempfile
    >>> table = Records(Path(tempfile.mkdtemp()) / "sizes.jsonl", ["set"])
    >>> table.add({"set": "wine", "size": 4})
    >>> table.add({"set": "wine", "size": 5})
    >>> ("wine",) in table, table.read()
    (True, {('wine',): {'set': 'wine', 'size': 5}})
    """

    def __init__(self, path: Path, fields: Sequence[str]) -> None:
        self.path = path
        self.fields = tuple(fields)

    def read(self) -> dict[Key, Record]:
        """Return the records by key, in the order in which their cells were first added."""
        if not self.path.exists():
            return {}
        # What follows the last line break is a line that a killed process did not finish.
        whole, _, _ = self.path.read_bytes().rpartition(b"\n")
        records = [json.loads(line) for line in whole.splitlines()]
        return {self.key_of(record): record for record in records}

    def in_order(self) -> list[Record]:
        """Return the records sorted by key as text, whatever order their cells were run in."""
        return [record for _, record in sorted(self.read().items(), key=lambda item: list(map(str, item[0])))]

    def key_of(self, record: Record) -> Key:
        """Return the key of a record."""
        return tuple(record[field] for field in self.fields)

    def __contains__(self, key: Key) -> bool:
        """Return whether the table holds a cell."""
        return key in self.read()

    def add(self, record: Record) -> None:
        """Append a record, after removing an unfinished last line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record).encode() + b"\n"
        with self.path.open("a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            stream.seek(0)
            stream.truncate(stream.read().rfind(b"\n") + 1)
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())


CELLS = Records(RESULTS / "inside-folds.jsonl", ("set", "seed", "method"))
# The same cells, run again with later sources: they do not mix with means over cells of one version.
LATER = Records(RESULTS / "inside-folds-later.jsonl", ("set", "seed", "method"))
PUBLISHED = Records(RESULTS / "as-published.jsonl", ("set", "seed"))
COUNTS = Records(RESULTS / "counts.jsonl", ("set", "model"))
DEFAULTS = Records(RESULTS / "defaults.jsonl", ("problem", "model"))
SHARED_WORK = Records(RESULTS / "shared-work.jsonl", ("problem",))
