"""Closed testing by definition: every subset of the hypotheses is tested."""

from itertools import combinations


def simes_rejects(pvalues, alpha):
    ordered = sorted(pvalues)
    return any(len(ordered) * p <= (rank + 1) * alpha for rank, p in enumerate(ordered))


def at_least(pvalues, members, alpha):
    """Return the size of the set less that of its largest part that closed testing does not reject."""
    everything = range(len(pvalues))
    subsets = [
        frozenset(some) for size in range(1, len(pvalues) + 1) for some in combinations(everything, size)
    ]
    kept = [some for some in subsets if not simes_rejects([pvalues[i] for i in some], alpha)]
    survivors = [some for some in subsets if some <= set(members) and any(some <= larger for larger in kept)]
    return len(members) - max(map(len, survivors), default=0)
