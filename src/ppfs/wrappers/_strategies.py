"""Search strategies over subsets of columns, with one score and a limited number of scored subsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numpy.random import Generator

from ppfs._fitting import CrossValidated

Subset = frozenset[int]

# The width of the beam, and the size of the population.
_BEAM_WIDTH = 5
_POPULATION = 20

# The number of random members of which the best becomes a parent.
_TOURNAMENT = 3


class Walk:
    """Scores subsets, up to a maximum number, and remembers the best.

    Parameters
    ----------
    features : sequence of int
        The features to choose from, in an order that does not depend on the caller's, for random draws.

    kept : frozenset of int
        Features in every subset.

    max_subsets : int
        Maximum number of subsets to score.
    """

    def __init__(
        self, scores: CrossValidated, features: Sequence[int], kept: Subset, max_subsets: int
    ) -> None:
        self._scores = scores
        self.features = tuple(features)
        self.kept = kept
        self._place = {x: place for place, x in enumerate(self.features)}
        self._left = max_subsets
        self._known: dict[Subset, float] = {}
        self.score(kept)

    @property
    def is_over(self) -> bool:
        """Whether no further subset may be scored, or there is none."""
        return self._left <= 0 or len(self._known) >= 2.0 ** len(self.features)

    @property
    def best(self) -> Subset:
        """The best subset so far."""
        return max(self._known, key=self.merit)

    @property
    def n_scored(self) -> int:
        """Number of scored subsets."""
        return len(self._known)

    def score(self, subset: Subset) -> bool:
        """Score a subset and return True, or return False if no more subsets may be scored."""
        if subset in self._known:
            return True
        if self._left <= 0:
            return False
        self._left -= 1
        self._known[subset] = self._scores.score(subset)
        return True

    def merit(self, subset: Subset) -> tuple[float, int, tuple[int, ...]]:
        """Return the key that subsets are compared by: score, then fewer columns, then the places of its columns."""
        places = tuple(-self._place[x] for x in sorted(subset - self.kept, key=self._place.__getitem__))
        return round(self._known[subset], 12), -len(subset), places

    def top(self, subsets: Iterable[Subset], n: int) -> list[Subset]:
        """Return the best of some scored subsets, best first."""
        return sorted(set(subsets), key=self.merit, reverse=True)[:n]


def beam(walk: Walk, generator: Generator) -> None:
    """Add one column to each of the best few subsets, keep the best few of the results, until none is better."""
    front = [walk.kept]
    while not walk.is_over:
        before = walk.best
        longer = dict.fromkeys(subset | {x} for subset in front for x in walk.features if x not in subset)
        front = walk.top([subset for subset in longer if walk.score(subset)], _BEAM_WIDTH)
        if walk.best == before:
            return


def hill_climbing(walk: Walk, generator: Generator) -> None:
    """Let one column, drawn at random, enter or leave, and keep what is no worse.

    Where every neighbor has been scored and none is better, it begins again from a random subset.
    """
    current = walk.kept
    while not walk.is_over:
        moved = False
        for place in generator.permutation(len(walk.features)).tolist():
            neighbor = current ^ {walk.features[place]}
            if not walk.score(neighbor):
                return
            if walk.merit(neighbor) > walk.merit(current):
                current, moved = neighbor, True
        if not moved:
            current = _drawn(walk, generator)
            if not walk.score(current):
                return


def genetic(walk: Walk, generator: Generator) -> None:
    """Cross and mutate the better members of a population; its best few survive as they are."""
    n = len(walk.features)
    population = [
        subset for subset in (_drawn(walk, generator) for _ in range(_POPULATION)) if walk.score(subset)
    ]
    population.append(walk.kept)
    # Where nearly all subsets are known, generations may bring none that is new.
    idle = 0
    while not walk.is_over and idle < _POPULATION:
        before = walk.n_scored
        children = []
        for _ in range(_POPULATION):
            mother, father = (_parent(walk, population, generator) for _ in range(2))
            takes, flips = generator.random(n) < 0.5, generator.random(n) < 1.0 / n
            child = {
                x
                for place, x in enumerate(walk.features)
                if (x in (mother if takes[place] else father)) != flips[place]
            }
            children.append(walk.kept | child)
        population = walk.top([*population, *(child for child in children if walk.score(child))], _POPULATION)
        idle = idle + 1 if walk.n_scored == before else 0


def _drawn(walk: Walk, generator: Generator) -> Subset:
    """Return a random subset: of a random share of the columns, so that small ones are as likely as large ones."""
    share = generator.random()
    drawn = generator.random(len(walk.features)) < share
    return walk.kept | {x for x, is_in in zip(walk.features, drawn, strict=True) if is_in}


def _parent(walk: Walk, population: Sequence[Subset], generator: Generator) -> Subset:
    rivals = generator.integers(len(population), size=_TOURNAMENT)
    return max((population[i] for i in rivals.tolist()), key=walk.merit)


STRATEGIES = {"beam": beam, "hill-climbing": hill_climbing, "genetic": genetic}
