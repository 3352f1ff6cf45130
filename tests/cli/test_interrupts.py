"""Ctrl-C at any time of a search ends with 130 and one sentence."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from checks.systems import needs_signals

pytestmark = needs_signals


@pytest.fixture(scope="module")
def wide_table(tmp_path_factory):
    """A table with many candidates, whose search takes some seconds, most of them in kernels."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(800, 1))
    X = latent + rng.normal(size=(800, 150))
    y = (latent[:, 0] + rng.normal(size=800) > 0).astype(int)
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y)
    path = tmp_path_factory.mktemp("data") / "wide.csv"
    frame.to_csv(path, index=False)
    return path


# Growth by pairs comes first and takes longest: where the signal comes in the shrink phase, it is left out.
@pytest.mark.parametrize(
    ("growth", "seconds"),
    [
        ("auto", 0.0),
        ("marginal", 0.8),
        # Later in the same two phases.
        pytest.param("auto", 0.4, marks=pytest.mark.slow),
        pytest.param("marginal", 1.2, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_during_a_search(wide_table, growth, seconds):
    command = [sys.executable, "-m", "ppfs", "select", str(wide_table), "-t", "y", "--growth", growth]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        first = process.stderr.readline()  # Progress: the search is at work.
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=120)
    # Python ends by the signal itself if it came inside of `eval`; a shell shows 130 for both.
    assert process.returncode in (130, -signal.SIGINT), errors
    assert said == ""
    assert "Traceback" not in first + errors
    assert errors.splitlines()[-1] == "ppfs: Interrupted."
