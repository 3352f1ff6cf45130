"""Random streams by key.

A stream is named by what it is for, such as (fold, split), and never depends on
what was drawn before. So answers do not change with the order of questions, the
number of workers or the size of a batch, and NumPy's global state is not touched.
"""

from __future__ import annotations

import secrets
import threading

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

RandomStateLike = int | np.integer | Generator | RandomState | None

_SEED_BITS = 32

_own = threading.local()


def root_entropy(random_state: RandomStateLike) -> int:
    """Convert the caller's `random_state` to one integer that seeds all streams.

    One number is drawn from a `Generator` or `RandomState`, as scikit-learn's estimators do; ``None`` takes fresh
    entropy from the system.
    """
    if random_state is None:
        return secrets.randbits(_SEED_BITS)
    if isinstance(random_state, Generator):
        return int(random_state.integers(2**_SEED_BITS))
    if isinstance(random_state, RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def stream(entropy: int, *key: int) -> Generator:
    """Return the generator that belongs to `key`, the same one at every call."""
    return np.random.default_rng(SeedSequence(entropy, spawn_key=key))


def integer_seed(generator: Generator) -> int:
    """Draw a seed for scikit-learn, whose objects take integers below 2**31."""
    return int(generator.integers(2**31 - 1))


def seeded_state(seed: int) -> RandomState:
    """Return NumPy's legacy generator in the state of ``RandomState(seed)``; the next call of the thread reseeds it.

    A new one first asks the system for a seed, which takes ten times as long as a permutation of 500 rows.
    """
    if not hasattr(_own, "state"):
        _own.state = RandomState(0)
    state: RandomState = _own.state
    state.seed(seed)
    return state
