"""The examples run and find what is known."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_survival(capsys):
    pytest.importorskip("sksurv")
    example = runpy.run_path(str(EXAMPLES / "survival.py"))
    selector = example["main"]()
    # Positive nodes and progesterone receptors: known prognostic factors of breast cancer.
    assert selector.get_feature_names_out().tolist() == ["pnodes", "progrec"]
    assert capsys.readouterr().out.startswith("pnodes")

    y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", bool), ("time", float)])
    loss = example["partial_likelihood_loss"](y, np.log([1.0, 2.0, 3.0]))
    # The first event could have hit three patients, the last one its own only.
    np.testing.assert_allclose(loss, [np.log(6.0), 0.0, 0.0], atol=1e-12)
