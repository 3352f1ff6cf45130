"""Which columns explain what others leave of the target, one column and one regression at a time."""

import numpy as np


def _unit(values):
    return (values - values.mean()) / values.std()


def most_promising(X, y, members, at_most):
    """Return the columns by the largest share that they, their squares or their products with members explain."""
    units = [_unit(X[:, member]) for member in members]
    design = np.column_stack([np.ones(len(y)), *units, *(unit**2 for unit in units)])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    scores = {}
    for column in sorted(set(range(X.shape[1])) - set(members)):
        own = _unit(X[:, column])
        views = [view - design @ np.linalg.lstsq(design, view, rcond=None)[0] for view in (own, own**2)]
        views += [own * unit - (own * unit).mean() for unit in units]
        scores[column] = max((left @ view) ** 2 / (view @ view) for view in views)
    return sorted(scores, key=lambda column: -scores[column])[:at_most]
