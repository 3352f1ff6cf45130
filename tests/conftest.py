"""What many tests share."""

import gc
import os
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from ppfs._engine import missing_for_cuda

# The same examples in every run, so that a suite that passed here passes anywhere;
# `--hypothesis-profile=explore` looks further.
settings.register_profile("pinned", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("pinned")

# A shell's background jobs ignore Ctrl-C, and what nohup starts ignores the end of a terminal. So would every process
# that a test starts and interrupts.
for _name, _handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    if hasattr(signal, _name) and signal.getsignal(getattr(signal, _name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), _handler)

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def data_folder():
    """Point PPFS_DATA at the benchmark data next to the project, where they are."""
    if "PPFS_DATA" not in os.environ and _SHARED.is_dir():
        os.environ["PPFS_DATA"] = str(_SHARED)
    return os.environ.get("PPFS_DATA")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Load modules and tests without the garbage collector, which is not to look at them later either."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """Skip what needs the benchmark data, or a GPU, where they are missing."""
    has_data = "PPFS_DATA" in os.environ or _SHARED.is_dir()
    missing = {
        "data": None if has_data else "the benchmark data are not here: set PPFS_DATA to their folder",
        "gpu": missing_for_cuda() if any("gpu" in item.keywords for item in items) else None,
    }
    for item in items:
        for mark, reason in missing.items():
            if reason is not None and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def small_forests(monkeypatch):
    """Ten trees, not a hundred, in the forests that score selections: for tests of what is done with the scores."""
    from sklearn import ensemble

    for name in ("RandomForestClassifier", "RandomForestRegressor"):
        forest = partial(getattr(ensemble, name), n_estimators=10)
        monkeypatch.setattr(f"ppfs._comparison.comparing.{name}", forest)


@pytest.fixture
def two_repeats(monkeypatch):
    """Measure sufficiency in two folds, not five: for tests of what is done with it, and of reports that have it."""
    for name in ("_MOST_FOR_FIVE_FOLDS", "_MOST_FOR_THREE_FOLDS"):
        monkeypatch.setattr(f"ppfs._verdicts.repeating.{name}", 0)


@pytest.fixture(autouse=True)
def global_random_state_is_untouched(request):
    """Fail any test during which something drew from NumPy's global generator.

    scikit-learn's own checks draw from it themselves.
    """
    before = np.random.get_state()  # noqa: NPY002
    yield
    after = np.random.get_state()  # noqa: NPY002
    if not request.node.originalname.startswith("test_scikit_learn_contract"):
        assert np.array_equal(before[1], after[1])
        assert before[2] == after[2]
