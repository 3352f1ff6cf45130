"""How many things are worked on at once."""


def as_many_as_fit(limit: int, size: int) -> int:
    """Return how many things of a size stay within a limit of memory or work; at least one.

    Examples
    --------
    >>> as_many_as_fit(10, 3), as_many_as_fit(10, 11), as_many_as_fit(10, 0)
    (3, 1, 10)
    """
    return max(1, limit // max(1, size))
