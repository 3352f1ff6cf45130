"""What all tasks need, unpacked once in every process."""

from __future__ import annotations

from typing import Any
from uuid import uuid4


class Shared:
    """Something that tasks have in common.

    Processes of joblib and Ray get it with every task. What a task prepares in it (the bootstrap samples of a
    forest, say) would be gone with the task; so a process keeps the first copy that it gets and
    gives that to the tasks that come later.

    Parameters
    ----------
    value : object

    key : str, default=None
        What it is known by in all processes; made up where it is not given.
    """

    def __init__(self, value: Any, key: str | None = None) -> None:
        self.value = value
        self._key = uuid4().hex if key is None else key

    def __reduce__(self) -> tuple[Any, ...]:
        return _kept, (self.value, self._key)


# The one that this process got last: with a new search the old one goes.
_last: list[Shared] = []


def _kept(value: Any, key: str) -> Shared:
    for known in _last[:]:
        if known._key == key:
            return known
    fresh = Shared(value, key)
    _last[:] = [fresh]
    return fresh
