"""scikit-learn's boosting takes one thread in these tests."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Thousands of fits on a few rows: on a busy machine a second thread makes each of them wait for the other."""
    with threadpool_limits(limits=1):
        yield
