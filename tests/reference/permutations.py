"""Slow twin of the compiled permutations: SplitMix64 and the method of Fisher and Yates, in integers."""

from __future__ import annotations

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def _combine(key: int, other: int) -> int:
    mixed = ((key ^ ((other + _GOLDEN) & _MASK)) + _GOLDEN) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return mixed ^ (mixed >> 31)


def random_permutation(n: int, seed: int, draw: int) -> list[int]:
    """Return the permutation with this number."""
    key = _combine(_combine(seed, 0), draw)
    order = list(range(n))
    n_drawn = 0
    for i in range(n - 1, 0, -1):
        size = i + 1
        while True:
            product = (_combine(key, n_drawn) >> 32) * size
            n_drawn += 1
            if product % 2**32 >= 2**32 % size:
                break
        other = product >> 32
        order[i], order[other] = order[other], order[i]
    return order
