"""Variables in the order of their content, independent of the caller's order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from hashlib import blake2b

import numpy as np

from ppfs._conventions import as_many_as_fit
from ppfs._data.columns import Columns
from ppfs._data.features import Features
from ppfs._data.storage import vector_digest
from ppfs._data.target import Target

# Entries that are read at once.
_ENTRIES_AT_ONCE = 2**18


class ContentOrder:
    """The order of a table's variables by digests of their values, computed when first needed.

    Parameters
    ----------
    known : mapping of int to bytes, default={}
        Digests of variables that were computed before.
    """

    def __init__(
        self, columns: Columns, features: Features, target: Target, known: Mapping[int, bytes] | None = None
    ) -> None:
        self._columns = columns
        self._features = features
        self._target = target
        self._keys: dict[int, bytes] = {}
        self._alike: dict[bytes, list[int]] = {}
        self._compared: set[int] = set()
        self._last_compared: frozenset[int] | None = None
        self._last: dict[int, None] = {}
        for variable, key in (known or {}).items():
            self._enter(variable, key)

    def for_target(self, target: Target) -> ContentOrder:
        """Return the order of the same features with another target."""
        known = {variable: key for variable, key in self._keys.items() if variable != self._features.target}
        return ContentOrder(self._columns, self._features, target, known)

    def enter(self, variables: Iterable[int]) -> None:
        """Compute the digests of many variables; dense columns are read together, which takes a tenth of the time."""
        storage, n_levels = self._columns.storage, self._columns.n_levels
        if storage.is_sparse or not storage.is_in_memory:
            return
        new = [v for v in variables if v not in self._keys and v != self._features.target]
        columns = [(variable, self._features.columns_of([variable])) for variable in new]
        single = [(variable, own[0]) for variable, own in columns if len(own) == 1]
        at_once = as_many_as_fit(_ENTRIES_AT_ONCE, storage.shape[0])
        for first in range(0, len(single), at_once):
            some = single[first : first + at_once]
            values = np.ascontiguousarray(storage.take([column for _, column in some]).T)
            for (variable, column), own in zip(some, values, strict=True):
                self._enter(variable, vector_digest(own, int(n_levels[column])))

    def key(self, variable: int) -> bytes:
        """Return a digest of a variable's values: equal features have equal keys."""
        if variable not in self._keys:
            self._enter(variable, self._digest(variable))
        return self._keys[variable]

    def has_twin(self, variable: int, others: Set[int]) -> bool:
        """Return whether one of `others` is a copy of `variable`, which itself does not count."""
        if others is not self._last_compared and not others <= self._compared:
            self._compared |= others
            self.enter(others)
            for other in others:
                self.key(other)
        self._last_compared = others if isinstance(others, frozenset) else None
        alike = self._alike[self.key(variable)]
        return len(alike) > 1 and any(twin != variable and twin in others for twin in alike)

    def canonical(self, variables: Iterable[int]) -> tuple[int, ...]:
        """Order variables by their content, so that a model does not depend on the caller's order.

        Trees break ties by position and forests draw positions, so that a model fitted on
        the same columns in another order is another model. Sorted by content it is the
        same one; equal columns are sorted by number.
        """
        listed = tuple(variables)
        if len(listed) < 2:
            return listed
        # A search that removes variables one by one needs shorter and shorter parts of the same order.
        wanted, last = frozenset(listed), self._last
        if len(wanted) == len(listed) and wanted.issubset(last):
            return tuple(variable for variable in last if variable in wanted)
        ordered = tuple(sorted(listed, key=lambda variable: (self.key(variable), variable)))
        self._last = dict.fromkeys(ordered)
        return ordered

    def by_content(self, variable: int) -> ByContent:
        """Return a sort key for a variable: by its content, and by its number among equal ones."""
        return ByContent(self, variable)

    def _enter(self, variable: int, key: bytes) -> None:
        self._keys[variable] = key
        self._alike.setdefault(key, []).append(variable)

    def _digest(self, variable: int) -> bytes:
        if variable == self._features.target:
            return vector_digest(self._target.codes.ravel(), 0)
        storage, n_levels = self._columns.storage, self._columns.n_levels
        digests = [
            storage.digest(column, int(n_levels[column])) for column in self._features.columns_of([variable])
        ]
        # Sorted, because the same columns in another order are the same group.
        return (
            digests[0] if len(digests) == 1 else blake2b(b"".join(sorted(digests)), digest_size=16).digest()
        )


class ByContent:
    """A sort key that computes digests only when two variables are compared."""

    __slots__ = ("_order", "_variable")

    def __init__(self, order: ContentOrder, variable: int) -> None:
        self._order = order
        self._variable = variable

    def __lt__(self, other: ByContent) -> bool:
        return self._place() < other._place()

    def _place(self) -> tuple[bytes, int]:
        return self._order.key(self._variable), self._variable
