"""Rules for the parameters of simulated problems."""

from collections.abc import Sequence

import numpy as np


def check_count(name: str, value: int, *, at_least: int) -> None:
    """Require an integer that is large enough."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < at_least:
        raise ValueError(f"{name} is {value!r}; it must be an integer of at least {at_least}.")


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Require one of the listed names."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; choose one of: {', '.join(choices)}.")


def check_noise(noise: float) -> None:
    """Require positive noise."""
    if not 0 < noise < float("inf"):
        raise ValueError(
            f"noise is {noise!r}; it must be positive and finite. Without noise columns determine each other "
            "and the blanket is not unique; use a small value such as 0.01."
        )


def check_probability(name: str, value: float) -> None:
    """Require a number from 0 to 1."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value!r}; it must lie between 0 and 1.")


def check_family(
    n_features: int, *, n_parents: int, n_children: int, n_spouses: int, n_relatives: int
) -> None:
    """Require that the family of the target fits into the columns and is connected."""
    roles = {
        "n_parents": n_parents,
        "n_children": n_children,
        "n_spouses": n_spouses,
        "n_relatives": n_relatives,
    }
    for name, count in roles.items():
        check_count(name, count, at_least=0)
    needed = sum(roles.values())
    if needed > n_features:
        listed = ", ".join(f"{name}={count}" for name, count in roles.items())
        raise ValueError(
            f"n_features is {n_features}, but {listed} need {needed} columns. Raise n_features or ask for fewer."
        )
    if n_spouses and not n_children:
        raise ValueError(
            f"n_spouses is {n_spouses} with n_children=0; a spouse is the other cause of a child. "
            "Set n_children to at least 1, or n_spouses=0."
        )
    if n_relatives and not (n_parents or n_children):
        raise ValueError(
            f"n_relatives is {n_relatives} without parents and children to be related to. Set n_relatives=0."
        )
