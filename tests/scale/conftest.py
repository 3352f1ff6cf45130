"""The data of tests against real schedulers."""

import numpy as np
import pytest


@pytest.fixture(scope="package")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 12))
    y = (X[:, 3] + X[:, 7] + 0.5 * generator.normal(size=80) > 0).astype(int)
    return X, y
