"""The examples run and find what is known."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_survival(capsys):
    pytest.importorskip("sksurv")
    example = runpy.run_path(str(EXAMPLES / "survival.py"))
    selector = example["main"]()
    # Hormone therapy, positive nodes and progesterone receptors: known prognostic factors of breast cancer.
    assert selector.get_feature_names_out().tolist() == ["horTh", "pnodes", "progrec"]
    assert "the preset:\n  pnodes " in capsys.readouterr().out
