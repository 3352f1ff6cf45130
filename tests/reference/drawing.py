"""The random draws, written from the rules that docs/decisions/0001 states, without the package.

Every random thing belongs to a key: a split to (fold, split), the division into folds to (fold,), the outer folds of
a search to (). A key's stream is NumPy's default generator, seeded by ``SeedSequence(entropy, spawn_key=key)``. From
it are taken, in this order: the seed of the division (for random splits), the first shuffle of the test part, the seed
of the model, the other shuffles. Seeds are integers below 2**31 - 1.
"""

from types import SimpleNamespace

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit


def generator(entropy, *key):
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=key)))


def seed_from(draws):
    return int(draws.integers(2**31 - 1))


def splits(n_rows, labels, *, n_splits, test_size, entropy, fold, n_draws=1):
    """Random divisions into train and test part, each with its shuffles."""
    found = []
    for number in range(n_splits):
        draws = generator(entropy, fold, number)
        divide = ShuffleSplit if labels is None else StratifiedShuffleSplit
        divided = divide(1, test_size=test_size, random_state=seed_from(draws))
        train, test = next(divided.split(np.zeros((n_rows, 1)), labels))
        found.append(_with_shuffles(train, test, draws, n_draws))
    return found


def folds(n_rows, labels, *, n_folds, entropy, fold, n_draws):
    """A division in which every row is tested once, each part with its shuffles."""
    parts = outer_folds(n_rows, labels, n_folds, seed_from(generator(entropy, fold)))
    return [
        _with_shuffles(train, test, generator(entropy, fold, number), n_draws)
        for number, (train, test) in enumerate(parts)
    ]


def outer_folds(n_rows, labels, n_folds, seed):
    """Rows outside and inside of each fold."""
    divide = KFold if labels is None else StratifiedKFold
    return list(divide(n_folds, shuffle=True, random_state=seed).split(np.zeros((n_rows, 1)), labels))


def _with_shuffles(train, test, draws, n_draws):
    shuffles = [draws.permutation(len(test))]
    seed = seed_from(draws)
    for _ in range(n_draws - 1):
        shuffles.append(draws.permutation(len(test)))
    return SimpleNamespace(
        train=train,
        test=test,
        permutation=shuffles[0],
        permutations=np.array(shuffles),
        seed=seed,
    )
