"""The timings that are kept from version to version can be run."""

import importlib.util
import json
from pathlib import Path

import pytest

ASV = Path(__file__).resolve().parents[2] / "benchmarks" / "asv"


@pytest.fixture(scope="module")
def speed():
    spec = importlib.util.spec_from_file_location("speed", ASV / "suite" / "speed.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_kernel_and_a_fit_run(speed):
    kernels, fits = speed.Kernels(), speed.Fits()
    assert len(fits.params[0]) == 5
    kernels.setup("tree, entropy-400x30x10")
    kernels.time_kernel("tree, entropy-400x30x10")
    fits.setup("IAMB, 1000 x 100")
    fits.time_fit("IAMB, 1000 x 100")


def test_the_settings_name_places_outside_the_source():
    settings = json.loads((ASV / "asv.conf.json").read_text(encoding="utf-8"))
    assert all(settings[name].startswith("../../.asv/") for name in ("env_dir", "results_dir", "html_dir"))


def test_the_benchmarks_are_a_package_as_asv_wants():
    settings = json.loads((ASV / "asv.conf.json").read_text(encoding="utf-8"))
    assert (ASV / settings["benchmark_dir"] / "__init__.py").is_file()
