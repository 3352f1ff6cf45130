"""What new rows say of a selection: the evidence on record, where effects last, vanish, begin, or change in between."""

import numpy as np
import pytest
from checks.recorded import Record
from sklearn.linear_model import LinearRegression

from ppfs import PPFS

RECORD = Record(__file__)
BEFORE = (1.0, 0.7, 0.0, 0.0)
BATCHES = {
    "as before": [BEFORE] * 3,
    "one vanishes": [(1.0, 0.0, 0.0, 0.0)] * 3,
    "one begins": [(1.0, 0.7, 0.8, 0.0)] * 3,
    "one vanishes later": [BEFORE, BEFORE, (1.0, 0.0, 0.0, 0.0), (1.0, -0.2, 0.0, 0.0)],
    "none is left": [(0.0, 0.0, 0.0, 0.0)],
}


def rows(n, rng, effects):
    X = rng.normal(size=(n, 4))
    y = X @ np.array(effects) + rng.normal(size=n)
    # The losses of outliers are cut.
    y[::40] *= 4.0
    return np.round(X, 6), np.round(y, 6)


@pytest.mark.parametrize("is_classification", [False, True])
@pytest.mark.parametrize("name", BATCHES)
def test_updates_are_those_on_record(name, is_classification):
    rng = np.random.default_rng(0)
    X, y = rows(200, rng, BEFORE)
    y = y > 0 if is_classification else y
    model = None if is_classification else LinearRegression()
    selector = PPFS.calibrated(model, growth="marginal", second_look=False, random_state=0).fit(X, y)
    found = []
    for effects in BATCHES[name]:
        X, y = rows(120, rng, effects)
        update = selector.update(X, y > 0 if is_classification else y)
        found.append([update.as_plain(), update.by_feature(), update.e_values])
    RECORD.check(f"{name}, {'classes' if is_classification else 'numbers'}", found)
