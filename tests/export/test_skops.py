"""skops stores fitted selectors without pickle."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from ppfs import PPFS
from ppfs.blanket import FBED
from ppfs.exceptions import InvalidInputError
from ppfs.export import skops_types

io = pytest.importorskip("skops.io", exc_type=ImportError)


@pytest.mark.parametrize(
    "selector",
    [
        PPFS(n_splits=5, random_state=0),
        PPFS.calibrated(random_state=0),
        PPFS(RandomForestClassifier(5), n_splits=5, random_state=0),
        FBED(),
    ],
    ids=["tree", "calibrated", "forest", "FBED"],
)
def test_a_selector_comes_back(selector):
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector.fit(X, y)
    stored = io.dumps(selector)
    loaded = io.loads(stored, trusted=skops_types(stored))
    assert loaded.blanket_.tolist() == selector.blanket_.tolist()
    assert np.array_equal(loaded.transform(X), selector.transform(X))
    assert loaded.trace_.explain(0) == selector.trace_.explain(0)


class Foreign:
    """A type that ppfs does not have."""


def test_types_of_others_are_named():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = PPFS(n_splits=5, random_state=0).fit(X, y)
    selector.more_ = Foreign()
    with pytest.raises(InvalidInputError, match=r"not from ppfs: .*Foreign"):
        skops_types(io.dumps(selector))
