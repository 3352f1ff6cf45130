"""How a node gets its values from its parents.

All signals have about unit variance, so `noise` means the same everywhere: the standard deviation of
what the parents leave unexplained, against that of what they explain.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ppfs.datasets._graph import topological_order
from ppfs.datasets._seeds import SeedTree

Values = NDArray[np.float64]

# Mean 0 and variance 1 under a standard normal x. Cosine and absolute value are even: no correlation
# shows them. None grows faster than x, else values explode along a chain (a square reached 1e31).
CURVES: tuple[Callable[[Values], Values], ...] = (
    lambda x: np.sin(1.5 * x) / sqrt((1 - exp(-4.5)) / 2),
    lambda x: (np.cos(1.5 * x) - exp(-1.125)) / ((1 - exp(-2.25)) / sqrt(2)),
    lambda x: (np.abs(x) - sqrt(2 / pi)) / sqrt(1 - 2 / pi),
    lambda x: np.where(x > 0, 1.0, -1.0),
)


@dataclass(frozen=True)
class Mechanism:
    """Rules that all nodes of a problem share.

    Attributes
    ----------
    curved : bool
        Continuous parents act through one of `CURVES` instead of a line.
    nominal : bool
        The order of a category's levels carries no meaning.
    noise : float
        Standard deviation of the noise, that of the signal being 1.
    """

    curved: bool
    nominal: bool
    noise: float


def simulate(
    parents: Mapping[int, Sequence[int]],
    n_levels: Mapping[int, int],
    mechanism: Mechanism,
    n_samples: int,
    seeds: SeedTree,
) -> Values:
    """Draw rows of a structural model.

    Parameters
    ----------
    parents : mapping of int to sequence of int
        Each node, 0 to k - 1, with its parents.
    n_levels : mapping of int to int
        Number of categories of each node; 0 for a continuous node.
    seeds : SeedTree
        Node j uses stream (0, j): weights first, then one draw per row, so that fewer rows are a prefix.

    Returns
    -------
    ndarray of shape (n_samples, k)
        Continuous values, and codes 0 to n_levels - 1 for categories.
    """
    values = np.empty((n_samples, len(parents)), order="F")
    for node in topological_order(parents):
        stream = seeds.stream(0, node)
        signal = _signal(values, parents[node], n_levels, mechanism, stream)
        names = _level_names(n_levels[node], mechanism, stream)
        own = stream.standard_normal(n_samples)
        if parents[node]:
            # Back to unit variance, so that a long chain neither grows nor fades.
            own = (signal + mechanism.noise * own) / sqrt(1 + mechanism.noise**2)
        values[:, node] = names[_cut(own, n_levels[node])] if n_levels[node] else own
    return values


def _signal(
    values: Values,
    parents: Sequence[int],
    n_levels: Mapping[int, int],
    mechanism: Mechanism,
    stream: np.random.Generator,
) -> Values:
    """Weighted sum of the parents' effects, of about unit variance; 0 for a root."""
    # Away from 0, so that every parent matters.
    weights = stream.uniform(0.5, 1.0, len(parents)) * stream.choice([-1.0, 1.0], len(parents))
    signal = np.zeros(len(values))
    for weight, parent in zip(weights, parents, strict=True):
        signal += weight * _effect(values[:, parent], n_levels[parent], mechanism, stream)
    return signal / (np.linalg.norm(weights) or 1.0)


def _effect(values: Values, n_levels: int, mechanism: Mechanism, stream: np.random.Generator) -> Values:
    """Contribution of one parent, with about mean 0 and variance 1."""
    if n_levels:
        return _level_scores(n_levels, mechanism, stream)[values.astype(np.intp)]
    if mechanism.curved:
        return CURVES[stream.integers(len(CURVES))](values)
    return values


def _level_scores(n_levels: int, mechanism: Mechanism, stream: np.random.Generator) -> Values:
    scores = np.linspace(-1.0, 1.0, n_levels)
    scores /= scores.std()
    return stream.permutation(scores) if mechanism.nominal else scores


def _level_names(n_levels: int, mechanism: Mechanism, stream: np.random.Generator) -> NDArray[np.intp]:
    """Code of each level from low to high; in no order where order carries no meaning."""
    return stream.permutation(n_levels) if mechanism.nominal else np.arange(n_levels)


def _cut(values: Values, n_levels: int) -> NDArray[np.intp]:
    """Cut standard normal values into levels of equal probability (an ordered probit model)."""
    return np.searchsorted(norm.ppf(np.arange(1, n_levels) / n_levels), values)
