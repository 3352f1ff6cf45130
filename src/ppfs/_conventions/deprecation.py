"""Parameters and names that will be removed: they work for two minor versions, with a warning."""

from __future__ import annotations

from typing import Any

from ppfs._conventions.messages import warn_caller

#: The default of a parameter that has been renamed or removed: whether a caller gave it is then known.
DEPRECATED = "deprecated"


def value_of_renamed(
    old: str, old_value: Any, new: str, new_value: Any, *, since: str, removed_in: str
) -> Any:
    """Return the value of a parameter that has a new name, and warn if it was given by the old one.

    Parameters
    ----------
    old, new : str
        The names.

    old_value, new_value : object
        What was given; the old parameter's default is `DEPRECATED`.

    since, removed_in : str
        The version that renamed it, and the one that no longer accepts the old name.

    Examples
    --------
    >>> value_of_renamed("n_rep", DEPRECATED, "n_splits", 30, since="0.2", removed_in="0.4")
    30
    """
    if isinstance(old_value, str) and old_value == DEPRECATED:
        return new_value
    warn_caller(
        f"{old!r} was renamed to {new!r} in version {since}, and will be an error in {removed_in}. Pass "
        f"{new}={old_value!r} instead.",
        FutureWarning,
    )
    return old_value


def warn_of_removal(what: str, *, since: str, removed_in: str, instead: str) -> None:
    """Warn that a function, class or option will go.

    Parameters
    ----------
    what : str
        What was called, as the caller writes it.

    since, removed_in : str
        The version that deprecated it, and the one that no longer has it.

    instead : str
        What to use: a whole sentence.
    """
    warn_caller(
        f"{what} is deprecated since version {since}, and will be removed in {removed_in}. {instead}",
        FutureWarning,
    )
