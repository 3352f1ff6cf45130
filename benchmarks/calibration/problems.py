"""Problems where it is known whether x is independent of y given z.

Each has two columns, x and z, and a target y. Under the null y depends on z alone, however closely x follows z;
under the alternative ``effect * x`` is added to what predicts y. One function, `draw`, makes all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Task = Literal["classification", "regression"]

# Of all data and all tests: another seed is another study.
SEED = 20_240

TASKS: tuple[Task, ...] = ("classification", "regression")
KINDS = ("continuous", "discrete")
LINKS = ("linear", "nonlinear")
ROWS = (200, 1000)
CORRELATIONS = (0.0, 0.5, 0.9)

# A standard normal variable falls below, between and above with probability 1/3 each.
THIRDS = (-0.4307, 0.4307)


@dataclass(frozen=True)
class Problem:
    """One cell of the table.

    Parameters
    ----------
    task : {"classification", "regression"}
        Two classes, or a numeric target with normal noise of variance 1.

    kind : {"continuous", "discrete"}
        Of both columns: normal, or the levels 0, 1 and 2.

    link : {"linear", "nonlinear"}
        How x and y depend on z: see `curve`.

    n_rows : int
        Rows of a data set.

    corr : float
        Correlation of x (before it is cut into levels) with the curve of z.
    """

    task: Task
    kind: str
    link: str
    n_rows: int
    corr: float

    @cached_property
    def name(self) -> str:
        """The cell as text: the key of results and random streams."""
        return f"{self.task}/{self.kind}/{self.link}/{self.n_rows}/{self.corr:g}"


def parse(name: str) -> Problem:
    """Return the problem of a name.

    Examples
    --------
    >>> parse("regression/discrete/linear/200/0.5").corr
    0.5
    """
    task, kind, link, n_rows, corr = name.split("/")
    if task not in TASKS or kind not in KINDS or link not in LINKS:
        raise ValueError(f"{name!r} is no cell; one is {all_problems()[0].name!r}.")
    return Problem(task, kind, link, int(n_rows), float(corr))


def all_problems() -> list[Problem]:
    """Return every cell of the table of sizes."""
    return [Problem(*axes) for axes in product(TASKS, KINDS, LINKS, ROWS, CORRELATIONS)]


def replicate_seeds(problem: Problem, replicate: int) -> tuple[np.random.SeedSequence, int]:
    """Return the seed of a replicate's data and the `random_state` of the tests that judge them.

    Both follow from the names alone: every contender sees the same data, whatever was run before, and the
    alternatives of a cell differ from its null by the effect only.
    """
    digest = blake2b(problem.name.encode(), digest_size=8).digest()
    root = np.random.SeedSequence([SEED, int.from_bytes(digest, "big"), replicate])
    of_data, of_test = root.spawn(2)
    return of_data, int(of_test.generate_state(1)[0])


def draw(problem: Problem, effect: float, seed: np.random.SeedSequence | int) -> tuple[Floats, NDArray]:
    """Draw one data set.

    Parameters
    ----------
    problem : Problem
        The cell.

    effect : float
        Coefficient of x; 0 is the null.

    seed : SeedSequence or int
        Decides the data; the same seed with another effect keeps x, z and the noise.

    Returns
    -------
    X : ndarray of shape (n_rows, 2)
        The columns x and z.

    y : ndarray of shape (n_rows,)
        The target.
    """
    rng = np.random.default_rng(seed)
    z = rng.normal(size=problem.n_rows)
    if problem.kind == "discrete":
        z = in_levels(z)
    followed = curve(z, problem)
    x = problem.corr * followed + np.sqrt(1 - problem.corr**2) * rng.normal(size=problem.n_rows)
    if problem.kind == "discrete":
        x = in_levels(x)
    predictor = followed + effect * x
    if problem.task == "regression":
        y = predictor + rng.normal(size=problem.n_rows)
    else:
        y = (rng.logistic(size=problem.n_rows) < predictor).astype(int)
    return np.column_stack([x, z]), y


def curve(z: Floats, problem: Problem) -> Floats:
    """Return what x and y follow: a function of z with mean 0 and variance 1.

    Linear is z itself. Nonlinear goes up and down, and is the same for x and y. That is the hardest case: a model of
    y that cannot bend finds in x exactly what it misses in z, and a model of x given z that cannot bend either leaves
    all of it in the residual.
    """
    if problem.kind == "discrete":
        raw = z - 1.0 if problem.link == "linear" else (z == 1.0).astype(float)
        mean, variance = (0.0, 2 / 3) if problem.link == "linear" else (1 / 3, 2 / 9)
        return (raw - mean) / np.sqrt(variance)
    if problem.link == "linear":
        return z
    # sin(2z) has variance (1 - exp(-8)) / 2 and mean 0; z**2 / 2 has variance 1/2 and mean 1/2; their
    # covariance is 0, one being odd and the other even.
    return (np.sin(2 * z) + z**2 / 2 - 0.5) / np.sqrt((1 - np.exp(-8)) / 2 + 0.5)


def in_levels(values: Floats) -> Floats:
    """Cut into the levels 0, 1 and 2, which as integers are read as categories.

    Examples
    --------
    >>> in_levels(np.array([-1.0, 0.0, 1.0])).tolist()
    [0.0, 1.0, 2.0]
    """
    return np.digitize(values, THIRDS).astype(float)
