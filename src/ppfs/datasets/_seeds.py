"""Random streams by key, so that an answer does not depend on the order of the questions."""

import numpy as np

RandomState = int | np.random.Generator | np.random.RandomState | None


class SeedTree:
    """Independent random streams, each found by its key.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        Root of the streams. A generator is advanced by one draw, None gives new streams every time.
        NumPy's global state is neither read nor changed.

    Examples
    --------
    >>> from ppfs.datasets._seeds import SeedTree
    >>> tree = SeedTree(0)
    >>> late, early = tree.stream(7).random(), tree.stream(1).random()
    >>> early == SeedTree(0).stream(1).random()
    True
    """

    def __init__(self, random_state: RandomState) -> None:
        self._entropy = _entropy(random_state)

    def stream(self, *key: int) -> np.random.Generator:
        """Return a new generator at the start of the stream of this key."""
        return np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=key))


def _entropy(random_state: RandomState) -> int:
    if random_state is None:
        return _fresh_entropy()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31, size=2) @ [1, 2**31])
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state is {random_state!r}; it must be a non-negative integer, a numpy Generator, "
        "a RandomState, or None."
    )


def _fresh_entropy() -> int:
    entropy = np.random.SeedSequence().entropy
    assert isinstance(entropy, int)
    return entropy
